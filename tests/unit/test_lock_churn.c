/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_lock_churn.c - the table of locks: where words are, what finds them, and that nothing is lost while it
 * is made anew. The table is one per process: each test runs in a child that starts it afresh.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* The functions of the table once more, with something to do where a point is. */
static void at_point(const char *point);
#include "../../lib/base/testpoint.h"
#undef test_point
#define test_point(point) at_point(#point)
#include "../../lib/state/lock-table.c"
#include "child.h"

static void (*on_point)(const char *point);

static void at_point(const char *point)
{
	if (on_point)
		on_point(point);
}

static void in_child(void (*test)(void), uint32_t max_locks)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		check(!elide_table_start(max_locks));
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool is(const void *lock, uint32_t tag)
{
	return elide_registry_is(lock, elide_word(NULL, tag));
}

/* Register a lock as the engine does. Is the tag there now that of the call? */
static bool put_lock(const void *lock, uint32_t tag, bool initialised)
{
	bool new;
	uint64_t word = elide_table_put(elide_word(lock, tag), initialised, &new);

	if (!word && elide_table_make_room(lock))
		word = elide_table_put(elide_word(lock, tag), initialised, &new);
	return word == elide_word(lock, tag);
}

/* The words of a search in which the locks of one array are; @in_pair: of these, those in the first two. */
static void spread(const struct elide_table *table, uintptr_t start, uint32_t stride, uint32_t nr_locks,
		   uint32_t *in_pair)
{
	static uint8_t used[FIRST_WORDS << 9];

	memset(used, 0, table->nr);
	for (uint32_t i = 0; i < nr_locks; i++) {
		uint64_t home = elide_table_home(table, (void *)(start + (uintptr_t)i * stride));
		int at = 0;

		while (at < ELIDE_SLOTS && used[home ^ at])
			at++;
		/* Else the table is made larger. */
		if (at < ELIDE_SLOTS)
			used[home ^ at] = 1;
		*in_pair += at < 2;
	}
}

/* Neighbouring locks of whatever size are found at once, most of them: see ELIDE_HASH_FACTOR. */
static void strides_are_spread(void **state)
{
	static const uint32_t strides[] = {
		4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120,
		128, 136, 160, 192, 256, 320, 384, 512, 640, 1024, 2048, 4096,
	};
	double sum = 0, worst = 1;
	uint32_t nr = 0;

	for (uint32_t size = 0; size < 10; size++)
		for (uint32_t s = 0; s < ARRAY_SIZE(strides); s++) {
			struct elide_table table = {.nr = FIRST_WORDS << size};
			uint32_t nr_locks = FILL(table.nr), in_pair = 0;
			double share;

			spread(&table, 0x7f1234560040, strides[s], nr_locks, &in_pair);
			share = (double)in_pair / nr_locks;
			sum += share;
			worst = share < worst ? share : worst;
			nr++;
		}
	print_message("%u tables: %.4f in the first two words, %.4f at the worst\n", nr, sum / nr, worst);
	assert_true(sum / nr > 0.96);
	assert_true(worst > 0.45);
}

/* What is compared without a branch is what a search finds, where the lock is in the first two words. */
static void pair_is_what_is_found(void)
{
	const char *base = (const char *)0x7f1234560040;
	uint32_t tables = 0, in_pair = 0, nr = 0;

	for (uint32_t i = 0; i < 20000; i++)
		check(put_lock(base + i * 72, i % 1000, i % 2));
	for (uint32_t i = 0; i < 20000; i++) {
		const void *lock = base + i * 72;
		struct elide_table *table = elide_table_now();
		uint64_t found, *word = elide_table_find(table, lock, &found);
		uint64_t at, home = elide_table_home(table, lock);

		check(word && *word == found && found == elide_word(lock, i % 1000));
		at = (uint64_t)(word - table->words) ^ home;
		check(at < ELIDE_SLOTS);
		check(elide_registry_find(lock) == i % 1000);
		check(is(lock, i % 1000) == (at < 2));
		check(!is(lock, (i + 1) % 1000) && !is((const char *)lock + 8, i % 1000));
		in_pair += at < 2;
		nr++;
		tables = table->nr;
		if (i % 4)
			continue;
		/* Gone: neither finds it; and it is again where it was. */
		elide_table_remove(lock);
		check(!is(lock, i % 1000) && elide_registry_find(lock) == ELIDE_NONE);
		check(put_lock(lock, 1001, i % 8));
		check(elide_registry_find(lock) == 1001 && is(lock, 1001) == (at < 2));
		check(elide_table_find(table, lock, &found) == word);
	}
	check(tables > FIRST_WORDS && in_pair > nr / 2);
}

