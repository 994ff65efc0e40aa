// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table.c - the report as text: table, totals, findings and advice.
 *
 * Numbers are rounded for reading; JSON and CSV have the exact ones.
 * Must never print a control character of the data file. Longer than 500 lines, because the parts of
 * one text follow each other here.
 */
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/colour.h"
#include "../base/exit.h"
#include "../base/text.h"
#include "../model/advice.h"
#include "../model/attribute.h"
#include "../model/callers.h"
#include "../model/columns.h"
#include "../model/compare.h"
#include "../model/file/faults.h"
#include "../names/names.h"
#include "answer-print.h"
#include "counters.h"
#include "room.h"
#include "table.h"
#include "view/views.h"

/* column.shown: left out because the table would be too wide. */
#define LEFT_OUT 2
/* The largest drop of columns.def. */
#define DROP_MAX 12
/* Characters to which names are narrowed before columns are left out. */
#define NAME_MIN 20
/* Rows explained below the table. */
#define EXPLAINED_MAX 5
/* Rows at the top of the table to examine for findings although they cost nothing. */
#define REMARKED_MAX 20
/* A row that costs less than 1 / WORST_SHARE of the most expensive row is not explained. */
#define WORST_SHARE 100

struct cell {
	char text[CELL_MAX + 1];
};

struct column {
	const char *head;
	enum unit unit;
	int drop;
	int width;
	int shown;
};

static const struct column all_columns[NR_COLUMNS] = {
#define ELIDE_COLUMN(id, head, unit, value, view, drop) {head, unit, drop, 0, 1},
#include "../model/columns.def"
#undef ELIDE_COLUMN
};

#define FILL_TEXT(v, unit)    fit(c->text, (v), CELL_MAX)
#define FILL_COUNT(v, unit)   number_cell(r, unit, (double)(v), c->text, sizeof(c->text))
#define FILL_PERCENT(v, unit) FILL_COUNT(v, unit)
#define FILL_CYCLES(v, unit)  FILL_COUNT(v, unit)
#define FILL_TIME(v, unit)    FILL_COUNT(v, unit)
#define FILL_MEAN(v, unit)    FILL_COUNT(v, unit)

static void fill_cells(const struct report *r, const struct line *l, struct cell *cells)
{
	struct cell *c = cells;

#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	FILL_##unit(value, unit);                                                                  \
	c++;
#include "../model/columns.def"
#undef ELIDE_COLUMN
}

static int table_width(const struct column *columns)
{
	int width = -1;

	for (int i = 0; i < NR_COLUMNS; i++)
		width += columns[i].shown == 1 ? columns[i].width + 1 : 0;
	return width;
}

/* Uses spare width for columns that were left out; returns columns still left out. */
static int fill_columns(struct column *columns, int width, int left_out)
{
	for (int drop = 1; drop <= DROP_MAX; drop++)
		for (int i = 0; i < NR_COLUMNS; i++) {
			if (columns[i].drop != drop || columns[i].shown != LEFT_OUT ||
			    table_width(columns) + columns[i].width + 1 > width)
				continue;
			columns[i].shown = 1;
			left_out--;
		}
	return left_out;
}

/* Uses spare width for columns that were left out, and then for names. */
static int fill_width(struct column *columns, const int *wanted, int width, int left_out)
{
	bool grown = true;

	left_out = fill_columns(columns, width, left_out);
	while (grown) {
		grown = false;
		for (int i = 0; i < NR_COLUMNS; i++)
			if (columns[i].shown == 1 && columns[i].width < wanted[i] &&
			    table_width(columns) < width) {
				columns[i].width++;
				grown = true;
			}
	}
	return left_out;
}

