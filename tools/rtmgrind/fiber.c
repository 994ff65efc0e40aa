// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fiber.c - guest threads that move between host threads.
 *
 * Valgrind gives each guest thread a host thread with a stack. To let another host thread run takes
 * two system calls and a context switch, 1.8 us (measured). To resume where that thread stopped, on
 * its stack, takes the exchange of 14 registers. So the running host thread resumes the next
 * guest thread, and all other host threads sleep.
 *
 *   a host thread   its stack pointer is on   its own guest thread
 *   runs            its own stack             runs
 *   carries         another thread's stack    waits
 *   sleeps          its parking stack         waits, or runs on another host thread
 *
 * Must never leave a stack before its registers are saved on it: the caller holds the scheduler's
 * guard across the change, and gives it up after it has come back on the other stack.
 */
#include "fiber.h"

/* Bytes: for the deepest call of the scheduler there, 1 KiB, and a signal frame of the host. */
#define PARKING_SIZE 32768

/*
 * The stack pointer of a fiber that gave way points to what fiber_swap() pushed: MXCSR and the x87
 * control word, the registers that a function preserves (System V ABI), and the return address.
 */
struct frame {
	UInt mxcsr;
	UInt control_word;
	ULong r15, r14, r13, r12, rbx, rbp;
	void *next;
};

void fiber_swap(void **save, void *sp);
void fiber_sleep(void);

__asm__(".text\n"
	"fiber_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n"
	"	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"fiber_resume:\n"
	"	ldmxcsr (%rsp)\n"
	"	fldcw 4(%rsp)\n"
	"	addq $8, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	/* On a parking stack: calls the function in R12, goes on as the fiber that it returns. */
	"fiber_sleep:\n"
	"	movq %rbx, %rdi\n"
	"	call *%r12\n"
	"	movq (%rax), %rdx\n"
	"	movq $0, (%rax)\n"
	"	movq %rdx, %rsp\n"
	"	jmp fiber_resume\n");

/**
 * fiber_switch() - resume another guest thread, on the same host thread.
 * @from: fiber of the running guest thread
 * @to: fiber of a guest thread that gave way
 *
 * Returns when a host thread, which may be another one, resumes @from.
 */
void fiber_switch(struct fiber *from, struct fiber *to)
{
	void *sp = to->sp;

	to->sp = NULL;
	fiber_swap(&from->sp, sp);
}

/**
 * fiber_park() - let the host thread sleep.
 * @from: fiber of the running guest thread
 * @host: fiber of the guest thread to which the host thread belongs
 * @sleep: called on the parking stack; sleeps, and returns the fiber to resume
 * @tid: argument of @sleep
 *
 * Returns when a host thread, which may be another one, resumes @from.
 */
void fiber_park(struct fiber *from, struct fiber *host, struct fiber *(*sleep)(ThreadId tid),
		ThreadId tid)
{
	struct frame *frame;

	if (!host->parking)
		host->parking = VG_(malloc)("rtmgrind.parking", PARKING_SIZE);
	/* The address after the frame is a multiple of 16, as the ABI demands at a call. */
	frame = (struct frame *)(((Addr)host->parking + PARKING_SIZE) / 16 * 16 - sizeof(*frame));
	frame->rbx = tid;
	frame->r12 = (Addr)sleep;
	frame->next = fiber_sleep;
	__asm__("stmxcsr %0\n\tfnstcw %1" : "=m"(frame->mxcsr), "=m"(frame->control_word));
	fiber_swap(&from->sp, frame);
}

/**
 * fiber_free() - free the parking stack of a host thread that has ended.
 * @fiber: fiber of its guest thread
 */
void fiber_free(struct fiber *fiber)
{
	VG_(free)(fiber->parking);
	*fiber = (struct fiber){0};
}
