// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * status.c - the status word of each cause, and how deep transactions nest:
 * thesis 4.6.3, Intel SDM volume 1, 16.3.5.
 */
#include <cpuid.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fidelity.h"

/* Deeper than any processor nests. */
#define NEST_TRIED 12

/* Three times the longest the sources know of, so that the timer ends it. */
#define INTERRUPTED_CYCLES 100000000ull

/* Other causes come by chance, an interrupt for one: the status seen most often counts. */
#define TIMES 15

static char *data;
static unsigned int cpuid[4];
static volatile bool stop;

static unsigned int nest(int depth)
{
	unsigned int status = rtm_begin();
	/* In memory, as the transactions' loop must not keep it where an abort restores it. */
	volatile int i;

	if (status != RTM_STARTED)
		return status;
	for (i = 1; i < depth; i++)
		if (rtm_begin() != RTM_STARTED)
			break;
	for (i = 0; i < depth; i++)
		rtm_end();
	return status;
}

static unsigned int nest_too_deep(void)
{
	return nest(RTM_NEST_MAX + 1);
}

/* A cause that is one statement inside of a transaction. */
#define CAUSE(name, statement)                                                                     \
	static unsigned int name(void)                                                             \
	{                                                                                          \
		unsigned int status = rtm_begin();                                                 \
                                                                                                   \
		if (status == RTM_STARTED) {                                                       \
			statement;                                                                 \
			rtm_end();                                                                 \
		}                                                                                  \
		return status;                                                                     \
	}

CAUSE(explicit, rtm_abort(0x5a))
CAUSE(nested_explicit, if (rtm_begin() == RTM_STARTED) rtm_abort(0x5a))
CAUSE(too_large, for (int i = 0; i < 128 * KIB; i += CACHE_LINE) *(volatile char *)(data + i) = 1)
CAUSE(system_call, syscall(SYS_getppid))
CAUSE(page_fault, *(volatile char *)(data + 128 * KIB) = 1)
CAUSE(pause_inside, cpu_relax())
CAUSE(cpuid_inside, __cpuid(0, cpuid[0], cpuid[1], cpuid[2], cpuid[3]))
/* The value is used, as a translator may leave out a load that is not. */
CAUSE(conflict, while (!stop && !*(volatile char *)data))

static unsigned int interrupted(void)
{
	/* Volatile would put it into the write set, which is harmless but not asked for. */
	uint64_t end = cycles_now() + INTERRUPTED_CYCLES;
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		while (cycles_now() < end)
			for (int i = 0; i < 5000; i++)
				__asm__ volatile("");
		rtm_end();
	}
	return status;
}

static unsigned int usual(unsigned int (*cause)(void))
{
	unsigned int seen[TIMES];
	int i, j, best = 0, best_nr = 0;

	for (i = 0; i < TIMES; i++) {
		int nr = 0;

		seen[i] = cause();
		for (j = 0; j <= i; j++)
			nr += seen[j] == seen[i];
		if (nr > best_nr) {
			best_nr = nr;
			best = i;
		}
	}
	return seen[best];
}

/* Thread 0 reads in transactions what thread 1 writes. */
static void reader_and_writer(int thread, void *status)
{
	if (thread == 0) {
		*(unsigned int *)status = usual(conflict);
		stop = true;
		return;
	}
	while (!stop) {
		uint64_t end = cycles_now() + 20000;

		while (cycles_now() < end)
			cpu_relax();
		*(volatile char *)data = 0;
	}
}

/* The whole word when it committed, which no cause may. */
static void why(const char *name, unsigned int status)
{
	figure(name, status == RTM_STARTED ? status : STATUS_WHY(status));
}

int main(void)
{
	unsigned int status = 0;
	int depth = 0, i;

	fidelity_begin(true);
	data = lines_alloc(128 * KIB + 4096);
	if (mprotect(data + 128 * KIB, 4096, PROT_READ))
		return 1;
	syscall(SYS_getppid);
	fidelity_measure();
	while (depth < NEST_TRIED) {
		for (i = 0; i < TIMES && nest(depth + 1) != RTM_STARTED; i++)
			;
		if (i == TIMES)
			break;
		depth++;
	}
	figure("nesting", depth);
	why("status_nesting", usual(nest_too_deep));
	why("status_explicit", usual(explicit));
	figure("status_code", RTM_CODE(usual(explicit)));
	why("status_nested_explicit", usual(nested_explicit));
	why("status_capacity", usual(too_large));
	why("status_syscall", usual(system_call));
	why("status_fault", usual(page_fault));
	why("status_cpuid", usual(cpuid_inside));
	why("status_pause", usual(pause_inside));
	why("status_interrupt", interrupted());
	data[0] = 0;
	in_threads(2, reader_and_writer, &status);
	why("status_conflict", status);
	return 0;
}
