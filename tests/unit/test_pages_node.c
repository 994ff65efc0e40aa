// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_node.c - the slotted page: random operations, splits and merges against a sorted
 * array, separators, and the checker against pages that are broken on purpose.
 */
#include <errno.h>

#include "unit.h"
#include "../../demo/base/rng.h"
#include "../../demo/pages/node.h"

#define SEEDS 12
#define STEPS 2500
#define ITEMS 2048
#define ITEM_MAX 300

/* struct item - an entry of the model */
struct item {
	unsigned int len, value_len;
	unsigned char key[ITEM_MAX], value[ITEM_MAX];
};

/* The model: the entries in ascending order. */
static struct item items[ITEMS];
static unsigned int nr_items;
/* Inserts of the random operations that found no room. */
static unsigned int nr_full;
static struct page_node nodes[3];
static const struct bytes none;

static struct bytes key_of(const struct item *item)
{
	return (struct bytes){ item->key, item->len };
}

static struct bytes value_of(const struct item *item)
{
	return (struct bytes){ item->value, item->value_len };
}

static struct bytes text(const char *s)
{
	return (struct bytes){ s, (unsigned int)strlen(s) };
}

static unsigned int model_find(struct bytes key, bool *found)
{
	unsigned int i = 0;

	while (i < nr_items && bytes_compare(key_of(&items[i]), key) < 0)
		i++;
	*found = i < nr_items && !bytes_compare(key_of(&items[i]), key);
	return i;
}

/*
 * A key of few different bytes, so that heads and prefixes are often equal. Every key is between
 * the fences "kk" and "kl".
 */
static void draw(struct rng *rng, struct item *item)
{
	unsigned int most = rng_below(rng, 8) ? 8 : ITEM_MAX - 2;

	item->len = 3 + (unsigned int)rng_below(rng, most);
	memcpy(item->key, "kk", 2);
	for (unsigned int i = 2; i < item->len; i++)
		item->key[i] = rng_below(rng, 4) ? (unsigned char)rng_below(rng, 3) : 0xff;
	item->value_len = (unsigned int)rng_below(rng, rng_below(rng, 8) ? 12 : ITEM_MAX);
	for (unsigned int i = 0; i < item->value_len; i++)
		item->value[i] = (unsigned char)rng_next(rng);
}

/* Whether the entries of @node are those of the model from @from on, @nr of them. */
static const char *compare(const struct page_node *node, unsigned int from, unsigned int nr)
{
	unsigned char key[PAGE_KEY_MAX];
	const char *wrong = page_node_check(node);

	if (wrong)
		return wrong;
	if (node->nr != nr)
		return "another number of entries";
	for (unsigned int i = 0; i < nr; i++) {
		const struct item *item = &items[from + i];
		bool found;

		if (bytes_compare((struct bytes){ key, page_node_key(node, i, key) }, key_of(item)))
			return "another key";
		if (bytes_compare(page_node_value(node, i), value_of(item)))
			return "another value";
		if (page_node_find(node, key_of(item), &found) != i || !found)
			return "a key is not found";
	}
	return NULL;
}

static const char *step_insert(struct page_node *node, const struct item *item)
{
	unsigned int need = item->len - node->prefix + item->value_len +
			    (unsigned int)sizeof(struct page_slot);
	bool found, fits = page_node_free(node) >= need && nr_items < ITEMS;
	unsigned int at = model_find(key_of(item), &found);
	int err = page_node_insert(node, key_of(item), value_of(item));

	if (err != (found ? -EEXIST : fits ? 0 : -ENOSPC))
		return "an insert has another result";
	nr_full += err == -ENOSPC;
	if (err)
		return NULL;
	memmove(&items[at + 1], &items[at], (nr_items - at) * sizeof(*items));
	items[at] = *item;
	nr_items++;
	return NULL;
}

static const char *step_change(struct page_node *node, const struct item *item, bool remove)
{
	bool found, in_node;
	unsigned int at = model_find(key_of(item), &found);

	if (page_node_find(node, key_of(item), &in_node) != at || in_node != found)
		return "a search has another result";
	if (at == nr_items)
		return NULL;
	if (remove) {
		page_node_remove(node, at);
		nr_items--;
		memmove(&items[at], &items[at + 1], (nr_items - at) * sizeof(*items));
	} else {
		bool fits = page_node_free(node) + items[at].value_len >= item->value_len;

		if (page_node_update(node, at, value_of(item)) != (fits ? 0 : -ENOSPC))
			return "an update has another result";
		if (fits) {
			items[at].value_len = item->value_len;
			memcpy(items[at].value, item->value, item->value_len);
		}
	}
	return NULL;
}

