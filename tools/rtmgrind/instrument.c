// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * instrument.c - rewrites each translated block of guest code.
 *
 * Each block has two translations. The plain one takes the number of its instructions off the
 * running slice, and its memory accesses call no helper. If the slice would end in it, or accesses
 * must be tracked (see account_track()), it switches to the tracked translation before it has
 * changed anything. The tracked one ends the slice, and each of its memory accesses calls a helper
 * while a transaction is open, or, on a machine with caches, if it does not pass the filter.
 * Plain blocks follow it, as a transaction may have ended meanwhile, on a machine with
 * caches tracked ones. A plain block runs only while no transaction is open: XBEGIN ends its
 * block.
 *
 * Must never emit a helper that could abort between two writes of one guest instruction to the
 * guest's registers.
 */
#include "instrument.h"
#include "access.h"
#include "account.h"
#include "block.h"
#include "core-hooks.h"
#include "filter.h"
#include "guest.h"
#include "hle.h"
#include "insn.h"
#include "libcall.h"
#include "loads.h"
#include "machine.h"
#include "model.h"
#include "options.h"
#include "startup.h"
#include "stores.h"
#include "syscalls.h"
#include "txn.h"
#include "vthread.h"

/* The size of an access and the address of its instruction, which has 47 bits, in one word. */
#define PACK_SHIFT 48
#define pack(pc, size) ((pc) | (ULong)(size) << PACK_SHIFT)

static VG_REGPARM(2) void help_read(Addr addr, UWord packed)
{
	current_pc = packed & ((1UL << PACK_SHIFT) - 1);
	access_direct(current_tid, addr, packed >> PACK_SHIFT, False);
}

static VG_REGPARM(2) void help_write(Addr addr, UWord packed)
{
	current_pc = packed & ((1UL << PACK_SHIFT) - 1);
	access_direct(current_tid, addr, packed >> PACK_SHIFT, True);
}

static VG_REGPARM(2) void help_own_store(Addr addr, UWord packed)
{
	stores_check(packed & ((1UL << PACK_SHIFT) - 1), addr, packed >> PACK_SHIFT);
}

/* An access on a machine with caches that did not pass filter_entries. */
static void access_miss(Addr addr, UWord packed, Bool write)
{
	SizeT size = packed >> PACK_SHIFT;

	current_pc = packed & ((1UL << PACK_SHIFT) - 1);
	if (filter_passes(addr, size, write))
		access_again(addr, size, write);
	else
		access_cached(addr, size, write);
}

static VG_REGPARM(2) void help_read_miss(Addr addr, UWord packed)
{
	access_miss(addr, packed, False);
}

static VG_REGPARM(2) void help_write_miss(Addr addr, UWord packed)
{
	access_miss(addr, packed, True);
}

static void help_fault(ULong signal, Addr pc)
{
	/* A general protection fault has no address; other faults have that of the instruction. */
	Addr addr = signal == VKI_SIGSEGV || signal == VKI_SIGBUS ? 0 : pc;

	current_pc = pc;
	txn_abort_fault(signal, addr);
}

/* The core of the last atomic access to a line, for the last NR_OWNERS lines; direct-mapped. */
#define NR_OWNERS 4096
static struct {
	Addr line;
	Int core;
} owners[NR_OWNERS];

static VG_REGPARM(1) void help_atomic(Addr addr)
{
	UInt slot = addr / LINE_SIZE % NR_OWNERS;
	Int core = current_vthread()->core;

	if (!account_costs() || hle_elides)
		return;
	charge(model.atomic);
	if (model.caches)
		return;
	if (owners[slot].line == line_of(addr) && owners[slot].core != core)
		charge(model.transfer);
	owners[slot].line = line_of(addr);
	owners[slot].core = core;
}