/* Makes names narrower, then leaves out columns, until the table fits; returns columns left out. */
static int fit_columns(struct column *columns, int width)
{
	int left_out = 0, wanted[NR_COLUMNS];

	for (int i = 0; i < NR_COLUMNS; i++)
		wanted[i] = columns[i].width;
	for (;;) {
		static const enum column_id names[] = {CELL_site, CELL_blocker};
		struct column *wide = &columns[CELL_lock], *drop = NULL;

		if (table_width(columns) <= width)
			return fill_width(columns, wanted, width, left_out);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (columns[names[i]].shown == 1 && columns[names[i]].width > wide->width)
				wide = &columns[names[i]];
		if (wide->width > NAME_MIN) {
			wide->width--;
			continue;
		}
		for (int i = 0; i < NR_COLUMNS; i++)
			if (columns[i].shown == 1 && columns[i].drop &&
			    (!drop || columns[i].drop > drop->drop))
				drop = &columns[i];
		if (!drop)
			return left_out;
		drop->shown = LEFT_OUT;
		left_out++;
	}
}

/* @colour: of the last cell, or of the whole line of column names */
static void print_row(FILE *out, const struct column *columns, const struct cell *cells,
		      enum colour colour)
{
	const char *gap = "";

	fputs(cells ? "" : colour_on(COLOUR_HEAD), out);
	for (int i = 0; i < NR_COLUMNS; i++) {
		char text[CELL_MAX + 1];

		if (columns[i].shown != 1)
			continue;
		fit(text, cells ? cells[i].text : columns[i].head, columns[i].width);
		if (columns[i].unit == TEXT && i == NR_COLUMNS - 1)
			fprintf(out, "%s%s%s%s", gap, colour_on(colour), text,
				colour_off(colour));
		else
			fprintf(out, "%s%*s", gap,
				columns[i].unit == TEXT ? -columns[i].width : columns[i].width,
				text);
		gap = " ";
	}
	fputs(cells ? "" : colour_off(COLOUR_HEAD), out);
	fputc('\n', out);
}

/* Fits the names of locks, calls and blockers to their columns, still different ones. */
static void fit_names(const struct report *r, size_t nr, struct column *columns,
		      struct cell (*cells)[NR_COLUMNS])
{
	static const enum column_id names[] = {CELL_lock, CELL_site, CELL_blocker};
	const char **texts = reallocarray(NULL, nr + 1, sizeof(*texts));
	char(*fitted)[CELL_MAX + 1] = reallocarray(NULL, nr + 1, sizeof(*fitted));

	for (size_t i = 0; texts && fitted && i < ARRAY_SIZE(names); i++) {
		int width = columns[names[i]].width, used = strlen(columns[names[i]].head);

		for (size_t row = 0; row < nr; row++) {
			const struct line *l = &r->lines[row];

			texts[row] = names[i] == CELL_lock ? l->short_lock :
				     names[i] == CELL_site ? l->short_site :
							     l->short_blocker;
		}
		fit_apart(fitted, texts, nr, width < CELL_MAX ? width : CELL_MAX);
		for (size_t row = 0; row < nr; row++) {
			int len = strlen(fitted[row]);

			strcpy(cells[row][names[i]].text, fitted[row]);
			used = len > used ? len : used;
		}
		/* A name without its "file:line" is shorter than its room. */
		columns[names[i]].width = used < width ? used : width;
	}
	free(texts);
	free(fitted);
}

static void print_rows(const struct report *r, FILE *out, int width, size_t nr)
{
	struct cell(*cells)[NR_COLUMNS] = calloc(nr + 1, sizeof(*cells));
	struct column columns[NR_COLUMNS];
	bool shown[NR_COLUMNS];
	int left_out;

	if (!cells) {
		fprintf(out, "(no memory for the table)\n");
		return;
	}
	memcpy(columns, all_columns, sizeof(columns));
	columns_find(r, nr, shown);
	for (int i = 0; i < NR_COLUMNS; i++) {
		columns[i].shown = shown[i];
		columns[i].width = strlen(columns[i].head);
	}
	for (size_t row = 0; row < nr; row++) {
		fill_cells(r, &r->lines[row], cells[row]);
		for (int i = 0; i < NR_COLUMNS; i++) {
			int len = strlen(cells[row][i].text);

			if (len > columns[i].width)
				columns[i].width = len;
		}
	}
	left_out = fit_columns(columns, width);
	fit_names(r, nr, columns, cells);
	left_out = fill_columns(columns, width, left_out);
	print_row(out, columns, NULL, COLOUR_NONE);
	for (size_t row = 0; row < nr; row++)
		print_row(out, columns, cells[row], verdict_colour(r->lines[row].verdict));
	if (nr < r->nr_all)
		fprintf(out, "(%zu more row%s: --top 0)\n", r->nr_all - nr, plural(r->nr_all - nr));
	if (left_out)
		fprintf(out,
			"(%d column%s left out for want of width: widen the terminal, or --csv)\n",
			left_out, left_out == 1 ? "" : "s");
	free(cells);
}

