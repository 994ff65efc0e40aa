/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gate.c - see gate.h.
 *
 * The lock of the slow paths is never held while anything is called that may take a lock of the
 * program or of the loader: only system calls and _dl_find_object(). It inherits priority
 * (pi-lock.h), and the holder blocks signals: no handler, and no cancellation, can leave it held.
 *
 * A slow path runs on a stack of the process (base/own-stack.h), as the thread's own may be the
 * alternate one of a handler, which is small. A handler of a fault in a slow path runs on
 * that stack, too, or begins at the top of the thread's alternate stack.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/own-stack.h"
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
	struct elide_pi_lock lock;
	uint32_t same_process;
} *wiped;

static int (*gate_ready)(void);

/* The stack that slow paths run on, whose lock is that of the slow paths. */
static void *own_stack;

int elide_gate_start(int (*ready)(void))
{
	wiped = elide_wiped_alloc(sizeof(*wiped));
	if (!wiped)
		return -ENOMEM;
	gate_ready = ready;
	own_stack = elide_own_stack_alloc(ELIDE_OWN_STACK);
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

/**
 * struct slow - a slow path.
 * @body, @arg: what runs in it
 * @refused: @body did not run, as the process has no data file
 * @unready: @body runs even so
 * @signals: mask of blocked signals, which is given back
 * @tid: Linux thread id, under which the lock is held
 * @saved_errno: errno, which is given back
 */
struct slow {
	void (*body)(void *arg);
	void *arg;
	bool refused;
	bool unready;
	uint64_t signals;
	uint32_t tid;
	int saved_errno;
};

static void slow_end(const struct slow *slow)
{
	elide_busy = false;
	/* A pending cancellation may end the thread here: nothing of ours is held any more. */
	sys_sigmask(&slow->signals, NULL);
	errno = slow->saved_errno;
}

/*
 * False: a seccomp filter forbids what a slow path needs. Without the mask of before, which the kernel has
 * not told, there is none to give back.
 */
static bool slow_begin(struct slow *slow)
{
	static const uint64_t blocked = ~FAULTS;
	const struct elide_thread *t = elide_self;
	int saved = errno;

	if (unlikely(sys_sigmask(&blocked, &slow->signals))) {
		errno = saved;
		return false;
	}
	elide_busy = true;
	slow->saved_errno = saved;
	/* In a block that a fork has wiped the id is not known. */
	slow->tid = t && t->tid ? t->tid : syscall(SYS_gettid);
	if (likely((int32_t)slow->tid > 0))
		return true;
	slow_end(slow);
	return false;
}

/* On the stack of the slow paths, with their lock. */
static void slow_main(void *arg)
{
	struct slow *slow = arg;

	test_point(slow_entered);
	slow->refused = !slow->unready && gate_ready();
	if (!slow->refused)
		slow->body(slow->arg);
	test_point(slow_leaving);
}

/* The lock is held. */
static bool run_locked(struct slow *slow)
{
	elide_on_stack(slow_main, slow, own_stack);
	elide_pi_unlock(&wiped->lock, slow->tid);
	slow_end(slow);
	return !slow->refused;
}

static bool pass(struct slow *slow)
{
	if (!elide_process.running || elide_busy || !slow_begin(slow))
		return false;
	/* Or a thread has ended in a slow path, and left the tables in the middle of a change. */
	if (likely(elide_pi_lock(&wiped->lock, slow->tid)))
		return run_locked(slow);
	slow_end(slow);
	return false;
}

bool elide_slow_run(void (*body)(void *arg), void *arg)
{
	return pass(&(struct slow){.body = body, .arg = arg});
}

bool elide_slow_run_unready(void (*body)(void *arg), void *arg)
{
	return pass(&(struct slow){.body = body, .arg = arg, .unready = true});
}

bool elide_slow_try_run(void (*body)(void *arg), void *arg)
{
	struct slow slow = {.body = body, .arg = arg};

	if (!elide_process.running || elide_busy || READ_ONCE(wiped->lock.word) ||
	    !slow_begin(&slow))
		return false;
	if (elide_pi_trylock(&wiped->lock, slow.tid))
		return run_locked(&slow);
	slow_end(&slow);
	return false;
}
