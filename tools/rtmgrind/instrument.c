// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * instrument.c - rewrites each translated block of guest code.
 *
 * Every block has two translations. The plain one counts its instructions
 * down from the running slice and looks at no memory access. If the slice ends
 * with it, or a transaction is open anywhere, it gives way to the tracked one
 * before it has done anything. That one does everything: it ends the slice,
 * and every memory access calls txn_access() while a transaction is open. It
 * goes on to plain blocks, as the state may have changed. A plain block is
 * only ever executed while no transaction is open: XBEGIN ends its block.
 *
 * The RTM instructions, which valgrind translates as a processor would whose
 * transactions always abort, are recognised by their bytes:
 *
 *   XBEGIN  ends the block; next address from a helper
 *   XEND    likewise; raises SIGSEGV outside a transaction
 *   XABORT  a helper that does not return if a transaction is open
 *   XTEST   sets the flags, and ends the block: valgrind has folded its
 *           constant answer into what follows
 *
 * Must never emit a helper that could abort between two writes of one guest
 * instruction to the guest's registers.
 */
#include "rtmgrind.h"
#include "cost.h"

enum rtm_insn { INSN_OTHER, INSN_XBEGIN, INSN_XEND, INSN_XABORT, INSN_XTEST };

/* Accesses of a block that are remembered; few blocks have more. */
#define MAX_SEEN 32

#define OFFSET(reg) ((Int)offsetof(VexGuestAMD64State, guest_##reg))

/**
 * struct block - the block being rewritten.
 * @out: what is emitted
 * @tracked: it is the tracked translation
 * @guard: 1-bit temporary: a transaction is open; only in a tracked block
 * @nr_accesses: memory accesses so far
 * @pc: the guest instruction being rewritten
 * @seen: unconditional accesses so far, the first of them
 * @nr_seen: how many
 */
struct block {
	IRSB *out;
	Bool tracked;
	IRTemp guard;
	Int nr_accesses;
	Addr pc;
	struct {
		IRTemp addr;
		Int size;
		Bool write;
	} seen[MAX_SEEN];
	Int nr_seen;
};

static IRExpr *const64(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *assign(struct block *b, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *load64(struct block *b, const void *addr)
{
	return assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, const64((Addr)addr)));
}

/* A transaction is open and, unless it is NULL, @condition holds. */
static IRExpr *guarded(struct block *b, IRExpr *condition)
{
	IRExpr *guard = IRExpr_RdTmp(b->guard);

	if (!condition)
		return guard;
	return assign(b, Ity_I1, IRExpr_Binop(Iop_And1, guard, condition));
}

static void put(struct block *b, Int offset, IRExpr *value)
{
	addStmtToIRSB(b->out, IRStmt_Put(offset, value));
}

/* The helper may read and write every guest register. */
static void uses_registers(IRDirty *call, Int offset, Int size)
{
	call->nFxState = 1;
	call->fxState[0].fx = Ifx_Modify;
	call->fxState[0].offset = offset;
	call->fxState[0].size = size;
	call->fxState[0].nRepeats = 0;
	call->fxState[0].repeatLen = 0;
}

static void uses_all_registers(IRDirty *call)
{
	uses_registers(call, 0, sizeof(VexGuestAMD64State));
}

/* A call without result, made if @condition (NULL: always). */
static IRDirty *emit_call(struct block *b, const HChar *name, void *helper, IRExpr **args,
			  IRExpr *condition)
{
	IRDirty *call = unsafeIRDirty_0_N(0, name, helper, args);

	if (condition)
		call->guard = condition;
	addStmtToIRSB(b->out, IRStmt_Dirty(call));
	return call;
}

/* A call that may change all registers and returns a word. */
static IRExpr *emit_query(struct block *b, const HChar *name, void *helper, IRExpr **args)
{
	IRTemp result = newIRTemp(b->out->tyenv, Ity_I64);
	IRDirty *call = unsafeIRDirty_1_N(result, 0, name, helper, args);

	uses_all_registers(call);
	addStmtToIRSB(b->out, IRStmt_Dirty(call));
	return IRExpr_RdTmp(result);
}

