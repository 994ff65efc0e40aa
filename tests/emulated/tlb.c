// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tlb.c - which accesses walk the page tables on the simulated machine, what a walk costs, and which
 * transactions it aborts.
 *
 * usage: tlb cost PAGES CYCLES
 *        tlb loss PAGES PERCENT
 *
 * PAGES is the size of the second-level TLB, which is the larger one; CYCLES the machine's walk; PERCENT its
 * walk_loss in per cent. For cost, caches take no time. Prints what is wrong, and for loss the number of
 * aborts, which is the same in each run.
 */
#include <string.h>
#include <sys/mman.h>

#include "emu.h"

#define PAGE 4096
/* Bytes between two accesses: a page, and a line further in it, so that they use all sets of a cache. */
#define STRIDE (PAGE + 64)
/* Accesses are counted in cycles of the loop around them. */
#define SLACK 4

/* Of all transactions, by which the aborts may differ: 8 standard deviations of 4096. */
#define SLACK_PERCENT 6

static volatile char *memory;

/* Reads a byte of each of @nr pages. Return: cycles a page. */
static long round_cost(long nr)
{
	unsigned long long begun = __builtin_ia32_rdtsc();
	long i;

	for (i = 0; i < nr; i++)
		(void)memory[i * STRIDE];
	return (__builtin_ia32_rdtsc() - begun) / nr;
}

static void check_cost(const char *name, long pages, long want)
{
	long got;

	round_cost(pages);
	got = round_cost(pages);
	if (got < want || got > want + SLACK) {
		printf("%s: %ld cycles instead of %ld\n", name, got, want);
		emu_failed = 1;
	}
}

static void cost(long pages, long cycles)
{
	check_cost("pages that the TLB has", pages / 2, 0);
	check_cost("more pages than it has", 2 * pages, cycles);
	check_cost("pages that it has again", pages / 2, 0);
}

/* Reads a page in a transaction. Return: 1 if that aborts, 0 if it commits. */
static int aborts(long page)
{
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		(void)memory[page * STRIDE];
		rtm_end();
		return 0;
	}
	check("no status bits", status, 0);
	check("cause", emu_last_abort("record").cause, RTMGRIND_CAUSE_SPURIOUS);
	return 1;
}

/* Lets the TLB have @nr pages and the others that transactions use: the stack, the program's data. */
static void take_in(long nr)
{
	long round, i;

	for (round = 0; round < 8; round++)
		for (i = 0; i < nr; i++)
			aborts(i);
}

static void loss(long pages, long percent)
{
	long total = 2 * pages, first = 0, again = 0, i;

	round_cost(total);
	take_in(1);
	for (i = 1; i < total; i++) {
		int aborted = aborts(i);

		first += aborted;
		if (aborted)
			again += aborts(i);
	}
	printf("aborts %ld\n", first);
	if (100 * first < (percent - SLACK_PERCENT) * total || 100 * first > (percent + SLACK_PERCENT) * total) {
		printf("%ld of %ld aborted instead of %ld %%\n", first, total, percent);
		emu_failed = 1;
	}
	check("the walk has filled the TLB", again, 0);
	if (!percent)
		check("no danger", first, 0);
	take_in(pages / 2);
	for (i = 0; i < pages / 2; i++)
		check("a page that the TLB has", aborts(i), 0);
}

int main(int argc, char **argv)
{
	long pages, number, i;

	emu_require();
	if (argc != 4)
		return 2;
	pages = atol(argv[2]);
	number = atol(argv[3]);
	memory = mmap(NULL, 2 * pages * STRIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 2;
	for (i = 0; i < 2 * pages * STRIDE; i += PAGE)
		memory[i] = 1;
	if (!strcmp(argv[1], "cost"))
		cost(pages, number);
	else
		loss(pages, number);
	return emu_status();
}
