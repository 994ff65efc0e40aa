// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hle.c - hardware lock elision: XACQUIRE and XRELEASE (Intel SDM vol. 1, 16.3; vol. 2,
 * XACQUIRE/XRELEASE).
 *
 * XACQUIRE begins a transaction in front of its instruction, and hides the write of that
 * instruction from other threads: the write is done in place, the value before it is saved, and
 * the two are exchanged whenever the thread gives up its turn. So other threads see the lock free,
 * and a thread that writes it aborts the transaction, as the lock is in the transaction's read set.
 * XRELEASE must write the value that was saved.
 *
 * A lock can be in a line that the transaction writes, and can be released before the transaction
 * ends. So the saved contents of a line have the values from before the elisions: with the thread's
 * own values an abort would leave a lock held without a holder.
 *
 *   instruction  outside        in an HLE region              in an RTM transaction
 *   XACQUIRE     begin, elide   depth + 1; elide if there is  as without the prefix
 *                               room, else write
 *   XRELEASE     no prefix      compare, depth - 1; at 0      as without the prefix
 *                               commit
 *   XBEGIN etc.  (insn.c)       abort (txn.c)                 -
 *   abort        -              execute the XACQUIRE once     go on at the fallback
 *                               more, without eliding
 *
 * Must never leave a thread's own value in memory while another thread runs.
 */
#include "hle.h"
#include "access.h"
#include "counters.h"
#include "decode.h"
#include "guest.h"
#include "model.h"
#include "shared.h"
#include "txn.h"
#include "vthread.h"

/* Bytes of the widest write of an instruction with a hint: CMPXCHG8B, or a 64-bit operand. */
#define WRITE_SIZE_MAX 8

/**
 * struct elision - a lock that is elided.
 * @addr: address of the write that is elided
 * @size: bytes of the write
 * @old: the value before the write, which other threads see
 * @own: the written value, which the thread sees; saved here while other threads run
 */
struct elision {
	Addr addr;
	UWord size;
	UChar old[WRITE_SIZE_MAX];
	UChar own[WRITE_SIZE_MAX];
};

/**
 * struct hle - the locks that a thread elides.
 * @really: address of the XACQUIRE that does not elide when it is executed next, 0 none
 * @kind: hint of the running instruction; HLE_NONE if it acts as without the prefix
 * @released: the elided lock that the running XRELEASE writes to, NULL none
 * @nr: number of elided locks
 * @locks: the elided locks, with room for model.hle_locks
 */
struct hle {
	Addr really;
	enum hle_insn kind;
	struct elision *released;
	UInt nr;
	struct elision locks[];
};

Bool hle_elides;

/* Indexed by ThreadId; NULL for threads that never elided. */
static struct hle **hles;

/**
 * hle_init() - prepare for threads.
 * @nr_threads: ThreadIds are below this
 */
void hle_init(UInt nr_threads)
{
	hles = VG_(calloc)("rtmgrind.hles", nr_threads, sizeof(*hles));
}

/* Whether both hints are valid for an instruction with a LOCK prefix. XCHG needs none. */
static Bool is_locked_rmw(const struct decoded *insn)
{
	UInt reg = modrm_reg(*insn->behind);
	UChar op = insn->opcode;

	if (insn->map == OPCODE_0F)
		return op == 0xab || op == 0xb3 || op == 0xbb ||	/* BTS, BTR, BTC */
		       (op == 0xba && reg >= 5) ||			/* with an immediate */
		       op == 0xb0 || op == 0xb1 ||			/* CMPXCHG */
		       op == 0xc0 || op == 0xc1 ||			/* XADD */
		       (op == 0xc7 && reg == 1 && !insn->rex_w);	/* CMPXCHG8B */
	if (insn->map != OPCODE)
		return False;
	/* ADD, OR, ADC, SBB, AND, SUB, XOR; not CMP */
	return (op < 0x38 && (op & 7) < 2) ||
	       ((op == 0x80 || op == 0x81 || op == 0x83) && reg != 7) ||
	       ((op == 0xf6 || op == 0xf7) && (reg == 2 || reg == 3)) ||	/* NOT, NEG */
	       ((op == 0xfe || op == 0xff) && reg < 2);				/* INC, DEC */
}

/**
 * hle_recognise() - find the hint of an instruction.
 * @insn: the instruction
 *
 * Of several F2 and F3 prefixes the last one counts.
 *
 * Return: the hint, HLE_NONE if the instruction has none, or none that is valid for it.
 */
enum hle_insn hle_recognise(const struct decoded *insn)
{
	enum hle_insn hint = insn->repeat == 0xf2 ? HLE_XACQUIRE : HLE_XRELEASE;

