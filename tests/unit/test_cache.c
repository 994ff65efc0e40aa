// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_cache.c - the look-up cache of a thread: where entries are, when it grows, and how far.
 *
 * Sections are only counted here, none is elided: the locks are addresses on the heap.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/state/cache.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/elide.h"
#include "../../lib/section/engine.h"
#include "../../lib/life/fill.h"
#include "../../lib/state/gate.h"
#include "../../lib/life/lock.h"
#include "../../lib/state/settings.h"
#include "../../lib/life/threads.h"
#include "../../lib/state/thread.h"
#include "child.h"

#define KIND ELIDE_KIND_MUTEX

/* More than any cache's first entries, fewer than its last. */
#define MANY 10000

/* One more than there is room for; each has MANY locks. */
#define THREADS 19

/* Set before the engine's own constructor runs. */
static char data[64];

__attribute__((constructor(101))) static void environment(void)
{
	snprintf(data, sizeof(data), "/tmp/elide-test-cache-%d", (int)getpid());
	setenv("ELIDE_OUTPUT", data, 1);
	setenv("ELIDE_MODE", "profile", 1);
}

static struct line {
	char bytes[CACHE_LINE];
} *locks;

static const char site[2];

/* Every lock once; false if one is not known then. */
static bool use(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		const struct elide_cache *entry;

		entry = elide_cache_find(elide_self, &locks[i], site, KIND);
		if (!entry)
			entry = elide_cache_fill(&locks[i], site, KIND);
		if (!entry || entry != elide_cache_find(elide_self, &locks[i], site, KIND) ||
		    entry->lock != &locks[i] ||
		    elide_row(entry)->site != (uintptr_t)site)
			return false;
	}
	return true;
}

static unsigned int found(unsigned int nr)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		sum += elide_cache_find(elide_self, &locks[i], site, KIND) != NULL;
	return sum;
}

/* Entries in use as elide_cache_used() has them, with none twice. */
static unsigned int used(void)
{
	const struct elide_cache *entry;
	unsigned int sum = 0;

	for (uint32_t i = 0; (entry = elide_cache_used(elide_self, i)); i++)
		sum += entry->lock &&
		       entry == elide_cache_find(elide_self, entry->lock, site, KIND);
	return sum;
}

/* In a thread of its own; true if @body says so there. */
static bool in_thread(void *(*body)(void *))
{
	pthread_t thread;
	void *ok;

	assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
	assert_int_equal(pthread_join(thread, &ok), 0);
	return ok;
}

static void strides_are_spread(void **state)
{
	static const unsigned int strides[] = {
		4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128,
		136, 160, 192, 208, 256, 320, 384, 512, 640, 768, 1024, 2048, 4096,
	};
	struct elide_thread *t = aligned_alloc(ELIDE_PAGE, sizeof(*t));
	static bool taken[ELIDE_MAX_CACHE];

	for (uint32_t nr = ELIDE_NR_CACHE; nr <= ELIDE_MAX_CACHE; nr *= 2) {
		t->cache_mask = (nr - 1) * sizeof(struct elide_cache);
		assert_int_equal(elide_nr_cache(t), nr);
		for (unsigned int i = 0; i < ARRAY_SIZE(strides); i++) {
			uint32_t nr_locks = nr * 6 / 10, distinct = 0;

			memset(taken, 0, sizeof(taken));
			for (uint32_t n = 0; n < nr_locks; n++) {
				uintptr_t lock = 0x7f1234560040 + (uintptr_t)n * strides[i];
				size_t slot = elide_cache_slot(t, (void *)lock, elide_cache_key(site, KIND)) - t->cache;

				assert_in_range(slot, 0, nr - 1);
				distinct += !taken[slot];
				taken[slot] = true;
			}
			assert_in_range(distinct, nr_locks * 6 / 10, nr_locks);
		}
	}
	free(t);
}

/*
 * Neighbouring locks that are acquired by neighbouring calls have places of their own: whatever
 * differs by as many bytes, few of the pairs meet.
 */
