// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * records.c - bounds and sums of the records of a data file.
 *
 * Must never trust a number of the file before comparing it with a bound.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "file/classes.h"
#include "records.h"

static int is_kind(unsigned int kind)
{
	return kind && kind < ELIDE_NR_KINDS;
}

/* 0 if @good; else -EINVAL, and the text of the arguments in @what. */
#define CHECK(good, ...)                                                                           \
	do {                                                                                       \
		if (good)                                                                          \
			return 0;                                                                  \
		snprintf(what, size, __VA_ARGS__);                                                 \
		return -EINVAL;                                                                    \
	} while (0)

static int check_module(struct elide_module *m, char *what, size_t size)
{
	m->path[sizeof(m->path) - 1] = '\0';
	CHECK(m->build_id_len <= sizeof(m->build_id), "build-id of %u bytes", m->build_id_len);
}

static int check_class(const struct elide_class *c, char *what, size_t size)
{
	CHECK(c->type >= ELIDE_CLASS_INIT && c->type <= ELIDE_CLASS_BEYOND && is_kind(c->kind),
	      "lock class of unknown type %u, kind %u", c->type, c->kind);
}

static int check_row(const struct elide_row *row, char *what, size_t size)
{
	CHECK(is_kind(row->kind) && row->state < ELIDE_NR_STATES,
	      "row of unknown kind %u, state %u", row->kind, row->state);
}

static int check_misuse(const struct elide_misuse *m, char *what, size_t size)
{
	CHECK(m->type >= ELIDE_MISUSE_UNLOCK_FREE && m->type < ELIDE_MISUSE_END && is_kind(m->kind),
	      "misuse of unknown type %u, kind %u", m->type, m->kind);
}

static int check_order(const struct elide_order *o, char *what, size_t size)
{
	if (o->nr_edges < 2 || o->nr_edges > ELIDE_ORDER_EDGES) {
		snprintf(what, size, "cycle of %u locks", o->nr_edges);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < o->nr_edges; i++) {
		const struct elide_order_edge *e = &o->edges[i];

		if (is_kind(e->held_kind) && is_kind(e->taken_kind))
			continue;
		snprintf(what, size, "lock order of unknown kinds %u, %u", e->held_kind,
			 e->taken_kind);
		return -EINVAL;
	}
	return 0;
}

static int check_stack(const struct elide_stack *s, char *what, size_t size)
{
	CHECK(s->nr_frames <= ELIDE_STACK_FRAMES, "stack of %u frames", s->nr_frames);
}

static int check_sample(const struct elide_sample *s, char *what, size_t size)
{
	CHECK(is_kind(s->kind) && s->type >= ELIDE_SAMPLE_ABORT && s->type < ELIDE_SAMPLE_END,
	      "sample of unknown kind %u, type %u", s->kind, s->type);
}

static int check_detail(struct elide_detail *d, char *what, size_t size)
{
	int good = is_kind(d->kind) && d->cause < ELIDE_MAX_CAUSES &&
		   d->source >= ELIDE_DETAIL_STATUS && d->source < ELIDE_DETAIL_END &&
		   d->data_type < ELIDE_DATA_END && d->other_kind < ELIDE_NR_KINDS;

	/* A cause of a later version counts as "other". */
	if (d->cause >= ELIDE_NR_CAUSES && good)
		d->cause = ELIDE_CAUSE_other;
	CHECK(good, "detail of unknown kind %u, cause %u, source %u, data %u, other kind %u",
	      d->kind, d->cause, d->source, d->data_type, d->other_kind);
}

static int check_blame(const struct elide_blame *b, char *what, size_t size)
{
	CHECK(is_kind(b->kind) && b->type >= ELIDE_BLAME_ABORT && b->type < ELIDE_BLAME_END &&
		      b->held_kind < ELIDE_NR_KINDS,
	      "blame of unknown kind %u, type %u, held kind %u", b->kind, b->type, b->held_kind);
}

static int check_event(const struct elide_event *e, char *what, size_t size)
{
	CHECK(e->type >= ELIDE_EVENT_PAUSED && e->type < ELIDE_EVENT_END &&
		      (e->type == ELIDE_EVENT_OFF || is_kind(e->kind)),
	      "decision of unknown type %u, kind %u", e->type, e->kind);
}

static int check_counter(struct elide_counter *c, char *what, size_t size)
{
	c->name[sizeof(c->name) - 1] = '\0';
	CHECK(c->source >= ELIDE_COUNTER_PMU && c->source < ELIDE_COUNTER_END,
	      "counter of unknown source %u", c->source);
}

static int check_thread(struct elide_thread_record *t, char *what, size_t size)
{
	t->name[sizeof(t->name) - 1] = '\0';
	CHECK(t->state < ELIDE_THREAD_END,
	      "thread of unknown state %u", t->state);
}

