// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * txn.c - transactions: begin, commit, abort.
 *
 * A transaction writes memory in place and saves the old contents of each line; the registers are
 * copied at XBEGIN. access.c decides which transactions an access aborts. The victim does not run
 * then, so the thread that aborts it restores the victim's memory and registers at once.
 *
 * Must never leave a line in a set of an ended transaction.
 */
#include "txn.h"
#include "pub_tool_machine.h"
#include "access.h"
#include "account.h"
#include "coherence.h"
#include "contention.h"
#include "core-hooks.h"
#include "counters.h"
#include "guest.h"
#include "hle.h"
#include "line.h"
#include "model.h"
#include "options.h"
#include "region.h"
#include "rng.h"
#include "unwind.h"
#include "vthread.h"

ULong txn_nr_open;

struct txn **txns;
struct rng txn_rng;
static Bool noise;

/**
 * txn_init() - prepare, once the options are known.
 * @nr_threads: ThreadIds are below this
 */
void txn_init(UInt nr_threads)
{
	line_init(nr_threads);
	txns = VG_(calloc)("rtmgrind.txns", nr_threads, sizeof(*txns));
	rng_seed(&txn_rng, opt.seed, 1);
	noise = opt.abort_from_start;
}

/** txn_noise_start() - let spurious aborts and timer interrupts happen from now on. */
void txn_noise_start(void)
{
	noise = True;
}

/**
 * txn_open() - is a thread in a transaction?
 * @tid: the thread
 *
 * Return: True if it is.
 */
Bool txn_open(ThreadId tid)
{
	return txns[tid] && txns[tid]->depth;
}

/* Ends a transaction; with @undo its writes are undone. */
static void drop_lines(ThreadId tid, struct txn *txn, Bool undo)
{
	while (txn->nr_touches) {
		struct line *line = txn->touches[--txn->nr_touches].line;
		void *memory = (void *)line->addr;

		*txn_chain(txn, line->addr) = 0;
		if (line->writer == tid) {
			/* An unchanged line is not written: its page may have become read-only. */
			if (undo && VG_(memcmp)(memory, line->old, LINE_SIZE))
				VG_(memcpy)(memory, line->old, LINE_SIZE);
			if (undo)
				coherence_txn_undo(tid, line->addr);
			line->writer = 0;
		}
		line_set_reader(line, tid, False);
		line_put(line);
	}
	txn->depth = 0;
	txn_nr_open--;
	account_track();
	if (tid == current_tid)
		coherence_resume(tid);
}

/* Ends a transaction and undoes its writes, those to elided locks first, see hle_rollback(). */
static void restore_memory(ThreadId tid, struct txn *txn)
{
	if (txn->hle)
		hle_rollback(tid);
	drop_lines(tid, txn, True);
}

static UInt status_of(const struct txn *txn, enum rtmgrind_cause cause, UInt code)
{
	UInt status = 0;

	switch (cause) {
	case RTMGRIND_CAUSE_EXPLICIT:
		status = RTM_EXPLICIT | code << 24;
		break;
	case RTMGRIND_CAUSE_CONFLICT:
		status = RTM_CONFLICT | RTM_RETRY;
		break;
	case RTMGRIND_CAUSE_CAPACITY:
		status = RTM_CAPACITY;
		break;
	default:
		break;
	}
	return txn->depth > 1 ? status | RTM_NESTED : status;
}

/**
 * txn_rollback() - abort a thread's transaction: set the thread back to its XBEGIN.
 * @tid: the thread, running or not
 * @info: the fields of the abort record that the caller knows
 * @code: operand of XABORT if that is the cause
 */
void txn_rollback(ThreadId tid, const struct rtmgrind_abort *info, UInt code)
{
	struct txn *txn = txns[tid];
	struct rtmgrind_abort *last = &txn->last;
	const struct touch *touch;
	HWord event_check[2];
	Long now = tid == current_tid ? account_now() : vthreads[tid].clock;

	*last = *info;
	last->status = status_of(txn, info->cause, code);
	last->own_pc = tid == current_tid ? current_pc : VG_(get_IP)(tid);
	/* A conflict is explained by the stack of the other thread, not by the victim's. */
	if (opt.stacks && !last->nr_own && info->cause != RTMGRIND_CAUSE_CONFLICT)
		last->nr_own = unwind_stack(tid, last->own_pc, False, last->own_frames,
					    RTMGRIND_FRAMES);
	touch = last->line ? txn_touch(txn, last->line) : NULL;
	if (touch) {
		last->own_pc = touch->pc;
		last->own_addr = touch->addr;
		last->own_bytes = touch->read | touch->written;
		last->own_written = touch->written;
	}
	last->read_lines = txn->nr_read;
	last->write_lines = txn->nr_written;
	last->cycles = now - txn->begun + model.abort;
	txn->last_state = TXN_UNTOLD;
	counters_abort(txn->hle, info->cause, last->cycles);
	if (opt.trace)
		VG_(umsg)("thread %u aborts: %s, status %#x, pc %#llx, line %#llx, other %#llx\n",
			  tid, counters_cause_name(info->cause), last->status, last->own_pc,
			  last->line, last->other_pc);

	restore_memory(tid, txn);
	contention_cancel(tid);
	/* The first two fields belong to Valgrind's dispatcher and not to the guest. */
	event_check[0] = txn->guest->host_EvC_FAILADDR;
	event_check[1] = txn->guest->host_EvC_COUNTER;
	*txn->guest = txn->saved;
	txn->guest->host_EvC_FAILADDR = event_check[0];
	txn->guest->host_EvC_COUNTER = event_check[1];
	if (!txn->hle)
		txn->guest->guest_RAX = last->status;
	txn->guest->guest_RIP = txn->fallback;
	if (tid == current_tid)
		charge(model.abort);
	else
		vthreads[tid].clock += model.abort;
}

