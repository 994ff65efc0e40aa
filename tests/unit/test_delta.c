// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_delta.c - what only a delta storage has: IDs, rows, the merge, its
 * footprint, and the checker against storages broken on purpose.
 */
#include <errno.h>

#include "unit.h"
#include "../../demo/delta/main-store.h"
#include "../../demo/base/rng.h"

/* Values of the larger tests: three levels. */
#define NR 3000

#define THREADS 4

static struct delta delta;
static struct delta_thread *threads[THREADS];

/* A storage for @entries entries with the options that are given, [DELTA_OPTION_x] = value. */
#define SET_UP(entries, ...) set_up(entries, (const uint64_t[NR_DELTA_OPTIONS]){ __VA_ARGS__ })

static void set_up(uint64_t entries, const uint64_t *options)
{
	struct index_config config = {
		.threads = THREADS, .entries = entries, .options = options,
	};

	assert_int_equal(delta_init(&delta, &config), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		threads[i] = delta_attach(&delta, i, 1);
		assert_non_null(threads[i]);
	}
}

static void tear_down(void)
{
	for (unsigned int i = 0; i < THREADS; i++)
		delta_detach(threads[i]);
	delta_destroy(&delta);
}

static union delta_value text(const char *name)
{
	union delta_value value = { .number = 0 };

	memset(&value, 0, sizeof(value));
	strcpy(value.text, name);
	return value;
}

static union delta_value number(uint64_t n)
{
	union delta_value value;

	memset(&value, 0, sizeof(value));
	value.number = n;
	return value;
}

static bool add(unsigned int thread, union delta_value value)
{
	assert_int_equal(delta_reserve(&delta, threads[thread]), 0);
	return delta_add(&delta, threads[thread], &value, 1);
}

static void assert_whole(void)
{
	char why[128] = "";

	if (!delta_check(&delta, why, sizeof(why)))
		fail_msg("%s", why);
}

/*
 * The example of section 2: "Fresno" has the ID 4, "Palo Alto" 7, "Oakland" belongs
 * between 8 and 7, and the leaves read 0;5;4;8;7;6;1;3;2. The other names are ours.
 */
static void test_figure_2(void **state)
{
	static const char *const cities[] = {
		"Berkeley", "San Jose", "Yuba City", "Vallejo", "Fresno", "Fairfield",
		"Redding", "Palo Alto", "Hayward",
	};
	static const uint32_t rows[] = { 0, 1, 2, 1, 3, 4, 5, 4, 6, 7, 8, 8 };
	static const uint32_t sorted[] = { 0, 5, 4, 8, 7, 6, 1, 3, 2 };
	union delta_value oakland = text("Oakland");
	const unsigned int nr = sizeof(cities) / sizeof(cities[0]);
	uint32_t id;

	SET_UP(NR, [DELTA_OPTION_values] = 1, [DELTA_OPTION_rows] = 1);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool fresh = !i || rows[i] > rows[i - 1];

		for (unsigned int j = 0; j < i; j++)
			fresh = fresh && rows[j] != rows[i];
		assert_int_equal(add(0, text(cities[rows[i]])), fresh);
	}
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(((struct delta_row *)area_at(&delta.rows, i))->id, rows[i]);
	assert_int_equal(delta_dictionary.size, nr);
	for (unsigned int i = 0; i < nr; i++) {
		union delta_value city = text(cities[i]);

		assert_int_equal(delta_first_leaf(&delta)->node.ids[i], sorted[i]);
		assert_true(delta_find(&delta, &city, &id));
		assert_int_equal(id, i);
	}
	assert_false(delta_find(&delta, &oakland, &id));
	assert_true(add(0, oakland));
	assert_int_equal(delta_first_leaf(&delta)->node.ids[4], nr);
	assert_whole();
	tear_down();
}

/* An insert of an existing value writes the column, and nothing else. */
static void test_existing_value(void **state)
{
	struct delta_leaf before;

	SET_UP(NR, [DELTA_OPTION_rows] = 1);
	for (unsigned int i = 0; i < DELTA_IDS; i++)
		assert_true(add(0, number(i)));
	before = *delta_first_leaf(&delta);
	for (unsigned int i = 0; i < DELTA_IDS; i++)
		assert_false(add(1, number(i)));
	assert_memory_equal(&before, delta_first_leaf(&delta), sizeof(before));
	assert_int_equal(delta_dictionary.size, DELTA_IDS);
	assert_int_equal(delta_rows(&delta), 2 * DELTA_IDS);
	assert_true(delta_delete_row(&delta, 3));
	assert_false(delta_delete_row(&delta, 3));
	assert_false(delta_delete_row(&delta, 2 * DELTA_IDS));
	assert_int_equal(delta_rows(&delta), 2 * DELTA_IDS);
	assert_whole();
	tear_down();
}

