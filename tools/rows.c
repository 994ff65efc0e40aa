// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rows.c - a data file's rows summed, named and sorted.
 *
 * Must never order by address where something else tells two rows apart.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../lib/compiler.h"
#include "report.h"
#include "suggest.h"

#define NAMES(function, ...)                                                                       \
	const char *function(unsigned int i)                                                       \
	{                                                                                          \
		static const char *const names[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return i < ARRAY_SIZE(names) && names[i] ? names[i] : "unknown";                   \
	}

NAMES(kind_name, [ELIDE_KIND_MUTEX] = "mutex", [ELIDE_KIND_RWLOCK_READ] = "rwlock-read",
      [ELIDE_KIND_RWLOCK_WRITE] = "rwlock-write", [ELIDE_KIND_SPIN] = "spin",
      [ELIDE_KIND_CUSTOM] = "custom")
NAMES(state_name, [ELIDE_STATE_PROFILED] = "profiled", [ELIDE_STATE_ELIDING] = "eliding",
      [ELIDE_STATE_PAUSED] = "paused", [ELIDE_STATE_OFF] = "off")
NAMES(mode_name, [ELIDE_RUN_OFF] = "off", [ELIDE_RUN_PROFILE] = "profile",
      [ELIDE_RUN_ELIDE] = "elide")
NAMES(rtm_name, [ELIDE_RTM_NONE] = "none", [ELIDE_RTM_HARDWARE] = "hardware",
      [ELIDE_RTM_EMULATED] = "emulated")
NAMES(misuse_name, [ELIDE_MISUSE_UNLOCK_FREE] = "unlock-free",
      [ELIDE_MISUSE_UNLOCK_FOREIGN] = "unlock-foreign",
      [ELIDE_MISUSE_DESTROY_HELD] = "destroy-held", [ELIDE_MISUSE_RELOCK] = "relock",
      [ELIDE_MISUSE_EXIT_HELD] = "exit-held")
NAMES(dropped_name, [ELIDE_DROPPED_LOCKS] = "locks", [ELIDE_DROPPED_CLASSES] = "classes",
      [ELIDE_DROPPED_THREADS] = "threads", [ELIDE_DROPPED_ROWS] = "rows",
      [ELIDE_DROPPED_MODULES] = "modules", [ELIDE_DROPPED_SIGNALS] = "signals",
      [ELIDE_DROPPED_ORDERS] = "orders", [ELIDE_DROPPED_STACKS] = "stacks",
      [ELIDE_DROPPED_DETAILS] = "details", [ELIDE_DROPPED_EVENTS] = "events")

int exit_code(int status)
{
	if (status < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int to_ns(const struct report *r, uint64_t cycles, uint64_t *ns)
{
	if (!r->cycles)
		return -ENODATA;
	*ns = (unsigned __int128)cycles * r->ns / r->cycles;
	return 0;
}

static void add_times(struct elide_times *to, const struct elide_times *t)
{
	if (!t->count)
		return;
	if (!to->count || t->min < to->min)
		to->min = t->min;
	if (t->max > to->max)
		to->max = t->max;
	to->count += t->count;
	to->total += t->total;
}

static void add_row(struct line *l, const struct elide_row *row)
{
	l->sum.not_attempted += row->not_attempted;
	l->sum.commits += row->commits;
	l->sum.fallback += row->fallback;
	l->sum.nested += row->nested;
	l->sum.contended += row->contended;
	l->sum.wasted_cycles += row->wasted_cycles;
	add_times(&l->sum.wait, &row->wait);
	add_times(&l->sum.hold, &row->hold);
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++) {
		/* A cause this elide has no name for yet counts as the unknown one. */
		int cause = i < ELIDE_NR_CAUSES ? i : ELIDE_CAUSE_other;

		l->sum.causes[cause] += row->causes[i];
		l->by_column[cause_texts[cause].column] += row->causes[i];
		l->aborts += row->causes[i];
	}
	l->elided = l->sum.commits + l->sum.nested;
	l->acquired = l->elided + l->sum.fallback + l->sum.not_attempted;
	l->attempts = l->sum.commits + l->aborts;
}

/* What is summed apart: kind, and by --by class, site or both. */
struct order {
	enum report_by by;
	const struct elide_row *rows;
};

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int same_line(const struct elide_row *a, const struct elide_row *b, enum report_by by)
{
	return a->kind == b->kind && (by == BY_SITE || a->class_index == b->class_index) &&
	       (by == BY_LOCK || a->site == b->site);
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct order *o = arg;
	const struct elide_row *a = &o->rows[*(const size_t *)x];
	const struct elide_row *b = &o->rows[*(const size_t *)y];
	int c = by_number(a->kind, b->kind);

	if (!c && o->by == BY_SITE)
		c = by_number(a->site, b->site);
	if (!c)
		c = by_number(a->class_index, b->class_index);
	if (!c)
		c = by_number(a->site, b->site);
	return c;
}

static char *format(const char *format, ...) __printf(1, 2);

static char *format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* "function file:line", and where it was inlined to; or the best there is. */
static char *code_name(const struct place *p)
{
	if (p->symbol && p->file && p->inlined_into)
		return format("%s %s:%d in %s", p->symbol, base_name(p->file), p->line,
			      p->inlined_into);
	if (p->symbol && p->file)
		return format("%s %s:%d", p->symbol, base_name(p->file), p->line);
	if (p->symbol)
		return format("%s+0x%llx %s", p->symbol, (unsigned long long)p->symbol_offset,
			      p->object);
	if (p->object)
		return format("%s+0x%llx", p->object, (unsigned long long)p->offset);
	return format("unknown");
}

static char *data_name(const struct place *p)
{
	if (p->symbol && p->symbol_offset)
		return format("%s+0x%llx", p->symbol, (unsigned long long)p->symbol_offset);
	if (p->symbol)
		return format("%s", p->symbol);
	return code_name(p);
}

char *class_id(const struct elide_class *c, const struct place *place)
{
	static const char *const types[] = {"", "init", "static", "first"};

	return place->object ? format("%s %s+0x%llx", types[c->type], place->object,
				      (unsigned long long)place->offset) :
			       format("%s unknown", types[c->type]);
}

char *class_name(const struct report *r, const struct elide_class *c, struct place *place)
{
	char *code, *name;

	if (c->type == ELIDE_CLASS_STATIC) {
		symbolize_data(r->symbols, c->address, place);
		return data_name(place);
	}
	symbolize_call(r->symbols, c->address, place);
	code = code_name(place);
	if (!code)
		return NULL;
	name = format("%s %s", c->type == ELIDE_CLASS_INIT ? "init" : "first locked in", code);
	free(code);
	return name;
}

static void name_lock(const struct report *r, struct line *l, const struct elide_class *c)
{
	l->class_type = c->type;
	l->lock = class_name(r, c, &l->lock_place);
	l->class = class_id(c, &l->lock_place);
	if (c->type == ELIDE_CLASS_STATIC)
		snprintf(l->short_lock, sizeof(l->short_lock), "%s", l->lock ? l->lock : "");
	else
		short_place(l->short_lock, sizeof(l->short_lock), &l->lock_place,
			    c->type == ELIDE_CLASS_INIT ? "init " : "first ");
}

static int name_line(const struct report *r, struct line *l, const struct elide_row *row)
{
	if (l->nr_classes == 1) {
		name_lock(r, l, &r->file->classes[row->class_index]);
	} else {
		l->lock = format("%u lock classes", l->nr_classes);
		snprintf(l->short_lock, sizeof(l->short_lock), "%u classes", l->nr_classes);
		l->class = format("%s", "");
	}
	if (l->nr_sites == 1) {
		symbolize_call(r->symbols, row->site, &l->site_place);
		l->site = code_name(&l->site_place);
		short_place(l->short_site, sizeof(l->short_site), &l->site_place, "");
	} else {
		snprintf(l->short_site, sizeof(l->short_site), "%u sites", l->nr_sites);
		l->site = format("%u sites", l->nr_sites);
	}
	return l->lock && l->class && l->site ? 0 : -ENOMEM;
}

/* The state most of the row's acquisitions were made in; of equals the one that tries more. */
static enum elide_row_state common_state(const uint64_t *votes)
{
	static const enum elide_row_state eager[] = {ELIDE_STATE_ELIDING, ELIDE_STATE_PAUSED,
						     ELIDE_STATE_OFF, ELIDE_STATE_PROFILED};
	enum elide_row_state best = eager[0];

	for (size_t i = 1; i < ARRAY_SIZE(eager); i++)
		if (votes[eager[i]] > votes[best])
			best = eager[i];
	return best;
}

/* Sums rows[index[0..n)], which belong to one line. */
static int sum_line(const struct report *r, struct line *l, const size_t *index, size_t n)
{
	const struct elide_row *rows = r->file->rows;
	uint64_t votes[ELIDE_STATE_OFF + 1] = {0};
	const struct elide_row *before = NULL;

	l->kind = rows[index[0]].kind;
	for (size_t i = 0; i < n; i++) {
		const struct elide_row *row = &rows[index[i]];

		add_row(l, row);
		/* A row that was touched counts, even before its first acquisition is counted. */
		votes[row->state] += elide_row_acquired(row) + 1;
		if (!before || before->class_index != row->class_index) {
			l->nr_classes++;
			l->nr_locks += r->file->classes[row->class_index].nr_locks;
		}
		if (!before || before->site != row->site)
			l->nr_sites++;
		before = row;
	}
	l->state = common_state(votes);
	l->cost = line_cost(l);
	l->verdict = line_verdict(r, l);
	return name_line(r, l, &rows[index[0]]);
}

/* Rows of calls that got no lock, or that a reset has left nothing of. */
static int is_empty(const struct report *r, const size_t *index, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct elide_row *row = &r->file->rows[index[i]];

		sum += elide_row_acquired(row) + elide_row_aborts(row);
	}
	return !sum;
}

static int build_lines(struct report *r, enum report_by by)
{
	const struct data_file *f = r->file;
	struct order order = {by, f->rows};
	size_t *index = reallocarray(NULL, f->nr_rows + 1, sizeof(*index));
	size_t nr = 0, n;
	int rc = -ENOMEM;

	if (!index)
		return rc;
	for (size_t i = 0; i < f->nr_rows; i++) {
		index[i] = i;
		add_row(&r->total, &f->rows[i]);
	}
	qsort_r(index, f->nr_rows, sizeof(*index), compare_rows, &order);
	for (size_t i = 0; i < f->nr_rows; i++)
		nr += !i || !same_line(&f->rows[index[i - 1]], &f->rows[index[i]], by);
	r->lines = calloc(nr + 1, sizeof(*r->lines));
	if (!r->lines)
		goto free_index;
	for (size_t i = 0; i < f->nr_rows; i += n) {
		for (n = 1; i + n < f->nr_rows; n++)
			if (!same_line(&f->rows[index[i]], &f->rows[index[i + n]], by))
				break;
		rc = is_empty(r, &index[i], n) ? 0 :
			     sum_line(r, &r->lines[r->nr_lines++], &index[i], n);
		if (rc)
			goto free_index;
	}
	rc = 0;
free_index:
	free(index);
	return rc;
}

/* The keys of --sort: the columns, and the cost they are sorted by without it. */
static const char *const sort_keys[] = {
	"cost",
#define ELIDE_COLUMN(id, head, unit, value, elision, drop) #id,
#include "columns.def"
#undef ELIDE_COLUMN
};

int report_sort_key(const char *key, const char **nearest)
{
	*nearest = suggest(key, sort_keys, ARRAY_SIZE(sort_keys));
	return !strcmp(*nearest, key);
}

/* Numbers: the larger first. Texts: by strcmp(). */
#define ORDER_TEXT(a, b)    strcmp(a, b)
#define ORDER_COUNT(a, b)   (((double)(a) < (double)(b)) - ((double)(a) > (double)(b)))
#define ORDER_PERCENT(a, b) ORDER_COUNT(a, b)
#define ORDER_CYCLES(a, b)  ORDER_COUNT(a, b)
#define ORDER_TIME(a, b)    ORDER_COUNT(a, b)

static int compare_key(const char *key, const struct line *a, const struct line *b)
{
#define ELIDE_COLUMN(id, head, unit, value, elision, drop)                                         \
	if (!strcmp(key, #id)) {                                                                   \
		const struct line *l = a;                                                          \
		__auto_type va = (value);                                                          \
		l = b;                                                                             \
		return ORDER_##unit(va, (value));                                                  \
	}
#include "columns.def"
#undef ELIDE_COLUMN
	return ORDER_COUNT(a->cost, b->cost);
}

static int compare_lines(const void *x, const void *y, void *key)
{
	const struct line *a = x, *b = y;
	int c = compare_key(key, a, b);

	if (!c)
		c = ORDER_COUNT(a->cost, b->cost);
	if (!c)
		c = ORDER_COUNT(a->acquired, b->acquired);
	if (!c)
		c = strcmp(a->lock, b->lock);
	if (!c)
		c = strcmp(a->site, b->site);
	if (!c)
		c = strcmp(a->class, b->class);
	if (!c)
		c = by_number(a->kind, b->kind);
	return c ? c : by_number(a->site_place.offset, b->site_place.offset);
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

static int build_misuse(struct report *r)
{
	r->misuse = calloc(r->file->nr_misuse + 1, sizeof(*r->misuse));
	if (!r->misuse)
		return -ENOMEM;
	for (size_t i = 0; i < r->file->nr_misuse; i++) {
		struct misuse_line *m = &r->misuse[r->nr_misuse++];

		m->record = &r->file->misuse[i];
		symbolize_call(r->symbols, m->record->site, &m->site);
		symbolize_data(r->symbols, m->record->lock, &m->lock);
	}
	qsort(r->misuse, r->nr_misuse, sizeof(*r->misuse), compare_misuse);
	return 0;
}

static void say_line(const char *line)
{
	fprintf(stderr, "elide: %s\n", line);
}

int report_build(struct report *r, const struct data_file *file, enum report_by by,
		 const char *sort)
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
	if (!r->symbols)
		return rc;
	rc = build_lines(r, by);
	if (!rc)
		rc = build_misuse(r);
	if (!rc)
		rc = order_build(r);
	if (rc) {
		report_free(r);
		return rc;
	}
	for (size_t i = 0; i < file->nr_classes; i++)
		r->total.nr_locks += file->classes[i].nr_locks;
	r->total.verdict = line_verdict(r, &r->total);
	qsort_r(r->lines, r->nr_lines, sizeof(*r->lines), compare_lines, (void *)sort);
	return 0;
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->nr_lines; i++) {
		free(r->lines[i].lock);
		free(r->lines[i].site);
		free(r->lines[i].class);
	}
	free(r->lines);
	free(r->misuse);
	order_free(r);
	symbolizer_free(r->symbols);
	memset(r, 0, sizeof(*r));
}
