/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glib.c - GLib's GMutex, and its waits for a GCond.
 *
 * A GMutex is a word: 0: free, 1: held, 2: held, and a thread may sleep. GLib's recursive mutexes and
 * reader-writer locks are pthread's. GLib calls its own functions directly. So a lock that it takes for itself
 * is not seen, nor that a wait for a GCond releases and locks the mutex: the wrappers of these waits know that.
 */
#include "check/order.h"
#include "word.h"

static const struct word_lock gmutex = {
	.type = ADAPTER_gmutex,
	.lock = &adapter_real.g_mutex_lock,
	.trylock = &adapter_real.g_mutex_trylock,
	.unlock = &adapter_real.g_mutex_unlock,
};

WRAPPER void g_mutex_lock(void *m);
WRAPPER int g_mutex_trylock(void *m);
WRAPPER void g_mutex_unlock(void *m);
WRAPPER void g_mutex_init(void *m);
WRAPPER void g_mutex_clear(void *m);
WRAPPER void g_cond_wait(void *c, void *m);
WRAPPER int g_cond_wait_until(void *c, void *m, int64_t until);
WRAPPER int g_cond_timed_wait(void *c, void *m, void *until);

enum adapter_how adapter_check_gmutex(const struct adapter_real *real)
{
	struct word_probe p = {0};
	bool good;

	real->g_mutex_init(&p);
	good = word_probe_has(&p, 0);
	real->g_mutex_lock(&p);
	good = good && word_probe_has(&p, 1);
	good = good && !real->g_mutex_trylock(&p) && word_probe_has(&p, 1);
	real->g_mutex_unlock(&p);
	good = good && word_probe_has(&p, 0) && real->g_mutex_trylock(&p) == 1 && word_probe_has(&p, 1);
	if (!good)
		return ADAPTER_ASIDE;
	real->g_mutex_unlock(&p);
	/* A mutex that was locked here is released there. */
	p.words[0] = 1;
	good = word_probe_has(&p, 1) && !real->g_mutex_trylock(&p);
	real->g_mutex_unlock(&p);
	good = good && word_probe_has(&p, 0);
	real->g_mutex_clear(&p);
	return good && word_probe_has(&p, 0) ? ADAPTER_WORD : ADAPTER_ASIDE;
}

WRAPPER void g_mutex_lock(void *m)
{
	word_lock(&gmutex, m, CALL_SITE());
}

WRAPPER int g_mutex_trylock(void *m)
{
	return word_trylock(&gmutex, m, CALL_SITE());
}

WRAPPER void g_mutex_unlock(void *m)
{
	word_unlock(&gmutex, m, CALL_SITE());
}

WRAPPER void g_mutex_init(void *m)
{
	adapter_real.g_mutex_init(m);
	word_init(ADAPTER_gmutex, m, CALL_SITE(), __builtin_dwarf_cfa());
}

WRAPPER void g_mutex_clear(void *m)
{
	word_destroy_begin(ADAPTER_gmutex, m);
	adapter_real.g_mutex_clear(m);
	word_destroy_end(ADAPTER_gmutex, m);
}

/*
 * Before a wait for a GCond, which releases @m: a section around it cannot be elided, as GLib must find the
 * mutex locked. The wait is no part of the hold time.
 */
static unsigned long long wait_begins(void *m, const void *site)
{
	struct elide_thread *t = elide_self;

	if (!t)
		return 0;
	if (elide_inside(t))
		rtm_abort(ELIDE_CODE_cond_wait);
	elide_due_released(t, m);
	if (unlikely(t->nr_acquired))
		elide_order_reacquired(t, m, site);
	return elide_hold_over(t, m);
}

static void wait_ends(const void *m, unsigned long long since)
{
	if (unlikely(since) && elide_self)
		elide_hold_resume(elide_self, m, since);
}

WRAPPER void g_cond_wait(void *c, void *m)
{
	unsigned long long since = wait_begins(m, CALL_SITE());

	adapter_real.g_cond_wait(c, m);
	wait_ends(m, since);
}

WRAPPER int g_cond_wait_until(void *c, void *m, int64_t until)
{
	unsigned long long since = wait_begins(m, CALL_SITE());
	int woken = adapter_real.g_cond_wait_until(c, m, until);

	wait_ends(m, since);
	return woken;
}

WRAPPER int g_cond_timed_wait(void *c, void *m, void *until)
{
	unsigned long long since = wait_begins(m, CALL_SITE());
	int woken = adapter_real.g_cond_timed_wait(c, m, until);

	wait_ends(m, since);
	return woken;
}