/* The signal that Valgrind's core raises where a block ends in such a jump, 0 none. */
static Int signal_of(IRJumpKind kind)
{
	switch (kind) {
	case Ijk_SigILL:
	case Ijk_NoDecode:
		return VKI_SIGILL;
	case Ijk_SigTRAP:
		return VKI_SIGTRAP;
	case Ijk_SigSEGV:
		return VKI_SIGSEGV;
	case Ijk_SigBUS:
		return VKI_SIGBUS;
	case Ijk_SigFPE:
	case Ijk_SigFPE_IntDiv:
	case Ijk_SigFPE_IntOvf:
		return VKI_SIGFPE;
	default:
		return 0;
	}
}

static void emit_fault(struct block *b, IRJumpKind kind, IRExpr *condition)
{
	IRExpr *when;

	if (!b->tracked)
		return;
	when = block_guarded(b, condition);
	block_call(b, "help_fault", help_fault,
		   mkIRExprVec_2(const64(signal_of(kind)), const64(b->pc)), when);
}

/*
 * Whether the block has accessed the same bytes in the same way before. Without caches no other
 * thread runs in the middle of a block, so such an access needs no helper. A new access is
 * remembered.
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
	if (b->hint != HLE_NONE && write) {
		insn_write(b, addr, size);
		return;
	}
	if (!b->tracked)
		return;
	if (!isIRAtom(addr))
		addr = block_assign(b, Ity_I64, addr);
	if (opt.own_stores && write)
		block_call(b, "help_own_store", help_own_store,
			   mkIRExprVec_2(addr, const64(pack(b->pc, size))), block_guarded(b, condition));
	if (!model.caches && !condition && is_repeated(b, write, addr, size))
		return;
	if (model.caches) {
		when = block_filter_miss(b, addr, size, write, condition);
		block_call(b, write ? "help_write_miss" : "help_read_miss",
			   write ? help_write_miss : help_read_miss,
			   mkIRExprVec_2(addr, const64(pack(b->pc, size))), when);
		return;
	}
	when = block_guarded(b, condition);
	block_call(b, write ? "help_write" : "help_read", write ? help_write : help_read,
		   mkIRExprVec_2(addr, const64(pack(b->pc, size))), when);
}

/* Rewrites the beginning of an instruction. Return: True if the block ends here. */
static Bool rewrite_insn(struct block *b, IRStmt *mark)
{
	Addr addr = mark->Ist.IMark.addr;

	if (insn_finish(b) || (b->pc && insn_begins_block(addr)) ||
	    (opt.block_accesses && b->nr_accesses >= opt.block_accesses)) {
		block_end(b, const64(addr));
		return True;
	}
	b->pc = addr;
	addStmtToIRSB(b->out, mark);
	startup_emit_insn(b, addr);
	libcall_emit_insn(b, addr);
	return insn_rewrite(b, addr, mark->Ist.IMark.len);
}

static Bool is_helper(const IRDirty *call, const HChar *name)
{
	return VG_(strcmp)(call->cee->name, name) == 0;
}

/* Rewrites the call of a helper of VEX, which executes an instruction that its code cannot. */
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
		block_uses_registers(block_call(b, "machine_cpuid_enter", machine_cpuid_enter,
						mkIRExprVec_1(IRExpr_GSPTR()), NULL));
	if (call->mFx == Ifx_Read || call->mFx == Ifx_Modify)
		emit_access(b, False, call->mAddr, call->mSize, condition);
	if (call->mFx == Ifx_Write || call->mFx == Ifx_Modify)
		emit_access(b, True, call->mAddr, call->mSize, condition);
	addStmtToIRSB(b->out, stmt);
	if (cpuid)
		block_uses_registers(block_call(b, "machine_cpuid_leave", machine_cpuid_leave,
						mkIRExprVec_1(IRExpr_GSPTR()), NULL));
}

static void rewrite_cas(struct block *b, const IRStmt *stmt)
{
	const IRCAS *cas = stmt->Ist.CAS.details;
	Int size = sizeofIRType(typeOfIRExpr(b->out->tyenv, cas->dataLo));

	emit_access(b, True, cas->addr, cas->dataHi ? 2 * size : size, NULL);
	block_call(b, "help_atomic", help_atomic, mkIRExprVec_1(cas->addr), NULL);
}

