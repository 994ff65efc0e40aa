/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - the few idioms the demo programs are written in.
 *
 * The demo programs are the unmodified programs that get elided, so they have
 * this header of their own: they must never include anything of the library.
 */
#ifndef DEMO_BASE_H
#define DEMO_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Bytes of a cache line on every x86-64 processor. */
#define CACHE_LINE 64
#define __cacheline_aligned __attribute__((aligned(CACHE_LINE)))

#define __inline_always inline __attribute__((always_inline))

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* Nanoseconds of the monotonic clock; simulated time on a simulated machine. */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
