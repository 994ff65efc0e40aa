// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * answer.c - see answer.h.
 *
 * A finding is a class of locks: all calls that wait for them. One of condition variables, semaphores or
 * barriers is a finding if it is known what the threads wait for, and that takes the time. A pool that waits
 * for work is none.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "../attribute.h"
#include "../blocker.h"
#include "../callers.h"
#include "answer.h"

/* Per cent of the time of all threads: less is no finding. */
#define LEAST_PERCENT 1
/* Part of its time: a group that runs, or waits, for more of it is what others wait for. */
#define MOST 0.5
/* Nanoseconds: it is worth making a section of this length shorter. To sleep and be woken takes as long. */
#define LONG_HOLD_NS 10000
/* Part of the run for which threads have waited that wait at its end: they hang. */
#define HUNG 0.25
/* Writers starve if their mean wait is at least 10 times the mean hold time of the readers. */
#define STARVING 10
/* Part of its time for which a group that takes turns waits for the other one, at least. */
#define TURNS 0.1
/* Per cent of the time of all threads that they were ready without a processor: it is a finding. */
#define CROWDED 10
/* Part of the hold times in which the holder was not on a processor: then it sleeps. */
#define ASLEEP 0.3

/* A class, and the waits of its rows. */
struct candidate {
	uint32_t class_index;
	bool is_lock;
	uint32_t longest; /* the sum with the most time waited */
	uint64_t wait;
	uint64_t relocked; /* of these, after condition variables */
	uint64_t writing;  /* of these, of writers */
};

static const struct {
	const char *id;
	const char *text;
} texts[] = {
#define ELIDE_ANSWER(id, when, text) {#id, text},
#include "answer.def"
#undef ELIDE_ANSWER
};

const char *answer_id(enum answer_advice advice)
{
	return texts[advice].id;
}

const char *answer_text(enum answer_advice advice)
{
	return texts[advice].text;
}

static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return (a->wait < b->wait) - (a->wait > b->wait);
}

/*
 * All classes at which threads waited, the longest first; @nr of them. Return: to be freed; NULL without
 * memory.
 */
static struct candidate *candidates(const struct report *r, size_t *nr)
{
	size_t nr_classes = r->file->nr_classes;
	struct candidate *all = calloc(nr_classes + 1, sizeof(*all));

	*nr = 0;
	for (uint32_t i = 0; all && i < r->sums->nr; i++) {
		const struct sum *s = &r->sums->sum[i];
		struct candidate *c;

		if (s->class_index >= nr_classes || !s->wait_total)
			continue;
		c = &all[s->class_index];
		if (!c->wait || s->wait_total > r->sums->sum[c->longest].wait_total) {
			c->longest = i;
			c->is_lock = elide_kind_waits_for_lock(s->kind);
		}
		c->class_index = s->class_index;
		c->wait += s->wait_total;
		c->relocked += s->kind == ELIDE_KIND_REACQUIRE ? s->wait_total : 0;
		c->writing += s->kind == ELIDE_KIND_RWLOCK_WRITE ? s->wait_total : 0;
	}
	for (size_t i = 0; all && i < nr_classes; i++)
		if (all[i].wait)
			all[(*nr)++] = all[i];
	if (*nr)
		qsort(all, *nr, sizeof(*all), compare_candidates);
	return all;
}

/* The longest edge of the row that waited longest. */
static const struct group_edge *edge_of(const struct groups *g, uint32_t sum)
{
	const struct group_edge *longest = NULL;

	for (size_t i = 0; i < g->nr_edges; i++)
		if (g->edge[i].sum == sum && (!longest || g->edge[i].ns > longest->ns))
			longest = &g->edge[i];
	return longest;
}

/*
 * The part of the hold times in which the holder was not on a processor, at least: for one lock, whose
 * holders are threads of a group, it is what their processor time, and their waiting for a processor, cannot
 * account for.
 */
static double off_processor(const struct report *r, const struct candidate *c, const struct group *holders)
{
	const struct elide_class *class = &r->file->classes[c->class_index];
	const struct class_use *use = &r->uses[c->class_index];
	double held = report_ns(r, use->held);

	if (class->nr_locks != 1 || (class->kind != ELIDE_KIND_MUTEX && class->kind != ELIDE_KIND_LIBRARY) ||
	    !holders || !holders->known || held <= 0)
		return 0;
	return fmax(0, 1 - (holders->ran + holders->late) / held);
}

/* Threads that wait there when the file's time ends, and for how long they have. */
static unsigned int still_waiting(const struct report *r, uint32_t class_index, double *ns)
{
	unsigned int nr = 0;

	*ns = 0;
	for (size_t i = 0; i < r->file->nr_waiting; i++) {
		const struct elide_thread_record *t = &r->file->threads[r->file->waiting[i]];
		uint64_t end = r->file->header.end_cycles;

		if (t->waits_class != class_index)
			continue;
		nr++;
		*ns += end > t->waits_since ? report_ns(r, (double)(end - t->waits_since)) : 0;
	}
	return nr;
}

