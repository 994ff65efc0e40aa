// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * evidence.c - the record of an abort: the bytes that both threads touched, the other thread's
 * section, faults, sets of the cache, and both stacks.
 *
 * Run with --stacks=yes. With an argument the machine has caches and page faults.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "emu.h"

#define PAGE 4096
/* Sets of the first-level cache of all machines that this runs on. */
#define SETS 64
#define WAYS 8
/* Bytes @first to @last of a line. */
#define bytes(first, last) (~0ULL >> (63 - (last) + (first)) << (first))

static volatile long shared[8] __cacheline_aligned;
static volatile char big[1 << 20] __attribute__((aligned(PAGE)));
static volatile int *volatile half = (int *)&shared[3], *volatile nowhere = (int *)16;
static volatile int zero, one = 1;
static int only_reads;
static struct rtmgrind_abort last;

/* Functions of their own, so that it is known which one has an address; no call becomes a jump. */
static void __noinline inner(void (*act)(void))
{
	act();
	__asm__ volatile("" ::: "memory");
}

static void __noinline outer(void (*act)(void))
{
	inner(act);
	__asm__ volatile("" ::: "memory");
}

/* Whether an address is in a function; none of those that are checked has more bytes than this. */
static int lies_in(unsigned long long pc, const void *function)
{
	return pc >= (unsigned long)function && pc < (unsigned long)function + 192;
}

/* What the other thread does. */
static void __noinline write_5(void)
{
	shared[5] = 1;
}

static void __noinline write_2(void)
{
	shared[2] = 1;
}

static void __noinline read_3(void)
{
	(void)shared[3];
}

static void __noinline txn_write_5(void)
{
	if (rtm_begin() == RTM_STARTED) {
		(void)shared[6];
		shared[5] = 1;
		rtm_end();
	}
}

/* The section that the other thread passes with RTMGRIND_SECTION, and what it does then. */
struct deed {
	void (*act)(void);
	unsigned long section;
};

static void *other(void *arg)
{
	struct deed *deed = arg;

	if (deed->section)
		rtmgrind_request(RTMGRIND_SECTION, deed->section, 0);
	usleep(1000);
	outer(deed->act);
	return NULL;
}

static void __noinline touch(long i)
{
	(void)shared[i];
}

/* Reads words 0 and 2, and writes word 1 and half of word 3; reads some again until it aborts. */
static void __noinline victim(void)
{
	if (rtm_begin() != RTM_STARTED)
		return;
	touch(0);
	if (!only_reads) {
		shared[1] = 1;
		*half = 2;
	}
	for (;;) {
		touch(2);
		touch(0);
	}
}

static void conflict(const char *name, void (*act)(void), unsigned long section)
{
	struct deed deed = {act, section};
	pthread_t thread;

	pthread_create(&thread, NULL, other, &deed);
	victim();
	last = emu_last_abort(name);
	check(name, last.cause, RTMGRIND_CAUSE_CONFLICT);
	pthread_join(thread, NULL);
}

static void test_bytes(void)
{
	unsigned long long read = bytes(0, 7) | bytes(16, 23), written = bytes(8, 15) | bytes(24, 27);

	conflict("false sharing", write_5, 0);
	check("own bytes", last.own_bytes, read | written);
	check("own written", last.own_written, written);
	check("other's bytes", last.other_bytes, bytes(40, 47));
	check("other's written", last.other_written, bytes(40, 47));

	only_reads = 1;
	conflict("a transaction", txn_write_5, 0);
	only_reads = 0;
	check("only read", last.own_written, 0);
	check("other's bytes, all", last.other_bytes, bytes(40, 55));
	check("other's written, all", last.other_written, bytes(40, 47));

	conflict("true sharing", write_2, 0);
	check("the same bytes", last.own_bytes & last.other_written, bytes(16, 23));

	conflict("a read", read_3, 0);
	check("bytes read", last.other_bytes, bytes(24, 31));
	check("none written", last.other_written, 0);
}

static void test_section(void)
{
	static const struct rtmgrind_section section = {1, 2, 0x1234, 0x5678};
	static const struct rtmgrind_call call = {.kind = 2, .site = 0x5678};
	struct rtmgrind_outer outer = {(unsigned long)&call, 0x1234};
	static const unsigned long bad[] = {8, -8UL, 1UL << 62, (1UL << 47) - 8};
	size_t i;

	conflict("a section", write_5, (unsigned long)&outer);
	check("section", memcmp(&last.other_section, &section, sizeof(section)), 0);
	conflict("none", write_5, 0);
	check("the next thread has none", last.other_section.open, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		conflict("bad address", write_5, bad[i]);
		check("no section there", last.other_section.open, 0);
		outer.call = bad[i];
		conflict("bad call", write_5, (unsigned long)&outer);
		check("no call there", last.other_section.open, 0);
	}
}

