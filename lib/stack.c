/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack.c - see stack.h. */
#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

#include "compiler.h"
#include "emulator.h"
#include "evidence-table.h"
#include "process.h"
#include "registry.h"
#include "stack.h"

/* Frames of our own below a lock call, at most. */
#define OWN_FRAMES 12

/* The addresses this library is mapped at. */
static uintptr_t own_start, own_end;

struct walk {
	uint64_t *frames;
	unsigned int nr, room;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	uint64_t ip = _Unwind_GetIP(context);

	if (!ip || w->nr == w->room)
		return _URC_END_OF_STACK;
	w->frames[w->nr++] = ip;
	return _URC_NO_REASON;
}

static unsigned int take_all(uint64_t *frames, unsigned int room)
{
	struct walk w = {.frames = frames, .room = room};

	if (elide_process.rtm == ELIDE_RTM_EMULATED)
		return rtmgrind_request(RTMGRIND_STACK, (unsigned long)frames, room);
	_Unwind_Backtrace(take_frame, &w);
	return w.nr;
}

void elide_stack_start(void)
{
	struct dl_find_object found;
	uint64_t frames[2];

	if (!_dl_find_object((void *)(uintptr_t)elide_stack_start, &found)) {
		own_start = (uintptr_t)found.dlfo_map_start;
		own_end = (uintptr_t)found.dlfo_map_end;
	}
	take_all(frames, ARRAY_SIZE(frames));
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
	uint64_t all[ELIDE_STACK_FRAMES + OWN_FRAMES];
	unsigned int nr = take_all(all, ARRAY_SIZE(all)), first = 0;

	while (first < nr && first < OWN_FRAMES && all[first] != (uintptr_t)site)
		first++;
	if (first == nr || all[first] != (uintptr_t)site) {
		frames[0] = (uintptr_t)site;
		return 1;
	}
	nr -= first;
	if (nr > ELIDE_STACK_FRAMES)
		nr = ELIDE_STACK_FRAMES;
	memcpy(frames, all + first, nr * sizeof(*frames));
	return nr;
}

uint32_t elide_stack_save(const uint64_t *frames, unsigned int nr, bool exact)
{
	struct evidence_table *table = &elide_evidence->stacks;
	struct elide_stack stack = {.nr_frames = nr, .exact = exact};
	uint64_t key = evidence_hash(exact, nr);
	struct evidence_slot *slot;

	if (!nr)
		return 0;
	for (unsigned int i = 0; i < nr; i++)
		key = evidence_hash(key, frames[i]);
	slot = evidence_find(table, key | 1);
	if (slot->key)
		return slot->index + 1;
	memcpy(stack.frames, frames, nr * sizeof(*frames));
	for (unsigned int i = 0; i < nr; i++)
		elide_registry_module_of((const void *)frames[i]);
	if (!evidence_add(table, slot, key | 1, ELIDE_CHUNK_STACKS, &stack, sizeof(stack),
			  ELIDE_DROPPED_STACKS))
		return 0;
	return slot->index + 1;
}
