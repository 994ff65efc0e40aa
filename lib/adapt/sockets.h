/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sockets.h - the arm "turns": the threads of one socket at a time.
 *
 * The throttling of NATLE (Brown, Kogan, Lev, Luchangco, SPAA'16), by the clock: no cache line
 * is written to pass the turn on. Outside transactions only. Must never wait for a thread, only
 * for a time that is known before.
 */
#ifndef ELIDE_SOCKETS_H
#define ELIDE_SOCKETS_H

#include "epoch.h"

#pragma GCC visibility push(hidden)

/** adapt_sockets_start() - find out whether RDTSCP can tell the socket. */
void adapt_sockets_start(void);

/** adapt_socket() - socket of the calling thread, below POLICY_SOCKETS; 0 if it is not known. */
uint32_t adapt_socket(void);

/** adapt_processor() - processor of the calling thread; 0 if it is not known. */
uint32_t adapt_processor(void);

/** adapt_sockets_used() - number of sockets with threads that report. */
uint8_t adapt_sockets_used(const struct adapt_class *p);

/** adapt_sockets_share() - an epoch is over: set each socket's part of the time. With @p->lock. */
void adapt_sockets_share(struct adapt_class *p);

/**
 * adapt_sockets_wait() - wait until it is the turn of the calling thread's socket.
 * @t: the calling thread, outside transactions
 * @call: the call
 *
 * Waits at most LEARN_SOCKETS_PERIOD (131 us), and not at all if no thread of another socket uses
 * the class.
 */
void adapt_sockets_wait(const struct elide_thread *t, const struct elide_call *call);

#pragma GCC visibility pop

#endif