/* Readers hold the lock one after another without a gap, and writers wait for many times as long. */
static bool writers_starve(const struct report *r, const struct candidate *c, const struct answer *a)
{
	double reading = 0, acquired = 0;

	if (a->line.kind != ELIDE_KIND_RWLOCK_WRITE || 2 * c->writing < c->wait)
		return false;
	for (size_t i = 0; i < r->sums->nr; i++) {
		const struct sum *s = &r->sums->sum[i];

		if (s->class_index != c->class_index || s->kind != ELIDE_KIND_RWLOCK_READ)
			continue;
		reading += s->held;
		acquired += (double)(s->not_attempted + s->fallback);
	}
	return acquired > 0 && reading > MOST * (double)r->cycles && a->line.sum.wait.count &&
	       (double)a->line.sum.wait.total / (double)a->line.sum.wait.count > STARVING * reading / acquired;
}

static enum answer_advice advise_lock(const struct report *r, const struct candidate *c, const struct answer *a)
{
	double open_ns;

	/* Most of the waiting has not ended, and has lasted for much of the run. */
	if (still_waiting(r, c->class_index, &open_ns) && open_ns > MOST * a->ns &&
	    open_ns > HUNG * (double)a->open * (double)r->ns)
		return ANSWER_never_released;
	if (writers_starve(r, c, a))
		return ANSWER_prefer_writers;
	if (2 * c->relocked > c->wait)
		return ANSWER_wake_fewer;
	if (a->off >= ASLEEP)
		return ANSWER_asleep;
	return a->hold_ns >= LONG_HOLD_NS ? ANSWER_long_hold : ANSWER_divide;
}

/* The finding, from 1, of a lock for which a group waits for more than half of its time; 0: there is none. */
static size_t cause_in(const struct report *r, const struct answers *a, const struct group *g)
{
	const struct group_edge *e = g->edge == GROUP_NONE ? NULL : &a->groups.edge[g->edge];

	if (!e || e->sum == GROUP_NONE || (g->known && e->ns < MOST * g->lived / 2))
		return 0;
	for (size_t i = 0; i < a->nr; i++)
		if (a->all[i].line.sum.class_index == r->sums->sum[e->sum].class_index)
			return i + 1;
	return 0;
}

/* Is the other direction of the turns a finding already? Its number, from 1; 0: no. */
static size_t same_turns(const struct answers *all, const struct answer *a)
{
	for (size_t i = 0; i < all->nr; i++) {
		const struct answer *other = &all->all[i];

		if (other->advice == ANSWER_turns && ((other->from == a->from && other->to == a->to) ||
						      (other->from == a->to && other->to == a->from)))
			return i + 1;
	}
	return 0;
}

/*
 * Do threads of one group, or of two, wait for each other in turn? Then, unlike in an idle pool, one of them
 * runs for most of the time.
 */
static bool takes_turns(const struct report *r, const struct groups *g, const struct answer *a)
{
	const struct group_edge *back = a->to->edge == GROUP_NONE ? NULL : &g->edge[a->to->edge];
	double ran = a->from->ran + a->from->late + (a->to == a->from ? 0 : a->to->ran + a->to->late);

	/* In a larger group most may be idle. */
	if (a->to == a->from && a->to->nr != 2)
		return false;
	return a->from->known && a->to->known && back && back->sum != GROUP_NONE && ran > MOST * (double)r->ns &&
	       back->to == (uint32_t)(a->from - g->group) && back->ns > TURNS * a->to->lived;
}

/* Threads wait for a processor. */
static void add_crowded(const struct report *r, struct answers *a)
{
	struct answer *to = &a->all[a->nr];

	if (!a->time.known || thread_time_percent(&a->time, a->time.late) < CROWDED)
		return;
	*to = (struct answer){.ns = a->time.late, .advice = ANSWER_processors};
	to->percent = thread_time_percent(&a->time, to->ns);
	to->threads = r->ns ? to->ns / (double)r->ns : 0;
	a->nr++;
}

/* Is it a call by which Java's monitors, locks and park() wait? */
static bool in_java(const struct line *l)
{
	static const char *const calls[] = {"Parker::park", "PlatformEvent::park", "ObjectMonitor::"};
	const char *symbol = l->site_place.symbol, *object = l->site_place.object;

	if (!symbol || !object || unseen_of_library(base_name(object)) != UNSEEN_BIT(java))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (strstr(symbol, calls[i]))
			return true;
	return false;
}

/*
 * What to do about waits that are not for locks. Return: false if they are no finding: threads wait for work,
 * or for it is not known what.
 */