static void *doomed(void *arg)
{
	victim();
	last = emu_last_abort("in the child");
	return NULL;
}

/* A child process has passed no section, though its parent has. */
static void test_section_fork(void)
{
	static const struct rtmgrind_call call = {.kind = 2, .site = 0x5678};
	struct rtmgrind_outer outer = {(unsigned long)&call, 0x1234};
	pthread_t thread;
	int status;
	pid_t pid;

	rtmgrind_request(RTMGRIND_SECTION, (unsigned long)&outer, 0);
	pid = fork();
	if (!pid) {
		pthread_create(&thread, NULL, doomed, NULL);
		usleep(1000);
		write_5();
		pthread_join(thread, NULL);
		if (last.cause != RTMGRIND_CAUSE_CONFLICT)
			_exit(99);
		_exit(last.other_section.open);
	}
	waitpid(pid, &status, 0);
	check("forgotten in the child", status, 0);
	rtmgrind_request(RTMGRIND_SECTION, 0, 0);
}

static void test_other_stack(void)
{
	conflict("stack", write_5, 0);
	check("frames", last.nr_other >= 5 && last.nr_other <= RTMGRIND_FRAMES, 1);
	check("instruction", last.other_frames[0], last.other_pc);
	check("in the function", lies_in(last.other_frames[0], write_5), 1);
	check("its caller", lies_in(last.other_frames[1] - 1, inner), 1);
	check("whose caller", lies_in(last.other_frames[2] - 1, outer), 1);
	check("and its", lies_in(last.other_frames[3] - 1, other), 1);
}

/* The record of a transaction around @act; its stack begins @depth functions further in. */
static void alone(const char *name, void (*act)(void), int cause, unsigned int depth)
{
	if (rtm_begin() == RTM_STARTED) {
		outer(act);
		rtm_end();
	}
	last = emu_last_abort(name);
	check(name, last.cause, cause);
	check("own frames", last.nr_own >= depth + 3 && last.nr_own <= RTMGRIND_FRAMES, 1);
	/* For a line that left the cache, the record has the access that had brought it in. */
	if (cause != RTMGRIND_CAUSE_CAPACITY)
		check("own instruction", last.own_frames[0], last.own_pc);
	check("in act", lies_in(last.own_frames[depth] - !!depth, act), 1);
	check("in inner", lies_in(last.own_frames[depth + 1] - 1, inner), 1);
	check("in outer", lies_in(last.own_frames[depth + 2] - 1, outer), 1);
}

static void __noinline call_kernel(void)
{
	syscall(SYS_getppid);
	__asm__ volatile("" ::: "memory");
}

static void __noinline pause_once(void)
{
	cpu_relax();
}

static void __noinline give_up(void)
{
	rtm_abort(7);
}

static void __noinline divide(void)
{
	zero = one / zero;
}

static void __noinline write_nowhere(void)
{
	*nowhere = 1;
}

static void __noinline trap(void)
{
	__asm__ volatile("ud2");
}

static void __noinline push(void)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tpushq $1\n\tmovq %%rbx, %%rsp"
			 : : "r"(nowhere) : "rbx", "memory");
}

static void test_own(void)
{
	alone("system call", call_kernel, RTMGRIND_CAUSE_SYSCALL, 1);
	alone("instruction", pause_once, RTMGRIND_CAUSE_INSTRUCTION, 0);
	alone("explicit", give_up, RTMGRIND_CAUSE_EXPLICIT, 0);
	alone("division", divide, RTMGRIND_CAUSE_FAULT, 0);
	check("its signal", last.signal, SIGFPE);
	check("its address", last.fault_addr, last.own_pc);
	alone("bad address", write_nowhere, RTMGRIND_CAUSE_FAULT, 0);
	check("its signal", last.signal, SIGSEGV);
	check("its address", last.fault_addr, 16);
	alone("trap", trap, RTMGRIND_CAUSE_FAULT, 0);
	check("its signal", last.signal, SIGILL);
	check("its address", last.fault_addr, last.own_pc);

	if (rtm_begin() == RTM_STARTED) {
		push();
		rtm_end();
	}
	last = emu_last_abort("no stack");
	check("no stack: the instruction alone", last.nr_own, 1);
}

static char *fresh;

static void __noinline touch_fresh(void)
{
	fresh[100] = 1;
}

