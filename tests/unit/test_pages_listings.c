// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_listings.c - listings 1 and 2 of Alhomssi and Leis, CIDR 2021, as printed, and with
 * some of their faults repaired: two judges, whom Contention Split and XMerge satisfy, must find
 * the fault of each.
 *
 * LISTINGS_SEED sets the seed.
 */
#include <errno.h>

#include "unit.h"
#include "page-model.h"

#include "../../demo/pages/pack.h"
#include "../../demo/pages/split.h"

/* Updates that the judge of Contention Split makes: about 2000 periods. */
#define UPDATES 1000000

/* Groups that the judge of XMerge makes, and most entries of one. */
#define GROUPS 400
#define ENTRIES 4000

static uint64_t seed(void)
{
	const char *text = getenv("LISTINGS_SEED");

	return text ? strtoull(text, NULL, 0) : 1;
}

/*
 * Listing 1: the counters of a leaf after an update; @draw is uniform in [0, 1). Returns true if the
 * leaf is to be split between @at and *@other.
 */
typedef bool (*after_update)(struct frame *page, int32_t at, bool waited, uint64_t draw,
			     int32_t *other);

static const struct page_tree_options usual = { .split = true, .sample = 2, .period = 9,
						.pct = 100 };

static bool ours(struct frame *page, int32_t at, bool waited, uint64_t draw, int32_t *other)
{
	return split_drawn(draw, usual.sample) &&
	       split_counted(&usual, page, at, waited, split_drawn(draw, usual.period), other);
}

/* One random number, the last position overwritten before it is compared, a quotient of integers. */
static bool as_printed(struct frame *page, int32_t at, bool waited, uint64_t draw, int32_t *other)
{
	double r = (double)(draw >> 11) * 0x1p-53;
	bool split = false;

	if (r <= 0.25) {
		page->updates++;
		page->slow += waited;
		page->last = at;
	}
	if (r <= 1.0 / 512) {
		float ratio = (float)(page->slow / page->updates);

		if (ratio == 1 && at != page->last) {
			*other = page->last;
			split = true;
		}
		page->last = -1;
		page->updates = page->slow = 0;
	}
	return split;
}

/* The old position is kept, but none at all is another one, so that one update suffices. */
static bool none_is_another(struct frame *page, int32_t at, bool waited, uint64_t draw,
			    int32_t *other)
{
	int32_t before = page->last;
	bool counted = split_drawn(draw, 2), split = false;

	if (counted) {
		page->updates++;
		page->slow += waited;
		page->last = at;
	}
	if (split_drawn(draw, 9)) {
		split = page->slow == page->updates && at != before;
		*other = before;
		page->last = -1;
		page->updates = page->slow = 0;
	}
	return split;
}

/* The last position is not unset at the end of a period, and waiting is not counted. */
static bool counts_no_waits(struct frame *page, int32_t at, bool waited, uint64_t draw,
			    int32_t *other)
{
	bool split = split_drawn(draw, 9) && page->last != at && page->last >= 0;

	*other = page->last;
	if (split_drawn(draw, 2))
		page->last = at;
	return split;
}

/* Make updates at one of two positions; returns the number of splits, -1 at an impossible one. */
static int splits(after_update after, int32_t a, int32_t b, unsigned int waits_pct)
{
	struct page_tree_thread thread;
	struct frame page = { .last = FRAME_NO_POSITION };
	struct rng rng;
	int nr = 0;

	rng_seed(&rng, seed(), 0);
	page_tree_thread_init(&thread, seed(), 1);
	for (unsigned int i = 0; i < UPDATES; i++) {
		int32_t at = rng_below(&rng, 2) ? a : b, other = -2;

		if (!after(&page, at, rng_below(&rng, 100) < waits_pct, split_draw(&thread), &other))
			continue;
		if (other == at || (other != a && other != b))
			return -1;
		nr++;
	}
	return nr;
}

static const char *judge_split(after_update after)
{
	if (splits(after, 3, 40, 100) < 0 || splits(after, 7, 7, 100) < 0)
		return "splits at a position that was not updated";
	if (!splits(after, 3, 40, 100))
		return "never splits";
	if (splits(after, 7, 7, 100))
		return "splits though one entry is hot";
	/* All of the few samples of a short period may have waited. */
	if (splits(after, 3, 40, 0) || splits(after, 3, 40, 50) * 10 > splits(after, 3, 40, 100))
		return "splits without contention";
	return NULL;
}

