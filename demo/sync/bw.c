// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bw.c - the Bw-tree: a thread prepares a change and then replaces words of the mapping
 * table. Readers wait for nobody.
 *
 * The tree is that of Levandoski, Lomet, Sengupta, "The Bw-tree: a B-tree for new hardware
 * platforms", ICDE 2013. The two schemes:
 *
 *	cas     compare-and-swap of one word after the other. A split is two of them: the
 *		node, then its parent. Between the two a thread that gets to the node finds
 *		the key in the right sibling; if it is about to update, it tells the parent.
 *	mwcas   compare-and-swap of several words at once, under one latch that RTM elides
 *		(Makreshanski, Levandoski, Stutsman, "To lock, swap, or elide", VLDB 2015;
 *		Schröder, 2016, section 5.4). A split with all its parents is one change.
 *
 * Under mwcas each update goes through the latch, also that of one word: a lone
 * compare-and-swap could come between the comparison and the stores of a thread that holds
 * it. Readers do not look at the latch. Who holds it stores the words from the leaf up,
 * so what readers meet is a split whose parent does not know yet.
 *
 * An ID is never used again, nodes and records are freed by epochs, and a word never becomes
 * again what it was while a thread has read it. So the comparison of one word suffices.
 */
#include "bw-words.h"
#include "family.h"

#include <stdio.h>
#include <stdlib.h>

/* struct bw_how - a scheme; @several: words are replaced together */
struct bw_how {
	bool several;
};

#define BW_CAS ((struct bw_how){ false })
#define BW_MWCAS ((struct bw_how){ true })

/* An update replaces a word of each level, and that of the root. */
#define STEPS_MAX (BW_LEVELS_MAX + 1)

/**
 * struct bw_path - the way to a leaf
 * @top: level of the root
 * @helped: the thread has completed a split of another one for this update
 * @root: ID of the root
 * @id: ID of the node of each level
 * @head: what it mapped to
 */
struct bw_path {
	unsigned int top;
	bool helped;
	uint32_t root;
	uint32_t id[BW_LEVELS_MAX];
	const struct bw_head *head[BW_LEVELS_MAX];
};

/* The node of @head. Its keys, and the records above it, are requested from memory at once. */
static __inline_always const struct bw_node *node_of(const struct bw_tree *tree,
						     const struct bw_head *head)
{
	const struct bw_node *node;
	const char *line, *end;

	if (head->kind == BW_NODE) {
		node = (const struct bw_node *)(const void *)head;
	} else {
		const struct bw_block *block = bw_block(head);

		for (line = (const char *)block; line < (const char *)head; line += CACHE_LINE)
			__builtin_prefetch(line);
		node = block->node;
	}
	line = (const char *)node;
	end = (const char *)&node->slots[head->level ? tree->layout.inner_max :
						       tree->layout.leaf_max];
	/* Beyond a page the search itself is as fast, as in node_prefetch(). */
	if (end > line + 1088)
		end = line + 1088;
	for (; line < end; line += CACHE_LINE)
		__builtin_prefetch(line);
	return node;
}

static void tell_parent(struct bw_tree *tree, struct bw_thread *thread, struct bw_path *path,
			unsigned int level, uint64_t separator, uint32_t right);

/*
 * Descend to the node of level @to that is the place of @key, and note the way if @path is
 * not NULL. Returns what the ID of the node maps to.
 */
static __inline_always const struct bw_head *descend(struct bw_how how, struct bw_tree *tree,
						     struct bw_thread *thread, uint64_t key,
						     unsigned int to, uint32_t *id,
						     struct bw_path *path)
{
	const struct bw_head *head;

	*id = bw_root(tree);
	head = bw_get(tree, *id);
	if (path) {
		path->root = *id;
		path->top = head->level;
	}
	for (;;) {
		const struct bw_node *node = node_of(tree, head);

		if (bw_beyond(node, key)) {
			if (path && !how.several && !path->helped) {
				path->helped = true;
				tell_parent(tree, thread, path, head->level + 1u, node->high,
					    node->right);
			}
			*id = node->right;
			head = bw_get(tree, *id);
			continue;
		}
		if (path) {
			path->id[head->level] = *id;
			path->head[head->level] = head;
		}
		if (head->level == to)
			return head;
		*id = bw_child(&tree->layout, head, node, key);
		head = bw_get(tree, *id);
	}
}

/* Replace a word of @step by a new one, or count the restart and discard what was prepared. */
static bool swap_or_discard(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step)
{
	if (likely(swap_word(tree, step))) {
		bw_made(thread, step);
		return true;
	}
	bw_discard(tree, thread, step);
	thread->counts.restarts++;
	return false;
}

