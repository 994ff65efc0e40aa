// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * access.c - memory accesses: who conflicts with whom, and what a transaction touches.
 *
 * The requester wins, as on Intel's processors: whoever touches a line aborts
 * the transactions that hold it.
 *
 * txn_access() must stay cheap for threads outside transactions, and must
 * read a line before it enters it anywhere: the read may fault.
 */
#include "hle.h"
#include "txn.h"
#include "coherence.h"

/* Aborts the transactions that the access conflicts with. */
static void abort_holders(struct line *line, ThreadId tid, Addr addr, Bool write)
{
	struct rtmgrind_abort info = {
		.cause = RTMGRIND_CAUSE_CONFLICT,
		.line = line->addr,
		.other_pc = current_pc,
		.other_addr = addr,
		.other_tid = vthreads[tid].lwp,
		.other_write = write,
		.syscall_nr = -1,
	};
	Addr line_addr = line->addr;
	ThreadId victim;

	/* A rollback may free the line: look it up again each time. */
	while (line) {
		if (line->writer && line->writer != tid)
			victim = line->writer;
		else
			victim = write ? line_other_reader(line, tid) : 0;
		if (!victim)
			return;
		txn_rollback(victim, &info, 0);
		line = line_find(line_addr);
	}
}

static void abort_at_line(enum rtmgrind_cause cause, Addr addr)
{
	struct rtmgrind_abort info = {
		.cause = cause,
		.line = line_of(addr),
		.own_addr = addr,
		.syscall_nr = -1,
	};

	txn_abort_running(&info, 0);
}

/* A fault in a transaction is not taken, so the page stays away until it is touched outside. */
static void need_page(Addr addr)
{
	if (!pages_present(addr))
		abort_at_line(RTMGRIND_CAUSE_FAULT, addr);
}

static void push_touch(struct txn *txn, struct line *line, Addr addr)
{
	if (txn->nr_touches == txn->touches_room) {
		txn->touches_room = txn->touches_room ? 2 * txn->touches_room : 64;
		txn->touches = VG_(realloc)("rtmgrind.touches", txn->touches,
					    txn->touches_room * sizeof(*txn->touches));
	}
	txn->touches[txn->nr_touches++] = (struct touch){line, current_pc, addr};
	if (in_region)
		charge(model.txn_line);
}

static void add_read(ThreadId tid, struct txn *txn, struct line *line, Addr addr)
{
	if (line && (line->writer == tid || line_reads(line, tid)))
		return;
	if (!model.caches && txn->nr_read == model.read_lines)
		abort_at_line(RTMGRIND_CAUSE_CAPACITY, addr);
	need_page(addr);
	txn_spurious_point(txn);
	/* If this faults, nothing has been entered yet. */
	(void)*(volatile UChar *)addr;
	line = line_get(line_of(addr));
	line_set_reader(line, tid, True);
	txn->nr_read++;
	push_touch(txn, line, addr);
}

static void refuse_shared(Addr addr)
{
	static Bool said;

	/* Even with -q: such locks do not do what the program thinks. */
	if (!said)
		VG_(message)(Vg_UserMsg, "transactions cannot write memory shared with other "
			     "processes (at %#lx): they abort\n", addr);
	said = True;
	abort_at_line(RTMGRIND_CAUSE_INSTRUCTION, addr);
}

static void add_write(ThreadId tid, struct txn *txn, struct line *line, Addr addr)
{
	UInt set = addr / LINE_SIZE % model_l1_sets();
	UChar old[LINE_SIZE];
	Bool known = line && line_reads(line, tid);

	if (line && line->writer == tid)
		return;
	if (shared_contains(addr))
		refuse_shared(addr);
	if (!model.caches && txn->ways[set] == model.l1_ways)
		abort_at_line(RTMGRIND_CAUSE_CAPACITY, addr);
	need_page(addr);
	txn_spurious_point(txn);
	VG_(memcpy)(old, (void *)line_of(addr), LINE_SIZE);
	line = line_get(line_of(addr));
	VG_(memcpy)(line->old, old, LINE_SIZE);
	line->writer = tid;
	txn->ways[set]++;
	txn->nr_written++;
	if (!known)
		push_touch(txn, line, addr);
}