/* Size and instruction of an access in one word: user addresses have 47 bits. */
#define PACK_SHIFT 48
#define pack(pc, size) ((pc) | (ULong)(size) << PACK_SHIFT)

static VG_REGPARM(2) void help_read(Addr addr, UWord packed)
{
	current_pc = packed & ((1UL << PACK_SHIFT) - 1);
	txn_access(current_tid, addr, packed >> PACK_SHIFT, False);
}

static VG_REGPARM(2) void help_write(Addr addr, UWord packed)
{
	current_pc = packed & ((1UL << PACK_SHIFT) - 1);
	txn_access(current_tid, addr, packed >> PACK_SHIFT, True);
}

static VG_REGPARM(1) void help_end_slice(VexGuestAMD64State *guest)
{
	sched_end_slice(guest);
}

static void help_xabort(ULong code, Addr pc)
{
	current_pc = pc;
	txn_xabort(code);
}

static void help_abort(ULong cause, Addr pc)
{
	current_pc = pc;
	txn_abort_self(cause, -1);
}

/* Last thread's core to have done an atomic access, by line; direct-mapped. */
#define NR_OWNERS 4096
static struct {
	Addr line;
	Int core;
} owners[NR_OWNERS];

static VG_REGPARM(1) void help_atomic(Addr addr)
{
	UInt slot = addr / LINE_SIZE % NR_OWNERS;
	Int core = current_vthread()->core;

	if (!in_region)
		return;
	charge(COST_ATOMIC);
	if (owners[slot].line == line_of(addr) && owners[slot].core != core)
		charge(COST_LINE_TRANSFER);
	owners[slot].line = line_of(addr);
	owners[slot].core = core;
}

static void emit_abort(struct block *b, enum rtmgrind_cause cause, IRExpr *condition)
{
	IRExpr *when;

	if (!b->tracked)
		return;
	when = guarded(b, condition);
	emit_call(b, "help_abort", help_abort, mkIRExprVec_2(const64(cause), const64(b->pc)),
		  when);
}

/*
 * Nobody else runs in the middle of a block, so an access to what the block
 * has accessed already changes nothing. Remembers it if it is new.
 */
static Bool is_repeated(struct block *b, Bool write, const IRExpr *addr, Int size)
{
	Int i;

	if (addr->tag != Iex_RdTmp)
		return False;
	for (i = 0; i < b->nr_seen; i++)
		if (b->seen[i].addr == addr->Iex.RdTmp.tmp && b->seen[i].size >= size &&
		    b->seen[i].write >= write)
			return True;
	if (b->nr_seen < MAX_SEEN) {
		b->seen[b->nr_seen].addr = addr->Iex.RdTmp.tmp;
		b->seen[b->nr_seen].size = size;
		b->seen[b->nr_seen++].write = write;
	}
	return False;
}

static void emit_access(struct block *b, Bool write, IRExpr *addr, Int size, IRExpr *condition)
{
	IRExpr *when;

	b->nr_accesses++;
	if (!b->tracked || (!condition && is_repeated(b, write, addr, size)))
		return;
	when = guarded(b, condition);
	if (!isIRAtom(addr))
		addr = assign(b, Ity_I64, addr);
	emit_call(b, write ? "help_write" : "help_read", write ? help_write : help_read,
		  mkIRExprVec_2(addr, const64(pack(b->pc, size))), when);
}

static IRExpr *slice_left_after(struct block *b, Int cycles)
{
	return assign(b, Ity_I64,
		      IRExpr_Binop(Iop_Sub64, load64(b, &slice_left), const64(cycles)));
}

static void store_slice_left(struct block *b, IRExpr *left)
{
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, const64((Addr)&slice_left), left));
}

