/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-hooks.h - where the emulator reaches into Valgrind's core; see core-hooks.c.
 *
 * Must never be needed by code that works with any version of Valgrind.
 */
#ifndef RTMGRIND_CORE_HOOKS_H
#define RTMGRIND_CORE_HOOKS_H

#include "rtmgrind.h"

/*
 * Average size of a translation, bytes, by which Valgrind sizes its cache. Plain translations take
 * 260 bytes on average, tracked ones more.
 */
#define AVERAGE_TRANSLATION 400

/* The block being translated is to be a tracked one, see instrument.c. */
extern Bool core_tracked;

Addr core_tracked_addr(Addr addr);
void core_untrack_ip(ThreadId tid);
Bool core_blocks_stay(void);
void core_let_others_run(ThreadId tid);
void core_restart_thread(void) __attribute__((noreturn));
void core_set_mask(ThreadId tid, const vki_sigset_t *set, vki_sigset_t *old);

/* Valgrind's own, not in its installed headers: the thread is on its way out. */
extern Bool VG_(is_exiting)(ThreadId tid);

#endif