static void neighbours_are_parted(void **state)
{
	struct elide_thread *t = aligned_alloc(ELIDE_PAGE, sizeof(*t));
	const uintptr_t lock = 0x7f1234560040, call = 0x401234;
	unsigned int met = 0, pairs = 0;

	t->cache_mask = (ELIDE_NR_CACHE - 1) * sizeof(struct elide_cache);
	for (int locks_apart = -256; locks_apart <= 256; locks_apart += 8)
		for (int calls_apart = -48; calls_apart <= 48; calls_apart++) {
			uint64_t key = elide_cache_key((void *)call, KIND);
			uint64_t other = elide_cache_key((void *)(call + calls_apart), KIND);

			if (!locks_apart && !calls_apart)
				continue;
			met += elide_cache_slot(t, (void *)lock, key) ==
			       elide_cache_slot(t, (void *)(lock + locks_apart), other);
			pairs++;
		}
	/* By chance it would be one in ELIDE_NR_CACHE. */
	assert_in_range(met, 0, 4 * pairs / ELIDE_NR_CACHE);
	free(t);
}

static void *few_do_not_grow(void *unused)
{
	bool ok = use(40) && elide_nr_cache(elide_self) == ELIDE_FIRST_CACHE && found(40) > 30;

	return (void *)(uintptr_t)(ok && used() == found(40));
}

static void *many_are_found(void *unused)
{
	bool ok = use(MANY) && use(MANY) && elide_nr_cache(elide_self) == ELIDE_MAX_CACHE;

	ok &= use(MANY) && found(MANY) > MANY * 9 / 10 && used() == found(MANY);
	return (void *)(uintptr_t)ok;
}

static void grows(void **state)
{
	assert_true(in_thread(few_do_not_grow));
	assert_true(in_thread(many_are_found));
	/* The block of a thread that has ended is as it was. */
	assert_true(in_thread(few_do_not_grow));
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		assert_int_equal(elide_nr_cache(t), ELIDE_FIRST_CACHE);
}

/* Would the two locks share a place in a cache of that size? */
static bool meet(unsigned int other, uint32_t nr)
{
	struct elide_thread *t = elide_self;
	uint64_t mask = t->cache_mask;
	bool same;

	t->cache_mask = (nr - 1) * sizeof(struct elide_cache);
	same = elide_cache_slot(t, &locks[0], elide_cache_key(site, KIND)) ==
	       elide_cache_slot(t, &locks[other], elide_cache_key(site, KIND));
	t->cache_mask = mask;
	return same;
}

/* Two that are in each other's place. */
static void *pair_is_parted(void *unused)
{
	const struct elide_cache *a, *b;
	unsigned int other = 1;

	elide_cache_fill(&locks[0], site, KIND);
	while (other < MANY && (!meet(other, ELIDE_FIRST_CACHE) || meet(other, ELIDE_MAX_CACHE)))
		other++;
	for (int i = 0; i < 4096 && other < MANY; i++) {
		elide_cache_fill(&locks[0], site, KIND);
		elide_cache_fill(&locks[other], site, KIND);
	}
	a = elide_cache_find(elide_self, &locks[0], site, KIND);
	b = elide_cache_find(elide_self, &locks[other], site, KIND);
	return (void *)(uintptr_t)(a && b && used() == 2);
}

static void conflict_grows(void **state)
{
	assert_true(in_thread(pair_is_parted));
}

static void *destroyed_are_forgotten(void *unused)
{
	bool ok = use(MANY);

	elide_lock_gone(&locks[7]);
	ok &= !elide_cache_find(elide_self, &locks[7], site, KIND);
	elide_lock_new(&locks[7], KIND, site, false);
	ok &= !elide_cache_find(elide_self, &locks[7], site, KIND);
	ok &= elide_cache_fill(&locks[7], site, KIND) != NULL;
	return (void *)(uintptr_t)(ok && elide_cache_find(elide_self, &locks[7], site, KIND));
}

static void *calls_are_told_apart(void *unused)
{
	const void *lock = &locks[MANY];
	const struct elide_cache *entry = elide_cache_fill(lock, site, ELIDE_KIND_RWLOCK_READ);
	bool ok = entry && elide_row(entry)->kind == ELIDE_KIND_RWLOCK_READ;

	ok &= !elide_cache_find(elide_self, lock, site, ELIDE_KIND_RWLOCK_WRITE);
	ok &= !elide_cache_find(elide_self, lock, site + 1, ELIDE_KIND_RWLOCK_READ);
	entry = elide_cache_fill(lock, site, ELIDE_KIND_RWLOCK_WRITE);
	ok &= entry && elide_row(entry)->kind == ELIDE_KIND_RWLOCK_WRITE;
	return (void *)(uintptr_t)ok;
}

