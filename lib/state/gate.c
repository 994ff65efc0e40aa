/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gate.c - see gate.h.
 *
 * The holder of the lock of the global-lock paths calls nothing that may acquire a lock of the program or
 * of the loader: only system calls and _dl_find_object(). It inherits priority (pi-lock.h), and blocks
 * signals: no handler, and no cancellation, can leave the lock held.
 *
 * A global-lock path runs on a stack of the process (base/own-stack.h), as the thread's own may be a
 * small alternate signal stack. A handler of a fault in a global-lock path runs on the stack of the
 * process, too, or begins at the top of the thread's alternate stack.
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
#include "tid.h"
#include "wiped.h"

__thread bool elide_busy;

/*
 * A fork wipes this: so the child knows that it is one, and the lock is free.
 * @same_process: 0 in a child, until elide_gate_adopt()
 * @inside: threads in global-lock paths that make system calls
 */
static struct wiped {
	struct elide_pi_lock lock;
	uint32_t same_process;
	uint32_t inside;
} *wiped;

/* This thread is counted in @inside, and stays so if a signal handler leaves global_end() by longjmp(). */
static __thread bool counted;

/*
 * Attempts to acquire the lock under a filter, of 100 cycles each: time for a global-lock path of some
 * microseconds to end. Chosen.
 */
#define QUIET_TRIES 1000

static int (*gate_ready)(void);

/* The stack of the global-lock paths, guarded by their lock. */
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
 * A global-lock path does not block the signals that its own instructions raise: a program may handle
 * faults on memory of its own that a global-lock path reads.
 */
#define SIGNAL_BIT(nr) (1ull << ((nr) - 1))
#define FAULTS                                                                              \
	(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) | \
	 SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS))

/**
 * struct global_path - a global-lock path.
 * @body, @arg: what runs in it
 * @refused: @body did not run, as the process has no data file
 * @unready: @body runs without a data file, too
 * @signals: mask of blocked signals, to be restored
 * @tid: Linux thread id, under which the lock is held
 * @quiet: under a filter: no system call is made, and signals are not blocked
 * @saved_errno: errno, to be restored
 */
struct global_path {
	void (*body)(void *arg);
	void *arg;
	bool refused;
	bool unready;
	uint64_t signals;
	uint32_t tid;
	bool quiet;
	int saved_errno;
};

/*
 * Count the thread in @inside, unless there is a filter. This stores @inside and then reads sys_forbidden,
 * elide_gate_close() does the reverse, all sequentially consistent: one of the two sees the other's store.
 */
static bool come_inside(void)
{
	if (!counted)
		__atomic_add_fetch(&wiped->inside, 1, __ATOMIC_SEQ_CST);
	counted = !__atomic_load_n(&sys_forbidden, __ATOMIC_SEQ_CST);
	if (!counted)
		__atomic_sub_fetch(&wiped->inside, 1, __ATOMIC_SEQ_CST);
	return counted;
}

static void go_outside(void)
{
	__atomic_sub_fetch(&wiped->inside, 1, __ATOMIC_SEQ_CST);
	counted = false;
}

/* Not sys_sigmask(), which a filter that is being announced, and waits for this thread, makes fail. */
static long set_mask(const uint64_t *set, uint64_t *old)
{
	return sys_ask(rt_sigprocmask, SIG_SETMASK, (long)set, (long)old, SYS_SIGSET, 0, 0);
}

static void global_end(const struct global_path *slow)
{
	elide_busy = false;
	if (likely(!slow->quiet)) {
		/* A pending cancellation may end the thread here: it holds nothing of ours any more. */
		set_mask(&slow->signals, NULL);
		go_outside();
	}
	errno = slow->saved_errno;
}

/*
 * False: a seccomp filter forbids to block signals, so there is no mask to restore either.
 */
static bool begin_own(struct global_path *slow)
{
	static const uint64_t blocked = ~FAULTS;
	int saved = errno;

	slow->quiet = !come_inside();
	if (!slow->quiet && unlikely(set_mask(&blocked, &slow->signals))) {
		go_outside();
		errno = saved;
		return false;
	}
	elide_busy = true;
	slow->saved_errno = saved;
	return true;
}

