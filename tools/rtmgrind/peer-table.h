/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer-table.h - the table of the emulated processes of a run; see peer-table.c.
 *
 * Must never be needed outside of peers.c, which says what the entries mean.
 */
#ifndef RTMGRIND_PEER_TABLE_H
#define RTMGRIND_PEER_TABLE_H

#include "rtmgrind.h"

#define NR_PEERS 1000

enum peer_state {
	PEER_FREE,		/* the entry is free */
	PEER_RUNNING,		/* a thread runs, at @clock or later */
	PEER_IDLE,		/* every thread waits, until @until at the latest */
	PEER_CALLING,		/* the thread @lwp is in a system call of the host's kernel */
	PEER_EXEC,		/* it began another program at @since, which may not be emulated */
	PEER_REAL,		/* it began another program at @since, which is not emulated */
	PEER_ENDED,		/* it has ended, at @clock */
};

/**
 * struct peer - what a process publishes; times are common ones.
 * @state: see above
 * @pid: its id, 0 while it is being made
 * @parent: its parent's id
 * @lwp: a host thread that is in a system call, 0 none
 * @clock: the smallest clock of a thread that can run; the process acts no earlier any more
 * @until: its next timeout, 0 none
 * @sent: its clock when it last sent anything that another process may wait for
 * @since: real time, ns
 * @noted: the others have been told to check what its end means for them
 * @poked: number of times that another process may have sent it something
 * @seen: @poked when it last began to check everything that it waits for
 */
struct peer {
	Int state;
	Int pid;
	Int parent;
	Int lwp;
	Long clock;
	Long until;
	Long sent;
	Long since;
	Int noted;
	UInt poked;
	UInt seen;
};

/*
 * @nr: entries that were ever in use; @events: number of times that a process has sent anything;
 * @date_offset: see date.c.
 */
struct peer_table {
	UInt nr;
	UInt events;
	Long date_offset;
	struct peer peers[NR_PEERS];
};

extern struct peer_table *peer_table;
extern Int peer_table_fd;

/* A field that another process reads. Ordered: see peers_may_pass(). */
#define PUBLISH(field, value) __atomic_store_n(&(field), value, __ATOMIC_SEQ_CST)
#define LOOK_AT(field) __atomic_load_n(&(field), __ATOMIC_SEQ_CST)

void peer_table_make(void);
void peer_table_inherit(void);
struct peer *peer_new(Int pid, Int parent, Long clock);
struct peer *peer_find(Int pid);
HChar peer_thread_state(Int pid, Int lwp);

#endif
