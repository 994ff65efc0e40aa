// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * alarm.c - when a timer expires, once or again and again.
 *
 * Times are in nanoseconds, so that an interval that is not a multiple of a cycle does not drift.
 * Must never read a clock: the callers pass the time.
 */
#include "alarm.h"
#include "date.h"
#include "guest.h"
#include "slice.h"
#include "time.h"

/* Flag of the settime calls (include/uapi/linux/time.h). */
#define TIMER_ABSTIME 1

/**
 * alarm_pass() - let time pass until now.
 * @alarm: the alarm; afterwards its next expiry is later than @now
 * @now: time on its clock, ns
 *
 * Return: number of times that it expired.
 */
Long alarm_pass(struct alarm *alarm, Long now)
{
	Long times;

	if (!alarm->expiry || alarm->expiry > now)
		return 0;
	if (!alarm->interval) {
		alarm->expiry = 0;
		return 1;
	}
	times = (now - alarm->expiry) / alarm->interval + 1;
	alarm->expiry += times * alarm->interval;
	return times;
}

/**
 * alarm_set() - arm or disarm an alarm.
 * @alarm: the alarm
 * @spec: the value and interval that the program passed
 * @now: time on the alarm's clock, ns
 * @base: time of the clock at virtual time 0, seconds; -1: @spec is relative to @now
 */
void alarm_set(struct alarm *alarm, const struct vki_itimerspec *spec, Long now, Long base)
{
	Long seconds = spec->it_value.tv_sec;

	alarm->expiry = 0;
	if (!seconds && !spec->it_value.tv_nsec)
		return;
	alarm->interval = time_saturated_ns(spec->it_interval.tv_sec, spec->it_interval.tv_nsec);
	if (base < 0)
		alarm->expiry = now + time_saturated_ns(seconds, spec->it_value.tv_nsec);
	else if (seconds >= base)
		alarm->expiry = time_saturated_ns(seconds - base, spec->it_value.tv_nsec);
	if (alarm->expiry < 1)
		alarm->expiry = 1;
}

/**
 * alarm_get() - the time left until the next expiry.
 * @alarm: the alarm
 * @now: time on its clock, ns
 * @spec: receives the time left, 0 if it is not armed, and the interval
 */
void alarm_get(const struct alarm *alarm, Long now, struct vki_itimerspec *spec)
{
	Long left = alarm->expiry - now;

	/* A value of 0 would mean that the timer is not armed. */
	if (left < 1)
		left = alarm->expiry ? 1 : 0;
	spec->it_value.tv_sec = left / NS_PER_SECOND;
	spec->it_value.tv_nsec = left % NS_PER_SECOND;
	spec->it_interval.tv_sec = alarm->interval / NS_PER_SECOND;
	spec->it_interval.tv_nsec = alarm->interval % NS_PER_SECOND;
}

/**
 * alarm_due() - the virtual time of the next expiry.
 * @alarm: an alarm whose clock is virtual time and not processor time
 *
 * Return: cycles, 0 never.
 */
Long alarm_due(const struct alarm *alarm)
{
	return alarm->expiry ? time_never(time_cycles(0, alarm->expiry)) : 0;
}

/**
 * alarm_date_moved() - the date was set.
 * @alarm: an alarm
 * @by: how much later the date is now, ns
 * @at: the virtual time of that, ns
 */
void alarm_date_moved(struct alarm *alarm, Long by, Long at)
{
	if (!alarm->dated || !alarm->expiry)
		return;
	alarm->expiry -= by;
	if (alarm->expiry < at)
		alarm->expiry = at;
}

/**
 * alarm_settime() - the common part of timer_settime(2) and timerfd_settime(2).
 * @guest: registers of the running thread, with the call's arguments
 * @alarm: the timer that the call names
 * @now: time on its clock, ns
 * @clock: number of the clock
 *
 * Return: 0, or -errno without a change.
 */
Long alarm_settime(VexGuestAMD64State *guest, struct alarm *alarm, Long now, Int clock)
{
	Bool absolute = guest->guest_RSI & TIMER_ABSTIME;
	Long base = time_base(clock) > 0 ? time_base(clock) : 0;
	struct vki_itimerspec set;
	const struct vki_itimerspec *new = (const struct vki_itimerspec *)guest->guest_RDX;
	struct vki_itimerspec *old = (struct vki_itimerspec *)guest->guest_R10;

	if (!guest_may((Addr)new, sizeof(*new), VKI_PROT_READ) ||
	    (old && !guest_may((Addr)old, sizeof(*old), VKI_PROT_WRITE)))
		return -(Long)VKI_EFAULT;
	if (!time_valid_spec(new))
		return -(Long)VKI_EINVAL;
	if (old)
		alarm_get(alarm, now, old);
	set = *new;
	alarm->dated = absolute && date_clock(clock);
	if (alarm->dated && (set.it_value.tv_sec || set.it_value.tv_nsec))
		date_undo(&set.it_value);
	alarm_set(alarm, &set, now, absolute ? base : -1);
	/* The running slice may end after the expiry. */
	slice_stop(guest);
	return 0;
}

/**
 * alarm_gettime() - the common part of timer_gettime(2) and timerfd_gettime(2).
 * @guest: registers of the running thread, with the call's arguments
 * @alarm: the timer that the call names
 * @now: time on its clock, ns
 *
 * Return: 0 or -errno.
 */
Long alarm_gettime(VexGuestAMD64State *guest, const struct alarm *alarm, Long now)
{
	struct vki_itimerspec *spec = (struct vki_itimerspec *)guest->guest_RSI;

	if (!guest_may((Addr)spec, sizeof(*spec), VKI_PROT_WRITE))
		return -(Long)VKI_EFAULT;
	alarm_get(alarm, now, spec);
	return 0;
}
