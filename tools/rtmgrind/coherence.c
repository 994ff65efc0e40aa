// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * coherence.c - the simulated caches: what an access costs, and who loses the line by it.
 *
 * Each core has a first- and a second-level cache, each domain a last level.
 * A directory knows which cores have a line, and keeps it in one of the states
 * of the MESI protocol (Papamarcos and Patel, ISCA 1984): owned by one core,
 * which may write it (M and E: the difference is a bit of its tag), or shared.
 *
 *   read miss    owned elsewhere: transfer, both share it; shared: from the last level or
 *                the nearest core; nobody: from the last level or memory, owned
 *   write miss   everybody else loses it; owned and dirty
 *
 * While a line moves from core to core nobody else gets it: that is what bounds
 * the rate of a contended lock.
 *
 * Most accesses never come here. Whatever changes a line's state, or opens a
 * transaction that has touched it, must take it out of the filters of all who
 * could then no longer access it without notice:
 *
 *   read entry   the line is the latest of its set in this core's first level; no other
 *                thread's transaction has written it; the thread's own has it, if open
 *   write entry  besides, this core owns it, no other thread's transaction has read it, and
 *                the thread's own, if open, has written it
 */
#include "coherence.h"
#include "cache.h"
#include "directory.h"
#include "model.h"
#include "txn.h"

/* How near two cores are. */
enum distance { SAME_DOMAIN, SAME_DIE, SAME_QUADRANT, SAME_SOCKET, REMOTE, NR_DISTANCES };

/**
 * struct core_caches - the caches of a core.
 * @l1: first level, data
 * @l2: second level; may or may not hold what the first one does
 */
struct core_caches {
	struct cache l1;
	struct cache l2;
};

static struct core_caches *cores;
static struct cache *llcs;
/* Of each hardware thread. */
static Addr *filters;
static ThreadId *runs;

static UInt nr_sets;
static Addr *no_filter;
static Long clean_cost[NR_DISTANCES], dirty_cost[NR_DISTANCES];

Addr *coherence_filter;

static Int core_of(Int cpu)
{
	return cpu % model.cores;
}

static struct cache *llc_of(Int core)
{
	return &llcs[core / model.domain];
}

static Addr *filter_of(Int cpu)
{
	return filters + cpu * 2 * nr_sets;
}

static UInt set_of(Addr line)
{
	return line / LINE_SIZE % nr_sets;
}

/** coherence_init() - empty caches, if the machine has some. */
void coherence_init(void)
{
	Int i;

	nr_sets = model_l1_sets();
	no_filter = VG_(calloc)("rtmgrind.filter", 2 * nr_sets, sizeof(*no_filter));
	coherence_filter = no_filter;
	if (!model.caches)
		return;
	cores = VG_(calloc)("rtmgrind.caches", model.cores, sizeof(*cores));
	for (i = 0; i < model.cores; i++) {
		cache_init(&cores[i].l1, model.l1_kib, model.l1_ways, model.l1_plru);
		cache_init(&cores[i].l2, model.l2_kib, model.l2_ways, False);
	}
	llcs = VG_(calloc)("rtmgrind.llcs", model.cores / model.domain, sizeof(*llcs));
	for (i = 0; i < model.cores / model.domain; i++)
		cache_init(&llcs[i], model.llc_kib, model.llc_ways, False);
	filters = VG_(calloc)("rtmgrind.filters", model_cpus() * 2 * nr_sets, sizeof(*filters));
	runs = VG_(calloc)("rtmgrind.runs", model_cpus(), sizeof(*runs));
	directory_init(model.cores);

	clean_cost[SAME_DOMAIN] = model.clean_domain;
	clean_cost[SAME_DIE] = model.clean_die;
	clean_cost[SAME_QUADRANT] = model.clean_quadrant;
	clean_cost[SAME_SOCKET] = model.clean_socket;
	clean_cost[REMOTE] = model.clean_remote;
	dirty_cost[SAME_DOMAIN] = model.dirty_domain;
	dirty_cost[SAME_DIE] = model.dirty_die;
	dirty_cost[SAME_QUADRANT] = model.dirty_quadrant;
	dirty_cost[SAME_SOCKET] = model.dirty_socket;
	dirty_cost[REMOTE] = model.dirty_remote;
}

