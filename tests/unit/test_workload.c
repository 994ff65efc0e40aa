// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_workload.c - the streams of keys: which keys, how often, and again with
 * the same seed.
 */
#include "unit.h"
#include "../../demo/bench/workload.h"

#define DRAWS 100000

static void test_scatter_is_a_permutation(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 7, 8, 9, 100, 1023, 1024, 1025, 50000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *seen = calloc(sizes[i], 1);

		assert_non_null(seen);
		for (uint64_t j = 0; j < sizes[i]; j++) {
			uint64_t to = scatter(j, sizes[i]);

			assert_true(to < sizes[i]);
			assert_int_equal(seen[to]++, 0);
		}
		free(seen);
	}
}

static const struct mix even_mix = {
	.seed = 1, .threads = 4, .preload = 1000, .share = { 50, 50, 50, 50 },
};

static void test_parity_range_and_shares(void **state)
{
	for (unsigned int keys = 0; keys < NR_KEYS; keys++) {
		uint64_t odd[NR_OPS] = { 0 };
		struct mix mix = even_mix;
		struct stream stream;
		uint64_t key;

		mix.keys = keys;
		stream_init(&stream, &mix, 3);
		for (int i = 0; i < DRAWS; i++) {
			enum op_kind op = stream_next(&stream, &key);

			odd[op] += key % 2;
			if (op != OP_insert || keys != KEYS_sorted)
				assert_true(key < 2 * mix.preload);
			else
				assert_true(key > 2 * mix.preload);
		}
		assert_int_equal(odd[OP_search], 0);
		assert_int_equal(odd[OP_scan], 0);
		assert_int_equal(odd[OP_insert], stream.nr[OP_insert]);
		/* An eighth and a quarter of all: within six deviations of 105 and 137. */
		assert_in_range(odd[OP_remove], DRAWS / 8 - 630, DRAWS / 8 + 630);
		for (unsigned int op = 0; op < NR_OPS; op++)
			assert_in_range(stream.nr[op], DRAWS / 4 - 822, DRAWS / 4 + 822);
	}
}

static void test_sorted_threads_share_the_keys(void **state)
{
	struct mix mix = { .seed = 1, .threads = 4, .keys = KEYS_sorted, .preload = 10,
			   .share = { [OP_insert] = SHARES } };
	unsigned char seen[400] = { 0 };

	for (unsigned int thread = 0; thread < mix.threads; thread++) {
		struct stream stream;
		uint64_t key, last = 0;

		stream_init(&stream, &mix, thread);
		for (int i = 0; i < 100; i++, last = key) {
			stream_next(&stream, &key);
			assert_true(key > last);
			assert_int_equal(seen[(key - 2 * mix.preload) / 2]++, 0);
		}
	}
}

static int compare_down(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return (*y > *x) - (*y < *x);
}

/* Expected shares of the most frequent ranks, from the definition of the distribution. */
static void test_zipf_frequencies(void **state)
{
	struct mix mix = { .seed = 1, .threads = 1, .keys = KEYS_zipf, .preload = 1000,
			   .share = { [OP_search] = SHARES } };
	/* sum of k^-0.99 for k = 1..1000 is 7.729; so rank 1: 12.94 %, 2: 6.515 %, 10: 1.324 % */
	static const struct { unsigned int rank; double share; } want[] = {
		{ 1, 0.1294 }, { 2, 0.06515 }, { 10, 0.01324 },
	};
	static unsigned int count[1000];
	struct stream stream;
	uint64_t key;

	stream_init(&stream, &mix, 0);
	for (int i = 0; i < DRAWS; i++) {
		stream_next(&stream, &key);
		count[key / 2]++;
	}
	qsort(count, 1000, sizeof(count[0]), compare_down);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		double share = (double)count[want[i].rank - 1] / DRAWS;

		if (share < want[i].share * 0.93 || share > want[i].share * 1.07)
			fail_msg("rank %u: %f, expected %f", want[i].rank, share, want[i].share);
	}
}

static void test_seed_repeats(void **state)
{
	struct mix mix = even_mix, other = even_mix;
	struct stream a, b, c, d;
	int same_seed = 0, same_thread = 0;

	other.seed = 2;
	stream_init(&a, &mix, 0);
	stream_init(&b, &mix, 0);
	stream_init(&c, &other, 0);
	stream_init(&d, &mix, 1);
	for (int i = 0; i < 1000; i++) {
		uint64_t ka, kb, kc, kd;

		assert_int_equal(stream_next(&a, &ka), stream_next(&b, &kb));
		assert_int_equal(ka, kb);
		stream_next(&c, &kc);
		stream_next(&d, &kd);
		same_seed += ka == kc;
		same_thread += ka == kd;
	}
	assert_in_range(same_seed, 0, 20);
	assert_in_range(same_thread, 0, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scatter_is_a_permutation),
		cmocka_unit_test(test_parity_range_and_shares),
		cmocka_unit_test(test_sorted_threads_share_the_keys),
		cmocka_unit_test(test_zipf_frequencies),
		cmocka_unit_test(test_seed_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
