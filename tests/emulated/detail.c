// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * detail.c - the record of the last abort names the cause, the line, both
 * instructions and both addresses.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

static volatile long shared[8] __cacheline_aligned;
static volatile char big[1 << 20] __attribute__((aligned(4096)));
static volatile int ready __cacheline_aligned, go __cacheline_aligned;
static volatile int intruder_lwp;

/* Functions of their own, so that it is known which one has the address of an instruction. */
static void __noinline intrude(void)
{
	shared[5] = 1;
}

static long __noinline touch_shared(void)
{
	return shared[2];
}

static int lies_in(unsigned long long pc, unsigned long function)
{
	/* More than the length of either function, less than the distance to the next but one. */
	return pc >= function && pc < function + 32;
}

static void *intruder(void *arg)
{
	intruder_lwp = syscall(SYS_gettid);
	ready = 1;
	while (!go)
		;
	intrude();
	return NULL;
}

static void test_conflict(void)
{
	struct rtmgrind_abort abort, again;
	unsigned int status;
	pthread_t thread;

	check("no abort was told",
	      rtmgrind_request(RTMGRIND_ABORT_AGAIN, (unsigned long)&again, sizeof(again)), 0);
	pthread_create(&thread, NULL, intruder, NULL);
	while (!ready)
		;
	status = rtm_begin();
	if (status == RTM_STARTED) {
		touch_shared();
		big[0] = 1;
		for (;;)
			__asm__ volatile("" ::: "memory");
	}
	pthread_join(thread, NULL);
	abort = emu_last_abort("conflict has a record");
	check("conflict status", status, RTM_CONFLICT | RTM_RETRY);
	check("record's status", abort.status, status);
	check("conflict cause", abort.cause, RTMGRIND_CAUSE_CONFLICT);
	check("line", abort.line, (long)&shared[0]);
	check("own address", abort.own_addr, (long)&shared[2]);
	check("own instruction", lies_in(abort.own_pc, (long)touch_shared), 1);
	check("other address", abort.other_addr, (long)&shared[5]);
	check("other instruction", lies_in(abort.other_pc, (long)intrude), 1);
	check("other thread", abort.other_tid, intruder_lwp);
	check("other wrote", abort.other_write, 1);
	check("no system call", abort.syscall_nr, -1);
	check("read set", abort.read_lines >= 1, 1);
	check("write set", abort.write_lines >= 1, 1);
	check("cycles", abort.cycles > 0, 1);
	check("it is told once",
	      rtmgrind_request(RTMGRIND_LAST_ABORT, (unsigned long)&again, sizeof(again)), 0);
	check("and again",
	      rtmgrind_request(RTMGRIND_ABORT_AGAIN, (unsigned long)&again, sizeof(again)), 1);
	check("the same", memcmp(&again, &abort, sizeof(again)), 0);
}

static void *releaser(void *arg)
{
	usleep(1000);
	go = 1;
	return NULL;
}

static void test_own_causes(void)
{
	volatile int *volatile nowhere = (int *)8;
	struct rtmgrind_abort abort;
	unsigned int status;
	long i;

	status = rtm_begin();
	if (status == RTM_STARTED) {
		for (i = 0; i < (long)sizeof(big); i += 64)
			big[i] = 1;
		rtm_end();
	}
	abort = emu_last_abort("capacity has a record");
	check("capacity cause", abort.cause, RTMGRIND_CAUSE_CAPACITY);
	check("line that did not fit", abort.line, (long)&big[32768]);
	check("lines that did", abort.write_lines, 512);
	check("capacity status", abort.status, RTM_CAPACITY);

	if (rtm_begin() == RTM_STARTED) {
		syscall(SYS_getppid);
		rtm_end();
	}
	abort = emu_last_abort("system call has a record");
	check("system call cause", abort.cause, RTMGRIND_CAUSE_SYSCALL);
	check("system call number", abort.syscall_nr, SYS_getppid);
	check("no other thread", abort.other_tid, 0);

	if (rtm_begin() == RTM_STARTED)
		rtm_abort(0xfe);
	abort = emu_last_abort("explicit has a record");
	check("explicit cause", abort.cause, RTMGRIND_CAUSE_EXPLICIT);
	check("code", RTM_CODE(abort.status), 0xfe);

	if (rtm_begin() == RTM_STARTED) {
		cpu_relax();
		rtm_end();
	}
	check("pause", emu_last_abort("pause has a record").cause, RTMGRIND_CAUSE_INSTRUCTION);

	if (rtm_begin() == RTM_STARTED) {
		*nowhere = 1;
		rtm_end();
	}
	check("fault", emu_last_abort("fault has a record").cause, RTMGRIND_CAUSE_FAULT);

	if (rtm_begin() == RTM_STARTED)
		rtm_end();
	check("a commit leaves none",
	      rtmgrind_request(RTMGRIND_LAST_ABORT, (unsigned long)&abort, sizeof(abort)), 0);
}

int main(void)
{
	pthread_t thread;

	emu_require();
	pthread_create(&thread, NULL, releaser, NULL);
	test_conflict();
	pthread_join(thread, NULL);
	test_own_causes();
	return emu_status();
}