/* How the process used the file of ELIDE_LEARNED, if one was named. */
static void print_learned(const struct elide_header *h, FILE *out)
{
	bool used = h->learned_state == ELIDE_LEARNED_used || h->learned_classes;

	if (!h->learned_state)
		return;
	fputs("learned: ", out);
	if (used)
		fprintf(out, "%u lock class%s and %u call site%s from ", h->learned_classes,
			h->learned_classes == 1 ? "" : "es", h->learned_sites, plural(h->learned_sites));
	else
		fputs("nothing, ", out);
	print_clean(out, h->learned);
	if (h->learned_state != ELIDE_LEARNED_used)
		fprintf(out, "%s %s", used ? ", which" : "", learned_says(h->learned_state));
	fputc('\n', out);
}

/* Prints the number of cores and, for an emulated machine, its model and clock rate. */
static void print_machine(const struct elide_header *h, FILE *out)
{
	fprintf(out, "%u core%s", h->cores, h->cores == 1 ? "" : "s");
	if (h->smt > 1)
		fprintf(out, " with %u hardware threads each", h->smt);
	if (h->sockets > 1)
		fprintf(out, " in %u sockets", h->sockets);
	if (!h->model[0])
		return;
	fputs(" of ", out);
	print_clean(out, h->model);
	fputs(h->changes[0] ? " with " : "", out);
	print_clean(out, h->changes);
	fprintf(out, " at %u MHz", h->mhz);
}

/* "exit code 1", "killed by SIGTERM" */
static void print_end(const struct elide_header *h, FILE *out)
{
	char words[EXIT_WORDS];

	if (h->exit_status >= 0)
		fprintf(out, ", %s", exit_words(h->exit_status, words));
}

static void print_program(const struct report *r, FILE *out)
{
	const struct elide_header *h = &r->file->header;
	char elapsed[32];

	print_clean(out, program_title(h));
	for (size_t at = strnlen(h->args, h->args_len) + 1; at < h->args_len;
	     at += strlen(h->args + at) + 1) {
		fputc(' ', out);
		print_clean(out, h->args + at);
	}
	if (h->args_left_out)
		fputs(" (arguments left out)", out);
	if (r->file->nr_processes)
		fprintf(out, " (%zu processes, the first is %u): ", r->file->nr_processes, h->pid);
	else
		fprintf(out, " (pid %u): ", h->pid);
	scale_ns(elapsed, sizeof(elapsed), r->ns);
	if (r->cycles)
		fprintf(out, "ran %s%s", elapsed,
			h->rtm == ELIDE_RTM_EMULATED ? " of simulated time" : "");
	else
		fprintf(out, "running, or was killed: times are in cycles");
	print_end(h, out);
	fprintf(out, ", %u thread%s on ", h->nr_threads, h->nr_threads == 1 ? "" : "s");
	print_machine(h, out);
	fputc('\n', out);
}

static void print_sentence(const struct thread_time *t, FILE *out, int width)
{
	char sentence[512];

	thread_time_sentence(t, sentence, sizeof(sentence));
	print_wrapped(out, sentence, width, 0);
}

void table_head(const struct report *r, FILE *out, int width)
{
	struct thread_time t;

	print_program(r, out);
	thread_time(r, &t);
	if (r->cycles)
		print_sentence(&t, out, width);
	fputc('\n', out);
}

