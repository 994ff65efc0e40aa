/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * futex.c - see futex.h.
 *
 * Locks and other means of synchronisation that are not glibc's make futex calls by libc's syscall(): those of Rust,
 * C++20, GLib, Qt, abseil and oneTBB. Only their waits are seen; without contention they make no call. glibc's own
 * waits do not come here. futex(2) has the operations; those from 449 on are in futex_waitv(2) and in Linux 6.7.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/syscalls.h"
#include "evidence/lock-code.h"
#include "futex.h"
#include "section/blocking.h"
#include "wrap.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#ifndef SYS_futex_requeue
#define SYS_futex_requeue 456
#endif

/* As struct futex_waitv of <linux/futex.h>, which kernel headers before 5.16 lack. */
struct waiter {
	uint64_t value;
	uint64_t word;
	uint32_t flags;
	uint32_t unused;
};

/**
 * struct syscall - a call of syscall().
 * @number: of the system call
 * @arguments: of it
 * @site: return address of the call
 * @stack: the caller's stack pointer once the call has returned
 */
struct syscall {
	long number;
	unsigned long arguments[6];
	const void *site;
	const void *stack;
};

/* What a call does. */
enum deed {
	DEED_OTHER,     /* none of these, or its arguments cannot be read */
	DEED_WAIT,
	DEED_WAIT_MANY, /* for one of several */
	DEED_LOCK,      /* has the lock when it is over, whose holder the kernel knows */
	DEED_WAKE,
	DEED_WAKE_TWO,  /* of two futexes */
	DEED_MOVE,      /* wakes waiters of one futex, and moves others to a second one */
};

/* The number of waiters that futex_waitv(2) takes: 128 at most. */
#define MOST_WAITERS 128

/*
 * May 8 bytes be read there? Without an operation rt_sigprocmask(2) reads its signals, and then answers that the
 * operation is invalid.
 */
static bool is_readable(unsigned long address)
{
	return sys_call(rt_sigprocmask, -1, address, 0, 8, 0, 0) && errno == EINVAL;
}

/* May the @nr waiters of a call be read? They are shorter than a page. */
static bool has_waiters(const struct syscall *c, unsigned long nr)
{
	unsigned long first = c->arguments[0];

	return nr && nr <= MOST_WAITERS && is_readable(first) &&
	       is_readable(first + nr * sizeof(struct waiter) - 8);
}

static enum deed deed_of(const struct syscall *c)
{
	switch (c->number) {
	case SYS_futex_waitv:
		return has_waiters(c, (unsigned int)c->arguments[1]) ? DEED_WAIT_MANY : DEED_OTHER;
	case SYS_futex_wake:
		return DEED_WAKE;
	case SYS_futex_wait:
		return DEED_WAIT;
	case SYS_futex_requeue:
		return has_waiters(c, 2) ? DEED_MOVE : DEED_OTHER;
	default:
		return DEED_OTHER;
	case SYS_futex:
		break;
	}
	switch (c->arguments[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		return DEED_WAIT;
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return DEED_LOCK;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_UNLOCK_PI:
		return DEED_WAKE;
	case FUTEX_WAKE_OP:
		return DEED_WAKE_TWO;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		return DEED_MOVE;
	default:
		return DEED_OTHER;
	}
}

static long call_real(const struct syscall *c)
{
	const unsigned long *a = c->arguments;

	return real.syscall(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The futex of a call, or the first one. */
static const void *word_of(const struct syscall *c, enum deed deed)
{
	const struct waiter *waiters = (const struct waiter *)c->arguments[0];

	if (deed == DEED_WAIT_MANY || c->number == SYS_futex_requeue)
		return (const void *)(uintptr_t)waiters[0].word;
	return (const void *)c->arguments[0];
}

/* The second futex of a call that has two. */
static const void *second_word(const struct syscall *c)
{
	const struct waiter *waiters = (const struct waiter *)c->arguments[0];

	return c->number == SYS_futex_requeue ? (const void *)(uintptr_t)waiters[1].word :
						(const void *)c->arguments[4];
}

/* The futexes of a call that waits for several, but for the first one, have @nr more waiters. */
static void add_waiters(const struct syscall *c, enum deed deed, int nr)
{
	const struct waiter *waiters = (const struct waiter *)c->arguments[0];

	if (deed == DEED_WAIT_MANY)
		for (unsigned int i = 1; i < (unsigned int)c->arguments[1]; i++)
			elide_waiters_add((const void *)(uintptr_t)waiters[i].word, nr);
}

/* The futex that has ended a wait. */
static const void *woken_word(const struct syscall *c, enum deed deed, const void *word, long ret)
{
	const struct waiter *waiters = (const struct waiter *)c->arguments[0];

	return deed == DEED_WAIT_MANY ? (const void *)(uintptr_t)waiters[ret].word : word;
}

static long wait_for(const struct syscall *c, enum deed deed, const void *site, enum elide_lock_code code)
{
	const void *word = word_of(c, deed);
	struct elide_blocking b;
	int saved = errno;
	long ret;

	elide_blocking_begin_futex(&b, word, site,
				   deed == DEED_LOCK || code == ELIDE_LOCK_CODE_LOCK ? ELIDE_KIND_FUTEX_LOCK :
										       ELIDE_KIND_FUTEX);
	add_waiters(c, deed, b.row ? 1 : 0);
	errno = saved;
	ret = call_real(c);
	saved = errno;
	add_waiters(c, deed, b.row ? -1 : 0);
	if (ret >= 0 || saved == EINTR)
		elide_blocking_end_futex(&b, ret >= 0 ? woken_word(c, deed, word, ret) : word);
	else if (saved == ETIMEDOUT)
		elide_blocking_failed(&b);
	else
		elide_blocking_refused(&b);
	errno = saved;
	return ret;
}

static long wake(const struct syscall *c, enum deed deed)
{
	const void *word = word_of(c, deed), *second = deed == DEED_WAKE ? NULL : second_word(c), *site;
	enum elide_lock_code code;
	int saved = errno;

	if (elide_self)
		elide_self->futex.word = NULL;
	if (elide_waiters_any(word) || (deed == DEED_WAKE_TWO && elide_waiters_any(second))) {
		site = elide_lock_code_caller(c->site, c->stack, &code);
		/* The first futex is noted last: both may have one place in the table, and most calls wake at the first. */
		if (deed == DEED_WAKE_TWO)
			elide_blocking_wakes_futex(second, site);
		elide_blocking_wakes_futex(word, site);
		if (deed == DEED_MOVE)
			WRITE_ONCE(elide_futex_places[elide_waker_place(word)].to, second);
	}
	errno = saved;
	return call_real(c);
}

/* Is the call made for a wait that is counted elsewhere, or by the child of vfork()? */
static bool passes(void)
{
	const struct elide_thread *t = elide_self;

	return !elide_process.running || elide_busy || elide_inside(t) || (t && t->waits);
}

static long futex_call(const struct syscall *c)
{
	enum elide_lock_code code;
	int saved = errno;
	enum deed deed = deed_of(c);
	const void *site;

	errno = saved;
	if (deed == DEED_OTHER || unlikely(passes()))
		return call_real(c);
	if (deed >= DEED_WAKE)
		return wake(c, deed);
	site = elide_lock_code_caller(c->site, c->stack, &code);
	errno = saved;
	return wait_for(c, deed, site, code);
}

__attribute__((used)) long syscall_futex(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d,
					 unsigned long e, unsigned long f)
{
	return futex_call(&(struct syscall){number, {a, b, c, d, e, f}, CALL_SITE(), __builtin_dwarf_cfa()});
}