/* The node of level @level that is the place of @key, by the path or from the root. */
static const struct bw_head *find_parent(struct bw_tree *tree, const struct bw_path *path,
					 unsigned int level, uint64_t key, uint32_t *id)
{
	const struct bw_head *head;

	if (level > path->top)
		return descend(BW_CAS, tree, NULL, key, level, id, NULL);
	*id = path->id[level];
	head = bw_get(tree, *id);
	while (bw_beyond(bw_node(head), key)) {
		*id = bw_node(head)->right;
		head = bw_get(tree, *id);
	}
	return head;
}

/*
 * Put a root of level @level above the present one, if that is lower. Returns true if this
 * thread did. If another one did, the parent is there now.
 */
static bool grow(struct bw_tree *tree, struct bw_thread *thread, unsigned int level,
		 uint64_t separator, uint32_t right)
{
	uint32_t root = bw_root(tree);
	struct bw_step step;

	if (bw_get(tree, root)->level >= level)
		return false;
	bw_prepare_root(tree, thread, &step, root, level, separator, right);
	return swap_or_discard(tree, thread, &step);
}

/*
 * Insert the right half of a split, @right, into the parent, a node of level @level, unless it
 * is there already. If the parent is split by that, go on with the node above it.
 */
static void __attribute__((noinline)) tell_parent(struct bw_tree *tree, struct bw_thread *thread,
						  struct bw_path *path, unsigned int level,
						  uint64_t separator, uint32_t right)
{
	struct bw_step step = { .id = 0 };

	for (;;) {
		struct bw_op op = { BW_INSERT, separator, right };
		const struct bw_head *head;
		uint32_t id;

		if (level > path->top && grow(tree, thread, level, separator, right))
			return;
		head = find_parent(tree, path, level, separator, &id);
		/* The separator may have gone up, in a split of the parent. */
		if (bw_child(&tree->layout, head, bw_node(head), separator) == right)
			return;
		bw_prepare(tree, thread, &step, id, head, &op);
		if (!swap_or_discard(tree, thread, &step))
			continue;
		if (!step.made)
			return;
		separator = step.separator;
		right = step.made;
		level++;
		step = (struct bw_step){ .id = 0 };
	}
}

/*
 * Prepare the parents of a split leaf, whose step is *@steps, for the same change. Returns
 * false if the way to the leaf is out of date. @nr becomes the number of steps.
 */
static bool prepare_parents(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *steps,
			    const struct bw_path *path, unsigned int *nr)
{
	while (steps[*nr - 1].made) {
		unsigned int level = *nr;
		struct bw_op op = { BW_INSERT, steps[level - 1].separator, steps[level - 1].made };
		const struct bw_head *head = path->head[level];

		++*nr;
		if (level > path->top) {
			bw_prepare_root(tree, thread, &steps[level], path->root, level, op.key,
					(uint32_t)op.value);
			return true;
		}
		steps[level] = (struct bw_step){ .id = 0 };
		/* A split between the reads of the parent and of the leaf. */
		if (bw_beyond(bw_node(head), op.key))
			return false;
		bw_prepare(tree, thread, &steps[level], path->id[level], head, &op);
	}
	return true;
}

/* Make a change of a leaf, whose step is *@steps, with all the parents it needs, at once. */
static bool change_all(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *steps,
		       const struct bw_path *path)
{
	unsigned int nr = 1;
	bool done = prepare_parents(tree, thread, steps, path, &nr) &&
		    swap_words(tree, thread, steps, nr);

	for (unsigned int i = 0; i < nr; i++) {
		if (done)
			bw_made(thread, &steps[i]);
		else
			bw_discard(tree, thread, &steps[i]);
	}
	thread->counts.restarts += !done;
	return done;
}

/* Change a leaf and its parents, the one word after the other. */
static bool change_each(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step,
			struct bw_path *path)
{
	if (!swap_or_discard(tree, thread, step))
		return false;
	if (unlikely(step->made))
		tell_parent(tree, thread, path, 1, step->separator, step->made);
	return true;
}

/*
 * Insert or delete an entry. Returns false if the key was there, or was not, already; @value
 * receives what a leaf has for it.
 */
static __inline_always bool update(struct bw_how how, struct bw_tree *tree,
				   struct bw_thread *thread, const struct bw_op *op,
				   uint64_t *value)
{
	struct bw_path path = { .helped = false };
	struct bw_step steps[STEPS_MAX];
	bool done;

	epoch_begin(&thread->epoch);
	steps[0] = (struct bw_step){ .id = 0 };
	do {
		uint32_t id;
		const struct bw_head *head = descend(how, tree, thread, op->key, 0, &id, &path);

		if (bw_find(&tree->layout, head, bw_node(head), op->key, value) ==
		    (op->kind == BW_INSERT))
			return false;
		bw_prepare(tree, thread, &steps[0], id, head, op);
		done = how.several ? change_all(tree, thread, steps, &path) :
				     change_each(tree, thread, &steps[0], &path);
	} while (unlikely(!done));
	return true;
}

