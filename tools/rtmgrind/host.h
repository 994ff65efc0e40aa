/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - system calls of the emulator itself.
 *
 * They bypass Valgrind's wrappers, so must never be made on the guest's
 * behalf where Valgrind keeps a record (mappings, signals, threads).
 */
#ifndef RTMGRIND_HOST_H
#define RTMGRIND_HOST_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Results below 0 are -errno. */
static inline Long host_syscall(Long nr, Long a, Long b, Long c, Long d, Long e, Long f)
{
	Long result;
	register Long r10 __asm__("r10") = d;
	register Long r8 __asm__("r8") = e;
	register Long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline void host_yield(void)
{
	host_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Sleeps while *word == value, at most timeout_ns (0: no limit). */
static inline void host_futex_wait(volatile Int *word, Int value, Long timeout_ns)
{
	struct vki_timespec ts = {timeout_ns / 1000000000, timeout_ns % 1000000000};

	host_syscall(__NR_futex, (Long)word, 0 | 128, value, timeout_ns ? (Long)&ts : 0, 0, 0);
}

static inline void host_futex_wake(volatile Int *word)
{
	host_syscall(__NR_futex, (Long)word, 1 | 128, 1, 0, 0, 0);
}

/* Real time, ns. */
static inline Long host_now(void)
{
	struct vki_timespec ts;

	host_syscall(__NR_clock_gettime, 1, (Long)&ts, 0, 0, 0, 0);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static inline Long host_poll(struct vki_pollfd *fds, UInt nr, Long timeout_ns)
{
	struct vki_timespec ts = {timeout_ns / 1000000000, timeout_ns % 1000000000};

	return host_syscall(__NR_ppoll, (Long)fds, nr, (Long)&ts, 0, 8, 0);
}

#endif
