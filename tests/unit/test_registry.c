/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_registry.c - locks, classes and their bounds. The registry is one per
 * process: each test runs in a child that starts it afresh.
 */
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/base/datafile-writer.h"
#include "../../lib/state/modules.h"
#include "../../lib/state/registry.h"
#include "child.h"

#define MUTEX  ELIDE_KIND_MUTEX
#define SITE_A ((const void *)0x1000)
#define SITE_B ((const void *)0x2000)

static int static_lock, other_static_lock;
/* Sixteen mutexes could be in it, and fifteen in the other. */
static char large_data[16 * 64], small_data[15 * 40];
static char directory[] = "/tmp/elide-test-XXXXXX";

static void in_child(void (*test)(void), uint32_t max_locks, uint32_t max_classes)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		char name[64];

		snprintf(name, sizeof(name), "%s/%%p", directory);
		check(!elide_data_open(name, 0, 1 << 20, ELIDE_DATA_FIRST));
		check(!elide_registry_start(max_locks, max_classes));
		elide_registry_save();
		test();
		unlink(elide_data_path());
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Locks on the heap: not in any object's data. */
static char *heap_locks(size_t nr)
{
	char *p = calloc(nr, 64);

	check(p);
	return p;
}

static const struct elide_class *info(uint32_t index)
{
	return elide_class_info(elide_registry_class(index));
}

static void classes(void)
{
	char *heap = heap_locks(4);
	uint32_t a, b, c, d;

	a = elide_registry_add(heap, MUTEX, SITE_A, true, false);
	b = elide_registry_add(heap + 64, MUTEX, SITE_A, true, false);
	c = elide_registry_add(heap + 128, MUTEX, SITE_B, true, false);
	d = elide_registry_add(heap + 192, MUTEX, SITE_A, false, false);
	check(info(a)->type == ELIDE_CLASS_INIT && info(a)->address == (uintptr_t)SITE_A);
	check(info(a)->kind == MUTEX);
	check(elide_registry_class(a) == elide_registry_class(b) && info(a)->nr_locks == 2);
	check(elide_registry_class(c) != elide_registry_class(a) && info(c)->nr_locks == 1);
	check(info(d)->type == ELIDE_CLASS_FIRST && info(d)->address == (uintptr_t)SITE_A);
	check(elide_registry_class(d) != elide_registry_class(a));

	/* A static lock is its own class, initialised or not. */
	a = elide_registry_add(&static_lock, MUTEX, SITE_A, true, false);
	b = elide_registry_add(&other_static_lock, MUTEX, SITE_A, false, false);
	check(info(a)->type == ELIDE_CLASS_STATIC && info(a)->address == (uintptr_t)&static_lock);
	check(info(b)->type == ELIDE_CLASS_STATIC);
	check(info(b)->address == (uintptr_t)&other_static_lock);
}

static const void *address_of(uint32_t index)
{
	return (const void *)(uintptr_t)info(index)->address;
}

static void array_is_one_class(void)
{
	const char *first = large_data + 5 * 64;
	uint32_t a, b, other;

	a = elide_registry_add(first, MUTEX, SITE_A, false, false);
	check(address_of(a) == first && !info(a)->array);
	/* Met again, it is still alone. */
	check(elide_registry_add(first, MUTEX, SITE_A, true, false) == a && !info(a)->array);
	for (int i = 0; i < 16; i++) {
		b = elide_registry_add(large_data + i * 64, MUTEX, i % 2 ? SITE_A : SITE_B, i % 3,
				       false);
		check(elide_registry_class(b) == elide_registry_class(a));
	}
	check(address_of(a) == large_data && info(a)->array == sizeof(large_data));
	check(info(a)->type == ELIDE_CLASS_STATIC && info(a)->nr_locks >= 16);
	/* No elements: one too near to the first, one of another kind, one that is process-shared. */
	other = elide_registry_add(large_data + 24, MUTEX, SITE_A, false, false);
	check(address_of(other) == large_data + 24 && !info(other)->array);
	other = elide_registry_add(large_data + 32, ELIDE_KIND_SPIN, SITE_A, false, false);
	check(address_of(other) == large_data + 32);
	other = elide_registry_add(large_data + 64 + 40, MUTEX, SITE_A, false, true);
	check(address_of(other) == large_data + 64 + 40);
}

