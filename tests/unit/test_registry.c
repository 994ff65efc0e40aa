/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_registry.c - locks, classes and their bounds. The registry is one per
 * process: each test runs in a child that starts it afresh.
 */
#include <gnu/libc-version.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/state/lock-table.h"
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

/* Is that the tag of the lock, and is it found at once? */
static bool has_tag(const void *lock, uint32_t tag)
{
	return elide_registry_is(lock, elide_word(NULL, tag));
}

/* Locks on the heap: not in any object's data. */
static char *heap_locks(size_t nr)
{
	char *p = calloc(nr, 64);

	check(p);
	return p;
}

static const struct elide_class *info(uint32_t tag)
{
	return elide_class_info(elide_tag_class(tag));
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
	check(elide_tag_class(a) == elide_tag_class(b) && info(a)->nr_locks == 2);
	check(elide_tag_class(c) != elide_tag_class(a) && info(c)->nr_locks == 1);
	check(info(d)->type == ELIDE_CLASS_FIRST && info(d)->address == (uintptr_t)SITE_A);
	check(elide_tag_class(d) != elide_tag_class(a));

	/* A static lock is its own class, initialised or not. */
	a = elide_registry_add(&static_lock, MUTEX, SITE_A, true, false);
	b = elide_registry_add(&other_static_lock, MUTEX, SITE_A, false, false);
	check(info(a)->type == ELIDE_CLASS_STATIC && info(a)->address == (uintptr_t)&static_lock);
	check(info(b)->type == ELIDE_CLASS_STATIC);
	check(info(b)->address == (uintptr_t)&other_static_lock);
}

static const void *address_of(uint32_t tag)
{
	return (const void *)(uintptr_t)info(tag)->address;
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
		check(elide_tag_class(b) == elide_tag_class(a));
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
	check(elide_class_refused(&other_static_lock, MUTEX, false));
	check(!elide_class_refused(large_data + 15 * 64, MUTEX, false));
	check(elide_class_refused(large_data + 15 * 64, MUTEX, true));
	check(elide_class_refused(large_data + 15 * 64, ELIDE_KIND_SPIN, false));
	check(elide_registry_add(&other_static_lock, MUTEX, SITE_A, false, false) == ELIDE_NONE);
	check(elide_data->dropped[ELIDE_DROPPED_CLASSES] == 1);
}

static void rwlock_is_one_class(void)
{
	char *heap = heap_locks(2);
	uint32_t r, w;

	r = elide_registry_add(heap, ELIDE_KIND_RWLOCK_READ, SITE_A, false, false);
	w = elide_registry_add(heap + 64, ELIDE_KIND_RWLOCK_WRITE, SITE_A, false, false);
	check(elide_tag_class(r) == elide_tag_class(w));
	check(info(w)->kind == ELIDE_KIND_RWLOCK_READ);
}

static void shared_is_apart(void)
{
	char *heap = heap_locks(2);
	uint32_t private, shared;

	private = elide_registry_add(heap, MUTEX, SITE_A, true, false);
	shared = elide_registry_add(heap + 64, MUTEX, SITE_A, true, true);
	check(!elide_class_shared(elide_tag_class(private)));
	check(elide_class_shared(elide_tag_class(shared)));
}

static void life_of_an_address(void)
{
	char *lock = heap_locks(1);
	uint32_t first, again;

	check(elide_registry_find(lock) == ELIDE_NONE);
	elide_registry_remove(lock); /* of an unknown lock: nothing */
	check(elide_registry_find(lock) == ELIDE_NONE);

	first = elide_registry_add(lock, MUTEX, SITE_A, false, false);
	check(first != ELIDE_NONE && elide_registry_find(lock) == first);

	/* Found again: the same, and what is remembered stays. */
	elide_policy_of(lock)->pause = 7;
	again = elide_registry_add(lock, MUTEX, SITE_B, false, false);
	check(again == first && info(first)->nr_locks == 1);
	check(elide_policy_of(lock)->pause == 7);

	/* Initialised anew without a destroy: another class, a clean record. */
	again = elide_registry_add(lock, MUTEX, SITE_B, true, false);
	check(again != first && info(again)->type == ELIDE_CLASS_INIT);
	check(elide_registry_find(lock) == again && elide_registry_class(lock) == again);
	check(info(again)->address == (uintptr_t)SITE_B && info(again)->nr_locks == 1);
	check(elide_policy_of(lock)->pause == 0);

	/* By the call that did so before: a new lock of the class, a clean record. */
	elide_policy_of(lock)->pause = 7;
	check(elide_registry_add(lock, MUTEX, SITE_B, true, false) == again);
	check(elide_policy_of(lock)->pause == 0 && info(again)->nr_locks == 2);

	elide_policy_of(lock)->pause = 7;
	elide_registry_remove(lock);
	elide_registry_remove(lock);
	check(elide_registry_find(lock) == ELIDE_NONE && elide_registry_class(lock) == ELIDE_NONE);
	/* Found again, as one that is initialised statically: a lock of its own. */
	check(elide_registry_add(lock, MUTEX, SITE_A, false, false) == first);
	check(elide_registry_find(lock) == first && info(first)->nr_locks == 2);
	check(elide_policy_of(lock)->pause == 0);
}

