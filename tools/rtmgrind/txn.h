/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn.h - a transaction, as txn.c and access.c know it.
 *
 * Must never be needed by anything else.
 */
#ifndef RTMGRIND_TXN_H
#define RTMGRIND_TXN_H

#include "rtmgrind.h"
#include "counters.h"
#include "model.h"

/**
 * struct touch - a line of a transaction's read or write set.
 * @line: the line
 * @pc: instruction that touched it first
 * @addr: byte that it touched
 * @read: bytes that were read, a bit each
 * @written: bytes that were written, 0 if it is in the read set only
 * @next: the next one of its chain, see struct txn; counts from 1
 */
struct touch {
	struct line *line;
	Addr pc;
	Addr addr;
	ULong read;
	ULong written;
	UInt next;
};

/* A power of two: few transactions touch more lines. */
#define NR_CHAINS 256

/**
 * struct txn - the transaction of a thread.
 * @depth: nesting, 0 outside
 * @hle: XACQUIRE began it
 * @fallback: where XBEGIN's operand points; the XACQUIRE
 * @saved: registers at XBEGIN
 * @guest: the registers themselves
 * @touches: read and write set, in order
 * @chains: by line, the latest touch; they count from 1
 * @nr_touches: lines in both
 * @touches_room: room in @touches
 * @nr_read: lines read
 * @nr_written: lines written
 * @nr_beyond: times that a line it had read left the first-level cache
 * @doomed: new lines and commits left before a spurious abort, 0 none is due
 * @begun: virtual time of XBEGIN
 * @last: detail of the last abort
 * @last_valid: @last has not been asked for yet
 * @ways: lines written per set of the first-level cache
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
	Bool last_valid;
	UChar ways[];
};

/* Indexed by ThreadId; NULL for threads that never began one. */
extern struct txn **txns;
/* What chance decides about transactions. */
extern struct rng txn_rng;

static inline UInt *txn_chain(struct txn *txn, Addr line_addr)
{
	return &txn->chains[line_addr / LINE_SIZE % NR_CHAINS];
}

/* The transaction's touch of a line, NULL if it has not touched it. */
static inline struct touch *txn_touch(struct txn *txn, Addr line_addr)
{
	UInt i;

	for (i = *txn_chain(txn, line_addr); i; i = txn->touches[i - 1].next)
		if (line_of(txn->touches[i - 1].addr) == line_addr)
			return &txn->touches[i - 1];
	return NULL;
}

void txn_rollback(ThreadId tid, const struct rtmgrind_abort *info, UInt code);
void txn_abort_running(const struct rtmgrind_abort *info, UInt code) __attribute__((noreturn));
void txn_spurious_point(struct txn *txn);
void txn_conflict(ThreadId tid, Addr addr, Bool write);
void txn_evicted(ThreadId tid, Addr addr, Bool far);
void txn_begin_hle(VexGuestAMD64State *guest, Addr pc);
void txn_commit(void);

#endif
