// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sums.c - rows of a file summed in a table.
 *
 * Must never keep a whole row, as a file may have a million.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/row-sums.h"
#include "attribute.h"
#include "sums.h"

/* Multiplicative hashing with 2^64 / golden ratio, which spreads neighbouring return addresses. */
static uint64_t hash(uint32_t class_index, uint64_t site, unsigned int kind)
{
	uint64_t h = (site ^ (uint64_t)class_index << 40 ^ (uint64_t)kind << 36) *
		     0x9e3779b97f4a7c15ull;

	h ^= class_index * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}

static uint32_t *place_of(const struct sums *s, uint32_t class_index, uint64_t site,
			  unsigned int kind)
{
	size_t at = hash(class_index, site, kind) & (s->nr_index - 1);

	for (;; at = (at + 1) & (s->nr_index - 1)) {
		const struct sum *sum;

		if (!s->index[at])
			return &s->index[at];
		sum = &s->sum[s->index[at] - 1];
		if (sum->site == site && sum->class_index == class_index && sum->kind == kind)
			return &s->index[at];
	}
}

/* Double the number of places, or make the first ones: at least half of them stay free. */
static int grow_index(struct sums *s)
{
	size_t nr = s->nr_index ? 2 * s->nr_index : 1024;
	uint32_t *index = calloc(nr, sizeof(*index));

	if (!index)
		return -1;
	free(s->index);
	s->index = index;
	s->nr_index = nr;
	for (size_t i = 0; i < s->nr; i++)
		*place_of(s, s->sum[i].class_index, s->sum[i].site, s->sum[i].kind) = i + 1;
	return 0;
}

struct sum *sums_get(struct sums *s, uint32_t class_index, uint64_t site, unsigned int kind,
		     int make)
{
	struct sum *grown;
	uint32_t *place;

	if (make && 2 * s->nr >= s->nr_index && grow_index(s))
		return NULL;
	if (!s->nr_index)
		return NULL;
	place = place_of(s, class_index, site, kind);
	if (*place)
		return &s->sum[*place - 1];
	if (!make)
		return NULL;
	if (s->nr == s->room) {
		grown = reallocarray(s->sum, 2 * s->room + 1024, sizeof(*grown));
		if (!grown)
			return NULL;
		s->sum = grown;
		s->room = 2 * s->room + 1024;
	}
	memset(&s->sum[s->nr], 0, sizeof(*s->sum));
	s->sum[s->nr].class_index = class_index;
	s->sum[s->nr].site = site;
	s->sum[s->nr].kind = kind;
	s->sum[s->nr].peers = -1;
	*place = ++s->nr;
	return &s->sum[s->nr - 1];
}

void times_add(struct elide_times *to, const struct elide_times *t)
{
	if (!t->count)
		return;
	if (!to->count || t->min < to->min)
		to->min = t->min;
	if (t->max > to->max)
		to->max = t->max;
	to->count += t->count;
	to->total += t->total;
}

void holds_add(struct elide_holds *to, const struct elide_holds *h)
{
	if (!h->count)
		return;
	if (!to->count || h->min < to->min)
		to->min = h->min;
	if (h->max > to->max)
		to->max = h->max;
	to->count += h->count;
	to->exact += h->exact;
	to->exact_total += h->exact_total;
	to->weight += h->weight;
	to->total += h->total;
	to->spread += h->spread;
	to->spread_total += h->spread_total;
	to->spread_squares += h->spread_squares;
}

void sum_vote(uint64_t *votes, const struct elide_row *row)
{
	/* + 1: the state of a row counts even before its first acquisition. */
	votes[row->state] += elide_row_acquired(row) - row->nested + 1;
	votes[ELIDE_STATE_ELIDING] += row->nested;
}

void sum_row(struct sum *to, const struct elide_row *row)
{
	to->nr_rows++;
	to->commits += row->commits;
	to->nested += row->nested;
	to->fallback += row->fallback;
	to->not_attempted += row->not_attempted;
	to->contended += row->contended;
	to->wasted_cycles += row->wasted_cycles;
	to->failed += row->failed;
	to->parked += row->parked;
	to->unparked += row->unparked;
	to->parked_cycles += row->parked_cycles;
	to->wait_total += row->wait.total;
	to->late += row->late;
	to->wait_count += row->wait.count;
	if (row->wait.max > to->wait_max)
		to->wait_max = row->wait.max;
	to->held += elide_row_held(row);
	to->held_variance += elide_row_held_variance(row);
	to->hold_count += row->hold.count;
	to->hold_weight += row->hold.weight + row->hold.exact;
	to->hold_total += row->hold.total + row->hold.exact_total;
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++) {
		/* A cause of a later version counts as "other". */
		int cause = i < ELIDE_NR_CAUSES ? i : ELIDE_CAUSE_other;

		if (row->causes[i])
			to->by_column[cause_texts[cause].column] += row->causes[i];
	}
	sum_vote(to->votes, row);
}

