// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * step.c - prepares changes of nodes: records, new nodes, and splits.
 *
 * What is prepared is in no place where another thread can find it, but for places of a
 * block that were claimed, and right siblings, whose entry of the table no node names yet.
 */
#include "bw.h"

/* Add the newest record of a key, unless the items have a newer one. */
static void item_add(struct bw_merge *merge, enum bw_kind kind, uint64_t key, uint64_t value)
{
	struct bw_item *items = merge->items;
	unsigned int at = merge->nr;

	while (at && items[at - 1].key > key)
		at--;
	if (at && items[at - 1].key == key)
		return;
	memmove(&items[at + 1], &items[at], (merge->nr - at) * sizeof(items[0]));
	items[at] = (struct bw_item){ key, value, kind };
	merge->nr++;
}

/**
 * bw_merge_begin() - begin with the first key of a node and of the records above it
 * @merge: the state
 * @layout: the capacities of the nodes
 * @head: the newest record, or the node
 * @op: a still newer change, or NULL
 */
void bw_merge_begin(struct bw_merge *merge, const struct node_layout *layout,
		    const struct bw_head *head, const struct bw_op *op)
{
	merge->layout = layout;
	merge->node = bw_node(head);
	merge->at = merge->item = merge->nr = 0;
	if (op)
		item_add(merge, op->kind, op->key, op->value);
	for (; head->kind != BW_NODE; head = bw_record(head)->next)
		item_add(merge, head->kind, bw_record(head)->key, bw_record(head)->value);
}

/**
 * bw_merge_from() - skip the keys below a bound
 * @merge: the state
 * @from: the bound
 */
void bw_merge_from(struct bw_merge *merge, uint64_t from)
{
	merge->at = keys_below(merge->node->slots, merge->node->head.nr, from);
	while (merge->item < merge->nr && merge->items[merge->item].key < from)
		merge->item++;
}

/**
 * bw_merge_next() - the next key
 * @merge: the state
 * @key: receives the key
 * @value: receives its value, or in an inner node the child whose least key it is
 *
 * Return: true, or false if there are no more keys.
 */
bool bw_merge_next(struct bw_merge *merge, uint64_t *key, uint64_t *value)
{
	const struct bw_node *node = merge->node;

	for (;;) {
		bool in_node = merge->at < node->head.nr;
		const struct bw_item *item = &merge->items[merge->item];

		if (merge->item == merge->nr || (in_node && node->slots[merge->at] < item->key)) {
			if (!in_node)
				return false;
			*key = node->slots[merge->at];
			*value = node->head.level ?
					 bw_children(merge->layout, node)[merge->at + 1] :
					 bw_values(merge->layout, node)[merge->at];
			merge->at++;
			return true;
		}
		/* The record replaces the entry of the node. */
		if (in_node && node->slots[merge->at] == item->key)
			merge->at++;
		merge->item++;
		if (item->kind == BW_REMOVE)
			continue;
		*key = item->key;
		*value = item->value;
		return true;
	}
}

static struct bw_node *node_make(struct bw_thread *thread, const struct bw_node *like)
{
	struct bw_node *node = pool_get(&thread->nodes);

	*node = (struct bw_node){
		.head = { .kind = BW_NODE, .level = like->head.level },
		.high = like->high,
		.right = like->right,
	};
	return node;
}

static void append(const struct node_layout *layout, struct bw_node *node, uint64_t key,
		   uint64_t value)
{
	unsigned int at = node->head.nr++;

	node->slots[at] = key;
	if (node->head.level)
		bw_children(layout, node)[at + 1] = (uint32_t)value;
	else
		bw_values(layout, node)[at] = value;
}

static void *word_of(uint64_t word)
{
	return (void *)(uintptr_t)word;
}

/* The number of keys of a node after @op. */
static unsigned int nr_after(const struct bw_head *head, const struct bw_op *op)
{
	return op->kind == BW_INSERT ? head->nr + 1 : head->nr - 1;
}

/* Prepare a node with all records above it, and @op, applied, or two if there are many keys. */
static void rebuild(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step,
		    const struct bw_head *head, const struct bw_op *op)
{
	const struct node_layout *layout = &tree->layout;
	unsigned int nr = nr_after(head, op), left = nr;
	struct bw_merge merge;
	struct bw_node *node, *right = NULL;
	uint64_t key, value;

	bw_merge_begin(&merge, layout, head, op);
	node = node_make(thread, merge.node);
	if (head->level)
		bw_children(layout, node)[0] = bw_children(layout, merge.node)[0];
	if (nr > (head->level ? layout->inner_max : layout->leaf_max)) {
		left = nr / 2;
		right = node_make(thread, merge.node);
	}
	for (unsigned int i = 0; i < left && bw_merge_next(&merge, &key, &value); i++)
		append(layout, node, key, value);
	step->node[0] = node;
	step->node[1] = right;
	step->new = (uintptr_t)node;
	if (!right)
		return;
	bw_merge_next(&merge, &key, &value);
	step->separator = node->high = key;
	/* The key between inner nodes is in neither; its child is the first of the right one. */
	if (head->level)
		bw_children(layout, right)[0] = (uint32_t)value;
	else
		append(layout, right, key, value);
	while (bw_merge_next(&merge, &key, &value))
		append(layout, right, key, value);
	step->made = node->right = bw_id_new(tree, thread);
	/* Release: pairs with bw_get(). */
	node_set_link(*bw_word(tree, step->made), (uintptr_t)right);
}