/* The block of a thread. */
static const void *user(uintptr_t nr)
{
	return (const void *)(0x7f0000000000 + nr * 32768);
}

/* Of the locks of a class, those that two threads have used. */
static void shared_locks(void)
{
	char *locks = heap_locks(3);
	uint32_t class_index = elide_registry_add(locks, MUTEX, SITE_B, true, false);
	const struct elide_class *class = elide_class_info(class_index);

	for (int i = 1; i < 3; i++)
		check(elide_registry_add(locks + 64 * i, MUTEX, SITE_B, true, false) == class_index);
	check(!class->nr_shared);
	for (int i = 1; i < 4; i++) {
		elide_registry_used(locks, class_index, user(1));
		elide_registry_used(locks + 64, class_index, user(2));
		check(!class->nr_shared);
	}
	for (int i = 1; i < 4; i++)
		elide_registry_used(locks, class_index, user(i));
	check(class->nr_shared == 1);
	elide_registry_used(locks + 64, class_index, user(3));
	check(class->nr_shared == 2);
	/* As in a forked child. */
	elide_registry_save();
	check(!class->nr_shared);
	elide_registry_used(locks, class_index, user(4));
	check(!class->nr_shared);
}

/* Of many locks that two threads have used, the first are counted. */
static void shared_bound(void)
{
	char *locks = heap_locks(2 * ELIDE_SHARED_COUNTED);

	for (uint32_t i = 0; i < 2 * ELIDE_SHARED_COUNTED; i++) {
		uint32_t tag = elide_registry_add(locks + 64 * i, MUTEX, SITE_B, true, false);

		elide_registry_used(locks + 64 * i, tag, user(1));
		elide_registry_used(locks + 64 * i, tag, user(2));
		check(info(tag)->nr_shared ==
		      (i < ELIDE_SHARED_COUNTED ? i + 1 : ELIDE_SHARED_COUNTED));
	}
}

/* Bit 48: only with 5-level paging; there is no room for it in a word. */
static void unlikely_address(void)
{
	const char *lock = heap_locks(1), *twin = (const char *)((uintptr_t)lock | 1ull << 48);
	uint32_t tag;

	check(elide_registry_add((void *)(1ull << 48), MUTEX, SITE_A, true, false) == ELIDE_NONE);
	check(elide_registry_add_known((void *)(1ull << 48), MUTEX, SITE_A, true, false) == ELIDE_NONE);
	/* Nor is it taken for the lock whose address has the same lower bits. */
	tag = elide_registry_add(lock, MUTEX, SITE_A, true, false);
	check(has_tag(lock, tag));
	for (uint64_t bit = 1ull << 48; bit; bit <<= 1) {
		twin = (const char *)((uintptr_t)lock | bit);
		check(!has_tag(twin, tag));
		check(elide_registry_find(twin) == ELIDE_NONE);
		check(elide_registry_add(twin, MUTEX, SITE_A, true, false) == ELIDE_NONE);
		elide_registry_remove(twin);
	}
	check(elide_registry_find(lock) == tag);
}

/* Is a lock registered within @nr calls that initialise it? Most are refused without a look. */
static bool room_is_made(const void *lock, int nr)
{
	while (nr--) {
		if (elide_registry_full())
			elide_registry_refuse(false);
		else if (elide_registry_add(lock, MUTEX, SITE_A, true, false) != ELIDE_NONE)
			return true;
	}
	return false;
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
	check(room_is_made(heap + 65 * 64, 1000));
	check(elide_registry_find(heap) == ELIDE_NONE);
	for (int i = 1; i < 64; i++)
		check(elide_registry_find(heap + i * 64) != ELIDE_NONE);
	/* And not for two. */
	check(!room_is_made(heap + 66 * 64, 2000));
}

