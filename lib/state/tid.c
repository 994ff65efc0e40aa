/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tid.c - see tid.h. */
#include "../base/syscalls.h"
#include "settings.h"
#include "tid.h"

/* The ids of this thread, the present one first: each fork gives it another. */
#define MAX_FORKS 4
static __thread uint32_t own_tids[MAX_FORKS];
static __thread bool forked_deeper;

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