static int check_span(const struct elide_span *m, unsigned int last, char *what, size_t size)
{
	CHECK(m->type == ELIDE_SPAN_NONE || (m->type <= last && is_kind(m->kind)),
	      "span of unknown type %u, kind %u", m->type, m->kind);
}

static int check_source(struct elide_source *s, char *what, size_t size)
{
	s->host[sizeof(s->host) - 1] = '\0';
	s->name[sizeof(s->name) - 1] = '\0';
	CHECK(s->build_id_len <= sizeof(s->build_id), "build-id of %u bytes", s->build_id_len);
}

size_t record_size(int type)
{
	static const size_t sizes[] = {
		[ELIDE_CHUNK_MODULES] = sizeof(struct elide_module),
		[ELIDE_CHUNK_CLASSES] = sizeof(struct elide_class),
		[ELIDE_CHUNK_ROWS] = sizeof(struct elide_row),
		[ELIDE_CHUNK_MISUSE] = sizeof(struct elide_misuse),
		[ELIDE_CHUNK_ORDER] = sizeof(struct elide_order),
		[ELIDE_CHUNK_STACKS] = sizeof(struct elide_stack),
		[ELIDE_CHUNK_SAMPLES] = sizeof(struct elide_sample),
		[ELIDE_CHUNK_DETAILS] = sizeof(struct elide_detail),
		[ELIDE_CHUNK_BLAME] = sizeof(struct elide_blame),
		[ELIDE_CHUNK_TIMELINE] = sizeof(struct elide_event),
		[ELIDE_CHUNK_COUNTERS] = sizeof(struct elide_counter),
		[ELIDE_CHUNK_THREADS] = sizeof(struct elide_thread_record),
		[ELIDE_CHUNK_SPANS] = sizeof(struct elide_span),
		[ELIDE_CHUNK_ABORTS] = sizeof(struct elide_span),
		[ELIDE_CHUNK_SOURCES] = sizeof(struct elide_source),
	};

	return type >= 0 && (size_t)type < ARRAY_SIZE(sizes) ? sizes[type] : 0;
}

const char *record_name(int type)
{
	static const char *const names[] = {
		[ELIDE_CHUNK_MODULES] = "modules",
		[ELIDE_CHUNK_CLASSES] = "lock classes",
		[ELIDE_CHUNK_ROWS] = "rows",
		[ELIDE_CHUNK_MISUSE] = "misuses",
		[ELIDE_CHUNK_ORDER] = "lock orders",
		[ELIDE_CHUNK_STACKS] = "stacks",
		[ELIDE_CHUNK_SAMPLES] = "samples",
		[ELIDE_CHUNK_DETAILS] = "details",
		[ELIDE_CHUNK_BLAME] = "blames",
		[ELIDE_CHUNK_TIMELINE] = "decisions",
		[ELIDE_CHUNK_COUNTERS] = "counters",
		[ELIDE_CHUNK_THREADS] = "threads",
		[ELIDE_CHUNK_SPANS] = "spans",
		[ELIDE_CHUNK_ABORTS] = "aborted attempts",
		[ELIDE_CHUNK_SOURCES] = "sources",
	};

	return record_size(type) ? names[type] : "records of an unknown type";
}

int record_check(int type, void *record, char *what, size_t size)
{
	switch (type) {
	case ELIDE_CHUNK_MODULES:
		return check_module(record, what, size);
	case ELIDE_CHUNK_CLASSES:
		return check_class(record, what, size);
	case ELIDE_CHUNK_ROWS:
		return check_row(record, what, size);
	case ELIDE_CHUNK_MISUSE:
		return check_misuse(record, what, size);
	case ELIDE_CHUNK_ORDER:
		return check_order(record, what, size);
	case ELIDE_CHUNK_STACKS:
		return check_stack(record, what, size);
	case ELIDE_CHUNK_SAMPLES:
		return check_sample(record, what, size);
	case ELIDE_CHUNK_DETAILS:
		return check_detail(record, what, size);
	case ELIDE_CHUNK_BLAME:
		return check_blame(record, what, size);
	case ELIDE_CHUNK_TIMELINE:
		return check_event(record, what, size);
	case ELIDE_CHUNK_THREADS:
		return check_thread(record, what, size);
	case ELIDE_CHUNK_SPANS:
		return check_span(record, ELIDE_SPAN_HOLD, what, size);
	case ELIDE_CHUNK_ABORTS:
		return check_span(record, ELIDE_SPAN_ABORT, what, size);
	case ELIDE_CHUNK_SOURCES:
		return check_source(record, what, size);
	default:
		return check_counter(record, what, size);
	}
}

