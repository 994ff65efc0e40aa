/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames.c - see frames.h. */
#include <string.h>
#include <unwind.h>

#include "../compiler.h"
#include "../emulator.h"
#include "frames.h"

/* Frames of this library and of the unwinder inside the call, at most: of a slow path 14. */
#define OWN_FRAMES 20

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

unsigned int elide_walk(uint64_t *frames, const void *site, bool emulated)
{
	return elide_walk_some(frames, ELIDE_STACK_FRAMES, site, emulated);
}

unsigned int elide_walk_some(uint64_t *frames, unsigned int room, const void *site, bool emulated)
{
	uint64_t all[ELIDE_STACK_FRAMES + OWN_FRAMES];
	struct walk w = {.frames = all, .room = room + OWN_FRAMES};
	unsigned int first = 0;

	if (emulated)
		w.nr = rtmgrind_request(RTMGRIND_STACK, (unsigned long)all, w.room);
	else
		_Unwind_Backtrace(take_frame, &w);
	while (first < w.nr && first < OWN_FRAMES && all[first] != (uintptr_t)site)
		first++;
	if (first == w.nr || all[first] != (uintptr_t)site) {
		frames[0] = (uintptr_t)site;
		return 1;
	}
	w.nr -= first;
	if (w.nr > room)
		w.nr = room;
	memcpy(frames, all + first, w.nr * sizeof(*frames));
	return w.nr;
}
