/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtmgrind.h - the types and constants that every file of the emulator needs.
 *
 * instrument.c, with block.c and insn.c, turns each block of guest code into calls of the emulator:
 * of access.c, txn.c and hle.c (conflicts and transactions), coherence.c (caches), and syscalls.c
 * (system calls in virtual time). sched.c gives threads slices of virtual time: turn.c chooses the
 * thread, cores.c its simulated processor, slice.c the length; account.c converts instructions to
 * time. wait.c keeps the threads that wait, on behalf of futex.c, futex-pi.c, fdwait.c, sigwait.c
 * and try.c; idle.c lets time pass while all threads wait.
 *
 * Must never include libc, as a Valgrind tool has none. Must never declare a function: each file
 * has a header of its own.
 */
#ifndef RTMGRIND_RTMGRIND_H
#define RTMGRIND_RTMGRIND_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "libvex_guest_amd64.h"

#include "../../lib/emulator.h"
#include "../../lib/rtm.h"

/* Bytes of a cache line, the unit of conflict detection. */
#define LINE_SIZE 64
#define line_of(addr) ((addr) & ~(Addr)(LINE_SIZE - 1))

#define NS_PER_SECOND 1000000000LL

/* Bytes of the SYSCALL instruction. */
#define SYSCALL_INSN_SIZE 2

/* What happens with a system call after syscall_enter(). Generated code tests the value. */
enum syscall_verdict {
	SYSCALL_REAL = 0,	/* Valgrind carries it out */
	SYSCALL_DONE = 1,	/* the emulator has answered it: the thread goes on after it */
	SYSCALL_WAIT = 2,	/* the thread stays in front of it and others run */
};

#endif
