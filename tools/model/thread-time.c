// SPDX-License-Identifier: GPL-2.0-or-later
/* thread-time.c - see thread-time.h. */
#include <math.h>

#include "sums.h"
#include "thread-time.h"

static double ns_of(const struct report *r, double cycles)
{
	return r->cycles ? cycles * (double)r->ns / (double)r->cycles : 0;
}

void thread_time(const struct report *r, struct thread_time *t)
{
	const struct elide_header *h = &r->file->header;
	double known;

	*t = (struct thread_time){.known = h->account.samples && !r->file->base && r->cycles,
				  .no_late = h->account.no_late != 0};
	for (size_t i = 0; i < r->sums->nr; i++) {
		const struct sum *s = &r->sums->sum[i];

		/* A group has the waits of others that are in it. */
		if (s->is_empty || s->group != i)
			continue;
		*(is_wait_for_lock(s->kind) ? &t->locks : &t->others) += (double)s->wait_total;
	}
	t->locks = ns_of(r, t->locks);
	t->others = ns_of(r, t->others + (double)h->joined);
	if (!t->known)
		return;
	t->running = (double)h->account.running;
	t->late = (double)h->account.late;
	known = t->running + t->late + t->locks + t->others;
	t->total = fmax((double)h->account.threads, known);
	t->elsewhere = t->total - known;
}

double thread_time_percent(const struct thread_time *t, double ns)
{
	return t->known && t->total > 0 ? 100 * ns / t->total : NAN;
}
