/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * word.c - see word.h.
 *
 * Must never sleep or wake itself: the real functions do.
 */
#include "../inside.h"
#include "../lifetime.h"
#include "../wait.h"
#include "word.h"

#define KIND WORD_KIND

static const struct elide_rule word_rule = WORD_IS_FREE;

static const struct elide_rule *rule(const struct word_lock *l)
{
	return word_is(l) ? &word_rule : NULL;
}

static bool looks_free(const void *m, enum elide_kind kind)
{
	(void)kind;
	return !READ_ONCE(*(const uint32_t *)m);
}

/* Lock it if it looks free: a bare try would take the cache line from the holder. */
static bool take_free(void *m, uint32_t unused)
{
	(void)unused;
	return looks_free(m, KIND) && word_takes(m);
}

/* Lock a free lock, the real way if its word is not known. */
static bool take(const struct word_lock *l, void *m)
{
	return word_is(l) ? take_free(m, 0) : (*l->trylock)(m) != 0;
}

static void wait_for(const struct word_lock *l, struct elide_thread *t, struct elide_row *row, void *m)
{
	struct crowd *crowd = NULL;
	struct wait w;

	wait_begin(&w, true, t, row, m, 0);
	wait_locked(t, row, m);
	if (word_is(l))
		crowd = wait_in_crowd(&w, row, m, KIND, looks_free, -1, NULL);
	if (!word_is(l) || !wait_awake(&w, row, crowd, take_free, m, 0)) {
		(*l->lock)(m);
		w.end = cycles_now();
	}
	crowd_leave(crowd);
	wait_end(row, &w, m, true);
}

/* The lock is held. */
void word_lock_waiting(const struct word_lock *l, struct elide_thread *t, struct elide_row *row, void *m,
		       enum elide_outcome outcome)
{
	struct count count = count_begin(row, outcome);

	wait_for(l, t, row, m);
	count_end(count, t, row, m, true);
}

/* Lock, not by elision, and count the acquisition as @outcome says. */
static void lock_unelided(const struct word_lock *l, struct elide_thread *t, struct elide_row *row, void *m,
			  enum elide_outcome outcome)
{
	struct count count = count_begin(row, outcome);

	if (unlikely(!take(l, m)))
		wait_for(l, t, row, m);
	count_end(count, t, row, m, true);
}

/* Are calls of this type, which acquire, passed on? */
static bool acquires_aside(const struct word_lock *l)
{
	return !elide_process.running || elide_passes() || adapter_how(l->type) == ADAPTER_ASIDE;
}

/* In an elided section. */
static void lock_inside(const struct word_lock *l, struct elide_thread *t, struct elide_call *call, void *m,
			const void *site)
{
	if (elide_find_held(t, m))
		rtm_abort(ELIDE_CODE_relock);
	if (word_is(l) &&
	    elide_acquire(t, call, m, &word_rule, site, KIND, &elide_until_locked) == ELIDE_ELIDED)
		return;
	(*l->lock)(m);
	counted_inside(t, call, m, site, KIND, true, 0);
}

void word_lock_any(const struct word_lock *l, void *m, const void *site)
{
	struct elide_call *call;
	enum elide_outcome outcome;
	struct elide_row *row;

	if (unlikely(acquires_aside(l))) {
		(*l->lock)(m);
		return;
	}
	call = elide_call_find(elide_self, m, site, KIND);
	if (unlikely(elide_inside(elide_self)))
		return lock_inside(l, elide_self, call, m, site);
	outcome = elide_try(call, m, rule(l), site, KIND, &elide_until_locked, &row);
	if (outcome == ELIDE_ELIDED)
		return;
	if (outcome == ELIDE_NOTHING_DONE)
		(*l->lock)(m);
	else
		lock_unelided(l, elide_self, row, m, outcome);
}

void word_lock_unknown(const struct word_lock *l, void *m, const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = {0};

	if (word_is(l))
		q = elide_fast_look(t, m, site, KIND);
	if (likely(q.known))
		word_lock_known(l, t, q, m, site);
	else
		word_lock_any(l, m, site);
}

/* In a section. Not inlined: so the wrappers need not save registers. */
void word_lock_nested(const struct word_lock *l, void *m, const void *site)
{
	if (!word_is(l) ||
	    !elide_fast_nested(elide_self_fast, m, (struct elide_rule)WORD_IS_FREE, site, KIND))
		word_lock_any(l, m, site);
}

