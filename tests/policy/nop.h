/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nop.h - RTM instructions that do nothing, to measure the cost of the library itself.
 *
 * Included before everything else when the library is compiled for tests/policy/entry.sh:
 * a transaction always starts, never aborts and isolates nothing, so one thread alone may
 * take locks. Must never be part of a library that any other program loads.
 */
#ifndef TESTS_POLICY_NOP_H
#define TESTS_POLICY_NOP_H

#include <cpuid.h>

/* What the kernel says of the processor's transactions does not matter. */
#define ELIDE_TAA_FILE "/dev/null"

/* Takes the place of lib/rtm.h. */
#define ELIDE_RTM_H

#define RTM_STARTED  (~0u)
#define RTM_EXPLICIT (1u << 0)
#define RTM_RETRY    (1u << 1)
#define RTM_CONFLICT (1u << 2)
#define RTM_CAPACITY (1u << 3)
#define RTM_DEBUG    (1u << 4)
#define RTM_NESTED   (1u << 5)
#define RTM_CODE(s)  (((s) >> 24) & 0xffu)
#define RTM_NEST_MAX 7

/* Nobody knows how to abort it: the program ends. */
#define rtm_abort(code) __builtin_trap()
#define rtm_test()      0

static inline __attribute__((always_inline)) unsigned int rtm_begin(void)
{
	unsigned int status = RTM_STARTED;

	/* The compiler may not know that it started. */
	__asm__ volatile("" : "+r"(status)::"memory");
	return status;
}

static inline __attribute__((always_inline)) int rtm_started(unsigned int *status)
{
	*status = rtm_begin();
	return *status == RTM_STARTED;
}

static inline __attribute__((always_inline)) void rtm_end(void)
{
	__asm__ volatile("" ::: "memory");
}

/* CPUID as of a processor with RTM. */
static inline int nop_cpuid_count(unsigned int leaf, unsigned int sub, unsigned int *a,
				   unsigned int *b, unsigned int *c, unsigned int *d)
{
	int has = __get_cpuid_count(leaf, sub, a, b, c, d);

	*b |= 1u << 11;
	*d &= ~(1u << 11);
	return has;
}

#define __get_cpuid_count nop_cpuid_count

#endif