static void few_locks_are_a_class_each(void)
{
	for (int i = 0; i < 15; i++) {
		uint32_t a = elide_registry_add(small_data + i * 40, MUTEX, SITE_A, false, false);

		check(address_of(a) == small_data + i * 40 && !info(a)->array);
		check(info(a)->nr_locks == 1);
	}
}

/* Beyond the bound of classes: an array needs no more than one. */
static void array_in_a_small_table(void)
{
	check(elide_registry_add(&static_lock, MUTEX, SITE_A, false, false) != ELIDE_NONE);
	for (int i = 0; i < 16; i++)
		check(elide_registry_add(large_data + i * 64, MUTEX, SITE_A, false, false) !=
		      ELIDE_NONE);
	check(elide_data->dropped[ELIDE_DROPPED_CLASSES] == 0);
	check(elide_registry_add(&other_static_lock, MUTEX, SITE_A, false, false) == ELIDE_NONE);
	check(elide_data->dropped[ELIDE_DROPPED_CLASSES] == 1);
}

static void rwlock_is_one_class(void)
{
	char *heap = heap_locks(2);
	uint32_t r, w;

	r = elide_registry_add(heap, ELIDE_KIND_RWLOCK_READ, SITE_A, false, false);
	w = elide_registry_add(heap + 64, ELIDE_KIND_RWLOCK_WRITE, SITE_A, false, false);
	check(elide_registry_class(r) == elide_registry_class(w));
	check(info(w)->kind == ELIDE_KIND_RWLOCK_READ);
}

static void shared_is_apart(void)
{
	char *heap = heap_locks(2);
	uint32_t private, shared;

	private = elide_registry_add(heap, MUTEX, SITE_A, true, false);
	shared = elide_registry_add(heap + 64, MUTEX, SITE_A, true, true);
	check(!elide_class_shared(elide_registry_class(private)));
	check(elide_class_shared(elide_registry_class(shared)));
}

static void life_of_an_address(void)
{
	char *lock = heap_locks(1);
	uint32_t first, again, generation = *elide_generation(lock);

	check(elide_registry_find(lock) == ELIDE_NONE);
	elide_registry_remove(lock); /* of an unknown lock: nothing */
	check(*elide_generation(lock) == generation);

	first = elide_registry_add(lock, MUTEX, SITE_A, false, false);
	check(first != ELIDE_NONE && elide_registry_find(lock) == first);
	check(*elide_generation(lock) != generation);

	/* Found again: the same, and the caches stay good. */
	generation = *elide_generation(lock);
	elide_registry_state(first)->policy.pause = 7;
	again = elide_registry_add(lock, MUTEX, SITE_B, false, false);
	check(again == first && *elide_generation(lock) == generation);
	check(elide_registry_state(first)->policy.pause == 7);

	/* Initialised anew without a destroy: another class, a clean record, caches forget. */
	again = elide_registry_add(lock, MUTEX, SITE_B, true, false);
	check(again == first && info(first)->type == ELIDE_CLASS_INIT);
	check(info(first)->address == (uintptr_t)SITE_B);
	check(elide_registry_state(first)->policy.pause == 0);
	check(*elide_generation(lock) != generation);

	generation = *elide_generation(lock);
	elide_registry_remove(lock);
	check(elide_registry_find(lock) == ELIDE_NONE);
	check(*elide_generation(lock) != generation);
	check(elide_registry_add(lock, MUTEX, SITE_A, false, false) != ELIDE_NONE);
}

/* Of the locks of a class, those that two threads have used. */
static void shared_locks(void)
{
	char *locks = heap_locks(3);
	uint32_t at[3], class_index;

	for (int i = 0; i < 3; i++)
		at[i] = elide_registry_add(locks + 64 * i, MUTEX, SITE_B, true, false);
	class_index = elide_registry_class(at[0]);
	check(!info(at[0])->nr_shared);
	for (uint32_t user = 1; user < 4; user++) {
		elide_registry_use(at[0], class_index, 1);
		elide_registry_use(at[1], class_index, 2);
		check(!info(at[0])->nr_shared);
	}
	for (uint32_t user = 1; user < 4; user++)
		elide_registry_use(at[0], class_index, user);
	check(info(at[0])->nr_shared == 1);
	elide_registry_use(at[1], class_index, 3);
	check(info(at[0])->nr_shared == 2);
	/* A new lock at the address of one is used by nobody. */
	elide_registry_add(locks, MUTEX, SITE_B, true, false);
	elide_registry_use(at[0], class_index, 1);
	elide_registry_use(at[0], class_index, 1);
	check(info(at[0])->nr_shared == 2);
	elide_registry_use(at[0], class_index, 2);
	check(info(at[0])->nr_shared == 3);
	/* As in a forked child. */
	elide_registry_save();
	check(!info(at[0])->nr_shared);
	elide_registry_use(at[0], class_index, 4);
	check(!info(at[0])->nr_shared);
}