static __inline_always bool mapped_search(struct bw_how how, struct bw_tree *tree,
					  struct bw_thread *thread, uint64_t key, uint64_t *value)
{
	const struct bw_head *head;
	uint32_t id;

	epoch_begin(&thread->epoch);
	head = descend(how, tree, thread, key, 0, &id, NULL);
	return bw_find(&tree->layout, head, bw_node(head), key, value);
}

static __inline_always bool mapped_insert(struct bw_how how, struct bw_tree *tree,
					  struct bw_thread *thread, uint64_t key, uint64_t value)
{
	struct bw_op op = { BW_INSERT, key, value };
	uint64_t present;

	return update(how, tree, thread, &op, &present);
}

static __inline_always bool mapped_remove(struct bw_how how, struct bw_tree *tree,
					  struct bw_thread *thread, uint64_t key, uint64_t *value)
{
	struct bw_op op = { BW_REMOVE, key, 0 };

	return update(how, tree, thread, &op, value);
}

/* Add the entries of a leaf with records above it to a scan. */
static void scan_merged(const struct node_layout *layout, const struct bw_head *head, uint64_t from,
			unsigned long limit, struct scan_result *res)
{
	struct bw_merge merge;
	uint64_t key, value;

	bw_merge_begin(&merge, layout, head, NULL);
	bw_merge_from(&merge, from);
	while (res->nr < limit && bw_merge_next(&merge, &key, &value))
		scan_entries(&key, &value, 1, key, limit, res);
}

/* Each leaf is read as it was at one time. */
static __inline_always void mapped_scan(struct bw_how how, struct bw_tree *tree,
					struct bw_thread *thread, uint64_t from,
					unsigned long limit, struct scan_result *res)
{
	const struct node_layout *layout = &tree->layout;
	const struct bw_head *head;
	uint32_t id;

	*res = (struct scan_result){ 0 };
	epoch_begin(&thread->epoch);
	head = descend(how, tree, thread, from, 0, &id, NULL);
	while (res->nr < limit) {
		const struct bw_node *leaf = bw_node(head);

		if (head->kind == BW_NODE)
			scan_entries(leaf->slots, bw_values(layout, leaf), leaf->head.nr, from,
				     limit, res);
		else
			scan_merged(layout, head, from, limit, res);
		if (!leaf->right)
			return;
		head = bw_get(tree, leaf->right);
	}
}

/* struct bw_index - a Bw-tree under any scheme */
struct bw_index {
	struct index head;
	struct bw_tree tree __cacheline_aligned;
};

static inline struct bw_tree *bw_index_tree(struct index *index)
{
	return &container_of(index, struct bw_index, head)->tree;
}

static inline struct bw_thread *bw_index_thread(struct index_thread *thread)
{
	return (struct bw_thread *)thread;
}

static int bw_index_reserve(struct index *index, struct index_thread *thread)
{
	return bw_reserve(bw_index_tree(index), thread);
}

static void bw_index_idle(struct index *index, struct index_thread *thread)
{
	epoch_idle(&bw_index_thread(thread)->epoch);
}

static const struct counts *bw_index_counts(const struct index_thread *thread)
{
	return &((const struct bw_thread *)thread)->counts;
}

/* Nodes have no latch, and the latch of the table belongs to the tree. */
static const struct bw_how no_latching;

static struct index *bw_index_create(const struct index_ops *ops, const struct index_config *config,
				     const struct bw_how *latching, struct bw_how root)
{
	struct bw_index *index = aligned_alloc(CACHE_LINE, sizeof(*index));

	if (!index)
		return NULL;
	index->head = (struct index){ .ops = ops, .tree = &index->tree };
	if (bw_init(&index->tree, config)) {
		free(index);
		return NULL;
	}
	ttas_init(latch_of(&index->tree));
	return &index->head;
}

static void bw_index_destroy(struct index *index, struct bw_how root)
{
	bw_destroy(bw_index_tree(index));
	free(container_of(index, struct bw_index, head));
}

/* Under cas no transaction is begun, so the option may say that, and nothing else. */
static const char *unfit_cas(const struct index_config *config, char *why, size_t len)
{
	uint64_t attempts = config->options[BW_OPTION_attempts];

	if (!attempts || attempts == BW_ATTEMPTS_DEFAULT)
		return NULL;
	snprintf(why, len, "--attempts=%llu: with --scheme=mwcas only",
		 (unsigned long long)attempts);
	return why;
}

#define BW(scheme, how, ...)                                                                       \
	FAMILY_INDEX(bw, bw, scheme, mapped, how, BW_CAS, how, no_latching,                        \
		     .counts = bw_index_counts, .idle = bw_index_idle,                             \
		     .reserve_remove = bw_index_reserve, __VA_ARGS__)

BW(cas, BW_CAS, .unfit = unfit_cas)
BW(mwcas, BW_MWCAS, )
