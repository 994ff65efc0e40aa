/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reserve.c - see reserve.h. */
#include "../compiler.h"
#include "reserve.h"

/* Tables begin on a page: the kernel's advice about one covers no other. */
#define PAGE 4096ul

/* Bytes for all tables of a process with the default settings but the largest. */
#define TABLES (4ul << 20)

void *elide_arena_take(struct elide_arena *arena, size_t size)
{
	size_t at;

	size = (size + PAGE - 1) & -PAGE;
	if (!arena->at)
		arena->at = arena->map(arena->size);
	if (!arena->at || READ_ONCE(arena->used) + size > arena->size)
		return arena->map(size);
	at = __atomic_fetch_add(&arena->used, size, __ATOMIC_RELAXED);
	return at + size <= arena->size ? arena->at + at : arena->map(size);
}

static void *map_tables(size_t size)
{
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	return p == MAP_FAILED ? NULL : p;
}

void *elide_reserve(size_t size)
{
	static struct elide_arena tables = {.map = map_tables, .size = TABLES};

	return elide_arena_take(&tables, size);
}
