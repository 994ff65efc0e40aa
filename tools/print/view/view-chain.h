/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-chain.h - which threads wait for which: report --by chain.
 */
#ifndef ELIDE_VIEW_CHAIN_H
#define ELIDE_VIEW_CHAIN_H

#include <stdio.h>

#include "../../base/json.h"
#include "../../model/answer/groups.h"

/**
 * chain_table() - print the groups of threads, for which others they wait, and the chain. Return: 0 or
 * -ENOMEM.
 */
int chain_table(const struct report *r, FILE *out, int width);

/** chain_json() - the same as JSON, exact: set @chain. Return: 0 or -ENOMEM. */
int chain_json(const struct report *r, json_t **chain);

/** chain_csv_head() - print the names of the columns. */
void chain_csv_head(FILE *out);

/** chain_csv() - print a line for each edge. Return: 0 or -ENOMEM. */
int chain_csv(const struct report *r, FILE *out);

#endif
