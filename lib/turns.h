/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turns.h - threads of one socket at a time: who is where, and whose turn it is.
 *
 * NATLE's throttling (Brown, Kogan, Lev, Luchangco, SPAA'16), by the clock: no line has
 * to be written to pass the turn on. Outside transactions only. Must never wait for a
 * thread, only for a time that is known before.
 */
#ifndef ELIDE_TURNS_H
#define ELIDE_TURNS_H

#include "pace.h"

#pragma GCC visibility push(hidden)

/** elide_turns_start() - how can a thread know where it is? */
void elide_turns_start(void);

/** elide_turns_socket() - that of the calling thread, below POLICY_SOCKETS; 0 if it cannot tell. */
uint32_t elide_turns_socket(void);

/** elide_turns_sockets() - on how many are the threads that have reported, or usually do? */
uint8_t elide_turns_sockets(const struct elide_pacer *p);

/** elide_turns_share() - an epoch is over: share the time out anew. Its lock is held. */
void elide_turns_share(struct elide_pacer *p);

/**
 * elide_turns_wait() - wait until it is the turn of the calling thread's socket.
 * @t: the calling thread, outside transactions
 * @mark: of the call
 *
 * Not longer than LEARN_TURN, and not at all if no thread of another socket uses the class.
 */
void elide_turns_wait(const struct elide_thread *t, const struct elide_mark *mark);

#pragma GCC visibility pop

#endif