static void test_listing_1(void **state)
{
	assert_null(judge_split(ours));
	assert_string_equal(judge_split(as_printed), "never splits");
	assert_string_equal(judge_split(none_is_another),
			    "splits at a position that was not updated");
	assert_string_equal(judge_split(counts_no_waits), "splits without contention");
}

/*
 * Listing 2: merge the leaves of @nodes, all under one parent, from the first on, @nr of them.
 * Returns the number of leaves of the group whose first one was freed, 0 if none was.
 */
typedef unsigned int (*xmerge_group)(struct page_node *nodes, unsigned int nr);

/* Last leaves whose entries stayed where they were. */
static unsigned int extended;

static unsigned int merge_ours(struct page_node *nodes, unsigned int nr)
{
	static struct page_node after;
	static struct pack p;
	unsigned int free = 0;

	pack_init(&p);
	for (unsigned int x = 1; x <= nr; x++) {
		pack_add(&p, &nodes[x - 1]);
		free += page_node_free(&nodes[x - 1]);
		if (x < XMERGE_MIN || free < PAGE_ROOM || !pack_right(&p, x - 1))
			continue;
		for (unsigned int i = x - 1; i--;) {
			if (i + 2 == x && pack_extend(&p, &nodes[i + 1])) {
				extended++;
				continue;
			}
			pack_build(&p, i, &after);
			page_node_copy(&nodes[i + 1], &after);
		}
		return x;
	}
	return 0;
}

/* Move tuples from the end of a leaf to its right neighbour while they fit. */
static void move_tuples(struct page_node *left, struct page_node *right)
{
	static struct page_node wide;
	unsigned char key[PAGE_KEY_MAX];

	page_node_init(&wide, 0, page_node_fence(left, left->lower),
		       page_node_fence(right, right->upper));
	for (unsigned int i = 0; i < right->nr; i++)
		if (page_node_insert_at(&wide, wide.nr,
					(struct bytes){ key, page_node_key(right, i, key) },
					page_node_value(right, i)))
			return;
	while (left->nr) {
		unsigned int last = left->nr - 1u;

		if (page_node_insert_at(&wide, 0,
					(struct bytes){ key, page_node_key(left, last, key) },
					page_node_value(left, last)))
			break;
		page_node_remove(left, last);
	}
	page_node_copy(right, &wide);
}

static unsigned int merge_listing(struct page_node *nodes, unsigned int nr, bool printed)
{
	unsigned int x = 1, total = page_node_free(&nodes[0]), other = 0;

	while (x < nr && total < PAGE_ROOM) {
		/* Printed: the sum goes into another variable. */
		*(printed ? &other : &total) += page_node_free(&nodes[x]);
		x++;
	}
	if (total < PAGE_ROOM)
		return 0;
	for (unsigned int right = x - 1; right > 0; right--)
		move_tuples(&nodes[right - 1], &nodes[right]);
	return x;
}

static unsigned int merge_printed(struct page_node *nodes, unsigned int nr)
{
	return merge_listing(nodes, nr, true);
}

/* With the right sum, the leftmost leaf is freed whether its tuples fitted or not. */
static unsigned int merge_summed(struct page_node *nodes, unsigned int nr)
{
	return merge_listing(nodes, nr, false);
}

/* Neighbouring leaves with some of the keys of a model. Returns their number. */
static unsigned int make_group(const struct model *m, struct rng *rng, struct page_node *nodes,
			       unsigned int most)
{
	unsigned int next = (unsigned int)rng_below(rng, m->nr / 4), nr = 0;
	struct bytes lower = { "", 0 };
	unsigned char value[MODEL_VALUE];

	if (next)
		lower = model_bytes(m, next - 1);
	while (nr < most) {
		unsigned int limit = (unsigned int)rng_below(rng, PAGE_ROOM), end = next, used = 0;
		struct bytes upper;

		while (end + 1 < m->nr && used < limit) {
			used += m->keys[end].len + model_value(value, end, 3).len +
				(unsigned int)sizeof(struct page_slot);
			end++;
		}
		upper = model_bytes(m, end);
		memset(&nodes[nr], 0, sizeof(nodes[nr]));
		page_node_init(&nodes[nr], 0, lower, upper);
		for (; next <= end; next++)
			if (page_node_insert(&nodes[nr], model_bytes(m, next),
					     model_value(value, next, 3)))
				break;
		if (next <= end)
			return nr;
		lower = upper;
		nr++;
		if (end + 1 >= m->nr)
			break;
	}
	return nr;
}

