/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unique-names.h - short names that tell the rows of a report apart.
 *
 * Must never change a name that tells its row apart already.
 */
#ifndef ELIDE_UNIQUE_NAMES_H
#define ELIDE_UNIQUE_NAMES_H

#include "report.h"

/**
 * names_make_unique() - lengthen the short names of lines that are the same for different locks or calls:
 * by file and line or by the offset in the function, else by all of a C++ name, else by the address in the
 * object.
 *
 * Return: 0 or -ENOMEM.
 */
int names_make_unique(struct report *r);

#endif
