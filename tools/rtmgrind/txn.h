/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn.h - transactions: begin, commit, abort; see txn.c.
 *
 * Only txn.c, access.c and hle.c use the contents of struct txn. They must never decide which
 * thread runs.
 */
#ifndef RTMGRIND_TXN_H
#define RTMGRIND_TXN_H

#include "rtmgrind.h"
#include "line.h"
#include "rng.h"

/**
 * struct touch - a line in a transaction's read or write set.
 * @line: the line
 * @pc: address of the instruction that touched it first
 * @addr: first byte that this instruction touched
 * @read: bytes that were read, a bit each
 * @written: bytes that were written, a bit each; 0: the line is in the read set only
 * @next: index + 1 in txn.touches of the next one in its chain, 0 none
 */
struct touch {
	struct line *line;
	Addr pc;
	Addr addr;
	ULong read;
	ULong written;
	UInt next;
};

/* Hash chains of a transaction's lines, a power of two: few have more lines than this. Chosen. */
#define NR_CHAINS 256

/* Is there a last abort of a thread, and has the thread requested its record? */
enum txn_last { TXN_NONE, TXN_UNTOLD, TXN_TOLD };

/**
 * struct txn - the transaction of a thread.
 * @depth: depth of nesting, 0: no transaction is open
 * @hle: XACQUIRE began it
 * @fallback: address at which the thread goes on after an abort: XBEGIN's operand, or the XACQUIRE
 * @saved: registers at XBEGIN
 * @guest: the thread's registers
 * @touches: lines of the read and write set, in the order in which they were entered
 * @chains: index + 1 in @touches of the last line of each hash chain, 0 none
 * @nr_touches: number of @touches
 * @touches_room: number of touches that @touches has room for
 * @nr_read: lines in the read set
 * @nr_written: lines in the write set
 * @nr_beyond: times that a line of the read set has left the first-level cache
 * @doomed: new lines, the commit included, until a spurious abort; 0: none will happen
 * @begun: virtual time of XBEGIN
 * @last: record of the last abort
 * @last_state: enum txn_last
 * @ways: number of lines of the write set in each set of the first-level cache
 */
struct txn {
	UInt depth;
	Bool hle;
	Addr fallback;
	VexGuestAMD64State saved;
	VexGuestAMD64State *guest;
	struct touch *touches;
	UInt chains[NR_CHAINS];
	UInt nr_touches;
	UInt touches_room;
	UInt nr_read;
	UInt nr_written;
	UInt nr_beyond;
	UInt doomed;
	Long begun;
	struct rtmgrind_abort last;
	UChar last_state;
	UChar ways[];
};

/* Number of open transactions. Tracked code tests it once in each block. */
extern ULong txn_nr_open;
/* Indexed by ThreadId; NULL for a thread that has never begun a transaction. */
extern struct txn **txns;
/* Random numbers for spurious aborts and for losses from the read set. */
extern struct rng txn_rng;

static inline UInt *txn_chain(struct txn *txn, Addr line_addr)
{
	return &txn->chains[line_addr / LINE_SIZE % NR_CHAINS];
}

/* The touch of a line by a transaction, NULL if the line is in none of its sets. */
static inline struct touch *txn_touch(struct txn *txn, Addr line_addr)
{
	UInt i;

	for (i = *txn_chain(txn, line_addr); i; i = txn->touches[i - 1].next)
		if (line_of(txn->touches[i - 1].addr) == line_addr)
			return &txn->touches[i - 1];
	return NULL;
}

void txn_init(UInt nr_threads);
void txn_noise_start(void);
Bool txn_open(ThreadId tid);
void txn_rollback(ThreadId tid, const struct rtmgrind_abort *info, UInt code);
void txn_abort_running(const struct rtmgrind_abort *info, UInt code) __attribute__((noreturn));
void txn_abort_self(enum rtmgrind_cause cause, Int syscall_nr);
void txn_abort_fault(Int signal, Addr addr);
void txn_abort_parked(ThreadId tid, enum rtmgrind_cause cause);
void txn_abort_faulted(ThreadId tid, Int signal, Addr addr);
void txn_abort_others(ThreadId tid, enum rtmgrind_cause cause);
void txn_forget(ThreadId tid);
void txn_tick(ThreadId tid, Long before, Long after);
void txn_spurious_point(struct txn *txn);
ULong txn_begin(VexGuestAMD64State *guest, ULong fallback, ULong next);
void txn_begin_hle(VexGuestAMD64State *guest, Addr pc);
void txn_commit(void);
ULong txn_end(ULong next);
void txn_xabort(ULong code);
ULong txn_test(void);
Bool txn_last_abort(ThreadId tid, Addr record, SizeT size, Bool again);

#endif
