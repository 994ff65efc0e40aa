// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-pprof.c - elide report --pprof: waits, holds and aborts as a profile for pprof.
 *
 * The samples of a row are scaled to its exact counters, so the sums of
 * the profile are those of the report. Must never give a stack to a sample without one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../../lib/row-sums.h"
#include "../../base/messages.h"
#include "../../base/text.h"
#include "../../model/attribute.h"
#include "../../names/names.h"
#include "../output.h"
#include "../view/views.h"
#include "profile.h"
#include "share.h"
#include "single.h"

/* Rows without --top: further rows are summed up without their call sites. */
#define PPROF_TOP 10000

enum view { VIEW_WAITER, VIEW_HOLDER, VIEW_ALL, VIEW_THREAD };

/* Values of a holder, or of a stack. */
struct values {
	uint64_t v[PROFILE_NR_VALUES];
};

/* In the order of enum view. */
static OPTION_VALUES(view_words, "waiter", "holder", "all", "thread")

static int view_argument(struct report_options *o, const char *text)
{
	size_t word = 0;

	if (option_word("pprof-view", text, view_words, &word))
		return -EINVAL;
	o->view = word;
	return 0;
}

/* The comment of gzip's header follows its first 10 bytes: RFC 1952. */
static bool is_profile(const char *head, size_t len)
{
	size_t mark = strlen(PROFILE_MARK);

	return len > 10 + mark && (unsigned char)head[0] == 0x1f &&
	       (unsigned char)head[1] == 0x8b && !memcmp(head + 10, PROFILE_MARK, mark);
}

static uint64_t ns_of(const struct report *r, uint64_t cycles)
{
	uint64_t ns;

	return to_ns(r, cycles, &ns) ? 0 : ns;
}

/* Labels of a row: its lock's name and class, and its kind. */
static size_t label_row(struct profile_label *to, const char *lock, const char *class,
			unsigned int kind)
{
	to[0] = (struct profile_label){"lock", lock, 0};
	to[1] = (struct profile_label){"class", class, 0};
	to[2] = (struct profile_label){"kind", kind_id(kind), 0};
	return 3;
}

/* The locations of a stack, or of the call site if there is no stack. */
static size_t locate(struct profile *p, uint32_t stack, uint64_t site, uint64_t *to)
{
	const struct elide_stack *s = stack ? &p->r->file->stacks[stack - 1] : NULL;
	size_t nr = 0;

	for (uint16_t i = 0; s && i < s->nr_frames; i++) {
		to[nr] = profile_location(p, s->frames[i], s->exact && !i);
		nr += to[nr] != 0;
	}
	if (!nr && site) {
		to[0] = profile_location(p, site, 0);
		nr = to[0] != 0;
	}
	if (!nr) {
		to[0] = profile_named(p, site ? "(call of the library)" : "(holder not known)");
		nr = 1;
	}
	return nr;
}

static void add_at(struct profile *p, const struct line *l, uint32_t stack, const struct values *v)
{
	uint64_t locations[ELIDE_STACK_FRAMES];
	struct profile_label labels[3];
	size_t nr = locate(p, stack, l->sum.site, locations);

	profile_sample(p, locations, nr, v->v, labels,
		       label_row(labels, l->lock, l->class, l->kind));
}

/* The exact values of a row. */
static struct values row_values(const struct report *r, const struct line *l)
{
	double hold = line_hold(l);

	return (struct values){{
		[PROFILE_CONTENTIONS] = l->sum.contended,
		[PROFILE_DELAY] = ns_of(r, l->sum.wait.total),
		[PROFILE_HOLD] = hold > 0 ? ns_of(r, (uint64_t)hold) : 0,
		[PROFILE_ABORTS] = l->aborts,
		[PROFILE_WASTED] = l->sum.wasted_cycles,
	}};
}

/*
 * Divides two values of a row, a count and a sum of times, among its samples of one type. Without
 * samples they remain in @all.
 */
static void divide(struct profile *p, const struct line *l, unsigned int type, struct values *all,
		   enum profile_value count, enum profile_value time)
{
	struct share counts = {.total = all->v[count]}, times = {.total = all->v[time]};

