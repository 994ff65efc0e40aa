// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own-stores.c - prints the emulator's option --own-stores for the library of this build: the bytes
 * of a thread's block that ELIDE_SECTION_STORES names, as lib/state/thread.h has them.
 */
#include <stdio.h>

#include "../../lib/state/thread.h"

int main(void)
{
	printf("--own-stores=%zu,%zu", offsetof(struct elide_thread, outer),
	       sizeof(struct elide_thread));
#define ELIDE_STORE(field)                                        \
	printf(",%zu+%zu", offsetof(struct elide_thread, field), \
	       sizeof(((struct elide_thread *)0)->field));
	ELIDE_SECTION_STORES(ELIDE_STORE)
	putchar('\n');
	return 0;
}
