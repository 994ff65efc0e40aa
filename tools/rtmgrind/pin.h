/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pin.h - keeps the host threads of the process on one of the host's processors; see pin.c.
 *
 * The program must never notice.
 */
#ifndef RTMGRIND_PIN_H
#define RTMGRIND_PIN_H

#include "vthread.h"

void pin_turn(struct vthread *t);
void pin_release(struct vthread *t);

#endif
