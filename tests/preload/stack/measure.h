/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure.h - how deep a call goes into the stack: it runs on one that is filled with a pattern.
 */
#ifndef TESTS_PRELOAD_STACK_MEASURE_H
#define TESTS_PRELOAD_STACK_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are filled for each call. A call that goes deeper has gone as deep. */
#define MEASURE_BYTES 8192
/* Bytes of the stack: a call that goes too deep must not end the test. */
#define MEASURE_STACK 65536

/**
 * measure_on() - from now on the calling thread's calls run on that stack.
 * @stack: MEASURE_STACK bytes; NULL: the thread's own
 */
void measure_on(char *stack);

/**
 * measure_set() - from now on measure_call() is a call of @function.
 * @function: takes up to six integers or pointers
 * @deepest: at least the bytes that the deepest of its calls has taken; of any thread
 */
void measure_set(void *function, uint32_t *deepest);

/** measure_call() - call the function with the same arguments. Returns what that returns. */
void measure_call(void);

/** measure_depth() - bytes that were taken of a stack since it was filled. */
size_t measure_depth(const char *stack);

#endif