/* The number of a dictionary is in the ID, and each thread appends to its own alone. */
static void test_core_dictionaries(void **state)
{
	SET_UP(NR, [DELTA_OPTION_dictionary] = 1, [DELTA_OPTION_allocator] = 1);
	for (unsigned int i = 0; i < NR; i++)
		assert_true(add(i % THREADS, number(mix64(i))));
	for (unsigned int i = 0; i < NR; i++) {
		union delta_value value = number(mix64(i));
		uint32_t id = 0;

		assert_true(delta_find(&delta, &value, &id));
		assert_int_equal(id >> DELTA_POSITION_BITS, i % THREADS);
		assert_int_equal(id & ((1u << DELTA_POSITION_BITS) - 1), i / THREADS);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(delta_core_dictionaries[i].size, NR / THREADS);
		assert_true(delta_core_allocators[i].used > 0);
	}
	assert_whole();
	tear_down();
}

/* Halving must read far fewer lines than going from the left; each at most what 5.1.1 computes. */
static void test_footprint(void **state)
{
	double average[2];

	for (int binary = 0; binary < 2; binary++) {
		struct footprint fp = { .nr = 0 };
		uint64_t value;

		SET_UP(NR, [DELTA_OPTION_search] = binary);
		for (unsigned int i = 0; i < NR; i++)
			add(0, number(mix64(i)));
		for (unsigned int i = 0; i < NR; i++) {
			footprint_begin(&fp);
			assert_true(delta_search_counted(&delta, mix64(i), &value, &fp));
			footprint_end(&fp);
		}
		average[binary] = (double)fp.total / (double)fp.traversals;
		assert_true(fp.worst <= 1 + delta.root->level * DELTA_INNER_LINES +
				       DELTA_LEAF_LINES +
				       (delta.root->level + 1u) * DELTA_IDS);
		tear_down();
	}
	assert_true(average[1] < 0.7 * average[0]);
}

/* A traversal of one leaf, counted by hand: head, IDs, and the entries looked up. */
static void test_footprint_exact(void **state)
{
	struct footprint fp = { .nr = 0 };
	uint64_t value;

	SET_UP(NR, 0);
	/* Four entries of 16 bytes a line: the first eight values are in two lines. */
	for (unsigned int i = 0; i < 8; i++)
		add(0, number(i));
	footprint_begin(&fp);
	assert_true(delta_search_counted(&delta, 7, &value, &fp));
	assert_int_equal(fp.nr, 1 + 1 + 2);
	footprint_begin(&fp);
	assert_true(delta_search_counted(&delta, 0, &value, &fp));
	assert_int_equal(fp.nr, 1 + 1 + 1);
	tear_down();
}

static void assert_merged(const struct main_store *store, const uint64_t *rows, uint64_t nr)
{
	assert_int_equal(store->nr_rows, nr);
	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(main_store_row(store, i)->number, rows[i]);
	for (uint64_t i = 1; i < store->nr_values; i++)
		assert_true(store->values[i - 1].number < store->values[i].number);
}

/* Two merges one after the other, rows deleted in between, against a plain array. */
static void test_merge(void **state)
{
	static uint64_t rows[2 * NR];
	struct main_store none = { 0 }, first, second;
	uint64_t nr = 0;

	for (unsigned int form = 0; form < 2; form++) {
		struct rng rng;

		nr = 0;
		rng_seed(&rng, 1, form);
		for (unsigned int round = 0; round < 2; round++) {
			SET_UP(NR, [DELTA_OPTION_rows] = 1, [DELTA_OPTION_dictionary] = form);
			for (unsigned int i = 0; i < NR; i++) {
				uint64_t value = rng_below(&rng, 500 + 200 * round);
				bool deleted = rng_below(&rng, 4) == 0;

				add(i % THREADS, number(value));
				if (deleted)
					assert_true(delta_delete_row(&delta, i));
				else
					rows[nr++] = value;
			}
			assert_int_equal(main_store_merge(round ? &second : &first,
							  round ? &first : &none, &delta), 0);
			tear_down();
		}
		assert_merged(&second, rows, nr);
		assert_int_equal(second.bits, 10);
		main_store_destroy(&first);
		main_store_destroy(&second);
	}
}

