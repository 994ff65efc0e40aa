/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alarm.h - when a timer expires, once or again and again; see alarm.c.
 *
 * Must never know whose timer it is.
 */
#ifndef RTMGRIND_ALARM_H
#define RTMGRIND_ALARM_H

#include "rtmgrind.h"

/**
 * struct alarm - when a timer expires.
 * @expiry: time of the next expiry on the alarm's clock, ns; 0 not armed
 * @interval: time from one expiry to the next, ns; 0: it expires once
 * @dated: @expiry was given as a date, see date.c
 */
struct alarm {
	Long expiry;
	Long interval;
	Bool dated;
};

Long alarm_pass(struct alarm *alarm, Long now);
void alarm_set(struct alarm *alarm, const struct vki_itimerspec *spec, Long now, Long base);
void alarm_get(const struct alarm *alarm, Long now, struct vki_itimerspec *spec);
Long alarm_due(const struct alarm *alarm);
void alarm_date_moved(struct alarm *alarm, Long by, Long at);
Long alarm_settime(VexGuestAMD64State *guest, struct alarm *alarm, Long now, Int clock);
Long alarm_gettime(VexGuestAMD64State *guest, const struct alarm *alarm, Long now);

#endif
