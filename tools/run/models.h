/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * models.h - the machines that rtmgrind simulates: their names and numbers.
 *
 * Must never decide whether numbers go together: rtmgrind does.
 */
#ifndef ELIDE_MODELS_H
#define ELIDE_MODELS_H

#include <stddef.h>
#include <stdio.h>

/**
 * models_check() - is there such a machine?
 * @spec: NAME[:NUMBER=VALUE,...]
 * @why: @size bytes, filled with the fault and the nearest valid name or value
 *
 * Return: 0 or -EINVAL.
 */
int models_check(const char *spec, char *why, size_t size);

/**
 * models_check_number() - can a number of the machine have this value?
 * @name: as in model.def
 * @value: text
 * @why: @size bytes, filled with the fault and the nearest valid name or value
 *
 * Return: 0 or -EINVAL.
 */
int models_check_number(const char *name, const char *value, char *why, size_t size);

/** models_names() - the machines; models_numbers() - the numbers that each has. NULL past the last. */
const char *models_names(size_t nth);
const char *models_numbers(size_t nth);

/**
 * models_print() - a line for each machine.
 */
void models_print(FILE *out);

/**
 * models_print_one() - a line for each number of a machine, with its source.
 * @why: @size bytes, filled if there is no machine @name
 *
 * Return: 0 or -EINVAL.
 */
int models_print_one(const char *name, FILE *out, char *why, size_t size);

#endif
