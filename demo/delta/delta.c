// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delta.c - search, insert, delete and scan of a delta storage (see delta.h).
 *
 * Each comparison looks an ID up in the dictionary. As in the B+Tree, an insert into
 * a leaf that is not full writes that leaf only. A full leaf causes a second descent,
 * which splits nodes of the path from the top down. No memory is freed: a delete
 * marks the entry as deleted.
 */
#include "delta.h"

#include <stdlib.h>

/* Hexadecimal digits of a key as text: all 64 bits, so texts and keys have the same order. */
#define KEY_DIGITS 16

static struct delta_inner *inner_of(struct delta_node *node)
{
	return container_of(node, struct delta_inner, node);
}

static struct delta_leaf *leaf_of(struct delta_node *node)
{
	return container_of(node, struct delta_leaf, node);
}

/* The value of the column that stands for a key: its number, or its text of 16 digits. */
static void value_of_key(const struct delta *delta, uint64_t key, union delta_value *value)
{
	if (!delta->dicts.texts) {
		value->number = key;
		return;
	}
	memset(value->text + KEY_DIGITS, 0, DELTA_TEXT - KEY_DIGITS);
	for (int i = 0; i < KEY_DIGITS; i++)
		value->text[i] = "0123456789abcdef"[key >> (60 - 4 * i) & 15];
}

/* The key that a value of the column stands for. */
static uint64_t key_of_value(const struct delta *delta, const union delta_value *value)
{
	return delta->dicts.texts ? strtoull(value->text, NULL, 16) : value->number;
}

/* Compare the value of an ID with @value: negative, 0 or positive. */
static __inline_always int compare_id(const struct delta *delta, uint32_t id,
				      const union delta_value *value, struct footprint *fp)
{
	const struct delta_entry *entry = dictionary_entry(&delta->dicts, id);

	footprint_read(fp, entry, delta->dicts.area.stride);
	return delta_value_order(delta->dicts.texts, &entry->value, value);
}

/*
 * struct place - the place of a value in a node
 * @at: number of the first ID whose value is not below the value
 * @equal: the value of that ID equals the value
 */
struct place {
	unsigned int at;
	bool equal;
};

static __inline_always struct place linear(const struct delta *delta,
					   const struct delta_node *node,
					   const union delta_value *value, struct footprint *fp)
{
	unsigned int nr = node->nr;

	for (unsigned int at = 0; at < nr; at++) {
		int order;

		footprint_read(fp, &node->ids[at], sizeof(node->ids[at]));
		order = compare_id(delta, node->ids[at], value, fp);
		if (order >= 0)
			return (struct place){ at, !order };
	}
	return (struct place){ nr, false };
}

