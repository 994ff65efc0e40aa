// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * semantics.c - the instructions in a single thread: begin, commit, explicit abort, nesting,
 * capacity, all that aborts, registers, flags.
 */
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "emu.h"

#define COMMITTED RTM_STARTED
#define KIB 1024

static volatile char big[4096 * KIB] __attribute__((aligned(4096)));
static volatile int nr_signals;
static sigjmp_buf after_fault;
/* In memory, so that a test can check that an abort undoes a write to it. */
static volatile int x;
static volatile long seen;

static void on_fault(int signal)
{
	nr_signals++;
	siglongjmp(after_fault, 1);
}

static void on_alarm(int signal)
{
	nr_signals++;
}

static void test_begin_end(void)
{
	unsigned int status;

	x = 1;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		x = 2;
		rtm_abort(0x5a);
	}
	check("explicit abort", status, 0x5a000000 | RTM_EXPLICIT);
	check("explicit abort undoes", x, 1);

	status = rtm_begin();
	if (status == RTM_STARTED) {
		x = 3;
		seen = rtm_test();
		rtm_end();
	}
	check("commit", status, COMMITTED);
	check("commit keeps", x, 3);
	check("xtest inside", seen, 1);
	check("xtest outside", rtm_test(), 0);
	rtm_abort(9);
	check("xabort outside is a no-op", x, 3);
}

static void test_nesting(void)
{
	unsigned int status;
	int depth;

	x = 3;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		x = 9;
		if (rtm_begin() == RTM_STARTED)
			rtm_abort(1);
		x = 10;
		rtm_end();
	}
	check("nested abort goes to the outermost", status,
	      0x01000000 | RTM_EXPLICIT | RTM_NESTED);
	check("nested abort undoes all", x, 3);

	status = rtm_begin();
	if (status == RTM_STARTED) {
		if (rtm_begin() == RTM_STARTED) {
			x = 7;
			rtm_end();
		}
		seen = rtm_test();
		x++;
		rtm_end();
	}
	check("nested commit", status, COMMITTED);
	check("nested commit keeps", x, 8);
	check("xtest after the inner end", seen, 1);

	for (depth = RTM_NEST_MAX; depth <= RTM_NEST_MAX + 1; depth++) {
		volatile int i;

		status = rtm_begin();
		if (status == RTM_STARTED) {
			for (i = 1; i < depth; i++)
				if (rtm_begin() != RTM_STARTED)
					break;
			for (i = 0; i < depth; i++)
				rtm_end();
		}
		check("nesting limit", status == COMMITTED, depth <= RTM_NEST_MAX);
	}
}

static unsigned int touch(long size, long stride, int write)
{
	unsigned int status = rtm_begin();
	long i;

	if (status == RTM_STARTED) {
		for (i = 0; i < size; i += stride) {
			if (write)
				big[i] = 1;
			else
				seen = big[i];
		}
		rtm_end();
	}
	return status;
}

static void test_capacity(void)
{
	check("write 16 KiB", touch(16 * KIB, 64, 1), COMMITTED);
	check("write 64 KiB", touch(64 * KIB, 64, 1), RTM_CAPACITY);
	check("read 256 KiB", touch(256 * KIB, 64, 0), COMMITTED);
	check("read 4 MiB", touch(4096 * KIB, 64, 0), RTM_CAPACITY);
	check("20 lines in one set", touch(20 * 4 * KIB, 4 * KIB, 1), RTM_CAPACITY);
	check("7 lines in one set", touch(7 * 4 * KIB, 4 * KIB, 1), COMMITTED);
}

static void test_unfriendly(void)
{
	unsigned int status, a, b, c, d;

	x = 8;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		x = 77;
		syscall(SYS_getpid);
		rtm_end();
	}
	check("system call", status, 0);
	check("system call undoes", x, 8);

	status = rtm_begin();
	if (status == RTM_STARTED) {
		cpu_relax();
		rtm_end();
	}
	check("pause", status, 0);

	status = rtm_begin();
	if (status == RTM_STARTED) {
		/* The macro of <cpuid.h> is not volatile. */
		__asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0));
		rtm_end();
	}
	check("cpuid", status, 0);

	/* A request has no effect on hardware and must not abort. */
	status = rtm_begin();
	if (status == RTM_STARTED) {
		seen = rtmgrind_request(RTMGRIND_VERSION, 0, 0);
		rtm_end();
	}
	check("client request", status, COMMITTED);
}