static void classes_have_a_bound(void)
{
	char *heap = heap_locks(32);

	for (uintptr_t i = 0; i < 16; i++)
		check(elide_registry_add(heap + i * 64, MUTEX, (void *)(0x1000 + i), true, false) !=
		      ELIDE_NONE);
	check(elide_registry_add(heap + 16 * 64, MUTEX, SITE_B, true, false) == ELIDE_NONE);
	check(elide_data->dropped[ELIDE_DROPPED_CLASSES] == 1);
	check(elide_class_refused(heap + 16 * 64, MUTEX, false));
	/* Without a class, a lock is not of that of the one before it. */
	check(elide_registry_add(heap, MUTEX, SITE_B, true, false) == ELIDE_NONE);
	check(elide_registry_find(heap) == ELIDE_NONE);
	check(elide_registry_add(heap + 17 * 64, MUTEX, SITE_A, true, false) != ELIDE_NONE);
}

#define MANY 100000
#define STRIDED 60000

static void many_locks(void)
{
	char *heap = heap_locks(MANY);

	for (int i = 0; i < MANY; i++)
		check(elide_registry_add(heap + i * 64L, MUTEX, SITE_A, true, false) != ELIDE_NONE);
	check(!elide_data->dropped[ELIDE_DROPPED_LOCKS]);
	for (int i = 0; i < MANY; i++)
		check(elide_registry_find(heap + i * 64L) != ELIDE_NONE);
}

/* Whatever distance the locks have from each other, all of them find a place, also those of 4 bytes. */
static void strides(void)
{
	static const uint32_t table[] = {4, 8, 16, 24, 40, 48, 56, 64, 72, 96, 128, 192, 256, 1000, 4096, 5000};

	for (uint32_t s = 0; s < ARRAY_SIZE(table); s++) {
		/* Only addresses are used. */
		uintptr_t start = 0x7f0000001000 + s * 0x100000000;

		for (uint32_t i = 0; i < STRIDED; i++)
			elide_registry_add((void *)(start + i * (uintptr_t)table[s]), MUTEX, SITE_A, true,
					   false);
		check(elide_data->dropped[ELIDE_DROPPED_LOCKS] == 0);
		for (uint32_t i = 0; i < STRIDED; i++) {
			const void *lock = (void *)(start + i * (uintptr_t)table[s]);

			check(elide_registry_find(lock) != ELIDE_NONE);
			elide_registry_remove(lock);
		}
	}
}

/* As elide_lock_renew() does. */
static bool renewed(const void *lock, enum elide_kind kind, const void *site, bool shared)
{
	uint64_t class_index = elide_class_by_site(kind, site, shared);

	return class_index <= ELIDE_INIT_CLASS && elide_table_renew(elide_word(lock, class_index));
}

/* The call that has initialised a lock initialises one at the same address again. */
static void again(void)
{
	char *heap = heap_locks(2);
	uint32_t class_index;

	check(!renewed(heap, MUTEX, SITE_A, false));
	class_index = elide_registry_add(heap, MUTEX, SITE_A, true, false);
	/* The call is remembered where the class is found without a global-lock path. */
	check(elide_registry_add_known(heap, MUTEX, SITE_A, true, false) == class_index);
	for (int i = 0; i < 10; i++) {
		check(renewed(heap, MUTEX, SITE_A, false));
		check(elide_registry_find(heap) == class_index && has_tag(heap, class_index));
		if (i % 3 == 0)
			continue;
		if (i % 3 == 1)
			elide_registry_remove(heap);
		else
			check(elide_table_retire(heap));
		check(elide_registry_find(heap) == ELIDE_NONE && !has_tag(heap, class_index));
	}
	/* Its caller counts it. */
	check(info(class_index)->nr_locks == 2);
	/* Another kind, call, or sharing; and a place that no lock has had: nothing changes. */
	check(!renewed(heap, ELIDE_KIND_SPIN, SITE_A, false));
	check(!renewed(heap, MUTEX, SITE_B, false));
	check(!renewed(heap, MUTEX, (const char *)SITE_A + 256, false));
	check(!renewed(heap, MUTEX, SITE_A, true));
	check(!renewed(heap + 64, MUTEX, SITE_A, false) && !elide_table_retire(heap + 64));
	check(elide_registry_find(heap) == class_index);
	check(elide_registry_find(heap + 64) == ELIDE_NONE);
	/* A lock of another class was there. */
	check(elide_registry_add(heap, MUTEX, SITE_B, true, false) != class_index);
	check(!renewed(heap, MUTEX, SITE_A, false));
	/* What is remembered of a lock is not of the next one. */
	check(elide_registry_add(heap, MUTEX, SITE_A, true, false) == class_index);
	elide_policy_of(heap)->pause = 7;
	if (renewed(heap, MUTEX, SITE_A, false))
		check(!elide_policy_of(heap)->pause);
	/* An object was unloaded: its return addresses may be another object's. */
	elide_class_forget();
	check(!renewed(heap, MUTEX, SITE_A, false));
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