	if (!insn->repeat || insn->map > OPCODE_0F)
		return HLE_NONE;
	if (insn->map == OPCODE && (insn->opcode == 0x86 || insn->opcode == 0x87))
		return modrm_is_memory(*insn->behind) ? hint : HLE_NONE;
	if (insn->lock)
		return is_locked_rmw(insn) && modrm_is_memory(*insn->behind) ? hint : HLE_NONE;
	if (insn->map != OPCODE || hint != HLE_XRELEASE)
		return HLE_NONE;
	if (insn->opcode == 0x88 || insn->opcode == 0x89 ||
	    ((insn->opcode == 0xc6 || insn->opcode == 0xc7) && modrm_reg(*insn->behind) == 0))
		return modrm_is_memory(*insn->behind) ? hint : HLE_NONE;
	return HLE_NONE;
}

/**
 * hle_is_immediate() - is an instruction one that VEX refuses to translate with a hint?
 * @insn: the instruction, with a hint
 *
 * Return: True for arithmetic with an immediate operand that is not a byte with a byte.
 */
Bool hle_is_immediate(const struct decoded *insn)
{
	return insn->map == OPCODE && (insn->opcode == 0x81 || insn->opcode == 0x83);
}

/**
 * hle_width() - the width of an instruction's write, if VEX translates it to a narrower one.
 * @insn: the instruction, with a hint
 *
 * VEX translates BTS, BTR and BTC with the number of the bit in a register to accesses of a byte.
 *
 * Return: bytes; 0: as many as VEX says.
 */
UInt hle_width(const struct decoded *insn)
{
	if (insn->map != OPCODE_0F ||
	    (insn->opcode != 0xab && insn->opcode != 0xb3 && insn->opcode != 0xbb))
		return 0;
	if (insn->rex_w)
		return 8;
	return insn->operand_16 ? 2 : 4;
}

static Bool in_region_of_hle(void)
{
	return txn_open(current_tid) && txns[current_tid]->hle;
}

static void __attribute__((noreturn)) give_up(enum counter counter, Addr addr)
{
	struct rtmgrind_abort info = {
		.cause = RTMGRIND_CAUSE_INSTRUCTION,
		.own_addr = addr,
		.syscall_nr = -1,
	};

	counters_add(counter);
	txn_abort_running(&info, 0);
}

/**
 * hle_acquire() - called in front of an instruction with XACQUIRE.
 * @guest: registers of the running thread, all of them up to date
 * @pc: address of the instruction
 */
void hle_acquire(VexGuestAMD64State *guest, Addr pc)
{
	struct hle *hle = hles[current_tid];

	current_pc = pc;
	if (!hle)
		hle = hles[current_tid] = VG_(calloc)(
			"rtmgrind.hle", 1,
			sizeof(*hle) + model.hle_locks * sizeof(hle->locks[0]));
	hle->kind = HLE_NONE;
	if (hle->really == pc)
		return;
	if (txn_open(current_tid) && !txns[current_tid]->hle) {
		counters_add(COUNTER_TX_EXEC_MISC5);
		return;
	}
	hle->kind = HLE_XACQUIRE;
	txn_begin_hle(guest, pc);
}

/**
 * hle_release() - called in front of an instruction with XRELEASE.
 * @pc: address of the instruction
 */
void hle_release(Addr pc)
{
	struct hle *hle = hles[current_tid];

	current_pc = pc;
	if (!hle)
		return;
	hle->kind = in_region_of_hle() ? HLE_XRELEASE : HLE_NONE;
	hle->released = NULL;
}

/* An access of an instruction with a hint. Other threads may run meanwhile if there are caches. */
static void access(Addr addr, UWord size, Bool write)
{
	if (model.caches)
		access_cached(addr, size, write);
	else if (txn_nr_open)
		access_direct(current_tid, addr, size, write);
}

static void elide(struct hle *hle, Addr addr, UWord size)
{
	struct elision *lock = &hle->locks[hle->nr];

	/* Another process runs at any time: it could see the lock free. */
	if (shared_contains(addr))
		give_up(COUNTER_NONE, addr);
	if (line_of(addr) != line_of(addr + size - 1))
		give_up(COUNTER_HLE_ALIGNMENT, addr);
	if (hle->nr == model.hle_locks) {
		counters_add(COUNTER_HLE_FULL);
		access(addr, size, True);
		return;
	}
	access(addr, size, False);
	lock->addr = addr;
	lock->size = size;
	VG_(memcpy)(lock->old, (void *)addr, size);
	hle->nr++;
	hle_elides = True;
}

static Bool overlaps(const struct elision *lock, Addr addr, UWord size)
{
	return addr < lock->addr + lock->size && lock->addr < addr + size;
}

static void release(struct hle *hle, Addr addr, UWord size)
{
	UInt i = hle->nr;

	while (i-- && !hle->released)
		if (overlaps(&hle->locks[i], addr, size))
			hle->released = &hle->locks[i];
	if (!hle->released) {
		access(addr, size, True);
		return;
	}
	if (hle->released->addr != addr || hle->released->size != size)
		give_up(COUNTER_HLE_MISMATCH, addr);
	access(addr, size, False);
	hle_elides = True;
}

