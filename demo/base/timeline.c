// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timeline.c - writes the lines of a timeline. It must never read a clock: its caller has.
 */
#include "timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/**
 * timeline_open() - make the file, with its line of names
 * @t: the timeline
 * @path: name of the file; NULL: there is none
 * @names: of the columns behind that of the time, "ms"
 * @nr: their number, TIMELINE_COLUMNS at most
 * @interval: nanoseconds between two lines
 *
 * Return: 0 or -errno.
 */
int timeline_open(struct timeline *t, const char *path, const char *const *names, unsigned int nr,
		  uint64_t interval)
{
	*t = (struct timeline){ .nr = nr, .interval = interval };
	if (!path)
		return 0;
	t->file = fopen(path, "we");
	if (!t->file)
		return -errno;
	fputs("ms", t->file);
	for (unsigned int i = 0; i < nr; i++)
		fprintf(t->file, ",%s", names[i]);
	fputc('\n', t->file);
	return 0;
}

/** timeline_begin() - the measured part begins with these sums; later calls do nothing */
void timeline_begin(struct timeline *t, const uint64_t *sums)
{
	if (t->due)
		return;
	memcpy(t->before, sums, t->nr * sizeof(*sums));
	t->due = t->interval;
}

/** timeline_due() - is the next line due, @ns nanoseconds after the begin? */
bool timeline_due(const struct timeline *t, uint64_t ns)
{
	return t->file && t->due && ns >= t->due;
}

/**
 * timeline_line() - write a line, after timeline_begin()
 * @t: the timeline, which has a file
 * @ns: nanoseconds since the begin
 * @sums: up to then
 */
void timeline_line(struct timeline *t, uint64_t ns, const uint64_t *sums)
{
	fprintf(t->file, "%.3f", (double)ns * 1e-6);
	for (unsigned int i = 0; i < t->nr; i++)
		fprintf(t->file, ",%" PRIu64, sums[i] - t->before[i]);
	fputc('\n', t->file);
	memcpy(t->before, sums, t->nr * sizeof(*sums));
	t->due += t->interval;
}

/** timeline_close() - end the file, if there is one. Return: 0, or -errno if it was not written. */
int timeline_close(struct timeline *t)
{
	return t->file && fclose(t->file) ? -errno : 0;
}
