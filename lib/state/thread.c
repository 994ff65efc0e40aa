/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.c - see thread.h. */
#include "../base/syscalls.h"
#include "call.h"
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

/*
 * By the lowest bits of thread ids, which the kernel gives one after the other: a later thread
 * takes the place of an earlier one. Of that one it is found later that it has ended.
 */
static struct elide_thread *by_tid[1u << 14];

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
	struct elide_thread *first = READ_ONCE(all);

	/* Pairs with readers that follow the list: the block is whole. */
	do
		t->next = first;
	while (!__atomic_compare_exchange_n(&all, &first, t, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

struct elide_thread *elide_thread_of(uint32_t tid)
{
	struct elide_thread *t;

	if (likely(!valgrind_runs()))
		return READ_ONCE(by_tid[tid % ARRAY_SIZE(by_tid)]);
	/* In simulated caches the run would depend on the ids of its threads. */
	for (t = elide_threads_all(); t && t->tid != tid; t = t->next)
		;
	return t;
}

void elide_thread_known(struct elide_thread *t)
{
	if (likely(!valgrind_runs()))
		WRITE_ONCE(by_tid[t->tid % ARRAY_SIZE(by_tid)], t);
}

void elide_threads_clear(void)
{
	all = NULL;
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

uint32_t elide_tid_kept(void)
{
	const char *self = __builtin_thread_pointer();

	return elide_process.tid_at ? *(const uint32_t *)(self + elide_process.tid_at) : 0;
}

uint32_t elide_tid_now(void)
{
	if (likely(!READ_ONCE(sys_forbidden)) && sys_may(gettid))
		return sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return elide_tid_kept();
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
