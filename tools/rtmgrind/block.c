// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * block.c - the code that a rewritten block is made of, and how each begins and ends.
 *
 * Must never emit a helper that changes guest registers without saying so.
 */
#include "block.h"
#include "account.h"
#include "core-hooks.h"
#include "filter.h"
#include "model.h"
#include "slice.h"
#include "txn.h"

/**
 * block_assign() - compute a value.
 * @b: the block
 * @type: of the value
 * @value: how
 *
 * Return: an atom that stands for it.
 */
IRExpr *block_assign(struct block *b, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

/**
 * block_load64() - read a word of the emulator.
 * @b: the block
 * @addr: the word
 *
 * Return: an atom that stands for its value.
 */
IRExpr *block_load64(struct block *b, const void *addr)
{
	return block_assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, const64((Addr)addr)));
}

/**
 * block_guarded() - is a transaction open?
 * @b: the block, tracked
 * @condition: must hold too, NULL none
 *
 * Return: a 1-bit atom.
 */
IRExpr *block_guarded(struct block *b, IRExpr *condition)
{
	IRExpr *guard = IRExpr_RdTmp(b->guard);

	if (!condition)
		return guard;
	return block_assign(b, Ity_I1, IRExpr_Binop(Iop_And1, guard, condition));
}

static IRExpr *and64(struct block *b, IRExpr *value, ULong mask)
{
	return block_assign(b, Ity_I64, IRExpr_Binop(Iop_And64, value, const64(mask)));
}

/**
 * block_filter_miss() - does the running thread need a helper for this access?
 * @b: the block, tracked, of a machine with caches
 * @addr: first byte, an atom
 * @size: bytes
 * @write: False for a read
 * @condition: must hold too, NULL none
 *
 * The set is that of the first byte and the line that of the last: an access
 * to two lines always misses.
 *
 * Return: a 1-bit atom.
 */
IRExpr *block_filter_miss(struct block *b, IRExpr *addr, Int size, Bool write, IRExpr *condition)
{
	UInt nr_sets = model_l1_sets();
	IRExpr *last = size == 1 ? addr :
				   block_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, addr,
									 const64(size - 1)));
	IRExpr *line = and64(b, last, ~(ULong)(LINE_SIZE - 1));
	/* The index times the size of an entry: 64 over 8. */
	IRExpr *shifted = block_assign(b, Ity_I64, IRExpr_Binop(Iop_Shr64, addr,
								IRExpr_Const(IRConst_U8(3))));
	IRExpr *entry = block_assign(b, Ity_I64,
				     IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(b->filter),
						  and64(b, shifted, (nr_sets - 1) * 8)));
	IRExpr *miss;

	if (write)
		entry = block_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, entry,
							      const64(nr_sets * 8)));
	miss = block_assign(b, Ity_I1,
			    IRExpr_Binop(Iop_CmpNE64, line,
					 block_assign(b, Ity_I64,
						      IRExpr_Load(Iend_LE, Ity_I64, entry))));
	if (!condition)
		return miss;
	return block_assign(b, Ity_I1, IRExpr_Binop(Iop_And1, miss, condition));
}

/**
 * block_put() - write a guest register.
 * @b: the block
 * @offset: of the register in the guest's state
 * @value: an atom
 */
void block_put(struct block *b, Int offset, IRExpr *value)
{
	addStmtToIRSB(b->out, IRStmt_Put(offset, value));
}

/* The helper may read and write these bytes of the guest's state. */
static void uses_registers(IRDirty *call, Int offset, Int size)
{
	call->nFxState = 1;
	call->fxState[0].fx = Ifx_Modify;
	call->fxState[0].offset = offset;
	call->fxState[0].size = size;
	call->fxState[0].nRepeats = 0;
	call->fxState[0].repeatLen = 0;
}

/**
 * block_uses_registers() - let a helper read and write every guest register.
 * @call: the call of it
 */
void block_uses_registers(IRDirty *call)
{
	uses_registers(call, 0, sizeof(VexGuestAMD64State));
}

/**
 * block_call() - call a helper without result.
 * @b: the block
 * @name: of the helper, for valgrind's messages
 * @helper: the function
 * @args: its arguments
 * @condition: the call is made if this holds, NULL always
 *
 * Return: the call.
 */
IRDirty *block_call(struct block *b, const HChar *name, void *helper, IRExpr **args,
		    IRExpr *condition)
{
	IRDirty *call = unsafeIRDirty_0_N(0, name, helper, args);

	if (condition)
		call->guard = condition;
	addStmtToIRSB(b->out, IRStmt_Dirty(call));
	return call;
}

/**
 * block_query() - call a helper that may change all registers and returns a word.
 * @b: the block
 * @name: of the helper, for valgrind's messages
 * @helper: the function
 * @args: its arguments
 *
 * Return: an atom that stands for the word.
 */