	for (size_t i = 0; i < l->nr_samples; i++) {
		if (l->samples[i]->type != type)
			continue;
		counts.weights += l->samples[i]->count;
		times.weights += l->samples[i]->cycles;
	}
	for (size_t i = 0; i < l->nr_samples; i++) {
		struct values v = {0};

		if (l->samples[i]->type != type)
			continue;
		v.v[count] = share_next(&counts, l->samples[i]->count);
		v.v[time] = share_next(&times, l->samples[i]->cycles);
		add_at(p, l, l->samples[i]->stack, &v);
	}
	all->v[count] -= counts.given;
	all->v[time] -= times.given;
}

static void add_waiter(struct profile *p, const struct line *l)
{
	struct values all = row_values(p->r, l);

	divide(p, l, ELIDE_SAMPLE_WAIT, &all, PROFILE_CONTENTIONS, PROFILE_DELAY);
	divide(p, l, ELIDE_SAMPLE_ABORT, &all, PROFILE_ABORTS, PROFILE_WASTED);
	add_at(p, l, 0, &all);
}

/* A call that held locks for which others waited. */
struct holder {
	uint32_t class_index;
	uint32_t kind;
	uint64_t site;
};

/**
 * struct holders - all calls that held locks.
 * @keys: struct holder each
 * @values: of each key, @room allocated
 */
struct holders {
	struct intern keys;
	struct values *values;
	size_t room;
};

/* The values of a holder; NULL without memory. */
static struct values *holder_of(struct holders *h, const struct holder *key)
{
	int64_t number = intern(&h->keys, key, sizeof(*key));
	struct values *grown;

	if (number < 0)
		return NULL;
	if ((size_t)number >= h->room) {
		grown = reallocarray(h->values, 2 * h->room + 256, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + h->room, 0, (h->room + 256) * sizeof(*grown));
		h->values = grown;
		h->room = 2 * h->room + 256;
	}
	return &h->values[number];
}

static bool is_wait(const struct elide_blame *b)
{
	return b->type == ELIDE_BLAME_WAIT;
}

/* Gives the waits and aborts of a row to the holders of the lock. */
static int blame(struct holders *h, const struct report *r, const struct line *l)
{
	struct values all = row_values(r, l), *to;
	struct holder key = {.class_index = l->sum.class_index};
	struct share counts = {.total = all.v[PROFILE_CONTENTIONS]};
	struct share times = {.total = all.v[PROFILE_DELAY]};

	for (size_t i = 0; i < l->nr_blames; i++) {
		counts.weights += is_wait(l->blames[i]) ? l->blames[i]->count : 0;
		times.weights += is_wait(l->blames[i]) ? l->blames[i]->cycles : 0;
	}
	for (size_t i = 0; i < l->nr_blames; i++) {
		const struct elide_blame *b = l->blames[i];

		key = (struct holder){l->sum.class_index, 0, 0};
		if (b->held_kind && b->held_site && b->held_class < r->file->nr_classes)
			key = (struct holder){b->held_class, b->held_kind, b->held_site};
		to = holder_of(h, &key);
		if (!to)
			return -ENOMEM;
		if (is_wait(b)) {
			to->v[PROFILE_CONTENTIONS] += share_next(&counts, b->count);
			to->v[PROFILE_DELAY] += share_next(&times, b->cycles);
		} else {
			to->v[PROFILE_ABORTS] += b->count;
			to->v[PROFILE_WASTED] += b->cycles;
		}
	}
	key = (struct holder){l->sum.class_index, 0, 0};
	to = holder_of(h, &key);
	if (!to)
		return -ENOMEM;
	to->v[PROFILE_CONTENTIONS] += all.v[PROFILE_CONTENTIONS] - counts.given;
	to->v[PROFILE_DELAY] += all.v[PROFILE_DELAY] - times.given;
	key = (struct holder){l->sum.class_index, l->kind, l->sum.site};
	to = holder_of(h, &key);
	if (to)
		to->v[PROFILE_HOLD] += all.v[PROFILE_HOLD];
	return to ? 0 : -ENOMEM;
}

