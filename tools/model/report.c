// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report.c - sums and sorts the rows of a report, and names those that are shown.
 *
 * A file may have a million rows: they are read once for sums and order, and once more for the
 * numbers of the rows that are shown. Must never order by address if anything else distinguishes two rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/messages.h"
#include "../base/sort.h"
#include "../names/names.h"
#include "unique-names.h"
#include "answer/thread-time.h"
#include "attribute.h"
#include "blocker.h"
#include "callers.h"
#include "columns.h"
#include "evidence.h"
#include "order.h"
#include "rank.h"
#include "report.h"

static void add_waits(struct line *l, const struct elide_row *row)
{
	times_add(&l->sum.wait, &row->wait);
	bins_add(l->sum.wait_bins, row->wait_bins);
}

/* Add the numbers of a row that struct sum does not have. */
static void add_rest(struct line *l, const struct elide_row *row)
{
	add_waits(l, row);
	holds_add(&l->sum.hold, &row->hold);
	bins_add(l->sum.hold_bins, row->hold_bins);
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		if (row->causes[i])
			l->sum.causes[i < ELIDE_NR_CAUSES ? i : ELIDE_CAUSE_other] += row->causes[i];
}

/* Filled by sum_one() and fill_line() while the rows are read. */
struct reading {
	struct report *r;
	struct sums *sums;
	struct sum total;
};

static int sum_one(void *arg, const struct elide_row *row)
{
	struct reading *reading = arg;
	struct sum *s = sums_get(reading->sums, row->class_index, row->site, row->kind, 1);

	if (!s)
		return -ENOMEM;
	sum_row(s, row);
	/* The totals are those of locks: an idle pool waits for longer than the run. */
	if (!elide_kind_waits_for_lock(row->kind))
		reading->r->others_wait += row->wait.total;
	else if (!elide_kind_is_lock(row->kind))
		add_waits(&reading->r->total, row);
	if (!elide_kind_is_lock(row->kind))
		return 0;
	sum_row(&reading->total, row);
	add_rest(&reading->r->total, row);
	return 0;
}

/* A sum without acquisitions, waits that have not ended, failed tries and aborts, as after a reset. */
static int is_empty(const struct sum *s)
{
	uint64_t sum = s->commits + s->nested + s->fallback + s->not_attempted + s->failed + s->contended;

	for (int i = 0; i < NR_CAUSE_COLUMNS; i++)
		sum += s->by_column[i];
	return !sum;
}

static int compare_groups(const void *x, const void *y, void *arg)
{
	const struct sums *s = arg;
	const struct sum *a = &s->sum[*(const uint32_t *)x], *b = &s->sum[*(const uint32_t *)y];
	int c = by_number(a->kind, b->kind);

	if (!c)
		c = by_number(a->class_index, b->class_index);
	return c ? c : by_number(a->site, b->site);
}

/* Sums the groups of one lock, or of one site, as --by asks for, into the first of them. */
static int make_groups(struct report *r, struct sums *s, enum report_by by)
{
	struct sums firsts = {0};
	uint32_t *index = reallocarray(NULL, s->nr + 1, sizeof(*index));
	int rc = index ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < s->nr; i++) {
		index[i] = i;
		s->sum[i].group = i;
		s->sum[i].is_empty = is_empty(&s->sum[i]);
		s->sum[i].nr_classes = s->sum[i].nr_sites = 1;
		s->sum[i].nr_locks = r->file->classes[s->sum[i].class_index].nr_locks;
	}
	/* Sorted, so that the first one does not depend on the order of the file. */
	if (!rc && by != BY_LOCK_AND_SITE)
		qsort_r(index, s->nr, sizeof(*index), compare_groups, s);
	for (size_t i = 0; !rc && by != BY_LOCK_AND_SITE && i < s->nr; i++) {
		struct sum *sum = &s->sum[index[i]], *first, *to;

		if (sum->is_empty)
			continue;
		first = sums_get(&firsts, by == BY_LOCK ? sum->class_index : 0,
				 by == BY_SITE ? sum->site : 0, sum->kind, 1);
		if (!first) {
			rc = -ENOMEM;
			break;
		}
		if (!first->nr_rows++)
			first->group = index[i];
		sum->group = first->group;
		to = &s->sum[first->group];
		if (to == sum)
			continue;
		sum_add(to, sum);
		/* By lock only the sites differ, by site only the classes. */
		to->nr_classes += by == BY_SITE;
		to->nr_locks += by == BY_SITE ? sum->nr_locks : 0;
		to->nr_sites += by == BY_LOCK;
	}
	sums_free(&firsts);
	free(index);
	return rc;
}

