/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - what all checkers share: the description of a fault, and the check of a tree.
 *
 * A check only reads, and trusts the pointers of nodes and nothing else, because a data
 * race may have left anything in a tree. No other thread may use the tree during a check.
 */
#ifndef DEMO_INDEX_CHECK_H
#define DEMO_INDEX_CHECK_H

#include "../base/base.h"

#include <stdbool.h>

/**
 * struct fault - where a checker describes the first fault
 * @why: receives the description, without quotes or backslashes
 * @len: size of @why in bytes
 */
struct fault {
	char *why;
	size_t len;
};

struct check;

/**
 * struct check_ops - how tree_check() reads the nodes of a tree
 * @word: what a node has, "key" or "ID"; messages add an s for several
 * @min: minimum number of keys of a node other than the root
 * @max: maximum number of keys of a node
 * @levels: maximum number of levels
 * @nr: number of keys of a node
 * @level: distance of a node from the leaves
 * @number: key i of a node, as messages show it
 * @value: key i of a node, for @order; NULL after fault()
 * @order: compare two keys: negative, 0 or positive
 * @child: child i of an inner node
 * @next: leaf with the next higher keys; with @high: right sibling of any node; NULL if the
 *	  nodes of a tree have no such link
 * @high: the least key of the right sibling, which a node with one must have; NULL if the
 *	  nodes of a tree have no such key
 * @visit: further checks of a node whose keys are correct, 0 or -EINVAL; may be NULL
 */
struct check_ops {
	const char *word;
	unsigned int min, max, levels;
	unsigned int (*nr)(const void *node);
	unsigned int (*level)(const void *node);
	unsigned long long (*number)(const void *node, unsigned int i);
	const void *(*value)(struct check *check, const void *node, unsigned int i);
	int (*order)(const struct check *check, const void *a, const void *b);
	const void *(*child)(const struct check *check, const void *node, unsigned int i);
	const void *(*next)(const struct check *check, const void *node);
	const void *(*high)(const struct check *check, const void *node);
	int (*visit)(struct check *check, const void *node);
};

/*
 * CHECK_NODE() - the members nr, level and number of struct check_ops, as functions of a checker
 * @type: a node, with the members nr, level and @keys
 * @keys: its keys, an array of integers
 */
#define CHECK_NODE(type, keys)                                                                     \
	static unsigned int nr(const void *node)                                                   \
	{                                                                                          \
		return ((const type *)node)->nr;                                                   \
	}                                                                                          \
                                                                                                   \
	static unsigned int level(const void *node)                                                \
	{                                                                                          \
		return ((const type *)node)->level;                                                \
	}                                                                                          \
                                                                                                   \
	static unsigned long long number(const void *node, unsigned int i)                         \
	{                                                                                          \
		return ((const type *)node)->keys[i];                                              \
	}

/* The same for a tree whose keys are numbers of 8 bytes, with the member value. */
#define CHECK_NODE_OF_NUMBERS(type, keys)                                                          \
	CHECK_NODE(type, keys)                                                                     \
                                                                                                   \
	static const void *value(struct check *check, const void *node, unsigned int i)            \
	{                                                                                          \
		return &((const type *)node)->keys[i];                                             \
	}

/* Initialisers of struct check_ops: the functions of CHECK_NODE_OF_NUMBERS(). */
#define CHECK_NUMBERS                                                                              \
	.word = "key", .nr = nr, .level = level, .number = number, .value = value,                 \
	.order = check_order

/* Maximum number of levels of any tree. */
#define CHECK_LEVELS_MAX 64

/**
 * struct check - state of the check of a tree
 * @ops: how the nodes are read
 * @fault: receives the first fault
 * @ctx: for @ops
 * @prev: node of each level visited last, whose link must lead to the next one
 */
struct check {
	const struct check_ops *ops;
	struct fault fault;
	void *ctx;
	const void *prev[CHECK_LEVELS_MAX];
};

int fault(const struct fault *fault, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int check_order(const struct check *check, const void *a, const void *b);
int tree_check(struct check *check, const void *root);

#endif
