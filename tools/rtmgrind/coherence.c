// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * coherence.c - the simulated caches: the latency of an access, and which cores lose the line.
 *
 * Each core has a first- and a second-level cache, each domain a last-level cache. A directory
 * knows which cores have a line, and the line's state in the MESI protocol (Papamarcos and Patel,
 * ISCA 1984): owned by one core, which may write it (M or E; TAG_DIRTY tells which), or shared (S).
 *
 *   access       line is         then
 *   read miss    owned           the owner and the reader share it
 *                shared          it comes from the last level or the nearest core that has it
 *                in no core      it comes from the last level or memory, and the reader owns it
 *   write miss   any             all other cores lose it, and the writer owns it, dirty
 *
 * An access takes effect on other cores when its request arrives there, and on memory when the
 * line arrives at the core; see wait_for_others(). A line makes one move at a time, which bounds
 * the rate of a contended lock; contention.c decides whose move is next.
 *
 * Most accesses do not come here: see filter.c.
 */
#include "coherence.h"
#include "access.h"
#include "account.h"
#include "cache.h"
#include "contention.h"
#include "directory.h"
#include "distance.h"
#include "filter.h"
#include "line.h"
#include "model.h"
#include "pages.h"
#include "slice.h"
#include "txn.h"
#include "vthread.h"

/**
 * struct core_caches - the caches of a core.
 * @l1: first level, data
 * @l2: second level; a line can be in both
 */
struct core_caches {
	struct cache l1;
	struct cache l2;
};

static struct core_caches *cores;
static struct cache *llcs;
/* The thread that each hardware thread executed last. */
static ThreadId *runs;

static Int core_of(Int cpu)
{
	return cpu % model.cores;
}

static struct cache *llc_of(Int core)
{
	return &llcs[core / model.domain];
}

static Long lines_in(Long kib)
{
	return kib * 1024 / LINE_SIZE;
}

/** coherence_init() - make empty caches, if the machine has caches. */
void coherence_init(void)
{
	Int i;

	filter_init();
	contention_init(nr_vthreads);
	if (!model.caches)
		return;
	cores = VG_(calloc)("rtmgrind.caches", model.cores, sizeof(*cores));
	for (i = 0; i < model.cores; i++) {
		cache_init(&cores[i].l1, lines_in(model.l1_kib), model.l1_ways, model.l1_trees);
		cache_init(&cores[i].l2, lines_in(model.l2_kib), model.l2_ways, 0);
	}
	llcs = VG_(calloc)("rtmgrind.llcs", model.cores / model.domain, sizeof(*llcs));
	for (i = 0; i < model.cores / model.domain; i++)
		cache_init(&llcs[i], lines_in(model.llc_kib), model.llc_ways, 0);
	runs = VG_(calloc)("rtmgrind.runs", model_cpus(), sizeof(*runs));
	directory_init(model.cores);
}

static void llc_fill(Int core, Addr line)
{
	struct cache *llc = llc_of(core);
	Addr *tag = cache_find(llc, line);

	if (tag)
		cache_use(llc, tag);
	else
		cache_insert(llc, line);
}

/* A line has left the second level of a core. The first level may still have it. */
static void leave_l2(Int core, Addr tag)
{
	Addr *upper = cache_find(&cores[core].l1, tag_line(tag));
	struct shared_line *entry;

	if (upper) {
		*upper |= tag & (TAG_OWNED | TAG_DIRTY);
		return;
	}
	entry = directory_find(tag_line(tag));
	if (entry)
		directory_remove(entry, core);
	llc_fill(core, tag_line(tag));
}

/* A line has left the first level of a core: it goes to the second level. */
static void leave_l1(Int core, Addr tag)
{
	struct cache *l2 = &cores[core].l2;
	Addr *lower = cache_find(l2, tag_line(tag));
	Addr victim;

	if (lower) {
		*lower |= tag;
		return;
	}
	victim = cache_insert(l2, tag);
	if (victim)
		leave_l2(core, victim);
}