/**
 * hle_write() - an instruction with a hint is about to write.
 * @addr: first byte
 * @size: bytes
 */
void hle_write(Addr addr, UWord size)
{
	struct hle *hle = hles[current_tid];

	hle_elides = False;
	switch (hle ? hle->kind : HLE_NONE) {
	case HLE_XACQUIRE:
		elide(hle, addr, size);
		break;
	case HLE_XRELEASE:
		release(hle, addr, size);
		break;
	default:
		access(addr, size, True);
	}
}

static void drop_released(struct hle *hle)
{
	struct elision *lock = hle->released;

	if (!lock)
		return;
	if (VG_(memcmp)((void *)lock->addr, lock->old, lock->size))
		give_up(COUNTER_HLE_MISMATCH, lock->addr);
	hle->nr--;
	for (; lock < &hle->locks[hle->nr]; lock++)
		lock[0] = lock[1];
}

/**
 * hle_finish() - called after an instruction with a hint.
 * @pc: address of the instruction
 */
void hle_finish(Addr pc)
{
	struct hle *hle = hles[current_tid];

	hle_elides = False;
	if (!hle)
		return;
	/* Not earlier: an atomic instruction whose compare-and-exchange fails is executed again. */
	if (hle->really == pc)
		hle->really = 0;
	if (hle->kind != HLE_XRELEASE)
		return;
	current_pc = pc;
	drop_released(hle);
	if (txns[current_tid]->depth == 1 && hle->nr)
		give_up(COUNTER_HLE_NOT_EMPTY, hle->locks[0].addr);
	txn_commit();
}

/**
 * hle_check_store() - abort the HLE region if a store without XRELEASE is to an elided lock.
 * @tid: the running thread
 * @addr: first byte
 * @size: bytes
 */
void hle_check_store(ThreadId tid, Addr addr, SizeT size)
{
	const struct hle *hle = hles[tid];
	UInt i;

	for (i = 0; i < hle->nr; i++)
		if (overlaps(&hle->locks[i], addr, size))
			give_up(COUNTER_HLE_STORE, addr);
}

/**
 * hle_hide() - take the elided writes out of a copy of a line.
 * @tid: the thread that has elided them, running, in an HLE region
 * @line: address of the line's first byte
 * @copy: the line's contents, LINE_SIZE bytes; receives those that other threads see
 */
void hle_hide(ThreadId tid, Addr line, UChar *copy)
{
	const struct hle *hle = hles[tid];
	UInt i;

	/* The last one first: a lock can be elided more than once. */
	for (i = hle->nr; i--;) {
		const struct elision *lock = &hle->locks[i];

		if (line_of(lock->addr) == line)
			VG_(memcpy)(copy + (lock->addr - line), lock->old, lock->size);
	}
}

/**
 * hle_rollback() - undo the writes to elided locks of an HLE region that aborts.
 * @tid: the thread, running or parked; its other writes are undone afterwards
 *
 * The region may have written a lock before it elided it, so the lines have the last word.
 */
void hle_rollback(ThreadId tid)
{
	struct hle *hle = hles[tid];

	while (hle->nr--) {
		struct elision *lock = &hle->locks[hle->nr];

		if (VG_(memcmp)((void *)lock->addr, lock->old, lock->size))
			VG_(memcpy)((void *)lock->addr, lock->old, lock->size);
	}
	hle->nr = 0;
	hle->really = txns[tid]->fallback;
	if (tid == current_tid)
		hle_elides = False;
}

/**
 * hle_park() - a thread gives up its turn: show its elided locks to the others as free.
 * @tid: the thread
 */
void hle_park(ThreadId tid)
{
	struct hle *hle = hles ? hles[tid] : NULL;
	UInt i;

	for (i = hle ? hle->nr : 0; i--;) {
		struct elision *lock = &hle->locks[i];

		VG_(memcpy)(lock->own, (void *)lock->addr, lock->size);
		VG_(memcpy)((void *)lock->addr, lock->old, lock->size);
	}
}

/**
 * hle_unpark() - a thread has its turn again: show its elided locks to it as taken.
 * @tid: the thread
 */
void hle_unpark(ThreadId tid)
{
	struct hle *hle = hles ? hles[tid] : NULL;
	UInt i;

	for (i = 0; hle && i < hle->nr; i++)
		VG_(memcpy)((void *)hle->locks[i].addr, hle->locks[i].own, hle->locks[i].size);
}

/**
 * hle_forget() - a thread ends; its transaction, if any, is over.
 * @tid: the thread
 */
void hle_forget(ThreadId tid)
{
	VG_(free)(hles[tid]);
	hles[tid] = NULL;
}
