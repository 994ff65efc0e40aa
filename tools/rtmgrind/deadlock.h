/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deadlock.h - reports a deadlocked program and ends it; see deadlock.c.
 *
 * Must never be called while a thread is ready.
 */
#ifndef RTMGRIND_DEADLOCK_H
#define RTMGRIND_DEADLOCK_H

#include "rtmgrind.h"

void deadlock_check(void);

#endif