/**
 * txn_abort_running() - abort the running thread's transaction; it goes on at its fallback.
 * @info: the fields of the abort record that the caller knows
 * @code: operand of XABORT if that is the cause
 */
void __attribute__((noreturn)) txn_abort_running(const struct rtmgrind_abort *info, UInt code)
{
	txn_rollback(current_tid, info, code);
	core_restart_thread();
}

/**
 * txn_abort_self() - abort the running thread's transaction, if one is open.
 * @cause: the cause
 * @syscall_nr: number of the system call that is the cause, else -1
 *
 * Called from generated code. Does not return if a transaction was open.
 */
void txn_abort_self(enum rtmgrind_cause cause, Int syscall_nr)
{
	struct rtmgrind_abort info = {.cause = cause, .syscall_nr = syscall_nr};

	if (txn_open(current_tid))
		txn_abort_running(&info, 0);
}

static struct rtmgrind_abort fault_info(Int signal, Addr addr)
{
	return (struct rtmgrind_abort){
		.cause = RTMGRIND_CAUSE_FAULT,
		.signal = signal,
		.fault_addr = addr,
		.syscall_nr = -1,
	};
}

/**
 * txn_abort_fault() - abort the running thread's transaction, if one is open, because of a fault.
 * @signal: the signal that the fault would raise, 0 none
 * @addr: address of the fault, 0 none
 *
 * Called from generated code. Does not return if a transaction was open.
 */
void txn_abort_fault(Int signal, Addr addr)
{
	struct rtmgrind_abort info = fault_info(signal, addr);

	if (txn_open(current_tid))
		txn_abort_running(&info, 0);
}

/**
 * txn_abort_parked() - abort a thread's transaction, if one is open, from outside generated code.
 * @tid: the thread, which does not execute generated code
 * @cause: the cause
 */
void txn_abort_parked(ThreadId tid, enum rtmgrind_cause cause)
{
	struct rtmgrind_abort info = {.cause = cause, .syscall_nr = -1};

	if (tid == current_tid)
		current_pc = VG_(get_IP)(tid);
	if (txn_open(tid))
		txn_rollback(tid, &info, 0);
}

/**
 * txn_abort_faulted() - abort the running thread's transaction, which has raised a signal.
 * @tid: the thread; current_pc is the instruction
 * @signal: the signal
 * @addr: address of the fault
 */
void txn_abort_faulted(ThreadId tid, Int signal, Addr addr)
{
	struct rtmgrind_abort info = fault_info(signal, addr);

	txn_rollback(tid, &info, 0);
}

/**
 * txn_abort_others() - abort the transactions of all threads but one.
 * @tid: the thread whose transaction stays open
 * @cause: the cause
 */
void txn_abort_others(ThreadId tid, enum rtmgrind_cause cause)
{
	ThreadId other;

	for (other = 1; txn_nr_open && other < vthread_end; other++)
		if (other != tid)
			txn_abort_parked(other, cause);
}

/**
 * txn_forget() - a thread ends: undo its transaction, and free its memory.
 * @tid: the thread
 */
void txn_forget(ThreadId tid)
{
	struct txn *txn = txns[tid];

	if (!txn)
		return;
	if (txn->depth)
		restore_memory(tid, txn);
	hle_forget(tid);
	VG_(free)(txn->touches);
	VG_(free)(txn);
	txns[tid] = NULL;
}

/**
 * txn_tick() - abort a thread's transaction if its core had a timer interrupt in its slice.
 * @tid: the thread, between two blocks
 * @before: virtual time when its slice began
 * @after: virtual time now
 */
void txn_tick(ThreadId tid, Long before, Long after)
{
	/* The timers of the processors are spread evenly over the period. */
	Long period = model.tick ? model_hz() / model.tick : 0;
	Long phase = vthreads[tid].core * period / model_cpus();

	if (noise && in_region && period && (before + phase) / period != (after + phase) / period)
		txn_abort_parked(tid, RTMGRIND_CAUSE_INTERRUPT);
}

/**
 * txn_spurious_point() - let a spurious abort happen if one is due.
 * @txn: the running thread's transaction, which enters a new line or commits
 */
void txn_spurious_point(struct txn *txn)
{
	if (txn->doomed && !--txn->doomed)
		txn_abort_self(RTMGRIND_CAUSE_SPURIOUS, -1);
}

