/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wiped.h - memory that a forked child finds zeroed.
 */
#ifndef ELIDE_WIPED_H
#define ELIDE_WIPED_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/**
 * elide_wiped_alloc() - map zeroed pages that a fork zeroes in the child (MADV_WIPEONFORK).
 * @size: bytes
 *
 * Return: the memory, NULL if there is none, or if the kernel is older than Linux 4.14.
 */
void *elide_wiped_alloc(size_t size);

/**
 * elide_wiped_clear() - zero memory as a fork does in the child.
 * @p, @size: all that elide_wiped_alloc() returned
 */
void elide_wiped_clear(void *p, size_t size);

#pragma GCC visibility pop

#endif
