// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf-join.c - joins perf's samples with the rows in whose sections they fall.
 *
 * A row is found by the return address of its lock call among a sample's
 * callers: after an abort the stack is that of the lock call. In another run
 * of the program addresses differ, and without call chains there are none. Then
 * the instruction decides, if an abort or access there was seen in sections of one
 * row alone, or else the function of the lock call, if it is that of one row.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../names/names.h"
#include "perf-join.h"

/* How a sample was joined. */
enum join { JOIN_SITE, JOIN_DETAIL, JOIN_FUNCTION, JOIN_SEVERAL, JOIN_NONE, NR_JOINS };

/**
 * struct spot - samples of one place, cause and row.
 * @sample: the first of them
 * @line: NULL if unknown
 * @weight: sum over the @nr_weights samples that have one
 */
struct spot {
	const struct perf_sample *sample;
	const struct line *line;
	char cause[32];
	size_t nr;
	size_t nr_weights;
	uint64_t weight;
};

/* An instruction that aborted, or with whose access another thread conflicted. */
struct known {
	struct place at;
	const struct line *line;
};

struct spots {
	struct known *known;
	size_t nr_known;
	struct spot *list;
	size_t nr;
	size_t joined[NR_JOINS];
	size_t nr_foreign;
};

static int same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/*
 * The row whose lock call returns to this address. perf prints addresses of callers
 * in the object or in the process.
 */
static const struct line *by_site(const struct report *r, const struct perf_frame *f)
{
	const struct line *found = NULL;
	struct place place;

	symbolize_object(r->symbols, f->ip - 1, &place);
	for (size_t i = 0; i < r->nr_lines; i++) {
		const struct place *site = &r->lines[i].site_place;

		if (!site->object ||
		    !((site->offset == place.offset && same(site->object, place.object)) ||
		      (site->offset == f->ip - 1 && same(site->object, f->object))))
			continue;
		/* Several locks are taken there. */
		if (found)
			return NULL;
		found = &r->lines[i];
	}
	return found;
}

/* Sorts the instructions of recorded aborts and accesses, to look them up fast. */
static int learn(const struct report *r, struct spots *spots)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_lines; i++)
		nr += r->lines[i].nr_details;
	spots->known = calloc(nr + 1, sizeof(*spots->known));
	if (!spots->known)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_lines; i++)
		for (size_t j = 0; j < r->lines[i].nr_details; j++) {
			const struct elide_detail *d = r->lines[i].details[j];
			struct known *k = &spots->known[spots->nr_known];
			uint64_t pc = d->own_pc;

			if (!pc || d->source == ELIDE_DETAIL_HINT)
				continue;
			symbolize_object(r->symbols, pc, &k->at);
			k->line = &r->lines[i];
			spots->nr_known += k->at.object != NULL;
		}
	return 0;
}

/* The row in whose sections an abort or an access at this instruction was recorded. */
static const struct line *by_detail(const struct report *r, const struct spots *spots,
				    const struct perf_frame *f)
{
	const struct line *found = NULL;
	struct place at;

	symbolize_object(r->symbols, f->ip, &at);
	for (size_t i = 0; i < spots->nr_known; i++) {
		const struct known *k = &spots->known[i];

		if (!((k->at.offset == at.offset && same(k->at.object, at.object)) ||
		      (k->at.offset == f->ip && same(k->at.object, f->object))))
			continue;
		if (found && found != k->line)
			return NULL;
		found = k->line;
	}
	return found;
}

static int is_in(const struct place *site, const struct perf_frame *f)
{
	if (f->object && site->object && strcmp(f->object, site->object))
		return 0;
	return same(site->inlined_into, f->symbol) || same(site->symbol, f->symbol) ||
	       same(site->elf_symbol, f->symbol);
}

static const struct line *by_function(const struct report *r, const struct perf_frame *f,
				      enum join *join)
{
	const struct line *found = NULL;