/* Begins a transaction of the running thread, or a nested one. */
static void begin(VexGuestAMD64State *guest, Addr fallback, Bool hle)
{
	struct txn *txn = txns[current_tid];

	if (!txn)
		txn = txns[current_tid] = VG_(calloc)("rtmgrind.txn", 1,
						      sizeof(*txn) + model_l1_sets());
	if (txn->depth == RTM_NEST_MAX)
		txn_abort_self(RTMGRIND_CAUSE_NEST, -1);
	if (txn->depth++)
		return;
	txn->hle = hle;
	txn->fallback = fallback;
	txn->guest = guest;
	txn->saved = *guest;
	txn->begun = account_now();
	txn->nr_read = txn->nr_written = txn->nr_beyond = 0;
	VG_(memset)(txn->ways, 0, model_l1_sets());
	txn->doomed = 0;
	if (noise && in_region && model.abort_rate &&
	    (Long)(rng_next(&txn_rng) % 100) < model.abort_rate)
		/* At one of the first 4 new lines, so that there can be writes to undo. */
		txn->doomed = 1 + rng_next(&txn_rng) % 4;
	txn_nr_open++;
	account_track();
	coherence_txn_begin(current_tid);
	counters_begin(hle);
	if (in_region)
		charge(model.xbegin);
	if (opt.trace)
		VG_(umsg)("thread %u %s, pc %#llx\n", current_tid, hle ? "elides" : "begins",
			  hle ? (ULong)fallback : current_pc);
}

/* An RTM instruction in an HLE region aborts the region, and is executed again outside of it. */
static void refuse_in_hle(void)
{
	if (!txn_open(current_tid) || !txns[current_tid]->hle)
		return;
	counters_add(COUNTER_TX_EXEC_MISC4);
	txn_abort_self(RTMGRIND_CAUSE_INSTRUCTION, -1);
}

/**
 * txn_begin() - XBEGIN.
 * @guest: registers of the running thread
 * @fallback: address of the fallback
 * @next: address of the next instruction
 *
 * Return: address of the instruction to execute.
 */
ULong txn_begin(VexGuestAMD64State *guest, ULong fallback, ULong next)
{
	current_pc = next;
	refuse_in_hle();
	begin(guest, fallback, False);
	return next;
}

/**
 * txn_begin_hle() - XACQUIRE outside of an RTM transaction.
 * @guest: registers of the running thread in front of the instruction
 * @pc: address of the instruction
 */
void txn_begin_hle(VexGuestAMD64State *guest, Addr pc)
{
	begin(guest, pc, True);
}

/** txn_commit() - end the running thread's innermost transaction, and commit if it is the last. */
void txn_commit(void)
{
	struct txn *txn = txns[current_tid];

	if (txn->depth == 1 && txn->doomed) {
		txn->doomed = 1;
		txn_spurious_point(txn);
	}
	if (--txn->depth)
		return;
	drop_lines(current_tid, txn, False);
	counters_commit(txn->hle);
	if (in_region)
		charge(model.xend);
	if (opt.trace)
		VG_(umsg)("thread %u commits, %u read %u written\n", current_tid, txn->nr_read,
			  txn->nr_written);
}

/**
 * txn_end() - XEND.
 * @next: address of the next instruction
 *
 * Return: @next; 0 outside of a transaction, where XEND faults.
 */
ULong txn_end(ULong next)
{
	if (!txn_open(current_tid))
		return 0;
	refuse_in_hle();
	txn_commit();
	return next;
}

/**
 * txn_xabort() - XABORT, which has no effect outside of a transaction.
 * @code: its operand
 */
void txn_xabort(ULong code)
{
	struct rtmgrind_abort info = {.cause = RTMGRIND_CAUSE_EXPLICIT, .syscall_nr = -1};

	refuse_in_hle();
	if (txn_open(current_tid))
		txn_abort_running(&info, code);
}

/**
 * txn_test() - XTEST.
 *
 * Return: the flags as in EFLAGS: ZF (bit 6) is set outside of a transaction.
 */
ULong txn_test(void)
{
	return txn_open(current_tid) ? 0 : 1 << 6;
}

/**
 * txn_last_abort() - answer RTMGRIND_LAST_ABORT and RTMGRIND_ABORT_AGAIN.
 * @tid: the thread that sends the request
 * @record: address of a struct rtmgrind_abort in guest memory
 * @size: size of the program's struct, bytes
 * @again: False: only an abort that was not reported yet; True: only one that was
 *
 * Return: True if there was such an abort, and @record was filled.
 */
Bool txn_last_abort(ThreadId tid, Addr record, SizeT size, Bool again)
{
	struct txn *txn = txns[tid];

	if (!txn || txn->last_state != (again ? TXN_TOLD : TXN_UNTOLD) || txn->depth)
		return False;
	if (size > sizeof(txn->last))
		size = sizeof(txn->last);
	if (!guest_may(record, size, VKI_PROT_WRITE))
		return False;
	access_direct(tid, record, size, True);
	VG_(memcpy)((void *)record, &txn->last, size);
	txn->last_state = TXN_TOLD;
	return True;
}
