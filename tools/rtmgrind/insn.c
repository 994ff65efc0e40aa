// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insn.c - recognises the instructions that matter to transactions by their bytes, and replaces
 * them by calls of txn.c and hle.c.
 *
 * Valgrind translates them as if every transaction aborted at once. Their replacements:
 *
 *   XBEGIN               a helper whose result is the next address; the block ends
 *   XEND                 likewise; SIGSEGV outside of a transaction
 *   XABORT               a helper that does not return if a transaction is open
 *   XTEST                a helper that sets the flags; the block ends, as VEX has used its constant
 *                        result in the code that follows
 *   XACQUIRE, XRELEASE   helpers in front of the instruction, in front of its write, and after it,
 *                        where the block ends
 *   unfriendly.def's     a helper that does not return if a transaction is open
 *
 * Must never replace an RTM instruction with --rtm=no, nor a hint with --hle=no.
 */
#include "insn.h"
#include "block.h"
#include "counters.h"
#include "decode.h"
#include "guest.h"
#include "hle.h"
#include "model.h"
#include "options.h"
#include "txn.h"
#include "unfriendly.h"
#include "vthread.h"

enum rtm_insn { INSN_OTHER, INSN_XBEGIN, INSN_XEND, INSN_XABORT, INSN_XTEST };

static void help_xabort(ULong code, Addr pc)
{
	current_pc = pc;
	txn_xabort(code);
}

static enum rtm_insn recognise(Addr addr, Int *length)
{
	const UChar *code = (const UChar *)addr;

	*length = 3;
	/* A processor with RTM or HLE has XTEST. */
	if ((opt.rtm || model.hle) && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xd6)
		return INSN_XTEST;
	if (!opt.rtm)
		return INSN_OTHER;
	if (code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xd5)
		return INSN_XEND;
	if (code[0] == 0xc6 && code[1] == 0xf8)
		return INSN_XABORT;
	*length = 6;
	if (code[0] == 0xc7 && code[1] == 0xf8)
		return INSN_XBEGIN;
	*length = 5;
	if (code[0] == 0x66 && code[1] == 0xc7 && code[2] == 0xf8)
		return INSN_XBEGIN;
	return INSN_OTHER;
}

/* The hint of an instruction, HLE_NONE if the simulated processor ignores hints. */
static enum hle_insn recognise_hint(Addr addr, UInt limit, struct decoded *insn)
{
	if (model.hle && decode((const UChar *)addr, limit, insn))
		return hle_recognise(insn);
	return HLE_NONE;
}

/**
 * insn_needs_exact_registers() - may a block have an instruction whose helper needs all registers?
 * @extents: the guest code of the block
 *
 * Return: True if it may. Each byte is checked, so operands that look like such an instruction
 * count, too.
 */
Bool insn_needs_exact_registers(const VexGuestExtents *extents)
{
	struct decoded insn;
	UInt i, at;

	for (i = 0; i < extents->n_used; i++) {
		const UChar *code = (const UChar *)extents->base[i];
		UInt size = extents->len[i];

		for (at = 0; at + 1 < size; at++) {
			Int length;

			/* CPUID (0F A2), whose answer is corrected, counts as well. */
			if ((code[at] == 0x0f && code[at + 1] == 0xa2) ||
			    recognise((Addr)&code[at], &length) != INSN_OTHER ||
			    ((code[at] == 0xf2 || code[at] == 0xf3) &&
			     recognise_hint((Addr)&code[at], size - at, &insn) != HLE_NONE))
				return True;
		}
	}
	return False;
}

/**
 * insn_hint_at() - has an instruction a hint with which VEX cannot translate it?
 * @addr: the instruction
 * @at: receives the offset of the hint in the instruction, bytes
 *
 * Return: True if so. VEX can translate it without the hint, as a block of its own.
 */
Bool insn_hint_at(Addr addr, UInt *at)
{
	const UChar *code = (const UChar *)addr;
	struct decoded insn;

	if (code[0] != 0xf2 && code[0] != 0xf3 && code[0] != 0xf0 && code[0] != 0x66)
		return False;
	if (!decode(code, INSN_SIZE_MAX, &insn) || !insn.lock ||
	    hle_recognise(&insn) == HLE_NONE || !hle_is_immediate(&insn))
		return False;
	*at = insn.repeat_at;
	return True;
}

/**
 * insn_begins_block() - must a block end in front of an instruction?
 * @addr: the instruction
 *
 * Return: True if so.
 */
Bool insn_begins_block(Addr addr)
{
	UInt at;

	return insn_hint_at(addr, &at);
}

/**
 * insn_ends_block() - must a block end after an instruction?
 * @addr: the instruction
 *
 * Return: True if so.
 */
Bool insn_ends_block(Addr addr)
{
	struct decoded hinted;
	Int length;
	enum rtm_insn insn = recognise(addr, &length);

	return insn == INSN_XBEGIN || insn == INSN_XEND || insn == INSN_XTEST ||
	       recognise_hint(addr, INSN_SIZE_MAX, &hinted) != HLE_NONE;
}

