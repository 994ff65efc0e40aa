/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame.h - sampled stacks as a tree, for a flame graph.
 *
 * Must never show an address.
 */
#ifndef ELIDE_FLAME_H
#define ELIDE_FLAME_H

#include "../../base/json.h"
#include "../../model/report.h"

/**
 * flame_json() - the stacks of the waits as a tree: at the root the locks, then the callers, the
 * outermost first.
 *
 * Each node has a short "name", the whole name in "full", the time in "ns", scaled to the exact sums,
 * and "children", the longest first.
 *
 * Return: the root, whose name is empty; null without such samples, or if the length of a cycle is
 * unknown.
 */
json_t *flame_json(const struct report *r);

#endif