/* In an HLE region an elided lock may be written with XRELEASE only. */
static void check_elided(ThreadId tid, Addr addr, SizeT size, Bool write)
{
	if (write && txn_open(tid) && txns[tid]->hle)
		hle_check_store(tid, addr, size);
}

/**
 * txn_conflict() - abort the transactions that an access conflicts with.
 * @tid: the thread that accesses
 * @addr: where
 * @write: False for a read
 */
void txn_conflict(ThreadId tid, Addr addr, Bool write)
{
	struct line *line = line_find(line_of(addr));

	if (line)
		abort_holders(line, tid, addr, write);
}

/* Conflicts of an access to one line, and its place in the thread's own transaction. */
static void access_line(ThreadId tid, Addr addr, Bool write)
{
	struct line *line = line_find(line_of(addr));

	if (line) {
		abort_holders(line, tid, addr, write);
		line = line_find(line_of(addr));
	}
	if (!txn_open(tid))
		return;
	if (write)
		add_write(tid, txns[tid], line, addr);
	else
		add_read(tid, txns[tid], line, addr);
}

/**
 * txn_access() - a thread is about to access memory, through no simulated cache.
 * @tid: the thread, running; in a system call the kernel accesses for it
 * @addr: first byte
 * @size: bytes
 * @write: False for a read
 *
 * Aborts the transactions it conflicts with and, in a transaction, enters the
 * lines. Does not return if that aborts the thread's own transaction.
 */
void txn_access(ThreadId tid, Addr addr, SizeT size, Bool write)
{
	Addr end = addr + size;
	Addr at;

	check_elided(tid, addr, size, write);
	for (at = addr; at < end; at = line_of(at) + LINE_SIZE)
		access_line(tid, at, write);
}

/**
 * guest_access() - the running thread is about to access memory, and the machine has caches.
 * @addr: first byte
 * @size: bytes
 * @write: False for a read
 *
 * Like txn_access(), and charges what it costs in the region of interest.
 */
void guest_access(Addr addr, SizeT size, Bool write)
{
	ThreadId tid = current_tid;
	Addr end = addr + size;
	Addr at;

	check_elided(tid, addr, size, write);
	for (at = addr; at < end; at = line_of(at) + LINE_SIZE) {
		Bool cached = in_region && vthreads[tid].core >= 0;

		/* Before a cache has the line, or it would never miss it outside. */
		if (txn_open(tid))
			need_page(at);
		if (cached)
			coherence_access(tid, at, write);
		if (txn_nr_open)
			access_line(tid, at, write);
		if (cached)
			coherence_allow(tid, line_of(at), write);
	}
}

/* The first level of its core has lost a line of an open transaction. */
static void abort_evicted(ThreadId tid, Addr addr)
{
	struct rtmgrind_abort info = {
		.cause = RTMGRIND_CAUSE_CAPACITY,
		.line = addr,
		.own_addr = addr,
		.syscall_nr = -1,
	};

	if (tid == current_tid)
		txn_abort_running(&info, 0);
	txn_rollback(tid, &info, 0);
}

/**
 * txn_evicted() - the first-level cache has lost a line.
 * @tid: a thread of that core with an open transaction
 * @addr: first byte of the line
 * @far: the line that took its place came from beyond the second level
 *
 * A written line is gone for good. A line that was only read goes to a
 * secondary structure (HPCA'14 3.2), which has room for so many and may lose
 * some. Does not return if it aborts the running thread's transaction.
 */
void txn_evicted(ThreadId tid, Addr addr, Bool far)
{
	struct line *line = line_find(addr);
	struct txn *txn = txns[tid];
	ULong loss = far ? model.read_loss_far : model.read_loss;

	if (!line)
		return;
	if (line->writer == tid ||
	    (line_reads(line, tid) && (++txn->nr_beyond > model.read_lines ||
				       rng_next(&txn_rng) % 1000000 < loss)))
		abort_evicted(tid, addr);
}
