// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latch.c - options, set-up and counts of the latches; what the wrapper of section.h does after an
 * abort.
 */
#include "latch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
#define LATCH_KIND(id, name, readers, locks, help) name,
#include "latches.def"
};

static const char *const role_names[] = {
#define LATCH_ROLE(id, name, kind, help) name,
#include "roles.def"
};

/* By kind: the first choice of --locks that elides it. */
#define LATCH_LOCKS_NEVER ~0u
static const unsigned int elided_from[] = {
#define LATCH_KIND(id, name, readers, locks, help) LATCH_LOCKS_##locks,
#include "latches.def"
};

struct latch_settings latch_settings = {
	.kinds = {
#define LATCH_ROLE(id, name, kind, help) LATCH_KIND_##kind,
#include "roles.def"
	},
	.means = LATCH_MEANS_INLINE,
	.stats = LATCH_STATS_SHARED,
};

unsigned int section_attempts = 2;

__thread struct latch_thread *latch_thread;

/* The counters of all threads. */
static struct latch_thread *threads;

/* By role: --latch chose the kind. */
static bool chosen[NR_LATCH_ROLES];

static char says[160] = "plain: nothing was set up";

const char *latch_kind_name(enum latch_kind kind)
{
	return kind_names[kind];
}

const char *latch_role_name(enum latch_role role)
{
	return role_names[role];
}

const char *latch_abort_name(enum latch_abort abort)
{
	static const char *const names[] = {
#define LATCH_ABORT_NAME(id, help) #id,
		LATCH_ABORTS(LATCH_ABORT_NAME)
#undef LATCH_ABORT_NAME
	};

	return names[abort];
}

const char *latch_says(void)
{
	return says;
}

/* The number of @name, of @length bytes, in @names; @nr if it is not there. */
static unsigned int find(const char *const *names, unsigned int nr, const char *name, size_t length)
{
	unsigned int i = 0;

	while (i < nr && (strlen(names[i]) != length || memcmp(names[i], name, length)))
		i++;
	return i;
}

/* "--latch=%s: there is no such WHAT; there are A, B and so on". */
static const char *no_such(const char *what, const char *const *names, unsigned int nr)
{
	static char why[320];
	int at = snprintf(why, sizeof(why), "--latch=%%s: there is no such %s; there are", what);

	for (unsigned int i = 0; i < nr && (size_t)at < sizeof(why); i++)
		at += snprintf(why + at, sizeof(why) - at, "%s %s", i ? "," : "", names[i]);
	return why;
}

static const char *option_latch(const char *value)
{
	const char *equals = strchr(value, '=');
	unsigned int role, kind;

	if (!equals)
		return "--latch=%s: not ROLE=KIND";
	role = find(role_names, NR_LATCH_ROLES, value, equals - value);
	if (role == NR_LATCH_ROLES)
		return no_such("role", role_names, NR_LATCH_ROLES);
	kind = find(kind_names, NR_LATCH_KINDS, equals + 1, strlen(equals + 1));
	if (kind == NR_LATCH_KINDS)
		return no_such("kind of latch", kind_names, NR_LATCH_KINDS);
	latch_settings.kinds[role] = kind;
	chosen[role] = true;
	return NULL;
}

/* The number of @value among @names, which end with NULL; -1 if it is not there. */
static int choice(const char *const *names, const char *value)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], value))
			return i;
	return -1;
}

const char *latch_option(const char *name, const char *value)
{
	static const char *const locks[] = {"plain", "selected", "all", "tree", NULL};
	static const char *const means[] = {"inline", "api", NULL};
	static const char *const fences[] = {"none", "full", NULL};
	static const char *const stats[] = {"shared", "thread", NULL};
	int i;

	if (!strcmp(name, "latch"))
		return option_latch(value);
	if (!strcmp(name, "locks")) {
		i = choice(locks, value);
		if (i < 0)
			return "--locks=%s: not plain, selected, all or tree";
		latch_settings.locks = i;
	} else if (!strcmp(name, "means")) {
		i = choice(means, value);
		if (i < 0)
			return "--means=%s: not inline or api";
		latch_settings.means = LATCH_MEANS_INLINE + i;
	} else if (!strcmp(name, "fences")) {
		i = choice(fences, value);
		if (i < 0)
			return "--fences=%s: not full or none";
		latch_settings.fences = i;
	} else if (!strcmp(name, "latch-stats")) {
		i = choice(stats, value);
		if (i < 0)
			return "--latch-stats=%s: not shared or thread";
		latch_settings.stats = i;
	} else {
		return "%s: this option is none of the latches'";
	}
	return NULL;
}

/*
 * Without RTM, or without a library, latches are plain. The trial does not decide: where all
 * transactions abort, as on a simulated machine with --abort-rate=100, the wrapper must work.
 */
static enum latch_means usable(enum latch_means wanted)
{
	const char *why = "";
	unsigned int nr;

	if (latch_settings.locks == LATCH_LOCKS_PLAIN) {
		snprintf(says, sizeof(says), "plain");
		return LATCH_MEANS_PLAIN;
	}
	if (wanted == LATCH_MEANS_INLINE && !section_usable()) {
		snprintf(says, sizeof(says), "plain: CPUID shows no RTM that may commit");
		return LATCH_MEANS_PLAIN;
	}
	if (wanted == LATCH_MEANS_INLINE) {
		nr = section_trial();
		snprintf(says, sizeof(says), "inline: %u of %u trial transactions committed", nr,
			 SECTION_TRIALS);
		return wanted;
	}
	if (!latch_api_usable()) {
		snprintf(says, sizeof(says), "plain: no library with elide.h is preloaded");
		return LATCH_MEANS_PLAIN;
	}
	nr = latch_api_status(&why);
	snprintf(says, sizeof(says), "api: %s: %s", nr ? "elided" : "counted, not elided", why);
	return wanted;
}