static int name_lock(const struct report *r, struct line *l, const struct elide_class *c)
{
	l->class_type = c->type;
	l->lock = class_name(r->symbols, c, &l->lock_place);
	l->class = class_id(c, &l->lock_place);
	short_lock(l->short_lock, sizeof(l->short_lock), c, l->lock, &l->lock_place);
	return l->lock && l->class ? 0 : -ENOMEM;
}

static void name_blocker(const struct report *r, struct line *l)
{
	struct place place;

	snprintf(l->short_blocker, sizeof(l->short_blocker), UNKNOWN_CELL);
	if (!l->blocker)
		return;
	symbolize_call(r->symbols, l->blocker->held_site, &place);
	short_place(l->short_blocker, sizeof(l->short_blocker), &place);
}

int line_name(const struct report *r, struct line *l)
{
	int rc = 0;

	if (l->nr_classes == 1) {
		rc = name_lock(r, l, &r->file->classes[l->sum.class_index]);
	} else {
		snprintf(l->short_lock, sizeof(l->short_lock), "%u classes", l->nr_classes);
		l->class = strdup("");
		if (asprintf(&l->lock, "%u lock classes", l->nr_classes) < 0)
			l->lock = NULL;
	}
	if (l->nr_sites == 1) {
		symbolize_call(r->symbols, l->sum.site, &l->site_place);
		l->site = code_name(&l->site_place);
		short_place(l->short_site, sizeof(l->short_site), &l->site_place);
	} else {
		snprintf(l->short_site, sizeof(l->short_site), "%u sites", l->nr_sites);
		l->site = strdup(l->short_site);
	}
	name_blocker(r, l);
	return !rc && l->lock && l->class && l->site ? 0 : -ENOMEM;
}

void short_class(char *to, const struct line *l, const struct elide_class *c, const char *name,
		 const struct place *p)
{
	if (l && l->nr_classes == 1)
		memcpy(to, l->short_lock, sizeof(l->short_lock));
	else
		short_lock(to, SHORT_NAME, c, name, p);
}

void line_free_names(struct line *l)
{
	free(l->lock);
	free(l->site);
	free(l->class);
}

/* Gives a sum its line, unless it has one. */
static void show(struct report *r, struct sums *s, uint32_t sum)
{
	if (s->sum[sum].line)
		return;
	sum_line(r, &s->sum[sum], &r->lines[r->nr_built++]);
	s->sum[sum].line = r->nr_built;
}

struct line *report_line(const struct report *r, uint32_t class_index, uint64_t site,
			 unsigned int kind)
{
	const struct sum *s = sums_get(r->sums, class_index, site, kind, 0);

	if (!s || !r->sums->sum[s->group].line)
		return NULL;
	return &r->lines[r->sums->sum[s->group].line - 1];
}

static int fill_line(void *arg, const struct elide_row *row)
{
	struct reading *reading = arg;
	struct line *l = report_line(reading->r, row->class_index, row->site, row->kind);

	if (!l)
		return 0;
	/* The sums are of the first reading, and a running process has counted since. */
	if (!l->filled) {
		l->sum.wait = (struct elide_times){0};
		l->sum.hold = (struct elide_holds){0};
		memset(l->sum.wait_bins, 0, sizeof(l->sum.wait_bins));
		memset(l->sum.hold_bins, 0, sizeof(l->sum.hold_bins));
		l->filled = 1;
	}
	add_rest(l, row);
	return 0;
}

