// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shifts.c - see shifts.h. The measure of recovery is that of demo/figures/recovery.awk, in time.
 */
#include "shifts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* Lines that are printed. */
#define LINES_MAX 20

/**
 * shifts_note() - the window has shifted; for the thread that does so
 * @shifts: of the run
 * @ns: the time
 */
void shifts_note(struct shifts *shifts, uint64_t ns)
{
	if (shifts->nr < SHIFTS_MAX)
		shifts->at[shifts->nr++] = ns;
}

/**
 * shifts_sample() - note how far the run is; for one thread
 * @shifts: of the run
 * @ns: the time
 * @done: operations until then
 * @splits: contention splits until then
 *
 * Without memory nothing is noted, and no shift is judged.
 */
void shifts_sample(struct shifts *shifts, uint64_t ns, uint64_t done, uint64_t splits)
{
	if (!shifts->sample)
		shifts->sample = calloc(SHIFTS_SAMPLES, sizeof(*shifts->sample));
	if (shifts->sample && shifts->nr_samples < SHIFTS_SAMPLES)
		shifts->sample[shifts->nr_samples++] = (struct shift_sample){ ns, done, splits };
}

/* Operations per ns between two samples. */
static double rate(const struct shift_sample *from, const struct shift_sample *to)
{
	return to->ns > from->ns ? (double)(to->done - from->done) / (double)(to->ns - from->ns) : 0;
}

/* The last sample that is not after @ns; NULL: all are. */
static const struct shift_sample *sample_at(const struct shifts *shifts, uint64_t ns)
{
	const struct shift_sample *last = NULL;

	for (unsigned int i = 0; i < shifts->nr_samples && shifts->sample[i].ns <= ns; i++)
		last = &shifts->sample[i];
	return last;
}

/**
 * shifts_judge() - what followed a shift
 * @shifts: of a run that is over
 * @i: number of the shift, from 0
 * @to: filled
 *
 * Return: 0, or -1 if the shift has no time before it or none after it.
 */
int shifts_judge(const struct shifts *shifts, unsigned int i, struct shift_outcome *to)
{
	uint64_t at = shifts->at[i], before = i ? shifts->at[i - 1] : 0, end = UINT64_MAX;
	const struct shift_sample *half, *now = sample_at(shifts, at), *last;
	double usual;

	*to = (struct shift_outcome){ UINT64_MAX, UINT64_MAX };
	if (!now)
		return -1;
	if (!i)
		before = shifts->sample[0].ns;
	half = sample_at(shifts, at - (at - before) / 2);
	last = &shifts->sample[shifts->nr_samples - 1];
	if (!half || half == now || last == now)
		return -1;
	usual = rate(half, now);
	if (i + 1 < shifts->nr)
		end = shifts->at[i + 1];
	for (const struct shift_sample *s = now + 1; s <= last && s->ns <= end; s++) {
		if (s->splits > now->splits && to->detected_ns == UINT64_MAX)
			to->detected_ns = s->ns - at;
		if (s > now + 1 && rate(s - 1, s) >= 0.9 * usual && to->recovered_ns == UINT64_MAX)
			to->recovered_ns = s->ns - at;
	}
	return 0;
}

static void print_time(FILE *file, uint64_t ns)
{
	if (ns == UINT64_MAX)
		fprintf(file, "%12s", "-");
	else
		fprintf(file, "%12.6f", (double)ns * 1e-9);
}

/**
 * shifts_print() - print a line for each shift, up to 20
 * @shifts: of a run that is over
 * @begin_ns: begin of its measured part
 * @file: where to
 */
void shifts_print(const struct shifts *shifts, uint64_t begin_ns, FILE *file)
{
	struct shift_outcome outcome;
	unsigned int lines = 0, left_out = 0;

	for (unsigned int i = 0; i < shifts->nr; i++) {
		if (shifts_judge(shifts, i, &outcome))
			continue;
		if (lines == LINES_MAX) {
			left_out++;
			continue;
		}
		if (!lines++)
			fprintf(file, "  %-18s %12s  %12s %12s  s; -: not before the next one\n", "shifts",
				"at", "detected", "recovered");
		fprintf(file, "  %-18s %12.6f  ", "", (double)(shifts->at[i] - begin_ns) * 1e-9);
		print_time(file, outcome.detected_ns);
		fputc(' ', file);
		print_time(file, outcome.recovered_ns);
		fputc('\n', file);
	}
	if (left_out)
		fprintf(file, "  %-18s %12u  more\n", "", left_out);
}
