/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sockets.c - see sockets.h.
 */
#include "../base/cpuid.h"
#include "sockets.h"

/* The processor has RDTSCP: all with RTM do, but some virtual machines hide it. */
static bool rdtscp;

void adapt_sockets_start(void)
{
	unsigned int regs[4];

	cpuid_leaf(0x80000001, regs);
	rdtscp = regs[CPUID_EDX] >> 27 & 1;
}

/* Linux has the NUMA node, mostly a socket, in bits 12 and up (VDSO_CPUNODE_BITS), the processor below. */
static unsigned int where(void)
{
	unsigned int aux = 0;

	if (rdtscp)
		__builtin_ia32_rdtscp(&aux);
	return aux;
}

uint32_t adapt_socket(void)
{
	return (where() >> 12) % POLICY_SOCKETS;
}

uint32_t adapt_processor(void)
{
	return where() & 0xfff;
}

void adapt_sockets_wait(const struct elide_thread *t, const struct elide_call *call)
{
	const struct adapt_class *p = &adapt_classes[call->adapt_nr];
	uint64_t start = adapt_now();
	struct policy_sockets sockets;
	uint32_t wait;

	/* Another thread may change them meanwhile: the wait is wrong then, but not longer. */
	for (unsigned int i = 0; i < POLICY_SOCKETS; i++)
		sockets.ends[i] = READ_ONCE(p->sockets.ends[i]);
	wait = policy_socket_wait(&sockets, t->socket, start);
	/* Unsigned: if the clock goes backwards, the wait ends at once. */
	if (wait)
		while (adapt_now() - start < wait)
			cpu_relax();
}

uint8_t adapt_sockets_used(const struct adapt_class *p)
{
	uint8_t nr = 0;

	for (unsigned int i = 0; i < POLICY_SOCKETS; i++)
		nr += p->reporters_on[i] || p->threads_on[i];
	return nr;
}

void adapt_sockets_share(struct adapt_class *p)
{
	struct policy_sockets sockets;

	for (unsigned int i = 0; i < POLICY_SOCKETS; i++) {
		if (p->reporters_on[i] > p->threads_on[i] || p->learn.phase == LEARN_HOLD)
			p->threads_on[i] = p->reporters_on[i];
		WRITE_ONCE(p->reporters_on[i], 0);
	}
	sockets = policy_sockets_share(p->threads_on);
	for (unsigned int i = 0; i < POLICY_SOCKETS; i++)
		if (p->sockets.ends[i] != sockets.ends[i])
			WRITE_ONCE(p->sockets.ends[i], sockets.ends[i]);
}
