/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gate.c - see gate.h.
 *
 * The lock of the slow paths is never held while anything is called that may take a lock of the
 * program or of the loader: only system calls and _dl_find_object(). It inherits priority
 * (pi-lock.h), and the holder blocks signals: no handler, and no cancellation, can leave it held.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/pi-lock.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "gate.h"
#include "settings.h"
#include "thread.h"
#include "wiped.h"

__thread bool elide_busy;

/* What a fork wipes: zero in the child tells that it is one, and frees the lock. */
static struct wiped {
	uint32_t lock;
	uint32_t same_process;
} *wiped;

static int (*gate_ready)(void);

int elide_gate_start(int (*ready)(void))
{
	wiped = elide_wiped_alloc(sizeof(*wiped));
	if (!wiped)
		return -ENOMEM;
	gate_ready = ready;
	elide_gate_adopt();
	return 0;
}

bool elide_gate_same_process(void)
{
	return wiped->same_process;
}

void elide_gate_adopt(void)
{
	wiped->same_process = 1;
}

/*
 * What a slow path does not block: signals that an instruction of its own raises. A
 * program may handle a fault on memory of its own that a slow path reads.
 */
#define SIGNAL_BIT(nr) (1ull << ((nr) - 1))
#define FAULTS                                                                              \
	(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) | \
	 SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS))

static void slow_begin(struct elide_slow *slow)
{
	static const uint64_t blocked = ~FAULTS;
	const struct elide_thread *t = elide_self;

	slow->saved_errno = errno;
	sys_sigmask(&blocked, &slow->signals);
	elide_busy = true;
	/* In a block that a fork has wiped the id is not known. */
	slow->tid = t && t->tid ? t->tid : syscall(SYS_gettid);
}

static void slow_end(const struct elide_slow *slow)
{
	elide_busy = false;
	/* A pending cancellation may end the thread here: nothing of ours is held any more. */
	sys_sigmask(&slow->signals, NULL);
	errno = slow->saved_errno;
}

bool elide_slow_lock(struct elide_slow *slow)
{
	if (!elide_process.running || elide_busy)
		return false;
	slow_begin(slow);
	elide_pi_lock(&wiped->lock, slow->tid);
	test_point(slow_entered);
	return true;
}

/* The lock is held: may the slow path go on? */
static bool slow_ready(const struct elide_slow *slow)
{
	if (!gate_ready())
		return true;
	elide_slow_leave(slow);
	return false;
}

bool elide_slow_enter(struct elide_slow *slow)
{
	return elide_slow_lock(slow) && slow_ready(slow);
}

bool elide_slow_is_taken(void)
{
	return wiped && READ_ONCE(wiped->lock);
}

bool elide_slow_try_enter(struct elide_slow *slow)
{
	if (!elide_process.running || elide_busy || elide_slow_is_taken())
		return false;
	slow_begin(slow);
	if (elide_pi_trylock(&wiped->lock, slow->tid)) {
		test_point(slow_entered);
		return slow_ready(slow);
	}
	slow_end(slow);
	return false;
}

void elide_slow_leave(const struct elide_slow *slow)
{
	test_point(slow_leaving);
	elide_pi_unlock(&wiped->lock, slow->tid);
	slow_end(slow);
}
