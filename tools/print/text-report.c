// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text-report.c - the report as text: its head, the order of its parts, totals, misuse and orders of locks.
 *
 * Numbers are rounded for reading; JSON and CSV have the exact ones. Must never print a control character of
 * the data file.
 */
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/text.h"
#include "../model/attribute.h"
#include "../model/columns.h"
#include "../model/compare.h"
#include "../model/file/faults.h"
#include "../names/names.h"
#include "answer-print.h"
#include "counters.h"
#include "findings-print.h"
#include "place-print.h"
#include "room.h"
#include "table.h"
#include "text-report.h"

/* How the process used the file of ELIDE_LEARNED, if one was named. */
static void print_learned(const struct elide_header *h, FILE *out)
{
	bool used = h->learned_state == ELIDE_LEARNED_used || h->learned_classes;

	if (!h->learned_state)
		return;
	fputs("learned: ", out);
	if (used)
		fprintf(out, "%u lock class%s and %u call site%s from ", h->learned_classes,
			h->learned_classes == 1 ? "" : "es", h->learned_sites, plural(h->learned_sites));
	else
		fputs("nothing, ", out);
	print_clean(out, h->learned);
	if (h->learned_state != ELIDE_LEARNED_used)
		fprintf(out, "%s %s", used ? ", which" : "", learned_says(h->learned_state));
	fputc('\n', out);
}

/* Prints the number of cores and, for an emulated machine, its model and clock rate. */
static void print_machine(const struct elide_header *h, FILE *out)
{
	fprintf(out, "%u core%s", h->cores, h->cores == 1 ? "" : "s");
	if (h->smt > 1)
		fprintf(out, " with %u hardware threads each", h->smt);
	if (h->sockets > 1)
		fprintf(out, " in %u sockets", h->sockets);
	if (!h->model[0])
		return;
	fputs(" of ", out);
	print_clean(out, h->model);
	fputs(h->changes[0] ? " with " : "", out);
	print_clean(out, h->changes);
	fprintf(out, " at %u MHz", h->mhz);
}

/* "exit code 1", "killed by SIGTERM" */
static void print_end(const struct elide_header *h, FILE *out)
{
	char words[EXIT_WORDS];

	if (h->exit_status >= 0)
		fprintf(out, ", %s", exit_words(h->exit_status, words));
}

static void print_program(const struct report *r, FILE *out)
{
	const struct elide_header *h = &r->file->header;
	char elapsed[32];

	print_clean(out, program_title(h));
	for (size_t at = strnlen(h->args, h->args_len) + 1; at < h->args_len;
	     at += strlen(h->args + at) + 1) {
		fputc(' ', out);
		print_clean(out, h->args + at);
	}
	if (h->args_left_out)
		fputs(" (arguments left out)", out);
	if (r->file->nr_processes)
		fprintf(out, " (%zu processes, the first is %u): ", r->file->nr_processes, h->pid);
	else
		fprintf(out, " (pid %u): ", h->pid);
	scale_ns(elapsed, sizeof(elapsed), r->ns);
	if (r->cycles)
		fprintf(out, "ran %s%s", elapsed,
			h->rtm == ELIDE_RTM_EMULATED ? " of simulated time" : "");
	else
		fprintf(out, "running, or was killed: times are in cycles");
	print_end(h, out);
	fprintf(out, ", %u thread%s on ", h->nr_threads, h->nr_threads == 1 ? "" : "s");
	print_machine(h, out);
	fputc('\n', out);
}

static void print_sentence(const struct thread_time *t, FILE *out, int width)
{
	char sentence[512], unseen[UNSEEN_SENTENCE];

	thread_time_sentence(t, sentence, sizeof(sentence));
	print_wrapped(out, sentence, width, 0);
	thread_time_unseen(t, unseen);
	if (*unseen)
		print_wrapped(out, unseen, width, 0);
}

void text_head(const struct report *r, FILE *out, int width)
{
	struct thread_time t;

	print_program(r, out);
	thread_time(r, &t);
	if (r->cycles)
		print_sentence(&t, out, width);
	fputc('\n', out);
}

/* What was done and why not more, last. */
static void print_mode(const void *arg, FILE *out)
{
	const struct elide_header *h = arg;

	fprintf(out, "mode %s, RTM %s%s", mode_name(h->mode), rtm_name(h->rtm),
		h->why[0] ? ": " : "");
	print_clean(out, h->why);
	if (h->control == ELIDE_CONTROL_OFF)
		fprintf(out, "; switched off by elide ctl");
	if (h->rtm_off)
		fprintf(out, "; elision was switched off");
	fputs(h->policy[0] ? "; policy " : "", out);
	print_clean(out, h->policy);
}

