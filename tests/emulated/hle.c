// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hle.c - XACQUIRE and XRELEASE: hle elides|ignored.
 *
 * The argument tells whether the machine has HLE; without it the hints have no effect. Prints what
 * is wrong.
 */
#include <cpuid.h>
#include <pthread.h>
#include <string.h>

#include "emu.h"

#define XACQUIRE ".byte 0xf2; "
#define XRELEASE ".byte 0xf3; "
#define NR_LOOKS 2000
#define NR_ROUNDS 40
/* Cycles by which two threads' clocks may differ: two quanta of 200 instructions, and more. */
#define SLACK 1000

static int elides;
/* Words in lines of their own. */
static struct word {
	volatile unsigned int value;
	unsigned int pad[31];
} first, second, third, data __attribute__((aligned(64)));

/*
 * PAIR(name, before, acquire, release): the lock has 8 bytes at RDI, whose value is @before at
 * first. RAX, RBX, RCX and RDX are 0, 0, 1 and 1; for CMPXCHG8B they are 0, 0, 1 and 5.
 */
#define PAIRS(PAIR)                                                                             \
	PAIR(xchg_mov_c7, 0, "xchg %%ecx, (%%rdi)", "movl $0, (%%rdi)")                         \
	PAIR(xchg_mov_c7_q, 0, "xchg %%rcx, (%%rdi)", "movq $0, (%%rdi)")                       \
	PAIR(xchg_mov_c7_w, 0, "xchg %%cx, (%%rdi)", "movw $0, (%%rdi)")                        \
	PAIR(xchg_mov_c6, 0, "xchg %%cl, (%%rdi)", "movb $0, (%%rdi)")                          \
	PAIR(xchg_mov_88, 0, "xchg %%cl, (%%rdi)", "movb %%al, (%%rdi)")                        \
	PAIR(xchg_mov_89, 0, "lock; xchg %%ecx, (%%rdi)", "movl %%eax, (%%rdi)")                \
	PAIR(xchg_mov_89_q, 0, "xchg %%rcx, (%%rdi)", "movq %%rax, (%%rdi)")                    \
	PAIR(xchg_xchg, 0, "xchg %%ecx, (%%rdi)", "xchg %%ecx, (%%rdi)")                        \
	PAIR(cmpxchg, 0, "lock; cmpxchg %%ecx, (%%rdi)",                                        \
	     "movl $0, (%%rdi)")                                                                \
	PAIR(cmpxchg8b, 0x500000000, "lock; cmpxchg8b (%%rdi); xchg %%ecx, %%edx",            \
	     "lock; cmpxchg8b (%%rdi)")                                                         \
	PAIR(add_sub, 5, "lock; addl $1, (%%rdi)", "lock; subl $1, (%%rdi)")                    \
	PAIR(add_sub_imm32, 5, "lock; addl $0x10001, (%%rdi)", "lock; subl $0x10001, (%%rdi)")  \
	PAIR(add_sub_imm8, 5, "lock; addb $1, (%%rdi)", "lock; subb $1, (%%rdi)")               \
	PAIR(add_sub_q, 5, "lock; addq %%rcx, (%%rdi)", "lock; subq %%rcx, (%%rdi)")            \
	PAIR(adc_sbb, 5, "lock; adcl $1, (%%rdi)", "lock; sbbl $1, (%%rdi)")                    \
	PAIR(or_and, 4, "lock; orl $3, (%%rdi)", "lock; andl $4, (%%rdi)")                      \
	PAIR(xor, 4, "lock; xorl %%ecx, (%%rdi)", "lock; xorl %%ecx, (%%rdi)")                  \
	PAIR(inc_dec, 5, "lock; incl (%%rdi)", "lock; decl (%%rdi)")                            \
	PAIR(neg, 5, "lock; negl (%%rdi)", "lock; negl (%%rdi)")                                \
	PAIR(not, 5, "lock; notl (%%rdi)", "lock; notl (%%rdi)")                                \
	PAIR(xadd, 0, "lock; xadd %%ecx, (%%rdi)", "lock; decl (%%rdi)")                        \
	PAIR(bts_btr, 4, "lock; btsl $1, (%%rdi)", "lock; btrl $1, (%%rdi)")                    \
	PAIR(bts_mov, 0, "lock; btsl %%edx, (%%rdi)", "movl $0, (%%rdi)")                       \
	PAIR(btc, 4, "lock; btcl %%edx, (%%rdi)", "lock; btcl %%edx, (%%rdi)")

