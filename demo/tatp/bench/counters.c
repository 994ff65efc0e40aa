// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - reads the counters of the storage manager, its latches, and the process.
 *
 * Threads may count meanwhile: a number is then one that the counter had.
 */
#include "counters.h"
#include "worker.h"

#include <sys/resource.h>

static void read_latches(struct counters *c)
{
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++) {
		struct latch_count count = latch_counts(i);

		if (latch_settings.kinds[i] == LATCH_KIND_none)
			continue;
		c->sections[i] = count.acquisitions;
		c->elided[i] = count.elided;
		c->waits[i] = count.contended;
		c->wait_ticks[i] = count.waited;
	}
}

static uint64_t ns_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000000u + (uint64_t)tv->tv_usec * 1000u;
}

/**
 * counters_read() - read all counters
 * @c: receives them
 * @sm: the storage manager
 * @helpers: its helpers, started or not
 */
void counters_read(struct counters *c, const struct sm *sm, const struct helpers *helpers)
{
	struct rusage usage;

	*c = (struct counters){
		.log_bytes = READ_ONCE(sm->log.tail),
		.log_writes = READ_ONCE(sm->log.syncs),
		.checkpoints = READ_ONCE(helpers->checkpoints),
		.cleaned = READ_ONCE(helpers->cleaned),
		.reads = READ_ONCE(sm->buffer.reads),
		.ticks = __builtin_ia32_rdtsc(),
		.ns = now_ns(),
	};
	read_latches(c);
	for (unsigned int i = 0; i < sm->nr_xcts; i++) {
		const struct lock_counts *l = &sm->xcts[i].locks->counts;
#define X(name, help) c->locks.name += READ_ONCE(l->name);
		LOCK_COUNTS(X)
#undef X
	}
	if (getrusage(RUSAGE_SELF, &usage))
		return;
	c->user_ns = ns_of(&usage.ru_utime);
	c->system_ns = ns_of(&usage.ru_stime);
}

/** counters_since() - take those of an earlier moment away: what was counted since then */
void counters_since(struct counters *c, const struct counters *before)
{
	const uint64_t *from = (const uint64_t *)before;
	uint64_t *to = (uint64_t *)c;

	for (size_t i = 0; i < sizeof(*c) / sizeof(*to); i++)
		to[i] -= from[i];
}

/**
 * counters_wait_ns() - how long threads waited for the latches of a role
 * @c: differences, whose clocks say how long a tick is
 * @role: the role
 *
 * Return: nanoseconds of all threads.
 */
double counters_wait_ns(const struct counters *c, enum latch_role role)
{
	return c->ticks ? (double)c->wait_ticks[role] * (double)c->ns / (double)c->ticks : 0;
}
