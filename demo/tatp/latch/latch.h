/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch.h - the latches of the storage manager: kinds by role, elided or not.
 *
 * A latch has the kind that latch_setup() chose for its role. Everything that acquires and releases
 * is inlined: the function that acquires a latch is the call site which reports and profiles name.
 * A section between acquire and release may be elided: it makes no system call, waits on no
 * condition, and allocates nothing.
 *
 * Before the first call: latch_option() for each option, then latch_setup().
 */
#ifndef DEMO_TATP_LATCH_H
#define DEMO_TATP_LATCH_H

#include "latch-api.h"
#include "latch-none.h"
#include "latch-occ.h"
#include "latch-pthread.h"
#include "latch-tatas.h"
#include "section.h"

/* How a latch is elided. */
enum latch_means {
	LATCH_MEANS_PLAIN,  /* not by this program */
	LATCH_MEANS_INLINE, /* section.h */
	LATCH_MEANS_API,    /* latch-api.h */
};

/* What is elided. */
enum latch_locks {
	LATCH_LOCKS_PLAIN,    /* nothing */
	LATCH_LOCKS_SELECTED, /* occ, tatas and mcs latches */
	LATCH_LOCKS_ALL,      /* and srw latches */
	LATCH_LOCKS_TREE,     /* as selected; each tree has one latch in place of its pages' */
};

/**
 * struct latch_settings - what the options chose; read-only after latch_setup()
 * @kinds: enum latch_kind, by role
 * @means: after latch_setup() the one that this machine has
 * @fences: a full fence after an acquire and before a release under the latch, as Shore-MT has
 */
struct latch_settings {
	enum latch_kind kinds[NR_LATCH_ROLES];
	enum latch_locks locks;
	enum latch_means means;
	enum latch_stats stats;
	bool fences;
};

extern struct latch_settings latch_settings;

/**
 * struct latch - a latch, on cache lines of its own
 * @kind: enum latch_kind
 * @role: enum latch_role
 * @means: enum latch_means
 * @stats: enum latch_stats
 * @total: holders, with --latch-stats=shared: with elision the line that all of them write
 * @word: of occ, tatas, mcs and srw: 0 in a free latch; bit 0 of occ and srw: a writer
 */
struct latch {
	uint8_t kind;
	uint8_t role;
	uint8_t means;
	uint8_t stats;
	uint32_t total;
	union {
		uint64_t word;
#define LATCH_KIND(id, name, readers, locks, help) struct latch_##id id;
#include "latches.def"
	};
} __cacheline_aligned;

_Static_assert(offsetof(struct latch, srw.queue) < CACHE_LINE, "srw is one line");

/**
 * struct latch_count - what was counted for a role, of all threads
 * @acquisitions: all
 * @contended: those under the latch that waited; pthread's locks do not say so
 * @waited: ticks of the time-stamp counter that these waited
 * @elided: those that were elided
 * @nested: those of @elided that were released inside of another section
 * @attempts: transactions begun, without nested ones, with --means=inline; 0 with other means: the
 *            library counts its own
 * @aborts: by cause, of @attempts
 * @held: of the acquisitions, those whose latch is not released yet; --latch-stats=thread
 */
struct latch_count {
	uint64_t acquisitions;
	uint64_t contended;
	uint64_t waited;
	uint64_t elided;
	uint64_t nested;
	uint64_t attempts;
	uint64_t aborts[NR_LATCH_ABORTS];
	uint64_t held;
};

/**
 * latch_option() - take an option of the command line
 * @name: "latch", "locks", "means", "fences" or "latch-stats"
 * @value: its value
 *
 * Return: NULL, or what is wrong: a format with one %s for the value.
 */
const char *latch_option(const char *name, const char *value);

/** latch_setup() - after the options: find out what elides, and choose the kinds */
void latch_setup(void);

/** latch_says() - in words: how latches are elided, and why they are not */
const char *latch_says(void);

