// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-trace.c - elide report --trace: samples with their times, thread by thread, for
 * Perfetto and chrome://tracing.
 *
 * The format is the "Trace Event Format" of Chromium: an object whose traceEvents each have a
 * phase: M (names), X (a wait, hold or aborted attempt on its thread), b and e (a hold
 * that does not nest there), s and f (from a wait to the hold it waited for) and i (a decision).
 * Must never draw an arrow to a hold for which the thread may not have waited.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/messages.h"
#include "../../base/replace.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "../../model/attribute.h"
#include "../../names/names.h"
#include "../json-evidence.h"
#include "../output.h"
#include "../view/views.h"

/* The beginning of the file, by which it is recognised. */
#define TRACE_MARK "{\"otherData\":{\"writer\":\"elide report --trace\""

/* The deepest nesting of a thread's intervals; a deeper one gets a track of its own. */
#define DEPTH_MAX 64

/**
 * struct state - of the format.
 * @nr:   events written
 * @ids:  the last number given to a flow or to a hold with a track of its own
 */
struct state {
	struct replacement file;
	bool open;
	int rc;
	uint64_t nr;
	uint64_t ids;
};

/*
 * A wait or a hold; ns since the start of the first process. @nested: it is on its thread's track
 */
struct interval {
	const struct elide_span *m;
	uint64_t start;
	uint64_t end;
	bool nested;
};

static int argument(struct report_options *o, const char *text)
{
	o->file = text;
	return 0;
}

static bool is_trace(const char *head, size_t len)
{
	return !strncmp(head, TRACE_MARK, strlen(TRACE_MARK));
}

