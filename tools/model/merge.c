// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * merge.c - the data files of several processes as one.
 *
 * Every object gets one place in the merged file: its place in the first file that has it, if that is
 * free. Addresses in objects are moved accordingly, others remain.
 * Must merge only what has the same object and the same offset in it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "file/classes.h"
#include "file/faults.h"
#include "merge.h"
#include "records.h"

/* Objects whose own place is taken go here, above the address space of a process. */
#define ELSEWHERE (1ull << 52)

/* The move of a module of a file: @add is added to its addresses, modulo 2^64. */
struct move {
	uint64_t start;
	uint64_t end;
	uint64_t add;
};

/* The new numbers and addresses of a file. @aliases: of some addresses, sorted */
struct part {
	const struct data_file *file;
	const struct merge_alias *aliases;
	size_t nr_aliases;
	struct move *moves;
	size_t nr_moves;
	uint32_t *classes;
	uint32_t *stacks;
	uint32_t first_block;
};

struct merged {
	struct part *parts;
	size_t nr_parts;
	uint64_t next;
};

static uint64_t moved(const struct part *p, uint64_t address)
{
	for (size_t i = 0; i < p->nr_moves; i++)
		if (address >= p->moves[i].start && address < p->moves[i].end)
			return address + p->moves[i].add;
	return address;
}

static int compare_alias(const void *key, const void *alias)
{
	return by_number(*(const uint64_t *)key, ((const struct merge_alias *)alias)->from);
}

static const struct merge_alias *alias_of(const struct part *p, uint64_t address)
{
	if (!p->nr_aliases)
		return NULL;
	return bsearch(&address, p->aliases, p->nr_aliases, sizeof(*p->aliases), compare_alias);
}

static uint64_t address_of(const struct part *p, uint64_t address)
{
	const struct merge_alias *alias = alias_of(p, address);

	return alias ? alias->to : moved(p, address);
}

/* Moves a return address with the byte before it: the next instruction may be in another object. */
static uint64_t return_of(const struct part *p, uint64_t address)
{
	const struct merge_alias *alias = alias_of(p, address);

	if (alias)
		return alias->to;
	return address ? moved(p, address - 1) + 1 : 0;
}

static uint32_t class_of(const struct part *p, uint32_t class_index)
{
	return class_index < p->file->nr_classes ? p->classes[class_index] : class_index;
}

/* For numbers that count from 1, where 0 is none. */
static uint32_t class_from_1(const struct part *p, uint32_t class_index)
{
	return class_index ? class_of(p, class_index - 1) + 1 : 0;
}

static uint32_t stack_of(const struct part *p, uint32_t stack)
{
	return stack && stack <= p->file->nr_stacks ? p->stacks[stack - 1] + 1 : 0;
}

static bool is_same(const struct elide_module *a, const struct elide_module *b)
{
	/* The path, which differs from host to host, matters only without a build-id. */
	return a->build_id_len == b->build_id_len && a->end - a->start == b->end - b->start &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len) &&
	       (a->build_id_len || !strcmp(a->path, b->path));
}

static bool is_free(const struct data_file *f, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < f->nr_modules; i++)
		if (start < f->modules[i].end && f->modules[i].start < end)
			return false;
	return true;
}

/* The place of a module in the merged file. */
static const struct elide_module *place_module(struct data_file *to, const struct elide_module *m)
{
	struct elide_module *placed;
	uint64_t add = 0;

	for (size_t i = 0; i < to->nr_modules; i++)
		if (is_same(&to->modules[i], m))
			return &to->modules[i];
	if (m->end < m->start || m->end >= ELSEWHERE || !is_free(to, m->start, m->end)) {
		add = to->merged->next - m->start;
		to->merged->next += m->end - m->start;
	}
	placed = &to->modules[to->nr_modules++];
	*placed = *m;
	placed->base += add;
	placed->start += add;
	placed->end += add;
	return placed;
}

static int move_modules(struct data_file *to, struct part *p)
{
	const struct data_file *f = p->file;

	p->moves = calloc(f->nr_modules + 1, sizeof(*p->moves));
	if (!p->moves)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_modules; i++) {
		const struct elide_module *m = &f->modules[i], *placed = place_module(to, m);

		p->moves[p->nr_moves++] =
			(struct move){m->start, m->end, placed->start - m->start};
	}
	return 0;
}