/* What was done and why not more, last. */
static void print_mode(const void *arg, FILE *out)
{
	const struct elide_header *h = arg;

	fprintf(out, "mode %s, RTM %s%s", mode_name(h->mode), rtm_name(h->rtm),
		h->why[0] ? ": " : "");
	print_clean(out, h->why);
	if (h->control == ELIDE_CONTROL_OFF)
		fprintf(out, "; switched off by elide ctl");
	if (h->rtm_off)
		fprintf(out, "; elision was switched off");
	fputs(h->policy[0] ? "; policy " : "", out);
	print_clean(out, h->policy);
}

static void print_unsaid(const struct elide_header *h, FILE *out)
{
	if (!h->nr_unsaid)
		return;
	fprintf(out, "not written to standard error: %u line%s, the last: ", h->nr_unsaid,
		plural(h->nr_unsaid));
	print_clean(out, h->unsaid);
	fputc('\n', out);
}

static void print_totals(const struct report *r, FILE *out)
{
	const struct line *t = &r->total;
	char acquired[16], locks[16], contended[16], wait[32], aborts[16], wasted[16], room[64];

	scale(acquired, sizeof(acquired), t->acquired, "");
	scale(locks, sizeof(locks), t->nr_locks, "");
	scale(contended, sizeof(contended), t->sum.contended, "");
	scale_time(r, wait, sizeof(wait), t->sum.wait.total);
	fprintf(out, "total: %s acquisition%s of %s lock%s, %s contended, waited %s", acquired,
		plural(t->acquired), locks, plural(t->nr_locks), contended, wait);
	if (r->elides) {
		scale(aborts, sizeof(aborts), t->aborts, "");
		scale(wasted, sizeof(wasted), t->sum.wasted_cycles, "");
		fprintf(out, "; %.1f%% elided, %s abort%s, %s cycles wasted",
			percent(t->elided, t->acquired), aborts, plural(t->aborts), wasted);
	}
	fputc('\n', out);
	for (int i = 0; i < ELIDE_DROPPED_PROCESSES; i++)
		if (r->file->header.dropped[i]) {
			room_text(r->file, i, room, sizeof(room));
			fprintf(out, "not counted: %llu beyond the limit of %s%s\n",
				(unsigned long long)r->file->header.dropped[i], dropped_name(i),
				room);
		}
	if (r->file->header.filter)
		fprintf(out, "the process installed a seccomp filter: after that the library made no "
			     "system call, and new threads have no names\n");
	if (r->file->header.dlmopen)
		fprintf(out, "not counted: locks of objects loaded by dlmopen, which have a C library of their own\n");
	if (r->file->header.dropped[ELIDE_DROPPED_FILTER])
		fprintf(out, "not counted: %llu acquisitions under the filter, while another thread "
			     "was in a global-lock path\n",
			(unsigned long long)r->file->header.dropped[ELIDE_DROPPED_FILTER]);
	print_unsaid(&r->file->header, out);
	if (r->file->header.dropped[ELIDE_DROPPED_PROCESSES])
		fprintf(out, "not counted: %llu forked processes that could not write a data file: %s\n",
			(unsigned long long)r->file->header.dropped[ELIDE_DROPPED_PROCESSES],
			strerror(r->file->header.lost_error));
	if (r->file->header.dropped[ELIDE_DROPPED_FILES])
		fprintf(out, "not counted: %llu older data file%s of child processes, dropped as there were more than "
			"ELIDE_MAX_FILES\n",
			(unsigned long long)r->file->header.dropped[ELIDE_DROPPED_FILES],
			plural(r->file->header.dropped[ELIDE_DROPPED_FILES]));
}

/* Prints "function file:line", or the known part of it. */
static void print_place(FILE *out, const struct place *p)
{
	char shortened[SHORT_NAME];

	if (!p->symbol) {
		short_place(shortened, sizeof(shortened), p);
		print_clean(out, shortened);
		return;
	}
	print_clean(out, readable(shortened, sizeof(shortened), p->symbol));
	if (p->file) {
		fputc(' ', out);
		print_clean(out, base_name(p->file));
		fprintf(out, ":%d", p->line);
	} else if (p->object) {
		fputs(" in ", out);
		print_clean(out, p->object);
	}
}

