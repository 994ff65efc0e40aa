/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place-print.h - a place in the program's code, in a sentence. */
#ifndef ELIDE_PLACE_PRINT_H
#define ELIDE_PLACE_PRINT_H

#include <stdio.h>

#include "../names/symbolize.h"

/** place_print() - print "function file:line", or the known part of it. */
void place_print(FILE *out, const struct place *p);

#endif
