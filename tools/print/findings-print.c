// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * findings-print.c - why transactions aborted, row by row, and what to do, as text.
 *
 * Must never print a control character of the data file.
 */
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/colour.h"
#include "../base/text.h"
#include "../model/advice.h"
#include "../model/attribute.h"
#include "../model/callers.h"
#include "../model/columns.h"
#include "../model/compare.h"
#include "../names/names.h"
#include "findings-print.h"
#include "place-print.h"
#include "view/views.h"

/* Rows explained below the table. */
#define EXPLAINED_MAX 5
/* Rows at the top of the table to examine for findings although they cost nothing. */
#define REMARKED_MAX 20
/* A row that costs less than 1 / WORST_SHARE of the most expensive row is not explained. */
#define WORST_SHARE 100

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
	place_print(out, &holder);
	fprintf(out, ": %.1f%% of the time waited\n", 100 * l->blocked);
}

/* Prints why the adaptive policy no longer elides a row. */
static void print_decision(const struct report *r, FILE *out, const struct line *l)
{
	struct measured m = line_measured_last(r, l), of_run = line_measured(r, l);
	char amount[32], nested[32];

	if (l->state != ELIDE_STATE_PAUSED)
		return;
	scale(amount, sizeof(amount), l->given_up ? l->given_up : l->sum.not_attempted, "");
	if (l->given_up)
		fprintf(out,
			"   given up: none of the last attempts could succeed, so %s acquisition%s "
			"(%.1f%%) took the lock at once\n",
			amount, plural(l->given_up), percent(l->given_up, l->acquired));
	if (l->given_up || !m.pairs)
		return;
	fprintf(out,
		"   paused: eliding made %+.1f%% sections in the same time, at all call sites of the class "
		"(%u time%s compared, %.1f%% sure)%s %s acquisition%s took the lock at once\n",
		100 * m.gain, m.pairs, plural(m.pairs), 100 * m.confidence,
		m.gain < 0 ? ", so" : " when it was compared last;", amount, plural(l->sum.not_attempted));
	if (of_run.pairs && (of_run.gain < 0) != (m.gain < 0))
		fprintf(out, "   for most of the run the latest comparison said %+.1f%% (%.1f%% sure)\n",
			100 * of_run.gain, 100 * of_run.confidence);
	if (l->sum.nested) {
		scale(nested, sizeof(nested), l->sum.nested, "");
		fprintf(out, "   %s acquisition%s inside a transaction of another lock %s elided with it\n",
			nested, plural(l->sum.nested), l->sum.nested == 1 ? "was" : "were");
	}
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
		place_print(out, &p);
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

/* What elision met, row by row. */
void findings_print(const struct report *r, FILE *out, size_t nr, size_t explained)
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
