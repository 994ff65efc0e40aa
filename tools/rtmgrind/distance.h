/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distance.h - how far cores are from each other; see distance.c.
 *
 * Must never know the place of a line.
 */
#ifndef RTMGRIND_DISTANCE_H
#define RTMGRIND_DISTANCE_H

#include "pub_tool_basics.h"

enum distance { SAME_DOMAIN, SAME_DIE, SAME_QUADRANT, SAME_SOCKET, REMOTE };

enum distance distance_between(Int a, Int b);
Long distance_clean(Int from, Int to);
Long distance_dirty(Int from, Int to);
Long distance_probe(Int from, Int to);

#endif