static void split(void)
{
	const char *lock = (const char *)0x7f1234560040, *other = lock + 64;

	check(put_lock(lock, 5, true) && put_lock(other, 5, true));
	check(elide_registry_split(lock, 5, 9));
	check(elide_registry_find(lock) == ELIDE_TAG_HOT + 9 && is(lock, ELIDE_TAG_HOT + 9));
	check(elide_tag_hot(ELIDE_TAG_HOT + 9) == 9 && elide_registry_class(lock) == 5);
	check(elide_registry_find(other) == 5 && elide_registry_class(other) == 5 && !elide_tag_hot(5));
	/* It has one already, is of another class, is gone, or was never there. */
	check(!elide_registry_split(lock, 5, 10) && elide_registry_find(lock) == ELIDE_TAG_HOT + 9);
	check(!elide_registry_split(other, 6, 10));
	elide_table_remove(other);
	check(!elide_registry_split(other, 5, 11) && elide_registry_find(other) == ELIDE_NONE);
	check(!elide_registry_split(lock + 128, 5, 12));
	check(!elide_registry_split(lock, 5, ELIDE_TAG_HOTS + 1));
	/* The greatest number is no lock that is gone. */
	check(put_lock(other, 5, false) && elide_registry_split(other, 5, ELIDE_TAG_HOTS));
	check(elide_registry_class(other) == 5 && elide_tag_hot(elide_registry_find(other)) == ELIDE_TAG_HOTS);
	/* The next lock there begins with the class again; and the table made anew has the tags. */
	check(put_lock(lock + 192, 7, true) && elide_registry_split(lock + 192, 7, 1));
	check(put_lock(lock, 6, true) && elide_registry_find(lock) == 6);
	check(elide_table_make_room(lock));
	check(elide_registry_find(lock) == 6 && elide_registry_find(other) == ELIDE_TAG_HOT + ELIDE_TAG_HOTS);
	check(elide_registry_find(lock + 192) == ELIDE_TAG_HOT + 1 && elide_registry_class(lock + 192) == 7);
}

/* What is remembered of locks goes with them into the next table. */
static void states(void)
{
	const char *base = (const char *)0x7f1234560040;

	for (uint32_t i = 0; i < 300; i++) {
		check(put_lock(base + i * 40, i, true));
		elide_table_state(base + i * 40)->skip = i + 1;
	}
	for (uint32_t i = 300; i < 3000; i++)
		check(put_lock(base + i * 40, i, false));
	for (uint32_t i = 0; i < 3000; i++)
		check(elide_table_state(base + i * 40)->skip == (i < 300 ? i + 1 : 0));
	check(put_lock(base, 7, true) && !elide_table_state(base)->skip);
	check(!elide_table_state(base + 3000 * 40));
}

static void forget(void)
{
	const char *base = (const char *)0x7f1234560040;

	for (uint32_t i = 0; i < 100; i++)
		check(put_lock(base + i * 64, i, true));
	elide_table_forget((uintptr_t)base + 10 * 64, (uintptr_t)base + 20 * 64);
	for (uint32_t i = 0; i < 100; i++)
		check(elide_registry_find(base + i * 64) == (i >= 10 && i < 20 ? ELIDE_NONE : i));
}

#include "lock-table-threads.h"

#define TEST(name, locks)                     \
	static void test_##name(void **state) \
	{                                     \
		in_child(name, locks);        \
	}

TEST(pair_is_what_is_found, 1 << 20)
TEST(split, 1024)
TEST(states, 1 << 20)
TEST(forget, 1024)
TEST(agree, 1 << 20)
TEST(churn_of_threads, 1 << 20)
TEST(point_in_a_move, 1 << 20)
TEST(fork_in_a_move, 1 << 20)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_are_spread),
		cmocka_unit_test(test_pair_is_what_is_found),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_churn_of_threads),
		cmocka_unit_test(test_point_in_a_move),
		cmocka_unit_test(test_fork_in_a_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
