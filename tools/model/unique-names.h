/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unique-names.h - short names that are different in all rows of a report.
 *
 * Must never change a name that is unique.
 */
#ifndef ELIDE_UNIQUE_NAMES_H
#define ELIDE_UNIQUE_NAMES_H

#include "report.h"

/**
 * names_make_unique() - lengthen short names that different locks or calls have in common: by file and
 * line or the offset in the function, else to the whole C++ name, else by the address in the object.
 *
 * Return: 0 or -ENOMEM.
 */
int names_make_unique(struct report *r);

#endif