static int build_lines(struct report *r, struct reading *reading, const char *sort, size_t top)
{
	struct rank *ranks, *worst;
	size_t nr, nr_worst;
	int rc = -ENOMEM;

	for (size_t i = 0; i < r->sums->nr; i++)
		r->nr_all += !r->sums->sum[i].is_empty && r->sums->sum[i].group == i;
	ranks = rank_rows(r, r->sums, sort, top, &nr);
	worst = rank_rows(r, r->sums, "cost", WORST_MAX, &nr_worst);
	r->lines = calloc(nr + nr_worst + 1, sizeof(*r->lines));
	if (!ranks || !worst || !r->lines)
		goto free_ranks;
	for (size_t i = 0; i < nr; i++)
		show(r, r->sums, ranks[i].sum);
	r->nr_lines = r->nr_built;
	for (size_t i = 0; i < nr_worst; i++) {
		show(r, r->sums, worst[i].sum);
		r->worst[r->nr_worst++] = &r->lines[r->sums->sum[worst[i].sum].line - 1];
	}
	rc = load_rows(r->file, fill_line, reading);
	for (size_t i = 0; !rc && i < r->nr_built; i++)
		rc = line_name(r, &r->lines[i]);
	for (size_t i = 0; !rc && i < r->nr_built; i++)
		callers_name(r, &r->lines[i]);
	if (!rc)
		rc = names_make_unique(r);
free_ranks:
	free(ranks);
	free(worst);
	return rc;
}

/*
 * Counts the acquisitions that the policy did not attempt at call sites that it has given up and
 * not resumed. The timeline has an event where a site was given up; the state of the row says that
 * the site is still given up.
 */
static void find_unelidable(struct report *r)
{
	for (size_t i = 0; i < r->file->nr_events; i++) {
		const struct elide_event *e = &r->file->events[i];
		struct sum *s;

		if (!event_is_unelidable(e))
			continue;
		s = sums_get(r->sums, e->class_index, e->site, e->kind, 0);
		if (s && sum_state(s) == ELIDE_STATE_PAUSED)
			s->given_up = s->not_attempted;
	}
}

static void use_class(struct report *r, const struct sum *s)
{
	struct class_use *use = &r->uses[s->class_index];

	use->held += s->held;
	use->hold_weight += s->hold_weight;
	use->hold_total += s->hold_total;
	/* Waits for condition variables count only for the mutex. */
	if (s->kind == ELIDE_KIND_REACQUIRE) {
		use->contended += s->contended;
		return;
	}
	use->acquired += s->commits + s->nested + s->fallback + s->not_attempted;
	use->commits += s->commits + s->nested;
	use->contended += s->contended;
	use->failed += s->failed;
	class_conflicts(use, s);
}

/* Counts the acquisitions of uncontended locks, in each sum and in the total. */
static void find_quiet(struct report *r, struct sum *total)
{
	for (size_t i = 0; i < r->sums->nr; i++)
		use_class(r, &r->sums->sum[i]);
	for (size_t i = 0; i < r->sums->nr; i++) {
		struct sum *s = &r->sums->sum[i];

		if (elide_kind_is_lock(s->kind) && class_is_quiet(r, s->class_index))
			s->quiet = s->commits + s->nested + s->fallback + s->not_attempted;
		total->quiet += s->quiet;
	}
}

static int sum_rows(struct report *r, enum report_by by, const char *sort, size_t top)
{
	struct reading reading = {.r = r, .sums = r->sums};
	struct thread_time time;
	struct line rest;
	int rc = load_rows(r->file, sum_one, &reading);

	if (rc)
		return rc;
	r->uses = calloc(r->file->nr_classes + 1, sizeof(*r->uses));
	if (!r->uses)
		return -ENOMEM;
	find_quiet(r, &reading.total);
	rest = r->total;
	sum_line(r, &reading.total, &r->total);
	r->total.sum.wait = rest.sum.wait;
	r->total.sum.hold = rest.sum.hold;
	memcpy(r->total.sum.causes, rest.sum.causes, sizeof(rest.sum.causes));
	memcpy(r->total.sum.wait_bins, rest.sum.wait_bins, sizeof(rest.sum.wait_bins));
	memcpy(r->total.sum.hold_bins, rest.sum.hold_bins, sizeof(rest.sum.hold_bins));
	for (size_t i = 0; i < r->file->nr_classes; i++)
		if (elide_kind_is_lock(r->file->classes[i].kind))
			r->total.nr_locks += r->file->classes[i].nr_locks;
	find_unelidable(r);
	rc = make_groups(r, r->sums, by);
	if (!rc)
		rc = blockers_find(r);
	thread_time(r, &time);
	r->thread_ns = time.known ? time.total : 0;
	return rc ? rc : build_lines(r, &reading, sort, top);
}

