/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * join.c - pthread_join() and its kin: here a thread is known to have ended.
 *
 * Does nothing inside an elided section, which the call's system call aborts.
 */
#include <time.h>

#include "life/file.h"
#include "life/threads.h"
#include "state/holds.h"
#include "wrap.h"

/*
 * The id of a thread's processor clock has the complement of the Linux thread id above three bits, as
 * clock_getcpuclockid(3) returns it. An ended thread has no clock.
 */
#define CLOCK_TID(clock) (~(uint32_t)((clock) >> 3))

/* The calling thread waits for the end of another, and so needs no processor. */
static void set_joining(bool joining)
{
	struct elide_thread *t = elide_self;

	if (!t || elide_inside(t) || t->joining == joining)
		return;
	t->joining = joining;
	elide_active_add(joining ? -1 : 1);
}

/* A wait for the end of a thread. @begun: of elide_file_join(); @tid: of the thread, 0: it has ended */
struct join {
	uint32_t begun;
	uint32_t tid;
};

/*
 * Before the call: find the thread's id. An ended thread needs none, as no other one gets its handle before
 * it is joined: tell its end at once.
 */
static struct join before(pthread_t thread)
{
	struct join join = {0};
	clockid_t clock;

	if (elide_inside(elide_self))
		return join;
	set_joining(true);
	join.begun = elide_file_join();
	if (!pthread_getcpuclockid(thread, &clock))
		join.tid = CLOCK_TID(clock);
	else
		elide_thread_joined((const void *)thread, 0);
	return join;
}

/* After the call. Returns @err. */
static int joined(pthread_t thread, struct join join, int err)
{
	set_joining(false);
	if (join.begun && !elide_inside(elide_self))
		elide_file_joined(join.begun);
	if (!err && join.tid)
		elide_thread_joined((const void *)thread, join.tid);
	return err;
}

WRAPPER int pthread_join(pthread_t thread, void **value)
{
	struct join join = before(thread);

	return joined(thread, join, real.join(thread, value));
}

WRAPPER int pthread_tryjoin_np(pthread_t thread, void **value)
{
	struct join join = before(thread);

	return joined(thread, join, real.tryjoin(thread, value));
}

WRAPPER int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	struct join join = before(thread);

	return joined(thread, join, real.timedjoin(thread, value, until));
}

WRAPPER int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				 const struct timespec *until)
{
	struct join join = before(thread);

	return joined(thread, join, real.clockjoin(thread, value, clock, until));
}

WRAPPER int thrd_join(thrd_t thread, int *value)
{
	struct join join = before(thread);

	return joined(thread, join, real.thrd_join(thread, value));
}
