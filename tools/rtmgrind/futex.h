/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * futex.h - futexes in virtual time; see futex.c.
 *
 * The constants, and the functions above futex_call() but for futex_holds(), are for futex-pi.c.
 * Must never be needed by code that waits for anything else.
 */
#ifndef RTMGRIND_FUTEX_H
#define RTMGRIND_FUTEX_H

#include "rtmgrind.h"

/* futex(2) */
enum {
	CMD_WAIT = 0,
	CMD_WAKE = 1,
	CMD_REQUEUE = 3,
	CMD_CMP_REQUEUE = 4,
	CMD_WAKE_OP = 5,
	CMD_LOCK_PI = 6,
	CMD_UNLOCK_PI = 7,
	CMD_TRYLOCK_PI = 8,
	CMD_WAIT_BITSET = 9,
	CMD_WAKE_BITSET = 10,
	CMD_WAIT_REQUEUE_PI = 11,
	CMD_CMP_REQUEUE_PI = 12,
	CMD_LOCK_PI2 = 13,
	FLAG_PRIVATE = 128,
	FLAG_REALTIME = 256,
	CMD_MASK = 127,
};

/* Missing from Valgrind's headers (include/uapi/asm-generic/errno.h). */
#define VKI_EDEADLK 35
#define VKI_ETIMEDOUT 110

/* The thread id in the word of a robust or priority-inheriting futex, and two flags (futex(2)). */
#define OWNER_MASK 0x3fffffffu
#define OWNER_DIED 0x40000000u
#define LOCK_WAITERS 0x80000000u

void futex_await_host_exit(UInt value);
Bool futex_holds(Addr word, UInt value);
Bool futex_outside(Addr word, UInt op);
Bool futex_swap(Addr word, UInt old, UInt new);
Bool futex_deadline(VexGuestAMD64State *guest, UInt op, Long *deadline);
ThreadId futex_waiter_to_requeue(Addr word);
Long futex_wake_outside(Addr word, Int max, UInt mask);
enum syscall_verdict futex_call(VexGuestAMD64State *guest);
void futex_thread_exits(ThreadId tid);

#endif
