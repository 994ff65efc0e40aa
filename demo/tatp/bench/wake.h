/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake.h - threads that pause for a time, unless they are woken before.
 *
 * They wait for a file and not for a futex: a profile of the program's locks must not have the
 * pauses of idle threads as waits.
 */
#ifndef DEMO_TATP_WAKE_H
#define DEMO_TATP_WAKE_H

#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/** wake_make() - a file to wait for; -1 with errno set. close() ends it. */
static inline int wake_make(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

/** wake_up() - end all pauses, and each one that begins from now on */
static inline void wake_up(int fd)
{
	uint64_t one = 1;

	/* It cannot fail: the counter is 0. */
	(void)!write(fd, &one, sizeof(one));
}

/**
 * wake_pause() - pause
 * @fd: the file
 * @ns: the longest time in nanoseconds, of which whole milliseconds count
 *
 * The call may return early.
 */
static inline void wake_pause(int fd, uint64_t ns)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };

	poll(&file, 1, (int)(ns / 1000000u));
}

#endif
