// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cores.c - which threads have one of the simulated cores.
 *
 * A thread that is ready takes a free core, its last one if it can; while all
 * are taken it queues. A core is given up when its thread waits, and at the
 * end of a time slice if somebody queues. Called with the scheduler's guard
 * held; must never look at real time.
 */
#include "rtmgrind.h"
#include "model.h"

/**
 * struct core - a simulated core.
 * @tid: thread that has it, 0 free
 * @free_at: virtual time from which it can be taken
 */
struct core {
	ThreadId tid;
	Long free_at;
};

static struct core *cores;

/** cores_init() - build the machine. */
void cores_init(void)
{
	cores = VG_(calloc)("rtmgrind.cores", model_cpus(), sizeof(*cores));
}

/**
 * cores_reset() - after fork(): only one thread is left.
 * @only: that thread
 */
void cores_reset(ThreadId only)
{
	Int i;

	for (i = 0; i < model_cpus(); i++)
		if (cores[i].tid != only)
			cores[i].tid = 0;
}

/**
 * cores_release() - take the core away from a thread that has one.
 * @tid: the thread
 */
void cores_release(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	if (t->core < 0)
		return;
	cores[t->core].tid = 0;
	cores[t->core].free_at = t->clock;
	t->last_core = t->core;
	t->core = -1;
}

/* The ready thread that has queued longest, 0 none. */
static ThreadId first_queued(void)
{
	ThreadId tid, first = 0;

	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].state == VT_READY && vthreads[tid].core < 0 &&
		    (!first || vthreads[tid].clock < vthreads[first].clock))
			first = tid;
	return first;
}

/* The thread's last core if it is free in time, else the one that is free first, -1 none. */
static Int best_core(const struct vthread *t)
{
	Int i, best = -1;

	if (t->last_core >= 0 && !cores[t->last_core].tid &&
	    cores[t->last_core].free_at <= t->clock)
		return t->last_core;
	for (i = 0; i < model_cpus(); i++)
		if (!cores[i].tid && (best < 0 || cores[i].free_at < cores[best].free_at))
			best = i;
	return best;
}

/** cores_place() - give free cores to ready threads. */
void cores_place(void)
{
	ThreadId tid;
	Int core;

	while ((tid = first_queued()) != 0) {
		struct vthread *t = &vthreads[tid];

		core = best_core(t);
		if (core < 0)
			return;
		if (t->clock < cores[core].free_at)
			t->clock = cores[core].free_at + model.context_switch;
		t->core = core;
		t->timeslice_end = t->clock + model_cycles(model.timeslice * 1000);
		cores[core].tid = tid;
	}
}

/**
 * cores_queued() - does anybody wait for a core?
 *
 * Return: True if so.
 */
Bool cores_queued(void)
{
	return first_queued() != 0;
}

/**
 * cores_preempt() - end a thread's time slice if it is over and somebody queues.
 * @tid: the thread, ready
 *
 * Return: True if it lost its core.
 */
Bool cores_preempt(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];
	ThreadId next;

	if (t->core < 0 || t->clock < t->timeslice_end)
		return False;
	next = first_queued();
	if (!next || vthreads[next].clock > t->clock)
		return False;
	cores_release(tid);
	return True;
}