/** latch_init() - initialise a latch; its memory is kept until latch_destroy() */
void latch_init(struct latch *l, enum latch_role role);

/** latch_destroy() - destroy a free latch */
void latch_destroy(struct latch *l);

/** latch_state() - as seen now: 2 * readers + writer. An elided holder cannot be seen. */
uint64_t latch_state(const struct latch *l);

/** latch_held() - true if somebody holds the latch; where no thread runs, for checks */
bool latch_held(const struct latch *l);

/** latch_counts() - the counts of a role; where no thread runs */
struct latch_count latch_counts(enum latch_role role);

/** latch_kind_name(), latch_role_name(), latch_abort_name() - as in the lists */
const char *latch_kind_name(enum latch_kind kind);
const char *latch_role_name(enum latch_role role);
const char *latch_abort_name(enum latch_abort abort);

/* The kinds of a list column, as bits. */
#define LATCH_KINDS_SHARED(id) (1u << LATCH_KIND_##id)
#define LATCH_KINDS_EXCLUSIVE(id) 0u

/** latch_shared() - true if readers share latches of that kind */
static __inline_always bool latch_shared(unsigned int kind)
{
	const unsigned int shared = 0u
#define LATCH_KIND(id, name, readers, locks, help) | LATCH_KINDS_##readers(id)
#include "latches.def"
		;

	return shared >> kind & 1;
}

/* Bits of the word that are 0 in a latch which is free to @mode. */
static __inline_always uint64_t latch_mask(const struct latch *l, enum latch_mode mode)
{
	return mode == LATCH_READ && latch_shared(l->kind) ? LATCH_WRITER : ~0ull;
}

/* A holder has come, or goes: in the section. */
static __inline_always void latch_total(struct latch *l, struct latch_thread *me, int n)
{
	if (l->stats == LATCH_STATS_SHARED)
		__atomic_fetch_add(&l->total, n, __ATOMIC_RELAXED);
	else if (l->stats == LATCH_STATS_THREAD)
		me->total[l->role] += n;
}

static __inline_always void latch_fence(void)
{
	if (unlikely(latch_settings.fences))
		__builtin_ia32_mfence();
}

/* CALL(id) for the latch's kind. */
#define LATCH_KIND_CASE(id, call)                                                                  \
	case LATCH_KIND_##id:                                                                      \
		return call

/* Returns the ticks that the thread waited. */
static __inline_always uint64_t latch_lock(struct latch *l, enum latch_mode mode,
					   struct latch_hold *h)
{
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	LATCH_KIND_CASE(id, latch_##id##_acquire(&l->id, mode, h));
#include "latches.def"
	}
	__builtin_unreachable();
}

static __inline_always bool latch_trylock(struct latch *l, enum latch_mode mode,
					  struct latch_hold *h)
{
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	LATCH_KIND_CASE(id, latch_##id##_try(&l->id, mode, h));
#include "latches.def"
	}
	__builtin_unreachable();
}

static __inline_always void latch_unlock(struct latch *l, struct latch_hold *h)
{
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	LATCH_KIND_CASE(id, latch_##id##_release(&l->id, h));
#include "latches.def"
	}
}

/* The latch is locked: what is counted, and the fence. */
static __inline_always void latch_locked(struct latch *l, struct latch_thread *me, uint64_t waited)
{
	struct latch_tally *tally = &me->tally[l->role];

	latch_fence();
	tally->locked++;
	if (unlikely(waited)) {
		tally->contended++;
		tally->waited += waited;
	}
	latch_total(l, me, 1);
}

/* What is known of the holder before the attempt, so that it is not written in the transaction. */
static __inline_always void latch_prepare(struct latch *l, enum latch_mode mode,
					  struct latch_hold *h)
{
	h->mode = latch_shared(l->kind) ? mode : LATCH_WRITE;
	h->elided = true;
}