/* A class and its file, for sorting; @from: its address there. */
struct class_place {
	struct elide_class class;
	uint64_t from;
	uint32_t part;
	uint32_t index;
};

static int compare_names(const struct class_place *a, const struct class_place *b)
{
	int c = by_number(a->class.type, b->class.type);

	if (!c)
		c = by_number(a->class.kind, b->class.kind);
	return c ? c : by_number(a->class.address, b->class.address);
}

static int compare_classes(const void *x, const void *y)
{
	const struct class_place *a = x, *b = y;
	int c = compare_names(a, b);

	if (!c)
		c = by_number(a->part, b->part);
	return c ? c : by_number(a->index, b->index);
}

/*
 * Joins classes of the same name. If one file has several of a name, they are joined only if they are of
 * one object that was loaded at several addresses.
 */
static void join_classes(struct data_file *to, struct class_place *places, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct class_place *p = &places[i];
		bool joins = i && !compare_names(p - 1, p) &&
			     (p[-1].part != p->part || p[-1].from != p->from);
		struct elide_class *class;

		if (joins) {
			class = &to->classes[to->nr_classes - 1];
			class->nr_locks += p->class.nr_locks;
			class->nr_shared += p->class.nr_shared;
			if (p->class.array > class->array)
				class->array = p->class.array;
		} else {
			to->classes[to->nr_classes++] = p->class;
		}
		to->merged->parts[p->part].classes[p->index] = to->nr_classes - 1;
	}
}

/* A call of one process may connect classes of another one. */
static int join_parts(struct data_file *to)
{
	struct merged *m = to->merged;
	uint32_t *numbers;
	size_t nr = 0;
	int rc;

	for (size_t i = 0; i < m->nr_parts; i++)
		nr += m->parts[i].file->nr_sites;
	to->sites = calloc(nr + 1, sizeof(*to->sites));
	if (!to->sites)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_parts; i++) {
		const struct part *p = &m->parts[i];

		for (size_t j = 0; j < p->file->nr_sites; j++) {
			const struct lock_site *s = &p->file->sites[j];

			to->sites[to->nr_sites++] = (struct lock_site){
				.site = return_of(p, s->site), .class_index = class_of(p, s->class_index)};
		}
	}
	rc = classes_join(to, &numbers);
	if (rc)
		return rc;
	for (size_t i = 0; i < m->nr_parts; i++)
		for (size_t j = 0; j < m->parts[i].file->nr_classes; j++)
			m->parts[i].classes[j] = numbers[m->parts[i].classes[j]];
	free(numbers);
	return 0;
}

static int merge_classes(struct data_file *to)
{
	struct merged *m = to->merged;
	struct class_place *places;
	size_t nr = 0, all = 0;

	for (size_t i = 0; i < m->nr_parts; i++)
		all += m->parts[i].file->nr_classes;
	places = calloc(all + 1, sizeof(*places));
	to->classes = calloc(all + 1, sizeof(*to->classes));
	if (!places || !to->classes) {
		free(places);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->nr_parts; i++) {
		struct part *p = &m->parts[i];

		p->classes = calloc(p->file->nr_classes + 1, sizeof(*p->classes));
		if (!p->classes) {
			free(places);
			return -ENOMEM;
		}
		for (uint32_t j = 0; j < p->file->nr_classes; j++) {
			const struct elide_class *class = &p->file->classes[j];

			places[nr] = (struct class_place){*class, class->address, i, j};
			places[nr++].class.address =
				class->type == ELIDE_CLASS_BEYOND ? 0 :
				class->type == ELIDE_CLASS_STATIC ? address_of(p, class->address) :
								    return_of(p, class->address);
		}
	}
	qsort(places, nr, sizeof(*places), compare_classes);
	join_classes(to, places, nr);
	free(places);
	return join_parts(to);
}

/* A stack and its file, for sorting. */
struct stack_place {
	struct elide_stack stack;
	uint32_t part;
	uint32_t index;
};

static int compare_stacks(const void *x, const void *y)
{
	const struct stack_place *a = x, *b = y;

	return memcmp(&a->stack, &b->stack, sizeof(a->stack));
}