#define PAIR(name, before, acquire, release)                                                    \
	static void pair_##name(unsigned long *lock)                                            \
	{                                                                                       \
		unsigned long rax = 0, rcx = 1, high = (unsigned long)before >> 32, held;       \
		unsigned long rdx = high ? high : 1;                                            \
		unsigned char inside, behind;                                                   \
		*lock = before;                                                                 \
		__asm__ volatile("clc; " XACQUIRE acquire "\n\t.byte 0x0f, 0x01, 0xd6\n\t"      \
				 "setnz %[inside]\n\tmov (%%rdi), %[held]\n\tclc\n\t"           \
				 XRELEASE release "\n\t.byte 0x0f, 0x01, 0xd6\n\t"              \
				 "setnz %[behind]"                                              \
				 : "+a"(rax), "+c"(rcx), "+d"(rdx), [inside] "=&r"(inside),     \
				   [behind] "=&r"(behind), [held] "=&r"(held)                   \
				 : "D"(lock), "b"(0)                                            \
				 : "memory", "cc");                                             \
		check(#name ": xtest inside", inside, elides);                                  \
		check(#name ": xtest behind", behind, 0);                                       \
		check(#name ": seen taken inside", held != before, 1);                          \
		check(#name ": released", *lock, before);                                       \
	}
PAIRS(PAIR)
#undef PAIR

static void test_pairs(void)
{
	static unsigned long lock[8] __attribute__((aligned(64)));

#define PAIR(name, before, acquire, release) pair_##name(lock);
	PAIRS(PAIR)
#undef PAIR
}

static inline unsigned int acquire(struct word *lock)
{
	unsigned int old = 1;

	__asm__ volatile(XACQUIRE "xchg %0, %1" : "+r"(old), "+m"(lock->value)::"memory");
	return old;
}

static inline void release(struct word *lock, unsigned int value)
{
	__asm__ volatile(XRELEASE "movl %1, %0" : "=m"(lock->value) : "r"(value) : "memory");
}

static void spin_acquire(struct word *lock)
{
	while (acquire(lock))
		while (lock->value)
			cpu_relax();
}

/* Runs @code in a region: the first execution aborts, the second one has locked the lock. */
#define aborts_once(name, code)                                        \
	do {                                                           \
		int inside_;                                           \
		first.value = data.value = 0;                          \
		acquire(&first);                                       \
		inside_ = rtm_test();                                  \
		data.value++;                                          \
		code;                                                  \
		check(name ": the second time not elided", inside_, 0); \
		check(name ": undone and done once", data.value, 1);   \
		check(name ": taken", first.value, 1);                 \
		release(&first, 0);                                    \
		check(name ": released", first.value, 0);              \
	} while (0)

static void test_aborts(void)
{
	unsigned int a = 0, b, c = 0, d;
	int inside;

	aborts_once("pause", cpu_relax());
	aborts_once("cpuid",
		    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)));
	aborts_once("store to the lock", first.value = 1);
	if (elides) {
		aborts_once("xabort", rtm_abort(3));
		aborts_once("xbegin", if (rtm_begin() == RTM_STARTED) rtm_end());
	}

	/* After an abort the registers, RAX included, are those in front of the XACQUIRE. */
	__asm__ volatile("mov $0x1234, %%eax\n\tmov $1, %%ecx\n\t" XACQUIRE "xchg %%ecx, %1\n\t"
			 "add $1, %%eax\n\tpause\n\t" XRELEASE "movl $0, %1"
			 : "=&a"(a), "+m"(first.value)::"rcx", "memory", "cc");
	check("registers", a, 0x1235);

	/* Only the next execution of the XACQUIRE locks the lock. */
	first.value = 0;
	acquire(&first);
	inside = rtm_test();
	release(&first, 0);
	check("elided again", inside, elides);
}

static void test_mismatch(void)
{
	int inside;

	first.value = 0;
	acquire(&first);
	inside = rtm_test();
	release(&first, 2);
	check("other value: not elided", inside, 0);
	check("other value: written", first.value, 2);

	/* The release writes fewer bytes than the acquisition. */
	first.value = 0;
	acquire(&first);
	inside = rtm_test();
	__asm__ volatile(XRELEASE "movb $0, %0" : "=m"(first.value)::"memory");
	check("other width: not elided", inside, 0);
	check("other width: written", first.value, 0);
}

static void test_nesting(void)
{
	int inside, between;

	first.value = second.value = data.value = 0;
	acquire(&first);
	acquire(&second);
	data.value = first.value + second.value;
	release(&second, 0);
	between = rtm_test();
	release(&first, 0);
	inside = rtm_test();
	check("two locks: both seen taken", data.value, 2);
	check("two locks: still inside after one", between, elides);
	check("two locks: over", inside, 0);
	check("two locks: free", first.value + second.value, 0);

	/* Released in the order of acquisition: the second release ends the region. */
	acquire(&first);
	acquire(&second);
	between = rtm_test();
	release(&first, 0);
	release(&second, 0);
	check("crossed locks", between, elides);
	check("crossed locks: free", first.value + second.value, 0);
}

/* An abort restores a lock whose line the region has written, also one that it has released. */
static void test_written_lines(void)
{
	unsigned int before;

	/* Coupled, so that the third lock is elided even if there is room for one lock only. */
	first.value = second.value = third.value = third.pad[0] = 0;
	acquire(&first);
	acquire(&second);
	release(&first, 0);
	check("released lock: free", acquire(&third), 0);
	third.pad[0]++;
	release(&third, 0);
	cpu_relax();
	release(&second, 0);
	check("released lock: line written once", third.pad[0], 1);

	/* Elided twice; the second time with the thread's own value. */
	second.value = second.pad[0] = 0;
	check("lock twice: free", acquire(&second), 0);
	check("lock twice: held", acquire(&second), 1);
	second.pad[0]++;
	release(&second, 1);
	cpu_relax();
	release(&second, 0);
	check("lock twice: line written once", second.pad[0], 1);

	/* Written by the region before it is elided. */
	first.value = second.value = 0;
	acquire(&first);
	before = second.value;
	second.value = 5;
	check("written lock: as written", acquire(&second), 5);
	cpu_relax();
	release(&second, 5);
	release(&first, 0);
	check("written lock: undone", before, 0);
	check("written lock: written again", second.value, 5);
}

static void test_in_rtm(void)
{
	unsigned int status, seen = 0;

	first.value = 0;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		acquire(&first);
		release(&first, 2);
		seen = first.value;
		rtm_end();
	}
	check("in RTM the hints do nothing", status, RTM_STARTED);
	check("in RTM the lock is written", seen, 2);
}

/* Beginning and end of the owner's elided sections. */
static struct {
	unsigned long long begin, end;
	int elided;
} rounds[NR_ROUNDS];
static volatile int owner_runs;

static unsigned long long now(void)
{
	return __builtin_ia32_rdtsc();
}

static void *own(void *unused)
{
	owner_runs = 1;
	for (int r = 0; r < NR_ROUNDS; r++) {
		unsigned long long begin;
		int inside, taken = 0;

		spin_acquire(&first);
		begin = now();
		inside = rtm_test();
		for (volatile int i = 0; i < 1000; i++)
			taken += first.value;
		rounds[r].begin = begin;
		rounds[r].end = now();
		rounds[r].elided = inside;
		check("the owner sees it taken", taken, 1000);
		release(&first, 0);
	}
	return unused;
}

/* Other threads see the lock free while it is elided, and taken while it is locked. */
static void test_seen_free(void)
{
	static struct {
		unsigned long long at;
		unsigned int value;
	} looks[NR_LOOKS];
	int hits = 0, wrong = 0;
	pthread_t owner;

	first.value = 0;
	pthread_create(&owner, NULL, own, NULL);
	while (!owner_runs)
		;
	for (int i = 0; i < NR_LOOKS; i++) {
		looks[i].value = first.value;
		looks[i].at = now();
		/* So that the reads of the lock last about as long as the rounds. */
		for (volatile int pace = 0; pace < 20; pace++)
			;
	}
	pthread_join(owner, NULL);
	for (int r = 0; r < NR_ROUNDS; r++)
		for (int i = 1; i < NR_LOOKS; i++)
			/* The lock was read between two readings of the clock. */
			if (looks[i - 1].at > rounds[r].begin + SLACK &&
			    looks[i].at < rounds[r].end - SLACK) {
				hits++;
				wrong += looks[i].value != !rounds[r].elided;
			}
	check("others looked meanwhile", hits > NR_LOOKS / 10, 1);
	check("what they saw", wrong, 0);
}

static void *count(void *counter)
{
	for (int i = 0; i < 300; i++) {
		spin_acquire(&first);
		++*(unsigned int *)counter;
		release(&first, 0);
	}
	return NULL;
}

static void test_counter(void)
{
	static unsigned int shared;
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count, &shared);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check("counter", shared, 4 * 300);
}