/**
 * latch_acquire() - acquire a latch, by elision if the options want that
 * @l: the latch
 * @mode: to read or to write
 * @h: the holder's record, kept where it is until the release: others may wait on its node
 */
static __inline_always void latch_acquire(struct latch *l, enum latch_mode mode,
					  struct latch_hold *h)
{
	struct latch_thread *me = latch_self();

	latch_prepare(l, mode, h);
	if ((l->means == LATCH_MEANS_INLINE &&
	     section_begin(&l->word, latch_mask(l, mode), l->role)) ||
	    (l->means == LATCH_MEANS_API && latch_api_begin(&l->word, latch_mask(l, mode)))) {
		latch_total(l, me, 1);
		return;
	}
	h->elided = false;
	latch_locked(l, me, latch_lock(l, mode, h));
}

/**
 * latch_try() - acquire a latch if it is free
 *
 * Parameters are those of latch_acquire().
 *
 * Return: false: it is held.
 */
static __inline_always bool latch_try(struct latch *l, enum latch_mode mode, struct latch_hold *h)
{
	struct latch_thread *me = latch_self();
	int answer = 0;

	latch_prepare(l, mode, h);
	if (l->means == LATCH_MEANS_INLINE)
		answer = section_try(&l->word, latch_mask(l, mode), l->role);
	else if (l->means == LATCH_MEANS_API)
		answer = latch_api_try(&l->word, latch_mask(l, mode));
	if (answer > 0) {
		latch_total(l, me, 1);
		return true;
	}
	h->elided = false;
	if (answer < 0 || !latch_trylock(l, mode, h))
		return false;
	latch_locked(l, me, 0);
	return true;
}

/** latch_release() - release a latch; @l and @h as given to the acquisition */
static __inline_always void latch_release(struct latch *l, struct latch_hold *h)
{
	struct latch_thread *me = latch_thread;
	unsigned int role = l->role;

	latch_total(l, me, -1);
	if (!h->elided) {
		latch_fence();
		latch_unlock(l, h);
		return;
	}
	if (l->means == LATCH_MEANS_INLINE)
		section_end();
	else
		latch_api_end(&l->word);
	if (unlikely(section_inside()))
		me->nested[role]++;
	else
		me->tally[role].elided++;
}

/* A reader becomes the writer, unless there are other readers. */
static __inline_always bool latch_upgrade_held(struct latch *l, struct latch_hold *h)
{
	if (h->elided)
		return !READ_ONCE(l->word);
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	LATCH_KIND_CASE(id, latch_##id##_upgrade(&l->id, h));
#include "latches.def"
	}
	__builtin_unreachable();
}

/**
 * latch_try_upgrade() - from LATCH_READ to LATCH_WRITE, without a moment in which nobody holds it
 *
 * Return: false: there are other readers, or threads that wait, or the kind cannot do it.
 */
static __inline_always bool latch_try_upgrade(struct latch *l, struct latch_hold *h)
{
	if (h->mode == LATCH_READ && latch_upgrade_held(l, h))
		h->mode = LATCH_WRITE;
	return h->mode == LATCH_WRITE;
}

static __inline_always bool latch_downgrade_held(struct latch *l, struct latch_hold *h)
{
	if (h->elided)
		return latch_shared(l->kind);
	switch (l->kind) {
#define LATCH_KIND(id, name, readers, locks, help)                                                 \
	LATCH_KIND_CASE(id, latch_##id##_downgrade(&l->id, h));
#include "latches.def"
	}
	__builtin_unreachable();
}

/**
 * latch_downgrade() - from LATCH_WRITE to LATCH_READ, without a moment in which nobody holds it
 *
 * Where the kind cannot do it, or knows no readers, the holder stays a writer.
 */
static __inline_always void latch_downgrade(struct latch *l, struct latch_hold *h)
{
	if (h->mode == LATCH_WRITE && latch_downgrade_held(l, h))
		h->mode = LATCH_READ;
}

#undef LATCH_KIND_CASE

#endif
