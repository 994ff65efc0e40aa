// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * affinity.c - threads run on the processors of their affinity; run with --cores=4 --sockets=2.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

#define CPUS 4
/* Instructions, which take 1 ms or more: longer than a slice of a thread that is not alone. */
#define WORK 1000000

static volatile int stop, started;

static int cpu_now(unsigned int *node)
{
	unsigned int cpu;

	return syscall(SYS_getcpu, &cpu, node, NULL) ? -1 : (int)cpu;
}

static int allow(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(tid, sizeof(set), &set);
}

static void *find_cpu(void *arg)
{
	*(int *)arg = cpu_now(NULL);
	return NULL;
}

static void test_self(void)
{
	unsigned int node, aux;
	pthread_t thread;
	cpu_set_t set;
	int cpu, childs;

	for (cpu = CPUS - 1; cpu >= 0; cpu--) {
		check("set", allow(0, cpu), 0);
		check("cpu", cpu_now(&node), cpu);
		check("node", node, cpu / 2);
		__builtin_ia32_rdtscp(&aux);
		check("rdtscp", aux, cpu | node << 12);
		check("get", sched_getaffinity(getpid(), sizeof(set), &set), 0);
		check("one processor", CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set), 1);
		pthread_create(&thread, NULL, find_cpu, &childs);
		pthread_join(thread, NULL);
		check("inherited", childs, cpu);
	}
}

static void test_errors(void)
{
	cpu_set_t set;

	check("processor that is not there", allow(0, CPUS), -1);
	check("error", errno, EINVAL);
	check("thread that is not there", allow(1, 0), -1);
	check("error", errno, ESRCH);
	check("bad mask", syscall(SYS_sched_setaffinity, 0, 8, 8), -1);
	check("error", errno, EFAULT);
	check("too little room", syscall(SYS_sched_getaffinity, 0, 4, &set), -1);
	check("error", errno, EINVAL);
}

static void *run_until_stopped(void *arg)
{
	*(pid_t *)arg = syscall(SYS_gettid);
	started = 1;
	while (!stop)
		;
	return (void *)(long)cpu_now(NULL);
}

/* A thread moves another one, by its id, while that runs. */
static void test_other(void)
{
	pthread_t thread;
	pid_t tid;
	void *cpu;

	allow(0, 0);
	started = stop = 0;
	pthread_create(&thread, NULL, run_until_stopped, &tid);
	while (!started)
		sched_yield();
	check("set another's", allow(tid, 3), 0);
	usleep(1000);
	stop = 1;
	pthread_join(thread, &cpu);
	check("it moved", (long)cpu, 3);
}

static void *run_transaction(void *arg)
{
	volatile int i;

	(void)arg;
	started = 1;
	if (rtm_begin() == RTM_STARTED) {
		for (i = 0; i < WORK; i++)
			;
		rtm_end();
		return NULL;
	}
	return (void *)(long)emu_last_abort("abort of the moved").cause;
}

static void test_transaction(void)
{
	pthread_t thread;
	void *cause;

	allow(0, 0);
	started = 0;
	pthread_create(&thread, NULL, run_transaction, NULL);
	while (!started)
		sched_yield();
	usleep(100);
	check("move", pthread_setaffinity_np(thread, sizeof(cpu_set_t),
					     &(cpu_set_t){{1 << 2}}), 0);
	pthread_join(thread, &cause);
	check("a migration aborts", (long)cause, RTMGRIND_CAUSE_INTERRUPT);
}

static void *work(void *arg)
{
	volatile int i;

	allow(0, (long)arg);
	for (i = 0; i < WORK; i++)
		;
	return NULL;
}

static long long timed(long first, long second)
{
	pthread_t threads[2];
	long long begun = emu_ns();

	pthread_create(&threads[0], NULL, work, (void *)first);
	pthread_create(&threads[1], NULL, work, (void *)second);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return emu_ns() - begun;
}

/* Two threads that are bound to one processor share its time, though other processors are idle. */
static void test_sharing(void)
{
	long long apart = timed(1, 2), together = timed(1, 1);

	check("together twice as long", llabs(together * 100 / apart - 200) <= 10, 1);
}

int main(void)
{
	emu_require();
	test_self();
	test_errors();
	test_other();
	test_transaction();
	test_sharing();
	return emu_status();
}
