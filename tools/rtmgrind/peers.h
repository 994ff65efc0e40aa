/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peers.h - the emulated processes of a run and their clocks; see peers.c.
 *
 * Must never be needed by code that runs more than once in a slice.
 */
#ifndef RTMGRIND_PEERS_H
#define RTMGRIND_PEERS_H

#include "rtmgrind.h"
#include "pub_tool_vki.h"

void peers_join(void);
void peers_fork_begins(void);
void peers_fork_over(Int child);
void peers_forked(void);
void peers_exec(Bool begins);
void peers_end(void);
Bool peers_any(void);
Long *peers_date_offset(void);
Bool peers_all_children(UInt nr);
void peers_running(Long clock);
void peers_calling(ThreadId tid, Bool sends);
void peers_thread_ends(ThreadId tid);
void peers_called(Bool noticed);
void peers_sends(void);
void peers_sent(void);
void peers_idle(Long until);
void peers_looks(void);
Bool peers_poked(void);
Bool peers_may_pass(Long clock);
Long peers_event(Bool memory);
Long peers_signal(const vki_siginfo_t *info);
Long peers_reaped(Int pid);

#endif
