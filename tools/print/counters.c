// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - counters of the processor beside those of the library.
 *
 * Must never print a control character of the data file.
 */
#include <inttypes.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../names/names.h"
#include "counters.h"

/* The library's count of an event. Return: 0, or -1 if it does not count it. */
static int own_count(const struct report *r, const char *name, uint64_t *count)
{
	const struct line *t = &r->total;
	const struct {
		const char *name;
		uint64_t count;
	} table[] = {
		{"RTM_RETIRED.START", t->attempts},
		{"RTM_RETIRED.COMMIT", t->sum.commits},
		{"RTM_RETIRED.ABORTED", t->aborts},
		{"TX_MEM.ABORT_CONFLICT", t->sum.causes[ELIDE_CAUSE_conflict]},
		{"TX_MEM.ABORT_CAPACITY", t->sum.causes[ELIDE_CAUSE_capacity]},
	};

	for (size_t i = 0; r->elides && i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name)) {
			*count = table[i].count;
			return 0;
		}
	return -1;
}

static int width(const struct data_file *f)
{
	int most = 0;

	for (size_t i = 0; i < f->nr_counters; i++) {
		int len = strnlen(f->counters[i].name, sizeof(f->counters[i].name));

		if (len > most)
			most = len;
	}
	return most;
}

static void print_name(FILE *out, const struct elide_counter *c, int width)
{
	int len = strnlen(c->name, sizeof(c->name));

	for (int i = 0; i < width; i++)
		fputc(i >= len ? ' ' : c->name[i] < ' ' || c->name[i] == 0x7f ? '?' : c->name[i],
		      out);
}

static void print_counter(const struct report *r, FILE *out, const struct elide_counter *c,
			  int name_width)
{
	char name[sizeof(c->name) + 1];
	uint64_t own;

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(c->name), c->name);
	fprintf(out, "  ");
	print_name(out, c, name_width);
	fprintf(out, "  %s %15" PRIu64, counter_source_name(c->source), c->value);
	if (!own_count(r, name, &own))
		fprintf(out, " %15" PRIu64 " %+15" PRId64, own, (int64_t)(c->value - own));
	if (c->running_ns < c->enabled_ns)
		fprintf(out, "  (counted %.0f%% of the time and scaled)",
			percent(c->running_ns, c->enabled_ns));
	fputc('\n', out);
}

static int has_source(const struct data_file *f, unsigned int source)
{
	for (size_t i = 0; i < f->nr_counters; i++)
		if (f->counters[i].source == source)
			return 1;
	return 0;
}

void counters_print(const struct report *r, FILE *out)
{
	const struct data_file *f = r->file;
	int name_width = width(f);

	if (!f->nr_counters)
		return;
	fprintf(out, "\nhardware counters\n  %-*s  from %14s", name_width, "event", "counted");
	if (r->elides)
		fprintf(out, " %15s %15s", "elide's", "difference");
	fputc('\n', out);
	for (size_t i = 0; i < f->nr_counters; i++)
		print_counter(r, out, &f->counters[i], name_width);
	if (has_source(f, ELIDE_COUNTER_PMU) && f->header.rtm == ELIDE_RTM_EMULATED)
		fprintf(out, "  pmu has also counted the start-up probe (probe.*), and "
			     "transactions of the program and its libraries\n");
	else if (has_source(f, ELIDE_COUNTER_PMU))
		fprintf(out, "  pmu has also counted the start-up probe, transactions of the "
			     "program and its libraries, and child processes\n");
	if (has_source(f, ELIDE_COUNTER_PCM))
		fprintf(out, "  pcm has counted all that ran on this machine\n");
}