void sum_add(struct sum *to, const struct sum *from)
{
	to->nr_rows += from->nr_rows;
	to->commits += from->commits;
	to->nested += from->nested;
	to->fallback += from->fallback;
	to->not_attempted += from->not_attempted;
	to->given_up += from->given_up;
	to->quiet += from->quiet;
	to->contended += from->contended;
	to->wasted_cycles += from->wasted_cycles;
	to->failed += from->failed;
	to->parked += from->parked;
	to->unparked += from->unparked;
	to->parked_cycles += from->parked_cycles;
	to->wait_total += from->wait_total;
	to->late += from->late;
	to->wait_count += from->wait_count;
	if (from->wait_max > to->wait_max)
		to->wait_max = from->wait_max;
	to->held += from->held;
	to->held_variance += from->held_variance;
	to->hold_count += from->hold_count;
	to->hold_weight += from->hold_weight;
	to->hold_total += from->hold_total;
	for (int i = 0; i < NR_CAUSE_COLUMNS; i++)
		to->by_column[i] += from->by_column[i];
	for (int i = 0; i < ELIDE_NR_STATES; i++)
		to->votes[i] += from->votes[i];
}

enum elide_row_state sum_state(const struct sum *s)
{
	const uint64_t *votes = s->votes;
	static const enum elide_row_state eager[] = {ELIDE_STATE_ELIDING, ELIDE_STATE_RESTRICTED,
						     ELIDE_STATE_PAUSED, ELIDE_STATE_LOCKING,
						     ELIDE_STATE_OFF, ELIDE_STATE_PROFILED};
	enum elide_row_state best = eager[0];

	for (size_t i = 1; i < ARRAY_SIZE(eager); i++)
		if (votes[eager[i]] > votes[best])
			best = eager[i];
	return best;
}

void sum_line(const struct report *r, const struct sum *sum, struct line *l)
{
	memset(l, 0, sizeof(*l));
	l->kind = sum->kind;
	l->nr_classes = sum->nr_classes;
	l->nr_sites = sum->nr_sites;
	l->nr_rows = sum->nr_rows;
	l->nr_locks = sum->nr_locks;
	l->sum.class_index = sum->class_index;
	l->sum.site = sum->site;
	l->sum.commits = sum->commits;
	l->sum.nested = sum->nested;
	l->sum.fallback = sum->fallback;
	l->sum.not_attempted = sum->not_attempted;
	l->given_up = sum->given_up;
	l->quiet = sum->quiet;
	l->sum.contended = sum->contended;
	l->sum.wasted_cycles = sum->wasted_cycles;
	l->sum.failed = sum->failed;
	l->sum.parked = sum->parked;
	l->sum.unparked = sum->unparked;
	l->sum.parked_cycles = sum->parked_cycles;
	l->sum.wait.total = sum->wait_total;
	l->sum.late = sum->late;
	l->sum.wait.count = sum->wait_count;
	l->sum.wait.max = sum->wait_max;
	l->held = sum->held > 0 ? sum->held : 0;
	l->held_error = sqrt(fabs(sum->held_variance));
	l->sum.hold.count = sum->hold_count;
	l->sum.hold.weight = sum->hold_weight;
	l->sum.hold.total = sum->hold_total;
	for (int i = 0; i < NR_CAUSE_COLUMNS; i++) {
		l->by_column[i] = sum->by_column[i];
		l->aborts += sum->by_column[i];
	}
	l->elided = sum->commits + sum->nested;
	l->acquired = l->elided + sum->fallback + sum->not_attempted;
	l->attempts = sum->commits + l->aborts;
	l->state = sum_state(sum);
	l->blocker = sum->blocker ? &r->file->blames[sum->blocker - 1] : NULL;
	l->blocked = sum->blocked;
	l->peers = sum->peers;
	l->blocks = sum->blocks;
	l->cost = line_cost(r, l);
	l->verdict = line_verdict(r, l);
}

void sums_free(struct sums *s)
{
	free(s->sum);
	free(s->index);
	memset(s, 0, sizeof(*s));
}
