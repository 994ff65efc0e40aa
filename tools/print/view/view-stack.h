/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-stack.h - samples by stack: report --by stack, --folded.
 *
 * Must never add samples to counters: they represent the same events.
 */
#ifndef ELIDE_VIEW_STACK_H
#define ELIDE_VIEW_STACK_H

#include <stdbool.h>
#include <stdio.h>

#include "../../base/json.h"
#include "../../model/report.h"

/**
 * struct stack_weight - events and cycles that a sample represents.
 * @exact: every event was sampled
 */
struct stack_weight {
	double count;
	double cycles;
	bool exact;
};

/**
 * stack_weight() - the events and cycles that a sample represents.
 *
 * The samples of a row and type represent all its events: their numbers are scaled to the row's
 * exact counters.
 */
struct stack_weight stack_weight(const struct report *r, const struct elide_sample *s);

/* Each shows the first @top stacks, most cycles first; 0 for all. */

/** stacks_table() - print the stacks as text. */
void stacks_table(const struct report *r, FILE *out, size_t top);

/** stacks_csv_head() - print the line of the columns' names. */
void stacks_csv_head(FILE *out);

/** stacks_csv() - print the stacks as comma-separated values. */
void stacks_csv(const struct report *r, FILE *out, size_t top);

/** stacks_json() - the stacks as an array. */
json_t *stacks_json(const struct report *r, size_t top);

/* Which stacks are folded: waits are FOLDED_WAIT for locks, and FOLDED_OTHERS for others. */
enum folding { FOLDED_ABORT, FOLDED_WAIT, FOLDED_BLOCK, FOLDED_OTHERS };

/** folded_print() - print stacks as folded lines for flame graphs. */
void folded_print(const struct report *r, FILE *out, enum folding what);

#endif
