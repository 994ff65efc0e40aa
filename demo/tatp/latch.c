// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latch.c - the counts of the latches.
 */
#include "latch.h"

struct latch_count latch_counted[NR_ROLES];