/* The first attempt has aborted. */
void word_lock_retry(const struct word_lock *l, struct elide_call *call, void *m, unsigned int status)
{
	struct elide_thread *t = elide_self_fast;

	if (elide_acquire_retry(t, call, m, &word_rule, &elide_until_locked, status) != ELIDE_ELIDED)
		lock_unelided(l, t, elide_call_row(call), m, ELIDE_FELL_BACK);
}

/* A trylock in an elided section. */
static int trylock_inside(const struct word_lock *l, struct elide_thread *t, struct elide_call *call, void *m,
			  const void *site)
{
	if (elide_find_held(t, m))
		return 0;
	if (word_is(l) && looks_free(m, KIND) &&
	    elide_acquire(t, call, m, &word_rule, site, KIND, &elide_until_now) == ELIDE_ELIDED)
		return 1;
	return !counted_inside(t, call, m, site, KIND, false, (*l->trylock)(m) ? 0 : EBUSY);
}

int word_trylock_any(const struct word_lock *l, void *m, const void *site)
{
	struct elide_call *call;
	enum elide_outcome outcome;
	struct elide_row *row;
	int taken;

	if (unlikely(acquires_aside(l)))
		return (*l->trylock)(m);
	call = elide_call_find(elide_self, m, site, KIND);
	if (unlikely(elide_inside(elide_self)))
		return trylock_inside(l, elide_self, call, m, site);
	if (elide_may_fail(call) && word_is(l) && !looks_free(m, KIND))
		return count_failed(elide_call_row(call), 0);
	outcome = elide_try(call, m, rule(l), site, KIND, &elide_until_now, &row);
	if (outcome == ELIDE_ELIDED)
		return 1;
	taken = (*l->trylock)(m);
	if (outcome == ELIDE_NOTHING_DONE)
		return taken;
	if (!taken)
		return count_failed_try(call, row, 0);
	count_locked(elide_self, row, m, outcome, false);
	return taken;
}

/* A trylock whose first attempt has aborted. */
int word_trylock_retry(struct elide_call *call, void *m, unsigned int status)
{
	struct elide_thread *t = elide_self_fast;

	if (elide_acquire_retry(t, call, m, &word_rule, &elide_until_now, status) == ELIDE_ELIDED)
		return 1;
	if (!take_free(m, 0)) {
		elide_not_acquired(call);
		return count_failed(elide_call_row(call), 0);
	}
	count_locked(t, elide_call_row(call), m, ELIDE_FELL_BACK, false);
	return 1;
}

/* Another thread waits for the lock, or it is free. */
void word_unlock_waking(const struct word_lock *l, void *m, const void *site)
{
	struct elide_thread *t = elide_self;

	if (looks_free(m, KIND) && elide_may_judge())
		misuse(ELIDE_MISUSE_UNLOCK_FREE, KIND, site, m);
	elide_waker_note(m, t ? t->tid : 0, false, 0);
	(*l->unlock)(m);
	elide_evidence_blocked(t, m, KIND, site);
}

static void release(const struct word_lock *l, void *m, const void *site)
{
	if (!word_is(l))
		(*l->unlock)(m);
	else if (!word_releases(m))
		word_unlock_waking(l, m, site);
}

/* In an elided section, of a lock that is not elided. */
static void unlock_inside(const struct word_lock *l, struct elide_thread *t, void *m, const void *site)
{
	if (!elide_locked_inside(t, m))
		rtm_abort(ELIDE_CODE_unelidable);
	elide_defer(t, NULL, m, site, KIND, ELIDE_DEFER_RELEASED);
	(*l->unlock)(m);
}

void word_unlock_any(const struct word_lock *l, void *m, const void *site)
{
	struct elide_thread *t = elide_self;
	unsigned long long end;

	if (unlikely(!t || !elide_process.running || elide_is_refused() ||
		     adapter_how(l->type) == ADAPTER_ASIDE)) {
		(*l->unlock)(m);
		return;
	}
	if (elide_inside(t)) {
		if (!elide_release(t, m))
			unlock_inside(l, t, m, site);
		return;
	}
	end = word_release_begin(t, m);
	release(l, m, site);
	elide_release_count(t, m, end);
}

/* Are initialisation and end of a lock passed on? */
static bool life_aside(enum adapter_type type)
{
	return !elide_process.running || adapter_how(type) == ADAPTER_ASIDE;
}

void word_init(enum adapter_type type, const void *m, const void *site, const void *stack)
{
	if (!life_aside(type))
		wrap_init_from(m, KIND, site, stack, false);
}

void word_destroy_begin(enum adapter_type type, const void *m)
{
	if (!life_aside(type))
		wrap_destroy_begin(m);
}

void word_destroy_end(enum adapter_type type, const void *m)
{
	if (!life_aside(type))
		wrap_destroy_end(m, KIND);
}
