/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn.h - transactions: begin, commit, abort; see txn.c.
 *
 * What is in struct txn concerns txn.c, access.c and hle.c. Must never be read by what gives
 * threads their turns.
 */
#ifndef RTMGRIND_TXN_H
#define RTMGRIND_TXN_H

#include "rtmgrind.h"
#include "line.h"
#include "rng.h"

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

/* Open transactions. Tracked code tests it once a block. */
extern ULong txn_nr_open;
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
Bool txn_last_abort(ThreadId tid, Addr record, SizeT size);

#endif
