/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - counters of the processor beside those of the library.
 *
 * Must never print a control character of the data file.
 */
#ifndef ELIDE_COUNTERS_H
#define ELIDE_COUNTERS_H

#include <stdio.h>

#include "../model/report.h"

/** counters_print() - print the counters of a run; nothing if there are none. */
void counters_print(const struct report *r, FILE *out);

#endif
