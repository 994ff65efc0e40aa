// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - what each thread of a process acquired, waited and held.
 *
 * A thread with a block has counted what the rows of the block have, less the counts in its record:
 * struct elide_thread_record.
 * Must never give a thread counts that the file gives to no thread.
 */
#include "threads.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/row-sums.h"
#include "../base/sort.h"

/* Counters of a block or a thread; those that load_base() subtracts are negative for a while. */
struct counts {
	int64_t acquired;
	int64_t elided;
	int64_t contended;
	int64_t wait;
	double held;
};

/* Counters of the rows of each block; block 0 has those of rows without a block. */
struct blocks {
	struct counts *counts;
	size_t nr;
};

static int add_row(void *arg, uint32_t block, const struct elide_row *row)
{
	struct blocks *b = arg;
	struct counts *c = &b->counts[block < b->nr ? block : 0];

	/* As in the totals. */
	c->wait += elide_kind_waits_for_lock(row->kind) ? (int64_t)row->wait.total : 0;
	if (!elide_kind_is_lock(row->kind))
		return 0;
	c->acquired += (int64_t)elide_row_acquired(row);
	c->elided += (int64_t)elide_row_elided(row);
	c->contended += (int64_t)row->contended;
	c->held += elide_row_held(row);
	return 0;
}

static int sum_blocks(const struct data_file *f, struct blocks *b)
{
	b->nr = 1;
	for (size_t i = 0; i < f->nr_threads; i++)
		if (f->threads[i].block >= b->nr && f->threads[i].block < UINT32_MAX / 2)
			b->nr = f->threads[i].block + 1;
	b->counts = calloc(b->nr, sizeof(*b->counts));
	return b->counts ? load_block_rows(f, add_row, b) : -ENOMEM;
}

/* The line of ended threads of a name, or a new one. */
static struct thread_line *line_of(struct threads *to, const char *name, bool ended)
{
	struct thread_line *l;

	for (size_t i = 0; ended && i < to->nr; i++)
		if (!to->lines[i].tid && !strcmp(to->lines[i].name, name))
			return &to->lines[i];
	l = &to->lines[to->nr++];
	snprintf(l->name, sizeof(l->name), "%s", name);
	return l;
}

/* @sign: -1 to subtract. Results below 0 become 0, as times of holds are estimates. */
static void add_counts(struct thread_line *l, const struct counts *c, int sign)
{
	l->acquired += sign * c->acquired;
	l->elided += sign * c->elided;
	l->contended += sign * c->contended;
	l->wait = fmax(l->wait + sign * (double)c->wait, 0);
	l->held = fmax(l->held + sign * c->held, 0);
}

static struct counts counts_of(const struct elide_thread_record *t)
{
	return (struct counts){.acquired = (int64_t)t->acquired, .elided = (int64_t)t->elided,
			       .contended = (int64_t)t->contended, .wait = (int64_t)t->wait,
			       .held = (double)t->held};
}

static void subtract(struct counts *c, const struct counts *less)
{
	c->acquired -= less->acquired;
	c->elided -= less->elided;
	c->contended -= less->contended;
	c->wait -= less->wait;
	c->held -= less->held;
}

static const char *name_of(const struct elide_thread_record *t)
{
	if (t->name[0])
		return t->name;
	return t->state == ELIDE_THREAD_PAST ? "(further names)" : "(no name)";
}

/* The record of a block in the file that load_base() subtracts; NULL if it has none. */
static const struct elide_thread_record *find_block(const struct data_file *f, uint32_t block)
{
	for (size_t i = 0; f && i < f->nr_threads; i++)
		if (f->threads[i].block == block && f->threads[i].state != ELIDE_THREAD_PAST)
			return &f->threads[i];
	return NULL;
}

/*
 * A thread that began before the reset has counted what its rows have, from which load_base() has
 * subtracted the counts at the reset.
 */
