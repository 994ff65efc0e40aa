/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_elide.c - the public interface on a lock that is not pthread's.
 *
 * Without RTM every section locks, and the same tests hold.
 */
#include <pthread.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/elide.h"
#include "../../lib/row-sums.h"
#include "own-data.h"

__attribute__((constructor(101))) static void environment(void)
{
	own_data(NULL);
	setenv("ELIDE_POLICY", "fixed", 0);
}

struct latch {
	uint32_t held;
	char pad[CACHE_LINE - 4];
} __cacheline_aligned;

static const struct elide_rule rule = {.mask = ~0u, .free = 0, .size = 4};

static bool enter(struct latch *latch)
{
	if (elide_begin(&latch->held, &rule))
		return true;
	while (__atomic_exchange_n(&latch->held, 1, __ATOMIC_ACQUIRE))
		cpu_relax();
	return false;
}

static bool leave(struct latch *latch)
{
	if (elide_end(&latch->held))
		return true;
	__atomic_store_n(&latch->held, 0, __ATOMIC_RELEASE);
	return false;
}

/* The sums over all rows of this process. */
static struct elide_row totals(void)
{
	struct elide_row sum = {0};

	for (uint64_t at = ELIDE_HEADER_SIZE; elide_data && at < elide_data->size;
	     at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)((const char *)elide_data + at);
		const struct elide_row *row = (const void *)(chunk + 1);

		for (uint32_t i = 0; chunk->type == ELIDE_CHUNK_ROWS && i < chunk->nr_records;
		     i++, row++) {
			sum.not_attempted += row->not_attempted;
			sum.fallback += row->fallback;
			sum.commits += row->commits;
			sum.nested += row->nested;
			sum.causes[ELIDE_CAUSE_changed] += row->causes[ELIDE_CAUSE_changed];
			sum.causes[ELIDE_CAUSE_relock] += row->causes[ELIDE_CAUSE_relock];
			sum.causes[ELIDE_CAUSE_busy] += row->causes[ELIDE_CAUSE_busy];
			sum.causes[ELIDE_CAUSE_inner_busy] += row->causes[ELIDE_CAUSE_inner_busy];
			sum.causes[ELIDE_CAUSE_nesting] += row->causes[ELIDE_CAUSE_nesting];
		}
	}
	return sum;
}

static struct latch a, b, c;
static volatile uint64_t value;

static void status_has_a_reason(void **state)
{
	const char *why = NULL;
	int eliding = elide_status(&why);

	assert_non_null(why);
	assert_true(strlen(why) > 0);
	assert_int_equal(elide_status(NULL), eliding);
	if (!eliding)
		printf("skip test_elide: the elided half, on this machine: %s\n", why);
}

static void section_is_counted(void **state)
{
	struct elide_row before = totals(), after;
	unsigned int elided = 0;

	for (int i = 0; i < 1000; i++) {
		elided += enter(&a);
		value++;
		leave(&a);
	}
	after = totals();
	assert_int_equal(elide_row_acquired(&after) - elide_row_acquired(&before), 1000);
	assert_int_equal(elide_row_elided(&after) - elide_row_elided(&before), elided);
	assert_int_equal(value, 1000);
	if (elide_status(NULL))
		assert_in_range(elided, 900, 1000);
	else
		assert_int_equal(elided, 0);
}

static void nested_and_not_in_order(void **state)
{
	struct elide_row before = totals(), after;

	for (int i = 0; i < 1000; i++) {
		enter(&a);
		enter(&b);
		enter(&c);
		leave(&a);
		leave(&c);
		value++;
		leave(&b);
		assert_int_equal(a.held | b.held | c.held, 0);
	}
	after = totals();
	assert_int_equal(elide_row_acquired(&after) - elide_row_acquired(&before), 3000);
	if (elide_status(NULL))
		assert_in_range(after.nested - before.nested, 1800, 2000);
}

static void end_without_begin_is_refused(void **state)
{
	assert_int_equal(elide_end(&a.held), 0);
	enter(&a);
	assert_int_equal(elide_end(&b.held), 0);
	leave(&a);
}

/* A relock of such a lock would wait for ever: elide_begin() leaves that to the lock. */
static void relock_is_left_to_the_lock(void **state)
{
	struct elide_row before = totals(), after;

	/* Several times, as an interrupt may come first. */
	for (int i = 0; i < 20; i++) {
		if (!elide_begin(&a.held, &rule))
			a.held = 1;
		/* Aborts, so that the second begin finds the lock held. */
		assert_int_equal(elide_begin(&a.held, &rule), 0);
		assert_int_equal(a.held, 1);
		a.held = 0;
		assert_int_equal(elide_end(&a.held), 0);
	}
	after = totals();
	if (elide_status(NULL))
		assert_true(after.causes[ELIDE_CAUSE_relock] > before.causes[ELIDE_CAUSE_relock]);
}

