// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * access.c - memory accesses: conflicts, and the read and write sets of transactions.
 *
 * The requester wins, as on Intel's processors: an access aborts the transactions of other threads
 * that have the line in a conflicting set. A read conflicts with write sets, a write with both.
 *
 * access_direct() must stay cheap for threads without a transaction, and must read a line before
 * it enters the line into a set: the read may fault.
 */
#include "access.h"
#include "pub_tool_machine.h"
#include "account.h"
#include "coherence.h"
#include "guest.h"
#include "hle.h"
#include "line.h"
#include "model.h"
#include "options.h"
#include "pages.h"
#include "region.h"
#include "rng.h"
#include "shared.h"
#include "tlb.h"
#include "txn.h"
#include "unwind.h"
#include "vthread.h"

ULong current_bytes;

/* The bytes of an access that lie in the same line as its first byte, a bit each. */
static ULong bytes_of(Addr addr, SizeT size)
{
	UInt offset = addr % LINE_SIZE;
	UInt room = LINE_SIZE - offset;

	return ~0ULL >> (LINE_SIZE - (size < room ? size : room)) << offset;
}

/*
 * Whether the running instruction is a push or call that has moved the stack pointer already, so
 * that the pointer is one word below the value with which the stack can be unwound.
 */
static Bool pushes(ThreadId tid, Addr addr, Bool write)
{
	return write && addr == VG_(get_SP)(tid) && unwind_insn_pushes(current_pc);
}

/* Reads the section of a struct rtmgrind_outer at @address in the program's memory. */
static void describe_section(struct rtmgrind_section *section, Addr address)
{
	const struct rtmgrind_outer *outer = (void *)address;
	const struct rtmgrind_call *call;

	if (!outer || !guest_may(address, sizeof(*outer), VKI_PROT_READ))
		return;
	call = (void *)(Addr)outer->call;
	if (!call || !guest_may((Addr)call, sizeof(*call), VKI_PROT_READ))
		return;
	*section = (struct rtmgrind_section){1, call->kind, outer->lock, call->site};
}

/* Describes a thread whose access aborts the transactions of others. */
static void describe_other(struct rtmgrind_abort *info, ThreadId tid, Addr addr, Bool write)
{
	const struct touch *touch = txn_open(tid) ? txn_touch(txns[tid], info->line) : NULL;

	info->other_bytes = current_bytes;
	info->other_written = write ? current_bytes : 0;
	if (touch) {
		info->other_bytes |= touch->read | touch->written;
		info->other_written |= touch->written;
	}
	describe_section(&info->other_section, vthreads[tid].section);
	if (opt.stacks)
		info->nr_other = unwind_stack(tid, current_pc, pushes(tid, addr, write),
					      info->other_frames, RTMGRIND_FRAMES);
}

static void abort_holder(ThreadId victim, ThreadId tid, Addr addr, Bool write)
{
	struct rtmgrind_abort info = {
		.cause = RTMGRIND_CAUSE_CONFLICT,
		.line = line_of(addr),
		.other_pc = current_pc,
		.other_addr = addr,
		.other_tid = vthreads[tid].lwp,
		.other_write = write,
		.syscall_nr = -1,
	};

	describe_other(&info, tid, addr, write);
	txn_rollback(victim, &info, 0);
}

/* Aborts the transactions that the access conflicts with. */
static void abort_holders(struct line *line, ThreadId tid, Addr addr, Bool write)
{
	Addr line_addr = line->addr;
	ThreadId victim;

	/* A rollback may free the line, so it is looked up again after each. */
	while (line) {
		if (line->writer && line->writer != tid)
			victim = line->writer;
		else
			victim = write ? line_other_reader(line, tid) : 0;
		if (!victim)
			return;
		abort_holder(victim, tid, addr, write);
		line = line_find(line_addr);
	}
}