/* Takes a line away from a core. Return: the state bits it had there. */
static Addr take_away(Int core, Addr line)
{
	Addr tags = cache_remove(&cores[core].l1, line) | cache_remove(&cores[core].l2, line);

	filter_forget(core, line);
	return tags;
}

/* The owner of a line keeps it, but may no longer write it. Return: the state bits it had there. */
static Addr share(Int core, Addr line)
{
	Addr *upper = cache_find(&cores[core].l1, line);
	Addr *lower = cache_find(&cores[core].l2, line);
	Addr tags = (upper ? *upper : 0) | (lower ? *lower : 0);

	if (upper)
		*upper = line;
	if (lower)
		*lower = line;
	filter_forget(core, line);
	return tags;
}

/* Reads a line that no core has. Return: latency, cycles. */
static Long fetch(Int core, Addr line)
{
	struct cache *own = llc_of(core);
	Addr *tag = cache_find(own, line);
	Long cycles = model.memory;
	Int first;

	if (tag) {
		cache_use(own, tag);
		return model.llc;
	}
	for (first = 0; first < model.cores; first += model.domain) {
		Long near = distance_clean(first, core);

		if (near < cycles && llc_of(first) != own && cache_find(llc_of(first), line))
			cycles = near;
	}
	cache_insert(own, line);
	pages_touch(line);
	return cycles;
}

/* Reads a line that cores share. Return: latency, cycles. */
static Long read_shared(const struct shared_line *entry, Int core)
{
	Addr *tag = cache_find(llc_of(core), entry->line);
	Long cycles = model.memory;
	Int other;

	if (tag) {
		cycles = model.llc;
	} else {
		for (other = directory_next(entry, -1); other >= 0;
		     other = directory_next(entry, other)) {
			Long near = distance_clean(other, core);

			if (near < cycles)
				cycles = near;
		}
	}
	llc_fill(core, entry->line);
	return cycles;
}

static Bool has_dirty(Int core, Addr line)
{
	Addr *upper = cache_find(&cores[core].l1, line);
	Addr *lower = cache_find(&cores[core].l2, line);

	return ((upper ? *upper : 0) | (lower ? *lower : 0)) & TAG_DIRTY;
}

/* Latency of a move to @core from the core that has the line, or will have it before that move. */
static Long move_cost(const struct shared_line *entry, Int core, Bool write)
{
	Long cycles = 0;
	Int other;

	if (contention_busy(entry) && entry->mover != current_tid)
		return distance_dirty(contention_next_core(entry), core);
	if (entry->owner >= 0 && has_dirty(entry->owner, entry->line))
		return distance_dirty(entry->owner, core);
	if (entry->owner >= 0)
		return distance_clean(entry->owner, core);
	if (!write)
		return read_shared(entry, core);
	/* All cores that share the line are invalidated at once: the farthest one decides. */
	for (other = directory_next(entry, -1); other >= 0; other = directory_next(entry, other)) {
		Long far = distance_clean(other, core);

		if (other != core && far > cycles)
			cycles = far;
	}
	return cycles;
}

/* Whether an access has to wait for other cores, because the line moves or they must give it up. */
static Bool concerns_others(const struct shared_line *entry, Int core, Bool write)
{
	if (!entry)
		return False;
	if (contention_busy(entry) || (entry->owner >= 0 && entry->owner != core))
		return True;
	return write && entry->nr_cores > directory_has(entry, core);
}

/* Moves a line to @core: the other cores lose it, or share it if it is read. */
static void depart(struct shared_line *entry, Int core, Addr addr, Bool write)
{
	Addr line = line_of(addr);
	Int other;

	if (txn_nr_open)
		access_conflict(current_tid, addr, write);
	directory_add(entry, core);
	if (!write) {
		if (entry->owner >= 0 && entry->owner != core) {
			share(entry->owner, line);
			llc_fill(entry->owner, line);
			llc_fill(core, line);
			entry->owner = -1;
		}
		return;
	}
	for (other = directory_next(entry, -1); other >= 0; other = directory_next(entry, other)) {
		if (other == core)
			continue;
		take_away(other, line);
		directory_remove(entry, other);
	}
	entry->owner = core;
}

