// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view-stack.c - sampled stacks as a table, JSON, CSV, and folded lines for flame graphs.
 *
 * Must never look up names for a stack that is not shown.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "../../model/columns.h"
#include "../../model/evidence.h"
#include "../../model/sums.h"
#include "../../names/names.h"
#include "../csv.h"
#include "../json-evidence.h"
#include "view-stack.h"
#include "views.h"

/* Most cycles first; those without by type, and by number; equal ones in the order of records_merge(). */
static int compare_samples(const void *x, const void *y)
{
	const struct elide_sample *a = *(const struct elide_sample *const *)x;
	const struct elide_sample *b = *(const struct elide_sample *const *)y;
	int c = by_number(b->cycles, a->cycles);

	if (!c)
		c = by_number(a->type, b->type);
	if (!c)
		c = by_number(b->count, a->count);
	return c ? c : by_number((uint64_t)a, (uint64_t)b);
}

/* The first *@nr samples in order, at most @top. */
static const struct elide_sample **sorted(const struct report *r, size_t top, size_t *nr)
{
	const struct data_file *f = r->file;
	const struct elide_sample **all = reallocarray(NULL, f->nr_samples + 1, sizeof(*all));

	*nr = 0;
	if (!all)
		return NULL;
	for (size_t i = 0; i < f->nr_samples; i++)
		all[i] = &f->samples[i];
	qsort(all, f->nr_samples, sizeof(*all), compare_samples);
	*nr = top && top < f->nr_samples ? top : f->nr_samples;
	return all;
}

static bool has_time(const struct elide_sample *s)
{
	return s->type == ELIDE_SAMPLE_ABORT || s->type == ELIDE_SAMPLE_WAIT;
}

static int where_of(const struct report *r, const struct elide_sample *s, struct where *w)
{
	return where_fill(r, w, s->class_index, s->kind, s->site);
}

/* Releases that others waited for, and acquisitions that did not wait, have no exact counter. */
struct stack_weight stack_weight(const struct report *r, const struct elide_sample *s)
{
	const struct sum *sum = sums_get(r->sums, s->class_index, s->site, s->kind, 0);
	struct stack_weight w = {s->count, s->cycles, s->samples == s->count};
	double count = 0, cycles = 0, all = 0, all_cycles = 0;

	if (!sum || !has_time(s) || w.exact)
		return w;
	for (size_t i = 0; i < r->file->nr_samples; i++) {
		const struct elide_sample *other = &r->file->samples[i];

		if (other->class_index != s->class_index || other->site != s->site ||
		    other->kind != s->kind || other->type != s->type)
			continue;
		count += other->count;
		cycles += other->cycles;
	}
	all = sum->wait_count;
	all_cycles = sum->wait_total;
	if (s->type == ELIDE_SAMPLE_ABORT) {
		all = 0;
		for (int i = 0; i < NR_CAUSE_COLUMNS; i++)
			all += sum->by_column[i];
		all_cycles = sum->wasted_cycles;
	}
	if (count > 0 && all > 0)
		w.count *= all / count;
	if (cycles > 0 && all_cycles > 0)
		w.cycles *= all_cycles / cycles;
	return w;
}

/* Prints the name of the events of a sample. */
static void print_events(FILE *out, const struct elide_sample *s, uint64_t nr)
{
	static const char *const says[][2] = {
		[ELIDE_SAMPLE_ABORT] = {"abort", "aborts"},
		[ELIDE_SAMPLE_WAIT] = {"wait", "waits"},
		[ELIDE_SAMPLE_BLOCK] = {"release that others waited for",
					"releases that others waited for"},
		[ELIDE_SAMPLE_ACQUIRE] = {"acquisition", "acquisitions"},
	};

	fputs(says[s->type][nr != 1], out);
	if (s->type == ELIDE_SAMPLE_WAIT && !elide_kind_waits_for_lock(s->kind))
		fputs(" for others", out);
}

static void print_stack(const struct report *r, FILE *out, const struct elide_sample *s)
{
	struct place frames[FRAMES_MAX];
	size_t nr = evidence_frames(r, s->stack, frames);
	char count[32], time[32];
	struct stack_weight weight;
	struct where where;

	if (where_of(r, s, &where)) {
		where_free(&where);
		return;
	}
	weight = stack_weight(r, s);
	scale(count, sizeof(count), weight.count, "");
	fprintf(out, "%s: %s%s ", sample_name(s->type), weight.exact ? "" : "~", count);
	print_events(out, s, weight.count < 1.5 ? 1 : 2);
	if (has_time(s)) {
		scale_time(r, time, sizeof(time), weight.cycles);
		fprintf(out, ", %s%s", weight.exact ? "" : "~", time);
	}
	fprintf(out, " (%u sampled); ", s->samples);
	where_print(out, &where);
	fputc('\n', out);
	for (size_t i = 0; i < nr; i++) {
		/* The functions around an inlined one follow it in the list. */
		frames[i].inlined_into = NULL;
		fputs("      ", out);
		view_print(out, &frames[i]);
		fputc('\n', out);
	}
	if (!nr)
		fputs("      (no stack)\n", out);
	where_free(&where);
}