/* In a tracked block, or at the end of a plain one, where the block cannot give way any more. */
static void emit_charge(struct block *b, Int cycles)
{
	IRExpr *left = slice_left_after(b, cycles);
	IRExpr *over;

	store_slice_left(b, left);
	over = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64S, left, load64(b, &slice_bias)));
	uses_registers(emit_call(b, "help_end_slice", help_end_slice,
				 mkIRExprVec_1(IRExpr_GSPTR()), over),
		       offsetof(VexGuestAMD64State, host_EvC_COUNTER), sizeof(UInt));
}

/* At the beginning of a plain block at @addr: charge it, or give way to the tracked one. */
static void begin_plain(struct block *b, Addr addr, Int cycles)
{
	IRExpr *left = slice_left_after(b, cycles);
	IRExpr *gives_way = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64S, left, const64(0)));

	addStmtToIRSB(b->out, IRStmt_Exit(gives_way, Ijk_Boring,
					  IRConst_U64(core_tracked_addr(addr)), OFFSET(RIP)));
	store_slice_left(b, left);
}

static void begin_tracked(struct block *b, Addr addr, Int cycles)
{
	/* Until now it holds core_tracked_addr(). */
	put(b, OFFSET(RIP), const64(addr));
	b->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, load64(b, &txn_nr_open),
						  const64(0)))->Iex.RdTmp.tmp;
	emit_charge(b, cycles);
}

static void end_block(struct block *b, IRExpr *next)
{
	b->out->next = next;
	b->out->jumpkind = Ijk_Boring;
	b->out->offsIP = OFFSET(RIP);
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

static void emit_xbegin(struct block *b, Addr addr, Int length)
{
	Long offset = length == 6 ? *(const Int *)(addr + 2) : *(const Short *)(addr + 3);
	Addr next = addr + length;

	end_block(b, emit_query(b, "txn_begin", txn_begin,
				mkIRExprVec_3(IRExpr_GSPTR(), const64(next + offset),
					      const64(next))));
}

static void emit_xend(struct block *b, Addr addr, Int length)
{
	IRExpr *next = emit_query(b, "txn_end", txn_end, mkIRExprVec_1(const64(addr + length)));
	IRExpr *fault = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, next, const64(0)));

	addStmtToIRSB(b->out, IRStmt_Exit(fault, Ijk_SigSEGV, IRConst_U64(addr), OFFSET(RIP)));
	end_block(b, next);
}

static void emit_xtest(struct block *b, Addr addr, Int length)
{
	IRExpr *flags = emit_query(b, "txn_test", txn_test, mkIRExprVec_0());

	/* CC_OP 0 (copy): CC_DEP1 holds the flags themselves. */
	put(b, OFFSET(CC_OP), const64(0));
	put(b, OFFSET(CC_DEP1), flags);
	put(b, OFFSET(CC_DEP2), const64(0));
	put(b, OFFSET(CC_NDEP), const64(0));
	end_block(b, const64(addr + length));
}

/* Return: True if the block ends here. */
static Bool rewrite_insn(struct block *b, IRStmt *mark)
{
	Addr addr = mark->Ist.IMark.addr;
	Int length = 0;
	enum rtm_insn insn = recognise(addr, &length);

	if (opt.block_accesses && b->nr_accesses >= opt.block_accesses) {
		end_block(b, const64(addr));
		return True;
	}
	b->pc = addr;
	addStmtToIRSB(b->out, mark);
	switch (insn) {
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
			emit_call(b, "help_xabort", help_xabort,
				  mkIRExprVec_2(const64(*(const UChar *)(addr + 2)),
						const64(addr)),
				  guarded(b, NULL));
		return False;
	default:
		return False;
	}
}

static Bool is_helper(const IRDirty *call, const HChar *name)
{
	return VG_(strcmp)(call->cee->name, name) == 0;
}