IRExpr *block_query(struct block *b, const HChar *name, void *helper, IRExpr **args)
{
	IRTemp result = newIRTemp(b->out->tyenv, Ity_I64);
	IRDirty *call = unsafeIRDirty_1_N(result, 0, name, helper, args);

	block_uses_registers(call);
	addStmtToIRSB(b->out, IRStmt_Dirty(call));
	return IRExpr_RdTmp(result);
}

static VG_REGPARM(1) void help_end_slice(VexGuestAMD64State *guest)
{
	slice_stop(guest);
}

static IRExpr *slice_left_after(struct block *b, Int insns)
{
	return block_assign(b, Ity_I64, IRExpr_Binop(Iop_Sub64, block_load64(b, &slice_left),
						     const64(insns)));
}

static void store_slice_left(struct block *b, IRExpr *left)
{
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, const64((Addr)&slice_left), left));
}

/**
 * block_charge() - let virtual time pass, and end the slice if it is over.
 * @b: the block, tracked, or at its end: it cannot give way any more
 * @insns: how much, in instructions
 */
void block_charge(struct block *b, Int insns)
{
	IRExpr *left = slice_left_after(b, insns);
	IRExpr *over;

	store_slice_left(b, left);
	over = block_assign(b, Ity_I1,
			    IRExpr_Binop(Iop_CmpLT64S, left, block_load64(b, &slice_bias)));
	uses_registers(block_call(b, "help_end_slice", help_end_slice,
				  mkIRExprVec_1(IRExpr_GSPTR()), over),
		       offsetof(VexGuestAMD64State, host_EvC_COUNTER), sizeof(UInt));
}

/* At the beginning of a plain block at @addr: charge it, or give way to the tracked one. */
static void begin_plain(struct block *b, Addr addr, Int insns)
{
	IRExpr *left = slice_left_after(b, insns);
	IRExpr *gives_way = block_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64S, left, const64(0)));

	addStmtToIRSB(b->out, IRStmt_Exit(gives_way, Ijk_Boring,
					  IRConst_U64(core_tracked_addr(addr)), OFFSET(RIP)));
	store_slice_left(b, left);
}

static void begin_tracked(struct block *b, Addr addr, Int insns)
{
	/* Until now it holds core_tracked_addr(). */
	block_put(b, OFFSET(RIP), const64(addr));
	if (model.caches) {
		IRExpr *plain = block_assign(b, Ity_I1,
					     IRExpr_Binop(Iop_CmpEQ64, block_load64(b, &slice_bias),
							  const64(0)));

		addStmtToIRSB(b->out, IRStmt_Exit(plain, Ijk_Boring, IRConst_U64(addr),
						  OFFSET(RIP)));
		b->filter = block_load64(b, &filter_entries)->Iex.RdTmp.tmp;
	}
	b->guard = block_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64,
							block_load64(b, &txn_nr_open),
							const64(0)))->Iex.RdTmp.tmp;
	block_charge(b, insns);
}

/**
 * block_begin() - begin a block: charge it, or let a plain one give way to the tracked one.
 * @b: the block
 * @addr: where valgrind looks for it: if it redirects a function, not where the code is
 * @insns: what the block costs, in instructions
 */
void block_begin(struct block *b, Addr addr, Int insns)
{
	if (b->tracked)
		begin_tracked(b, addr, insns);
	else
		begin_plain(b, addr, insns);
}

static Bool is_jump(IRJumpKind kind)
{
	return kind == Ijk_Boring || kind == Ijk_Call || kind == Ijk_Ret;
}

/**
 * block_stay_tracked() - with caches a tracked block goes on to tracked ones.
 * @b: the block, complete but for its end
 *
 * A plain one would only give way.
 */
void block_stay_tracked(struct block *b)
{
	IRExpr *next = b->out->next;

	if (!model.caches || !b->tracked || !is_jump(b->out->jumpkind))
		return;
	if (next->tag == Iex_Const)
		b->out->next = const64(core_tracked_addr(next->Iex.Const.con->Ico.U64));
	else
		b->out->next = block_assign(b, Ity_I64, IRExpr_Binop(Iop_Or64, next,
								     const64(core_tracked_addr(0))));
}

/**
 * block_tracked_exit() - the same for a conditional jump out of the block.
 * @b: the block
 * @exit: the jump
 *
 * Return: the jump to emit.
 */
IRStmt *block_tracked_exit(const struct block *b, IRStmt *exit)
{
	if (!model.caches || !b->tracked || !is_jump(exit->Ist.Exit.jk))
		return exit;
	return IRStmt_Exit(exit->Ist.Exit.guard, exit->Ist.Exit.jk,
			   IRConst_U64(core_tracked_addr(exit->Ist.Exit.dst->Ico.U64)),
			   exit->Ist.Exit.offsIP);
}

/**
 * block_end() - end the block here.
 * @b: the block
 * @next: address to go on at
 */
void block_end(struct block *b, IRExpr *next)
{
	b->out->next = next;
	b->out->jumpkind = Ijk_Boring;
	b->out->offsIP = OFFSET(RIP);
}
