/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deadlock.h - a program of which no thread can ever go on; see deadlock.c.
 *
 * Must never be called while a thread is ready.
 */
#ifndef RTMGRIND_DEADLOCK_H
#define RTMGRIND_DEADLOCK_H

#include "rtmgrind.h"

void deadlock_check(void);

#endif