/* A helper of VEX: an instruction too big to be expressed otherwise. */
static void rewrite_dirty(struct block *b, IRStmt *stmt)
{
	IRDirty *call = stmt->Ist.Dirty.details;
	IRExpr *condition = call->guard->tag == Iex_RdTmp ? call->guard : NULL;
	Bool cpuid = VG_(strncmp)(call->cee->name, "amd64g_dirtyhelper_CPUID", 24) == 0;

	if (is_helper(call, "amd64g_dirtyhelper_RDTSC"))
		call->cee->addr = machine_rdtsc;
	if (is_helper(call, "amd64g_dirtyhelper_RDTSCP"))
		call->cee->addr = machine_rdtscp;
	if (cpuid)
		uses_all_registers(emit_call(b, "machine_cpuid_enter", machine_cpuid_enter,
					     mkIRExprVec_1(IRExpr_GSPTR()), NULL));
	if (call->mFx == Ifx_Read || call->mFx == Ifx_Modify)
		emit_access(b, False, call->mAddr, call->mSize, condition);
	if (call->mFx == Ifx_Write || call->mFx == Ifx_Modify)
		emit_access(b, True, call->mAddr, call->mSize, condition);
	addStmtToIRSB(b->out, stmt);
	if (cpuid)
		uses_all_registers(emit_call(b, "machine_cpuid_leave", machine_cpuid_leave,
					     mkIRExprVec_1(IRExpr_GSPTR()), NULL));
}

static void rewrite_cas(struct block *b, const IRStmt *stmt)
{
	const IRCAS *cas = stmt->Ist.CAS.details;
	Int size = sizeofIRType(typeOfIRExpr(b->out->tyenv, cas->dataLo));

	emit_access(b, True, cas->addr, cas->dataHi ? 2 * size : size, NULL);
	emit_call(b, "help_atomic", help_atomic, mkIRExprVec_1(cas->addr), NULL);
}

/* Announces the statement's memory accesses, then emits it. */
static void rewrite_stmt(struct block *b, IRStmt *stmt)
{
	IRTypeEnv *types = b->out->tyenv;
	IRType loaded, widened;

	switch (stmt->tag) {
	case Ist_WrTmp: {
		IRExpr *data = stmt->Ist.WrTmp.data;

		if (data->tag == Iex_Load)
			emit_access(b, False, data->Iex.Load.addr, sizeofIRType(data->Iex.Load.ty),
				    NULL);
		break;
	}
	case Ist_Store:
		emit_access(b, True, stmt->Ist.Store.addr,
			    sizeofIRType(typeOfIRExpr(types, stmt->Ist.Store.data)), NULL);
		break;
	case Ist_StoreG: {
		IRStoreG *store = stmt->Ist.StoreG.details;

		emit_access(b, True, store->addr, sizeofIRType(typeOfIRExpr(types, store->data)),
			    store->guard);
		break;
	}
	case Ist_LoadG: {
		IRLoadG *load = stmt->Ist.LoadG.details;

		typeOfIRLoadGOp(load->cvt, &widened, &loaded);
		emit_access(b, False, load->addr, sizeofIRType(loaded), load->guard);
		break;
	}
	case Ist_CAS:
		rewrite_cas(b, stmt);
		break;
	case Ist_Dirty:
		rewrite_dirty(b, stmt);
		return;
	case Ist_Exit: {
		IRJumpKind kind = stmt->Ist.Exit.jk;

		/* Any other exit raises a signal or asks the core for something. */
		if (kind != Ijk_Boring && kind != Ijk_Call && kind != Ijk_Ret)
			emit_abort(b, RTMGRIND_CAUSE_FAULT, stmt->Ist.Exit.guard);
		break;
	}
	default:
		break;
	}
	addStmtToIRSB(b->out, stmt);
}