/* Split the node anywhere, compare both halves, merge them, and compare the whole. */
static const char *step_split(struct page_node *node, unsigned int at)
{
	unsigned char key[PAGE_KEY_MAX];
	struct bytes separator = { key, page_node_separator(node, at, key) };
	struct page_node *right = &nodes[1], *left = &nodes[2];
	const char *wrong;

	*left = *node;
	if (bytes_compare(key_of(&items[at]), separator) > 0 ||
	    bytes_compare(separator, key_of(&items[at + 1])) >= 0)
		return "a separator does not separate";
	if (!page_node_split(left, right, at, separator))
		return compare(left, 0, nr_items);
	wrong = compare(left, 0, at + 1);
	wrong = wrong ? wrong : compare(right, at + 1, nr_items - at - 1);
	if (wrong)
		return wrong;
	return page_node_merge(left, right) ? compare(left, 0, nr_items) : "halves do not merge";
}

static const char *run_seed(uint64_t seed)
{
	struct item item;
	struct rng rng;
	const char *wrong = NULL;

	rng_seed(&rng, seed, 0);
	nr_items = 0;
	if (seed % 2)
		page_node_init(&nodes[0], 0, text("kk"), text("kl"));
	else
		page_node_init(&nodes[0], 0, text("kk"), text("kk\xff\xff\xff\xff\xff"
							 "\xff\xff\xff\xff\xff\xff\xff"));
	for (unsigned int i = 0; i < STEPS && !wrong; i++) {
		/* The first and the third quarter fill the node, the others empty it. */
		unsigned int inserts = i / (STEPS / 4) % 2 ? 3 : 7;
		unsigned int what = (unsigned int)rng_below(&rng, 10);

		draw(&rng, &item);
		if (!page_node_covers(&nodes[0], key_of(&item)))
			continue;
		if (what < inserts)
			wrong = step_insert(&nodes[0], &item);
		else
			wrong = step_change(&nodes[0], &item, what < 9);
		if (!wrong && i % 64 == 0)
			wrong = compare(&nodes[0], 0, nr_items);
		if (!wrong && i % 64 == 0 && nr_items > 1)
			wrong = step_split(&nodes[0],
					   (unsigned int)rng_below(&rng, nr_items - 1));
	}
	return wrong ? wrong : compare(&nodes[0], 0, nr_items);
}

static void test_random(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const char *wrong = run_seed(seed);

		if (wrong)
			fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
	}
	assert_true(nr_full > 0);
}

static void test_separators(void **state)
{
	static const struct {
		const char *key, *next, *separator;
	} cases[] = {
		{ "apple", "banana", "b" },   { "abcde", "abxyz", "abx" }, { "ab", "abcd", "ab" },
		{ "abcd", "abd", "abcd" },    { "a", "b", "a" },	   { "abc", "abdz", "abd" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char key[PAGE_KEY_MAX];
		struct bytes separator = { key, 0 };

		page_node_init(&nodes[0], 0, none, none);
		assert_int_equal(page_node_insert(&nodes[0], text(cases[i].key), none), 0);
		assert_int_equal(page_node_insert(&nodes[0], text(cases[i].next), none), 0);
		separator.len = page_node_separator(&nodes[0], 0, key);
		assert_int_equal(bytes_compare(separator, text(cases[i].separator)), 0);
	}
}

/* An inner node with children 0..nr; child i has the keys up to "pppp" and the digits of i. */
static void make_inner(struct page_node *node, unsigned int nr)
{
	char key[16];

	page_node_init(node, 1, text("pppp"), text("pppq"));
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(key, sizeof(key), "pppp%04u", i);
		assert_int_equal(
			page_node_insert(node, text(key), (struct bytes){ &i, sizeof(i) }), 0);
	}
	node->last = nr;
}

static uint32_t child(const struct page_node *node, unsigned int at)
{
	uint32_t id = node->last;

	if (at < node->nr)
		memcpy(&id, page_node_value(node, at).data, sizeof(id));
	return id;
}

/* No child of an inner node is lost or moved by a split at any place and the merge after it. */
static void test_inner(void **state)
{
	const unsigned int nr = 100;

	for (unsigned int at = 0; at < nr; at++) {
		unsigned char key[PAGE_KEY_MAX];
		struct bytes separator = { key, 0 };

		make_inner(&nodes[0], nr);
		separator.len = page_node_separator(&nodes[0], at, key);
		assert_true(page_node_split(&nodes[0], &nodes[1], at, separator));
		assert_null(page_node_check(&nodes[0]));
		assert_null(page_node_check(&nodes[1]));
		for (unsigned int i = 0; i <= nr; i++)
			assert_int_equal(i <= at ? child(&nodes[0], i)
						 : child(&nodes[1], i - at - 1), i);
		assert_true(page_node_merge(&nodes[0], &nodes[1]));
		assert_null(page_node_check(&nodes[0]));
		assert_int_equal(nodes[0].nr, nr);
		for (unsigned int i = 0; i <= nr; i++)
			assert_int_equal(child(&nodes[0], i), i);
	}
}

/*
 * The left node leaves out 250 bytes of each key, and the merged node none: the entries fit only
 * as long as there are two nodes.
 */