/* Claim the next place of a block. Returns NULL if all @max are claimed. */
static struct bw_record *claim(struct bw_block *block, unsigned int max)
{
	unsigned int slot;

	/* The counter of a full block is not written, so it does not grow without bound. */
	if (__atomic_load_n(&block->used, __ATOMIC_RELAXED) >= max)
		return NULL;
	/* Relaxed: nothing else is ordered; the record is published by the table. */
	slot = __atomic_fetch_add(&block->used, 1, __ATOMIC_RELAXED);
	if (slot >= max)
		return NULL;
	block->records[slot].head.slot = (uint8_t)slot;
	return &block->records[slot];
}

/* A place for a record above @head, NULL if there is none any more. */
static struct bw_record *place(struct bw_tree *tree, struct bw_thread *thread,
			       struct bw_step *step, const struct bw_head *head)
{
	unsigned int max = head->level ? tree->chain_inner : tree->chain;
	struct bw_block *block;

	if (head->kind != BW_NODE) {
		/* The place of the attempt before is still good if only records were added. */
		if (step->record && bw_block(&step->record->head) == bw_block(head))
			return step->record;
		return claim(bw_block(head), max);
	}
	if (!max)
		return NULL;
	block = pool_get(&thread->blocks);
	block->node = (struct bw_node *)(uintptr_t)head;
	block->used = 1;
	block->records[0].head.slot = 0;
	step->block = block;
	return &block->records[0];
}

/**
 * bw_prepare() - prepare the change of a node
 * @tree: the tree
 * @thread: the calling thread, after bw_reserve()
 * @step: the step; 0 before the first attempt, and after bw_discard() as that left it
 * @id: ID of the node
 * @head: what the ID mapped to; an insert or a delete must take effect there
 * @op: the change
 */
void bw_prepare(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step, uint32_t id,
		const struct bw_head *head, const struct bw_op *op)
{
	struct bw_record *record = place(tree, thread, step, head);

	step->id = id;
	step->old = (uintptr_t)head;
	step->record = record;
	if (!record) {
		rebuild(tree, thread, step, head, op);
		return;
	}
	*record = (struct bw_record){
		.head = {
			.kind = (uint8_t)op->kind,
			.level = head->level,
			.slot = record->head.slot,
			.nr = nr_after(head, op),
		},
		.next = head,
		.key = op->key,
		.value = op->value,
	};
	step->new = (uintptr_t)record;
}

/**
 * bw_prepare_root() - prepare a root above the present one
 * @tree: the tree
 * @thread: the calling thread, after bw_reserve()
 * @step: the step
 * @root: ID of the present root, which was split
 * @level: level of the new root
 * @separator: least key of the right half
 * @right: ID of the right half
 */
void bw_prepare_root(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step,
		     uint32_t root, unsigned int level, uint64_t separator, uint32_t right)
{
	static const struct bw_node last = { .high = UINT64_MAX };
	struct bw_node *node = node_make(thread, &last);

	node->head.level = (uint8_t)level;
	bw_children(&tree->layout, node)[0] = root;
	append(&tree->layout, node, separator, right);
	*step = (struct bw_step){
		.id = BW_ROOT,
		.old = root,
		.node = { node },
		.made = bw_id_new(tree, thread),
	};
	step->new = step->made;
	node_set_link(*bw_word(tree, step->made), (uintptr_t)node);
}

/**
 * bw_discard() - give back what was prepared for a step that is not made
 * @tree: the tree
 * @thread: the thread that prepared it
 * @step: the step; for bw_prepare() again it keeps a claimed place of a block
 */
void bw_discard(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step)
{
	struct bw_record *record = step->block ? NULL : step->record;

	if (step->block)
		pool_put(&thread->blocks, step->block);
	for (unsigned int i = 0; i < 2; i++)
		if (step->node[i])
			pool_put(&thread->nodes, step->node[i]);
	if (step->made) {
		node_set_link(*bw_word(tree, step->made), 0);
		thread->spare[thread->nr_spare++] = step->made;
	}
	*step = (struct bw_step){ .record = record };
}

/**
 * bw_made() - retire what a step that was made has replaced
 * @thread: the calling thread
 * @step: the step
 */
void bw_made(struct bw_thread *thread, const struct bw_step *step)
{
	const struct bw_head *head = word_of(step->old);

	if (step->id == BW_ROOT || !step->node[0])
		return;
	epoch_retire(&thread->epoch, &thread->nodes, (void *)(uintptr_t)bw_node(head));
	if (head->kind != BW_NODE)
		epoch_retire(&thread->epoch, &thread->blocks, bw_block(head));
}