static void print_unsaid(const struct elide_header *h, FILE *out)
{
	if (!h->nr_unsaid)
		return;
	fprintf(out, "not written to standard error: %u line%s, the last: ", h->nr_unsaid,
		plural(h->nr_unsaid));
	print_clean(out, h->unsaid);
	fputc('\n', out);
}

static void print_totals(const struct report *r, FILE *out)
{
	const struct line *t = &r->total;
	char acquired[16], locks[16], contended[16], wait[32], aborts[16], wasted[16], room[64];

	scale(acquired, sizeof(acquired), t->acquired, "");
	scale(locks, sizeof(locks), t->nr_locks, "");
	scale(contended, sizeof(contended), t->sum.contended, "");
	scale_time(r, wait, sizeof(wait), t->sum.wait.total);
	fprintf(out, "total: %s acquisition%s of %s lock%s, %s contended, waited %s", acquired,
		plural(t->acquired), locks, plural(t->nr_locks), contended, wait);
	if (r->elides) {
		scale(aborts, sizeof(aborts), t->aborts, "");
		scale(wasted, sizeof(wasted), t->sum.wasted_cycles, "");
		fprintf(out, "; %.1f%% elided, %s abort%s, %s cycles wasted",
			percent(t->elided, t->acquired), aborts, plural(t->aborts), wasted);
	}
	fputc('\n', out);
	for (int i = 0; i < ELIDE_DROPPED_PROCESSES; i++)
		if (r->file->header.dropped[i]) {
			room_text(r->file, i, room, sizeof(room));
			fprintf(out, "not counted: %llu beyond the limit of %s%s\n",
				(unsigned long long)r->file->header.dropped[i], dropped_name(i),
				room);
		}
	if (r->file->header.filter)
		fprintf(out, "the process installed a seccomp filter: after that the library made no "
			     "system call, and new threads have no names\n");
	if (r->file->header.dlmopen)
		fprintf(out, "not counted: locks of objects loaded by dlmopen, which have a C library of their own\n");
	if (r->file->header.dropped[ELIDE_DROPPED_FILTER])
		fprintf(out, "not counted: %llu acquisitions under the filter, while another thread "
			     "was in a global-lock path\n",
			(unsigned long long)r->file->header.dropped[ELIDE_DROPPED_FILTER]);
	print_unsaid(&r->file->header, out);
	if (r->file->header.dropped[ELIDE_DROPPED_PROCESSES])
		fprintf(out, "not counted: %llu forked processes that could not write a data file: %s\n",
			(unsigned long long)r->file->header.dropped[ELIDE_DROPPED_PROCESSES],
			strerror(r->file->header.lost_error));
	if (r->file->header.dropped[ELIDE_DROPPED_FILES])
		fprintf(out, "not counted: %llu older data file%s of child processes, dropped as there were more than "
			"ELIDE_MAX_FILES\n",
			(unsigned long long)r->file->header.dropped[ELIDE_DROPPED_FILES],
			plural(r->file->header.dropped[ELIDE_DROPPED_FILES]));
}

/* Prints what @print writes, in lines of at most @width columns. */
static void print_lines(FILE *to, int width, int indent, void (*print)(const void *arg, FILE *out),
			const void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	print(arg, out);
	fclose(out);
	if (text)
		print_wrapped(to, text, width, indent);
	free(text);
}

static void print_misuse(const void *arg, FILE *out)
{
	const struct misuse_line *m = arg;

	fprintf(out, "misuse: ");
	place_print(out, &m->site);
	fprintf(out, " %s (%s", misuse_says(m->record->type), kind_name(m->record->kind));
	if (m->lock) {
		fputc(' ', out);
		print_clean(out, m->lock);
	}
	fprintf(out, "), %llu time%s", (unsigned long long)m->record->count,
		plural(m->record->count));
	if (m->record->tid)
		fprintf(out, "; %sthread %u", m->record->count > 1 ? "the first was " : "",
			m->record->tid);
	if (m->owner) {
		fputs(" \"", out);
		print_clean(out, m->owner);
		fputc('"', out);
	}
}

/* A cycle of the order of locks, or a step of it. */
struct order_step {
	const struct order_line *line;
	uint32_t nr;
};

static void print_cycle(const void *arg, FILE *out)
{
	const struct order_line *o = arg;
	const struct elide_order *record = o->record;
	int one_class = 1;

	fprintf(out, "lock order: ");
	for (uint32_t i = 0; i < record->nr_edges; i++) {
		one_class &= record->edges[i].class_index == record->edges[0].class_index;
		print_clean(out, o->edges[i].lock);
		fprintf(out, " -> ");
	}
	print_clean(out, o->edges[0].lock);
	fprintf(out, "%s", one_class ? ", locks of one class" : "");
}

