/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pin.h - on which of the host's processors the host threads run; see pin.c.
 *
 * Must never show to the program.
 */
#ifndef RTMGRIND_PIN_H
#define RTMGRIND_PIN_H

#include "vthread.h"

void pin_turn(struct vthread *t);
void pin_release(struct vthread *t);

#endif