/* Emits a statement, after the helpers for its memory accesses. */
static void rewrite_stmt(struct block *b, IRStmt *stmt)
{
	IRTypeEnv *types = b->out->tyenv;
	IRType loaded, widened;
	IRExpr *addr;
	Int size;

	size = loads_read(stmt, &b->noted, &addr);
	if (size)
		emit_access(b, False, addr, size, NULL);
	if (loads_is_note(stmt))
		return;
	switch (stmt->tag) {
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

		/* Any other exit raises a signal, or needs Valgrind's core. */
		if (kind != Ijk_Boring && kind != Ijk_Call && kind != Ijk_Ret)
			emit_fault(b, kind, stmt->Ist.Exit.guard);
		stmt = block_tracked_exit(b, stmt);
		break;
	}
	default:
		break;
	}
	addStmtToIRSB(b->out, stmt);
}

/*
 * Emits the call of syscall_enter() in front of a system call. Its verdict decides whether the
 * thread goes on after the call, stays in front of it, or lets Valgrind carry it out.
 */
static void emit_syscall(struct block *b, const IRSB *in)
{
	IRExpr *verdict = block_query(b, "syscall_enter", syscall_enter,
				     mkIRExprVec_1(IRExpr_GSPTR()));
	Addr behind = in->next->Iex.Const.con->Ico.U64;
	IRExpr *is_wait = block_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, verdict,
							 const64(SYSCALL_WAIT)));
	IRExpr *is_done = block_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, verdict,
							 const64(SYSCALL_DONE)));

	addStmtToIRSB(b->out,
		      IRStmt_Exit(is_wait, Ijk_Boring, IRConst_U64(behind - SYSCALL_INSN_SIZE),
				  OFFSET(RIP)));
	addStmtToIRSB(b->out, IRStmt_Exit(is_done, Ijk_Boring, IRConst_U64(behind), OFFSET(RIP)));
}

static void emit_end(struct block *b, const IRSB *in)
{
	block_stay_tracked(b);
	switch (in->jumpkind) {
	case Ijk_Sys_syscall:
		tl_assert(in->next->tag == Iex_Const);
		emit_syscall(b, in);
		break;
	case Ijk_Yield: /* PAUSE */
		block_charge(b, model_insns(model.pause));
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
		emit_fault(b, in->jumpkind, NULL);
		break;
	default:
		break;
	}
}

/* The time that a block takes off the slice at its beginning, in instructions: these and fences. */
static Int static_cost(const IRSB *in, Int first)
{
	Int i, cost = 0, accesses = 0;
	const IRExpr *noted = NULL;
	IRExpr *addr;

	for (i = first; i < in->stmts_used; i++) {
		const IRStmt *stmt = in->stmts[i];

		accesses += loads_read(stmt, &noted, &addr) != 0;
		switch (stmt->tag) {
		case Ist_IMark:
			if (opt.block_accesses && accesses >= opt.block_accesses)
				return cost;
			if (cost && insn_begins_block(stmt->Ist.IMark.addr))
				return cost;
			cost++;
			if (insn_ends_block(stmt->Ist.IMark.addr))
				return cost;
			break;
		case Ist_MBE:
			cost += stmt->Ist.MBE.event == Imbe_Fence ? model_insns(model.fence) : 0;
			break;
		case Ist_Store:
		case Ist_StoreG:
		case Ist_LoadG:
		case Ist_CAS:
			accesses++;
			break;
		default:
			break;
		}
	}
	return cost;
}

/**
 * instrument() - rewrite a block; see struct VgToolInterface in Valgrind's headers.
 * @closure: has the address that Valgrind finds the block by
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

	/* The statements in front of the first instruction are Valgrind's own. */
	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		addStmtToIRSB(b.out, in->stmts[i++]);

	b.first = closure->nraddr;
	block_begin(&b, closure->nraddr, static_cost(in, i));
	for (; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag != Ist_IMark)
			rewrite_stmt(&b, in->stmts[i]);
		else if (rewrite_insn(&b, in->stmts[i]))
			return b.out;
	}
	insn_finish(&b);
	emit_end(&b, in);
	startup_emit_end(&b);
	libcall_emit_end(&b);
	return b.out;
}
