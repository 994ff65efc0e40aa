/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - idioms that all demo programs use.
 *
 * The demo programs are ordinary programs whose locks elide elides. They must
 * never include a header of the library, so they have these idioms of their own.
 */
#ifndef DEMO_BASE_H
#define DEMO_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Bytes of a cache line of x86-64. */
#define CACHE_LINE 64
#define __cacheline_aligned __attribute__((aligned(CACHE_LINE)))

#define __inline_always inline __attribute__((always_inline))

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* Compiled for ThreadSanitizer: gcc defines the first, clang has the second. */
#if defined(__SANITIZE_THREAD__)
#define DEMO_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DEMO_TSAN 1
#endif
#endif

/* Nanoseconds of the monotonic clock. On a simulated machine the clock shows virtual time. */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds of processor time that the calling thread has used. */
static inline uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
