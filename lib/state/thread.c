/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.c - see thread.h. */
#include <sys/syscall.h>
#include <unistd.h>

#include "cache.h"
#include "gate.h"
#include "settings.h"
#include "thread.h"

/* Where there is no block. */
static const uint64_t always_open = ~0ull;

__thread struct elide_thread *elide_self;
__thread struct elide_thread *elide_self_quick = (struct elide_thread *)&always_open;
struct elide_row elide_no_row;

const uint8_t elide_way_arms[] = {
	[ELIDE_WAY_LONG] = ELIDE_ARM_LONG,
	[ELIDE_WAY_SHORT] = ELIDE_ARM_SHORT,
	[ELIDE_WAY_PARKED] = ELIDE_ARM_SHORT,
	[ELIDE_WAY_ELIDE] = ELIDE_ARM_CODE(POLICY_ARM_keen),
};

static struct adapt_thread nobody;
struct elide_call elide_no_call = {
	.arm = &elide_way_arms[ELIDE_WAY_LONG],
	.adapt = &nobody,
	.row = &elide_no_row,
};

/* What this thread was called before each fork, the latest first. */
#define MAX_FORKS 4
static __thread uint32_t own_tids[MAX_FORKS];
static __thread bool forked_deeper;

static struct elide_thread *all;

struct elide_thread *elide_threads_all(void)
{
	return READ_ONCE(all);
}

const void *elide_threads_head(void)
{
	return &all;
}

void elide_threads_add(struct elide_thread *t)
{
	t->next = all;
	all = t;
}

void elide_threads_clear(void)
{
	all = NULL;
}

enum elide_way elide_way(const struct elide_thread *t, const struct elide_row *row)
{
	bool elided = elide_state_is_chosen(row->state);

	if (!elide_short_way() || (elided && t->halted))
		return ELIDE_WAY_LONG;
	/* Policy restrict: nothing to decide before the lock is found held. */
	if (!elided || elide_process.config.name == POLICY_RESTRICT)
		return ELIDE_WAY_SHORT;
	/*
	 * Glibc's and HPCA'14's policy skip acquisitions of single locks, and the quick way does
	 * not call policy_lock_enter().
	 */
	return elide_process.config.counts_skips || elide_process.config.keeps_window ?
		       ELIDE_WAY_LONG :
		       ELIDE_WAY_ELIDE;
}

bool elide_may_judge(void)
{
	return elide_process.running && !elide_busy && (!elide_self || elide_self->ready);
}

bool elide_tid_is_own(const struct elide_thread *t, uint32_t tid)
{
	bool own = forked_deeper || tid == (t ? t->tid : (uint32_t)syscall(SYS_gettid));

	for (int i = 0; i < MAX_FORKS; i++)
		own |= tid == own_tids[i];
	return own;
}

void elide_tid_remember(uint32_t tid)
{
	if (own_tids[0] == tid)
		return;
	forked_deeper |= own_tids[MAX_FORKS - 1] != 0;
	for (int i = MAX_FORKS - 1; i; i--)
		own_tids[i] = own_tids[i - 1];
	own_tids[0] = tid;
}