/* In front of a system call; afterwards the block goes on, stays, or lets valgrind act. */
static void emit_syscall(struct block *b, const IRSB *in)
{
	IRExpr *verdict = emit_query(b, "syscall_enter", syscall_enter,
				     mkIRExprVec_1(IRExpr_GSPTR()));
	Addr behind = in->next->Iex.Const.con->Ico.U64;
	IRExpr *is_wait = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, verdict,
							 const64(SYSCALL_WAIT)));
	IRExpr *is_done = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, verdict,
							 const64(SYSCALL_DONE)));

	addStmtToIRSB(b->out,
		      IRStmt_Exit(is_wait, Ijk_Boring, IRConst_U64(behind - SYSCALL_INSN_SIZE), OFFSET(RIP)));
	addStmtToIRSB(b->out, IRStmt_Exit(is_done, Ijk_Boring, IRConst_U64(behind), OFFSET(RIP)));
}

static void emit_end(struct block *b, const IRSB *in)
{
	switch (in->jumpkind) {
	case Ijk_Sys_syscall:
		tl_assert(in->next->tag == Iex_Const);
		emit_syscall(b, in);
		break;
	case Ijk_Yield: /* PAUSE */
		emit_abort(b, RTMGRIND_CAUSE_INSTRUCTION, NULL);
		emit_charge(b, COST_PAUSE);
		break;
	case Ijk_SigILL:
	case Ijk_SigTRAP:
	case Ijk_SigSEGV:
	case Ijk_SigBUS:
	case Ijk_SigFPE:
	case Ijk_SigFPE_IntDiv:
	case Ijk_SigFPE_IntOvf:
	case Ijk_NoDecode:
	case Ijk_EmFail:
	case Ijk_Sys_int128:
		emit_abort(b, RTMGRIND_CAUSE_FAULT, NULL);
		break;
	default:
		break;
	}
}

/* What the block costs before anything happens in it: a cycle per instruction, and fences. */
static Int static_cost(const IRSB *in, Int first)
{
	Int i, cost = 0, accesses = 0;

	for (i = first; i < in->stmts_used; i++) {
		const IRStmt *stmt = in->stmts[i];
		Int length;

		switch (stmt->tag) {
		case Ist_IMark:
			if (opt.block_accesses && accesses >= opt.block_accesses)
				return cost;
			cost++;
			switch (recognise(stmt->Ist.IMark.addr, &length)) {
			case INSN_XBEGIN:
			case INSN_XEND:
			case INSN_XTEST:
				return cost;
			default:
				break;
			}
			break;
		case Ist_MBE:
			cost += stmt->Ist.MBE.event == Imbe_Fence ? COST_FENCE : 0;
			break;
		case Ist_Store:
		case Ist_StoreG:
		case Ist_LoadG:
		case Ist_CAS:
			accesses++;
			break;
		case Ist_WrTmp:
			accesses += stmt->Ist.WrTmp.data->tag == Iex_Load;
			break;
		default:
			break;
		}
	}
	return cost;
}

/**
 * instrument() - rewrite a block; see struct VgToolInterface in valgrind's headers.
 * @closure: unused
 * @in: the block
 * @layout: unused
 * @extents: unused
 * @arch: unused
 * @guest_word: unused
 * @host_word: unused
 *
 * Return: the new block.
 */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word)
{
	struct block b = {.out = deepCopyIRSBExceptStmts(in), .tracked = core_tracked};
	Int i = 0;

	/* The preamble is valgrind's own. */
	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		addStmtToIRSB(b.out, in->stmts[i++]);

	/* Not the first mark's address, which differs where valgrind redirects a function. */
	if (b.tracked)
		begin_tracked(&b, closure->nraddr, static_cost(in, i));
	else
		begin_plain(&b, closure->nraddr, static_cost(in, i));
	for (; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag != Ist_IMark)
			rewrite_stmt(&b, in->stmts[i]);
		else if (rewrite_insn(&b, in->stmts[i]))
			return b.out;
	}
	emit_end(&b, in);
	return b.out;
}