/* Puts each stack into the merged file once. */
static int merge_stacks(struct data_file *to)
{
	struct merged *m = to->merged;
	struct stack_place *places;
	size_t nr = 0, all = 0;

	for (size_t i = 0; i < m->nr_parts; i++)
		all += m->parts[i].file->nr_stacks;
	places = calloc(all + 1, sizeof(*places));
	to->stacks = calloc(all + 1, sizeof(*to->stacks));
	for (size_t i = 0; i < m->nr_parts; i++) {
		struct part *p = &m->parts[i];

		p->stacks = calloc(p->file->nr_stacks + 1, sizeof(*p->stacks));
		if (!p->stacks || !places || !to->stacks) {
			free(places);
			return -ENOMEM;
		}
		for (uint32_t j = 0; j < p->file->nr_stacks; j++) {
			struct elide_stack *s = &places[nr].stack;

			*s = p->file->stacks[j];
			for (int frame = 0; frame < ELIDE_STACK_FRAMES; frame++)
				s->frames[frame] =
					frame >= s->nr_frames ? 0 :
					s->exact && !frame    ? address_of(p, s->frames[0]) :
								return_of(p, s->frames[frame]);
			places[nr].part = i;
			places[nr++].index = j;
		}
	}
	qsort(places, nr, sizeof(*places), compare_stacks);
	for (size_t i = 0; i < nr; i++) {
		if (!i || compare_stacks(&places[i - 1], &places[i]))
			to->stacks[to->nr_stacks++] = places[i].stack;
		m->parts[places[i].part].stacks[places[i].index] = to->nr_stacks - 1;
	}
	free(places);
	return 0;
}

/* Moves the members that identify a record's row. */
#define MOVE_ROW(p, r)                                                                             \
	do {                                                                                       \
		(r)->class_index = class_of(p, (r)->class_index);                                  \
		(r)->site = return_of(p, (r)->site);                                               \
	} while (0)

static void move_misuse(const struct part *p, struct elide_misuse *m)
{
	uint32_t class = class_from_1(p, m->class);

	m->class = class <= UINT16_MAX ? class : 0;
	m->site = return_of(p, m->site);
	m->lock = address_of(p, m->lock);
}

static void move_order(const struct part *p, struct elide_order *o)
{
	classes_join_order(o, p->classes);
	for (uint32_t i = 0; i < o->nr_edges; i++) {
		struct elide_order_edge *e = &o->edges[i];

		e->held_site = return_of(p, e->held_site);
		e->taken_site = return_of(p, e->taken_site);
	}
}

static void move_sample(const struct part *p, struct elide_sample *s)
{
	MOVE_ROW(p, s);
	s->stack = stack_of(p, s->stack);
}

static void move_detail(const struct part *p, struct elide_detail *d)
{
	MOVE_ROW(p, d);
	d->other_class = class_from_1(p, d->other_class);
	d->own_pc = address_of(p, d->own_pc);
	d->other_pc = address_of(p, d->other_pc);
	d->other_site = return_of(p, d->other_site);
	d->line = address_of(p, d->line);
	d->data_base = address_of(p, d->data_base);
	d->fault_addr = address_of(p, d->fault_addr);
	d->lock = address_of(p, d->lock);
	d->own_stack = stack_of(p, d->own_stack);
	d->abort_stack = stack_of(p, d->abort_stack);
	d->other_stack = stack_of(p, d->other_stack);
	d->alloc_stack = stack_of(p, d->alloc_stack);
}

static void move_blame(const struct part *p, struct elide_blame *b)
{
	MOVE_ROW(p, b);
	b->held_class = class_of(p, b->held_class);
	b->held_site = return_of(p, b->held_site);
	b->waker = stack_of(p, b->waker);
}

static void move_event(const struct part *p, struct elide_event *e)
{
	MOVE_ROW(p, e);
	e->lock = address_of(p, e->lock);
}

static void move_thread(const struct part *p, struct elide_thread_record *t)
{
	t->block += t->block ? p->first_block : 0;
	t->stack = stack_of(p, t->stack);
}

static void move_span(const struct part *p, struct elide_span *m)
{
	MOVE_ROW(p, m);
	m->block += m->block ? p->first_block : 0;
}

static void move_abort(const struct part *p, struct elide_span *m)
{
	MOVE_ROW(p, m);
}

static void move_counter(const struct part *p, struct elide_counter *c)
{
}

static void move_source(const struct part *p, struct elide_source *s)
{
}

