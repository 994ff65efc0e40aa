// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * selftest.c - does the emulator work on this valgrind?
 *
 * usage: selftest [L2 MEMORY DIRTY]
 *
 * Runs in rtmgrind and tests it, see tests.def. Given the latencies of a machine with caches, in
 * cycles, it tests these, too. Prints "ok NAME" or "not ok NAME: WHY" for each test, and at the end
 * "all passed" if so. Must never run outside of the emulator: there it ends with status 2, before it
 * executes an instruction that the processor may not have.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "selftest.h"

int costs_given;
long cost_l2, cost_memory, cost_dirty;

/* The first fault of the running test; empty: none. */
static char wrong[256];

void expect(const char *what, long got, long want)
{
	if (got != want && !wrong[0])
		snprintf(wrong, sizeof(wrong), "%s: %ld instead of %ld", what, got, want);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
#define SELFTEST(name, text) {#name, test_##name},
#include "tests.def"
#undef SELFTEST
};

int main(int argc, char **argv)
{
	int failed = 0;

	if (!rtmgrind_request(RTMGRIND_VERSION, 0, 0)) {
		fputs("selftest: it is a part of elide run --emulate\n", stderr);
		return 2;
	}
	second_image(argc, argv);
	if (argc == 4) {
		costs_given = 1;
		cost_l2 = atol(argv[1]);
		cost_memory = atol(argv[2]);
		cost_dirty = atol(argv[3]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		/* If it hangs or dies, the last line says in which test. */
		printf("run %s\n", tests[i].name);
		fflush(stdout);
		wrong[0] = '\0';
		tests[i].run();
		if (wrong[0])
			printf("not ok %s: %s\n", tests[i].name, wrong);
		else
			printf("ok %s\n", tests[i].name);
		failed |= wrong[0] != '\0';
	}
	if (!failed)
		puts("all passed");
	return failed;
}