/* Divides the values of a holder among the stacks of its releases that others waited for. */
static void add_holder(struct profile *p, const struct holder *h, const struct values *all)
{
	const struct line *l = h->site ? report_line(p->r, h->class_index, h->site, h->kind) : NULL;
	struct share parts[PROFILE_NR_VALUES];
	struct profile_label labels[3];
	uint64_t locations[ELIDE_STACK_FRAMES], weights = 0;
	struct values rest = *all;
	struct where where;
	size_t nr;

	if (where_fill(p->r, &where, h->class_index, h->kind, h->site)) {
		p->failed = true;
		where_free(&where);
		return;
	}
	nr = label_row(labels, where.lock, where.class,
		       h->kind ? h->kind : p->r->file->classes[h->class_index].kind);
	for (size_t i = 0; l && i < l->nr_samples; i++)
		weights += l->samples[i]->type == ELIDE_SAMPLE_BLOCK ? l->samples[i]->count : 0;
	for (int i = 0; i < PROFILE_NR_VALUES; i++)
		parts[i] = (struct share){.total = all->v[i], .weights = weights};
	parts[PROFILE_HOLD].total = 0; /* hold times are not sampled with the releases */
	for (size_t i = 0; l && i < l->nr_samples; i++) {
		struct values v;

		if (l->samples[i]->type != ELIDE_SAMPLE_BLOCK)
			continue;
		for (int j = 0; j < PROFILE_NR_VALUES; j++) {
			v.v[j] = share_next(&parts[j], l->samples[i]->count);
			rest.v[j] -= v.v[j];
		}
		profile_sample(p, locations, locate(p, l->samples[i]->stack, h->site, locations),
			       v.v, labels, nr);
	}
	profile_sample(p, locations, locate(p, 0, h->site, locations), rest.v, labels, nr);
	where_free(&where);
}

static int add_holders(struct profile *p)
{
	const struct report *r = p->r;
	struct holders h = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr_lines; i++)
		if (elide_kind_waits_for_lock(r->lines[i].kind))
			rc = blame(&h, r, &r->lines[i]);
	for (size_t i = 0; !rc && i < h.keys.nr; i++) {
		struct holder key;

		memcpy(&key, h.keys.bytes + h.keys.keys[i].at, sizeof(key));
		add_holder(p, &key, &h.values[i]);
	}
	intern_free(&h.keys);
	free(h.values);
	return rc;
}

/*
 * The name of the thread to which a block of rows belongs, and its id if the block had no earlier thread.
 */
static const char *thread_of(const struct data_file *f, uint32_t block, char *to, size_t size,
			     uint32_t *tid)
{
	*tid = 0;
	snprintf(to, size, "(not recorded)");
	for (size_t i = 0; block && i < f->nr_threads; i++) {
		const struct elide_thread_record *t = &f->threads[i];

		if (t->block != block || t->state == ELIDE_THREAD_PAST)
			continue;
		/* Rows belong to blocks, and an earlier thread may have counted in them. */
		snprintf(to, size, "%s%s", t->name[0] ? t->name : "(no name)",
			 t->acquired ? " and before" : "");
		*tid = t->acquired ? 0 : t->tid;
	}
	return to;
}

static int add_thread_row(void *arg, uint32_t block, const struct elide_row *row)
{
	struct profile *p = arg;
	double held = elide_row_held(row);
	struct values v = {{
		[PROFILE_CONTENTIONS] = row->contended,
		[PROFILE_DELAY] = ns_of(p->r, row->wait.total),
		[PROFILE_HOLD] = held > 0 ? ns_of(p->r, (uint64_t)held) : 0,
		[PROFILE_ABORTS] = elide_row_aborts(row),
		[PROFILE_WASTED] = row->wasted_cycles,
	}};
	uint64_t locations[ELIDE_STACK_FRAMES];
	struct profile_label labels[5];
	const struct line *l;
	char name[64];
	uint32_t tid;
	size_t nr;

	l = report_line(p->r, row->class_index, row->site, row->kind);
	if (!elide_kind_waits_for_lock(row->kind) || !l || l >= p->r->lines + p->r->nr_lines)
		return 0;
	nr = label_row(labels, l->lock, l->class, row->kind);
	labels[nr++] = (struct profile_label){
		"thread", thread_of(p->r->file, block, name, sizeof(name), &tid), 0};
	if (tid)
		labels[nr++] = (struct profile_label){"tid", NULL, tid};
	profile_sample(p, locations, locate(p, 0, row->site, locations), v.v, labels, nr);
	return 0;
}