static void __attribute__((noreturn)) abort_at_line(struct rtmgrind_abort *info, Addr addr,
						   Bool write)
{
	info->line = line_of(addr);
	info->own_addr = addr;
	info->own_bytes = current_bytes;
	info->own_written = write ? current_bytes : 0;
	info->syscall_nr = -1;
	if (opt.stacks)
		info->nr_own = unwind_stack(current_tid, current_pc,
					    pushes(current_tid, addr, write), info->own_frames,
					    RTMGRIND_FRAMES);
	txn_abort_running(info, 0);
}

static void __attribute__((noreturn, noinline)) abort_first_touch(Addr addr, Bool write)
{
	struct rtmgrind_abort info = {.cause = RTMGRIND_CAUSE_FAULT, .fault_addr = addr};

	abort_at_line(&info, addr, write);
}

/*
 * The kernel never sees a page fault of a transaction: it aborts the transaction, and the page is
 * absent until an access outside of transactions touches it.
 */
static void need_page(Addr addr, Bool write)
{
	if (!pages_present(addr))
		abort_first_touch(addr, write);
}

/*
 * Whether @lines lines are at most a quarter of the first-level cache. If so few lines overflow a
 * set of it, their addresses are the reason, and the abort record names the set: 128 lines at
 * random addresses overflow a set of a cache of 64 sets and 8 ways in 1 case of 60 (computed).
 */
static Bool has_room(UInt lines)
{
	return lines <= model_l1_sets() * model.l1_ways / 4;
}

/* The transaction has no room for another line: the write set or the read set is full. */
static void abort_capacity(const struct txn *txn, Addr addr, Bool write)
{
	struct rtmgrind_abort info = {.cause = RTMGRIND_CAUSE_CAPACITY};
	UInt nr_sets = model_l1_sets();

	if (write && has_room(txn->nr_written + 1)) {
		info.cache_set = addr / LINE_SIZE % nr_sets;
		info.cache_ways = txn->ways[info.cache_set] + 1;
	}
	abort_at_line(&info, addr, write);
}

static struct touch *push_touch(struct txn *txn, struct line *line, Addr addr)
{
	UInt *chain = txn_chain(txn, line->addr);
	struct touch *touch;

	if (txn->nr_touches == txn->touches_room) {
		txn->touches_room = txn->touches_room ? 2 * txn->touches_room : 64;
		txn->touches = VG_(realloc)("rtmgrind.touches", txn->touches,
					    txn->touches_room * sizeof(*txn->touches));
	}
	touch = &txn->touches[txn->nr_touches++];
	*touch = (struct touch){.line = line, .pc = current_pc, .addr = addr, .next = *chain};
	*chain = txn->nr_touches;
	if (in_region)
		charge(model.txn_line);
	return touch;
}

/* Enters a line that the transaction has not touched into its read set. */
static void add_read(ThreadId tid, struct txn *txn, Addr addr)
{
	struct line *line;

	if (!model.caches && txn->nr_read == model.read_lines)
		abort_capacity(txn, addr, False);
	need_page(addr, False);
	txn_spurious_point(txn);
	/* If this read faults, no set has the line yet. */
	(void)*(volatile UChar *)addr;
	line = line_get(line_of(addr));
	line_set_reader(line, tid, True);
	txn->nr_read++;
	push_touch(txn, line, addr)->read = current_bytes;
}

static void refuse_shared(Addr addr)
{
	struct rtmgrind_abort info = {.cause = RTMGRIND_CAUSE_INSTRUCTION};
	static Bool said;

	/* Even with -q: the program counts on elision that cannot take place. */
	if (!said)
		VG_(message)(Vg_UserMsg, "transactions cannot write memory shared with other "
			     "processes (at %#lx): they abort\n", addr);
	said = True;
	abort_at_line(&info, addr, True);
}

