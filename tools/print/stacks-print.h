/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks-print.h - the text of elide stacks.
 */
#ifndef ELIDE_STACKS_PRINT_H
#define ELIDE_STACKS_PRINT_H

#include <stdio.h>

#include "../model/stacks.h"

/** stacks_print() - print all threads, cycles of them first. */
void stacks_print(const struct stacks *s, FILE *out);

/**
 * stacks_object_name() - the name of a lock, or of another object that threads wait for.
 * @to: @size bytes: the name of its class or of the variable; empty if it has none
 * @class_index: STACKS_NONE if it has no class
 * @address: of the object
 */
void stacks_object_name(const struct stacks *s, char *to, size_t size, uint32_t class_index,
			uint64_t address);

/** stacks_is_ours() - is it code of the library, whose frames are not shown? */
int stacks_is_ours(const struct place *p);

#endif
