/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region.h - marks the part of a run that a simulated machine measures.
 *
 * Outside that part rtmgrind does not apply its cost model, so loading is fast.
 * On a processor a request is six instructions without effect. The program still
 * contains no part of the library: the two requests are those of rtmgrind(1), and
 * their instructions are Valgrind's client-request sequence.
 */
#ifndef DEMO_REGION_H
#define DEMO_REGION_H

/* Client requests of rtmgrind(1): begin and end of the region of interest. */
#define REGION_BEGIN 0x52540003ul
#define REGION_END 0x52540004ul

/* A client request on amd64: four rotations of RDI by 128 bits in all, and XCHG RBX, RBX. */
static inline void region_request(unsigned long request)
{
	volatile unsigned long args[6] = { request };
	unsigned long answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(&args[0])
			 : "cc", "memory");
}

#endif
