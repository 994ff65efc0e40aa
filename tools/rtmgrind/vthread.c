// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vthread.c - the table of the simulated threads.
 *
 * Must never change the state of a thread that exists; vthread.h lists the functions that do.
 */
#include "vthread.h"
#include "fiber.h"

/* Valgrind's own, not in its installed headers: the option --max-threads. */
extern UInt VG_N_THREADS;

struct vthread *vthreads;
UInt nr_vthreads;
ThreadId vthread_end;
ThreadId current_tid;

/** vthread_init() - make the table, with the main thread in it. */
void vthread_init(void)
{
	nr_vthreads = VG_N_THREADS;
	vthreads = VG_(calloc)("rtmgrind.vthreads", nr_vthreads, sizeof(*vthreads));
	vthreads[1].core = vthreads[1].last_core = -1;
	/* Until the program begins, see startup.c. */
	vthreads[1].nr_still = 1;
	vthread_end = 2;
}

/**
 * vthread_renew() - make the entry of a thread that is about to be created.
 * @tid: the thread; another one that had this number has ended
 */
void vthread_renew(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	VG_(free)(t->wait.fds);
	VG_(free)(t->affinity);
	fiber_free(&t->fiber);
	VG_(memset)(t, 0, sizeof(*t));
	t->core = t->last_core = -1;
	if (tid >= vthread_end)
		vthread_end = tid + 1;
}

/**
 * vthread_find() - find the thread with a Linux thread id.
 * @lwp: the id
 * @alive: True: a thread that lives; False: one that has ended, and whose number is still free
 *
 * Return: the thread, 0 if there is none.
 */
ThreadId vthread_find(Int lwp, Bool alive)
{
	ThreadId tid;

	for (tid = 1; lwp && tid < vthread_end; tid++)
		if (vthreads[tid].lwp == lwp && (vthreads[tid].state != VT_FREE) == alive)
			return tid;
	return 0;
}