/* Of many locks that two threads have used, the first are counted. */
static void shared_bound(void)
{
	char *locks = heap_locks(2 * ELIDE_SHARED_COUNTED);

	for (uint32_t i = 0; i < 2 * ELIDE_SHARED_COUNTED; i++) {
		uint32_t at = elide_registry_add(locks + 64 * i, MUTEX, SITE_B, true, false);

		elide_registry_use(at, elide_registry_class(at), 1);
		elide_registry_use(at, elide_registry_class(at), 2);
		check(info(at)->nr_shared ==
		      (i < ELIDE_SHARED_COUNTED ? i + 1 : ELIDE_SHARED_COUNTED));
	}
}

static void unlikely_address(void)
{
	/* Bit 48: only with 5-level paging; there is no room for it in the key. */
	check(elide_registry_add((void *)(1ull << 48), MUTEX, SITE_A, true, false) == ELIDE_NONE);
}

static void locks_have_a_bound(void)
{
	char *heap = heap_locks(100);
	uint64_t *dropped = &elide_data->dropped[ELIDE_DROPPED_LOCKS];

	for (int i = 0; i < 64; i++)
		check(elide_registry_add(heap + i * 64, MUTEX, SITE_A, true, false) != ELIDE_NONE);
	check(*dropped == 0);
	check(elide_registry_add(heap + 64 * 64, MUTEX, SITE_A, true, false) == ELIDE_NONE);
	check(elide_registry_add(heap + 65 * 64, MUTEX, SITE_A, false, false) == ELIDE_NONE);
	check(*dropped == 2);
	/* What is known stays known; what is destroyed makes room. */
	check(elide_registry_add(heap, MUTEX, SITE_B, true, false) != ELIDE_NONE);
	elide_registry_remove(heap);
	check(elide_registry_add(heap + 65 * 64, MUTEX, SITE_A, true, false) != ELIDE_NONE);
	check(*dropped == 2);
}

static void classes_have_a_bound(void)
{
	char *heap = heap_locks(32);

	for (uintptr_t i = 0; i < 16; i++)
		check(elide_registry_add(heap + i * 64, MUTEX, (void *)(0x1000 + i), true, false) !=
		      ELIDE_NONE);
	check(elide_registry_add(heap + 16 * 64, MUTEX, SITE_B, true, false) == ELIDE_NONE);
	check(elide_data->dropped[ELIDE_DROPPED_CLASSES] == 1);
	check(elide_registry_add(heap + 17 * 64, MUTEX, SITE_A, true, false) != ELIDE_NONE);
}

#define MANY 100000
#define STRIDED 60000

static void many_locks(void)
{
	char *heap = heap_locks(MANY);
	uint32_t dropped;

	for (int i = 0; i < MANY; i++)
		elide_registry_add(heap + i * 64L, MUTEX, SITE_A, true, false);
	dropped = elide_data->dropped[ELIDE_DROPPED_LOCKS];
	/* 100,000 in a table of 262,144: an overflow of a neighbourhood is a rare chance. */
	check(dropped < MANY / 1000);
	for (int i = 0; i < MANY; i++)
		dropped -= elide_registry_find(heap + i * 64L) == ELIDE_NONE;
	check(dropped == 0);
}

/* Whatever distance the locks have from each other, all of them find a slot, also those of 4 bytes. */
static void strides(void)
{
	static const uint32_t table[] = {4, 8, 16, 24, 40, 48, 56, 64, 72, 96, 128, 192, 256, 1000, 4096, 5000};

	for (uint32_t s = 0; s < ARRAY_SIZE(table); s++) {
		/* Only addresses are used. A third of the slots, twice as many as any real use has. */
		uintptr_t start = 0x7f0000001000 + s * 0x100000000;

		for (uint32_t i = 0; i < STRIDED; i++)
			elide_registry_add((void *)(start + i * (uintptr_t)table[s]), MUTEX, SITE_A, true,
					   false);
		check(elide_data->dropped[ELIDE_DROPPED_LOCKS] == 0);
		for (uint32_t i = 0; i < STRIDED; i++)
			elide_registry_remove((void *)(start + i * (uintptr_t)table[s]));
	}
}