/* Writes an event and releases it. */
static void put(struct state *s, json_t *event)
{
	fputs(s->nr++ ? ",\n" : "\n", s->file.out);
	json_dumpf(event, s->file.out, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(event);
}

/* Microseconds, the unit of the format, with three decimals. */
static json_t *us(uint64_t ns)
{
	return json_real((double)ns / 1000);
}

static json_t *new_event(const char *phase, const char *name, uint32_t pid, uint32_t tid)
{
	json_t *o = json_object();

	json_object_set_new(o, "ph", json_string(phase));
	json_object_set_new(o, "name", json_text(name));
	json_object_set_new(o, "pid", json_integer(pid));
	json_object_set_new(o, "tid", json_integer(tid));
	return o;
}

static void put_name(struct state *s, const char *what, const char *name, uint32_t pid,
		     uint32_t tid)
{
	json_t *o = new_event("M", what, pid, tid), *args = json_object();

	json_object_set_new(args, "name", json_text(name));
	json_object_set_new(o, "args", args);
	put(s, o);
}

static void put_names(struct state *s, const struct data_file *f)
{
	put_name(s, "process_name", program_title(&f->header), f->header.pid, f->header.pid);
	for (size_t i = 0; i < f->nr_threads; i++) {
		const struct elide_thread_record *t = &f->threads[i];

		if (t->tid && t->name[0])
			put_name(s, "thread_name", t->name, f->header.pid, t->tid);
	}
}

/* Time of @cycles of the file; 0 if that is before its start, or of another clock. */
static uint64_t time_of(const struct report *r, uint64_t cycles, uint64_t first_ns)
{
	const struct elide_header *h = &r->file->header;
	uint64_t ns;

	if (cycles <= h->start_cycles || to_ns(r, cycles - h->start_cycles, &ns))
		return first_ns;
	return first_ns + ns;
}

/* By thread, then by start; of two that nest the outer one comes first. */
static int compare_intervals(const void *x, const void *y)
{
	const struct interval *a = x, *b = y;
	int c = by_number(a->m->tid, b->m->tid);

	if (!c)
		c = by_number(a->start, b->start);
	if (!c)
		c = by_number(b->end, a->end);
	return c ? c : by_number(a->m->site, b->m->site);
}

/* Finds intervals that nest in the intervals around them. */
static void nest(struct interval *all, size_t nr)
{
	const struct interval *open[DEPTH_MAX];
	size_t depth = 0;

	for (size_t i = 0; i < nr; i++) {
		while (depth && (open[depth - 1]->m->tid != all[i].m->tid ||
				 open[depth - 1]->end <= all[i].start))
			depth--;
		all[i].nested = depth < DEPTH_MAX && (!depth || all[i].end <= open[depth - 1]->end);
		if (all[i].nested)
			open[depth++] = &all[i];
	}
}

static struct interval *intervals_of(const struct report *r, uint64_t first_ns)
{
	const struct data_file *f = r->file;
	size_t nr = f->nr_spans + f->nr_aborts;
	struct interval *all = calloc(nr + 1, sizeof(*all));

	for (size_t i = 0; all && i < nr; i++) {
		const struct elide_span *m = i < f->nr_spans ? &f->spans[i] :
								   &f->aborts[i - f->nr_spans];

		all[i].m = m;
		all[i].start = time_of(r, m->cycles < m->time ? m->time - m->cycles : 0, first_ns);
		all[i].end = time_of(r, m->time, first_ns);
	}
	if (all && nr)
		qsort(all, nr, sizeof(*all), compare_intervals);
	if (all)
		nest(all, nr);
	return all;
}

/* A cause of a later version is "other". */
static const char *cause_of(const struct elide_span *m)
{
	return cause_texts[m->block < ELIDE_NR_CAUSES ? m->block : ELIDE_CAUSE_other].id;
}

static const char *const span_names[] = {
	[ELIDE_SPAN_WAIT] = "wait",
	[ELIDE_SPAN_HOLD] = "hold",
	[ELIDE_SPAN_ABORT] = "abort",
};

static json_t *args_of(const struct report *r, const struct elide_span *m, const struct line *l)
{
	json_t *o = json_object();
	uint64_t ns;

	json_object_set_new(o, "lock", json_text(l ? l->lock : NULL));
	json_object_set_new(o, "class", json_text(l ? l->class : NULL));
	json_object_set_new(o, "kind", json_text(kind_id(m->kind)));
	json_object_set_new(o, "site", json_text(l ? l->site : NULL));
	if (m->type == ELIDE_SPAN_ABORT)
		json_object_set_new(o, "cause", json_text(cause_of(m)));
	if (!to_ns(r, m->weight, &ns))
		json_object_set_new(o, "stands_for_us", us(ns));
	return o;
}

static void put_interval(struct state *s, const struct report *r, const struct interval *in)
{
	const struct elide_span *m = in->m;
	const char *what = m->type == ELIDE_SPAN_WAIT && !elide_kind_waits_for_lock(m->kind) ?
				   "wait for others" : span_names[m->type];
	const struct line *l = report_line(r, m->class_index, m->site, m->kind);
	uint32_t pid = r->file->header.pid;
	char name[SHORT_NAME + 16];
	json_t *o;

	snprintf(name, sizeof(name), "%s %s", what, l ? l->short_lock : "lock");
	o = new_event(in->nested ? "X" : "b", name, pid, m->tid);
	json_object_set_new(o, "cat", json_string(what));
	json_object_set_new(o, "ts", us(in->start));
	if (in->nested)
		json_object_set_new(o, "dur", us(in->end - in->start));
	else
		json_object_set_new(o, "id", json_integer((json_int_t)++s->ids));
	json_object_set_new(o, "args", args_of(r, m, l));
	put(s, o);
	if (in->nested)
		return;
	o = new_event("e", name, pid, m->tid);
	json_object_set_new(o, "cat", json_string(what));
	json_object_set_new(o, "ts", us(in->end));
	json_object_set_new(o, "id", json_integer((json_int_t)s->ids));
	put(s, o);
}

static bool is_shared(const struct elide_span *m)
{
	return m->kind == ELIDE_KIND_RWLOCK_READ;
}

/*
 * Did the wait, for the only lock of its class, wait for the hold? Two cannot have the lock at once.
 */
static bool waited_for(const struct interval *wait, const struct interval *hold)
{
	return hold->m->type == ELIDE_SPAN_HOLD && hold->nested &&
	       hold->m->class_index == wait->m->class_index && hold->m->tid != wait->m->tid &&
	       !(is_shared(wait->m) && is_shared(hold->m)) && hold->start < wait->end &&
	       wait->start < hold->end;
}

static void put_flow(struct state *s, uint32_t pid, const struct interval *in, const char *phase,
		     uint64_t at)
{
	json_t *o = new_event(phase, "waits for", pid, in->m->tid);

	json_object_set_new(o, "cat", json_string("flow"));
	json_object_set_new(o, "ts", us(at));
	json_object_set_new(o, "id", json_integer((json_int_t)s->ids));
	/* Bind the end to the interval around it, not to the next one. */
	if (*phase == 'f')
		json_object_set_new(o, "bp", json_string("e"));
	put(s, o);
}

/* Writes an arrow from each wait to the first sampled hold for which it waited. */
static void put_flows(struct state *s, const struct report *r, const struct interval *all,
		      size_t nr)
{
	uint32_t pid = r->file->header.pid;

	for (size_t i = 0; i < nr; i++) {
		const struct interval *wait = &all[i];

		if (wait->m->type != ELIDE_SPAN_WAIT || !wait->nested ||
		    !elide_kind_is_lock(wait->m->kind) ||
		    r->file->classes[wait->m->class_index].nr_locks != 1)
			continue;
		for (size_t j = 0; j < nr; j++) {
			const struct interval *hold = &all[j];
			uint64_t at = wait->start > hold->start ? wait->start : hold->start;

			if (!waited_for(wait, hold))
				continue;
			s->ids++;
			put_flow(s, pid, wait, "s", at);
			put_flow(s, pid, hold, "f", at);
			break;
		}
	}
}

static void put_decision(struct state *s, const struct report *r, const struct elide_event *e,
			 uint64_t first_ns)
{
	uint32_t pid = r->file->header.pid;
	json_t *o = new_event("i", event_name(e->type), pid, pid);

	json_object_set_new(o, "cat", json_string("decision"));
	json_object_set_new(o, "ts", us(time_of(r, e->time, first_ns)));
	json_object_set_new(o, "s", json_string("p")); /* of the process */
	json_object_set_new(o, "args", json_event(r, e));
	put(s, o);
}

/* Start of a process on a common clock: the run's if all are of one run, else the date. */
static uint64_t began(const struct output *o, const struct data_file *f)
{
	uint64_t run = o->files[0].header.run;

	for (size_t i = 0; i < o->nr_files; i++)
		if (!run || o->files[i].header.run != run)
			return f->header.start_realtime_ns;
	return f->header.start_ns;
}

static uint64_t first_of(const struct output *o, const struct data_file *f)
{
	uint64_t first = began(o, f), own = first;

	for (size_t i = 0; i < o->nr_files; i++)
		if (began(o, &o->files[i]) < first)
			first = began(o, &o->files[i]);
	return own - first;
}

static int begin_file(struct output *o)
{
	struct state *s = o->state;

	if (s->open)
		return 0;
	if (replace_begin(&s->file, o->options->file, "trace of elide report", o->out, is_trace))
		return -EIO;
	s->open = true;
	fputs(TRACE_MARK ",\"version\":\"" ELIDE_VERSION "\"},\n\"displayTimeUnit\":\"ns\",\n"
	      "\"traceEvents\":[", s->file.out);
	return 0;
}

static int rows(struct output *o, const struct report *r)
{
	const struct data_file *f = r->file;
	struct state *s = o->state;
	uint64_t first_ns = first_of(o, f);
	struct interval *all;

	if (!r->cycles) {
		say("%s does not tell how long a cycle is: no times, so no trace", f->path);
		return -ENODATA;
	}
	if (begin_file(o))
		return -EIO;
	all = intervals_of(r, first_ns);
	if (!all) {
		s->rc = -ENOMEM;
		return s->rc;
	}
	put_names(s, f);
	for (size_t i = 0; i < f->nr_spans + f->nr_aborts; i++)
		put_interval(s, r, &all[i]);
	put_flows(s, r, all, f->nr_spans + f->nr_aborts);
	for (size_t i = 0; i < f->nr_events; i++)
		put_decision(s, r, &f->events[i], first_ns);
	free(all);
	return 0;
}

static int end(struct output *o)
{
	struct state *s = o->state;

	if (!s->open)
		return 0;
	fputs("\n]}\n", s->file.out);
	return replace_end(&s->file, s->rc);
}

const struct report_output output_trace = {
	.option = {.name = "trace", .arg = "FILE",
		   .help = "sampled waits, holds, aborts, decisions as a trace for Perfetto; - stdout"},
	.by_row_only = true,
	.state_size = sizeof(struct state),
	.argument = argument,
	.rows = rows,
	.end = end,
};