static void emit_xbegin(struct block *b, Addr addr, Int length)
{
	Long offset = length == 6 ? *(const Int *)(addr + 2) : *(const Short *)(addr + 3);
	Addr next = addr + length;

	block_end(b, block_query(b, "txn_begin", txn_begin,
				 mkIRExprVec_3(IRExpr_GSPTR(), const64(next + offset),
					       const64(next))));
}

static void emit_xend(struct block *b, Addr addr, Int length)
{
	IRExpr *next = block_query(b, "txn_end", txn_end, mkIRExprVec_1(const64(addr + length)));
	IRExpr *fault = block_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, next, const64(0)));

	addStmtToIRSB(b->out, IRStmt_Exit(fault, Ijk_SigSEGV, IRConst_U64(addr), OFFSET(RIP)));
	block_end(b, next);
}

static void emit_xtest(struct block *b, Addr addr, Int length)
{
	IRExpr *flags = block_query(b, "txn_test", txn_test, mkIRExprVec_0());

	/* CC_OP 0 (copy) means that CC_DEP1 has the flags themselves. */
	block_put(b, OFFSET(CC_OP), const64(0));
	block_put(b, OFFSET(CC_DEP1), flags);
	block_put(b, OFFSET(CC_DEP2), const64(0));
	block_put(b, OFFSET(CC_NDEP), const64(0));
	block_end(b, const64(addr + length));
}

static void help_unfriendly(Addr pc)
{
	current_pc = pc;
	if (txn_open(current_tid))
		counters_add(COUNTER_TX_EXEC_MISC1);
	txn_abort_self(RTMGRIND_CAUSE_INSTRUCTION, -1);
}

/*
 * DIV and IDIV fault in the division that VEX has made of them, when Valgrind's instruction pointer
 * may be that of an earlier instruction. So current_pc is set in front of them.
 */
static Bool is_division(const struct decoded *insn)
{
	return insn->map == OPCODE && (insn->opcode | 1) == 0xf7 && modrm_reg(*insn->behind) >= 6;
}

/* Rewrites an instruction other than RTM's: it may be unfriendly, a division, or have a hint. */
static void rewrite_other(struct block *b, Addr addr, UInt size)
{
	struct decoded insn;

	if (!decode((const UChar *)addr, size ? size : INSN_SIZE_MAX, &insn))
		return;
	if (b->tracked && unfriendly_insn(&insn))
		block_call(b, "help_unfriendly", help_unfriendly, mkIRExprVec_1(const64(addr)),
			   block_guarded(b, NULL));
	if (b->tracked && is_division(&insn))
		addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, const64((Addr)&current_pc),
						   const64(addr)));
	b->hint = model.hle ? hle_recognise(&insn) : HLE_NONE;
	if (b->hint == HLE_NONE)
		return;
	b->hle_width = hle_width(&insn);
	if (b->hint == HLE_XACQUIRE)
		block_uses_registers(block_call(b, "hle_acquire", hle_acquire,
						mkIRExprVec_2(IRExpr_GSPTR(), const64(addr)),
						NULL));
	else
		block_call(b, "hle_release", hle_release, mkIRExprVec_1(const64(addr)), NULL);
}

/**
 * insn_write() - emit the call of a helper for a write of an instruction with a hint.
 * @b: the block
 * @addr: first byte, an atom
 * @size: bytes, as VEX says
 */
void insn_write(struct block *b, IRExpr *addr, Int size)
{
	if (b->hle_width) {
		size = b->hle_width;
		addr = block_assign(b, Ity_I64, IRExpr_Binop(Iop_And64, addr, const64(-size)));
	}
	block_call(b, "hle_write", hle_write, mkIRExprVec_2(addr, const64(size)), NULL);
}

/**
 * insn_finish() - emit, after an instruction with a hint, the call that ends it.
 * @b: the block
 *
 * Return: True if the block must end here.
 */
Bool insn_finish(struct block *b)
{
	if (b->hint == HLE_NONE)
		return False;
	b->hint = HLE_NONE;
	block_call(b, "hle_finish", hle_finish, mkIRExprVec_1(const64(b->pc)), NULL);
	return True;
}

/**
 * insn_rewrite() - replace an instruction if it matters to transactions.
 * @b: the block
 * @addr: the instruction
 * @size: number of its bytes, 0 unknown
 *
 * Return: True if the block ends here.
 */
Bool insn_rewrite(struct block *b, Addr addr, UInt size)
{
	Int length = 0;

	switch (recognise(addr, &length)) {
	case INSN_XBEGIN:
		emit_xbegin(b, addr, length);
		return True;
	case INSN_XEND:
		emit_xend(b, addr, length);
		return True;
	case INSN_XTEST:
		emit_xtest(b, addr, length);
		return True;
	case INSN_XABORT:
		if (b->tracked)
			block_call(b, "help_xabort", help_xabort,
				   mkIRExprVec_2(const64(*(const UChar *)(addr + 2)),
						 const64(addr)),
				   block_guarded(b, NULL));
		return False;
	default:
		rewrite_other(b, addr, size);
		return False;
	}
}
