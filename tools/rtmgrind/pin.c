// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pin.c - keeps the host threads of the process on one of the host's processors.
 *
 * Only one host thread runs at a time, and to wake one on another processor takes an interrupt. So
 * for PINNED_TURNS hand-overs all stay on the processor of one of them; then they are free for
 * FREE_TURNS, so that the host's scheduler can move them to a better one.
 *
 * The program must never notice: another program that it starts gets the processors that this
 * process was given.
 */
#include "pin.h"
#include "host.h"
#include "vthread.h"

/* Hand-overs to another host thread: pinned for about 10 ms, free for a tenth of that. Chosen. */
#define PINNED_TURNS 4096
#define FREE_TURNS 400
/* Bytes of the host's affinity mask, for 8192 processors: the most that Linux can be built for. */
#define MASK_SIZE 1024

/**
 * struct pin - the processor that the host threads are pinned to.
 * @given: bit set of the processors that the process was given
 * @size: bytes of @given, 0 not known yet, below 0: nothing is pinned, as there is one processor
 * @home: number of the processor + 1, 0: any of @given
 * @turns: hand-overs left until @home changes
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

/* Pins the calling host thread, the home of @t, to a processor; @home as in struct pin. */
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
 * pin_turn() - another host thread runs: pin it, or let it go.
 * @t: the guest thread whose home the calling host thread is
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
 * pin_release() - unpin the calling host thread, as threads and programs that it starts inherit this.
 * @t: the guest thread whose home it is
 */
void pin_release(struct vthread *t)
{
	if (t->home)
		set_home(t, 0);
}