static void held_lock_is_not_elided(void **state)
{
	a.held = 1;
	for (int i = 0; i < 100; i++)
		assert_int_equal(elide_begin(&a.held, &rule), 0);
	a.held = 0;
}

static void changed_word_does_not_commit(void **state)
{
	struct elide_row before = totals(), after;

	for (int i = 0; i < 20; i++) {
		/* Past elide: with the abort the store is undone and the lock taken. */
		if (enter(&a))
			*(volatile uint32_t *)&a.held = 1;
		assert_int_equal(elide_end(&a.held), 0);
		assert_int_equal(a.held, 1);
		a.held = 0;
	}
	after = totals();
	if (elide_status(NULL))
		assert_true(after.causes[ELIDE_CAUSE_changed] > before.causes[ELIDE_CAUSE_changed]);
}

static void deeper_than_the_held_list(void **state)
{
	static struct latch many[20];

	/* The first rounds make the locks known, which cannot be done in a transaction. */
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 20; i++)
			enter(&many[i]);
		for (int i = 20; i--;)
			leave(&many[i]);
		for (int i = 0; i < 20; i++)
			assert_int_equal(many[i].held, 0);
	}
	if (elide_status(NULL))
		assert_true(totals().causes[ELIDE_CAUSE_nesting] > 0);
}

static void word_of_eight_bytes(void **state)
{
	static const struct elide_rule wide = {.mask = 0xffffffff00000000, .free = 0, .size = 8};
	static uint64_t word;
	unsigned int elided = 0;

	/* The low half does not matter to the rule. */
	word = 0x12345678;
	for (int i = 0; i < 100; i++)
		if (elide_begin(&word, &wide)) {
			elided++;
			assert_int_equal(elide_end(&word), 1);
		}
	word = 1ull << 40;
	for (int i = 0; i < 100; i++)
		assert_int_equal(elide_begin(&word, &wide), 0);
	if (elide_status(NULL))
		assert_true(elided > 50);
}

/* A try never waits and says which it was: elided, free, or held. */
static void try_is_counted(void **state)
{
	struct elide_row before = totals(), after;
	unsigned int elided = 0;

	for (int i = 0; i < 1000; i++) {
		int answer = elide_try_begin(&a.held, &rule);

		assert_in_range(answer, 0, 1);
		elided += answer;
		assert_int_equal(elide_end(&a.held), answer);
	}
	after = totals();
	assert_int_equal(elide_row_acquired(&after) - elide_row_acquired(&before), 1000);
	assert_int_equal(elide_row_elided(&after) - elide_row_elided(&before), elided);
	if (elide_status(NULL))
		assert_in_range(elided, 900, 1000);
	else
		assert_int_equal(elided, 0);
}

static void try_of_a_held_lock_is_not_counted(void **state)
{
	struct elide_row before, after;

	a.held = 1;
	before = totals();
	for (int i = 0; i < 100; i++)
		assert_int_equal(elide_try_begin(&a.held, &rule), -1);
	after = totals();
	a.held = 0;
	assert_int_equal(elide_row_acquired(&after), elide_row_acquired(&before));
	/* The call reads the word before it makes an attempt. */
	assert_int_equal(after.causes[ELIDE_CAUSE_busy], before.causes[ELIDE_CAUSE_busy]);
}

/* In an elided section an answer aborts nothing, also where the lock is the section's own. */
static void try_inside_a_section(void **state)
{
	struct elide_row before = totals(), after;
	unsigned int outer = 0;

	for (int i = 0; i < 1000; i++) {
		bool elided = enter(&a);
		int free = elide_try_begin(&b.held, &rule), own, held;

		own = elided ? elide_try_begin(&a.held, &rule) : -1;
		*(volatile uint32_t *)&c.held = 1;
		held = elide_try_begin(&c.held, &rule);
		*(volatile uint32_t *)&c.held = 0;
		assert_int_equal(elide_end(&b.held), free);
		leave(&a);
		outer += elided;
		assert_int_equal(own, -1);
		assert_int_equal(held, -1);
		assert_in_range(free, 0, 1);
	}
	after = totals();
	assert_int_equal(elide_row_acquired(&after) - elide_row_acquired(&before), 2000);
	assert_int_equal(after.causes[ELIDE_CAUSE_inner_busy], before.causes[ELIDE_CAUSE_inner_busy]);
	if (elide_status(NULL)) {
		assert_in_range(outer, 900, 1000);
		assert_in_range(after.nested - before.nested, 900, 1000);
	}
}

