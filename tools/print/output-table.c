// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-table.c - elide report as text, on a terminal.
 *
 * Must never print a control character of a data file.
 */
#include "../../lib/compiler.h"
#include "../../lib/row-sums.h"
#include "../base/text.h"
#include "../model/columns.h"
#include "../model/sums.h"
#include "../names/names.h"
#include "answer-print.h"
#include "output.h"
#include "perf-join.h"
#include "text-report.h"
#include "view/view-chain.h"
#include "view/view-line.h"
#include "view/view-stack.h"
#include "view/view-thread.h"
#include "view/view-time.h"

/* Processes without acquisitions that are described, at most. */
#define IDLE_MAX 5
#define IDLE_TEXT (UNSEEN_SENTENCE + 640)

/* One of them. @ns: time of its threads; @name: empty: nothing is known */
struct idle {
	double ns;
	char name[128];
	char text[IDLE_TEXT];
};

/* @ns: time of the threads of all processes */
struct state {
	size_t nr_printed;
	size_t nr_idle;
	double ns;
	struct idle idle[IDLE_MAX];
};

static int has_acquired(void *arg, const struct elide_row *row)
{
	return elide_row_acquired(row) != 0;
}

/* What a process did that took no lock, and why none was seen, if that is known. */
static void describe_idle(const struct data_file *f, struct idle *to)
{
	const struct elide_header *h = &f->header;
	struct sums none = {0};
	struct report r = {.file = f, .sums = &none};
	struct thread_time t;
	char sentence[512], unseen[UNSEEN_SENTENCE];

	*to = (struct idle){0};
	if (h->end_cycles > h->start_cycles && h->end_ns > h->start_ns) {
		r.ns = h->end_ns - h->start_ns;
		r.cycles = h->end_cycles - h->start_cycles;
	}
	thread_time(&r, &t);
	thread_time_sentence(&t, sentence, sizeof(sentence));
	if (!t.known)
		return;
	thread_time_unseen(&t, unseen);
	to->ns = t.total;
	snprintf(to->name, sizeof(to->name), "%.100s (pid %u)", program_title(h), h->pid);
	snprintf(to->text, sizeof(to->text), "%s%s%s", sentence, *unseen ? " " : "", unseen);
}

/* Those with the most thread time are described. */
static void add_idle(struct state *s, const struct idle *one)
{
	size_t at = s->nr_idle < IDLE_MAX ? s->nr_idle : IDLE_MAX;

	for (; at && s->idle[at - 1].ns < one->ns; at--)
		if (at < IDLE_MAX)
			s->idle[at] = s->idle[at - 1];
	if (at < IDLE_MAX)
		s->idle[at] = *one;
	s->nr_idle++;
}

/* A process without acquisitions is only counted, and a few are described. */
static bool skip(struct output *o, const struct data_file *f)
{
	struct state *s = o->state;
	struct idle idle;

	s->ns += (double)f->header.account.threads;
	if (load_rows(f, has_acquired, NULL) > 0 || f->nr_misuse > 0)
		return false;
	describe_idle(f, &idle);
	add_idle(s, &idle);
	return true;
}

static void separate(struct output *o)
{
	struct state *s = o->state;

	if (s->nr_printed++)
		fprintf(o->out, "\n%s\n", "----");
}

/* Processes to list, at most. */
#define PROCESSES_MAX 20

static int add_row(void *arg, const struct elide_row *row)
{
	struct sum *s = arg;

	/* As in the totals. */
	if (elide_kind_is_lock(row->kind))
		sum_row(s, row);
	else if (elide_kind_waits_for_lock(row->kind))
		s->wait_total += row->wait.total;
	return 0;
}

/* A line for each process of a merged report. */
static void print_processes(const struct output *o, const struct report *r)
{
	fputs("\nprocesses:\n", o->out);
	for (size_t i = 0; i < o->nr_files && i < PROCESSES_MAX; i++) {
		const struct elide_header *h = &o->files[i].header;
		char acquired[16], wait[32];
		struct sum s = {0};
		uint64_t nr;

		load_rows(&o->files[i], add_row, &s);
		nr = s.commits + s.nested + s.fallback + s.not_attempted;
		scale(acquired, sizeof(acquired), (double)nr, "");
		scale_time(r, wait, sizeof(wait), s.wait_total);
		fprintf(o->out, "   pid %u, ", h->pid);
		print_clean(o->out, program_title(h));
		fprintf(o->out, ": %s acquisition%s, waited %s, %u thread%s\n", acquired,
			plural(nr), wait, h->nr_threads, plural(h->nr_threads));
	}
	if (o->nr_files > PROCESSES_MAX)
		fprintf(o->out, "   (%zu more)\n", o->nr_files - PROCESSES_MAX);
	fputs("   elide report --each has a report of each\n", o->out);
}

