// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_reserve.c - tables that share a mapping.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/reserve.h"
#include "../../lib/state/wiped.h"

#define PAGE 4096

static char memory[64 * PAGE] __attribute__((aligned(PAGE)));
static size_t mapped;
static unsigned int nr_maps;

static void *map(size_t size)
{
	char *p = memory + mapped;

	if (mapped + size > sizeof(memory))
		return NULL;
	mapped += size;
	nr_maps++;
	return p;
}

static int begin(void **state)
{
	mapped = nr_maps = 0;
	return 0;
}

/* Whole pages, one after another. */
static void tables_share_a_mapping(void **state)
{
	struct elide_arena arena = {.map = map, .size = 8 * PAGE};

	assert_ptr_equal(elide_arena_take(&arena, 1), memory);
	assert_ptr_equal(elide_arena_take(&arena, PAGE), memory + PAGE);
	assert_ptr_equal(elide_arena_take(&arena, PAGE + 1), memory + 2 * PAGE);
	assert_ptr_equal(elide_arena_take(&arena, 4 * PAGE), memory + 4 * PAGE);
	assert_int_equal(nr_maps, 1);
	assert_ptr_equal(elide_arena_take(&arena, 1), memory + 8 * PAGE);
	assert_int_equal(nr_maps, 2);
}

/* A table that does not fit takes no room from those after it. */
static void large_table_has_its_own(void **state)
{
	struct elide_arena arena = {.map = map, .size = 8 * PAGE};

	assert_ptr_equal(elide_arena_take(&arena, 9 * PAGE), memory + 8 * PAGE);
	assert_ptr_equal(elide_arena_take(&arena, 8 * PAGE), memory);
	assert_ptr_equal(elide_arena_take(&arena, PAGE), memory + 17 * PAGE);
}

/* Where there is no room for the arena, there may be for a table. */
static void no_memory(void **state)
{
	struct elide_arena arena = {.map = map, .size = 2 * sizeof(memory)};

	assert_ptr_equal(elide_arena_take(&arena, PAGE), memory);
	assert_ptr_equal(elide_arena_take(&arena, PAGE), memory + PAGE);
	assert_null(elide_arena_take(&arena, sizeof(memory)));
}

/* All of it is zero in a forked child, whatever shares the mapping. */
static void wiped_tables(void **state)
{
	enum { NR = 5, SIZE = 100000 };
	char *all[NR];
	int status;
	pid_t pid;

	for (int i = 0; i < NR; i++) {
		all[i] = elide_wiped_alloc(SIZE);
		assert_non_null(all[i]);
		assert_int_equal((uintptr_t)all[i] % PAGE, 0);
		for (int j = 0; j < SIZE; j++)
			assert_int_equal(all[i][j], 0);
		memset(all[i], i + 1, SIZE);
	}
	for (int i = 0; i < NR; i++)
		assert_true(all[i][0] == i + 1 && !memcmp(all[i], all[i] + 1, SIZE - 1));
	pid = fork();
	if (!pid) {
		for (int i = 0; i < NR; i++)
			for (int j = 0; j < SIZE; j++)
				if (all[i][j])
					_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tables_share_a_mapping, begin),
		cmocka_unit_test_setup(large_table_has_its_own, begin),
		cmocka_unit_test_setup(no_memory, begin),
		cmocka_unit_test(wiped_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