static unsigned int count(const struct page_node *nodes, unsigned int from, unsigned int nr)
{
	unsigned int sum = 0;

	for (unsigned int i = from; i < nr; i++)
		sum += nodes[i].nr;
	return sum;
}

static bool same_entry(const struct page_node *a, unsigned int i, const struct page_node *b,
		       unsigned int j)
{
	unsigned char one[PAGE_KEY_MAX], other[PAGE_KEY_MAX];
	struct bytes key = { one, page_node_key(a, i, one) };
	struct bytes wanted = { other, page_node_key(b, j, other) };

	return !bytes_compare(key, wanted) &&
	       !bytes_compare(page_node_value(a, i), page_node_value(b, j));
}

/* Whether leaves of @after from the second on have the entries of those of @before. */
static bool same_entries(const struct page_node *after, const struct page_node *before,
			 unsigned int nr)
{
	unsigned int leaf = 1, at = 0;

	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int j = 0; j < before[i].nr; j++, at++) {
			while (leaf < nr && at == after[leaf].nr) {
				leaf++;
				at = 0;
			}
			if (leaf == nr || !same_entry(&after[leaf], at, &before[i], j))
				return false;
		}
	return true;
}

/* Whether leaves are whole, in order, and have no gap between their fences. */
static bool whole(const struct page_node *nodes, unsigned int from, unsigned int nr,
		  struct bytes lower, struct bytes upper)
{
	for (unsigned int i = from; i < nr; i++) {
		if (page_node_check(&nodes[i]) ||
		    bytes_compare(page_node_fence(&nodes[i], nodes[i].lower), lower))
			return false;
		lower = page_node_fence(&nodes[i], nodes[i].upper);
	}
	return !bytes_compare(lower, upper);
}

static const char *judge_xmerge(xmerge_group merge, unsigned int k)
{
	static struct page_node nodes[XMERGE_MAX], before[XMERGE_MAX];
	unsigned int freed = 0;
	const char *fault = NULL;
	bool lost = false;
	struct model m;
	struct rng rng;

	rng_seed(&rng, seed(), k);
	model_init(&m, &rng, ENTRIES, MODEL_KEY);
	for (unsigned int i = 0; i < GROUPS && !fault; i++) {
		unsigned int nr = make_group(&m, &rng, nodes, k), x;

		if (nr < 2)
			continue;
		memcpy(before, nodes, sizeof(nodes));
		x = merge(nodes, nr);
		freed += !!x;
		if (x && count(nodes, 1, x) != count(before, 0, x))
			lost = true;
		else if (x && merge == merge_ours && !same_entries(nodes, before, x))
			fault = "changes entries";
		else if (x && merge == merge_ours &&
			 !whole(nodes, 1, x, page_node_fence(&before[0], before[0].lower),
				page_node_fence(&before[x - 1], before[x - 1].upper)))
			fault = "leaves a gap";
	}
	model_free(&m);
	return lost ? "loses entries" : fault ? fault : freed ? NULL : "never frees a page";
}

static void test_listing_2(void **state)
{
	for (unsigned int k = XMERGE_MIN; k <= XMERGE_MAX; k++) {
		const char *fault = judge_xmerge(merge_ours, k);

		if (fault)
			fail_msg("LISTINGS_SEED=%llu, k %u: %s", (unsigned long long)seed(), k,
				 fault);
	}
	assert_int_not_equal(extended, 0);
	assert_string_equal(judge_xmerge(merge_printed, 5), "never frees a page");
	assert_string_equal(judge_xmerge(merge_summed, 5), "loses entries");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing_1),
		cmocka_unit_test(test_listing_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
