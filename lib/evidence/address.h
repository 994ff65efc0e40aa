/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * address.h - what is at an address?
 */
#ifndef ELIDE_ADDRESS_H
#define ELIDE_ADDRESS_H

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/** elide_stack_top() - end of the calling thread's stack, whose id is @tid. */
uint64_t elide_stack_top(uint32_t tid);

/**
 * elide_place() - what is at an address of this process that is not in an object's data?
 *
 * The 1 MiB below the top of each thread's stack counts as stack, all else as heap. In a global-lock path.
 *
 * Return: ELIDE_DATA_STACK, ELIDE_DATA_HEAP or ELIDE_DATA_UNKNOWN.
 */
enum elide_data_type elide_place(uint64_t address);

#pragma GCC visibility pop

#endif