/* Enters a line into the write set; @touch is its touch if the transaction has read the line. */
static void add_write(ThreadId tid, struct txn *txn, struct touch *touch, Addr addr)
{
	UInt set = addr / LINE_SIZE % model_l1_sets();
	UChar old[LINE_SIZE];
	struct line *line;

	if (shared_contains(addr))
		refuse_shared(addr);
	if (!model.caches && txn->ways[set] == model.l1_ways)
		abort_capacity(txn, addr, True);
	need_page(addr, True);
	txn_spurious_point(txn);
	/* A fault must name @addr and not the first byte of the line, which is copied next. */
	(void)*(volatile UChar *)addr;
	VG_(memcpy)(old, (void *)line_of(addr), LINE_SIZE);
	if (txn->hle)
		hle_hide(tid, line_of(addr), old);
	line = line_get(line_of(addr));
	VG_(memcpy)(line->old, old, LINE_SIZE);
	line->writer = tid;
	txn->ways[set]++;
	txn->nr_written++;
	if (!touch)
		touch = push_touch(txn, line, addr);
	touch->written = current_bytes;
}

/* In an HLE region only XRELEASE may write to an elided lock: another store aborts. */
static void check_elided(ThreadId tid, Addr addr, SizeT size, Bool write)
{
	if (write && txn_open(tid) && txns[tid]->hle)
		hle_check_store(tid, addr, size);
}

/**
 * access_conflict() - abort the transactions that an access conflicts with.
 * @tid: the thread that accesses
 * @addr: first byte; current_bytes has the bytes of the line
 * @write: False for a read
 */
void access_conflict(ThreadId tid, Addr addr, Bool write)
{
	struct line *line = line_find(line_of(addr));

	if (line)
		abort_holders(line, tid, addr, write);
}

/*
 * Notes a further access to a line that a transaction has touched. Return: False if it is the
 * first write, for which the line must be entered into the write set.
 */
static Bool touch_again(struct touch *touch, Bool write)
{
	if (!write)
		touch->read |= current_bytes;
	else if (touch->written)
		touch->written |= current_bytes;
	else
		return False;
	return True;
}

static struct txn *open_txn(ThreadId tid)
{
	struct txn *txn = txns[tid];

	return txn && txn->depth ? txn : NULL;
}

/*
 * An access to one line: aborts the transactions that it conflicts with, and enters the line into
 * the sets of the thread's own transaction @txn, NULL none.
 */
static void access_line(ThreadId tid, struct txn *txn, Addr addr, SizeT size, Bool write)
{
	struct touch *touch = txn ? txn_touch(txn, line_of(addr)) : NULL;

	current_bytes = bytes_of(addr, size);
	/*
	 * No other transaction conflicts with an access that the sets cover already: the later of two
	 * conflicting accesses has aborted one of the transactions.
	 */
	if (touch && touch_again(touch, write))
		return;
	access_conflict(tid, addr, write);
	if (txn && write)
		add_write(tid, txn, touch, addr);
	else if (txn)
		add_read(tid, txn, addr);
}

/**
 * access_direct() - a thread is about to access memory, through no simulated cache.
 * @tid: the running thread; during a system call the kernel accesses memory on its behalf
 * @addr: first byte
 * @size: bytes
 * @write: False for a read
 *
 * Aborts the transactions that the access conflicts with, and enters the lines into the sets of
 * the thread's own transaction. Does not return if that aborts the thread's own transaction.
 */
void access_direct(ThreadId tid, Addr addr, SizeT size, Bool write)
{
	Addr end = addr + size;
	Addr at;

	check_elided(tid, addr, size, write);
	for (at = addr; at < end; at = line_of(at) + LINE_SIZE)
		access_line(tid, open_txn(tid), at, end - at, write);
}

/**
 * access_kernel_write() - a system call that the emulator answers is about to write memory.
 * @addr: first byte
 * @size: bytes
 *
 * Return: False if the guest may not write there: the call fails with EFAULT.
 */
Bool access_kernel_write(Addr addr, SizeT size)
{
	if (!guest_may(addr, size, VKI_PROT_WRITE))
		return False;
	if (txn_nr_open)
		access_direct(current_tid, addr, size, True);
	return True;
}

/**
 * access_again() - note an access of the running thread's transaction that passes the filter.
 * @addr: first byte; all bytes are in one line
 * @size: bytes
 * @write: False for a read
 */
void access_again(Addr addr, SizeT size, Bool write)
{
	struct touch *touch = txn_touch(txns[current_tid], line_of(addr));

	current_bytes = bytes_of(addr, size);
	if (touch)
		touch_again(touch, write);
}

