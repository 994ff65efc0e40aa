/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.c - see thread.h. */
#include <string.h>


#include "../base/syscalls.h"
#include "cache.h"
#include "gate.h"
#include "settings.h"
#include "thread.h"

/* Where there is no block: the first member of one, which has its alignment. */
static const uint64_t always_open
	__attribute__((aligned(_Alignof(struct elide_thread)))) = ~0ull;

__thread struct elide_thread *elide_self;
__thread struct elide_thread *elide_self_quick = (struct elide_thread *)&always_open;
__thread struct elide_refused elide_refused;
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

/* Their hash by handle, so that a join need not look at each of some thousand blocks. */
static struct elide_thread *alike[1024];
static uint32_t alike_changes;

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

/* Stacks of threads, which have the handles at their ends, are some pages apart, and mostly equally long. */
static struct elide_thread **alike_of(const void *handle)
{
	/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
	return &alike[((uintptr_t)handle / CACHE_LINE * 0x9e3779b97f4a7c15ull >> 40) %
		      ARRAY_SIZE(alike)];
}

struct elide_thread *elide_threads_of(const void *handle)
{
	return *alike_of(handle);
}

bool elide_threads_has(const void *handle)
{
	uint32_t changes = __atomic_load_n(&alike_changes, __ATOMIC_ACQUIRE);
	const struct elide_thread *t = READ_ONCE(*alike_of(handle));

	/* A block that goes into another list meanwhile leads there. */
	for (; t; t = READ_ONCE(t->next_alike))
		if (READ_ONCE(t->handle) == handle)
			return true;
	/* Pairs with elide_threads_name(): a block found in another list comes after a change. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return READ_ONCE(alike_changes) != changes;
}

void elide_threads_name(struct elide_thread *t, const void *handle)
{
	struct elide_thread **at;

	if (t->handle == handle)
		return;
	__atomic_add_fetch(&alike_changes, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (t->handle) {
		for (at = alike_of(t->handle); *at != t; at = &(*at)->next_alike)
			;
		WRITE_ONCE(*at, t->next_alike);
	}
	at = alike_of(handle);
	WRITE_ONCE(t->handle, handle);
	WRITE_ONCE(t->next_alike, *at);
	/* Pairs with elide_threads_has(): the block is whole. */
	__atomic_store_n(at, t, __ATOMIC_RELEASE);
}

void elide_threads_clear(void)
{
	all = NULL;
	memset(alike, 0, sizeof(alike));
}

bool elide_refused_passes(void)
{
	/* Of all blocks the child of a fork has none. */
	if (unlikely(!elide_gate_same_process())) {
		elide_refused = (struct elide_refused){0};
		return false;
	}
	elide_refused.left--;
	return true;
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

uint32_t elide_tid_now(void)
{
	const char *self = __builtin_thread_pointer();

	if (likely(!READ_ONCE(sys_forbidden)) && sys_may(gettid))
		return sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return elide_process.tid_at ? *(const uint32_t *)(self + elide_process.tid_at) : 0;
}

uint32_t elide_pid_now(void)
{
	return unlikely(READ_ONCE(sys_forbidden)) && elide_data ? (pid_t)elide_data->pid :
								  sys_getpid();
}

void elide_thread_close(struct elide_closed *was)
{
	was->self = elide_self;
	was->quick = elide_self_quick;
	elide_self = NULL;
	elide_self_quick = (struct elide_thread *)&always_open;
	elide_busy = true;
}

void elide_thread_reopen(const struct elide_closed *was)
{
	elide_self = was->self;
	elide_self_quick = was->quick;
	elide_busy = false;
}

bool elide_tid_is_own(const struct elide_thread *t, uint32_t tid)
{
	bool own = forked_deeper || (t && tid == t->tid);

	for (int i = 0; i < MAX_FORKS; i++)
		own |= tid == own_tids[i];
	if (own || t)
		return own;
	elide_tid_remember(sys_gettid());
	return tid == own_tids[0];
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
