// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * loads.c - the loads of a block, including those with unused values.
 *
 * VEX leaves out a load if the program overwrites the register before anything reads it. A compiler
 * that unrolls a loop of such loads makes most of them disappear: gcc 14 does where gcc 12 does not.
 * On a processor each is an access: it takes time, enters a transaction's read set, and aborts other
 * transactions. So, before VEX's optimiser runs, each load gets a note of its address and size, which
 * the optimiser keeps like a hint about the program's ABI:
 *
 *   from VEX                          to the optimiser           from it, if t2 is not used
 *   PUT(rcx) = 8Uto64(LDle:I8(t1))    AbiHint(t1, 1, NOTE)       AbiHint(t1, 1, NOTE)
 *                                     t2 = LDle:I8(t1)
 *                                     PUT(rcx) = 8Uto64(t2)
 *
 * instrument.c takes the access from the note. Must never change what a block does.
 */
#include "loads.h"
#include "libvex.h"

/* Marks a note: no address of an instruction, as it is not canonical. */
#define NOTE 0x4e4f544500000000UL

typedef IRExpr *(*specialise_fn)(const HChar *, IRExpr **, IRStmt **, Int);
typedef Bool (*precise_fn)(Int, Int, VexRegisterUpdates);

/* The optimiser, not in VEX's installed headers. The linker gives these names. */
IRSB *__real_do_iropt_BB(IRSB *block, specialise_fn specialise, precise_fn precise,
			 VexRegisterUpdates updates, Addr addr, VexArch arch);
IRSB *__wrap_do_iropt_BB(IRSB *block, specialise_fn specialise, precise_fn precise,
			 VexRegisterUpdates updates, Addr addr, VexArch arch);

static IRExpr *to_temp(IRSB *out, IRExpr *e)
{
	IRTemp t = newIRTemp(out->tyenv, typeOfIRExpr(out->tyenv, e));

	addStmtToIRSB(out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *hoist(IRSB *out, IRExpr *e);

/* Puts a note in front of a load. Return: the load, of an atom. */
static IRExpr *note_load(IRSB *out, const IRExpr *load)
{
	IRExpr *addr = hoist(out, load->Iex.Load.addr);

	if (!isIRAtom(addr))
		addr = to_temp(out, addr);
	addStmtToIRSB(out, IRStmt_AbiHint(addr, sizeofIRType(load->Iex.Load.ty),
					  IRExpr_Const(IRConst_U64(NOTE))));
	return IRExpr_Load(load->Iex.Load.end, load->Iex.Load.ty, addr);
}

/*
 * Puts the loads of an expression, with their notes, in front of the statement that it belongs to.
 * Return: the expression without loads.
 */
static IRExpr *hoist(IRSB *out, IRExpr *e)
{
	IRExpr *a, *b;

	switch (e->tag) {
	case Iex_Load:
		return to_temp(out, note_load(out, e));
	case Iex_Unop:
		a = hoist(out, e->Iex.Unop.arg);
		return a == e->Iex.Unop.arg ? e : IRExpr_Unop(e->Iex.Unop.op, a);
	case Iex_Binop:
		a = hoist(out, e->Iex.Binop.arg1);
		b = hoist(out, e->Iex.Binop.arg2);
		return a == e->Iex.Binop.arg1 && b == e->Iex.Binop.arg2 ?
			       e : IRExpr_Binop(e->Iex.Binop.op, a, b);
	case Iex_Triop: {
		const IRTriop *op = e->Iex.Triop.details;

		a = hoist(out, op->arg1);
		b = hoist(out, op->arg2);
		return IRExpr_Triop(op->op, a, b, hoist(out, op->arg3));
	}
	case Iex_ITE:
		a = hoist(out, e->Iex.ITE.cond);
		b = hoist(out, e->Iex.ITE.iftrue);
		return IRExpr_ITE(a, b, hoist(out, e->Iex.ITE.iffalse));
	default:
		return e;
	}
}

/* Adds a statement, after the loads in it. Other kinds of loads get no notes. */
static void add(IRSB *out, IRStmt *stmt)
{
	IRExpr *data;

	switch (stmt->tag) {
	case Ist_WrTmp:
		data = stmt->Ist.WrTmp.data;
		data = data->tag == Iex_Load ? note_load(out, data) : hoist(out, data);
		stmt = IRStmt_WrTmp(stmt->Ist.WrTmp.tmp, data);
		break;
	case Ist_Put:
		stmt = IRStmt_Put(stmt->Ist.Put.offset, hoist(out, stmt->Ist.Put.data));
		break;
	case Ist_Store: {
		IRExpr *addr = hoist(out, stmt->Ist.Store.addr);

		stmt = IRStmt_Store(stmt->Ist.Store.end, addr, hoist(out, stmt->Ist.Store.data));
		break;
	}
	default:
		break;
	}
	addStmtToIRSB(out, stmt);
}

/* Called for every block after VEX has decoded it. */
IRSB *__wrap_do_iropt_BB(IRSB *block, specialise_fn specialise, precise_fn precise,
			 VexRegisterUpdates updates, Addr addr, VexArch arch)
{
	IRSB *out = deepCopyIRSBExceptStmts(block);
	Int i;

	for (i = 0; i < block->stmts_used; i++)
		add(out, block->stmts[i]);
	return __real_do_iropt_BB(out, specialise, precise, updates, addr, arch);
}

/**
 * loads_is_note() - is this statement a note of a load?
 * @stmt: a statement of a block that VEX has optimised
 */
Bool loads_is_note(const IRStmt *stmt)
{
	const IRExpr *mark;

	if (stmt->tag != Ist_AbiHint)
		return False;
	mark = stmt->Ist.AbiHint.nia;
	return mark->tag == Iex_Const && mark->Iex.Const.con->Ico.U64 == NOTE;
}

/**
 * loads_read() - the access by which a statement reads memory unconditionally.
 * @stmt: one of its statements, which are passed in order
 * @noted: the address in a note whose load is still to come; NULL at the first statement
 * @addr: is set to the address that is read
 *
 * Return: the size of the access, bytes; 0 if there is none, or if the load's note was it.
 */
Int loads_read(const IRStmt *stmt, const IRExpr **noted, IRExpr **addr)
{
	const IRExpr *load;

	if (loads_is_note(stmt)) {
		*noted = stmt->Ist.AbiHint.base;
		*addr = stmt->Ist.AbiHint.base;
		return stmt->Ist.AbiHint.len;
	}
	if (stmt->tag != Ist_WrTmp || stmt->Ist.WrTmp.data->tag != Iex_Load)
		return 0;
	load = stmt->Ist.WrTmp.data;
	if (*noted && isIRAtom(load->Iex.Load.addr) && eqIRAtom(*noted, load->Iex.Load.addr)) {
		*noted = NULL;
		return 0;
	}
	*addr = load->Iex.Load.addr;
	return sizeofIRType(load->Iex.Load.ty);
}