static int has_classes(const struct data_file *f, const struct elide_order *o)
{
	for (uint32_t i = 0; i < o->nr_edges; i++)
		if (!load_has_class(f, o->edges[i].class_index))
			return 0;
	return 1;
}

static int event_has_class(const struct data_file *f, const struct elide_event *e)
{
	return e->type == ELIDE_EVENT_OFF || load_has_class(f, e->class_index);
}

/* Keeps the records of an array for which @good holds, @r being the record. */
#define KEEP(f, array, nr, good)                                                                   \
	do {                                                                                       \
		size_t kept = 0;                                                                   \
                                                                                                   \
		for (size_t i = 0; i < (f)->nr; i++) {                                             \
			__auto_type r = &(f)->array[i];                                            \
                                                                                                   \
			if (good)                                                                  \
				(f)->array[kept++] = *r;                                           \
		}                                                                                  \
		(f)->notes.nr_orphans += (f)->nr - kept;                                           \
		(f)->nr = kept;                                                                    \
	} while (0)

/* Leaves out unused ones. */
static void keep_spans(const struct data_file *f, struct elide_span *spans, size_t *nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < *nr; i++)
		if (spans[i].type && load_has_class(f, spans[i].class_index))
			spans[kept++] = spans[i];
	*nr = kept;
}

/* Leaves out records of threads that are not in use. */
static void keep_threads(struct data_file *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nr_threads; i++)
		if (f->threads[i].state)
			f->threads[kept++] = f->threads[i];
	f->nr_threads = kept;
}

static void link_stack(const struct data_file *f, uint32_t *stack)
{
	if (*stack > f->nr_stacks || (*stack && !f->stacks[*stack - 1].nr_frames))
		*stack = 0;
}

void records_link(struct data_file *f)
{
	KEEP(f, orders, nr_orders, has_classes(f, r));
	KEEP(f, samples, nr_samples, load_has_class(f, r->class_index));
	KEEP(f, details, nr_details, load_has_class(f, r->class_index));
	KEEP(f, blames, nr_blames,
	     load_has_class(f, r->class_index) &&
		     (!r->held_kind || load_has_class(f, r->held_class)));
	KEEP(f, events, nr_events, event_has_class(f, r));
	keep_spans(f, f->spans, &f->nr_spans);
	keep_spans(f, f->aborts, &f->nr_aborts);
	keep_threads(f);
	for (size_t i = 0; i < f->nr_samples; i++)
		link_stack(f, &f->samples[i].stack);
	for (size_t i = 0; i < f->nr_blames; i++)
		link_stack(f, &f->blames[i].waker);
	for (size_t i = 0; i < f->nr_threads; i++)
		link_stack(f, &f->threads[i].stack);
	for (size_t i = 0; i < f->nr_details; i++) {
		struct elide_detail *d = &f->details[i];

		link_stack(f, &d->own_stack);
		link_stack(f, &d->abort_stack);
		link_stack(f, &d->other_stack);
		link_stack(f, &d->alloc_stack);
		if (d->other_class && !load_has_class(f, d->other_class - 1))
			d->other_class = 0;
	}
}

/* The new number of a class; some records refer to none. */
static uint32_t number_of(const struct data_file *f, uint32_t class_index)
{
	return class_index < f->nr_numbers ? f->numbers[class_index] : class_index;
}

/* Of a reference that counts from 1, where 0 is none. */
static uint32_t number_from_1(const struct data_file *f, uint32_t class)
{
	return class ? number_of(f, class - 1) + 1 : 0;
}

void records_renumber(struct data_file *f)
{
#define RENUMBER(array, nr, member, number)                                                        \
	for (size_t i = 0; i < f->nr; i++)                                                         \
	f->array[i].member = number(f, f->array[i].member)
	RENUMBER(misuse, nr_misuse, class, number_from_1);
	RENUMBER(samples, nr_samples, class_index, number_of);
	RENUMBER(details, nr_details, class_index, number_of);
	RENUMBER(details, nr_details, other_class, number_from_1);
	RENUMBER(blames, nr_blames, class_index, number_of);
	RENUMBER(blames, nr_blames, held_class, number_of);
	RENUMBER(events, nr_events, class_index, number_of);
	RENUMBER(threads, nr_threads, waits_class, number_of);
	RENUMBER(spans, nr_spans, class_index, number_of);
	RENUMBER(aborts, nr_aborts, class_index, number_of);
#undef RENUMBER
	for (size_t i = 0; i < f->nr_orders; i++)
		classes_join_order(&f->orders[i], f->numbers);
	classes_settle_orders(f);
}

#define BY(member)                                                                                 \
	if (a->member != b->member)                                                                \
	return a->member < b->member ? -1 : 1

static int compare_samples(const void *x, const void *y)
{
	const struct elide_sample *a = x, *b = y;

	BY(class_index);
	BY(kind);
	BY(site);
	BY(type);
	BY(stack);
	return 0;
}

