/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks-json.h - elide stacks --json.
 */
#ifndef ELIDE_STACKS_JSON_H
#define ELIDE_STACKS_JSON_H

#include <stdio.h>

#include "../model/stacks.h"

/** stacks_print_json() - print one object, as elide-stacks(1) describes it. Return: 0, or -EIO. */
int stacks_print_json(const struct stacks *s, FILE *out);

#endif
