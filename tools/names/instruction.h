/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * instruction.h - the instructions that abort a transaction, recognised by their bytes.
 *
 * Must never list one: unfriendly.def does.
 */
#ifndef ELIDE_INSTRUCTION_H
#define ELIDE_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

/** instruction_name() - an instruction's name in unfriendly.def; NULL if it is not there. */
const char *instruction_name(const uint8_t *code, size_t size);

#endif
