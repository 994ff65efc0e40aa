/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - every symbol of preload/symbols.def and preload/adapters/symbols.def is
 * wrapped, and its wrapper engages: the call reaches our library, answers as the real
 * function does, and leaves its trace in the data file.
 *
 * symbols plain     without the library: only the answers
 * symbols off       preloaded and switched off: the call does not reach our library
 * symbols DATAFILE  preloaded, the data file being DATAFILE
 *
 * A row without a test stops the build: see the assertion under the table.
 */
#include <dlfcn.h>

#include "../../../lib/row-sums.h"
#include "../data.h"
#include "symbols.h"

enum symbol {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) SYMBOL_##id,
#define ELIDE_ALIAS(symbol, id)
#include "../../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) SYMBOL_##id,
#include "../../../preload/adapters/symbols.def"
#undef ADAPTER_SYMBOL
	NR_SYMBOLS
};

/**
 * struct test - what a row of symbols.def is tested with.
 * @run:      given the function under test
 * @acquired: acquisitions that @run makes
 * @locks:    locks that become known by it
 * @ends:     a thread ends holding a lock: a misuse
 * @waits:    it waits on a condition variable: an elided section must give that as its cause
 * @calls:    calls of @kind that succeed or fail, at least
 * @objects:  condition variables, semaphores and barriers that become known by it
 * @wakes:    it ends a wait, and that is known
 */
struct test {
	const char *(*run)(void *f);
	int acquired;
	int locks;
	int ends;
	int waits;
	enum elide_kind kind;
	int calls;
	int objects;
	int wakes;
};

/* @nr calls of kind @of; acquisitions and locks are those of mutexes. */
#define CALLS(id, nr_acquired, nr_locks, of, nr, nr_objects, nr_wakes, in_cond)         \
	[SYMBOL_##id] = {.run = (const char *(*)(void *))(void *)test_##id,             \
			 .acquired = nr_acquired, .locks = nr_locks, .waits = in_cond,  \
			 .kind = ELIDE_KIND_##of, .calls = nr, .objects = nr_objects,   \
			 .wakes = nr_wakes}
/* The acquisitions depend on how often a thread looks whether another waits already. */
#define ANY (-1)

#define TEST(id, ...)  ROW(id, __VA_ARGS__, 0, 0)
#define ENDS(id, ...)  ROW(id, __VA_ARGS__, 1, 0)
#define ROW(id, nr_acquired, nr_locks, nr_ends, in_cond)                                \
	[SYMBOL_##id] = {.run = (const char *(*)(void *))(void *)test_##id,             \
			 .acquired = nr_acquired, .locks = nr_locks, .ends = nr_ends, \
			 .waits = in_cond}