static void entries_are_what_they_say(void **state)
{
	assert_true(in_thread(destroyed_are_forgotten));
	assert_true(in_thread(calls_are_told_apart));
}

static void *does_not_grow(void *unused)
{
	bool ok = use(MANY) && use(MANY);

	for (uint32_t i = 0; i < ELIDE_NR_CACHE; i++)
		ok &= elide_window(elide_self, &elide_self->cache[i]) == &elide_self->windows[i];
	return (void *)(uintptr_t)(ok && elide_nr_cache(elide_self) == ELIDE_NR_CACHE);
}

static void hpca_does_not_grow(void **state)
{
	enum policy_name name = elide_process.config.name;

	elide_process.config.name = POLICY_HPCA;
	policy_flags(&elide_process.config);
	assert_true(in_thread(does_not_grow));
	elide_process.config.name = name;
	policy_flags(&elide_process.config);
}

static void *child_starts_small(void *unused)
{
	bool ok = use(MANY) && found(MANY) > MANY / 2;
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		check(elide_self && !elide_self->cache_mask);
		check(!found(MANY));
		check(elide_cache_fill(&locks[0], site, KIND));
		check(elide_nr_cache(elide_self) == ELIDE_FIRST_CACHE && used() == 1);
		check(use(MANY) && use(MANY) && elide_nr_cache(elide_self) == ELIDE_MAX_CACHE);
		check(found(MANY) > MANY * 9 / 10);
		check(!unlink(elide_data_path()));
		_exit(0);
	}
	ok &= pid > 0 && waitpid(pid, &status, 0) == pid && !status;
	return (void *)(uintptr_t)ok;
}

static void fork_wipes(void **state)
{
	assert_true(in_thread(child_starts_small));
}

static pthread_barrier_t all_grown, counted;

static void *grow_with_others(void *unused)
{
	bool ok = use(MANY) && use(MANY);

	pthread_barrier_wait(&all_grown);
	pthread_barrier_wait(&counted);
	/* Without room it is only slower. */
	ok &= use(MANY);
	return (void *)(uintptr_t)ok;
}

static void bound_holds(void **state)
{
	uint64_t grown = 0;
	pthread_t thread[THREADS];
	unsigned int small = 0;
	bool later = false;
	void *ok;

	pthread_barrier_init(&all_grown, NULL, THREADS + 1);
	pthread_barrier_init(&counted, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, grow_with_others, NULL), 0);
	pthread_barrier_wait(&all_grown);
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		grown += elide_nr_cache(t) - ELIDE_NR_CACHE;
		small += t->tid && elide_nr_cache(t) < ELIDE_MAX_CACHE;
	}
	pthread_barrier_wait(&counted);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &ok), 0);
		assert_non_null(ok);
	}
	assert_in_range(grown, ELIDE_MAX_GROWN / 2, ELIDE_MAX_GROWN);
	assert_true(small > 0);
	/* Who comes later has the room again, when the last of the others has quite ended. */
	for (int i = 0; i < 200 && !later; i++) {
		later = in_thread(many_are_found);
		if (!later)
			usleep(10000);
	}
	assert_true(later);
}

static int setup(void **state)
{
	/* Begins the engine. */
	elide_status(NULL);
	locks = calloc(MANY + 1, sizeof(*locks));
	return !locks || !elide_process.running;
}

static int teardown(void **state)
{
	free(locks);
	return unlink(elide_data_path());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_are_spread),
		cmocka_unit_test(neighbours_are_parted),
		cmocka_unit_test(grows),
		cmocka_unit_test(conflict_grows),
		cmocka_unit_test(entries_are_what_they_say),
		cmocka_unit_test(hpca_does_not_grow),
		cmocka_unit_test(fork_wipes),
		cmocka_unit_test(bound_holds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
