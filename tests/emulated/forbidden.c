// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forbidden.c - stores at a numbered point of lib/points.def, in a build of the library that is made
 * for this: STORE="POINT FAULT". stores.sh finds the line of a fault by its comment.
 *
 * Must never store anything before the fault at a point inside a transaction but to its own frame.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "state/thread-list.h"

static const char *const names[] = {
#define ELIDE_POINT(name, inside) #name,
#include "points.def"
#undef ELIDE_POINT
};

static volatile uint64_t shared_counter;
static __thread volatile uint64_t own_counter;

static __noinline void store_shared(void)
{
	shared_counter++; /* fault: shared */
}

/* The other threads do not see it, but it is one more byte of the write set. */
static __noinline void store_local(void)
{
	own_counter++; /* fault: local */
}

static __noinline void store_block(void)
{
	(*(volatile uint32_t *)&elide_self->streak)++; /* fault: block */
}

/* The word behind what may be stored to. */
static __noinline void store_wide(void)
{
	*(volatile uint64_t *)((char *)&elide_self->outer - 4) = 0; /* fault: wide */
}

static __noinline void store_other(void)
{
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		if (t != elide_self)
			*(volatile uint32_t *)&t->held[0].depth = 0; /* fault: other */
}

/* Above the frames of the library: the program's. */
static __noinline void store_above(void)
{
	volatile uint64_t *frame = (volatile uint64_t *)((char *)__builtin_frame_address(0) + 1024);

	*frame = *frame; /* fault: above */
}

/* None: the thread's list, which an abort undoes, and the frame of this function. */
static __noinline void store_allowed(void)
{
	volatile uint64_t frame[8];

	frame[7] = elide_self->held[ELIDE_MAX_HELD - 1].value + 1;
	*(volatile uint64_t *)&elide_self->held[ELIDE_MAX_HELD - 1].value = frame[7];
}

static const struct {
	const char *name;
	void (*store)(void);
} faults[] = {
	{"shared", store_shared}, {"local", store_local},     {"block", store_block}, {"wide", store_wide},
	{"other", store_other},   {"above", store_above},     {"allowed", store_allowed},
};

static void (*store)(void);
static unsigned int at = ELIDE_NR_POINTS;

__attribute__((constructor)) static void read_setting(void)
{
	char point[32] = "", fault[32] = "";
	const char *setting = getenv("STORE");

	if (!setting || sscanf(setting, "%31s %31s", point, fault) != 2)
		return;
	for (at = 0; at < ELIDE_NR_POINTS && strcmp(names[at], point) != 0;)
		at++;
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strcmp(faults[i].name, fault))
			store = faults[i].store;
	if (at == ELIDE_NR_POINTS || !store)
		abort();
}

void elide_test_point(enum elide_point point)
{
	if (point == at)
		store();
}
