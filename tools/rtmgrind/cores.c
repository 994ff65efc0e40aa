// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cores.c - which threads have one of the simulated processors.
 *
 * A processor here is a hardware thread. A thread gives up its processor when it waits, and at the
 * end of its time slice if another thread queues for the processor. A ready thread without one
 * takes, among the free processors that its affinity allows,
 *
 *   1. the one it had last;
 *   2. one on a core of which no hardware thread is in use: in the first domain that has such a
 *      core, so sockets fill up in order, or with --placement=spread in the socket with the fewest
 *      threads and there in the domain with the fewest; of these, the one that has been free for
 *      the longest time;
 *   3. one whose sibling is in use, chosen likewise;
 *   4. if all become free later than the thread's clock, the one that becomes free first.
 *
 * If no processor is free the thread queues. Called with the scheduler's guard held, or by the
 * running thread. Must never depend on real time.
 */
#include "cores.h"
#include "affinity.h"
#include "model.h"
#include "vthread.h"

/**
 * struct cpu - a simulated processor.
 * @tid: the thread that has it, 0: it is free
 * @free_at: virtual time from which another thread can take it
 */
struct cpu {
	ThreadId tid;
	Long free_at;
};

static struct cpu *cpus;
static Int nr_free;

/* Number of threads that have a processor, in each domain and in each socket. */
static Int *in_domain;
static Int *in_socket;

/** cores_init() - make the processors of the chosen machine. */
void cores_init(void)
{
	nr_free = model_cpus();
	cpus = VG_(calloc)("rtmgrind.cpus", nr_free, sizeof(*cpus));
	in_domain = VG_(calloc)("rtmgrind.domains", model.cores, sizeof(*in_domain));
	in_socket = VG_(calloc)("rtmgrind.sockets", model.sockets, sizeof(*in_socket));
}

/* Gives a free processor to a thread, or with @tid 0 frees it. */
static void assign(Int cpu, ThreadId tid)
{
	Int change = tid ? 1 : -1;

	cpus[cpu].tid = tid;
	nr_free -= change;
	in_domain[model_domain(cpu)] += change;
	in_socket[model_socket(cpu)] += change;
}

/**
 * cores_reset() - in the child of a fork(), free the processors of all threads but one.
 * @only: the thread that the child has
 */
void cores_reset(ThreadId only)
{
	Int i;

	for (i = 0; i < model_cpus(); i++)
		if (cpus[i].tid && cpus[i].tid != only)
			assign(i, 0);
}

/**
 * cores_release() - take the processor away from a thread that has one.
 * @tid: the thread
 */
void cores_release(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	if (t->core < 0)
		return;
	assign(t->core, 0);
	cpus[t->core].free_at = t->clock;
	t->last_core = t->core;
	t->core = -1;
}

/**
 * cores_shared() - does a thread have the core's other hardware thread?
 * @cpu: a processor, -1 none
 *
 * Return: True if so.
 */
Bool cores_shared(Int cpu)
{
	if (model.smt == 1 || cpu < 0)
		return False;
	return cpus[cpu < model.cores ? cpu + model.cores : cpu - model.cores].tid != 0;
}

static Bool is_queued(const struct vthread *t)
{
	return t->state == VT_READY && t->core < 0;
}

static Bool is_free(const struct vthread *t, Int cpu)
{
	return !cpus[cpu].tid && affinity_allows(t, cpu);
}

/* Below 0 if a thread is better placed on @a than on @b, above 0 if on @b. */
static Int compare_places(Int a, Int b)
{
	Int difference = cores_shared(a) - cores_shared(b);

	if (!difference && model.spread)
		difference = in_socket[model_socket(a)] - in_socket[model_socket(b)];
	if (!difference && model.spread)
		difference = in_domain[model_domain(a)] - in_domain[model_domain(b)];
	return difference ? difference : model_domain(a) - model_domain(b);
}

/* Whether the thread takes @a rather than @b; both are free. */
static Bool is_better(const struct vthread *t, Int a, Int b)
{
	Int difference = 0;

	if (cpus[a].free_at <= t->clock && cpus[b].free_at <= t->clock)
		difference = compare_places(a, b);
	return difference ? difference < 0 : cpus[a].free_at < cpus[b].free_at;
}

/* The free processor that a thread takes, -1 if it has to queue. */
static Int best_cpu(const struct vthread *t)
{
	Int i, best = -1;

	if (t->last_core >= 0 && is_free(t, t->last_core) &&
	    cpus[t->last_core].free_at <= t->clock)
		return t->last_core;
	for (i = 0; i < model_cpus(); i++)
		if (is_free(t, i) && (best < 0 || is_better(t, i, best)))
			best = i;
	return best;
}

/*
 * The thread that has queued for the longest time among those for which a processor is free, 0 none;
 * @cpu receives the processor.
 */
static ThreadId first_placeable(Int *cpu)
{
	ThreadId tid, first = 0;

	for (tid = 1; nr_free && tid < vthread_end; tid++) {
		const struct vthread *t = &vthreads[tid];
		Int best;

		if (!is_queued(t) || (first && t->clock >= vthreads[first].clock))
			continue;
		best = best_cpu(t);
		if (best < 0)
			continue;
		first = tid;
		*cpu = best;
	}
	return first;
}

/** cores_place() - give free processors to ready threads. */
void cores_place(void)
{
	ThreadId tid;
	Int cpu;

	while ((tid = first_placeable(&cpu)) != 0) {
		struct vthread *t = &vthreads[tid];

		if (t->clock < cpus[cpu].free_at)
			t->clock = cpus[cpu].free_at + model.context_switch;
		t->core = cpu;
		t->timeslice_end = t->clock + model_cycles(model.timeslice * 1000);
		assign(cpu, tid);
	}
}

/* The thread that has queued for a processor for the longest time, 0 none. */
static ThreadId first_queued(Int cpu)
{
	ThreadId tid, first = 0;

	for (tid = 1; tid < vthread_end; tid++)
		if (is_queued(&vthreads[tid]) && affinity_allows(&vthreads[tid], cpu) &&
		    (!first || vthreads[tid].clock < vthreads[first].clock))
			first = tid;
	return first;
}

/**
 * cores_wanted() - does another thread queue for a thread's processor?
 * @tid: the thread
 *
 * Return: True if so.
 */
Bool cores_wanted(ThreadId tid)
{
	return vthreads[tid].core >= 0 && first_queued(vthreads[tid].core);
}

/**
 * cores_preempt() - take the processor away if the time slice is over and a thread queues for it.
 * @tid: the thread, ready
 *
 * Return: True if it lost its processor.
 */
Bool cores_preempt(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];
	ThreadId next;

	if (t->core < 0 || t->clock < t->timeslice_end)
		return False;
	next = first_queued(t->core);
	if (!next || vthreads[next].clock > t->clock)
		return False;
	cores_release(tid);
	return True;
}

/**
 * cores_evict() - take a processor away from a thread whose affinity forbids it.
 * @tid: the thread, ready
 *
 * Return: True if it lost its processor.
 */
Bool cores_evict(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	if (t->core < 0 || affinity_allows(t, t->core))
		return False;
	cores_release(tid);
	return True;
}