static void add_thread(struct threads *to, const struct data_file *f, const struct blocks *b,
		       const struct elide_thread_record *t)
{
	const struct elide_thread_record *before = find_block(f->base, t->block);
	bool ended = t->state != ELIDE_THREAD_RUNS;
	struct thread_line *l = line_of(to, name_of(t), ended);
	struct counts begin = counts_of(t), c = begin;

	if (t->state != ELIDE_THREAD_PAST) {
		c = (struct counts){0};
		if (t->block < b->nr)
			c = b->counts[t->block];
		if (!before || before->tid != t->tid)
			subtract(&c, &begin);
	}
	l->tid = ended ? 0 : t->tid;
	l->nr += t->nr;
	l->lived += (double)t->lived;
	l->ran += (double)t->ran;
	l->late += (double)t->late;
	add_counts(l, &c, 1);
}

/* Subtracts counts from before the reset of threads that have ended, before or after it. */
static int subtract_past(struct threads *to, const struct data_file *f)
{
	struct blocks b = {0};
	int rc = sum_blocks(f->base, &b);

	for (size_t i = 0; !rc && i < f->base->nr_threads; i++) {
		const struct elide_thread_record *t = &f->base->threads[i], *now;
		struct counts c = counts_of(t), begin = c;

		now = find_block(f, t->block);
		if (t->state != ELIDE_THREAD_PAST) {
			if (t->block >= b.nr || !now || now->tid == t->tid)
				continue;
			c = b.counts[t->block];
			subtract(&c, &begin);
		}
		add_counts(line_of(to, name_of(t), true), &c, -1);
	}
	free(b.counts);
	return rc;
}

static int compare_lines(const void *x, const void *y)
{
	const struct thread_line *a = x, *b = y;
	int c = (b->wait > a->wait) - (b->wait < a->wait);

	if (!c)
		c = (b->held > a->held) - (b->held < a->held);
	if (!c)
		c = by_number(b->acquired, a->acquired);
	if (!c)
		c = strcmp(a->name, b->name);
	return c ? c : by_number(a->tid, b->tid);
}

int threads_build(const struct report *r, struct threads *to)
{
	const struct data_file *f = r->file;
	struct blocks b = {0};
	int rc;

	*to = (struct threads){.known = f->nr_threads != 0};
	/* One line more for each record of the base, and one for rows without a block. */
	to->lines = calloc(f->nr_threads + (f->base ? f->base->nr_threads : 0) + 1,
			   sizeof(*to->lines));
	rc = to->lines ? sum_blocks(f, &b) : -ENOMEM;
	for (size_t i = 0; !rc && i < f->nr_threads; i++)
		add_thread(to, f, &b, &f->threads[i]);
	if (!rc && f->base)
		rc = subtract_past(to, f);
	/* In joined files the records have all counts, and the rows no blocks. */
	if (!rc && to->known && !f->nr_sources && b.counts[0].acquired)
		add_counts(line_of(to, "(not recorded)", true), &b.counts[0], 1);
	for (size_t i = 0; i < to->nr; i++) {
		struct thread_line *l = &to->lines[i];

		if (l->tid)
			snprintf(l->tid_text, sizeof(l->tid_text), "%u", l->tid);
		else
			snprintf(l->tid_text, sizeof(l->tid_text), "%u ended", l->nr);
	}
	if (!rc && to->nr)
		qsort(to->lines, to->nr, sizeof(*to->lines), compare_lines);
	free(b.counts);
	if (rc)
		threads_free(to);
	return rc;
}

void threads_free(struct threads *t)
{
	free(t->lines);
	memset(t, 0, sizeof(*t));
}

double thread_share(const struct report *r, double cycles)
{
	return r->cycles ? 100 * cycles / (double)r->cycles : NAN;
}

double thread_part(const struct thread_line *t, double ns)
{
	return t->lived > 0 ? 100 * ns / t->lived : NAN;
}
