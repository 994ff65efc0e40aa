// SPDX-License-Identifier: GPL-2.0-or-later
/* thread-time.c - see thread-time.h. */
#include <math.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "../../base/text.h"
#include "../../names/syscalls.h"
#include "../sums.h"
#include "thread-time.h"

/*
 * The system calls, those with the most time first. Waits of rows, and for the end of threads, are futex(2). Those
 * have no late time in them, and the kernel says of a thread that is ready to run that it is in no call.
 */
static void set_calls(struct thread_time *t, const struct elide_account *a)
{
	size_t nr = 0;

	for (size_t i = 0; i < ELIDE_ACCOUNT_CALLS; i++) {
		double ns = (double)a->calls[i].ns;
		size_t at = nr;

		if (a->calls[i].nr == SYS_futex)
			ns -= t->locks + t->others;
		/* It is known less well than what is left. */
		ns = fmin(ns, t->elsewhere);
		if (a->calls[i].nr == SYS_futex)
			t->futex = fmax(ns, 0);
		if (ns <= 0 || !syscall_name((int)a->calls[i].nr))
			continue;
		for (nr++; at && t->calls[at - 1].ns < ns; at--)
			t->calls[at] = t->calls[at - 1];
		t->calls[at].name = syscall_name((int)a->calls[i].nr);
		t->calls[at].ns = ns;
	}
}

uint64_t thread_time_joined(const struct elide_header *h)
{
	uint64_t joined = h->joined + h->nr_joining * h->end_cycles;

	/* The end in the file is earlier than the begin of a wait. */
	return (int64_t)joined < 0 ? 0 : joined;
}

/* Fewer samples than this say nothing of a share of some per cent, unless it is known what that is. Chosen. */
#define LEAST_SAMPLES 6

/*
 * The launcher's, and by the objects of rows: without a launcher, too. In a report of several processes, no
 * reason is one of all of them.
 */
static uint32_t unseen_in_file(const struct data_file *f)
{
	uint32_t set = f->header.unseen;

	for (size_t i = 0; i < f->nr_modules; i++)
		set |= unseen_of_library(base_name(f->modules[i].path));
	return f->nr_processes > 1 ? unseen_with_library(set) : set;
}

void thread_time(const struct report *r, struct thread_time *t)
{
	const struct elide_header *h = &r->file->header;
	double known;

	*t = (struct thread_time){.known = h->account.samples && !r->file->base && r->cycles,
				  .no_late = h->account.no_late != 0,
				  .samples = h->account.samples,
				  .unseen = unseen_in_file(r->file)};
	for (size_t i = 0; i < r->sums->nr; i++) {
		const struct sum *s = &r->sums->sum[i];

		/* A group has the waits of others that are in it. */
		t->timed_out |= !elide_kind_is_lock(s->kind) && s->failed;
		if (s->is_empty || s->group != i)
			continue;
		*(elide_kind_waits_for_lock(s->kind) ? &t->locks : &t->others) += (double)s->wait_total;
	}
	t->locks = report_ns(r, t->locks);
	t->others = report_ns(r, t->others + (double)thread_time_joined(h));
	if (!t->known)
		return;
	t->running = (double)h->account.running;
	t->late = (double)h->account.late;
	known = t->running + t->late + t->locks + t->others;
	t->total = fmax((double)h->account.threads, known);
	t->elsewhere = t->total - known;
	set_calls(t, &h->account);
}

double thread_time_percent(const struct thread_time *t, double ns)
{
	return t->known && t->total > 0 ? 100 * ns / t->total : NAN;
}

/* Adds ", WORD N%", but not for less than half a per cent. Return: the new length. */
static size_t add_state(char *to, size_t size, size_t len, const struct thread_time *t, const char *word,
			double ns)
{
	double percent = thread_time_percent(t, ns);

	if (percent >= 0.5 && len < size)
		len += (size_t)snprintf(to + len, size - len, ", %s %.0f%%", word, percent);
	return len;
}

/* System calls to name, at most, and the least share of the time of all threads, in per cent. */
#define CALLS_SHOWN 3
#define LEAST_CALL 1

/* Adds where "elsewhere" is. Return: the new length. */
static size_t add_calls(char *to, size_t size, size_t len, const struct thread_time *t)
{
	const char *before = " (";

	for (size_t i = 0; i < CALLS_SHOWN && t->calls[i].ns > 0; i++) {
		if (thread_time_percent(t, t->calls[i].ns) < LEAST_CALL || len >= size)
			break;
		len += (size_t)snprintf(to + len, size - len, "%s%s %.0f%%", before, t->calls[i].name,
					thread_time_percent(t, t->calls[i].ns));
		before = ", ";
	}
	if (*before == ',' && len < size)
		len += (size_t)snprintf(to + len, size - len, ")");
	return len;
}

void thread_time_sentence(const struct thread_time *t, char *to, size_t size)
{
	char locks[32], others[32];
	size_t len;

	if (!t->known) {
		scale_ns(locks, sizeof(locks), t->locks);
		scale_ns(others, sizeof(others), t->others);
		snprintf(to, size, "Threads waited %s for locks and %s for others.", locks, others);
		return;
	}
	len = (size_t)snprintf(to, size, "Threads were running %.0f%% of their time",
			       thread_time_percent(t, t->running));
	len = add_state(to, size, len, t, "waiting for locks", t->locks);
	len = add_state(to, size, len, t, "waiting for others", t->others);
	len = add_state(to, size, len, t, "waiting for a processor", t->late);
	len = add_state(to, size, len, t, "elsewhere", t->elsewhere);
	if (thread_time_percent(t, t->elsewhere) >= 0.5)
		len = add_calls(to, size, len, t);
	if (len < size)
		snprintf(to + len, size - len, ".");
}

void thread_time_unseen(const struct thread_time *t, char *to)
{
	/* What timed out is in futex(2), too, and in no row. */
	bool known = unseen_in(t->unseen, UNSEEN_WAITS) != NR_UNSEEN ||
		     (!t->timed_out && t->samples >= LEAST_SAMPLES);

	unseen_sentence(t->unseen, known ? thread_time_percent(t, t->futex) : NAN, to);
}

void thread_time_since(struct thread_time *t, const struct thread_time *before)
{
	t->known &= before->known;
	t->total = fmax(t->total - before->total, 0);
	t->running = fmax(t->running - before->running, 0);
	t->locks = fmax(t->locks - before->locks, 0);
	t->others = fmax(t->others - before->others, 0);
	t->late = fmax(t->late - before->late, 0);
	t->elsewhere = fmax(t->elsewhere - before->elsewhere, 0);
	t->futex = fmax(t->futex - before->futex, 0);
	t->known &= t->total > 0;
}