/* The call that has initialised the last lock of a page initialises another one. */
static void again(void)
{
	char *page = aligned_alloc(4096, 2 * 4096);
	uint32_t index, class_index;

	check(!elide_registry_add_again(page, MUTEX, SITE_A, false));
	check(elide_registry_add(page, MUTEX, SITE_A, true, false) != ELIDE_NONE);
	check(!elide_registry_add_again(page + 64, MUTEX, SITE_A, false));
	check(elide_registry_add_known(page + 64, MUTEX, SITE_A, true, false) != ELIDE_NONE);
	class_index = elide_registry_class(elide_registry_find(page));
	for (int i = 2; i < 40; i++) {
		uint32_t generation = *elide_generation(page + i * 64);

		check(elide_registry_add_again(page + i * 64, MUTEX, SITE_A, false));
		index = elide_registry_find(page + i * 64);
		check(index != ELIDE_NONE && elide_registry_class(index) == class_index);
		check(*elide_generation(page + i * 64) != generation);
		check(elide_class_info(class_index)->nr_locks == (uint32_t)i + 1);
	}
	/* Another kind, call, page, or sharing; and a lock that is there. */
	check(!elide_registry_add_again(page + 41 * 64, ELIDE_KIND_SPIN, SITE_A, false));
	check(!elide_registry_add_again(page + 41 * 64, MUTEX, SITE_B, false));
	check(!elide_registry_add_again(page + 41 * 64, MUTEX, SITE_A, true));
	check(!elide_registry_add_again(page + 4096, MUTEX, SITE_A, false));
	check(!elide_registry_add_again(page, MUTEX, SITE_A, false));
	check(elide_class_info(class_index)->nr_locks == 40);
}

/* As libstdc++ and node pools do: the same addresses come and go. */
static void churn(void)
{
	char *heap = heap_locks(64);

	for (int i = 0; i < 100000; i++) {
		char *lock = heap + i % 64 * 64;

		elide_registry_remove(lock);
		check(elide_registry_find(lock) == ELIDE_NONE);
		check(elide_registry_add(lock, MUTEX, SITE_A, true, false) != ELIDE_NONE);
	}
	check(elide_data->dropped[ELIDE_DROPPED_LOCKS] == 0);
}

static void objects(void)
{
	const struct elide_module *m = elide_module_of(&static_lock);

	check(m && (uintptr_t)&static_lock >= m->start && (uintptr_t)&static_lock < m->end);
	check(elide_module_of(heap_locks(1)) == NULL);
	/* Not one that a sanitizer puts its own in place of. */
	m = elide_module_of((const void *)(uintptr_t)&gnu_get_libc_version);
	check(m && strstr(m->path, "libc.so"));
}

#define TEST(name, locks, nr_classes)            \
	static void test_##name(void **state)    \
	{                                        \
		in_child(name, locks, nr_classes); \
	}

TEST(classes, 1024, 64)
TEST(array_is_one_class, 1024, 64)
TEST(few_locks_are_a_class_each, 1024, 64)
TEST(array_in_a_small_table, 1024, 2)
TEST(rwlock_is_one_class, 1024, 64)
TEST(shared_is_apart, 1024, 64)
TEST(life_of_an_address, 1024, 64)
TEST(shared_locks, 1024, 64)
TEST(shared_bound, 1024, 64)
TEST(unlikely_address, 1024, 64)
TEST(locks_have_a_bound, 64, 64)
TEST(classes_have_a_bound, 1024, 16)
TEST(many_locks, 131072, 64)
TEST(strides, 131072, 64)
TEST(again, 131072, 64)
TEST(churn, 128, 64)
TEST(objects, 64, 64)

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_array_is_one_class),
		cmocka_unit_test(test_few_locks_are_a_class_each),
		cmocka_unit_test(test_array_in_a_small_table),
		cmocka_unit_test(test_rwlock_is_one_class),
		cmocka_unit_test(test_shared_is_apart),
		cmocka_unit_test(test_life_of_an_address),
		cmocka_unit_test(test_shared_locks),
		cmocka_unit_test(test_shared_bound),
		cmocka_unit_test(test_unlikely_address),
		cmocka_unit_test(test_locks_have_a_bound),
		cmocka_unit_test(test_classes_have_a_bound),
		cmocka_unit_test(test_many_locks),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_objects),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
