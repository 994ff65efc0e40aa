/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames.c - see frames.h. */
#include <string.h>
#include <unwind.h>

#include "../compiler.h"
#include "../emulator.h"
#include "frames.h"

/* Frames of this library and of the unwinder inside the call, at most; in a global-lock path there are 14. */
#define OWN_FRAMES 20

/*
 * @own: frames passed before @site: those of this library and of the unwinder
 * @nr: frames from @site on, of which @room are wanted
 */
struct walk {
	uint64_t *frames;
	uint64_t *stacks;
	uint64_t site;
	unsigned int own, nr, room;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	int interrupted = 0;
	uint64_t ip = _Unwind_GetIPInfo(context, &interrupted);

	if (!ip || (!w->nr && ip != w->site && ++w->own > OWN_FRAMES))
		return _URC_END_OF_STACK;
	if (w->nr || ip == w->site) {
		if (w->stacks)
			w->stacks[w->nr] = _Unwind_GetCFA(context);
		/*
		 * Readers look at the byte before an address, as it is one to return to. A signal
		 * interrupts before @ip, and its handler returns to the first byte of what returns from it.
		 */
		if (interrupted && w->nr)
			w->frames[w->nr - 1]++;
		w->frames[w->nr++] = ip + !!interrupted;
	}
	/* Each further frame would take 0.3 us. */
	return w->nr == w->room ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* As elide_walk_some(), by the emulator. Return: 0 without @site. */
static unsigned int walk_emulated(uint64_t *frames, unsigned int room, uint64_t site)
{
	uint64_t all[ELIDE_STACK_FRAMES + OWN_FRAMES];
	unsigned int nr = rtmgrind_request(RTMGRIND_STACK, (unsigned long)all, room + OWN_FRAMES);
	unsigned int first = 0;

	while (first < nr && first < OWN_FRAMES && all[first] != site)
		first++;
	if (first == nr || all[first] != site)
		return 0;
	nr = nr - first < room ? nr - first : room;
	memcpy(frames, all + first, nr * sizeof(*frames));
	return nr;
}

unsigned int elide_walk(uint64_t *frames, const void *site, bool emulated)
{
	return elide_walk_some(frames, NULL, ELIDE_STACK_FRAMES, site, emulated);
}

unsigned int elide_walk_some(uint64_t *frames, uint64_t *stacks, unsigned int room,
			     const void *site, bool emulated)
{
	struct walk w = {
		.frames = frames,
		.stacks = stacks,
		.site = (uintptr_t)site,
		.room = room,
	};

	if (stacks)
		memset(stacks, 0, room * sizeof(*stacks));
	if (emulated)
		w.nr = walk_emulated(frames, room, w.site);
	else
		_Unwind_Backtrace(take_frame, &w);
	if (w.nr)
		return w.nr;
	frames[0] = w.site;
	return 1;
}
