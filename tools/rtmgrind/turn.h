/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turn.h - which thread comes next; see turn.c.
 *
 * Must never be called without the scheduler's guard.
 */
#ifndef RTMGRIND_TURN_H
#define RTMGRIND_TURN_H

#include "rtmgrind.h"

ThreadId turn_next(ThreadId except, Bool busy, Long *key);
ThreadId turn_pick(Bool *idle);

#endif
