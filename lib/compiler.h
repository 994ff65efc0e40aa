/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compiler.h - compiler idioms.
 *
 * Must never hold anything that knows about locks or transactions.
 */
#ifndef ELIDE_COMPILER_H
#define ELIDE_COMPILER_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define __cold        __attribute__((cold, noinline))
#define __noinline    __attribute__((noinline))
#define __always_inline_fn inline __attribute__((always_inline))
#define __printf(f, a) __attribute__((format(printf, f, a)))
#define __export      __attribute__((visibility("default")))

/* Bytes of a cache line on every x86-64 processor that has RTM. */
#define CACHE_LINE 64
#define __cacheline_aligned __attribute__((aligned(CACHE_LINE)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Relaxed accesses that the compiler may neither tear, fuse nor invent. */
#define READ_ONCE(x)     __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

/*
 * A 64-bit counter with one writer, read by anybody at any time. One
 * instruction, so that a signal handler of the same thread loses nothing.
 */
#define counter_add(x, n) \
	__asm__("addq %1, %0" : "+m"(x) : "er"((unsigned long long)(n)) : "cc")

/* counter_add() for a counter of 32 bits. */
#define counter_add_32(x, n) \
	__asm__("addl %1, %0" : "+m"(x) : "er"((unsigned int)(n)) : "cc")

#define barrier() __asm__ volatile("" ::: "memory")

static inline void cpu_relax(void)
{
	__builtin_ia32_pause();
}

/* Cycles of the time-stamp counter; virtual cycles under rtmgrind. Not serialising. */
static inline unsigned long long cycles_now(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
