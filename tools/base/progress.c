// SPDX-License-Identifier: GPL-2.0-or-later
/* progress.c - see progress.h. */
#include "progress.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "clock.h"

#define FIRST_NS 1000000000ull
#define NEXT_NS  200000000ull

void progress(size_t done, size_t all)
{
	static uint64_t next;
	static int said;

	if (!done) {
		next = isatty(STDERR_FILENO) ? now_ns() + FIRST_NS : UINT64_MAX;
		said = 0;
	} else if (done >= all) {
		if (said)
			fputs("\r\33[K", stderr);
		next = UINT64_MAX;
	} else if (next != UINT64_MAX && now_ns() >= next) {
		fprintf(stderr, "\r%zu of %zu data files read\33[K", done, all);
		next = now_ns() + NEXT_NS;
		said = 1;
	}
}
