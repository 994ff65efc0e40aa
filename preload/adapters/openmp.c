/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp.c - OpenMP's locks, and its critical sections as GCC compiles them.
 *
 * libgomp's simple locks and named critical sections are words. libomp's simple locks are not, and are
 * counted by its functions alone. Locks that nest and the unnamed critical section are counted and never elided: a
 * section around them aborts.
 */
#include "../wait.h"
#include "word.h"

static const struct word_lock omp_lock = {
	.type = ADAPTER_omp_lock,
	.lock = &adapter_real.omp_set_lock,
	.trylock = &adapter_real.omp_test_lock,
	.unlock = &adapter_real.omp_unset_lock,
};

static const struct word_lock critical_name = {
	.type = ADAPTER_critical_name,
	.lock = &adapter_real.GOMP_critical_name_start,
	.unlock = &adapter_real.GOMP_critical_name_end,
};

/* Locks that their holder may lock again: @trylock returns how often it has, 0 if another thread has. */
static const struct word_lock nest = {
	.type = ADAPTER_omp_nest,
	.lock = &adapter_real.nest_set,
	.trylock = &adapter_real.nest_test,
	.unlock = &adapter_real.nest_unset,
};

static const struct word_lock nest_old = {
	.type = ADAPTER_omp_nest_old,
	.lock = &adapter_real.nest_set_old,
	.trylock = &adapter_real.nest_test_old,
	.unlock = &adapter_real.nest_unset_old,
};

WRAPPER void omp_set_lock(void *l);
WRAPPER int omp_test_lock(void *l);
WRAPPER void omp_unset_lock(void *l);
WRAPPER void omp_init_lock(void *l);
WRAPPER void omp_destroy_lock(void *l);
WRAPPER void GOMP_critical_start(void);
WRAPPER void GOMP_critical_end(void);
WRAPPER void GOMP_critical_name_start(void *l);
WRAPPER void GOMP_critical_name_end(void *l);