static void test_first_touch(void)
{
	fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	alone("first touch", touch_fresh, RTMGRIND_CAUSE_FAULT, 0);
	check("no signal", last.signal, 0);
	check("address", last.fault_addr, (long)fresh + 100);
	check("byte", last.own_bytes, bytes(36, 36));
}

static volatile char *aliasing = &big[17 * 64];

static void __noinline write_set(void)
{
	long i;

	for (i = 0; i < 4 * WAYS; i++)
		aliasing[i * SETS * 64] = 1;
}

static void __noinline write_much(void)
{
	long i;

	for (i = 0; i < (long)sizeof(big); i += 64)
		big[i] = 1;
}

static void test_sets(void)
{
	write_set();
	alone("a set", write_set, RTMGRIND_CAUSE_CAPACITY, 0);
	check("the set", last.cache_set, (unsigned long)aliasing / 64 % SETS);
	check("lines it needed", last.cache_ways, WAYS + 1);
	write_much();
	alone("the whole cache", write_much, RTMGRIND_CAUSE_CAPACITY, 0);
	check("no set alone", last.cache_ways, 0);
}

static unsigned long long frames[64];
static unsigned long nr_frames, stack_cycles;

static unsigned long __noinline timed_request(unsigned long request)
{
	unsigned long begin = __rdtsc();

	nr_frames = rtmgrind_request(request, (unsigned long)frames, 64);
	return __rdtsc() - begin;
}

static void __noinline ask(void)
{
	stack_cycles = timed_request(RTMGRIND_STACK);
}

static void test_stack(void)
{
	unsigned long cycles;

	timed_request(RTMGRIND_VERSION);
	cycles = timed_request(RTMGRIND_VERSION);
	outer(ask);
	check("takes no time", stack_cycles, cycles);
	check("asked frames", nr_frames >= 6, 1);
	check("who asks", lies_in(frames[0] - 1, timed_request), 1);
	check("its caller", lies_in(frames[1] - 1, ask), 1);
	check("then", lies_in(frames[2] - 1, inner), 1);
	check("and then", lies_in(frames[3] - 1, outer), 1);
	check("so many", rtmgrind_request(RTMGRIND_STACK, (unsigned long)frames, 2), 2);
	check("none", rtmgrind_request(RTMGRIND_STACK, (unsigned long)frames, 0), 0);
	check("to nowhere", rtmgrind_request(RTMGRIND_STACK, 8, 4), 0);
}

static void handler(int signal)
{
	nr_frames = rtmgrind_request(RTMGRIND_STACK, (unsigned long)frames, 64);
}

static void __noinline raise_it(void)
{
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

/* A stack through the frame of a signal handler. */
static void test_stack_signal(void)
{
	unsigned long i;

	signal(SIGUSR1, handler);
	outer(raise_it);
	check("handler", lies_in(frames[0] - 1, handler), 1);
	for (i = 1; i < nr_frames && !lies_in(frames[i] - 1, raise_it); i++)
		;
	check("who raised it", i + 2 < nr_frames, 1);
	check("its caller", lies_in(frames[i + 1] - 1, inner), 1);
}

/* Interrupted before its first byte. */
static void __noinline __attribute__((naked, used)) trapped(void)
{
	__asm__ volatile("ud2\n\tret");
}

static void trap_handler(int signal, siginfo_t *info, void *context)
{
	nr_frames = rtmgrind_request(RTMGRIND_STACK, (unsigned long)frames, 64);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* behind ud2 */
}

/* The address of what was interrupted is given as a return address, of which readers subtract 1. */
static void test_stack_interrupted(void)
{
	static const unsigned char returns[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const struct sigaction trap = {.sa_sigaction = trap_handler, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &trap, NULL);
	outer(trapped);
	check("frames of the trap", nr_frames >= 5, 1);
	check("trap handler", lies_in(frames[0] - 1, trap_handler), 1);
	check("returns from the signal", memcmp((void *)(frames[1] - 1), returns, sizeof(returns)), 0);
	check("trapped", frames[2] - 1 == (unsigned long)trapped, 1);
	check("its caller", lies_in(frames[3] - 1, inner), 1);
}

int main(int argc, char **argv)
{
	emu_require();
	/* Touches the pages, and has the dynamic linker look the functions up. */
	shared[0] = zero = 0;
	call_kernel();
	test_bytes();
	test_section();
	test_section_fork();
	test_other_stack();
	test_own();
	test_sets();
	test_stack();
	test_stack_signal();
	test_stack_interrupted();
	if (argc > 1)
		test_first_touch();
	return emu_status();
}
