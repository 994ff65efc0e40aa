/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rtm.h - the RTM instructions, the abort status bits and our own abort codes.
 *
 * The only file that holds the instructions. They must never be executed unless CPUID shows RTM
 * (base/detect.h): without it they raise #UD. Encodings and bits: Intel SDM vol. 1, chapter 16
 * ("Programming with Intel Transactional Synchronization Extensions").
 */
#ifndef ELIDE_RTM_H
#define ELIDE_RTM_H

/* EAX after an abort. Zero: none of these, for instance a system call, fault or interrupt. */
#define RTM_STARTED   (~0u)
#define RTM_EXPLICIT  (1u << 0) /* XABORT; its operand is in bits 31..24 */
#define RTM_RETRY     (1u << 1) /* the processor thinks a retry may succeed */
#define RTM_CONFLICT  (1u << 2)
#define RTM_CAPACITY  (1u << 3)
#define RTM_DEBUG     (1u << 4)
#define RTM_NESTED    (1u << 5) /* aborted inside a nested transaction */
#define RTM_CODE(s)   (((s) >> 24) & 0xffu)

/* The hardware's limit of nested XBEGINs (SDM: MAX_RTM_NEST_COUNT); elide never nests. */
#define RTM_NEST_MAX 7

/**
 * rtm_begin() - start a transaction.
 *
 * Return: RTM_STARTED inside the transaction; after an abort, control comes
 * back a second time with the status word.
 */
static inline __attribute__((always_inline)) unsigned int rtm_begin(void)
{
	unsigned int status = RTM_STARTED;

	/* XBEGIN rel32 = 0: the abort handler is the next instruction. */
	__asm__ volatile(".byte 0xc7, 0xf8, 0, 0, 0, 0" : "+a"(status)::"memory");
	return status;
}

/**
 * rtm_started() - start a transaction, with a branch of its own for the abort.
 * @status: set to the status word after an abort; undefined inside the transaction
 *
 * Return: true inside the transaction; after an abort, control comes back a second time with false.
 * Three instructions fewer than rtm_begin() and a comparison.
 */
static inline __attribute__((always_inline)) int rtm_started(unsigned int *status)
{
#if defined(__clang__) && __clang_major__ < 17
	/* Its asm goto has outputs on the fall-through path only. */
	*status = rtm_begin();
	return *status == RTM_STARTED;
#else
	unsigned int eax;

	/* XBEGIN rel32: relative to the end of the instruction. */
	__asm__ goto(".byte 0xc7, 0xf8; .long %l[aborted] - . - 4"
		     : "=a"(eax)
		     :
		     : "memory"
		     : aborted);
	return 1;
aborted:
	*status = eax;
	return 0;
#endif
}

/** rtm_end() - commit. Outside a transaction it faults (#GP). */
static inline __attribute__((always_inline)) void rtm_end(void)
{
	__asm__ volatile(".byte 0x0f, 0x01, 0xd5" ::: "memory");
}

/** rtm_abort() - abort with an 8-bit constant code; outside a transaction a no-op. */
#define rtm_abort(code) __asm__ volatile(".byte 0xc6, 0xf8, %c0" ::"i"((code) & 0xff) : "memory")

/** rtm_test() - non-zero inside a transaction, whoever began it. */
static inline __attribute__((always_inline)) int rtm_test(void)
{
	int inside;

	__asm__ volatile(".byte 0x0f, 0x01, 0xd6" : "=@ccnz"(inside)::"memory");
	return inside;
}

#endif