/* Sets an array of @to to the records of all files, each moved. */
#define MERGE(to, array, nr_array, move)                                                           \
	do {                                                                                       \
		size_t nr = 0;                                                                     \
                                                                                                   \
		for (size_t i = 0; i < (to)->merged->nr_parts; i++)                                \
			nr += (to)->merged->parts[i].file->nr_array;                               \
		(to)->array = calloc(nr + 1, sizeof(*(to)->array));                                \
		if (!(to)->array)                                                                  \
			return -ENOMEM;                                                            \
		for (size_t i = 0; i < (to)->merged->nr_parts; i++) {                              \
			const struct part *p = &(to)->merged->parts[i];                            \
                                                                                                   \
			for (size_t j = 0; j < p->file->nr_array; j++) {                           \
				(to)->array[(to)->nr_array] = p->file->array[j];                   \
				move(p, &(to)->array[(to)->nr_array++]);                           \
			}                                                                          \
		}                                                                                  \
	} while (0)

static int compare_events(const void *x, const void *y)
{
	const struct elide_event *a = x, *b = y;

	return by_number(a->time, b->time);
}

static int merge_records(struct data_file *to)
{
	MERGE(to, misuse, nr_misuse, move_misuse);
	MERGE(to, orders, nr_orders, move_order);
	MERGE(to, samples, nr_samples, move_sample);
	MERGE(to, details, nr_details, move_detail);
	MERGE(to, blames, nr_blames, move_blame);
	MERGE(to, events, nr_events, move_event);
	MERGE(to, threads, nr_threads, move_thread);
	MERGE(to, spans, nr_spans, move_span);
	MERGE(to, aborts, nr_aborts, move_abort);
	MERGE(to, counters, nr_counters, move_counter);
	MERGE(to, sources, nr_sources, move_source);
	classes_settle_orders(to);
	qsort(to->events, to->nr_events, sizeof(*to->events), compare_events);
	records_merge(to);
	return 0;
}

/* Run time of a process, cycles. */
static uint64_t length_of(const struct elide_header *h)
{
	return h->end_cycles > h->start_cycles ? h->end_cycles - h->start_cycles : 0;
}

/* From the first start to the last end; on emulated machines, whose clocks differ, the longest. */
static void merge_times(struct elide_header *to, const struct elide_header *h)
{
	if (h->rtm == ELIDE_RTM_EMULATED) {
		if (length_of(h) > length_of(to)) {
			to->start_ns = h->start_ns;
			to->start_cycles = h->start_cycles;
			to->end_ns = h->end_ns;
			to->end_cycles = h->end_cycles;
		}
		return;
	}
	if (h->start_cycles < to->start_cycles) {
		to->start_ns = h->start_ns;
		to->start_cycles = h->start_cycles;
	}
	if (h->end_cycles > to->end_cycles) {
		to->end_ns = h->end_ns;
		to->end_cycles = h->end_cycles;
	}
}

/* Adds to the time of a system call, or in place of one with less time. */
static void merge_call(struct elide_account *to, uint64_t nr, uint64_t ns)
{
	int least = 0;

	for (int i = 0; i < ELIDE_ACCOUNT_CALLS; i++) {
		if (to->calls[i].ns && to->calls[i].nr == nr) {
			to->calls[i].ns += ns;
			return;
		}
		if (to->calls[i].ns < to->calls[least].ns)
			least = i;
	}
	if (to->calls[least].ns >= ns)
		return;
	to->calls[least].nr = nr;
	to->calls[least].ns = ns;
}

void merge_numbers(struct elide_header *to, const struct elide_header *h)
{
	to->nr_threads += h->nr_threads;
	for (int i = 0; i < ELIDE_MAX_DROPPED; i++)
		to->dropped[i] += h->dropped[i];
	to->args_left_out |= h->args_left_out;
	to->filter |= h->filter;
	to->dlmopen |= h->dlmopen;
	to->unseen |= h->unseen;
	to->account.threads += h->account.threads;
	to->account.running += h->account.running;
	to->account.late += h->account.late;
	to->account.no_late |= h->account.no_late;
	for (int i = 0; i < ELIDE_ACCOUNT_CALLS && h->account.calls[i].ns; i++)
		merge_call(&to->account, h->account.calls[i].nr, h->account.calls[i].ns);
	/* Processes without samples lived for less than the first one takes to come. */
	to->account.samples += h->account.samples;
	to->nr_joining += h->nr_joining;
	to->joined += h->joined;
	to->nr_unsaid += h->nr_unsaid;
	if (h->nr_unsaid)
		memcpy(to->unsaid, h->unsaid, sizeof(to->unsaid));
}

