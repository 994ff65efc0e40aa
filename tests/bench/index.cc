// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * index.cc - a tree of the demo beside absl::btree_map, one thread.
 *
 * Both get the same random 8-byte keys in the same order, in turn and in one
 * process. Prints "OPERATION,OURS,THEIRS" for each round, in operations a
 * second. Arguments: keys, rounds, and index, scheme and bytes of a node of the demo's tree,
 * btree without a lock by default.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <absl/container/btree_map.h>

/* From index-tree.c, because the demo's headers are C. */
extern "C" {
struct bench_tree;
struct bench_tree *bench_tree_new(const char *index, const char *scheme, uint64_t node);
void bench_tree_free(struct bench_tree *tree);
bool bench_tree_insert_all(struct bench_tree *tree, const uint64_t *keys, size_t nr);
uint64_t bench_tree_find_all(struct bench_tree *tree, const uint64_t *keys, size_t nr);
}

/* The demo's tree. */
static const char *tree_index = "btree", *tree_scheme = "none";
static uint64_t tree_node;

/* Processor time of the thread: what other processes take of the processor does not count. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* SplitMix64, see demo/base/rng.h; a bijection, so no key comes twice. */
static uint64_t mix64(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* struct rates - operations a second */
struct rates {
	double insert, find;
	uint64_t sum;
};

static struct rates ours(const uint64_t *keys, const uint64_t *looked_up, size_t nr)
{
	struct bench_tree *tree = bench_tree_new(tree_index, tree_scheme, tree_node);
	double begin = now(), middle, end;
	struct rates rates;

	if (!tree || !bench_tree_insert_all(tree, keys, nr))
		exit(EXIT_FAILURE);
	middle = now();
	rates.sum = bench_tree_find_all(tree, looked_up, nr);
	end = now();
	bench_tree_free(tree);
	rates.insert = (double)nr / (middle - begin);
	rates.find = (double)nr / (end - middle);
	return rates;
}

static struct rates theirs(const uint64_t *keys, const uint64_t *looked_up, size_t nr)
{
	absl::btree_map<uint64_t, uint64_t> map;
	double begin = now(), middle, end;
	struct rates rates = {};

	for (size_t i = 0; i < nr; i++)
		map.insert({keys[i], i});
	middle = now();
	for (size_t i = 0; i < nr; i++)
		rates.sum += map.find(looked_up[i])->second;
	end = now();
	rates.insert = (double)nr / (middle - begin);
	rates.find = (double)nr / (end - middle);
	return rates;
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	tree_index = argc > 3 ? argv[3] : tree_index;
	tree_scheme = argc > 4 ? argv[4] : tree_scheme;
	tree_node = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
	uint64_t *keys = new uint64_t[nr], *looked_up = new uint64_t[nr];

	for (size_t i = 0; i < nr; i++)
		keys[i] = looked_up[i] = mix64(i);
	/* Looked up in another random order than inserted (Fisher, Yates). */
	for (size_t i = nr; i > 1; i--)
		std::swap(looked_up[i - 1], looked_up[mix64(i ^ nr) % i]);
	for (int round = 0; round < rounds; round++) {
		struct rates a, b;

		if (round % 2) {
			b = theirs(keys, looked_up, nr);
			a = ours(keys, looked_up, nr);
		} else {
			a = ours(keys, looked_up, nr);
			b = theirs(keys, looked_up, nr);
		}
		if (a.sum != b.sum) {
			fputs("index: the two disagree\n", stderr);
			return EXIT_FAILURE;
		}
		printf("insert,%.0f,%.0f\nfind,%.0f,%.0f\n", a.insert, b.insert, a.find, b.find);
	}
	delete[] keys;
	delete[] looked_up;
	return EXIT_SUCCESS;
}