static enum distance distance_between(Int a, Int b)
{
	if (a / model.domain == b / model.domain)
		return SAME_DOMAIN;
	if (a / model.die == b / model.die)
		return SAME_DIE;
	if (a / model.quadrant == b / model.quadrant)
		return SAME_QUADRANT;
	return a * model.sockets / model.cores == b * model.sockets / model.cores ? SAME_SOCKET :
										     REMOTE;
}

/* No hardware thread of the core may access that set's latest line unnoticed any more. */
static void forget_set(Int core, UInt set)
{
	Int cpu;

	for (cpu = core; cpu < model_cpus(); cpu += model.cores)
		filter_of(cpu)[set] = filter_of(cpu)[nr_sets + set] = 0;
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

/* A line has left the second level; it may be in the first one still. */
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

/* A line has left the first level: it goes to the second. */
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

/* Takes a line away from a core. Return: the state it had there. */
static Addr take_away(Int core, Addr line)
{
	Addr tags = cache_remove(&cores[core].l1, line) | cache_remove(&cores[core].l2, line);

	forget_set(core, set_of(line));
	return tags;
}

/* The owner of a line may keep it, but no longer write it. Return: the state it had there. */
static Addr share(Int core, Addr line)
{
	Addr *upper = cache_find(&cores[core].l1, line);
	Addr *lower = cache_find(&cores[core].l2, line);
	Addr tags = (upper ? *upper : 0) | (lower ? *lower : 0);

	if (upper)
		*upper = line;
	if (lower)
		*lower = line;
	forget_set(core, set_of(line));
	return tags;
}

/* A move between cores begins when the line's last one is over, and ends here. */
static Long move(struct shared_line *entry, Long cycles)
{
	Long now = sched_now();
	Long start = entry->busy_until > now ? entry->busy_until : now;

	entry->busy_until = start + cycles;
	sched_meet();
	return entry->busy_until - now;
}

/* Cost of a line that no core has. */
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
		Long near = clean_cost[distance_between(core, first)];

		if (near < cycles && llc_of(first) != own && cache_find(llc_of(first), line))
			cycles = near;
	}
	cache_insert(own, line);
	return cycles;
}

static Long read_shared(struct shared_line *entry, Int core)
{
	Addr *tag = cache_find(llc_of(core), entry->line);
	Long cycles = model.memory;
	Int other;

	if (tag) {
		cycles = model.llc;
	} else {
		for (other = directory_next(entry, -1); other >= 0;
		     other = directory_next(entry, other)) {
			Long near = clean_cost[distance_between(core, other)];

			if (near < cycles)
				cycles = near;
		}
	}
	llc_fill(core, entry->line);
	/* It cannot be had before it has arrived where it was going. */
	if (entry->busy_until > sched_now())
		cycles += entry->busy_until - sched_now();
	return cycles;
}

static Long read_owned(struct shared_line *entry, Int core)
{
	Int owner = entry->owner;
	enum distance distance = distance_between(core, owner);
	Bool dirty = share(owner, entry->line) & TAG_DIRTY;

	entry->owner = -1;
	llc_fill(owner, entry->line);
	llc_fill(core, entry->line);
	return move(entry, dirty ? dirty_cost[distance] : clean_cost[distance]);
}

/* A transaction that lost sight of the line must notice when it is written. */
static Bool may_own(ThreadId tid, Addr line)
{
	struct line *touched = txn_nr_open ? line_find(line) : NULL;

	return !touched || !line_other_reader(touched, tid);
}

/* A read that the core's caches cannot answer. Return: cycles; @state: what it may do with it. */
static Long get_to_read(ThreadId tid, Int core, Addr line, Addr *state)
{
	struct shared_line *entry = directory_find(line);
	Long cycles;

	*state = 0;
	if (!entry) {
		cycles = fetch(core, line);
		entry = directory_get(line);
		if (may_own(tid, line)) {
			entry->owner = core;
			*state = TAG_OWNED;
		}
	} else if (entry->owner >= 0) {
		cycles = read_owned(entry, core);
	} else {
		cycles = read_shared(entry, core);
	}
	directory_add(entry, core);
	return cycles;
}

/* A write that the core's caches cannot answer. */
static Long get_to_write(Int core, Addr line)
{
	struct shared_line *entry = directory_get(line);
	Bool had = entry->cores[core / 64] >> core % 64 & 1;
	Long cycles = 0;
	Int other;

	directory_add(entry, core);
	entry->owner = core;
	if (entry->nr_cores == 1)
		return had ? model.llc : fetch(core, line);
	/* All are told at once; the farthest decides. */
	for (other = directory_next(entry, -1); other >= 0; other = directory_next(entry, other)) {
		enum distance distance = distance_between(core, other);
		Long cost;

		if (other == core)
			continue;
		cost = take_away(other, line) & TAG_DIRTY ? dirty_cost[distance] :
							    clean_cost[distance];
		if (cost > cycles)
			cycles = cost;
		directory_remove(entry, other);
	}
	return move(entry, cycles);
}