/*
 * Waits until a line that other cores have arrives at @core. The first half of the latency is the
 * travel time of the request, so a nearer core's request arrives sooner. If the line moves to another
 * core then, the request queues. The second half is the travel time of the line, during which no core
 * can use it. Other threads run meanwhile, so the state of the line may have changed afterwards.
 */
static void wait_for_others(struct shared_line *entry, Int core, Addr addr, Bool write)
{
	Long cycles = move_cost(entry, core, write);
	Bool reserved;

	charge(cycles / 2);
	slice_wait_turn();
	entry = directory_find(line_of(addr));
	if (!concerns_others(entry, core, write)) {
		charge(cycles - cycles / 2);
		return;
	}
	reserved = contention_take(entry, core, write);
	entry = directory_get(line_of(addr));
	cycles = move_cost(entry, core, write);
	charge(cycles - cycles / 2);
	/* The read was granted together with others: the line does not leave its core. */
	if (!reserved)
		return;
	depart(entry, core, addr, write);
	slice_wait_turn();
}

/* Waits for a line that the core's caches do not have, or for the right to write it. */
static void wait_for_line(Int core, Addr addr, Bool write)
{
	struct shared_line *entry = directory_find(line_of(addr));

	if (concerns_others(entry, core, write))
		wait_for_others(entry, core, addr, write);
	else if (!entry)
		charge(fetch(core, line_of(addr)));
	else
		charge(write ? model.llc : read_shared(entry, core));
}

/*
 * Whether the thread's core may own a line. It may not while another transaction has the line in
 * its read set, even if no cache has it any more: a write must conflict with that transaction.
 */
static Bool may_own(ThreadId tid, Addr line)
{
	struct line *touched = txn_nr_open ? line_find(line) : NULL;

	return !touched || !line_other_reader(touched, tid);
}

/* The line has arrived at the core. Return: TAG_OWNED if the core owns it now, else 0. */
static Addr arrive(ThreadId tid, Int core, Addr addr, Bool write)
{
	struct shared_line *entry = directory_get(line_of(addr));

	if (!entry->nr_cores && may_own(tid, line_of(addr)))
		entry->owner = core;
	depart(entry, core, addr, write);
	return entry->owner == core ? TAG_OWNED : 0;
}

static Bool allows(const Addr *tag, Bool write)
{
	return tag && (!write || *tag & TAG_OWNED);
}

/* Whether the core's caches have the line, in a state that allows a write if @write. */
static Bool has(Int core, Addr line, Bool write)
{
	return allows(cache_find(&cores[core].l1, line), write) ||
	       allows(cache_find(&cores[core].l2, line), write);
}

/* Tells the transactions on a core's hardware threads that a line has left its first level. */
static void tell_evicted(Int core, Addr line, Bool far)
{
	Int cpu;

	/* The running thread comes last: if its transaction aborts, this does not return. */
	for (cpu = core; cpu < model_cpus(); cpu += model.cores)
		if (runs[cpu] && runs[cpu] != current_tid && vthreads[runs[cpu]].core == cpu &&
		    txn_open(runs[cpu]))
			access_evicted(runs[cpu], line, far);
	if (txn_open(current_tid))
		access_evicted(current_tid, line, far);
}

/* Puts a line into the first level. Return: the line that it replaces, 0 none. */
static Addr fill(Int core, Addr tag)
{
	Addr *upper = cache_find(&cores[core].l1, tag_line(tag));
	Addr evicted;

	if (upper) {
		*upper |= tag;
		cache_use(&cores[core].l1, upper);
		return 0;
	}
	evicted = cache_insert(&cores[core].l1, tag);
	if (evicted)
		leave_l1(core, evicted);
	return tag_line(evicted);
}

