// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * limit.c - limits the number of samples from many files.
 *
 * Must never leave out a row or an exact count.
 */
#include "limit.h"

#include <errno.h>
#include <stdlib.h>

#include "../../../lib/compiler.h"
#include "../../base/sort.h"

/* Most events first. */
#define COMPARE_COUNT(name, type)                                                                  \
	static int name(const void *x, const void *y)                                              \
	{                                                                                          \
		const struct type *a = x, *b = y;                                                  \
                                                                                                   \
		return by_number(b->count, a->count);                                              \
	}

COMPARE_COUNT(compare_samples, elide_sample)
COMPARE_COUNT(compare_details, elide_detail)
COMPARE_COUNT(compare_blames, elide_blame)
COMPARE_COUNT(compare_misuse, elide_misuse)

/* Return: the number of records left out of an array of *@nr. */
static size_t cut(void *array, size_t *nr, size_t size, int (*compare)(const void *, const void *))
{
	size_t out = *nr > LIMIT_RECORDS ? *nr - LIMIT_RECORDS : 0;

	if (out && compare)
		qsort(array, *nr, size, compare);
	*nr -= out;
	return out;
}

static void use(uint32_t *used, uint32_t stack)
{
	used[stack] = 1;
}

static void renumber(const uint32_t *numbers, uint32_t *stack)
{
	*stack = numbers[*stack];
}

/* Calls @act for each number of a stack in the file. */
#define EACH_STACK(f, act, arg)                                                                    \
	do {                                                                                       \
		for (size_t i = 0; i < (f)->nr_samples; i++)                                       \
			act(arg, STACK((f)->samples[i].stack));                                     \
		for (size_t i = 0; i < (f)->nr_blames; i++)                                        \
			act(arg, STACK((f)->blames[i].waker));                                      \
		for (size_t i = 0; i < (f)->nr_threads; i++)                                       \
			act(arg, STACK((f)->threads[i].stack));                                     \
		for (size_t i = 0; i < (f)->nr_details; i++) {                                     \
			act(arg, STACK((f)->details[i].own_stack));                                 \
			act(arg, STACK((f)->details[i].abort_stack));                               \
			act(arg, STACK((f)->details[i].other_stack));                               \
			act(arg, STACK((f)->details[i].alloc_stack));                               \
		}                                                                                  \
	} while (0)

static int drop_stacks(struct data_file *f)
{
	uint32_t *numbers = calloc(f->nr_stacks + 1, sizeof(*numbers));
	size_t kept = 0;

	if (!numbers)
		return -ENOMEM;
#define STACK(s) s
	EACH_STACK(f, use, numbers);
#undef STACK
	numbers[0] = 0;
	for (size_t i = 0; i < f->nr_stacks; i++) {
		if (!numbers[i + 1])
			continue;
		f->stacks[kept++] = f->stacks[i];
		numbers[i + 1] = kept;
	}
	f->nr_stacks = kept;
#define STACK(s) &s
	EACH_STACK(f, renumber, numbers);
#undef STACK
	free(numbers);
	return 0;
}

/*
 * Systematic sampling, Madow 1949: a span is kept with a probability proportional to its weight,
 * and then weighs one step; a span that weighs more is kept unchanged.
 */
static void thin_spans(struct elide_span *spans, size_t *nr_spans, unsigned int type)
{
	double all = 0, step, at = 0;
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < *nr_spans; i++) {
		if (spans[i].type != type)
			continue;
		nr++;
		all += (double)spans[i].weight;
	}
	if (nr <= LIMIT_SPANS)
		return;
	step = all / LIMIT_SPANS;
	for (size_t i = 0; i < *nr_spans; i++) {
		struct elide_span m = spans[i];

		if (m.type == type && (double)m.weight < step) {
			at += (double)m.weight;
			if (at < step)
				continue;
			at -= step;
			m.weight = (uint64_t)step;
		}
		spans[kept++] = m;
	}
	*nr_spans = kept;
}

int limit_records(struct data_file *f)
{
	uint64_t *dropped = f->header.dropped;

	dropped[ELIDE_DROPPED_DETAILS] += cut(f->samples, &f->nr_samples, sizeof(*f->samples),
					      compare_samples);
	dropped[ELIDE_DROPPED_DETAILS] += cut(f->details, &f->nr_details, sizeof(*f->details),
					      compare_details);
	cut(f->misuse, &f->nr_misuse, sizeof(*f->misuse), compare_misuse);
	cut(f->blames, &f->nr_blames, sizeof(*f->blames), compare_blames);
	/* The first ones: later decisions repeat them. */
	dropped[ELIDE_DROPPED_EVENTS] += cut(f->events, &f->nr_events, sizeof(*f->events), NULL);
	dropped[ELIDE_DROPPED_ORDERS] += cut(f->orders, &f->nr_orders, sizeof(*f->orders), NULL);
	thin_spans(f->spans, &f->nr_spans, ELIDE_SPAN_WAIT);
	thin_spans(f->spans, &f->nr_spans, ELIDE_SPAN_HOLD);
	thin_spans(f->aborts, &f->nr_aborts, ELIDE_SPAN_ABORT);
	return f->nr_stacks > LIMIT_RECORDS ? drop_stacks(f) : 0;
}