/* Prints what @print writes, in lines of at most @width columns. */
static void print_lines(FILE *to, int width, int indent, void (*print)(const void *arg, FILE *out),
			const void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	print(arg, out);
	fclose(out);
	if (text)
		print_wrapped(to, text, width, indent);
	free(text);
}

static void print_misuse(const void *arg, FILE *out)
{
	const struct misuse_line *m = arg;

	fprintf(out, "misuse: ");
	print_place(out, &m->site);
	fprintf(out, " %s (%s", misuse_says(m->record->type), kind_name(m->record->kind));
	if (m->lock) {
		fputc(' ', out);
		print_clean(out, m->lock);
	}
	fprintf(out, "), %llu time%s", (unsigned long long)m->record->count,
		plural(m->record->count));
	if (m->record->tid)
		fprintf(out, "; %sthread %u", m->record->count > 1 ? "the first was " : "",
			m->record->tid);
	if (m->owner) {
		fputs(" \"", out);
		print_clean(out, m->owner);
		fputc('"', out);
	}
}

/* A cycle of the order of locks, or a step of it. */
struct order_step {
	const struct order_line *line;
	uint32_t nr;
};

static void print_cycle(const void *arg, FILE *out)
{
	const struct order_line *o = arg;
	const struct elide_order *record = o->record;
	int one_class = 1;

	fprintf(out, "lock order: ");
	for (uint32_t i = 0; i < record->nr_edges; i++) {
		one_class &= record->edges[i].class_index == record->edges[0].class_index;
		print_clean(out, o->edges[i].lock);
		fprintf(out, " -> ");
	}
	print_clean(out, o->edges[0].lock);
	fprintf(out, "%s", one_class ? ", locks of one class" : "");
}

static void print_step(const void *arg, FILE *out)
{
	const struct order_step *step = arg;
	const struct order_line *o = step->line;
	const struct elide_order_edge *e = &o->record->edges[step->nr];
	uint32_t next = (step->nr + 1) % o->record->nr_edges;

	fprintf(out, "held: ");
	print_clean(out, o->edges[step->nr].lock);
	fprintf(out, " (%s) at ", kind_name(e->held_kind));
	print_place(out, &o->edges[step->nr].held);
	fprintf(out, "; taken: ");
	print_clean(out, o->edges[next].lock);
	fprintf(out, " (%s) at ", kind_name(e->taken_kind));
	print_place(out, &o->edges[step->nr].next);
	/* Ids of threads mean nothing in a file of many runs, which leaves them out. */
	if (e->tid)
		fprintf(out, "; by thread %u", e->tid);
}

static void print_order(FILE *out, int width, const struct order_line *o)
{
	uint32_t nr = o->record->nr_edges;

	print_lines(out, width, 0, print_cycle, o);
	for (uint32_t i = 0; i < nr; i++) {
		fputs("   ", out);
		print_lines(out, width, 3, print_step, &(struct order_step){o, i});
	}
	fprintf(out, "   %u threads that do this at once can wait for each other for ever\n      -> ", nr);
	print_wrapped(out, "take these locks in one order everywhere; where that cannot be, take the second with "
		      "a trylock and release the first if it fails", width, 9);
}

static void print_cause(FILE *out, const struct line *l, const struct finding *f)
{
	char amount[32];

	scale(amount, sizeof(amount), f->count, "");
	for (int i = 0; i < ELIDE_NR_CAUSES; i++)
		if (!strcmp(f->cause, cause_texts[i].id))
			fprintf(out, "   %s, %.1f%% of the aborts (%s): %s\n", f->cause,
				percent(f->count, l->aborts), amount, cause_texts[i].help);
	fputs("      -> ", out);
	print_clean(out, f->text);
	if (f->setting[0]) {
		fputs("\n      setting: ", out);
		print_clean(out, f->setting);
	}
	fputc('\n', out);
}

