/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wrapper.h - calls of functions that only wrap a lock function.
 *
 * Must never be used inside a transaction.
 */
#ifndef ELIDE_WRAPPER_H
#define ELIDE_WRAPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/**
 * elide_wrapper_caller() - the call after which a lock is named.
 * @site: return address of the call that initialised it
 * @stack: the caller's stack pointer once that call has returned; NULL if it is not known
 *
 * A program with a C++ class of its own for mutexes initialises all of them in one constructor. So a call in
 * a wrapper is replaced by the call of the wrapper, up to WRAPPERS_DEEP times. A function is a wrapper if
 * its name matches a pattern of ELIDE_WRAPPERS; with "auto" there, also if it is small, has a word of
 * wrappers.def in its name, and makes the call within its first THIN bytes.
 *
 * Whether a call is in a wrapper is found out once, from the symbols of its object; a small function without a
 * symbol is one if a wrapper calls it. The stack is walked only for calls in wrappers, 15 times for each: then the place of the return
 * address on the stack is known. Both are global-lock paths.
 *
 * Return: the return address of the call of the outermost wrapper; @site if there is none, or if global-lock
 * paths are refused.
 */
const void *elide_wrapper_caller(const void *site, const void *stack);

/** elide_wrapper_matches() - does a symbol match a pattern of ELIDE_WRAPPERS? */
bool elide_wrapper_matches(const char *name);

/**
 * elide_wrapper_acquired() - record the stack of an acquisition, if its call is in a wrapper.
 * @row: counters of the call
 * @nr: number of the acquisition among those of the row that have locked
 *
 * So the callers of a wrapper are known where no acquisition waits. The sample counts for the acquisitions
 * since the last one. Only where mode is profile. A thread does not wait for another one's global-lock path,
 * as it holds the lock: the next acquisition that is sampled is tried instead.
 */
void elide_wrapper_acquired(struct elide_row *row, uint64_t nr);

#pragma GCC visibility pop

#endif
