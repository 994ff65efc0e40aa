// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages.c - the first touch of a page in a transaction: pages faults|given.
 *
 * The argument tells whether page faults abort on the machine, or whether it has none.
 */
#include <string.h>
#include <sys/mman.h>

#include "emu.h"

#define PAGE 4096
#define NR_PAGES 16

static int faults;
static volatile int sink;

/* Touches a page in a transaction. Return: cause of the abort, RTMGRIND_CAUSE_NONE: it commits. */
static unsigned int attempt(volatile char *at, int write)
{
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		if (write)
			*at = 1;
		else
			sink = *at;
		rtm_end();
		return RTMGRIND_CAUSE_NONE;
	}
	check("no status bits", status, 0);
	return emu_last_abort("detail of the fault").cause;
}

static volatile char *fresh(void)
{
	return mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
}

static void test_first_touch(int write)
{
	unsigned int fault = faults ? RTMGRIND_CAUSE_FAULT : RTMGRIND_CAUSE_NONE;
	volatile char *memory = fresh();

	check("first touch", attempt(memory, write), fault);
	check("a fault in a transaction is not taken", attempt(memory, write), fault);
	memory[0] = 0;
	check("after a touch outside", attempt(memory, write), RTMGRIND_CAUSE_NONE);
	check("elsewhere in the page", attempt(memory + PAGE - 1, write), RTMGRIND_CAUSE_NONE);
	check("the next page", attempt(memory + PAGE, write), fault);
	munmap((void *)memory, NR_PAGES * PAGE);
}

static void test_given_back(void)
{
	unsigned int fault = faults ? RTMGRIND_CAUSE_FAULT : RTMGRIND_CAUSE_NONE;
	volatile char *memory = fresh();

	memory[0] = 1;
	check("touched", attempt(memory, 1), RTMGRIND_CAUSE_NONE);
	madvise((void *)memory, PAGE, MADV_DONTNEED);
	check("given back", attempt(memory, 1), fault);
	memory[0] = 1;
	check("touched again", attempt(memory, 1), RTMGRIND_CAUSE_NONE);
	munmap((void *)memory, NR_PAGES * PAGE);
	check("mapped anew", attempt(fresh(), 1), fault);
}

int main(int argc, char **argv)
{
	emu_require();
	faults = argc > 1 && strcmp(argv[1], "faults") == 0;
	/* Touches the page of the stack first. */
	attempt(&(volatile char){0}, 1);
	test_first_touch(0);
	test_first_touch(1);
	test_given_back();
	return emu_status();
}
