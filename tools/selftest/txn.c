// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * txn.c - the self-test of transactions in one thread.
 *
 * Must never leave a transaction open, nor a handler installed.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "../../lib/rtm.h"
#include "selftest.h"

#define NR_LINES 8
#define WORDS (CACHE_LINE / sizeof(long))
/* Distance in bytes of addresses in the same set of the first-level cache of every model. */
#define SET_DISTANCE 4096
/* More ways than the first level of any model has. */
#define MANY_WAYS 20

static volatile long lines[NR_LINES][WORDS] __cacheline_aligned;
static volatile char big[(MANY_WAYS + 1) * SET_DISTANCE] __attribute__((aligned(SET_DISTANCE)));
static volatile int nr_signals;
static volatile long inside;
static sigjmp_buf behind_fault;

void test_instructions(void)
{
	unsigned int status = rtm_begin(), a = 0, b, c = 0, d;

	if (status == RTM_STARTED) {
		inside = rtm_test();
		rtm_end();
	}
	expect("a transaction's status", status, RTM_STARTED);
	expect("XTEST inside", inside, 1);
	expect("XTEST outside", rtm_test(), 0);
	rtm_abort(9);
	status = rtm_begin();
	if (status == RTM_STARTED)
		rtm_abort(0x5a);
	expect("status of XABORT", status, 0x5a000000 | RTM_EXPLICIT);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		syscall(SYS_getppid);
		rtm_end();
	}
	expect("status of a system call", status, 0);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		__asm__ volatile("pause");
		rtm_end();
	}
	expect("status of PAUSE", status, 0);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		rtm_end();
	}
	expect("status of CPUID", status, 0);
	/* A client request uses the flags, which are computed lazily. */
	status = rtm_begin();
	if (status == RTM_STARTED) {
		inside = rtmgrind_request(RTMGRIND_VERSION, 0, 0);
		rtm_end();
	}
	expect("a request inside", inside, RTMGRIND_PROTOCOL);
}

/* Writes all lines, then aborts. Return: the status; *@r12 and *@xmm: registers after the abort. */
static unsigned int write_and_abort(unsigned long *r12, unsigned long *xmm)
{
	unsigned int status;

	__asm__ volatile("movq $0x1234, %%r12\n\tmovq %%r12, %%xmm7\n\tmovl $-1, %%eax\n\t"
			 ".byte 0xc7, 0xf8\n\t.long 1f - . - 4\n\t"
			 "movq $0x9999, %%r12\n\tpxor %%xmm7, %%xmm7\n\t"
			 "movq %%r12, (%3)\n\tmovq %%r12, 64(%3)\n\tlock incq 128(%3)\n\t"
			 "movb $7, 193(%3)\n\tmovq 256(%3), %%rcx\n\tmovq %%rcx, 320(%3)\n\t"
			 "movdqu %%xmm7, 376(%3)\n\t"
			 ".byte 0xc6, 0xf8, 3\n1:\t"
			 "movq %%r12, %0\n\tmovq %%xmm7, %1\n\tmovl %%eax, %2"
			 : "=&r"(*r12), "=&r"(*xmm), "=&r"(status)
			 : "r"(lines)
			 : "r12", "rax", "rcx", "xmm7", "memory");
	return status;
}

void test_rollback(void)
{
	unsigned long r12, xmm;
	long changed = 0;

	for (size_t i = 0; i < NR_LINES; i++)
		for (size_t j = 0; j < WORDS; j++)
			lines[i][j] = 100 * i + j;
	expect("status of the abort", write_and_abort(&r12, &xmm), 0x03000000 | RTM_EXPLICIT);
	for (size_t i = 0; i < NR_LINES; i++)
		for (size_t j = 0; j < WORDS; j++)
			changed += lines[i][j] != (long)(100 * i + j);
	expect("words that an aborted transaction has changed", changed, 0);
	expect("a register after an abort", r12, 0x1234);
	expect("a vector register after an abort", xmm, 0x1234);
	if (rtm_begin() == RTM_STARTED) {
		lines[0][0] = 5;
		lines[1][0]++;
		rtm_end();
	}
	expect("a word that a transaction has committed", lines[0][0] + lines[1][0], 5 + 101);
}