/**
 * coherence_access() - simulate an access that did not pass the filter.
 * @tid: the running thread, in the region of interest
 * @addr: first byte; all bytes are in one line
 * @write: False for a read
 *
 * Charges the access's latency. Does not return if the thread's transaction aborts: while it waits,
 * or because the line replaces one of the transaction's. No other thread runs between the return
 * and the access itself.
 */
void coherence_access(ThreadId tid, Addr addr, Bool write)
{
	Int core = core_of(vthreads[tid].core);
	Addr line = line_of(addr);
	Bool far = !has(core, line, write);
	Addr *upper, *lower, state = 0, evicted;

	if (far)
		wait_for_line(core, addr, write);
	upper = cache_find(&cores[core].l1, line);
	if (!allows(upper, write)) {
		lower = cache_find(&cores[core].l2, line);
		if (allows(lower, write)) {
			charge(upper ? 0 : model.l2);
			state = *lower & (TAG_OWNED | TAG_DIRTY);
			cache_use(&cores[core].l2, lower);
		} else {
			state = arrive(tid, core, addr, write);
		}
	}
	contention_done(tid, model.atomic);
	if (write)
		state |= TAG_OWNED | TAG_DIRTY;
	filter_forget(core, line);
	evicted = fill(core, line | state);
	if (evicted && txn_nr_open)
		tell_evicted(core, evicted, far);
}

/**
 * coherence_allow() - let the same access pass the filter from now on.
 * @tid: the running thread; coherence_access() has been called, and the thread's transaction, if
 *       one is open, has the line in its sets
 * @line: address of the line's first byte
 * @write: False for a read
 */
void coherence_allow(ThreadId tid, Addr line, Bool write)
{
	Int cpu = vthreads[tid].core;
	Addr *tag = cache_find(&cores[core_of(cpu)].l1, line);

	/*
	 * The access has aborted a transaction of the core's other hardware thread that had written
	 * the line, so the first level has dropped it.
	 */
	if (!tag)
		return;
	filter_allow(cpu, line,
		     *tag & TAG_OWNED && (write || (!txn_open(tid) && may_own(tid, line))));
}

/**
 * coherence_resume() - a thread begins a slice, or its transaction begins or ends.
 * @tid: the thread
 */
void coherence_resume(ThreadId tid)
{
	Int cpu = vthreads[tid].core;

	if (!model.caches || !account_costs() || cpu < 0) {
		filter_use_none();
		return;
	}
	runs[cpu] = tid;
	filter_use(cpu, txn_open(tid));
}

/** coherence_forget_filters() - the region of interest begins or ends: empty all filters. */
void coherence_forget_filters(void)
{
	if (!model.caches)
		return;
	filter_forget_all();
	coherence_resume(current_tid);
}

/**
 * coherence_txn_begin() - a transaction begins: no filter may hide its first access to a line.
 * @tid: the thread
 */
void coherence_txn_begin(ThreadId tid)
{
	Int cpu = vthreads[tid].core;

	if (model.caches && cpu >= 0)
		filter_forget_cpu(cpu);
	coherence_resume(tid);
}

/**
 * coherence_txn_undo() - a transaction that wrote a line aborts: the first level drops the line.
 * @tid: the thread
 * @line: address of the line's first byte
 *
 * The second level has the contents from before the transaction.
 */
void coherence_txn_undo(ThreadId tid, Addr line)
{
	Int cpu = vthreads[tid].core;
	Addr tag;

	if (!model.caches || cpu < 0)
		return;
	tag = cache_remove(&cores[core_of(cpu)].l1, line);
	filter_forget(core_of(cpu), line);
	if (tag)
		leave_l1(core_of(cpu), tag);
}