/* Prints the section for which a row waited longest, if known. */
static void print_holder(const struct report *r, FILE *out, const struct line *l)
{
	struct place holder;

	if (!l->blocker)
		return;
	symbolize_call(r->symbols, l->blocker->held_site, &holder);
	fprintf(out, elide_kind_is_lock(l->blocker->held_kind) ?
			     "   mostly for the section begun in " :
			     "   mostly until the call in ");
	print_place(out, &holder);
	fprintf(out, ": %.1f%% of the time waited\n", 100 * l->blocked);
}

/* Prints why the adaptive policy no longer elides a row. */
static void print_decision(const struct report *r, FILE *out, const struct line *l)
{
	struct measured m = line_measured(r, l);
	char amount[32];

	if (l->state != ELIDE_STATE_PAUSED)
		return;
	scale(amount, sizeof(amount), l->given_up ? l->given_up : l->sum.not_attempted, "");
	if (l->given_up)
		fprintf(out,
			"   given up: none of the last attempts could succeed, so %s acquisition%s "
			"(%.1f%%) took the lock at once\n",
			amount, plural(l->given_up), percent(l->given_up, l->acquired));
	else if (m.pairs)
		fprintf(out,
			"   paused: eliding made %+.1f%% sections in the same time (%u time%s compared, "
			"%.1f%% sure)%s %s acquisition%s took the lock at once\n",
			100 * m.gain, m.pairs, plural(m.pairs), 100 * m.confidence,
			m.gain < 0 ? ", so" : " when it was compared last;", amount,
			plural(l->sum.not_attempted));
}

/* Callers of a wrapper to print, at most. */
#define CALLERS_SHOWN 3

/* Prints the callers whose waits a row has, if its call is in a wrapper. */
static void print_callers(const struct report *r, FILE *out, const struct line *l)
{
	struct caller callers[CALLERS_MAX];
	size_t nr = callers_find(r, l, callers);
	struct place p;

	for (size_t i = 0; i < nr && i < CALLERS_SHOWN; i++) {
		symbolize_call(r->symbols, callers[i].address, &p);
		fputs("   called by ", out);
		print_place(out, &p);
		fprintf(out, ": ~%.1f%% of the time waited\n", 100 * callers[i].share);
	}
}

static void print_waits(const struct report *r, FILE *out, const struct line *l)
{
	char mean[32], longest[32];

	scale_time(r, mean, sizeof(mean),
		   l->sum.wait.count ? l->sum.wait.total / l->sum.wait.count : 0);
	scale_time(r, longest, sizeof(longest), l->sum.wait.max);
	fprintf(out,
		"   waited%s at %.1f%% of the %s: %s on average, %s at most\n",
		elide_kind_is_lock(l->kind) ? " for the lock" : "",
		percent(l->sum.contended, l->acquired),
		elide_kind_is_lock(l->kind) ? "acquisitions" : "calls", mean, longest);
	print_callers(r, out, l);
}

static void print_worst(const struct report *r, FILE *out, const struct line *l, size_t number)
{
	char wasted[32];
	struct finding found[FINDINGS_MAX];
	size_t nr = advise(r, l, found);

	fprintf(out, "\n%s%zu. ", colour_on(COLOUR_HEAD), number);
	line_print(out, l);
	fprintf(out, "%s\n", colour_off(COLOUR_HEAD));
	for (size_t i = 0; i < nr; i++)
		print_cause(out, l, &found[i]);
	scale(wasted, sizeof(wasted), l->sum.wasted_cycles, "");
	if (l->aborts)
		fprintf(out, "   in all %s cycles wasted, %.1f%% of the acquisitions fell back\n",
			wasted, percent(l->sum.fallback, l->acquired));
	print_decision(r, out, l);
	if (l->sum.contended) {
		print_waits(r, out, l);
		print_holder(r, out, l);
	}
}

/* Does a row without aborts and waits have a finding? */
static int is_remarkable(const struct report *r, const struct line *l)
{
	struct finding found[FINDINGS_MAX];

	return !l->aborts && !l->sum.contended && advise(r, l, found);
}