/* Runs @insn in a transaction, which must abort with status 0 and without a signal. */
#define fault_in_txn(name, insn)                              \
	do {                                                  \
		unsigned int status_ = rtm_begin();           \
		if (status_ == RTM_STARTED) {                 \
			insn;                                 \
			rtm_end();                            \
		}                                             \
		check(name, status_, 0);                      \
	} while (0)

static void test_faults(void)
{
	volatile int *volatile nowhere = (int *)16;
	volatile int zero = 0;
	void (*volatile bad_code)(void) = (void (*)(void))32;
	volatile char *readonly = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};

	sigaction(SIGSEGV, &fault, NULL);
	fault_in_txn("write to nowhere", *nowhere = 1);
	fault_in_txn("read from nowhere", x = *nowhere);
	fault_in_txn("division by zero", __asm__ volatile("xorl %%edx, %%edx\n\tmovl $1, %%eax\n\t"
							  "idivl %0" ::"m"(zero) : "eax", "edx"));
	fault_in_txn("write to a read-only page", *readonly = 1);
	fault_in_txn("ud2", __asm__ volatile("ud2"));
	fault_in_txn("int3", __asm__ volatile("int3"));
	fault_in_txn("jump to nowhere", bad_code());
	check("no signal was delivered", nr_signals, 0);

	if (!sigsetjmp(after_fault, 1))
		*nowhere = 1;
	check("a fault outside is delivered", nr_signals, 1);
	if (!sigsetjmp(after_fault, 1))
		rtm_end();
	check("xend outside faults", nr_signals, 2);
}

static void test_registers(void)
{
	unsigned long r12, flag, rcx;
	unsigned int status;

	__asm__ volatile("movq $0x1234, %%r12\n\tmovl $-1, %%eax\n\t.byte 0xc7, 0xf8\n\t"
			 ".long 1f - . - 4\n\tmovq $0x9999, %%r12\n\tpxor %%xmm7, %%xmm7\n\t"
			 ".byte 0xc6, 0xf8, 3\n1:\tmovq %%r12, %0\n\tmovl %%eax, %1"
			 : "=r"(r12), "=r"(status)
			 :
			 : "r12", "rax", "xmm7", "memory");
	check("registers are restored", r12, 0x1234);
	check("status of that", status, 0x03000000 | RTM_EXPLICIT);

	/* XBEGIN with a 16-bit operand: the fallback is at the same distance. */
	__asm__ volatile("movl $-1, %%eax\n\t.byte 0x66, 0xc7, 0xf8, 3, 0\n\t"
			 ".byte 0xc6, 0xf8, 6\n\tmovl %%eax, %0"
			 : "=r"(status)::"rax", "memory");
	check("xbegin rel16", status, 0x06000000 | RTM_EXPLICIT);

	/* VEX uses the flags of XTEST in the code that follows, which must still be executed. */
	__asm__ volatile("movq $5, %%rcx\n\t.byte 0x0f, 0x01, 0xd6\n\tmovq $6, %%rcx\n\t"
			 "setnz %%al\n\tmovzbl %%al, %%eax\n\tmovq %%rax, %0\n\tmovq %%rcx, %1"
			 : "=r"(flag), "=r"(rcx)::"rax", "rcx");
	check("xtest in the middle of a block", flag * 16 + rcx, 6);
}

static void test_library_calls(void)
{
	static volatile char buffer[256];
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		memset((char *)buffer, 'a', 255);
		seen = strlen((char *)buffer);
		rtm_end();
	}
	check("memset and strlen", status, COMMITTED);
	check("their result", seen, 255);
}

static void test_signal(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	unsigned int status = COMMITTED;
	volatile int i;

	nr_signals = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (status == COMMITTED) {
		status = rtm_begin();
		if (status != RTM_STARTED)
			break;
		for (i = 0; i < 100000; i++)
			;
		rtm_end();
	}
	check("signal aborts", status, 0);
	check("and is delivered", nr_signals, 1);
}

static void test_cpuid(void)
{
	unsigned int a, b, c, d;

	__cpuid_count(7, 0, a, b, c, d);
	check("cpuid shows RTM", b >> 11 & 1, 1);
	check("and not RTM_ALWAYS_ABORT", d >> 11 & 1, 0);
}

int main(void)
{
	emu_require();
	test_begin_end();
	test_nesting();
	test_capacity();
	test_unfriendly();
	test_faults();
	test_registers();
	test_library_calls();
	test_signal();
	test_cpuid();
	return emu_status();
}