/* Threads that each have a counter, and share one lock and nothing else. */
static void test_disjoint(void)
{
	static struct word counters[4] __attribute__((aligned(64)));
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count, (void *)&counters[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		check("counter of its own", counters[i].value, 300);
	}
}

/* A register that is set in front of XRELEASE and again behind it, in a block without XACQUIRE. */
static void test_registers(void)
{
	unsigned long rax = 0;

	spin_acquire(&first);
	__asm__ volatile("jmp 1f\n1:\tmov $5, %%rax\n\t" XRELEASE "movl $0, %1\n\tadd $3, %%rax"
			 : "=&a"(rax), "=m"(first.value)::"memory", "cc");
	check("register behind XRELEASE", rax, 8);
}

static void test_cpuid(void)
{
	unsigned int a, b, c, d;

	__cpuid_count(7, 0, a, b, c, d);
	check("cpuid shows HLE", b >> 4 & 1, elides);
}

int main(int argc, char **argv)
{
	emu_require();
	elides = argc > 1 && strcmp(argv[1], "elides") == 0;
	test_cpuid();
	test_pairs();
	test_aborts();
	test_mismatch();
	test_nesting();
	test_written_lines();
	test_in_rtm();
	test_seen_free();
	test_counter();
	test_disjoint();
	test_registers();
	return emu_status();
}
