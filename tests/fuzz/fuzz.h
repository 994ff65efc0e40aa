/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what a fuzz target is: the one function libFuzzer calls.
 *
 * main.c calls it too, to replay inputs without libFuzzer. A target aborts
 * where a result is wrong; the sanitizers do where the access is.
 */
#ifndef ELIDE_FUZZ_H
#define ELIDE_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** LLVMFuzzerTestOneInput() - one input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(int condition)
{
	if (!condition)
		abort();
}

#endif
