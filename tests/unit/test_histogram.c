// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_histogram.c - percentiles of the histogram against those of the sorted
 * durations, and its borders.
 */
#include "unit.h"
#include "../../demo/base/histogram.h"
#include "../../demo/base/rng.h"

#define NR 10007

static struct histogram h, other;

static int set_up(void **state)
{
	h = other = (struct histogram){ .nr = 0 };
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Every bucket begins where the one below ends, and all 64-bit numbers have one. */
static void test_buckets(void **state)
{
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		assert_int_equal(histogram_bucket(histogram_bound(i)), i);
		if (i + 1 < HISTOGRAM_BUCKETS)
			assert_int_equal(histogram_bucket(histogram_bound(i) + 1), i + 1);
	}
	assert_int_equal(histogram_bound(HISTOGRAM_BUCKETS - 1), UINT64_MAX);
}

static void test_percentiles(void **state)
{
	static const unsigned int shares[] = { 1, 500, 950, 990, 999, 1000 };
	static uint64_t all[NR];
	struct rng rng;

	rng_seed(&rng, 1, 0);
	for (unsigned int i = 0; i < NR; i++) {
		all[i] = rng_next(&rng) >> rng_below(&rng, 60);
		histogram_count(i % 2 ? &h : &other, all[i]);
	}
	histogram_add(&h, &other);
	assert_int_equal(h.nr, NR);
	qsort(all, NR, sizeof(all[0]), compare);
	for (unsigned int i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		uint64_t exact = all[(NR * shares[i] + 999) / 1000 - 1];
		uint64_t got = histogram_at(&h, shares[i]);

		assert_true(got >= exact && got - exact <= exact / HISTOGRAM_PARTS);
	}
	assert_int_equal(histogram_at(&h, 1000), all[NR - 1]);
}

static void test_borders(void **state)
{
	assert_int_equal(histogram_at(&h, 500), 0);
	histogram_count(&h, 0);
	assert_int_equal(histogram_at(&h, 1000), 0);
	histogram_count(&h, UINT64_MAX);
	assert_int_equal(histogram_at(&h, 500), 0);
	assert_true(histogram_at(&h, 501) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_buckets, set_up),
		cmocka_unit_test_setup(test_percentiles, set_up),
		cmocka_unit_test_setup(test_borders, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
