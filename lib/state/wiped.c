/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wiped.c - see wiped.h. */
#include <string.h>
#include <sys/mman.h>

#include "../base/reserve.h"
#include "../base/syscalls.h"
#include "wiped.h"

/* Bytes. A process has 976 KiB of this memory before its first lock call. */
#define ARENA (1ul << 20)

static void *map_wiped(size_t size)
{
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p == MAP_FAILED)
		return NULL;
	/* Since Linux 4.14. Do without the memory if it cannot be wiped. */
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

void elide_wiped_clear(void *p, size_t size)
{
	if (sys_madvise(p, size, MADV_DONTNEED))
		memset(p, 0, size);
}
