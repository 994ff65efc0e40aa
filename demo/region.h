/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region.h - tells a simulated machine which part of a run is measured.
 *
 * Outside that part rtmgrind does without its cost model, so that loading is
 * fast. On a real processor a request is a few instructions without effect.
 * The program stays one without any part of the library: these are two
 * requests of rtmgrind(1), written as any program under valgrind writes them.
 */
#ifndef DEMO_REGION_H
#define DEMO_REGION_H

/* The requests for the begin and the end of the region of interest. */
#define REGION_BEGIN 0x52540003ul
#define REGION_END 0x52540004ul

/* The instructions of a client request on amd64 (valgrind.h): they rotate RDI by 128 bits. */
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