/* Is there a class of @nr locks that were initialised at @site? */
static bool class_of(const void *site, uint32_t nr)
{
	for (uint64_t at = ELIDE_HEADER_SIZE; elide_data && at < elide_data->size;
	     at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)((const char *)elide_data + at);
		const struct elide_class *class = (const void *)(chunk + 1);

		for (uint32_t i = 0; chunk->type == ELIDE_CHUNK_CLASSES && i < chunk->nr_records;
		     i++, class++)
			if (class->type == ELIDE_CLASS_INIT && class->kind == ELIDE_KIND_CUSTOM &&
			    class->address == (uintptr_t)site && class->nr_locks == nr)
				return true;
	}
	return false;
}

static __noinline void make(struct latch *latch, const void **site)
{
	latch->held = 0;
	*site = __builtin_return_address(0);
	elide_init(&latch->held, *site);
}

static void class_has_the_site_of_initialisation(void **state)
{
	struct latch *many = aligned_alloc(CACHE_LINE, 9 * sizeof(*many));
	const void *site, *other;

	for (volatile int i = 0; i < 7; i++)
		make(&many[i], &site);
	make(&many[7], &other);
	assert_ptr_not_equal(site, other);
	assert_true(class_of(site, 7));
	assert_true(class_of(other, 1));
	/* In a section of another lock the class is found after the commit. */
	many[8].held = 0;
	for (int i = 0; i < 20; i++) {
		enter(&a);
		elide_init(&many[8].held, &many);
		leave(&a);
	}
	assert_true(class_of(&many, 20));
	for (int i = 0; i < 9; i++) {
		enter(&many[i]);
		leave(&many[i]);
		elide_forget(&many[i].held);
	}
	free(many);
}

static void forgotten_lock_is_another(void **state)
{
	struct latch *latch = aligned_alloc(CACHE_LINE, sizeof(*latch));

	latch->held = 0;
	for (int i = 0; i < 10; i++) {
		enter(latch);
		leave(latch);
		elide_forget(&latch->held);
	}
	/* Inside a section of another lock it waits for the commit. */
	enter(&a);
	elide_forget(&latch->held);
	leave(&a);
	free(latch);
}

#define NR_THREADS 4
#define NR_ROUNDS  20000

static uint64_t counters[4];
static struct latch latches[4];

static void *count(void *arg)
{
	uint32_t random = (uintptr_t)arg + 1;

	for (int i = 0; i < NR_ROUNDS; i++) {
		uint32_t first, second;

		random = random * 1664525u + 1013904223u; /* Numerical Recipes */
		first = random >> 28 & 1;
		second = 2 + (random >> 29 & 1);
		enter(&latches[first]);
		counters[first]++;
		enter(&latches[second]);
		counters[second]++;
		leave(&latches[random >> 30 & 1 ? first : second]);
		leave(&latches[random >> 30 & 1 ? second : first]);
	}
	return NULL;
}

static void threads_are_exact(void **state)
{
	struct elide_row before = totals(), after;
	pthread_t threads[NR_THREADS];

	for (uintptr_t i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, (void *)i), 0);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counters[0] + counters[1], NR_THREADS * NR_ROUNDS);
	assert_int_equal(counters[2] + counters[3], NR_THREADS * NR_ROUNDS);
	after = totals();
	assert_int_equal(elide_row_acquired(&after) - elide_row_acquired(&before), 2 * NR_THREADS * NR_ROUNDS);
	if (elide_status(NULL))
		assert_true(elide_row_elided(&after) > elide_row_elided(&before));
}

static int remove_data(void **state)
{
	unlink(elide_data_path());
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_has_a_reason),
		cmocka_unit_test(section_is_counted),
		cmocka_unit_test(nested_and_not_in_order),
		cmocka_unit_test(end_without_begin_is_refused),
		cmocka_unit_test(relock_is_left_to_the_lock),
		cmocka_unit_test(held_lock_is_not_elided),
		cmocka_unit_test(changed_word_does_not_commit),
		cmocka_unit_test(deeper_than_the_held_list),
		cmocka_unit_test(word_of_eight_bytes),
		cmocka_unit_test(try_is_counted),
		cmocka_unit_test(try_of_a_held_lock_is_not_counted),
		cmocka_unit_test(try_inside_a_section),
		cmocka_unit_test(class_has_the_site_of_initialisation),
		cmocka_unit_test(forgotten_lock_is_another),
		cmocka_unit_test(threads_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, remove_data);
}