/* begin_own() for a body that needs the lock. */
static bool global_begin(struct global_path *slow)
{
	const struct elide_thread *t = elide_self;

	if (unlikely(!begin_own(slow)))
		return false;
	/* In a block that a fork has wiped the id is not known. */
	slow->tid = t && t->tid ? t->tid : elide_tid_now();
	if (likely((int32_t)slow->tid > 0))
		return true;
	global_end(slow);
	return false;
}

/* On the stack of the global-lock paths, with their lock. */
static void global_main(void *arg)
{
	struct global_path *slow = arg;

	test_point(global_entered);
	slow->refused = !slow->unready && gate_ready();
	if (!slow->refused)
		slow->body(slow->arg);
	test_point(global_leaving);
}

/* The lock is held. */
static bool run_locked(struct global_path *slow)
{
	/* A handler may leave a quiet one by longjmp(), which may need the thread's own stack. */
	if (likely(!slow->quiet))
		elide_on_stack(global_main, slow, own_stack);
	else
		global_main(slow);
	elide_pi_unlock(&wiped->lock, slow->tid);
	global_end(slow);
	return !slow->refused;
}

/*
 * Acquire the lock. A handler may leave a quiet global-lock path by longjmp(), and so the lock held for
 * ever: under a filter nobody waits for it for long.
 */
static bool acquire(const struct global_path *slow)
{
	if (likely(!slow->quiet))
		return elide_pi_lock(&wiped->lock, slow->tid);
	for (int i = 0; i < QUIET_TRIES; i++) {
		if (!READ_ONCE(wiped->lock.word) && elide_pi_trylock(&wiped->lock, slow->tid))
			return true;
		cpu_relax();
	}
	return false;
}

static bool pass(struct global_path *slow)
{
	if (!elide_process.running || elide_busy || !global_begin(slow))
		return false;
	/* False, too, after a thread has ended in a global-lock path, with the tables half changed. */
	if (likely(acquire(slow)))
		return run_locked(slow);
	global_end(slow);
	return false;
}

bool elide_global_run(void (*body)(void *arg), void *arg)
{
	return pass(&(struct global_path){.body = body, .arg = arg});
}

bool elide_global_run_unready(void (*body)(void *arg), void *arg)
{
	return pass(&(struct global_path){.body = body, .arg = arg, .unready = true});
}

bool elide_global_try_run(void (*body)(void *arg), void *arg)
{
	struct global_path slow = {.body = body, .arg = arg};

	if (!elide_process.running || elide_busy || READ_ONCE(wiped->lock.word) ||
	    !global_begin(&slow))
		return false;
	if (elide_pi_trylock(&wiped->lock, slow.tid))
		return run_locked(&slow);
	global_end(&slow);
	return false;
}

/*
 * Does the thread's block, or the one that it is to get, belong to this process? A fork wipes the block, and
 * the tables are the parent's.
 */
static bool owns(const struct elide_thread *t)
{
	return t ? t->ready : elide_gate_same_process();
}

bool elide_own_run(void (*body)(void *arg), void *arg)
{
	const struct elide_thread *t = elide_self;
	struct global_path slow = {0};
	bool ran;

	if (!elide_process.running || elide_busy || !owns(t) || READ_ONCE(sys_forbidden) ||
	    !begin_own(&slow))
		return false;
	/* Before signals were blocked a handler may have forked, or made a block. */
	ran = likely(!slow.quiet && elide_self == t && owns(t));
	if (likely(ran))
		body(arg);
	global_end(&slow);
	return ran;
}

/* Time that elide_gate_close() sleeps at once, and in all at most, ns. Chosen. */
#define CLOSE_PAUSE 50000
#define CLOSE_LONGEST 200000000

void elide_gate_close(void)
{
	__atomic_add_fetch(&sys_forbidden, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < CLOSE_LONGEST / CLOSE_PAUSE &&
			__atomic_load_n(&wiped->inside, __ATOMIC_SEQ_CST); i++)
		sys_wait_ns(CLOSE_PAUSE);
}

void elide_gate_open(void)
{
	__atomic_sub_fetch(&sys_forbidden, 1, __ATOMIC_SEQ_CST);
}
