/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack.c - see stack.h. */
#include <dlfcn.h>

#include "../compiler.h"
#include "../emulator.h"
#include "../state/modules.h"
#include "../state/registry.h"
#include "../state/settings.h"
#include "frames.h"
#include "stack.h"
#include "table.h"

/* The addresses of this library. */
static uintptr_t own_start, own_end;

void elide_stack_start(void)
{
	struct dl_find_object found;
	uint64_t frames[ELIDE_STACK_FRAMES];

	if (!_dl_find_object((void *)(uintptr_t)elide_stack_start, &found)) {
		own_start = (uintptr_t)found.dlfo_map_start;
		own_end = (uintptr_t)found.dlfo_map_end;
	}
	elide_stack_take(frames, NULL);
}

unsigned int elide_stack_emulated(uint64_t *frames, const unsigned long long *from,
				  unsigned int nr, bool outside)
{
	unsigned int i = 0, filled = 0;

	while (outside && i < nr && from[i] >= own_start && from[i] < own_end)
		i++;
	while (i < nr && filled < ELIDE_STACK_FRAMES)
		frames[filled++] = from[i++];
	return filled;
}

unsigned int elide_stack_take(uint64_t *frames, const void *site)
{
	return elide_walk(frames, elide_at_run_time((uintptr_t)site),
			  elide_process.rtm == ELIDE_RTM_EMULATED);
}

uint32_t elide_stack_save(const uint64_t *frames, unsigned int nr, bool exact)
{
	struct evidence_table *table = &elide_evidence->stacks;
	struct elide_stack stack = {.nr_frames = nr, .exact = exact};
	uint64_t key = evidence_hash(exact, nr);
	struct evidence_slot *slot;

	if (!nr)
		return 0;
	for (unsigned int i = 0; i < nr; i++) {
		stack.frames[i] = elide_recorded((const void *)frames[i]);
		key = evidence_hash(key, stack.frames[i]);
	}
	slot = evidence_find(table, key | 1);
	if (slot->key)
		return slot->index + 1;
	for (unsigned int i = 0; i < nr; i++)
		elide_module_of((const void *)frames[i]);
	if (!evidence_add(table, slot, key | 1, ELIDE_CHUNK_STACKS, &stack, sizeof(stack),
			  ELIDE_DROPPED_STACKS))
		return 0;
	return slot->index + 1;
}
