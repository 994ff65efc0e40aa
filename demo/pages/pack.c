// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pack.c - the entries of neighbouring leaves, divided anew (see pack.h). It writes no page.
 */
#include "pack.h"

#include <string.h>

/** pack_init() - begin with no leaves */
void pack_init(struct pack *p)
{
	p->nr_old = 0;
	p->cursor = 0;
	p->first[0] = 0;
}

/** pack_add() - add a leaf, the right neighbour of the one before; fewer than PACK_MAX are there */
void pack_add(struct pack *p, const struct page_node *node)
{
	p->old[p->nr_old] = node;
	p->first[p->nr_old + 1] = p->first[p->nr_old] + node->nr;
	p->nr_old++;
}

/* The leaf that has entry @i, and the position of the entry in it. */
static const struct page_node *entry(struct pack *p, unsigned int i, unsigned int *at)
{
	while (i < p->first[p->cursor])
		p->cursor--;
	while (i >= p->first[p->cursor + 1])
		p->cursor++;
	*at = i - p->first[p->cursor];
	return p->old[p->cursor];
}

/* Bytes of entry @i with its whole key. */
static unsigned int raw(struct pack *p, unsigned int i)
{
	unsigned int at;
	const struct page_node *node = entry(p, i, &at);

	return node->prefix + node->slots[at].key + node->slots[at].value +
	       (unsigned int)sizeof(struct page_slot);
}

static struct bytes outer_lower(const struct pack *p)
{
	return page_node_fence(p->old[0], p->old[0]->lower);
}

static struct bytes outer_upper(const struct pack *p)
{
	const struct page_node *last = p->old[p->nr_old - 1];

	return page_node_fence(last, last->upper);
}

/* A key that is not below entry @i - 1, and below entry @i. */
static struct bytes separator(struct pack *p, unsigned int i, unsigned char *key)
{
	unsigned int at;
	const struct page_node *node = entry(p, i - 1, &at);
	struct bytes upper = page_node_fence(node, node->upper);

	if (at + 1u < node->nr)
		return (struct bytes){ key, page_node_separator(node, at, key) };
	memcpy(key, upper.data, upper.len);
	return (struct bytes){ key, upper.len };
}

/* Bytes of a leaf with @nr entries that have @bytes with their whole keys. */
static unsigned int leaf_bytes(unsigned int bytes, unsigned int nr, struct bytes lower,
			       struct bytes upper)
{
	return bytes - nr * bytes_common(lower, upper) + lower.len + upper.len;
}

/*
 * struct tail - entries that one leaf may have
 * @begin, @end: their numbers
 * @bytes: bytes of them with their whole keys
 */
struct tail {
	unsigned int begin, end;
	unsigned int bytes;
};

/* Whether the entries fit into a leaf up to @upper; *@lower becomes the fence below them. */
static bool tail_fits(struct pack *p, const struct tail *t, struct bytes upper,
		      unsigned char *key, struct bytes *lower)
{
	*lower = separator(p, t->begin, key);
	return leaf_bytes(t->bytes, t->end - t->begin, *lower, upper) <= PAGE_ROOM;
}

/*
 * The most entries before @end that fit into a leaf up to @upper, but not those before @least.
 * Returns the number of the first one, or @end if none fits.
 */
static unsigned int fill(struct pack *p, unsigned int least, unsigned int end,
			 struct bytes upper, unsigned char *key, struct bytes *lower,
			 unsigned int *bytes)
{
	unsigned int prefix = bytes_common(outer_lower(p), upper);
	struct tail t = { end, end, 0 };

	/* Without the lower fence and with the shortest prefix that there may be, roughly. */
	while (t.begin > least) {
		unsigned int more = raw(p, t.begin - 1);

		if (t.bytes + more - (t.end - t.begin + 1) * prefix + upper.len > PAGE_ROOM)
			break;
		t.bytes += more;
		t.begin--;
	}
	/* Then exactly. */
	while (t.begin < t.end && !tail_fits(p, &t, upper, key, lower))
		t.bytes -= raw(p, t.begin++);
	while (t.begin > least) {
		struct tail more = { t.begin - 1, t.end, t.bytes + raw(p, t.begin - 1) };

		if (!tail_fits(p, &more, upper, key, lower))
			break;
		t = more;
	}
	if (t.begin < t.end)
		tail_fits(p, &t, upper, key, lower);
	*bytes = t.bytes;
	return t.begin;
}

/* The first leaf gets all entries before @end. Returns whether they fit. */
static bool finish(struct pack *p, unsigned int end, struct bytes upper)
{
	unsigned int bytes = 0;

	for (unsigned int i = 0; i < end; i++)
		bytes += raw(p, i);
	bytes = leaf_bytes(bytes, end, outer_lower(p), upper);
	p->begin[0] = 0;
	p->begin[p->nr_new] = p->first[p->nr_old];
	p->free[0] = bytes > PAGE_ROOM ? 0 : (unsigned int)PAGE_ROOM - bytes;
	return bytes <= PAGE_ROOM;
}