/* A line for each process of a file that elide merge wrote. */
static void print_sources(FILE *out, const struct report *r)
{
	const struct data_file *f = r->file;

	fputs("\nprocesses:\n", out);
	for (size_t i = 0; i < f->nr_sources && i < PROCESSES_MAX; i++) {
		const struct elide_source *s = &f->sources[i];
		char acquired[16], wait[32], elapsed[32], date[32];

		scale(acquired, sizeof(acquired), (double)s->acquired, "");
		scale_time(r, wait, sizeof(wait), (double)s->wait);
		scale_ns(elapsed, sizeof(elapsed), (double)s->elapsed_ns);
		date_text(date, sizeof(date), s->start_realtime_ns);
		fprintf(out, "   %s, ", date);
		print_clean(out, s->host[0] ? s->host : "(host unknown)");
		fprintf(out, ", pid %u, ", s->pid);
		print_clean(out, s->name);
		fprintf(out, ", %s: %s acquisition%s, waited %s, %u thread%s\n",
			s->elapsed_ns ? elapsed : "(length unknown)", acquired, plural(s->acquired),
			wait, s->nr_threads, plural(s->nr_threads));
	}
	if (f->nr_sources > PROCESSES_MAX)
		fprintf(out, "   (%zu more: --json has all)\n", f->nr_sources - PROCESSES_MAX);
}

static int rows(struct output *o, const struct report *r)
{
	const struct report_options *options = o->options;

	separate(o);
	text_report(r, o->out, options->width, options->top);
	/* A file of one process may be merged, too: merge_has_reloads(). */
	if (r->file->nr_sources && (!r->file->merged || o->nr_files == 1))
		print_sources(o->out, r);
	else if (r->file->merged && r->file->nr_processes)
		print_processes(o, r);
	if (options->perf)
		perf_print(r, options->perf, o->out, options->top);
	return 0;
}

static int stacks(struct output *o, const struct report *r)
{
	separate(o);
	text_head(r, o->out, o->options->width);
	stacks_table(r, o->out, o->options->top);
	return 0;
}

static int lines(struct output *o, const struct report *r)
{
	separate(o);
	text_head(r, o->out, o->options->width);
	lines_table(r, o->out, o->options->top);
	return 0;
}

static int threads(struct output *o, const struct report *r)
{
	separate(o);
	text_head(r, o->out, o->options->width);
	return threads_table(r, o->out, o->options->top);
}

static int times(struct output *o, const struct report *r)
{
	separate(o);
	text_head(r, o->out, o->options->width);
	return activity_table(r, o->out, o->options->width);
}

static int chain(struct output *o, const struct report *r)
{
	separate(o);
	text_head(r, o->out, o->options->width);
	return chain_table(r, o->out, o->options->width);
}

static int end(struct output *o)
{
	const struct state *s = o->state;

	if (s->nr_idle)
		fprintf(o->out, "%s%zu process%s took no lock that elide can see\n",
			s->nr_printed ? "\n" : "", s->nr_idle, s->nr_idle == 1 ? "" : "es");
	for (size_t i = 0; i < s->nr_idle && i < IDLE_MAX; i++) {
		const struct idle *one = &s->idle[i];
		char text[sizeof(*one) + 64], share[64] = "";

		if (!one->name[0])
			continue;
		if (o->nr_files + s->nr_idle > 1)
			snprintf(share, sizeof(share), ", %.0f%% of the thread time of all processes",
				 percent((uint64_t)one->ns, (uint64_t)s->ns));
		snprintf(text, sizeof(text), "%s%s: %s", one->name, share, one->text);
		fputs("   ", o->out);
		print_wrapped(o->out, text, o->options->width, 3);
	}
	if (s->nr_printed)
		fprintf(o->out, "\nNext: elide report --by lock, --by line, --sort wait, --json "
				"(exact); elide-report(1) explains the columns.\n");
	return 0;
}

const struct report_output output_table = {
	.top = REPORT_TOP,
	.merges = true,
	.state_size = sizeof(struct state),
	.skip = skip,
	.rows = rows,
	.views = {
		[VIEW(BY_STACK)] = stacks,
		[VIEW(BY_LINE)] = lines,
		[VIEW(BY_THREAD)] = threads,
		[VIEW(BY_TIME)] = times,
		[VIEW(BY_CHAIN)] = chain,
	},
	.end = end,
};