static bool advise_wait(const struct report *r, const struct answers *all, struct answer *a)
{
	if (a->line.kind == ELIDE_KIND_BARRIER) {
		a->advice = ANSWER_arrivals;
		return true;
	}
	/* Threads of one group that wait for each other, as for a unit of a resource; Java's park one by one. */
	if (a->to == a->from && in_java(&a->line) && a->to && a->to->nr > 1) {
		a->advice = ANSWER_java;
		return true;
	}
	if ((a->line.verdict == VERDICT_BOTTLENECK || a->line.verdict == VERDICT_CONTENDED) && a->to == a->from) {
		a->advice = ANSWER_units;
		return true;
	}
	if (!a->to || !a->from)
		return false;
	a->cause = cause_in(r, all, a->to);
	if (!a->cause)
		a->cause = same_turns(all, a);
	if (a->cause) {
		a->advice = ANSWER_consequence;
		return true;
	}
	if (takes_turns(r, &all->groups, a)) {
		a->advice = ANSWER_turns;
		return true;
	}
	a->advice = ANSWER_supply;
	/* They are ready to run more often than they run: a processor is what is missing. */
	if (all->nr && all->all[0].advice == ANSWER_processors && a->to->known && a->to->late > a->to->ran) {
		a->cause = 1;
		a->advice = ANSWER_consequence;
	}
	return a->to != a->from && a->to->known && a->to->ran + a->to->late > MOST * a->to->lived;
}

static int describe(const struct report *r, struct answers *all, const struct candidate *c, struct answer *a)
{
	const struct group_edge *edge = edge_of(&all->groups, c->longest);
	double open_ns;
	uint64_t hold;
	int rc;

	*a = (struct answer){.ns = report_ns(r, (double)c->wait)};
	sum_line(r, &r->sums->sum[c->longest], &a->line);
	rc = line_name(r, &a->line);
	if (rc)
		return rc;
	callers_name(r, &a->line);
	a->percent = thread_time_percent(&all->time, a->ns);
	a->threads = r->ns ? a->ns / (double)r->ns : 0;
	a->open = still_waiting(r, c->class_index, &open_ns);
	a->share = a->line.blocker ? a->line.blocked : 0;
	hold = a->line.blocker ? blocker_hold(r, &a->line) : 0;
	a->hold_ns = report_ns(r, (double)hold);
	if (edge) {
		a->from = &all->groups.group[edge->from];
		a->to = edge->to == GROUP_NONE ? NULL : &all->groups.group[edge->to];
	}
	if (!c->is_lock)
		return 0;
	a->off = off_processor(r, c, a->to);
	a->advice = advise_lock(r, c, a);
	return 0;
}

/*
 * Is it at least LEAST_PERCENT of the time of all threads, or of as many threads as the file has for the run?
 */
static bool is_enough(const struct report *r, const struct thread_time *t, double ns)
{
	double all = t->known ? t->total : (double)r->ns * fmax(r->file->header.nr_threads, 1);

	return ns > 0 && 100 * ns >= LEAST_PERCENT * all;
}

/* The longest first; a consequence follows what it is one of. */
static void sort_answers(struct answers *a)
{
	struct answer sorted[ANSWERS_MAX + 1];
	size_t nr = 0, number[ANSWERS_MAX + 1] = {0};

	for (size_t taken = 0; taken < a->nr; taken++) {
		size_t first = a->nr;

		for (size_t i = 0; i < a->nr; i++) {
			const struct answer *one = &a->all[i];

			if (number[i] || (one->cause && !number[one->cause - 1]))
				continue;
			if (first == a->nr || one->ns > a->all[first].ns)
				first = i;
		}
		sorted[nr] = a->all[first];
		number[first] = ++nr;
	}
	for (size_t i = 0; i < nr; i++)
		if (sorted[i].cause)
			sorted[i].cause = number[sorted[i].cause - 1];
	for (; nr > ANSWERS_MAX; nr--)
		line_free_names(&sorted[nr - 1].line);
	memcpy(a->all, sorted, nr * sizeof(*sorted));
	a->nr = nr;
}

int answers_find(const struct report *r, struct answers *a)
{
	struct candidate *all;
	size_t nr;
	int rc;

	memset(a, 0, sizeof(*a));
	thread_time(r, &a->time);
	rc = groups_build(r, &a->groups);
	all = rc ? NULL : candidates(r, &nr);
	if (!all)
		return -ENOMEM;
	add_crowded(r, a);
	/* Locks first: other waits may be their consequences. */
	for (int locks = 1; !rc && locks >= 0; locks--) {
		for (size_t i = 0; !rc && i < nr && a->nr <= ANSWERS_MAX; i++) {
			struct answer *to = &a->all[a->nr];

			if (all[i].is_lock != locks || !is_enough(r, &a->time, report_ns(r, (double)all[i].wait)))
				continue;
			rc = describe(r, a, &all[i], to);
			if (!rc && (locks || advise_wait(r, a, to)))
				a->nr++;
			else
				line_free_names(&to->line);
		}
	}
	free(all);
	if (rc) {
		answers_free(a);
		return rc;
	}
	sort_answers(a);
	return 0;
}

void answers_free(struct answers *a)
{
	for (size_t i = 0; i < a->nr; i++)
		line_free_names(&a->all[i].line);
	groups_free(&a->groups);
	memset(a, 0, sizeof(*a));
}
