// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_classes.c - classes of locks without an initialisation are joined by the calls that lock them,
 * whichever call was the first.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/model/file/classes.h"

#define MUTEX ELIDE_KIND_MUTEX
#define RWLOCK ELIDE_KIND_RWLOCK_READ

/* At other addresses in each run; by name liba.so comes first. */
static struct elide_module modules[] = {
	{.base = 0x9000, .start = 0x9000, .end = 0xa000, .path = "/lib/liba.so"},
	{.base = 0x1000, .start = 0x1000, .end = 0x2000, .path = "/bin/program"},
};

static void make(struct data_file *f, const struct elide_class *classes, size_t nr,
		 const struct lock_site *sites, size_t nr_sites)
{
	*f = (struct data_file){.fd = -1, .modules = modules, .nr_modules = ARRAY_SIZE(modules)};
	f->classes = malloc(nr * sizeof(*classes));
	f->sites = malloc(nr_sites * sizeof(*sites));
	memcpy(f->classes, classes, nr * sizeof(*classes));
	memcpy(f->sites, sites, nr_sites * sizeof(*sites));
	f->nr_classes = nr;
	f->nr_sites = nr_sites;
}

static void drop(struct data_file *f, uint32_t *numbers)
{
	free(f->classes);
	free(f->sites);
	free(numbers);
}

static struct elide_class first(uint32_t kind, uint64_t address, uint64_t nr)
{
	return (struct elide_class){ELIDE_CLASS_FIRST, kind, address, nr, 0, 1};
}

static struct lock_site at(uint32_t class_index, uint64_t site)
{
	return (struct lock_site){.class_index = class_index, .site = site};
}

static void one_whoever_was_first(void **state)
{
	static const uint64_t calls[] = {0x1100, 0x1200, 0x9300};

	/* Each of three calls was the first of some locks; the one of the library names them all. */
	for (int missing = -1; missing < 3; missing++) {
		struct elide_class classes[3];
		struct lock_site sites[9];
		size_t nr = 0, nr_sites = 0;
		struct data_file f;
		uint32_t *numbers;

		for (int i = 0; i < 3; i++) {
			if (i == missing)
				continue;
			for (int j = 0; j < 3; j++)
				sites[nr_sites++] = at(nr, calls[j]);
			classes[nr++] = first(MUTEX, calls[i], 4);
		}
		make(&f, classes, nr, sites, nr_sites);
		assert_int_equal(classes_join(&f, &numbers), 0);
		assert_int_equal(f.nr_classes, 1);
		assert_int_equal(f.classes[0].address, 0x9300);
		assert_int_equal(f.classes[0].nr_locks, 4 * nr);
		assert_int_equal(f.classes[0].nr_shared, nr);
		assert_int_equal(f.nr_sites, 3);
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(numbers[i], 0);
		for (size_t i = 0; i < f.nr_sites; i++)
			assert_int_equal(f.sites[i].address, 0x9300);
		drop(&f, numbers);
	}
}

/* Kinds, classes with an initialisation, and calls in common with none of the others stay apart. */
static void apart(void **state)
{
	const struct elide_class classes[] = {
		{ELIDE_CLASS_INIT, MUTEX, 0x1100, 1, 0, 0},
		first(MUTEX, 0x1300, 2),
		first(RWLOCK, 0x1100, 3),
		first(MUTEX, 0x1100, 4),
		{ELIDE_CLASS_STATIC, MUTEX, 0x1900, 5, 0, 0},
		first(MUTEX, 0x1200, 6),
		first(RWLOCK, 0x1400, 7),
	};
	const struct lock_site sites[] = {
		at(0, 0x1200), at(2, 0x1200), at(3, 0x1200), at(4, 0x1300), at(1, 0x1500), at(6, 0x1500),
	};
	static const uint32_t expected[] = {0, 1, 2, 3, 4, 3, 5};
	struct data_file f;
	uint32_t *numbers;

	make(&f, classes, ARRAY_SIZE(classes), sites, ARRAY_SIZE(sites));
	assert_int_equal(classes_join(&f, &numbers), 0);
	assert_int_equal(f.nr_classes, 6);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(numbers[i], expected[i]);
	assert_int_equal(f.classes[3].nr_locks, 10);
	assert_int_equal(f.classes[3].address, 0x1100);
	assert_int_equal(f.classes[5].address, 0x1400);
	drop(&f, numbers);
}

static struct elide_order cycle(uint32_t flags, int nr, const uint32_t *classes)
{
	struct elide_order o = {.nr_edges = nr, .flags = flags};

	for (int i = 0; i < nr; i++)
		o.edges[i].class_index = classes[i];
	return o;
}

/* Classes 1 and 2 became one, 1. */
static void cycles(void **state)
{
	static const uint32_t numbers[] = {0, 1, 1, 2};
	static const struct {
		uint32_t flags;
		int nr;
		uint32_t classes[3];
		uint32_t left;
	} table[] = {
		{0, 2, {1, 2}, 0},      {0, 2, {0, 1}, 2}, {0, 3, {0, 1, 2}, 2}, {0, 3, {2, 0, 1}, 2},
		{0, 3, {1, 3, 2}, 2}, {0, 3, {0, 1, 3}, 3}, {ELIDE_ORDER_LOCKS, 2, {1, 2}, 2},
		{ELIDE_ORDER_LOCKS, 2, {3, 3}, 2},
	};
	struct elide_order orders[ARRAY_SIZE(table)];
	struct data_file f = {.orders = orders, .nr_orders = ARRAY_SIZE(table)};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		orders[i] = cycle(table[i].flags, table[i].nr, table[i].classes);
		classes_join_order(&orders[i], numbers);
		assert_int_equal(orders[i].nr_edges, table[i].left);
		for (uint32_t j = 0; j < orders[i].nr_edges; j++)
			assert_in_range(orders[i].edges[j].class_index, 0, 2);
	}
	/* Each set of classes once: {0, 1}, {1, 2}, {0, 1, 2}, {1, 1}, {2, 2}. */
	classes_settle_orders(&f);
	assert_int_equal(f.nr_orders, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_whoever_was_first),
		cmocka_unit_test(apart),
		cmocka_unit_test(cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