/* The core walks the page tables for an access of the running thread; @txn is its transaction, NULL none. */
static void walk(const struct txn *txn)
{
	charge(model.walk);
	if (txn && model.walk_loss && (Long)(rng_next(&txn_rng) % 1000000) < model.walk_loss)
		txn_abort_self(RTMGRIND_CAUSE_SPURIOUS, -1);
}

/**
 * access_cached() - the running thread is about to access memory, and the machine has caches.
 * @addr: first byte
 * @size: bytes
 * @write: False for a read
 *
 * Does what access_direct() does and, in the region of interest, charges the access's latency.
 */
void access_cached(Addr addr, SizeT size, Bool write)
{
	ThreadId tid = current_tid;
	/* Stays valid: if others abort it while this function waits, that does not return. */
	struct txn *txn = open_txn(tid);
	Addr end = addr + size;
	Addr at;

	check_elided(tid, addr, size, write);
	for (at = addr; at < end; at = line_of(at) + LINE_SIZE) {
		Bool cached = account_costs() && vthreads[tid].core >= 0;

		current_bytes = bytes_of(at, end - at);
		/*
		 * Before the line enters a cache: a page fault is charged at a miss, so a line of an
		 * absent page must not be in a cache.
		 */
		if (txn)
			need_page(at, write);
		if (cached && tlb_walks(model_core(vthreads[tid].core), at))
			walk(txn);
		if (cached)
			coherence_access(tid, at, write);
		if (txn_nr_open)
			access_line(tid, txn, at, end - at, write);
		if (cached)
			coherence_allow(tid, line_of(at), write);
	}
}

/*
 * The first-level cache has lost a written line. Names the set in the abort record if the lines of
 * the transaction alone overflow it.
 */
static void describe_set(struct rtmgrind_abort *info, ThreadId tid, Addr addr)
{
	const struct txn *txn = txns[tid];
	UInt nr_sets = model_l1_sets();
	UInt set = addr / LINE_SIZE % nr_sets;
	/* The line that replaces it is not in the transaction's sets yet. */
	UInt more = tid == current_tid;
	UInt ways = more, i;

	for (i = 0; i < txn->nr_touches; i++)
		ways += txn->touches[i].line->addr / LINE_SIZE % nr_sets == set;
	if (ways <= model.l1_ways || !has_room(txn->nr_touches + more))
		return;
	info->cache_set = set;
	info->cache_ways = ways;
}

/* The first-level cache of a thread's core has lost a line of the thread's transaction. */
static void abort_evicted(ThreadId tid, Addr addr, Bool written)
{
	struct rtmgrind_abort info = {
		.cause = RTMGRIND_CAUSE_CAPACITY,
		.line = addr,
		.own_addr = addr,
		.syscall_nr = -1,
	};

	if (written)
		describe_set(&info, tid, addr);
	if (tid == current_tid)
		txn_abort_running(&info, 0);
	txn_rollback(tid, &info, 0);
}

/**
 * access_evicted() - the first-level cache has lost a line.
 * @tid: a thread of that core with an open transaction
 * @addr: first byte of the line
 * @far: the line that took its place came from beyond the second level
 *
 * The loss of a written line aborts the transaction. A line that was only read goes to a secondary
 * structure (HPCA'14 3.2), which has room for model.read_lines lines and loses each one with the
 * probability model.read_loss or model.read_loss_far; then the transaction aborts, too. Does not
 * return if that is the running thread's transaction.
 */
void access_evicted(ThreadId tid, Addr addr, Bool far)
{
	struct line *line = line_find(addr);
	struct txn *txn = txns[tid];
	ULong loss = far ? model.read_loss_far : model.read_loss;

	if (!line)
		return;
	if (line->writer == tid ||
	    (line_reads(line, tid) && (++txn->nr_beyond > model.read_lines ||
				       rng_next(&txn_rng) % 1000000 < loss)))
		abort_evicted(tid, addr, line->writer == tid);
}
