/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * date.h - the date, which programs can set; see date.c.
 *
 * Must never be needed for clocks that show how much time has passed.
 */
#ifndef RTMGRIND_DATE_H
#define RTMGRIND_DATE_H

#include "rtmgrind.h"
#include "guest.h"

Bool date_clock(Int clock);
Long date_offset(void);
void date_undo(struct vki_timespec *ts);
void date_sync(void);
enum syscall_verdict date_call(VexGuestAMD64State *guest);

#endif
