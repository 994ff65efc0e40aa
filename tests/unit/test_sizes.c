// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_sizes.c - the sizes of the nodes of built levels: in their bounds, in sum what there
 * is to distribute, and fewer nodes on each level up to a single one.
 */
#include "unit.h"
#include "../../demo/node/sizes.h"

/* The number of nodes that @elements make, each of which must have a size in its bounds. */
static uint64_t nodes_of(unsigned int max, unsigned int least, unsigned int fill, uint64_t elements)
{
	struct sizes sizes = sizes_of(max, least, fill);
	uint64_t nodes = 0;

	for (uint64_t left = elements; left; nodes++) {
		uint64_t size = sizes_next(&sizes, left);

		assert_in_range(size, elements < least ? elements : least, max);
		assert_in_range(size, 1, left);
		left -= size;
	}
	return nodes;
}

static void test_levels(void **state)
{
	static const unsigned int maxima[] = { 3, 4, 7, 62, 63, 1022 };
	static const unsigned int fills[] = { 1, 40, 50, 69, 70, 99, 100 };

	for (size_t m = 0; m < sizeof(maxima) / sizeof(maxima[0]); m++) {
		for (size_t f = 0; f < sizeof(fills) / sizeof(fills[0]); f++) {
			for (uint64_t entries = 1; entries < 20000; entries += 1 + entries / 9) {
				uint64_t nodes = nodes_of(maxima[m], 1, fills[f], entries);

				while (nodes > 1) {
					uint64_t above = nodes_of(maxima[m], 2, fills[f], nodes);

					assert_in_range(above, 1, nodes / 2);
					nodes = above;
				}
			}
		}
	}
}

/* The mean of many sizes is the given fill, within 1 %. */
static void test_mean(void **state)
{
	for (unsigned int fill = 10; fill <= 100; fill += 10) {
		uint64_t nodes = nodes_of(62, 1, fill, 10000000);

		assert_in_range(10000000 / nodes * 1000, 62 * fill * 99 / 10 - 1000,
				62 * fill * 101 / 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