/* The functions behind versioned names. */
#define NEST(id, at, version)                  \
	void nest_set##id(void *l);                    \
	int nest_test##id(void *l);                    \
	void nest_unset##id(void *l);                  \
	void nest_init##id(void *l);                   \
	void nest_destroy##id(void *l);                \
	__asm__(".symver nest_set" #id ", omp_set_nest_lock" at version);     \
	__asm__(".symver nest_test" #id ", omp_test_nest_lock" at version);   \
	__asm__(".symver nest_unset" #id ", omp_unset_nest_lock" at version); \
	__asm__(".symver nest_init" #id ", omp_init_nest_lock" at version);   \
	__asm__(".symver nest_destroy" #id ", omp_destroy_nest_lock" at version)
NEST(, "@@", "OMP_3.0");
NEST(_old, "@", "OMP_1.0");

enum adapter_how adapter_check_omp_lock(const struct adapter_real *real)
{
	struct word_probe p = {0};
	bool word, good;

	real->omp_init_lock(&p);
	word = word_probe_has(&p, 0);
	real->omp_set_lock(&p);
	word = word && word_probe_has(&p, 1);
	good = !real->omp_test_lock(&p);
	real->omp_unset_lock(&p);
	word = word && word_probe_has(&p, 0);
	if (!good || !real->omp_test_lock(&p))
		return ADAPTER_ASIDE;
	word = word && word_probe_has(&p, 1);
	real->omp_unset_lock(&p);
	if (word) {
		/* A lock that was locked here is released there. */
		p.words[0] = 1;
		word = !real->omp_test_lock(&p) && word_probe_has(&p, 1);
		real->omp_unset_lock(&p);
		word = word && word_probe_has(&p, 0);
	}
	real->omp_destroy_lock(&p);
	return word ? ADAPTER_WORD : ADAPTER_COUNTED;
}

enum adapter_how adapter_check_critical_name(const struct adapter_real *real)
{
	struct word_probe p = {0};
	bool word;

	real->GOMP_critical_name_start(&p);
	word = word_probe_has(&p, 1);
	real->GOMP_critical_name_end(&p);
	if (!word || !word_probe_has(&p, 0))
		return ADAPTER_ASIDE;
	p.words[0] = 1;
	real->GOMP_critical_name_end(&p);
	return word_probe_has(&p, 0) ? ADAPTER_WORD : ADAPTER_ASIDE;
}

enum adapter_how adapter_check_critical(const struct adapter_real *real)
{
	(void)real;
	return ADAPTER_COUNTED;
}

/* Does the second word have the depth? */
static enum adapter_how check_nest(void (*set)(void *m), int (*test)(void *m), void (*unset)(void *m),
				   struct word_probe *p)
{
	bool good;

	set(p);
	good = p->words[1] == 1;
	set(p);
	good = good && p->words[1] == 2;
	good = test(p) == 3 && good && p->words[1] == 3;
	unset(p);
	good = good && p->words[1] == 2;
	unset(p);
	good = good && p->words[1] == 1;
	unset(p);
	return good && p->words[1] == 0 ? ADAPTER_COUNTED : ADAPTER_ASIDE;
}

enum adapter_how adapter_check_omp_nest(const struct adapter_real *real)
{
	enum adapter_how how;
	struct word_probe p = {0};

	real->nest_init(&p);
	how = check_nest(real->nest_set, real->nest_test, real->nest_unset, &p);
	real->nest_destroy(&p);
	return how;
}

enum adapter_how adapter_check_omp_nest_old(const struct adapter_real *real)
{
	enum adapter_how how;
	struct word_probe p = {0};

	real->nest_init_old(&p);
	how = check_nest(real->nest_set_old, real->nest_test_old, real->nest_unset_old, &p);
	real->nest_destroy_old(&p);
	return how;
}

WRAPPER void omp_set_lock(void *l)
{
	word_lock(&omp_lock, l, CALL_SITE());
}

WRAPPER int omp_test_lock(void *l)
{
	return word_trylock(&omp_lock, l, CALL_SITE());
}

WRAPPER void omp_unset_lock(void *l)
{
	word_unlock(&omp_lock, l, CALL_SITE());
}

WRAPPER void omp_init_lock(void *l)
{
	adapter_real.omp_init_lock(l);
	word_init(ADAPTER_omp_lock, l, CALL_SITE(), __builtin_dwarf_cfa());
}

WRAPPER void omp_destroy_lock(void *l)
{
	word_destroy_begin(ADAPTER_omp_lock, l);
	adapter_real.omp_destroy_lock(l);
	word_destroy_end(ADAPTER_omp_lock, l);
}

WRAPPER void GOMP_critical_name_start(void *l)
{
	word_lock(&critical_name, l, CALL_SITE());
}

WRAPPER void GOMP_critical_name_end(void *l)
{
	word_unlock(&critical_name, l, CALL_SITE());
}

/* Is a call of such a type passed on? Aborts an elided section. */
static bool is_aside(enum adapter_type type)
{
	if (!elide_process.running || elide_passes() || adapter_how(type) == ADAPTER_ASIDE)
		return true;
	if (elide_inside(elide_self))
		rtm_abort(ELIDE_CODE_unelidable);
	return false;
}

/* The row of an acquisition; NULL: it is not counted. */
static struct elide_row *row_of(const void *m, const void *site)
{
	struct elide_fast q = elide_fast(elide_self_fast, m, site, WORD_KIND);
	struct elide_row *row;

	if (likely(q.known && *q.arm == ELIDE_ARM_SHORT)) {
		q.call->lock = m;
		return q.row;
	}
	return elide_try(elide_call_find(elide_self, m, site, WORD_KIND), m, NULL, site, WORD_KIND,
			 &elide_until_locked, &row) == ELIDE_SKIPPED ? row : NULL;
}

/* A lock that was not held is locked. */
static void locked(const void *m, const void *site, bool wait)
{
	struct elide_row *row = row_of(m, site);

	if (row)
		count_locked(elide_self, row, m, ELIDE_SKIPPED, wait);
}

static void nest_lock(const struct word_lock *l, void *m, const void *site)
{
	struct elide_row *row;
	struct count count;
	struct wait w;
	int depth;

	depth = is_aside(l->type) ? 0 : (*l->trylock)(m);
	if (depth == 1)
		locked(m, site, true);
	if (depth)
		return;
	row = is_aside(l->type) ? NULL : row_of(m, site);
	if (!row) {
		(*l->lock)(m);
		return;
	}
	count = count_begin(row, ELIDE_SKIPPED);
	wait_begin(&w, true, elide_self, row, m, 0);
	wait_locked(elide_self, row, m);
	(*l->lock)(m);
	w.end = cycles_now();
	wait_end(row, &w, m, true);
	count_end(count, elide_self, row, m, true);
}

static int nest_trylock(const struct word_lock *l, void *m, const void *site)
{
	bool aside = is_aside(l->type);
	int depth = (*l->trylock)(m);
	struct elide_row *row;

	if (aside || depth > 1)
		return depth;
	if (depth) {
		locked(m, site, false);
		return depth;
	}
	row = row_of(m, site);
	return row ? count_failed(row, 0) : 0;
}

static void nest_unlock(const struct word_lock *l, void *m)
{
	struct elide_thread *t = elide_self;
	unsigned long long end;

	if (!t || !elide_process.running || elide_is_refused() || adapter_how(l->type) == ADAPTER_ASIDE) {
		(*l->unlock)(m);
		return;
	}
	/* It was locked before the section began. */
	if (elide_inside(t))
		rtm_abort(ELIDE_CODE_unelidable);
	end = ((uint32_t *)m)[1] == 1 ? word_release_begin(t, m) : 0;
	(*l->unlock)(m);
	elide_release_count(t, m, end);
}

#define NEST_WRAPPERS(id, l)                                                           \
	WRAPPER void nest_set##id(void *m)                                             \
	{                                                                              \
		nest_lock(&l, m, CALL_SITE());                                         \
	}                                                                              \
                                                                                       \
	WRAPPER int nest_test##id(void *m)                                             \
	{                                                                              \
		return nest_trylock(&l, m, CALL_SITE());                               \
	}                                                                              \
                                                                                       \
	WRAPPER void nest_unset##id(void *m)                                           \
	{                                                                              \
		nest_unlock(&l, m);                                                    \
	}                                                                              \
                                                                                       \
	WRAPPER void nest_init##id(void *m)                                            \
	{                                                                              \
		adapter_real.nest_init##id(m);                                         \
		word_init((l).type, m, CALL_SITE(), __builtin_dwarf_cfa());            \
	}                                                                              \
                                                                                       \
	WRAPPER void nest_destroy##id(void *m)                                         \
	{                                                                              \
		word_destroy_begin((l).type, m);                                       \
		adapter_real.nest_destroy##id(m);                                      \
		word_destroy_end((l).type, m);                                         \
	}

NEST_WRAPPERS(, nest)
NEST_WRAPPERS(_old, nest_old)

/*
 * The unnamed critical section, whose word is libgomp's own: a variable of ours stands for it, with a name in
 * the manner of GCC's names for the others, which no variable of a program can have. A thread that finds it
 * free, and has to wait all the same for one that came at the same time, counts no wait.
 */
__export union omp_critical {
	struct {
		uint32_t held;    /* a thread is in the section, or about to enter it */
		uint32_t waiters; /* threads that wait for it */
	};
	uint64_t both;
} omp_critical __asm__(".gomp_critical");

WRAPPER void GOMP_critical_start(void)
{
	const void *site = CALL_SITE();
	struct elide_row *row = is_aside(ADAPTER_critical) ? NULL : row_of(&omp_critical, site);
	struct count count;
	struct wait w;

	if (!row) {
		adapter_real.GOMP_critical_start();
		return;
	}
	count = count_begin(row, ELIDE_SKIPPED);
	if (likely(!READ_ONCE(omp_critical.both))) {
		WRITE_ONCE(omp_critical.held, 1);
		adapter_real.GOMP_critical_start();
	} else {
		wait_begin(&w, true, elide_self, row, &omp_critical, 0);
		wait_locked(elide_self, row, &omp_critical);
		__atomic_fetch_add(&omp_critical.waiters, 1, __ATOMIC_RELAXED);
		adapter_real.GOMP_critical_start();
		WRITE_ONCE(omp_critical.held, 1);
		__atomic_fetch_sub(&omp_critical.waiters, 1, __ATOMIC_RELAXED);
		w.end = cycles_now();
		wait_end(row, &w, &omp_critical, true);
	}
	count_end(count, elide_self, row, &omp_critical, true);
}

WRAPPER void GOMP_critical_end(void)
{
	struct elide_thread *t = elide_self;
	unsigned long long end;
	bool waited;

	if (!t || !elide_process.running || elide_is_refused() ||
	    adapter_how(ADAPTER_critical) == ADAPTER_ASIDE) {
		adapter_real.GOMP_critical_end();
		return;
	}
	/* It was entered before the section began. */
	if (elide_inside(t))
		rtm_abort(ELIDE_CODE_unelidable);
	end = word_release_begin(t, &omp_critical);
	waited = READ_ONCE(omp_critical.waiters);
	WRITE_ONCE(omp_critical.held, 0);
	if (waited)
		elide_waker_note(&omp_critical, t->tid, false, 0);
	adapter_real.GOMP_critical_end();
	elide_release_count(t, &omp_critical, end);
	if (waited)
		elide_evidence_blocked(t, &omp_critical, WORD_KIND, CALL_SITE());
}
