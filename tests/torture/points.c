/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * points.c - what happens at the numbered points of lib/points.def, in a build of the
 * library that is made for this: delays, signals, and what the program brings along.
 *
 * TORTURE_POINTS=SEED[:POINT]: delay at every point, or at that one only.
 * TORTURE_SIGNAL=NUMBER: that signal arrives in the middle of each global-lock path.
 * TORTURE_EVENT=SEED: the program's torture_event() is called in global-lock paths: one time in
 * OFTEN at a point that the seed chooses, one time in SELDOM at the others. SEED:NAME: each
 * time at that point, and at no other.
 * TORTURE_MET=FILE: the names of the points that were met are appended to it.
 *
 * Between begin and commit there is no system call, no PAUSE and no store but
 * to the thread's own state, which an abort rolls back: the next attempt
 * waits as long as this one did.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "base/syscalls.h"
#include "base/testpoint.h"

/* Iterations; long enough for the other threads to get in between. */
#define LONGEST 2000

/* A process of some thousand global-lock paths has some ten events. */
#define OFTEN  4
#define SELDOM 64

static const unsigned char inside[] = {
#define ELIDE_POINT(name, is_inside) is_inside,
#include "points.def"
#undef ELIDE_POINT
};

static const char *const names[] = {
#define ELIDE_POINT(name, is_inside) #name "\n",
#include "points.def"
#undef ELIDE_POINT
};

static uint32_t seed, event_seed;
static int only = -1, favourite = -1;
static bool nowhere_else;
static int interrupt;
static const char *met_file;
static bool met_by_all[ELIDE_NR_POINTS];
static uint32_t nr_threads;
static __thread uint32_t state, event_state;
/* Points that this thread has met, and whether one of them is not yet in @met_by_all. */
static __thread bool met[ELIDE_NR_POINTS], met_more;

/* Of the program, at a point of a global-lock path: it must call nothing that takes a lock. */
extern void torture_event(int point) __attribute__((weak, visibility("default")));

__attribute__((constructor)) static void read_setting(void)
{
	const char *setting = getenv("TORTURE_SIGNAL");
	char *end;

	met_file = getenv("TORTURE_MET");
	if (setting)
		interrupt = atoi(setting);
	setting = getenv("TORTURE_EVENT");
	if (setting && torture_event) {
		event_seed = strtoul(setting, &end, 10);
		favourite = ELIDE_POINT_global_entered +
			    event_seed * 2654435761u % (ELIDE_NR_POINTS - ELIDE_POINT_global_entered);
		nowhere_else = *end == ':';
		for (int i = 0; nowhere_else && i < ELIDE_NR_POINTS; i++)
			if (!strncmp(names[i], end + 1, strlen(names[i]) - 1))
				favourite = i;
	}
	setting = getenv("TORTURE_POINTS");
	if (!setting)
		return;
	seed = strtoul(setting, &end, 10);
	if (*end == ':')
		only = atoi(end + 1);
}

static uint32_t draw(uint32_t *own, uint32_t from)
{
	uint32_t r = *own;

	if (!r)
		r = (from + __atomic_add_fetch(&nr_threads, 1, __ATOMIC_RELAXED)) * 2654435761u | 1;
	r ^= r << 13;
	r ^= r >> 17;
	r ^= r << 5;
	*own = r;
	return r;
}

/* Outside: by system calls alone, for a global-lock path must be no cancellation point. */
static void write_met(void)
{
	int saved = errno, fd = sys_open(met_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	met_more = false;
	for (unsigned int i = 0; fd >= 0 && i < ELIDE_NR_POINTS; i++) {
		if (!met[i] || __atomic_exchange_n(&met_by_all[i], true, __ATOMIC_RELAXED))
			continue;
		if (sys_write(fd, names[i], strlen(names[i])) < 0)
			abort();
	}
	if (fd >= 0)
		sys_close(fd);
	errno = saved;
}

static void inflict(enum elide_point point)
{
	int saved = errno;

	if (interrupt)
		raise(interrupt);
	if (nowhere_else ? (int)point == favourite :
			   event_seed && !(draw(&event_state, event_seed) %
					   ((int)point == favourite ? OFTEN : SELDOM)))
		torture_event(point);
	errno = saved;
}

void elide_test_point(enum elide_point point)
{
	uint32_t r;

	if (met_file) {
		if (!met[point]) {
			met[point] = true;
			met_more |= !READ_ONCE(met_by_all[point]);
		}
		if (!inside[point] && met_more)
			write_met();
	}
	if (point >= ELIDE_POINT_global_entered)
		inflict(point);
	if (!seed || (only >= 0 && only != (int)point))
		return;
	/* A thread meets its first point outside: the counter is never part of a transaction. */
	if (!state && inside[point])
		return;
	r = draw(&state, seed);
	if (r & 3)
		return;
	if (!inside[point] && !(r & 0x70))
		sched_yield();
	for (uint32_t n = (r >> 8) % LONGEST; n; n--)
		barrier();
}