/* Adds one sample for the rows that were left out. */
static void add_rest(struct profile *p)
{
	struct values rest = row_values(p->r, &p->r->total);
	uint64_t location;

	for (size_t i = 0; i < p->r->nr_lines; i++) {
		struct values v = row_values(p->r, &p->r->lines[i]);

		if (!elide_kind_waits_for_lock(p->r->lines[i].kind))
			continue;
		if (!elide_kind_is_lock(p->r->lines[i].kind))
			v = (struct values){{[PROFILE_DELAY] = v.v[PROFILE_DELAY]}};
		for (int j = 0; j < PROFILE_NR_VALUES; j++)
			rest.v[j] -= v.v[j] < rest.v[j] ? v.v[j] : rest.v[j];
	}
	location = profile_named(p, "(rows left out)");
	profile_sample(p, &location, 1, rest.v, NULL, 0);
}

static int add_samples(struct profile *p, unsigned int view)
{
	const struct report *r = p->r;
	int rc = 0;

	if (view == VIEW_HOLDER)
		rc = add_holders(p);
	else if (view == VIEW_THREAD)
		rc = load_block_rows(r->file, add_thread_row, p);
	else
		for (size_t i = 0; i < r->nr_lines; i++)
			if (view == VIEW_ALL || elide_kind_waits_for_lock(r->lines[i].kind))
				add_waiter(p, &r->lines[i]);
	if (!rc && r->nr_lines < r->nr_all)
		add_rest(p);
	return rc;
}

static int write_profile(const struct report *r, unsigned int view, FILE *out)
{
	static const char *const views[] = {
		[VIEW_WAITER] = "by the call that waited for a lock (view waiter)",
		[VIEW_HOLDER] = "by the call that held the lock meanwhile (view holder)",
		[VIEW_ALL] = "by the call that waited, for locks and other objects (view all)",
		[VIEW_THREAD] = "by the thread that waited, without stacks (view thread)",
	};
	const char *comments[] = {"elide " ELIDE_VERSION, views[view], NULL};
	size_t nr = 2;
	struct profile p;
	char left_out[128];
	int rc = profile_begin(&p, r);

	if (r->nr_lines < r->nr_all) {
		snprintf(left_out, sizeof(left_out), "%zu of %zu rows are summed up in one sample",
			 r->nr_all - r->nr_lines, r->nr_all);
		comments[nr++] = left_out;
		say("%s: see --top", left_out);
	}
	if (!rc)
		rc = add_samples(&p, view);
	if (!rc)
		rc = profile_end(&p, out, comments, nr);
	profile_free(&p);
	return rc;
}

static int rows(struct output *o, const struct report *r)
{
	struct single *s = o->state;
	FILE *out;

	if (!r->cycles) {
		say("%s does not tell how long a cycle is: no times, so no profile", r->file->path);
		return -ENODATA;
	}
	out = single_begin(o, "a profile", "profile of elide report", is_profile);
	if (!out)
		return -EIO;
	s->rc = write_profile(r, o->options->view, out);
	return s->rc;
}

const struct report_output output_pprof = {
	.option = {.name = "pprof", .arg = "FILE",
		   .help = "a profile for pprof: waits, holds, aborts; - for stdout"},
	.second = {.name = "pprof-view", .arg = "VIEW",
		   .help = "view of --pprof: waiter (default), holder, all (also waits for other "
			   "objects than locks), thread",
		   .values = view_words},
	.top = PPROF_TOP,
	.merges = true,
	.by_row_only = true,
	.state_size = sizeof(struct single),
	.argument = single_argument,
	.second_argument = view_argument,
	.rows = rows,
	.end = single_end,
};