static __inline_always struct place halving(const struct delta *delta,
					    const struct delta_node *node,
					    const union delta_value *value, struct footprint *fp)
{
	unsigned int low = 0, high = node->nr;

	while (low < high) {
		unsigned int middle = (low + high) / 2;
		int order;

		footprint_read(fp, &node->ids[middle], sizeof(node->ids[middle]));
		order = compare_id(delta, node->ids[middle], value, fp);
		if (!order)
			return (struct place){ middle, true };
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (struct place){ low, false };
}

static __inline_always struct place place_of(const struct delta *delta,
					     const struct delta_node *node,
					     const union delta_value *value, struct footprint *fp)
{
	footprint_read(fp, node, offsetof(struct delta_node, ids));
	return delta->binary ? halving(delta, node, value, fp) : linear(delta, node, value, fp);
}

/* The number of the child of @node whose subtree is the place of @value. */
static __inline_always unsigned int child_slot(const struct delta *delta,
					       const struct delta_node *node,
					       const union delta_value *value,
					       struct footprint *fp)
{
	struct place place = place_of(delta, node, value, fp);

	return place.at + place.equal;
}

/* The leaf that is the place of @value. */
static __inline_always struct delta_leaf *find_leaf(const struct delta *delta,
						    const union delta_value *value,
						    struct footprint *fp)
{
	struct delta_node *node = delta->root;

	footprint_read(fp, delta, CACHE_LINE);
	while (node->level) {
		unsigned int slot = child_slot(delta, node, value, fp);
		struct delta_node **child = &inner_of(node)->children[slot];

		footprint_read(fp, child, sizeof(*child));
		node = *child;
	}
	return leaf_of(node);
}

/* The entry of @value, also a deleted one, and its ID; NULL if there is none. */
static __inline_always struct delta_entry *find_entry(const struct delta *delta,
						      const union delta_value *value, uint32_t *id,
						      struct footprint *fp)
{
	struct delta_leaf *leaf = find_leaf(delta, value, fp);
	struct place place = place_of(delta, &leaf->node, value, fp);

	if (!place.equal)
		return NULL;
	*id = leaf->node.ids[place.at];
	return dictionary_entry(&delta->dicts, *id);
}

/**
 * delta_find() - look a value up
 * @delta: the storage
 * @value: the value
 * @id: receives the ID of @value
 *
 * Return: true if @value is present.
 */
bool delta_find(const struct delta *delta, const union delta_value *value, uint32_t *id)
{
	const struct delta_entry *entry = find_entry(delta, value, id, NULL);

	return entry && entry->payload != DELTA_DELETED;
}

static __inline_always bool search(const struct delta *delta, uint64_t key, uint64_t *value,
				   struct footprint *fp)
{
	const struct delta_entry *entry;
	union delta_value wanted;
	uint32_t id;

	value_of_key(delta, key, &wanted);
	entry = find_entry(delta, &wanted, &id, fp);
	if (!entry || entry->payload == DELTA_DELETED)
		return false;
	*value = entry->payload;
	return true;
}

/**
 * delta_search() - look a key up
 * @delta: the storage
 * @key: the key
 * @value: receives the value that was inserted with @key
 *
 * Return: true if @key is present.
 */
bool delta_search(const struct delta *delta, uint64_t key, uint64_t *value)
{
	return search(delta, key, value, NULL);
}

/**
 * delta_search_counted() - look a key up and record the cache lines that are read
 * @delta: the storage
 * @key: the key
 * @value: receives the value that was inserted with @key
 * @fp: receives the cache lines
 *
 * Return: true if @key is present.
 */
bool delta_search_counted(const struct delta *delta, uint64_t key, uint64_t *value,
			  struct footprint *fp)
{
	return search(delta, key, value, fp);
}

/* Take a node from the thread's allocator. delta_reserve() has reserved the memory. */
static struct delta_node *node_new(struct delta *delta, struct delta_thread *thread,
				   unsigned int level)
{
	unsigned int which = thread->core % delta->nr_allocators;
	struct node_allocator *allocator = &delta->allocators[which];
	unsigned int lines = level ? DELTA_INNER_LINES : DELTA_LEAF_LINES;
	struct delta_node *node = area_at(&delta->lines,
					  which * delta->lines_max + allocator->used);

	allocator->used += lines;
	thread->lines -= lines;
	node->nr = 0;
	node->level = (uint16_t)level;
	return node;
}

/* Open a gap of one ID at @at. */
static void ids_open(struct delta_node *node, unsigned int at)
{
	memmove(node->ids + at + 1, node->ids + at, (node->nr - at) * sizeof(node->ids[0]));
	node->nr++;
}

/* Insert @id and the subtree to its right into @parent, which is not full. */
static void inner_insert(struct delta_node *parent, unsigned int slot, uint32_t id,
			 struct delta_node *right)
{
	struct delta_node **children = inner_of(parent)->children;

	memmove(children + slot + 2, children + slot + 1,
		(parent->nr - slot) * sizeof(children[0]));
	children[slot + 1] = right;
	ids_open(parent, slot);
	parent->ids[slot] = id;
}

/*
 * Split the full child @slot of @parent into two halves. The middle ID of an inner
 * node moves to @parent. The middle ID of a leaf is copied to @parent and is the first
 * of the right half.
 */
static void split_child(struct delta *delta, struct delta_thread *thread,
			struct delta_node *parent, unsigned int slot)
{
	struct delta_node *left = inner_of(parent)->children[slot];
	struct delta_node *right = node_new(delta, thread, left->level);
	unsigned int from = DELTA_IDS / 2;
	uint32_t middle = left->ids[from];

	if (left->level) {
		from++;
		memcpy(inner_of(right)->children, inner_of(left)->children + from,
		       (DELTA_IDS + 1 - from) * sizeof(inner_of(left)->children[0]));
	} else {
		leaf_of(right)->next = leaf_of(left)->next;
		leaf_of(left)->next = leaf_of(right);
	}
	right->nr = (uint16_t)(DELTA_IDS - from);
	memcpy(right->ids, left->ids + from, right->nr * sizeof(left->ids[0]));
	left->nr = DELTA_IDS / 2;
	inner_insert(parent, slot, middle, right);
}

/*
 * Split the full leaf that is the place of @value. Its ancestors that this would
 * overflow, which are the unbroken run of full nodes above it, are split first, from
 * the top down. Returns the leaf that is the place of @value after the split.
 */
static struct delta_leaf *make_room(struct delta *delta, struct delta_thread *thread,
				    const union delta_value *value)
{
	struct delta_node *node, *roomy = NULL;

	for (node = delta->root; node->level;
	     node = inner_of(node)->children[child_slot(delta, node, value, NULL)])
		if (node->nr < DELTA_IDS)
			roomy = node;
	if (!roomy) {
		roomy = node_new(delta, thread, delta->root->level + 1u);
		inner_of(roomy)->children[0] = delta->root;
		delta->root = roomy;
	}
	for (node = roomy; node->level;) {
		unsigned int slot = child_slot(delta, node, value, NULL);

		if (inner_of(node)->children[slot]->nr == DELTA_IDS) {
			split_child(delta, thread, node, slot);
			slot = child_slot(delta, node, value, NULL);
		}
		node = inner_of(node)->children[slot];
	}
	return leaf_of(node);
}

/* Append a row with @id to the column data, if the storage keeps rows. */
static void append_row(const struct delta *delta, struct delta_thread *thread, uint32_t id)
{
	struct delta_row *row;

	if (!delta->keep_rows)
		return;
	row = area_at(&delta->rows, delta_column.nr_rows);
	*row = (struct delta_row){ .id = id, .visible = true };
	delta_column.nr_rows++;
	thread->rows--;
}

/* Append a new value to the dictionary and insert its ID into @leaf at @at. */
static uint32_t add_new(struct delta *delta, struct delta_thread *thread, struct delta_leaf *leaf,
			unsigned int at, const union delta_value *value, uint64_t payload)
{
	uint32_t id;

	if (unlikely(leaf->node.nr == DELTA_IDS)) {
		leaf = make_room(delta, thread, value);
		at = place_of(delta, &leaf->node, value, NULL).at;
	}
	id = dictionary_append(&delta->dicts, thread->core, &thread->entries, value, payload);
	ids_open(&leaf->node, at);
	leaf->node.ids[at] = id;
	return id;
}

/**
 * delta_add() - insert a value
 * @delta: the storage
 * @thread: the calling thread, after delta_reserve()
 * @value: the value; the bytes behind a text are 0
 * @payload: 8 bytes to store with the value, not DELTA_DELETED
 *
 * If the value exists, its entry is not written. If it is deleted, its entry receives
 * @payload and is no longer deleted. In each case a storage that keeps rows appends
 * the ID to the column data.
 *
 * Return: true if @value was absent.
 */
bool delta_add(struct delta *delta, struct delta_thread *thread, const union delta_value *value,
	       uint64_t payload)
{
	struct delta_leaf *leaf = find_leaf(delta, value, NULL);
	struct place place = place_of(delta, &leaf->node, value, NULL);
	bool absent = true;
	uint32_t id;

	if (place.equal) {
		struct delta_entry *entry;

		id = leaf->node.ids[place.at];
		entry = dictionary_entry(&delta->dicts, id);
		absent = entry->payload == DELTA_DELETED;
		if (absent)
			entry->payload = payload;
	} else {
		id = add_new(delta, thread, leaf, place.at, value, payload);
	}
	append_row(delta, thread, id);
	return absent;
}

/**
 * delta_drop() - mark the entry of a value as deleted
 * @delta: the storage
 * @value: the value
 * @payload: receives the payload of @value
 *
 * The rows of the value stay; delta_delete_row() deletes a row by its number.
 *
 * Return: true if @value was present. If it was absent, nothing is written.
 */
bool delta_drop(struct delta *delta, const union delta_value *value, uint64_t *payload)
{
	uint32_t id;
	struct delta_entry *entry = find_entry(delta, value, &id, NULL);

	if (!entry || entry->payload == DELTA_DELETED)
		return false;
	*payload = entry->payload;
	entry->payload = DELTA_DELETED;
	return true;
}

/**
 * delta_insert() - insert a key
 * @delta: the storage
 * @thread: the calling thread, after delta_reserve()
 * @key: the key
 * @value: the value to store with @key, not DELTA_DELETED
 *
 * Return: true if @key was absent.
 */
bool delta_insert(struct delta *delta, struct delta_thread *thread, uint64_t key, uint64_t value)
{
	union delta_value wanted;

	value_of_key(delta, key, &wanted);
	return delta_add(delta, thread, &wanted, value);
}

/**
 * delta_remove() - delete a key
 * @delta: the storage
 * @thread: the calling thread, not used, because no memory becomes free
 * @key: the key
 * @value: receives the value that was stored with @key
 *
 * Return: true if @key was present.
 */
bool delta_remove(struct delta *delta, struct delta_thread *thread, uint64_t key, uint64_t *value)
{
	union delta_value wanted;

	value_of_key(delta, key, &wanted);
	return delta_drop(delta, &wanted, value);
}

/**
 * delta_scan() - visit entries in ascending order of keys, without deleted entries
 * @delta: the storage
 * @from: the scan begins at the first key that is not below @from
 * @limit: maximum number of entries to visit
 * @res: receives the number, the first and last key and the sum of the entries
 */
void delta_scan(const struct delta *delta, uint64_t from, unsigned long limit,
		struct scan_result *res)
{
	struct scan_result seen = { 0 };
	const struct delta_leaf *leaf;
	union delta_value wanted;
	unsigned int at;

	value_of_key(delta, from, &wanted);
	leaf = find_leaf(delta, &wanted, NULL);
	at = place_of(delta, &leaf->node, &wanted, NULL).at;
	for (; leaf && seen.nr < limit; leaf = leaf->next, at = 0) {
		for (; at < leaf->node.nr && seen.nr < limit; at++) {
			const struct delta_entry *entry =
				dictionary_entry(&delta->dicts, leaf->node.ids[at]);

			if (entry->payload == DELTA_DELETED)
				continue;
			seen.last = key_of_value(delta, &entry->value);
			if (!seen.nr++)
				seen.first = seen.last;
			seen.sum += entry->payload;
		}
	}
	*res = seen;
}

/**
 * delta_walk() - call a function for all entries that are not deleted, in list order
 * @delta: the storage
 * @visit: called for each entry; a result other than 0 ends the walk
 * @ctx: first argument of @visit
 *
 * Return: the result of the last @visit, 0 for an empty storage.
 */
int delta_walk(const struct delta *delta, visit_fn visit, void *ctx)
{
	const struct delta_leaf *leaf = delta_first_leaf(delta);
	int ret = 0;

	for (; leaf && !ret; leaf = leaf->next) {
		for (unsigned int at = 0; at < leaf->node.nr && !ret; at++) {
			const struct delta_entry *entry =
				dictionary_entry(&delta->dicts, leaf->node.ids[at]);

			if (entry->payload != DELTA_DELETED)
				ret = visit(ctx, key_of_value(delta, &entry->value),
					    entry->payload);
		}
	}
	return ret;
}