static void merge_header(struct data_file *to, const struct data_file *f)
{
	merge_times(&to->header, &f->header);
	merge_numbers(&to->header, &f->header);
	faults_add(&to->notes, &f->notes);
	to->nr_rows += f->nr_rows;
	to->negates |= f->negates;
}

/* What passes a row of a file, moved, to the reader of the merged one. */
struct row_way {
	const struct part *part;
	load_row row;
	void *arg;
};

static int move_row(void *arg, uint32_t block, const struct elide_row *row)
{
	const struct row_way *way = arg;
	struct elide_row moved = *row;

	MOVE_ROW(way->part, &moved);
	return way->row(way->arg, block ? block + way->part->first_block : 0, &moved);
}

static int merged_rows(const struct data_file *file, load_row row, void *arg)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < file->merged->nr_parts; i++) {
		struct row_way way = {&file->merged->parts[i], row, arg};

		rc = load_block_rows(way.part->file, move_row, &way);
	}
	return rc;
}

/* Blocks of a file are numbered from 1. */
static uint32_t last_block(const struct data_file *f)
{
	uint32_t last = 0;

	for (size_t i = 0; i < f->nr_threads; i++)
		if (f->threads[i].block > last)
			last = f->threads[i].block;
	return last;
}

static int merge(struct data_file *to, const struct data_file *files, size_t nr,
		 const struct merge_alias *aliases, size_t nr_aliases)
{
	struct merged *m = to->merged;
	size_t nr_modules = 0;
	uint32_t block = 0;
	int rc = 0;

	m->next = ELSEWHERE;
	m->parts = calloc(nr, sizeof(*m->parts));
	to->path = strdup(files[0].path);
	for (size_t i = 0; i < nr; i++)
		nr_modules += files[i].nr_modules;
	to->modules = calloc(nr_modules + 1, sizeof(*to->modules));
	if (!m->parts || !to->path || !to->modules)
		return -ENOMEM;
	m->nr_parts = nr;
	m->parts[nr - 1].aliases = aliases;
	m->parts[nr - 1].nr_aliases = nr_aliases;
	for (size_t i = 0; !rc && i < nr; i++) {
		m->parts[i].file = &files[i];
		m->parts[i].first_block = block;
		block += last_block(&files[i]);
		rc = move_modules(to, &m->parts[i]);
		if (i)
			merge_header(to, &files[i]);
	}
	if (!rc)
		rc = merge_classes(to);
	if (!rc)
		rc = merge_stacks(to);
	return rc ? rc : merge_records(to);
}

bool merge_has_reloads(const struct data_file *file)
{
	for (size_t i = 1; i < file->nr_modules; i++)
		for (size_t j = 0; j < i; j++)
			if (is_same(&file->modules[i], &file->modules[j]))
				return true;
	return false;
}

int merge_files(struct data_file *to, const struct data_file *files, size_t nr)
{
	return merge_as(to, files, nr, NULL, 0);
}

int merge_as(struct data_file *to, const struct data_file *files, size_t nr,
	     const struct merge_alias *aliases, size_t nr_aliases)
{
	int rc = -ENOMEM;

	memset(to, 0, sizeof(*to));
	to->fd = -1;
	to->header = files[0].header;
	to->notes = files[0].notes;
	to->nr_rows = files[0].nr_rows;
	to->negates = files[0].negates;
	for (size_t i = 0; i < nr; i++)
		to->nr_processes += files[i].nr_processes ? files[i].nr_processes : 1;
	to->merged_rows = merged_rows;
	to->merged = calloc(1, sizeof(*to->merged));
	if (to->merged)
		rc = merge(to, files, nr, aliases, nr_aliases);
	if (rc)
		merge_free(to);
	return rc;
}

void merge_free(struct data_file *file)
{
	struct merged *m = file->merged;

	for (size_t i = 0; m && i < m->nr_parts; i++) {
		free(m->parts[i].moves);
		free(m->parts[i].classes);
		free(m->parts[i].stacks);
	}
	if (m)
		free(m->parts);
	free(m);
	file->merged = NULL;
	load_free(file);
}
