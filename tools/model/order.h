/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order.h - cycles of locks, named.
 *
 * Must never say more than the data file.
 */
#ifndef ELIDE_ORDER_H
#define ELIDE_ORDER_H

#include "report.h"

/** order_build() - name the cycles of locks. Return: 0 or -ENOMEM. */
int order_build(struct report *r);

/** order_free() - release what order_build() took. */
void order_free(struct report *r);

#endif