static void test_merge_lengthens(void **state)
{
	static unsigned char key[252], value[1000];
	static struct page_node before;
	struct bytes low = { key, 250 }, middle = { key, 251 };

	memset(key, 'c', sizeof(key));
	page_node_init(&nodes[0], 0, low, middle);
	page_node_init(&nodes[1], 0, middle, text("d"));
	key[250] = 'A';
	for (unsigned int i = 0; i < 60; i++) {
		key[251] = (unsigned char)i;
		assert_int_equal(page_node_insert(&nodes[0], (struct bytes){ key, 252 }, none), 0);
	}
	assert_int_equal(
		page_node_insert(&nodes[1], text("d"), (struct bytes){ value, sizeof(value) }), 0);
	assert_null(page_node_check(&nodes[0]));
	assert_null(page_node_check(&nodes[1]));
	assert_int_equal(nodes[0].prefix, 250);
	assert_int_equal(nodes[1].prefix, 0);
	assert_true(page_node_free(&nodes[0]) > 2 * sizeof(value));
	before = nodes[0];
	assert_false(page_node_merge(&nodes[0], &nodes[1]));
	assert_memory_equal(&nodes[0], &before, sizeof(before));
	page_node_remove(&nodes[1], 0);
	assert_true(page_node_merge(&nodes[0], &nodes[1]));
	assert_int_equal(nodes[0].prefix, 0);
	assert_int_equal(nodes[0].nr, 60);
	assert_null(page_node_check(&nodes[0]));
}

/* A full node without fences does not divide at a separator longer than what leaves it. */
static void test_split_too_long(void **state)
{
	static unsigned char key[PAGE_KEY_MAX], fill[PAGE_ENTRY_MAX];
	static struct page_node before;
	struct bytes last = { key, PAGE_KEY_MAX };
	unsigned int len = PAGE_ENTRY_MAX - 1;

	page_node_init(&nodes[0], 0, none, none);
	memset(key, 'y', sizeof(key));
	assert_int_equal(page_node_insert(&nodes[0], last, none), 0);
	assert_int_equal(page_node_insert(&nodes[0], text("z"), none), 0);
	for (char c = 'a'; len; c++) {
		struct bytes name = { &c, 1 };

		while (len && page_node_insert(&nodes[0], name, (struct bytes){ fill, len }))
			len--;
	}
	before = nodes[0];
	assert_false(page_node_split(&nodes[0], &nodes[1], nodes[0].nr - 2u, last));
	assert_memory_equal(&nodes[0], &before, sizeof(before));
}

static void break_heap(struct page_node *node)
{
	node->heap = 100;
}

static void break_prefix(struct page_node *node)
{
	node->prefix--;
}

static void break_fence(struct page_node *node)
{
	node->upper.offset = PAGE_BYTES - 2;
}

static void break_fences(struct page_node *node)
{
	struct page_fence lower = node->lower;

	node->lower = node->upper;
	node->upper = lower;
}

static void break_offset(struct page_node *node)
{
	node->slots[5].offset = PAGE_BYTES - 1;
}

static void break_length(struct page_node *node)
{
	node->slots[5].value = 5;
}

static void break_head(struct page_node *node)
{
	node->slots[5].head++;
}

static void break_order(struct page_node *node)
{
	struct page_slot slot = node->slots[5];

	node->slots[5] = node->slots[6];
	node->slots[6] = slot;
}

static void break_dead(struct page_node *node)
{
	node->dead++;
}

static void break_hint(struct page_node *node)
{
	node->hints[3]++;
}

static void test_checker(void **state)
{
	static const struct {
		void (*damage)(struct page_node *node);
		const char *wrong;
	} cases[] = {
		{ break_heap, "the slots and the heap overlap" },
		{ break_prefix, "the prefix is not that of the fences" },
		{ break_fence, "a fence is outside the heap" },
		{ break_fences, "the fences are not ascending" },
		{ break_offset, "an entry is outside the heap" },
		{ break_length, "a child has a wrong length" },
		{ break_head, "a head is not that of its key" },
		{ break_order, "the keys are not ascending" },
		{ break_dead, "the bytes of the heap do not add up" },
		{ break_hint, "a hint is not the head of its slot" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *wrong;

		make_inner(&nodes[0], 100);
		assert_null(page_node_check(&nodes[0]));
		cases[i].damage(&nodes[0]);
		wrong = page_node_check(&nodes[0]);
		assert_non_null(wrong);
		assert_string_equal(wrong, cases[i].wrong);
	}
}

/* Bytes changed at random: the checker ends, and a sanitizer sees that it stays in the page. */
static void test_damage(void **state)
{
	struct page_node *node = malloc(sizeof(*node));
	unsigned int refused = 0;
	struct rng rng;

	assert_non_null(node);
	rng_seed(&rng, 1, 0);
	for (unsigned int i = 0; i < 5000; i++) {
		make_inner(node, 40);
		for (unsigned int n = 0; n < 1 + i % 8; n++)
			((unsigned char *)node)[rng_below(&rng, 560)] =
				(unsigned char)rng_next(&rng);
		refused += !!page_node_check(node);
	}
	free(node);
	/* The node has bytes without meaning in its header, whose damage stays unseen. */
	assert_in_range(refused, 2500, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_separators),
		cmocka_unit_test(test_inner),
		cmocka_unit_test(test_merge_lengthens),
		cmocka_unit_test(test_split_too_long),
		cmocka_unit_test(test_checker),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
