// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * clock.c - converts the times of a file to the cycles of another clock.
 *
 * Must never change a count.
 */
#include "clock.h"

#include <math.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "table.h"

double clock_of(const struct elide_header *h)
{
	if (h->end_cycles <= h->start_cycles || h->end_ns <= h->start_ns)
		return 0;
	return (double)(h->end_cycles - h->start_cycles) / (double)(h->end_ns - h->start_ns);
}

bool clock_is_short(const struct elide_header *h)
{
	return h->rtm != ELIDE_RTM_EMULATED && h->end_ns - h->start_ns < CLOCK_SHORTEST;
}

static uint64_t times(uint64_t cycles, double ratio)
{
	return (uint64_t)llround((double)cycles * ratio);
}

static void convert_times(struct elide_times *t, double ratio)
{
	t->total = times(t->total, ratio);
	t->min = times(t->min, ratio);
	t->max = times(t->max, ratio);
}

static void convert_holds(struct elide_holds *h, double ratio)
{
	h->min = times(h->min, ratio);
	h->max = times(h->max, ratio);
	h->exact_total = times(h->exact_total, ratio);
	h->total = times(h->total, ratio);
	h->spread_total *= ratio;
	h->spread_squares *= ratio * ratio;
}

/* A bin is a factor of 2 wide. */
static void convert_bins(uint64_t *bins, double ratio)
{
	uint64_t to[ELIDE_NR_BINS] = {0};
	double shift = log2(ratio);
	int whole = (int)floor(shift);
	double part = shift - whole;

	for (int i = 0; i < ELIDE_NR_BINS; i++) {
		uint64_t further = (uint64_t)llround((double)bins[i] * part);
		int at = i + whole, last = ELIDE_NR_BINS - 1;

		to[at < 0 ? 0 : at > last ? last : at] += bins[i] - further;
		at++;
		to[at < 0 ? 0 : at > last ? last : at] += further;
	}
	memcpy(bins, to, sizeof(to));
}

void clock_convert(struct data_file *f, double ratio)
{
	for (size_t i = 0; i < table_nr(f->table); i++) {
		struct elide_row *row = table_row(f->table, i);

		row->wasted_cycles = times(row->wasted_cycles, ratio);
		convert_times(&row->wait, ratio);
		convert_holds(&row->hold, ratio);
		convert_bins(row->wait_bins, ratio);
		convert_bins(row->hold_bins, ratio);
		row->late = times(row->late, ratio);
	}
	for (size_t i = 0; i < f->nr_samples; i++)
		f->samples[i].cycles = times(f->samples[i].cycles, ratio);
	for (size_t i = 0; i < f->nr_details; i++)
		f->details[i].cycles = times(f->details[i].cycles, ratio);
	for (size_t i = 0; i < f->nr_blames; i++)
		f->blames[i].cycles = times(f->blames[i].cycles, ratio);
	for (size_t i = 0; i < f->nr_spans; i++) {
		f->spans[i].cycles = times(f->spans[i].cycles, ratio);
		f->spans[i].weight = times(f->spans[i].weight, ratio);
	}
	for (size_t i = 0; i < f->nr_aborts; i++) {
		f->aborts[i].cycles = times(f->aborts[i].cycles, ratio);
		f->aborts[i].weight = times(f->aborts[i].weight, ratio);
	}
	for (size_t i = 0; i < f->nr_threads; i++) {
		f->threads[i].wait = times(f->threads[i].wait, ratio);
		f->threads[i].held = times(f->threads[i].held, ratio);
	}
	f->header.joined = times(f->header.joined, ratio);
	for (size_t i = 0; i < f->nr_sources; i++)
		f->sources[i].wait = times(f->sources[i].wait, ratio);
}
