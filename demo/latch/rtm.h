/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtm.h - the RTM instructions, for the trees and latches that hold transactions themselves.
 *
 * It is the only file of the demo programs with these instructions. They must be executed only
 * where rtm_usable() returned true: a processor without RTM does not know them. Encodings
 * and bits of the status: Intel SDM volume 1, chapter 16.
 *
 * A transaction of a tree must be begun and ended in one function, which neither returns nor
 * calls the operating system meanwhile. Counts are written outside (see index/counts.h).
 */
#ifndef DEMO_LATCH_RTM_H
#define DEMO_LATCH_RTM_H

#include "../base/base.h"

#include <cpuid.h>
#include <stdbool.h>

/* What rtm_begin() returns in a transaction, and the bits of the status after an abort. */
#define RTM_STARTED (~0u)
#define RTM_EXPLICIT (1u << 0)
#define RTM_RETRY (1u << 1) /* the processor expects that a retry may succeed */
#define RTM_CONFLICT (1u << 2)
#define RTM_CAPACITY (1u << 3)
#define RTM_CODE(status) ((status) >> 24) /* operand of the XABORT, with RTM_EXPLICIT */

/* Operand of rtm_abort(). */
#define RTM_HELD 0xff

/* Bits of CPUID leaf 7: EBX, the processor has RTM; EDX, it aborts all transactions. */
#define CPUID_RTM (1u << 11)
#define CPUID_RTM_ALWAYS_ABORT (1u << 11)

/** rtm_begin() - begin a transaction; returns RTM_STARTED, and after an abort its status */
static __inline_always unsigned int rtm_begin(void)
{
	unsigned int status = RTM_STARTED;

	/* An abort continues behind the instruction, with the status in EAX. */
	__asm__ volatile(".byte 0xc7, 0xf8, 0, 0, 0, 0" : "+a"(status) : : "memory");
	return status;
}

/** rtm_end() - commit the transaction */
static __inline_always void rtm_end(void)
{
	__asm__ volatile(".byte 0x0f, 0x01, 0xd5" : : : "memory");
}

/** rtm_abort() - abort the transaction with the code 0xff, by custom: a latch was held */
static __inline_always void rtm_abort(void)
{
	__asm__ volatile(".byte 0xc6, 0xf8, 0xff" : : : "memory");
}

/** rtm_test() - true in a transaction, whoever began it */
static __inline_always bool rtm_test(void)
{
	bool inside;

	__asm__ volatile(".byte 0x0f, 0x01, 0xd6" : "=@ccnz"(inside) : : "memory");
	return inside;
}

/**
 * rtm_usable() - true if the processor has RTM and may commit transactions
 *
 * The function tries no transaction: where all of them abort, as on a simulated machine
 * with --abort-rate=100, a tree must work all the same.
 */
static inline bool rtm_usable(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CPUID_RTM) &&
	       !(d & CPUID_RTM_ALWAYS_ABORT);
}

#endif
