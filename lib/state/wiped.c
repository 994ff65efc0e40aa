/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wiped.c - see wiped.h. */
#include <sys/mman.h>

#include "../base/reserve.h"
#include "../base/syscalls.h"
#include "wiped.h"

/* What a process has of this memory before it takes a lock: 976 KiB. */
#define ARENA (1ul << 20)

static void *map_wiped(size_t size)
{
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p == MAP_FAILED)
		return NULL;
	/* Linux 4.14. Without it children would write into the parent's blocks: do without. */
	if (sys_madvise(p, size, MADV_WIPEONFORK)) {
		sys_munmap(p, size);
		return NULL;
	}
	return p;
}

void *elide_wiped_alloc(size_t size)
{
	static struct elide_arena arena = {.map = map_wiped, .size = ARENA};

	return elide_arena_take(&arena, size);
}