static void print_notes(const struct report *r, FILE *out)
{
	const struct load_notes *n = &r->file->notes;
	char text[FAULTS_TEXT];

	if (faults_any(n))
		fprintf(out, "DAMAGED: %s. The numbers are of what is left.\n",
			faults_text(n, text));
	if (n->nr_orphans)
		fprintf(out, "note: %llu row%s left out, whose lock class is not in the file\n",
			(unsigned long long)n->nr_orphans, plural(n->nr_orphans));
}

/* Could mode elide restrict threads at a lock of the table without RTM? */
static int may_restrict(const struct report *r)
{
	const struct elide_header *h = &r->file->header;

	if (h->mode != ELIDE_RUN_PROFILE || h->rtm != ELIDE_RTM_NONE)
		return 0;
	for (size_t i = 0; i < r->nr_lines; i++)
		if (r->lines[i].verdict == VERDICT_BOTTLENECK &&
		    elide_kind_is_lock(r->lines[i].kind) && r->lines[i].kind != ELIDE_KIND_CUSTOM)
			return 1;
	return 0;
}

/* What elision met, row by row. */
static void print_findings(const struct report *r, FILE *out, size_t nr, size_t explained)
{
	size_t most = explained + EXPLAINED_MAX;

	for (size_t i = 0; i < r->nr_worst && explained < most; i++) {
		const struct line *l = r->worst[i];

		if (!l->cost || l->cost * WORST_SHARE < r->worst[0]->cost)
			break;
		if (l->aborts || l->sum.contended)
			print_worst(r, out, l, ++explained);
	}
	for (size_t i = 0; i < nr && i < REMARKED_MAX && explained < most; i++)
		if (is_remarkable(r, &r->lines[i]))
			print_worst(r, out, &r->lines[i], ++explained);
}

/* The object of a finding whose names are not known; NULL if all are. */
static const char *nameless(const struct answers *a)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->all[i].advice != ANSWER_processors && a->all[i].line.site_place.object &&
		    !a->all[i].line.site_place.symbol)
			return a->all[i].line.site_place.object;
	return NULL;
}

static void print_hints(const struct report *r, const struct answers *a, FILE *out)
{
	if (nameless(a)) {
		fputs("For names of functions in ", out);
		print_clean(out, base_name(nameless(a)));
		fputs(": install its package's -dbgsym or -debuginfo, or set DEBUGINFOD_URLS\n", out);
	}
	if (!r->elides && r->total.sum.contended)
		fprintf(out, "What eliding these locks would do: elide run --emulate -- PROGRAM\n");
	if (may_restrict(r))
		fprintf(out, "Without RTM, too, fewer threads can wait for a lock that is the bottleneck: "
			     "elide run --mode=elide -- PROGRAM\n");
}

void table_print(const struct report *r, FILE *out, int width, size_t top)
{
	size_t nr = top && top < r->nr_lines ? top : r->nr_lines;
	struct answers a;

	print_program(r, out);
	if (answers_find(r, &a)) {
		fprintf(out, "(no memory for the findings)\n");
		memset(&a, 0, sizeof(a));
	}
	if (r->cycles)
		print_sentence(&a.time, out, width);
	print_notes(r, out);
	for (size_t i = 0; i < r->nr_misuse; i++)
		print_lines(out, width, 0, print_misuse, &r->misuse[i]);
	for (size_t i = 0; i < r->nr_orders; i++)
		print_order(out, width, &r->orders[i]);
	fputc('\n', out);
	answers_print(r, &a, out, width);
	print_rows(r, out, width, nr);
	fputc('\n', out);
	print_totals(r, out);
	counters_print(r, out);
	if (r->elides)
		print_findings(r, out, nr, a.nr);
	fputc('\n', out);
	print_lines(out, width, 0, print_mode, &r->file->header);
	print_learned(&r->file->header, out);
	print_hints(r, &a, out);
	answers_free(&a);
}
