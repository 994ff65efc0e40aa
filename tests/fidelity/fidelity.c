// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fidelity.c - what the programs of the fidelity suite share. Must never begin
 * a transaction: only the programs do.
 */
#include <cpuid.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "fidelity.h"

/* CPUID.7.0: RTM, and that it always aborts. */
#define RTM_EBX          (1u << 11)
#define ALWAYS_ABORT_EDX (1u << 11)

/* More than any model has hardware threads in these runs. */
#define THREADS_MAX 128

struct crew {
	void (*work)(int thread, void *arg);
	void *arg;
	int nr;
	int nr_ready;
	bool go;
	uint64_t begun;
};

struct member {
	struct crew *crew;
	int thread;
	uint64_t ended;
};

static bool has_rtm(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & RTM_EBX) &&
	       !(edx & ALWAYS_ABORT_EDX);
}

bool fidelity_emulated(void)
{
	return rtmgrind_request(RTMGRIND_VERSION, 0, 0) != 0;
}

void fidelity_begin(bool rtm)
{
	if (rtm && !has_rtm()) {
		fputs("this processor has no RTM\n", stderr);
		exit(FIDELITY_SKIP);
	}
	rtmgrind_request(RTMGRIND_ROI_END, 0, 0);
}

void fidelity_measure(void)
{
	rtmgrind_request(RTMGRIND_PROBE_DONE, 0, 0);
	rtmgrind_request(RTMGRIND_ROI_BEGIN, 0, 0);
}

void figure(const char *name, double value)
{
	printf("%s %.6g\n", name, value);
	fflush(stdout);
}

void curve(const char *name, double x, double y)
{
	printf("curve %s %.6g %.6g\n", name, x, y);
}

char *lines_alloc(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	/* Transactions may neither fault nor find the shared page of zeroes. */
	for (size_t i = 0; i < size; i += 4096)
		*(volatile char *)(memory + i) = 0;
	return memory;
}

void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* Fails with fewer processors than threads: then they share, which the reader sees. */
	sched_setaffinity(0, sizeof(set), &set);
}

double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void *member_main(void *arg)
{
	struct member *member = arg;
	struct crew *crew = member->crew;

	pin(member->thread);
	if (__atomic_add_fetch(&crew->nr_ready, 1, __ATOMIC_ACQ_REL) == crew->nr) {
		crew->begun = cycles_now();
		__atomic_store_n(&crew->go, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&crew->go, __ATOMIC_ACQUIRE))
		cpu_relax();
	crew->work(member->thread, crew->arg);
	member->ended = cycles_now();
	return NULL;
}

uint64_t in_threads(int nr, void (*work)(int thread, void *arg), void *arg)
{
	struct crew crew = {.work = work, .arg = arg, .nr = nr};
	struct member members[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	uint64_t last = 0;
	int i;

	if (nr < 1 || nr > THREADS_MAX)
		abort();
	for (i = 0; i < nr; i++) {
		members[i] = (struct member){.crew = &crew, .thread = i};
		if (pthread_create(&threads[i], NULL, member_main, &members[i])) {
			fputs("cannot start a thread\n", stderr);
			exit(1);
		}
	}
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		if (members[i].ended > last)
			last = members[i].ended;
	}
	return last - crew.begun;
}
