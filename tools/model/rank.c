// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rank.c - the first rows in the order of --sort.
 *
 * Must never order by address if anything else distinguishes two rows, nor
 * look up names for an order that does not need them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/sort.h"
#include "../base/suggest.h"
#include "../base/text.h"
#include "../names/names.h"
#include "attribute.h"
#include "columns.h"
#include "compare.h"
#include "rank.h"

/* The keys of --sort: the columns, and cost, which is the default. */
static const char *const sort_keys[] = {
	"cost",
#define ELIDE_COLUMN(id, head, unit, value, view, drop) #id,
#include "columns.def"
#undef ELIDE_COLUMN
};

const char *report_sort_keys(size_t nth)
{
	return nth < ARRAY_SIZE(sort_keys) ? sort_keys[nth] : NULL;
}

int report_sort_key(const char *key, const char **nearest)
{
	*nearest = suggest(key, sort_keys, ARRAY_SIZE(sort_keys));
	return !strcmp(*nearest, key);
}

/* The order of ranks. */
struct ranking {
	const struct report *r;
	const struct sums *sums;
};

#define KEY_TEXT(rank, value)    ((rank)->text = (value))
#define KEY_COUNT(rank, value)   ((rank)->number = (double)(value))
#define KEY_PERCENT(rank, value) KEY_COUNT(rank, value)
#define KEY_CYCLES(rank, value)  KEY_COUNT(rank, value)
#define KEY_TIME(rank, value)    KEY_COUNT(rank, value)
#define KEY_MEAN(rank, value)    KEY_COUNT(rank, value)

/* The histograms of the rows, where the order needs them. */
struct waits {
	const struct report *r;
	uint64_t (*bins)[ELIDE_NR_BINS];
};

static int add_waits(void *arg, const struct elide_row *row)
{
	const struct waits *w = arg;
	const struct sum *s = sums_get(w->r->sums, row->class_index, row->site, row->kind, 0);

	if (s)
		bins_add(w->bins[s->group], row->wait_bins);
	return 0;
}

static int needs_waits(const char *key)
{
	return !strcmp(key, "p50") || !strcmp(key, "p99");
}

/* An unknown value comes after all others. */
static void set_key(const struct report *r, struct rank *rank, const char *key,
		    const struct line *l)
{
	rank->text = "";
	rank->number = l->cost;
#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	if (!strcmp(key, #id)) {                                                                   \
		KEY_##unit(rank, value);                                                           \
		return;                                                                            \
	}
#include "columns.def"
#undef ELIDE_COLUMN
}

#define LARGER_FIRST(a, b) (((a) < (b)) - ((a) > (b)))

/* Places in objects, which do not change from run to run as addresses do. */
static int compare_places(const struct report *r, uint64_t a, uint64_t b)
{
	struct place x, y;
	int c;

	symbolize_object(r->symbols, a, &x);
	symbolize_object(r->symbols, b, &y);
	c = strcmp(x.object ? x.object : "", y.object ? y.object : "");
	if (c)
		return c;
	return x.object ? by_number(x.offset, y.offset) : by_number(a, b);
}

static int compare_ranks(const void *x, const void *y, void *arg)
{
	const struct rank *a = x, *b = y;
	const struct ranking *ranking = arg;
	const struct sum *s = &ranking->sums->sum[a->sum], *t = &ranking->sums->sum[b->sum];
	const struct elide_class *classes = ranking->r->file->classes;
	int c = strcmp(a->text, b->text);

	if (!c)
		c = LARGER_FIRST(a->number, b->number);
	if (!c)
		c = LARGER_FIRST(a->cost, b->cost);
	if (!c)
		c = LARGER_FIRST(a->wait, b->wait);
	if (!c)
		c = LARGER_FIRST(a->hold, b->hold);
	if (!c)
		c = LARGER_FIRST(a->acquired, b->acquired);
	if (!c)
		c = compare_places(ranking->r, classes[s->class_index].address,
				   classes[t->class_index].address);
	if (!c)
		c = compare_places(ranking->r, s->site, t->site);
	return c ? c : by_number(s->kind, t->kind);
}

