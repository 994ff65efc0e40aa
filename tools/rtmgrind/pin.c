// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin.c - on which of the host's processors our host threads run: all on one.
 *
 * Only one of them runs at a time, and to wake one on another processor takes
 * an interrupt. So while threads take turns they stay where one of them was,
 * and are let go now and then, for the host to find them a better place.
 *
 * Must never show: a program that is started from here gets the processors
 * that we were given.
 */
#include "pin.h"
#include "host.h"
#include "vthread.h"

/* Hand-overs: pinned for some 10 ms, and then free for a tenth of that. */
#define PINNED_TURNS 4096
#define FREE_TURNS 400
/* Bytes of the host's mask: for 8192 processors, the most that Linux can be built for. */
#define MASK_SIZE 1024

/**
 * struct pin - where the host threads are to run.
 * @given: the processors the process was given
 * @size: bytes of it, 0 not asked for yet, below 0 if there is nothing to choose
 * @home: processor + 1, 0 any
 * @turns: hand-overs left until that changes
 */
static struct {
	UChar given[MASK_SIZE];
	Long size;
	UInt home;
	UInt turns;
} pin;

static Bool is_single(const UChar *mask, Long size)
{
	Int nr = 0;
	Long i;

	for (i = 0; i < size * 8; i++)
		nr += mask[i / 8] >> i % 8 & 1;
	return nr < 2;
}

static void init(void)
{
	pin.size = host_syscall(__NR_sched_getaffinity, 0, sizeof(pin.given), (Long)pin.given, 0,
				0, 0);
	if (pin.size <= 0 || is_single(pin.given, pin.size))
		pin.size = -1;
	pin.turns = FREE_TURNS;
}

/* The calling host thread's. */
static void set_home(struct vthread *t, UInt home)
{
	UChar mask[MASK_SIZE] = {0};

	if (t->home == home)
		return;
	if (home)
		mask[(home - 1) / 8] = 1 << (home - 1) % 8;
	host_syscall(__NR_sched_setaffinity, 0, pin.size, (Long)(home ? mask : pin.given), 0, 0, 0);
	t->home = home;
}

/**
 * pin_turn() - the big lock has changed hands.
 * @t: the thread that has it, the calling one
 */
void pin_turn(struct vthread *t)
{
	UInt cpu;

	if (!pin.size)
		init();
	if (pin.size < 0)
		return;
	if (!--pin.turns) {
		if (pin.home || host_syscall(__NR_getcpu, (Long)&cpu, 0, 0, 0, 0, 0)) {
			pin.home = 0;
			pin.turns = FREE_TURNS;
		} else {
			pin.home = cpu + 1;
			pin.turns = PINNED_TURNS;
		}
	}
	set_home(t, pin.home);
}

/**
 * pin_release() - let the calling host thread go: it makes a thread or process, or becomes one.
 * @t: the thread
 */
void pin_release(struct vthread *t)
{
	if (t->home)
		set_home(t, 0);
}
