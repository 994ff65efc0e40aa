/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.h - who blocks whom: calls that waited for locks, and the calls that held them meanwhile.
 *
 * Must never show an address.
 */
#ifndef ELIDE_BLOCKS_H
#define ELIDE_BLOCKS_H

#include "../../base/json.h"
#include "../../model/report.h"

/**
 * blocks_json() - the edges from calls that waited to those that held the lock, the longest waits first.
 *
 * Each has "row" (of the report, from 1), "waiter", "holder" (names of calls as in the table), "lock",
 * "class" and "ns": the row's exact time, divided by its sampled waits.
 *
 * Return: an array; null if no holder is known, or the length of a cycle is not.
 */
json_t *blocks_json(const struct report *r);

#endif
