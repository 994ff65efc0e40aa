/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block.h - a block of guest code while it is rewritten, and the parts of its code; see block.c.
 *
 * Must never be called while the guest runs: these functions make code, at translation.
 */
#ifndef RTMGRIND_BLOCK_H
#define RTMGRIND_BLOCK_H

#include "hle.h"

/* Accesses of a block that are remembered, see is_repeated() in instrument.c. Chosen. */
#define MAX_SEEN 32

#define OFFSET(reg) ((Int)offsetof(VexGuestAMD64State, guest_##reg))

/**
 * struct block - the block being rewritten.
 * @out: the new block
 * @tracked: it is the tracked translation, see instrument.c
 * @guard: 1-bit temporary: a transaction is open; only in a tracked block
 * @filter: 64-bit temporary with the value of filter_entries; only in a tracked block of a machine
 *          with caches
 * @noted: see loads_read()
 * @nr_accesses: memory accesses rewritten until now
 * @first: address that Valgrind finds the block by
 * @pc: address of the guest instruction being rewritten
 * @hint: the XACQUIRE or XRELEASE prefix of that instruction, HLE_NONE if it cannot elide
 * @hle_width: bytes that an instruction with such a prefix writes; 0: as many as VEX says
 * @seen: the first MAX_SEEN different unconditional accesses
 * @nr_seen: number of entries of @seen in use
 */
struct block {
	IRSB *out;
	Bool tracked;
	IRTemp guard;
	IRTemp filter;
	const IRExpr *noted;
	Int nr_accesses;
	Addr first;
	Addr pc;
	enum hle_insn hint;
	UInt hle_width;
	struct {
		IRTemp addr;
		Int size;
		Bool write;
	} seen[MAX_SEEN];
	Int nr_seen;
};

static inline IRExpr *const64(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

IRExpr *block_assign(struct block *b, IRType type, IRExpr *value);
IRExpr *block_load64(struct block *b, const void *addr);
IRExpr *block_guarded(struct block *b, IRExpr *condition);
IRExpr *block_filter_miss(struct block *b, IRExpr *addr, Int size, Bool write,
			  IRExpr *condition);
void block_put(struct block *b, Int offset, IRExpr *value);
IRDirty *block_call(struct block *b, const HChar *name, void *helper, IRExpr **args,
		    IRExpr *condition);
IRExpr *block_query(struct block *b, const HChar *name, void *helper, IRExpr **args);
void block_uses_registers(IRDirty *call);
void block_begin(struct block *b, Addr addr, Int insns);
void block_charge(struct block *b, Int insns);
void block_stay_tracked(struct block *b);
IRStmt *block_tracked_exit(const struct block *b, IRStmt *exit);
void block_end(struct block *b, IRExpr *next);

#endif