	for (size_t i = 0; f->symbol && i < r->nr_lines; i++) {
		if (!is_in(&r->lines[i].site_place, f))
			continue;
		if (found) {
			*join = JOIN_SEVERAL;
			return NULL;
		}
		found = &r->lines[i];
	}
	if (found)
		*join = JOIN_FUNCTION;
	return found;
}

static const struct line *join_sample(const struct report *r, const struct spots *spots,
				      const struct perf_sample *s, enum join *join)
{
	const struct line *line;

	*join = JOIN_SITE;
	if (s->pid < 0 || s->pid == r->file->header.pid)
		for (size_t i = 1; i < s->nr_frames; i++) {
			line = by_site(r, &s->frames[i]);
			if (line)
				return line;
		}
	*join = JOIN_DETAIL;
	line = s->pid < 0 || s->pid == r->file->header.pid ? by_detail(r, spots, &s->frames[0])
							      : NULL;
	if (line)
		return line;
	*join = JOIN_NONE;
	/* The innermost function that locks. */
	for (size_t i = 0; i < s->nr_frames; i++) {
		line = by_function(r, &s->frames[i], join);
		if (*join != JOIN_NONE)
			return line;
	}
	return NULL;
}

/* The meaning of PERF_TXN_*, in the words of aborts.def if there are any. */
static void name_cause(const struct perf_sample *s, char *to, size_t size)
{
	static const struct {
		unsigned int code;
		const char *id;
	} codes[] = {
#define ELIDE_CAUSE(id, code, column, help, advice) {code, #id},
#include "../../lib/aborts.def"
#undef ELIDE_CAUSE
	};
	uint64_t t = s->transaction;
	unsigned int code = t >> PERF_TXN_ABORT_SHIFT & 0xff;

	if (!s->has_transaction || !(t & (PERF_TXN_TRANSACTION | PERF_TXN_ELISION))) {
		snprintf(to, size, "-");
		return;
	}
	for (size_t i = 0; code && i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == code) {
			snprintf(to, size, "%s", codes[i].id);
			return;
		}
	if (code)
		snprintf(to, size, "explicit 0x%02x", code);
	else if (t & PERF_TXN_CAPACITY_WRITE)
		snprintf(to, size, "capacity, writes");
	else if (t & PERF_TXN_CAPACITY_READ)
		snprintf(to, size, "capacity, reads");
	else if (t & PERF_TXN_CONFLICT)
		snprintf(to, size, "conflict");
	else if (t & PERF_TXN_SYNC)
		snprintf(to, size, "own instruction");
	else if (t & PERF_TXN_ASYNC)
		snprintf(to, size, "from outside");
	else
		snprintf(to, size, "other");
}

static int same_place(const struct perf_frame *a, const struct perf_frame *b)
{
	/* Addresses differ from run to run; the place in the function does not. */
	if (!a->symbol && !b->symbol)
		return !a->object == !b->object && (!a->object || same(a->object, b->object));
	return same(a->symbol, b->symbol) && a->offset == b->offset &&
	       (same(a->object, b->object) || (!a->object && !b->object));
}

static int add(struct spots *spots, const struct perf_sample *s, const struct line *line)
{
	struct spot *spot = NULL;
	char cause[32];

	name_cause(s, cause, sizeof(cause));
	for (size_t i = 0; !spot && i < spots->nr; i++)
		if (spots->list[i].line == line && !strcmp(spots->list[i].cause, cause) &&
		    same_place(&spots->list[i].sample->frames[0], &s->frames[0]))
			spot = &spots->list[i];
	if (!spot) {
		spot = reallocarray(spots->list, spots->nr + 1, sizeof(*spot));
		if (!spot)
			return -ENOMEM;
		spots->list = spot;
		spot += spots->nr++;
		*spot = (struct spot){.sample = s, .line = line};
		strcpy(spot->cause, cause);
	}
	spot->nr++;
	if (s->has_weight) {
		spot->nr_weights++;
		spot->weight += s->weight;
	}
	return 0;
}

