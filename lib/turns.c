/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turns.c - see turns.h.
 */
#include <cpuid.h>

#include "turns.h"

/* RDTSCP may be used; processors with RTM have it, some virtual machines hide it. */
static bool rdtscp;

void elide_turns_start(void)
{
	unsigned int a, b, c, d;

	rdtscp = __get_cpuid(0x80000001, &a, &b, &c, &d) && d >> 27 & 1;
}

uint32_t elide_turns_socket(void)
{
	unsigned int where = 0;

	if (rdtscp)
		__builtin_ia32_rdtscp(&where);
	/* Linux puts the node there, mostly a socket (VDSO_CPUNODE_BITS). */
	return (where >> 12) % POLICY_SOCKETS;
}

void elide_turns_wait(const struct elide_thread *t, const struct elide_mark *mark)
{
	const struct elide_pacer *p = &elide_pacers[mark->pacer];
	uint64_t start = elide_pace_now();
	struct policy_turns turns;
	uint32_t wait;

	/* They may be changing: a wait is wrong then, but no longer. */
	for (unsigned int i = 0; i < POLICY_SOCKETS; i++)
		turns.ends[i] = READ_ONCE(p->turns.ends[i]);
	wait = policy_turn_wait(&turns, t->socket, start);
	/* A clock that goes backwards ends this too. */
	if (wait)
		while (elide_pace_now() - start < wait)
			cpu_relax();
}

uint8_t elide_turns_sockets(const struct elide_pacer *p)
{
	uint8_t nr = 0;

	for (unsigned int i = 0; i < POLICY_SOCKETS; i++)
		nr += p->reporters_on[i] || p->threads_on[i];
	return nr;
}

void elide_turns_share(struct elide_pacer *p)
{
	struct policy_turns turns;

	for (unsigned int i = 0; i < POLICY_SOCKETS; i++) {
		if (p->reporters_on[i] > p->threads_on[i] || p->learn.phase == LEARN_HOLD)
			p->threads_on[i] = p->reporters_on[i];
		WRITE_ONCE(p->reporters_on[i], 0);
	}
	turns = policy_turns(p->threads_on);
	for (unsigned int i = 0; i < POLICY_SOCKETS; i++)
		if (p->turns.ends[i] != turns.ends[i])
			WRITE_ONCE(p->turns.ends[i], turns.ends[i]);
}
