/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * points.c - delays at the numbered points of lib/points.def, in a build of
 * the library that is made for this.
 *
 * TORTURE_POINTS=SEED[:POINT]: delay at every point, or at that one only.
 * TORTURE_SIGNAL=NUMBER: that signal arrives in the middle of each slow path.
 * Between begin and commit there is no system call, no PAUSE and no store but
 * to the thread's own state, which an abort rolls back: the next attempt
 * waits as long as this one did.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "compiler.h"
#include "point.h"

/* Iterations; long enough for the other threads to get in between. */
#define LONGEST 2000

static const unsigned char inside[] = {
#define ELIDE_POINT(name, is_inside) is_inside,
#include "points.def"
#undef ELIDE_POINT
};

static uint32_t seed;
static int only = -1;
static int interrupt;
static uint32_t nr_threads;
static __thread uint32_t state;

__attribute__((constructor)) static void read_setting(void)
{
	const char *setting = getenv("TORTURE_SIGNAL");
	char *end;

	if (setting)
		interrupt = atoi(setting);
	setting = getenv("TORTURE_POINTS");
	if (!setting)
		return;
	seed = strtoul(setting, &end, 10);
	if (*end == ':')
		only = atoi(end + 1);
}

void elide_test_point(enum elide_point point)
{
	uint32_t r;

	if (interrupt && point == ELIDE_POINT_row)
		raise(interrupt);
	if (!seed || (only >= 0 && only != (int)point))
		return;
	/* A thread meets its first point outside: the counter is never part of a transaction. */
	if (!state && !inside[point])
		state = (seed + __atomic_add_fetch(&nr_threads, 1, __ATOMIC_RELAXED)) * 2654435761u | 1;
	r = state ^= state << 13;
	r = state ^= r >> 17;
	r = state ^= r << 5;
	if (r & 3)
		return;
	if (!inside[point] && !(r & 0x70))
		sched_yield();
	for (uint32_t n = (r >> 8) % LONGEST; n; n--)
		barrier();
}