static const struct test tests[] = {
	TEST(mutex_init, 1, 1), TEST(mutex_destroy, 2, 2), TEST(mutex_lock, 1, 1),
	TEST(mutex_trylock, 1, 1), TEST(mutex_timedlock, 1, 1), TEST(mutex_clocklock, 1, 1),
	TEST(mutex_unlock, 2, 1),
	TEST(rwlock_init, 1, 1), TEST(rwlock_destroy, 2, 2), TEST(rwlock_rdlock, 1, 1),
	TEST(rwlock_tryrdlock, 2, 1), TEST(rwlock_timedrdlock, 1, 1),
	TEST(rwlock_clockrdlock, 1, 1), TEST(rwlock_wrlock, 1, 1), TEST(rwlock_trywrlock, 1, 1),
	TEST(rwlock_timedwrlock, 1, 1), TEST(rwlock_clockwrlock, 1, 1), TEST(rwlock_unlock, 2, 1),
	TEST(spin_init, 1, 1), TEST(spin_destroy, 2, 2), TEST(spin_lock, 1, 1),
	TEST(spin_trylock, 1, 1), TEST(spin_unlock, 2, 1),
	CALLS(cond_wait, 2, 1, COND, 1, 1, 0, 1), CALLS(cond_timedwait, 1, 1, COND, 1, 1, 0, 1),
	CALLS(cond_wait_old, 2, 1, COND, 1, 1, 0, 1),
	CALLS(cond_timedwait_old, 1, 1, COND, 1, 1, 0, 1),
	CALLS(cond_clockwait, 1, 1, COND, 1, 1, 0, 1),
	CALLS(cond_init, 1, 1, COND, 1, 1, 0, 0), CALLS(cond_init_old, 1, 1, COND, 1, 1, 0, 0),
	CALLS(cond_destroy, 2, 2, COND, 2, 2, 0, 0), CALLS(cond_destroy_old, 2, 2, COND, 2, 2, 0, 0),
	CALLS(cond_signal, ANY, 1, COND, 1, 1, 1, 0), CALLS(cond_broadcast, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(cond_signal_old, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(cond_broadcast_old, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(sem_init, 0, 0, SEM, 1, 1, 0, 0), CALLS(sem_destroy, 0, 0, SEM, 2, 2, 0, 0),
	CALLS(sem_wait, 0, 0, SEM, 2, 1, 0, 0), CALLS(sem_trywait, 0, 0, SEM, 2, 1, 0, 0),
	CALLS(sem_timedwait, 0, 0, SEM, 2, 1, 0, 0), CALLS(sem_clockwait, 0, 0, SEM, 2, 1, 0, 0),
	CALLS(sem_post, 0, 0, SEM, 1, 1, 1, 0),
	CALLS(barrier_init, 0, 0, BARRIER, 1, 1, 0, 0),
	CALLS(barrier_destroy, 0, 0, BARRIER, 2, 2, 0, 0),
	CALLS(barrier_wait, 0, 0, BARRIER, 2, 1, 1, 0),
	TEST(mtx_init, 1, 1), TEST(mtx_destroy, 2, 2), TEST(mtx_lock, 1, 1), TEST(mtx_trylock, 1, 1),
	TEST(mtx_timedlock, 1, 1), TEST(mtx_unlock, 2, 1), CALLS(cnd_wait, 2, 1, COND, 1, 1, 0, 1),
	CALLS(cnd_timedwait, 1, 1, COND, 1, 1, 0, 1), CALLS(cnd_init, 1, 1, COND, 1, 1, 0, 0),
	CALLS(cnd_destroy, 2, 2, COND, 2, 2, 0, 0), CALLS(cnd_signal, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(cnd_broadcast, ANY, 1, COND, 1, 1, 1, 0),
	TEST(create, 0, 0), TEST(thrd_create, 0, 0),
	ENDS(join, 1, 1), ENDS(tryjoin, 1, 1), ENDS(timedjoin, 1, 1), ENDS(clockjoin, 1, 1),
	ENDS(thrd_join, 1, 1),
	TEST(dlclose, 0, 0),
	TEST(setuid, 0, 0), TEST(seteuid, 0, 0), TEST(setreuid, 0, 0), TEST(setresuid, 0, 0),
	TEST(chroot, 0, 0), TEST(prctl, 0, 0),
	CALLS(syscall, 0, 0, FUTEX, 1, 1, 0, 0),
	TEST(g_mutex_lock, 1, 1), TEST(g_mutex_trylock, 1, 1), TEST(g_mutex_unlock, 2, 1),
	TEST(g_mutex_init, 1, 1), TEST(g_mutex_clear, 2, 2), CALLS(g_cond_wait, 1, 1, FUTEX, 0, 1, 0, 1),
	ROW(g_cond_wait_until, 1, 1, 0, 1), ROW(g_cond_timed_wait, 1, 1, 0, 1),
	TEST(omp_set_lock, 1, 1), TEST(omp_test_lock, 1, 1), TEST(omp_unset_lock, 2, 1),
	TEST(omp_init_lock, 1, 1), TEST(omp_destroy_lock, 2, 2),
	TEST(nest_set, 1, 1), TEST(nest_test, 1, 1), TEST(nest_unset, 2, 1), TEST(nest_init, 1, 1),
	TEST(nest_destroy, 2, 2), TEST(nest_set_old, 1, 1), TEST(nest_test_old, 1, 1),
	TEST(nest_unset_old, 2, 1), TEST(nest_init_old, 1, 1), TEST(nest_destroy_old, 2, 2),
	TEST(GOMP_critical_start, 1, 1), TEST(GOMP_critical_end, 1, 0),
	TEST(GOMP_critical_name_start, 1, 1), TEST(GOMP_critical_name_end, 2, 1),
};

_Static_assert(sizeof(tests) / sizeof(*tests) == NR_SYMBOLS, "the last rows of symbols.def have no test");

static const struct row {
	const char *symbol, *version;
	enum symbol test;
} rows[] = {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	{#symbol, version, SYMBOL_##id},
#define ELIDE_ALIAS(symbol, id) {#symbol, "", SYMBOL_##id},
#include "../../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) \
	{#symbol, version, SYMBOL_##id},
#include "../../../preload/adapters/symbols.def"
#undef ADAPTER_SYMBOL
};

/* The calls of a kind that have ended, one way or the other. */
static unsigned long nr_calls(const struct sums *s, enum elide_kind kind)
{
	return s->waits[kind].not_attempted + s->waits[kind].failed;
}

/* What is wrong with the trace of a call that waits or ends a wait; NULL if nothing. */
static const char *wrong_waits(const struct test *test, const struct sums *before,
			       const struct sums *after)
{
	if (test->kind && nr_calls(after, test->kind) < nr_calls(before, test->kind) + test->calls)
		return "its calls are not counted";
	if (after->nr_objects - before->nr_objects != (unsigned long)test->objects)
		return "another number of condition variables, semaphores, barriers or futexes";
	if (test->wakes && after->nr_woken <= before->nr_woken)
		return "it is not known that it ended the wait";
	return NULL;
}

static const char *try_row(const struct row *row, const char *data, bool off)
{
	void *f = *row->version ? dlvsym(RTLD_DEFAULT, row->symbol, row->version) :
				  dlsym(RTLD_DEFAULT, row->symbol);
	const struct test *test = &tests[row->test];
	struct sums before, after;
	const char *wrong;
	static char text[160];
	Dl_info info;

	if (off && (!f || !dladdr(f, &info) || strstr(info.dli_fname, "libelide-preload")))
		return "leads to the library";
	if (!f)
		return data ? "not found" : NULL; /* plain glibc need not export every alias */
	if (!test->run)
		return "symbols.def has a row without a test";
	if (!data)
		return test->run(f);
	if (!dladdr(f, &info) || !strstr(info.dli_fname, "libelide-preload"))
		return "does not lead to the library";
	if (!sum_file(data, &before))
		return "no data file";
	wrong = test->run(f);
	if (wrong)
		return wrong;
	sum_file(data, &after);
	if (after.bad)
		return "rows do not add up";
	if (after.damaged)
		return "the data file is damaged";
	/* A lock is counted when it is released at the latest; some are left locked in an open
	 * section, which the end of the test or the look at the file above has aborted.
	 */
	if ((test->acquired != ANY && (int)(elide_row_acquired(&after.all) -
					    elide_row_acquired(&before.all)) != test->acquired) ||
	    (int)(after.nr_locks - before.nr_locks) != test->locks) {
		snprintf(text, sizeof(text), "%ld acquisitions and %ld new locks, not %d and %d",
			 (long)(elide_row_acquired(&after.all) - elide_row_acquired(&before.all)),
			 (long)(after.nr_locks - before.nr_locks), test->acquired, test->locks);
		return text;
	}
	if (test->ends && after.misuse[ELIDE_MISUSE_EXIT_HELD] !=
				  before.misuse[ELIDE_MISUSE_EXIT_HELD] + test->ends)
		return "a lock left held was not found when its thread was joined";
	if (test->waits && after.header.mode == ELIDE_RUN_ELIDE &&
	    after.all.causes[ELIDE_CAUSE_cond_wait] == before.all.causes[ELIDE_CAUSE_cond_wait])
		return "an elided section waited";
	return wrong_waits(test, &before, &after);
}

int main(int argc, char **argv)
{
	bool off = argc > 1 && !strcmp(argv[1], "off");
	const char *data = argc > 1 && !off && strcmp(argv[1], "plain") ? argv[1] : NULL;
	pthread_mutex_t *first = new_mutex();
	int failed = 0;
	Dl_info info;

	/* Makes the data file. */
	pthread_mutex_lock(first);
	pthread_mutex_unlock(first);
	/* As this program was bound when it was loaded. */
	if (off && (!dladdr((void *)pthread_mutex_lock, &info) ||
		    strstr(info.dli_fname, "libelide-preload"))) {
		puts("not ok bound to the library");
		failed++;
	}
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *wrong = try_row(&rows[i], data, off);

		failed += wrong != NULL;
		printf("%s %s%s%s%s%s\n", wrong ? "not ok" : "ok", rows[i].symbol,
		       *rows[i].version ? "@" : "", rows[i].version, wrong ? ": " : "",
		       wrong ? wrong : "");
	}
	return failed != 0;
}
