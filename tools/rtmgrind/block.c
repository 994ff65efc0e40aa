// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * block.c - emits the parts of a rewritten block, with its beginning and end.
 *
 * Must never emit a call of a helper that changes guest registers without declaring them.
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
 * @type: type of the value
 * @value: the expression to compute
 *
 * Return: an atom, a temporary, that has the value.
 */
IRExpr *block_assign(struct block *b, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

/**
 * block_load64() - read a 64-bit variable of the emulator.
 * @b: the block
 * @addr: address of the variable
 *
 * Return: an atom that has its value.
 */
IRExpr *block_load64(struct block *b, const void *addr)
{
	return block_assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, const64((Addr)addr)));
}

/**
 * block_guarded() - make the condition that a transaction is open.
 * @b: the block, tracked
 * @condition: a further condition that must hold, a 1-bit atom; NULL none
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
 * block_filter_miss() - make the condition that the filter does not let an access pass.
 * @b: the block, tracked, of a machine with caches
 * @addr: first byte, an atom
 * @size: bytes
 * @write: False for a read
 * @condition: a further condition that must hold, a 1-bit atom; NULL none
 *
 * The code compares the line of the last byte with the entry for the set of the first byte, so an
 * access to two lines always misses.
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
	/* Line number times the size of an entry: addr / 64 * 8, the low bits are masked below. */
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
 * block_put() - emit a write to a guest register.
 * @b: the block
 * @offset: offset of the register in the guest's state, bytes
 * @value: an atom
 */
void block_put(struct block *b, Int offset, IRExpr *value)
{
	addStmtToIRSB(b->out, IRStmt_Put(offset, value));
}

/* Declares that a helper may read and write these bytes of the guest's state. */
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
 * block_uses_registers() - declare that a helper may read and write every guest register.
 * @call: the call of the helper
 */
void block_uses_registers(IRDirty *call)
{
	uses_registers(call, 0, sizeof(VexGuestAMD64State));
}

/**
 * block_call() - emit a call of a helper without result.
 * @b: the block
 * @name: name of the helper, for Valgrind's messages
 * @helper: the function
 * @args: its arguments
 * @condition: the call is made if this 1-bit atom holds, NULL always
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
 * block_query() - emit a call of a helper that may change all registers and returns a word.
 * @b: the block
 * @name: name of the helper, for Valgrind's messages
 * @helper: the function
 * @args: its arguments
 *
 * Return: an atom that has the returned word.
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
 * block_charge() - emit code that lets virtual time pass, and ends the slice if it is used up.
 * @b: the block: tracked, or plain and at its end, where it cannot switch to the tracked one any more
 * @insns: the time, in instructions
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

/*
 * The beginning of a plain block: it switches to its tracked translation if that is needed, else
 * it takes the time of the whole block off the slice.
 */
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
	/* Until here the instruction pointer is core_tracked_addr(addr). */
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
 * block_begin() - emit the beginning of a block, which takes the block's time off the slice.
 * @b: the block
 * @addr: address that Valgrind finds the block by; where Valgrind redirects a function, the code
 *        itself is elsewhere
 * @insns: time of the block, in instructions
 *
 * A plain block switches to its tracked translation instead if that is needed.
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
 * block_stay_tracked() - on a machine with caches, let a tracked block go on to tracked ones.
 * @b: the block, complete except for its end
 *
 * A plain block would only switch to its tracked translation.
 */
void block_stay_tracked(struct block *b)
{
	IRExpr *next = b->out->next;

	if (!model.caches || !b->tracked || !is_jump(b->out->jumpkind))
		return;
	if (next->tag == Iex_Const)
		b->out->next = const64(core_tracked_addr(next->Iex.Const.con->Ico.U64));
	else
		b->out->next = block_assign(b, Ity_I64,
					    IRExpr_Binop(Iop_Or64, next,
							 const64(core_tracked_addr(0))));
}

/**
 * block_tracked_exit() - on a machine with caches, let a tracked block jump to tracked ones.
 * @b: the block
 * @exit: the conditional jump
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
 * block_end() - end the block here with a jump.
 * @b: the block
 * @next: address of the next instruction, an atom
 */
void block_end(struct block *b, IRExpr *next)
{
	b->out->next = next;
	b->out->jumpkind = Ijk_Boring;
	b->out->offsIP = OFFSET(RIP);
}
