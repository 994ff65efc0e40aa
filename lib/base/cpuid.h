/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpuid.h - what CPUID says of the processor.
 *
 * glibc (since 2.33) has kept what the loader read. In a virtual machine the instruction itself calls
 * the hypervisor: 1 to 20 us each time.
 */
#ifndef ELIDE_CPUID_H
#define ELIDE_CPUID_H

#include <cpuid.h>
#include <stdbool.h>
#include <string.h>
#include <sys/platform/x86.h>

/* The registers of a leaf, in the order of both sources. */
enum cpuid_reg { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX };

/* Weak: an older glibc lacks it, and then the instruction is executed. */
extern const struct cpuid_feature *__x86_get_cpuid_feature_leaf(unsigned int)
	__attribute__((weak));

/**
 * cpuid_leaf() - the four registers of a leaf.
 * @leaf: 1, 7 (subleaf 0) or 0x80000001
 * @regs: filled; zeroes if the processor lacks the leaf
 */
static inline void cpuid_leaf(unsigned int leaf, unsigned int regs[4])
{
	const struct cpuid_feature *known;
	unsigned int index = leaf == 1 ? CPUID_INDEX_1 :
			     leaf == 7 ? CPUID_INDEX_7 : CPUID_INDEX_80000001;

	if (__x86_get_cpuid_feature_leaf) {
		known = __x86_get_cpuid_feature_leaf(index);
		memcpy(regs, known->cpuid_array, 4 * sizeof(*regs));
		return;
	}
	if (!__get_cpuid_count(leaf, 0, &regs[CPUID_EAX], &regs[CPUID_EBX], &regs[CPUID_ECX],
			       &regs[CPUID_EDX]))
		memset(regs, 0, 4 * sizeof(*regs));
}

/** cpuid_has_rdtscp() - all processors with RTM have it, but some virtual machines hide it. */
static inline bool cpuid_has_rdtscp(void)
{
	unsigned int regs[4];

	cpuid_leaf(0x80000001, regs);
	return regs[CPUID_EDX] >> 27 & 1;
}

/**
 * cpuid_where() - where the thread runs, where cpuid_has_rdtscp().
 *
 * Return: as Linux sets TSC_AUX (VDSO_CPUNODE_BITS): the NUMA node, mostly a socket, in bits 12 and up, the
 * processor below.
 */
static inline unsigned int cpuid_where(void)
{
	unsigned int aux;

	__builtin_ia32_rdtscp(&aux);
	return aux;
}

#endif