static void test_merge_borders(void **state)
{
	struct main_store none = { 0 }, store;
	union delta_value value = text("x");

	SET_UP(NR, [DELTA_OPTION_rows] = 1, [DELTA_OPTION_values] = 1);
	assert_int_equal(main_store_merge(&store, &none, &delta), 0);
	assert_int_equal(store.nr_rows, 0);
	assert_int_equal(store.nr_values, 0);
	main_store_destroy(&store);
	/* One value needs no bit, and one that only deleted rows have is left out. */
	add(0, text("y"));
	add(0, value);
	add(0, value);
	assert_true(delta_delete_row(&delta, 0));
	assert_int_equal(main_store_merge(&store, &none, &delta), 0);
	assert_int_equal(store.nr_values, 1);
	assert_int_equal(store.nr_rows, 2);
	assert_int_equal(store.bits, 0);
	assert_string_equal(main_store_row(&store, 1)->text, "x");
	main_store_destroy(&store);
	tear_down();
}

/* Ways to break a storage of three levels, and what the checker must say. */
static struct delta_node *child(struct delta_node *node, unsigned int i)
{
	return container_of(node, struct delta_inner, node)->children[i];
}

static struct delta_leaf *some_leaf(void)
{
	return container_of(child(child(delta.root, 0), 1), struct delta_leaf, node);
}

static void break_order(void)
{
	some_leaf()->node.ids[3] = some_leaf()->node.ids[2];
}

static void break_id(void)
{
	some_leaf()->node.ids[3] = NR;
}

static void break_value(void)
{
	dictionary_entry(&delta.dicts, some_leaf()->node.ids[0])->value.number = 0;
}

static void break_size(void)
{
	delta_dictionary.size++;
}

static void break_fill(void)
{
	some_leaf()->node.nr = DELTA_IDS_MIN - 1;
}

static void break_depth(void)
{
	container_of(delta.root, struct delta_inner, node)->children[0] = &some_leaf()->node;
}

static void break_list(void)
{
	some_leaf()->next = some_leaf()->next->next;
}

static void break_allocator(void)
{
	delta_allocator.used++;
}

static void break_row(void)
{
	((struct delta_row *)area_at(&delta.rows, 5))->id = NR;
}

static void break_flag(void)
{
	((struct delta_row *)area_at(&delta.rows, 5))->visible = 2;
}

static void break_rows(void)
{
	delta_column.nr_rows--;
}

static const struct break_case {
	void (*break_it)(void);
	const char *why;
} break_cases[] = {
	{ break_order, "out of order" },
	{ break_id, "is in no dictionary" },
	{ break_value, "outside the range" },
	{ break_size, "entries in the dictionaries" },
	{ break_fill, "with 13 IDs" },
	{ break_depth, "of level 0 where level 1 belongs" },
	{ break_list, "skips or repeats" },
	{ break_allocator, "taken from the allocators" },
	{ break_row, "of row 5 is in no dictionary" },
	{ break_flag, "has the flag 2" },
	{ break_rows, "rows of 3000 values" },
};

static void test_checker_catches(void **state)
{
	for (size_t i = 0; i < sizeof(break_cases) / sizeof(break_cases[0]); i++) {
		char why[128] = "";

		SET_UP(NR, [DELTA_OPTION_rows] = 1);
		for (unsigned int j = 0; j < NR; j++)
			add(0, number(mix64(j + 1)));
		assert_int_equal(delta.root->level, 2);
		assert_whole();
		break_cases[i].break_it();
		assert_false(delta_check(&delta, why, sizeof(why)));
		if (!strstr(why, break_cases[i].why))
			fail_msg("case %zu said \"%s\"", i, why);
		tear_down();
	}
}

/* As many values as there is room for: the next is refused, and the others stay. */
static void test_out_of_entries(void **state)
{
	uint64_t nr = 0, payload;
	uint32_t id;

	SET_UP(100, 0);
	while (!delta_reserve(&delta, threads[0])) {
		union delta_value value = number(mix64(++nr));

		assert_true(delta_add(&delta, threads[0], &value, nr));
	}
	assert_int_equal(delta_reserve(&delta, threads[0]), -ENOMEM);
	assert_true(nr >= 100);
	assert_whole();
	for (uint64_t i = 1; i <= nr; i++) {
		union delta_value value = number(mix64(i));

		assert_true(delta_find(&delta, &value, &id));
		assert_true(delta_drop(&delta, &value, &payload));
		assert_int_equal(payload, i);
	}
	assert_whole();
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_2),
		cmocka_unit_test(test_existing_value),
		cmocka_unit_test(test_core_dictionaries),
		cmocka_unit_test(test_footprint),
		cmocka_unit_test(test_footprint_exact),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_out_of_entries),
		cmocka_unit_test(test_merge_borders),
		cmocka_unit_test(test_checker_catches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