static int by_count(const void *x, const void *y)
{
	const struct spot *a = x, *b = y;

	if (a->nr != b->nr)
		return a->nr < b->nr ? 1 : -1;
	return (a->sample > b->sample) - (a->sample < b->sample);
}

static int collect(const struct report *r, const struct perf_samples *s, struct spots *spots)
{
	int rc = learn(r, spots);

	for (size_t i = 0; !rc && i < s->nr; i++) {
		const struct line *line;
		enum join join;

		line = join_sample(r, spots, &s->samples[i], &join);
		/* In another process addresses differ: only names are compared. */
		if (s->samples[i].pid >= 0 && s->samples[i].pid != r->file->header.pid)
			spots->nr_foreign++;
		spots->joined[join]++;
		rc = add(spots, &s->samples[i], line);
	}
	if (spots->nr)
		qsort(spots->list, spots->nr, sizeof(*spots->list), by_count);
	return rc;
}

static void print_frame(FILE *out, const struct perf_frame *f)
{
	print_clean(out, f->symbol ? f->symbol : "unknown");
	if (f->symbol && f->offset)
		fprintf(out, "+0x%llx", (unsigned long long)f->offset);
	if (f->object) {
		fputs(" in ", out);
		print_clean(out, f->object);
	}
}

static void print_spot(FILE *out, const struct spot *spot, size_t all)
{
	fprintf(out, "  %7zu %6.1f%% ", spot->nr, percent(spot->nr, all));
	if (spot->nr_weights)
		fprintf(out, "%10.0f", (double)spot->weight / (double)spot->nr_weights);
	else
		fprintf(out, "%10s", "-");
	fprintf(out, "  %-16s ", spot->cause);
	print_frame(out, &spot->sample->frames[0]);
	fputs(" | ", out);
	print_clean(out, spot->line ? spot->line->lock : "unknown");
	if (spot->line) {
		fprintf(out, " (%s) at ", kind_name(spot->line->kind));
		print_clean(out, spot->line->site);
	}
	fputc('\n', out);
}

void perf_print(const struct report *r, const struct perf_samples *s, FILE *out, size_t top)
{
	struct spots spots = {0};

	if (collect(r, s, &spots)) {
		fprintf(out, "\n(no memory for perf's samples)\n");
		free(spots.known);
		free(spots.list);
		return;
	}
	fprintf(out, "\nperf: %zu sample%s of %s", s->nr, plural(s->nr), s->nr ? s->samples[0].event : "nothing");
	if (s->nr_no_place)
		fprintf(out, ", %zu more without an address", s->nr_no_place);
	if (s->nr_strange)
		fprintf(out, ", %zu line%s not understood", s->nr_strange,
			plural(s->nr_strange));
	fprintf(out, "\n  %7s %7s %10s  %-16s %s\n", "SAMPLES", "SHARE", "WEIGHT", "CAUSE",
		"AT | LOCK AND SITE");
	for (size_t i = 0; i < spots.nr && (!top || i < top); i++)
		print_spot(out, &spots.list[i], s->nr);
	if (top && spots.nr > top)
		fprintf(out, "  (%zu more places: --top 0)\n", spots.nr - top);
	fprintf(out,
		"  row known by the lock call: %zu, by an abort at the instruction: %zu, by its "
		"function alone: %zu; unknown: %zu, and as several rows fit: %zu\n",
		spots.joined[JOIN_SITE], spots.joined[JOIN_DETAIL], spots.joined[JOIN_FUNCTION],
		spots.joined[JOIN_NONE], spots.joined[JOIN_SEVERAL]);
	if (spots.nr_foreign)
		fprintf(out, "  of process ids other than this one's: %zu\n", spots.nr_foreign);
	free(spots.known);
	free(spots.list);
}