void latch_setup(void)
{
	latch_settings.means = usable(latch_settings.means);
	if (latch_settings.locks == LATCH_LOCKS_TREE && !chosen[LATCH_ROLE_tree])
		latch_settings.kinds[LATCH_ROLE_tree] = LATCH_KIND_mcs;
}

/* The one latch of a tree is elided with what is selected. */
static bool elides(enum latch_kind kind)
{
	enum latch_locks locks = latch_settings.locks;

	if (locks == LATCH_LOCKS_TREE)
		locks = LATCH_LOCKS_SELECTED;
	return locks >= elided_from[kind];
}

static __inline_always void init(struct latch *l)
{
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	case LATCH_KIND_##id:                                                                      \
		latch_##id##_init(&l->id);                                                         \
		break;
#include "latches.def"
	}
	if (l->means == LATCH_MEANS_API)
		latch_api_init(&l->word);
	/* Keeps the call from becoming a jump, whose site would be that of the caller. */
	__asm__ volatile("" : : : "memory");
}

/*
 * The function that initialises a lock names its class in reports, for pthread's locks and for
 * those of elide.h: one for each role.
 */
#define LATCH_ROLE(id, name, kind, help)                                                           \
	static __attribute__((noinline)) void id##_latches(struct latch *l)                        \
	{                                                                                          \
		init(l);                                                                           \
	}
#include "roles.def"

void latch_init(struct latch *l, enum latch_role role)
{
	static void (*const inits[])(struct latch *l) = {
#define LATCH_ROLE(id, name, kind, help) id##_latches,
#include "roles.def"
	};
	enum latch_kind kind = latch_settings.kinds[role];

	memset(l, 0, sizeof(*l));
	l->kind = kind;
	l->role = role;
	l->means = elides(kind) ? latch_settings.means : LATCH_MEANS_PLAIN;
	l->stats = kind == LATCH_KIND_srw ? latch_settings.stats : LATCH_STATS_NONE;
	inits[role](l);
}

void latch_destroy(struct latch *l)
{
	if (l->means == LATCH_MEANS_API)
		latch_api_forget(&l->word);
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	case LATCH_KIND_##id:                                                                      \
		latch_##id##_destroy(&l->id);                                                      \
		break;
#include "latches.def"
	}
}

uint64_t latch_state(const struct latch *l)
{
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	case LATCH_KIND_##id:                                                                      \
		return latch_##id##_state(&l->id);
#include "latches.def"
	}
	return 0;
}

bool latch_held(const struct latch *l)
{
	return latch_state(l) || READ_ONCE(l->total) ||
	       (l->kind == LATCH_KIND_srw && latch_mcs_state(&l->srw.queue));
}

struct latch_thread *latch_thread_start(void)
{
	struct latch_thread *me = aligned_alloc(CACHE_LINE, sizeof(*me));

	if (!me) {
		fprintf(stderr, "tatp_bench: no memory for the counters of a thread\n");
		exit(1);
	}
	memset(me, 0, sizeof(*me));
	me->next = READ_ONCE(threads);
	/* Release: pairs with the acquire in latch_counts(). */
	while (!__atomic_compare_exchange_n(&threads, &me->next, me, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	rng_seed(&me->rng, 0, (uintptr_t)me);
	latch_thread = me;
	return me;
}

struct latch_count latch_counts(enum latch_role role)
{
	struct latch_count sum = {0};

	for (const struct latch_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t;
	     t = t->next) {
		const struct latch_tally *tally = &t->tally[role];

		sum.elided += tally->elided + t->nested[role];
		sum.nested += t->nested[role];
		sum.acquisitions += tally->locked;
		sum.contended += tally->contended;
		sum.waited += tally->waited;
		sum.held += t->total[role];
		for (unsigned int i = 0; i < NR_LATCH_ABORTS; i++) {
			sum.aborts[i] += tally->aborts[i];
			sum.attempts += tally->aborts[i];
		}
	}
	sum.acquisitions += sum.elided;
	if (latch_settings.means == LATCH_MEANS_INLINE)
		sum.attempts += sum.elided - sum.nested;
	return sum;
}

void section_count(unsigned int status, unsigned int role)
{
	enum latch_abort cause = LATCH_ABORT_other;

	if (status & RTM_EXPLICIT)
		cause = LATCH_ABORT_busy;
	else if (status & RTM_CONFLICT)
		cause = LATCH_ABORT_conflict;
	else if (status & RTM_CAPACITY)
		cause = LATCH_ABORT_capacity;
	latch_thread->tally[role].aborts[cause]++;
}

bool section_aborted(unsigned int status, const uint64_t *word, uint64_t mask, unsigned int role)
{
	unsigned int n = 0;

	section_count(status, role);
	if ((status & RTM_EXPLICIT) && RTM_CODE(status) == RTM_HELD) {
		while (READ_ONCE(*word) & mask)
			latch_pause(&n);
	} else if (status & RTM_CONFLICT) {
		for (n = rng_below(&latch_thread->rng, 10); n; n--)
			__builtin_ia32_pause();
	} else if (status & RTM_RETRY) {
		__builtin_ia32_pause();
	} else {
		return false;
	}
	return true;
}