void stacks_table(const struct report *r, FILE *out, size_t top)
{
	const struct elide_sample **all;
	size_t nr;

	if (!r->file->nr_samples) {
		fputs("no stack was sampled: see ELIDE_STACKS in elide-tunables(7)\n", out);
		return;
	}
	all = sorted(r, top, &nr);
	for (size_t i = 0; i < nr; i++) {
		fprintf(out, "%s%zu. ", i ? "\n" : "", i + 1);
		print_stack(r, out, all[i]);
	}
	if (nr < r->file->nr_samples)
		fprintf(out, "(%zu more stack%s: --top 0)\n", r->file->nr_samples - nr,
			plural(r->file->nr_samples - nr));
	free(all);
}

void stacks_csv_head(FILE *out)
{
	fputs("schema,pid,", out);
	where_csv_head(out);
	fputs(",type,samples,count,cycles,frames\r\n", out);
}

/*
 * "outermost;...;innermost", with characters replaced that would end a frame or a line.
 * @shortened: C++ names without their arguments
 */
static char *fold(const struct report *r, uint32_t stack, const char *first, bool shortened)
{
	char name[SHORT_NAME];
	struct place frames[FRAMES_MAX];
	size_t nr = evidence_frames(r, stack, frames), size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (first)
		fputs(first, out);
	for (size_t i = nr; i--;) {
		const struct place *p = &frames[i];

		if (first || i + 1 < nr)
			fputc('\1', out);
		if (p->symbol && shortened)
			short_symbol(name, sizeof(name), p->symbol);
		fputs(p->symbol ? shortened && *name ? name : p->symbol :
		      p->object ? p->object : "unknown", out);
	}
	fclose(out);
	for (char *c = text; c && *c; c++)
		*c = *c == '\1' ? ';' : *c == ';' ? ',' : *c;
	if (text)
		text_clean(text);
	return text;
}

void stacks_csv(const struct report *r, FILE *out, size_t top)
{
	size_t nr;
	const struct elide_sample **all = sorted(r, top, &nr);

	for (size_t i = 0; i < nr; i++) {
		char *frames = fold(r, all[i]->stack, NULL, false);
		struct where where;

		if (!where_of(r, all[i], &where)) {
			fprintf(out, "%d,%u", REPORT_SCHEMA, r->file->header.pid);
			where_csv(out, &where);
			csv_text(out, sample_name(all[i]->type));
			fprintf(out, ",%u,%llu,%llu", all[i]->samples,
				(unsigned long long)all[i]->count,
				(unsigned long long)all[i]->cycles);
			csv_text(out, frames);
			fputs("\r\n", out);
		}
		where_free(&where);
		free(frames);
	}
	free(all);
}

json_t *stacks_json(const struct report *r, size_t top)
{
	json_t *list = json_array();
	size_t nr;
	const struct elide_sample **all = sorted(r, top, &nr);

	for (size_t i = 0; i < nr; i++) {
		json_t *o = json_section(r, all[i]->class_index, all[i]->kind, all[i]->site);

		json_sample(r, all[i], o);
		json_array_append_new(list, o);
	}
	free(all);
	return list;
}

/* A line of the output before equal ones are summed. */
struct folded {
	char *text;
	uint64_t weight;
};

static int compare_folded(const void *x, const void *y)
{
	return strcmp(((const struct folded *)x)->text, ((const struct folded *)y)->text);
}

/* The number of releases, which cost nothing themselves; else ns, or cycles if these are unknown. */
static uint64_t folded_weight(const struct report *r, const struct elide_sample *s)
{
	struct stack_weight w = stack_weight(r, s);
	uint64_t ns;

	if (s->type == ELIDE_SAMPLE_BLOCK)
		return s->count;
	return to_ns(r, (uint64_t)w.cycles, &ns) ? (uint64_t)w.cycles : ns;
}

static bool is_folded(const struct elide_sample *s, enum folding what)
{
	static const unsigned int types[] = {
		[FOLDED_ABORT] = ELIDE_SAMPLE_ABORT, [FOLDED_WAIT] = ELIDE_SAMPLE_WAIT,
		[FOLDED_BLOCK] = ELIDE_SAMPLE_BLOCK, [FOLDED_OTHERS] = ELIDE_SAMPLE_WAIT,
	};

	return s->type == types[what] &&
	       (s->type != ELIDE_SAMPLE_WAIT ||
		elide_kind_waits_for_lock(s->kind) == (what == FOLDED_WAIT));
}

void folded_print(const struct report *r, FILE *out, enum folding what)
{
	const struct data_file *f = r->file;
	struct folded *lines = reallocarray(NULL, f->nr_samples + 1, sizeof(*lines));
	size_t nr = 0;

	for (size_t i = 0; lines && i < f->nr_samples; i++) {
		const struct elide_sample *s = &f->samples[i];
		struct where where = {0};

		if (!is_folded(s, what))
			continue;
		if (!where_of(r, s, &where))
			lines[nr].text = fold(r, s->stack, where.short_lock, true);
		else
			lines[nr].text = NULL;
		lines[nr].weight = folded_weight(r, s);
		nr += lines[nr].text != NULL;
		where_free(&where);
	}
	if (nr)
		qsort(lines, nr, sizeof(*lines), compare_folded);
	for (size_t i = 0, n; i < nr; i += n) {
		uint64_t weight = 0;

		for (n = 0; i + n < nr && !strcmp(lines[i].text, lines[i + n].text); n++)
			weight += lines[i + n].weight;
		if (weight)
			fprintf(out, "%s %llu\n", lines[i].text, (unsigned long long)weight);
	}
	for (size_t i = 0; i < nr; i++)
		free(lines[i].text);
	free(lines);
}
