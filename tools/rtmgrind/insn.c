// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insn.c - the RTM instructions: recognised by their bytes, replaced by calls of txn.c.
 *
 * Valgrind translates them as a processor would whose transactions always
 * abort. Here
 *
 *   XBEGIN  ends the block; next address from a helper
 *   XEND    likewise; raises SIGSEGV outside a transaction
 *   XABORT  a helper that does not return if a transaction is open
 *   XTEST   sets the flags, and ends the block: valgrind has folded its
 *           constant answer into what follows
 *
 * Must never replace anything with --rtm=no.
 */
#include "block.h"

enum rtm_insn { INSN_OTHER, INSN_XBEGIN, INSN_XEND, INSN_XABORT, INSN_XTEST };

static void help_xabort(ULong code, Addr pc)
{
	current_pc = pc;
	txn_xabort(code);
}

static enum rtm_insn recognise(Addr addr, Int *length)
{
	const UChar *code = (const UChar *)addr;

	if (!opt.rtm)
		return INSN_OTHER;
	*length = 3;
	if (code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xd5)
		return INSN_XEND;
	if (code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xd6)
		return INSN_XTEST;
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

/**
 * insn_needs_exact_registers() - does a block hold an instruction that we replace?
 * @extents: the guest code of the block
 *
 * Return: True if it may; operands that look like one count.
 */
Bool insn_needs_exact_registers(const VexGuestExtents *extents)
{
	UInt i, at;

	for (i = 0; i < extents->n_used; i++) {
		const UChar *code = (const UChar *)extents->base[i];

		for (at = 0; at + 1 < extents->len[i]; at++) {
			Int length;

			/* CPUID (0F A2) too */
			if ((code[at] == 0x0f && code[at + 1] == 0xa2) ||
			    recognise((Addr)&code[at], &length) != INSN_OTHER)
				return True;
		}
	}
	return False;
}

/**
 * insn_ends_block() - is it an instruction behind which a new block begins?
 * @addr: the instruction
 *
 * Return: True if so.
 */
Bool insn_ends_block(Addr addr)
{
	Int length;
	enum rtm_insn insn = recognise(addr, &length);

	return insn == INSN_XBEGIN || insn == INSN_XEND || insn == INSN_XTEST;
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

	/* CC_OP 0 (copy): CC_DEP1 holds the flags themselves. */
	block_put(b, OFFSET(CC_OP), const64(0));
	block_put(b, OFFSET(CC_DEP1), flags);
	block_put(b, OFFSET(CC_DEP2), const64(0));
	block_put(b, OFFSET(CC_NDEP), const64(0));
	block_end(b, const64(addr + length));
}

/**
 * insn_rewrite() - replace an instruction if it is one of ours.
 * @b: the block
 * @addr: the instruction
 *
 * Return: True if the block ends here.
 */
Bool insn_rewrite(struct block *b, Addr addr)
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
		return False;
	}
}