/**
 * pack_right() - plan to fill leaves from the right
 * @p: the leaves before
 * @nr: number of leaves after, at least 1, fewer than before
 *
 * Each leaf gets at least one entry. The leaves after are the rightmost ones of those before, and
 * all entries stay in their leaf or move to the right.
 *
 * Return: true if all entries fit so.
 */
bool pack_right(struct pack *p, unsigned int nr)
{
	unsigned int end = p->first[p->nr_old], freed = p->nr_old - nr, bytes;
	struct bytes upper = outer_upper(p);

	if (end < nr)
		return false;
	p->nr_new = nr;
	while (--nr) {
		struct bytes lower = { p->keys[nr - 1], 0 };
		unsigned int begin = fill(p, nr, end, upper, p->keys[nr - 1], &lower, &bytes);

		if (begin == end || begin > p->first[nr + freed])
			return false;
		p->begin[nr] = begin;
		p->separators[nr - 1] = lower;
		p->free[nr] = (unsigned int)PAGE_ROOM - leaf_bytes(bytes, end - begin, lower, upper);
		end = begin;
		upper = lower;
	}
	return finish(p, end, upper);
}

/**
 * pack_even() - plan to give each leaf about the same number of bytes
 * @p: the leaves before
 * @nr: number of leaves after, at least 1
 *
 * Return: true if all entries fit.
 */
bool pack_even(struct pack *p, unsigned int nr)
{
	unsigned int end = p->first[p->nr_old], all = 0;
	struct bytes upper = outer_upper(p);

	if (end < nr)
		return false;
	for (unsigned int i = 0; i < end; i++)
		all += raw(p, i);
	p->nr_new = nr;
	while (--nr) {
		unsigned int want = all / (nr + 1);
		struct tail t = { end, end, 0 };
		struct bytes lower;

		while (t.begin > nr && (t.begin == t.end || t.bytes < want))
			t.bytes += raw(p, --t.begin);
		if (!tail_fits(p, &t, upper, p->keys[nr - 1], &lower))
			return false;
		p->begin[nr] = t.begin;
		p->separators[nr - 1] = lower;
		p->free[nr] = (unsigned int)PAGE_ROOM -
			      leaf_bytes(t.bytes, t.end - t.begin, lower, upper);
		all -= t.bytes;
		end = t.begin;
		upper = lower;
	}
	return finish(p, end, upper);
}

/** pack_leaf() - number of the leaf after that a key belongs to */
unsigned int pack_leaf(const struct pack *p, struct bytes key)
{
	unsigned int n = 0;

	while (n + 1 < p->nr_new && bytes_compare(key, p->separators[n]) > 0)
		n++;
	return n;
}

/*
 * struct run - entries of one leaf before that one leaf after gets
 * @from: the leaf before
 * @at: number of the slot of the first one
 * @nr: their number
 */
struct run {
	const struct page_node *from;
	unsigned int at, nr;
};

/* The run that begins with entry @i, and ends before entry @end at the latest. */
static struct run run_at(struct pack *p, unsigned int i, unsigned int end)
{
	struct run run;

	run.from = entry(p, i, &run.at);
	run.nr = run.from->nr - run.at;
	if (run.nr > end - i)
		run.nr = end - i;
	return run;
}

/**
 * pack_build() - make a leaf after
 * @p: the plan, of pack_right() or pack_even(), which returned true
 * @n: number of the leaf, from 0
 * @node: receives it, none of those before; its tag stays
 */
void pack_build(struct pack *p, unsigned int n, struct page_node *node)
{
	struct bytes lower = n ? p->separators[n - 1] : outer_lower(p);
	struct bytes upper = n + 1 < p->nr_new ? p->separators[n] : outer_upper(p);
	unsigned int end = p->begin[n + 1];
	struct run run;

	page_node_init(node, 0, lower, upper);
	for (unsigned int i = p->begin[n]; i < end; i += run.nr) {
		run = run_at(p, i, end);
		page_node_append(node, run.from, run.at, run.at + run.nr);
	}
}

/**
 * pack_extend() - make the last leaf after from the last one before
 * @p: the plan, of pack_right(), which returned true
 * @node: the last leaf before, which becomes the last one after
 *
 * Its entries stay where they are, and it gets others in front.
 *
 * Return: true; or false, and nothing has changed: it cannot be made so.
 */
bool pack_extend(struct pack *p, struct page_node *node)
{
	unsigned int begin = p->begin[p->nr_new - 1], end = p->first[p->nr_old - 1], bytes = 0;
	struct bytes lower = p->nr_new > 1 ? p->separators[p->nr_new - 2] : outer_lower(p);
	struct run run;

	for (unsigned int i = begin; i < end; i++)
		bytes += raw(p, i);
	if (!page_node_open(node, end - begin, bytes, lower))
		return false;
	for (unsigned int i = begin; i < end; i += run.nr) {
		run = run_at(p, i, end);
		page_node_prepend(node, i - begin, run.from, run.at, run.nr);
	}
	return true;
}