static int compare_misuse(const void *x, const void *y)
{
	const struct misuse_line *a = x, *b = y;
	int c = by_number(b->record->count, a->record->count);

	if (!c)
		c = by_number(a->record->type, b->record->type);
	if (!c && a->site.object && b->site.object)
		c = strcmp(a->site.object, b->site.object);
	return c ? c : by_number(a->site.offset, b->site.offset);
}

/* The name of a thread; NULL if no record has its id. */
static const char *name_of_thread(const struct report *r, uint32_t tid)
{
	for (size_t i = 0; tid && i < r->file->nr_threads; i++)
		if (r->file->threads[i].tid == tid && r->file->threads[i].name[0])
			return r->file->threads[i].name;
	return NULL;
}

static int build_misuse(struct report *r)
{
	r->misuse = calloc(r->file->nr_misuse + 1, sizeof(*r->misuse));
	if (!r->misuse)
		return -ENOMEM;
	for (size_t i = 0; i < r->file->nr_misuse; i++) {
		struct misuse_line *m = &r->misuse[r->nr_misuse++];
		struct place place;

		m->record = &r->file->misuse[i];
		symbolize_call(r->symbols, m->record->site, &m->site);
		m->owner = name_of_thread(r, m->record->tid);
		if (!m->record->class || m->record->class > r->file->nr_classes)
			continue;
		m->lock = class_name(r->symbols, &r->file->classes[m->record->class - 1], &place);
		if (!m->lock)
			return -ENOMEM;
	}
	qsort(r->misuse, r->nr_misuse, sizeof(*r->misuse), compare_misuse);
	return 0;
}

static void say_line(const char *line)
{
	say("%s", line);
}

int report_build_top(struct report *r, const struct data_file *file, enum report_by by,
		     const char *sort, size_t top)
{
	const struct elide_header *h = &file->header;
	int rc = -ENOMEM;

	memset(r, 0, sizeof(*r));
	r->file = file;
	r->elides = h->mode == ELIDE_RUN_ELIDE;
	if (h->end_cycles > h->start_cycles && h->end_ns > h->start_ns) {
		r->ns = h->end_ns - h->start_ns;
		r->cycles = h->end_cycles - h->start_cycles;
	}
	r->symbols = symbolizer_new(file->modules, file->nr_modules, say_line);
	r->sums = calloc(1, sizeof(*r->sums));
	if (r->symbols && r->sums)
		rc = symbolizer_locks(r->symbols, file->sites, file->nr_sites);
	if (!rc)
		rc = sum_rows(r, by, sort, top);
	if (!rc)
		rc = build_misuse(r);
	if (!rc)
		rc = order_build(r);
	if (!rc)
		rc = evidence_build(r);
	if (rc)
		report_free(r);
	return rc;
}

int report_build(struct report *r, const struct data_file *file, enum report_by by,
		 const char *sort)
{
	return report_build_top(r, file, by, sort, 0);
}

int to_ns(const struct report *r, uint64_t cycles, uint64_t *ns)
{
	if (!r->cycles)
		return -ENODATA;
	*ns = (unsigned __int128)cycles * r->ns / r->cycles;
	return 0;
}

double report_ns(const struct report *r, double cycles)
{
	return r->cycles ? cycles * (double)r->ns / (double)r->cycles : 0;
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->nr_built; i++)
		line_free_names(&r->lines[i]);
	free(r->lines);
	free(r->uses);
	for (size_t i = 0; i < r->nr_misuse; i++)
		free(r->misuse[i].lock);
	free(r->misuse);
	order_free(r);
	evidence_free(r);
	if (r->sums)
		sums_free(r->sums);
	free(r->sums);
	symbolizer_free(r->symbols);
	memset(r, 0, sizeof(*r));
}