/* Lets transactions know that a line has left the first level under them. */
static void tell_evicted(Int core, Addr line)
{
	Int cpu;

	/* The running thread comes last: if its own transaction aborts this does not return. */
	for (cpu = core; cpu < model_cpus(); cpu += model.cores)
		if (runs[cpu] && runs[cpu] != current_tid && vthreads[runs[cpu]].core == cpu &&
		    txn_open(runs[cpu]))
			txn_evicted(runs[cpu], line);
	if (txn_open(current_tid))
		txn_evicted(current_tid, line);
}

/**
 * coherence_access() - an access that the filter did not know.
 * @tid: the running thread, in the region of interest; its transaction, if open, has the
 *       line in its read or write set, and no other thread's does if they conflict
 * @line: address of the line's first byte
 * @write: False for a read
 *
 * Charges its latency. Does not return if the line takes the place of one that
 * the thread's transaction cannot do without.
 */
void coherence_access(ThreadId tid, Addr line, Bool write)
{
	Int cpu = vthreads[tid].core;
	Int core = core_of(cpu);
	struct cache *l1 = &cores[core].l1, *l2 = &cores[core].l2;
	Addr *tag = cache_find(l1, line);
	Addr *lower, state, evicted = 0;
	UInt set = set_of(line);

	if (tag && (!write || *tag & TAG_OWNED)) {
		state = *tag & TAG_OWNED;
	} else if (!tag && (lower = cache_find(l2, line)) && (!write || *lower & TAG_OWNED)) {
		charge(model.l2);
		state = *lower & (TAG_OWNED | TAG_DIRTY);
		cache_use(l2, lower);
	} else if (write) {
		charge(get_to_write(core, line));
		state = TAG_OWNED;
	} else {
		charge(get_to_read(tid, core, line, &state));
	}
	if (write)
		state |= TAG_DIRTY;
	if (tag) {
		*tag |= state;
		cache_use(l1, tag);
	} else {
		evicted = cache_insert(l1, line | state);
	}

	forget_set(core, set);
	filter_of(cpu)[set] = line;
	if (state & TAG_OWNED && (write || (!txn_open(tid) && may_own(tid, line))))
		filter_of(cpu)[nr_sets + set] = line;
	if (evicted) {
		leave_l1(core, evicted);
		if (txn_nr_open)
			tell_evicted(core, tag_line(evicted));
	}
}

/**
 * coherence_resume() - a thread begins a slice.
 * @tid: the thread
 */
void coherence_resume(ThreadId tid)
{
	Int cpu = vthreads[tid].core;

	coherence_filter = no_filter;
	if (!model.caches || !in_region || cpu < 0)
		return;
	runs[cpu] = tid;
	coherence_filter = filter_of(cpu);
}

/** coherence_forget_filters() - the region of interest begins or ends: what was known is old. */
void coherence_forget_filters(void)
{
	if (!model.caches)
		return;
	VG_(memset)(filters, 0, model_cpus() * 2 * nr_sets * sizeof(*filters));
	coherence_resume(current_tid);
}

/**
 * coherence_txn_begin() - a transaction begins: it must see each line's first access.
 * @tid: the thread
 */
void coherence_txn_begin(ThreadId tid)
{
	Int cpu = vthreads[tid].core;

	if (model.caches && cpu >= 0)
		VG_(memset)(filter_of(cpu), 0, 2 * nr_sets * sizeof(*filters));
}

/**
 * coherence_txn_undo() - a transaction that wrote a line aborts: the first level drops it.
 * @tid: the thread
 * @line: address of the line's first byte
 *
 * What it held before the transaction is in the second level.
 */
void coherence_txn_undo(ThreadId tid, Addr line)
{
	Int cpu = vthreads[tid].core;
	Addr tag;

	if (!model.caches || cpu < 0)
		return;
	tag = cache_remove(&cores[core_of(cpu)].l1, line);
	forget_set(core_of(cpu), set_of(line));
	if (tag)
		leave_l1(core_of(cpu), tag);
}