/* Begins @depth nested transactions. Return: the status of the outermost. */
static unsigned int nest(int depth)
{
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		for (volatile int i = 1; i < depth; i++)
			if (rtm_begin() != RTM_STARTED)
				break;
		for (volatile int i = 0; i < depth; i++)
			rtm_end();
	}
	return status;
}

void test_nesting(void)
{
	unsigned int status;

	lines[0][0] = 1;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		lines[0][0] = 2;
		if (rtm_begin() == RTM_STARTED) {
			lines[0][0] = 3;
			rtm_end();
		}
		inside = rtm_test();
		if (rtm_begin() == RTM_STARTED)
			rtm_abort(1);
		rtm_end();
	}
	expect("status of an inner abort", status, 0x01000000 | RTM_EXPLICIT | RTM_NESTED);
	expect("a word after an inner abort", lines[0][0], 1);
	expect("the deepest nesting", nest(RTM_NEST_MAX), RTM_STARTED);
	expect("one deeper commits", nest(RTM_NEST_MAX + 1) == RTM_STARTED, 0);
	expect("XTEST after it", rtm_test(), 0);
}

static unsigned int write_ways(long nr)
{
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		for (long i = 0; i < nr; i++)
			big[i * SET_DISTANCE + SET_DISTANCE / 2] = 1;
		rtm_end();
	}
	return status;
}

void test_capacity(void)
{
	/* A first touch of a page aborts on some machines. */
	for (long i = 0; i < MANY_WAYS; i++)
		big[i * SET_DISTANCE] = 1;
	expect("status of a set with 4 lines", write_ways(4), RTM_STARTED);
	expect("status of a set with 20 lines", write_ways(MANY_WAYS), RTM_CAPACITY);
	expect("a word after 20 lines", big[SET_DISTANCE + SET_DISTANCE / 2 + 1], 0);
}

static void on_fault(int signal)
{
	nr_signals++;
	siglongjmp(behind_fault, 1);
}

void test_faults(void)
{
	struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, old[3];
	static const int signals[] = {SIGSEGV, SIGILL, SIGFPE};
	volatile int *volatile nowhere = (int *)16;
	volatile int zero = 0;
	unsigned int status;

	nr_signals = 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &fault, &old[i]);
	lines[0][0] = 1;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		lines[0][0] = 2;
		*nowhere = 1;
		rtm_end();
	}
	expect("status of a write to nowhere", status, 0);
	expect("a word after it", lines[0][0], 1);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		__asm__ volatile("ud2");
		rtm_end();
	}
	expect("status of UD2", status, 0);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		__asm__ volatile("xorl %%edx, %%edx\n\tmovl $1, %%eax\n\tidivl %0"
				 :
				 : "m"(zero)
				 : "eax", "edx");
		rtm_end();
	}
	expect("status of a division by 0", status, 0);
	expect("signals of faults inside", nr_signals, 0);
	if (!sigsetjmp(behind_fault, 1))
		*nowhere = 1;
	expect("signals of a fault outside", nr_signals, 1);
	if (!sigsetjmp(behind_fault, 1))
		rtm_end();
	expect("signals of XEND outside", nr_signals, 2);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
}

static void on_alarm(int signal)
{
	nr_signals++;
	inside = rtm_test();
}

void test_signals(void)
{
	/* 1 ms of virtual time. */
	const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
	struct sigaction alarm = {.sa_handler = on_alarm}, old;
	unsigned int status;

	nr_signals = 0;
	inside = -1;
	sigaction(SIGALRM, &alarm, &old);
	setitimer(ITIMER_REAL, &soon, NULL);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		/* Ten times as long at 5 GHz. */
		for (volatile long i = 0; i < 50 * 1000 * 1000; i++)
			;
		rtm_end();
	}
	expect("status of a transaction that a timer ends", status, 0);
	for (volatile long i = 0; i < 1000 && !nr_signals; i++)
		;
	expect("signals of the timer", nr_signals, 1);
	expect("XTEST in the handler", inside, 0);
	expect("kill", kill(getpid(), SIGALRM), 0);
	expect("signals of kill", nr_signals, 2);
	sigaction(SIGALRM, &old, NULL);
}