static int compare_details(const void *x, const void *y)
{
	const struct elide_detail *a = x, *b = y;

	BY(class_index);
	BY(kind);
	BY(site);
	BY(cause);
	BY(source);
	BY(data_type);
	BY(own_pc);
	BY(other_pc);
	BY(other_write);
	BY(other_site);
	BY(other_class);
	BY(other_kind);
	BY(line);
	BY(data_base);
	BY(own_stack);
	BY(abort_stack);
	BY(other_stack);
	BY(alloc_stack);
	BY(syscall_nr);
	BY(signal);
	BY(cache_set);
	return 0;
}

static int compare_blames(const void *x, const void *y)
{
	const struct elide_blame *a = x, *b = y;

	BY(class_index);
	BY(kind);
	BY(site);
	BY(type);
	BY(held_class);
	BY(held_kind);
	BY(held_site);
	BY(peer);
	BY(waker);
	return 0;
}

static int compare_misuse(const void *x, const void *y)
{
	const struct elide_misuse *a = x, *b = y;

	BY(type);
	BY(kind);
	BY(site);
	BY(lock);
	return 0;
}

static void add_sample(void *to, const void *from)
{
	struct elide_sample *a = to;
	const struct elide_sample *b = from;

	a->samples += b->samples;
	a->count += b->count;
	a->cycles += b->cycles;
}

#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void add_detail(void *to, const void *from)
{
	struct elide_detail *a = to;
	const struct elide_detail *b = from;

	a->samples += b->samples;
	a->count += b->count;
	a->cycles += b->cycles;
	a->own_bytes |= b->own_bytes;
	a->other_bytes |= b->other_bytes;
	a->own_written |= b->own_written;
	a->other_written |= b->other_written;
	a->max_read_lines = MAX(a->max_read_lines, b->max_read_lines);
	a->max_write_lines = MAX(a->max_write_lines, b->max_write_lines);
	a->cache_ways = MAX(a->cache_ways, b->cache_ways);
}

static void add_blame(void *to, const void *from)
{
	struct elide_blame *a = to;
	const struct elide_blame *b = from;

	a->samples += b->samples;
	a->count += b->count;
	a->cycles += b->cycles;
}

static void add_misuse(void *to, const void *from)
{
	struct elide_misuse *a = to;
	const struct elide_misuse *b = from;

	a->count += b->count;
}

/* Sum up equal neighbours. Return: the remaining number of records. */
static size_t merge(void *array, size_t nr, size_t size, int (*compare)(const void *, const void *),
		    void (*add)(void *, const void *))
{
	char *at = array, *last = NULL;
	size_t kept = 0;

	if (!nr)
		return 0;
	qsort(array, nr, size, compare);
	for (size_t i = 0; i < nr; i++) {
		if (last && !compare(last, at + i * size)) {
			add(last, at + i * size);
			continue;
		}
		last = at + kept++ * size;
		if (last != at + i * size)
			memcpy(last, at + i * size, size);
	}
	return kept;
}

void records_merge(struct data_file *f)
{
	uint64_t orphans = f->notes.nr_orphans;

	f->nr_samples = merge(f->samples, f->nr_samples, sizeof(*f->samples), compare_samples,
			      add_sample);
	f->nr_details = merge(f->details, f->nr_details, sizeof(*f->details), compare_details,
			      add_detail);
	f->nr_blames = merge(f->blames, f->nr_blames, sizeof(*f->blames), compare_blames, add_blame);
	f->nr_misuse = merge(f->misuse, f->nr_misuse, sizeof(*f->misuse), compare_misuse, add_misuse);
	KEEP(f, samples, nr_samples, r->samples);
	KEEP(f, details, nr_details, r->samples);
	KEEP(f, blames, nr_blames, r->samples);
	KEEP(f, misuse, nr_misuse, r->count);
	f->notes.nr_orphans = orphans;
}

void records_negate(struct data_file *f)
{
	for (size_t i = 0; i < f->nr_samples; i++) {
		struct elide_sample *s = &f->samples[i];

		s->samples = -s->samples;
		s->count = -s->count;
		s->cycles = -s->cycles;
	}
	for (size_t i = 0; i < f->nr_details; i++) {
		struct elide_detail *d = &f->details[i];

		d->samples = -d->samples;
		d->count = -d->count;
		d->cycles = -d->cycles;
	}
	for (size_t i = 0; i < f->nr_blames; i++) {
		struct elide_blame *b = &f->blames[i];

		b->samples = -b->samples;
		b->count = -b->count;
		b->cycles = -b->cycles;
	}
	for (size_t i = 0; i < f->nr_misuse; i++)
		f->misuse[i].count = -f->misuse[i].count;
}
