/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle.h - the passing of time while no thread can run; see idle.c.
 *
 * Must never be called while a thread is ready.
 */
#ifndef RTMGRIND_IDLE_H
#define RTMGRIND_IDLE_H

#include "rtmgrind.h"

Bool idle_due(Long deadline);
void idle_pace_stop(void);
void idle_wait(void);

#endif