static void print_step(const void *arg, FILE *out)
{
	const struct order_step *step = arg;
	const struct order_line *o = step->line;
	const struct elide_order_edge *e = &o->record->edges[step->nr];
	uint32_t next = (step->nr + 1) % o->record->nr_edges;

	fprintf(out, "held: ");
	print_clean(out, o->edges[step->nr].lock);
	fprintf(out, " (%s) at ", kind_name(e->held_kind));
	place_print(out, &o->edges[step->nr].held);
	fprintf(out, "; taken: ");
	print_clean(out, o->edges[next].lock);
	fprintf(out, " (%s) at ", kind_name(e->taken_kind));
	place_print(out, &o->edges[step->nr].next);
	/* Ids of threads mean nothing in a file of many runs, which leaves them out. */
	if (e->tid)
		fprintf(out, "; by thread %u", e->tid);
}

static void print_order(FILE *out, int width, const struct order_line *o)
{
	uint32_t nr = o->record->nr_edges;

	print_lines(out, width, 0, print_cycle, o);
	for (uint32_t i = 0; i < nr; i++) {
		fputs("   ", out);
		print_lines(out, width, 3, print_step, &(struct order_step){o, i});
	}
	fprintf(out, "   %u threads that do this at once can wait for each other for ever\n      -> ", nr);
	print_wrapped(out, "take these locks in one order everywhere; where that cannot be, take the second with "
		      "a trylock and release the first if it fails", width, 9);
}

static void print_notes(const struct report *r, FILE *out)
{
	const struct load_notes *n = &r->file->notes;
	char text[FAULTS_TEXT];

	if (faults_any(n))
		fprintf(out, "DAMAGED: %s. The numbers are of what is left.\n",
			faults_text(n, text));
	if (n->nr_orphans)
		fprintf(out, "note: %llu row%s left out, whose lock class is not in the file\n",
			(unsigned long long)n->nr_orphans, plural(n->nr_orphans));
}

/* Could mode elide restrict threads at a lock of the table without RTM? */
static int may_restrict(const struct report *r)
{
	const struct elide_header *h = &r->file->header;

	if (h->mode != ELIDE_RUN_PROFILE || h->rtm != ELIDE_RTM_NONE)
		return 0;
	for (size_t i = 0; i < r->nr_lines; i++)
		if (r->lines[i].verdict == VERDICT_BOTTLENECK &&
		    elide_kind_is_lock(r->lines[i].kind) && r->lines[i].kind != ELIDE_KIND_CUSTOM)
			return 1;
	return 0;
}

/* The object of a finding whose names are not known; NULL if all are. */
static const char *nameless(const struct answers *a)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->all[i].advice != ANSWER_processors && a->all[i].line.site_place.object &&
		    !a->all[i].line.site_place.symbol)
			return a->all[i].line.site_place.object;
	return NULL;
}

static void print_hints(const struct report *r, const struct answers *a, FILE *out)
{
	if (nameless(a)) {
		fputs("For names of functions in ", out);
		print_clean(out, base_name(nameless(a)));
		fputs(": install its package's -dbgsym or -debuginfo, or set DEBUGINFOD_URLS\n", out);
	}
	if (!r->elides && r->total.sum.contended)
		fprintf(out, "What eliding these locks would do: elide run --emulate -- PROGRAM\n");
	if (may_restrict(r))
		fprintf(out, "Without RTM, too, fewer threads can wait for a lock that is the bottleneck: "
			     "elide run --mode=elide -- PROGRAM\n");
}

void text_report(const struct report *r, FILE *out, int width, size_t top)
{
	size_t nr = top && top < r->nr_lines ? top : r->nr_lines;
	struct answers a;

	print_program(r, out);
	if (answers_find(r, &a)) {
		fprintf(out, "(no memory for the findings)\n");
		memset(&a, 0, sizeof(a));
	}
	if (r->cycles)
		print_sentence(&a.time, out, width);
	print_notes(r, out);
	for (size_t i = 0; i < r->nr_misuse; i++)
		print_lines(out, width, 0, print_misuse, &r->misuse[i]);
	for (size_t i = 0; i < r->nr_orders; i++)
		print_order(out, width, &r->orders[i]);
	fputc('\n', out);
	answers_print(r, &a, out, width);
	table_print(r, out, width, nr);
	fputc('\n', out);
	print_totals(r, out);
	counters_print(r, out);
	if (r->elides)
		findings_print(r, out, nr, a.nr);
	fputc('\n', out);
	print_lines(out, width, 0, print_mode, &r->file->header);
	print_learned(&r->file->header, out);
	print_hints(r, &a, out);
	answers_free(&a);
}