/* Does the key need the names of all rows? Only keys that are names do. */
static int needs_names(const char *key)
{
	return !strcmp(key, "lock") || !strcmp(key, "site") || !strcmp(key, "blocker");
}

/* @bins: of the waits, NULL if the order does not need them */
static int rank_one(struct report *r, const struct sum *sum, const char *key, const uint64_t *bins,
		    struct rank *rank)
{
	struct line l;
	int rc = 0;

	sum_line(r, sum, &l);
	if (bins)
		memcpy(l.sum.wait_bins, bins, sizeof(l.sum.wait_bins));
	if (needs_names(key))
		rc = line_name(r, &l);
	set_key(r, rank, key, &l);
	if (isnan(rank->number))
		rank->number = -1;
	rank->cost = l.cost;
	rank->wait = l.sum.wait.total;
	rank->hold = r->elides || !l.sum.hold.count ? 0 : line_hold(&l);
	rank->acquired = l.acquired;
	if (needs_names(key)) {
		rank->text = strdup(rank->text);
		rc = rank->text ? rc : -ENOMEM;
		line_free_names(&l);
	}
	return rc;
}

/* Up to this number the first rows are found by insertion; for more, all rows are sorted. */
#define INSERT_MAX 256

static void insert(struct rank *first, size_t *nr, size_t max, const struct rank *rank,
		   struct ranking *ranking)
{
	size_t at = *nr;

	if (*nr == max && compare_ranks(rank, &first[max - 1], ranking) >= 0)
		return;
	if (*nr < max)
		++*nr;
	else
		at--;
	for (; at && compare_ranks(rank, &first[at - 1], ranking) < 0; at--)
		first[at] = first[at - 1];
	first[at] = *rank;
}

struct rank *rank_rows(struct report *r, const struct sums *s, const char *key, size_t max,
		       size_t *nr)
{
	struct ranking ranking = {r, s};
	int few = max && max <= INSERT_MAX && !needs_names(key);
	struct rank *ranks = reallocarray(NULL, (few ? max : s->nr) + 1, sizeof(*ranks)), rank;
	struct waits waits = {r, needs_waits(key) ? calloc(s->nr + 1, sizeof(*waits.bins)) : NULL};
	int rc = ranks && (waits.bins || !needs_waits(key)) ? 0 : -ENOMEM;

	if (!rc && waits.bins)
		rc = load_rows(r->file, add_waits, &waits);
	*nr = 0;
	for (size_t i = 0; !rc && i < s->nr; i++) {
		if (s->sum[i].is_empty || s->sum[i].group != i)
			continue;
		rank.sum = i;
		rc = rank_one(r, &s->sum[i], key, waits.bins ? waits.bins[i] : NULL, &rank);
		if (few)
			insert(ranks, nr, max, &rank, &ranking);
		else
			ranks[(*nr)++] = rank;
	}
	if (!rc && !few)
		qsort_r(ranks, *nr, sizeof(*ranks), compare_ranks, &ranking);
	for (size_t i = 0; needs_names(key) && i < *nr; i++)
		free((char *)ranks[i].text);
	free(waits.bins);
	if (max && *nr > max)
		*nr = max;
	if (rc) {
		free(ranks);
		return NULL;
	}
	return ranks;
}

OPTION_VALUES(report_by_words, "lock", "site", "stack", "line", "thread", "time", "chain")

const char *report_sum_words(size_t nth)
{
	return BY_LOCK + nth <= BY_SITE ? report_by_words(nth) : NULL;
}

int report_by_key(const char *text, enum report_by *by)
{
	size_t word;

	if (option_word("by", text, report_by_words, &word))
		return -EINVAL;
	*by = BY_LOCK + word;
	return 0;
}

int report_sum_key(const char *text, const char *what, enum report_by *by)
{
	if (report_by_key(text, by))
		return -EINVAL;
	if (*by == BY_LOCK || *by == BY_SITE)
		return 0;
	say("--by=%s: %s by lock or by site", text, what);
	return -EINVAL;
}
