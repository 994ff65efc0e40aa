// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * date.c - the date, which programs can set.
 *
 * The date of a run is virtual time plus an offset, which all emulated processes of the run have in
 * common. When one of them sets the date, the timeouts and timers that are absolute dates move in
 * virtual time: each process notices it when it next chooses a thread. The host's date is never
 * set, as it would get that of the run. Must never change how fast a clock runs.
 */
#include "date.h"
#include "account.h"
#include "alarm.h"
#include "guest.h"
#include "host.h"
#include "model.h"
#include "peers.h"
#include "slice.h"
#include "time.h"
#include "timerfd.h"
#include "timers.h"
#include "vthread.h"

/* A later date would not fit in nanoseconds, seconds; the kernel's limit is near. */
#define LAST_SECOND 8000000000LL

/* The offset of a run with one process, and the one that the timeouts of this process have, ns. */
static Long own_offset, applied;

/**
 * date_clock() - does a clock show the date?
 * @clock: number of the clock
 *
 * Return: True for CLOCK_REALTIME and the clocks that follow it.
 */
Bool date_clock(Int clock)
{
	return clock == 0 || clock == 5 || clock == 8 || clock == 11;
}

static Long *offset(void)
{
	Long *common = peers_date_offset();

	return common ? common : &own_offset;
}

/**
 * date_offset() - by how much the date was set.
 *
 * Return: ns to add to the date of a run in which it was not set.
 */
Long date_offset(void)
{
	return *offset();
}

/**
 * date_undo() - convert a date to that of a run in which the date was not set.
 * @ts: the date; not before 1970
 */
void date_undo(struct vki_timespec *ts)
{
	Long by = *offset();

	ts->tv_sec -= by / NS_PER_SECOND;
	ts->tv_nsec -= by % NS_PER_SECOND;
	if (ts->tv_nsec < 0) {
		ts->tv_sec--;
		ts->tv_nsec += NS_PER_SECOND;
	} else if (ts->tv_nsec >= NS_PER_SECOND) {
		ts->tv_sec++;
		ts->tv_nsec -= NS_PER_SECOND;
	}
	if (ts->tv_sec < 0)
		*ts = (struct vki_timespec){0, 1};
}

/* The virtual time at which the date was set, or later. */
static Long set_at(void)
{
	Long at = peers_event(False);

	if (at < account_latest())
		at = account_latest();
	return at > 0 ? at : 1;
}

static Long moved(Long deadline, Long by, Long at)
{
	return deadline - by < at ? at : deadline - by;
}

/** date_sync() - the date may have been set: move timeouts and timers that are dates. */
void date_sync(void)
{
	Long by = *offset() - applied, at;
	ThreadId tid;

	if (!by)
		return;
	applied += by;
	at = set_at();
	timers_date_moved(by, time_ns(at));
	timerfd_date_moved(by, time_ns(at));
	by = by < 0 ? -model_cycles(-by) : model_cycles(by);
	for (tid = 1; tid < vthread_end; tid++) {
		struct vthread *t = &vthreads[tid];

		if (!t->wait.kind || !t->wait.deadline || !t->dated)
			continue;
		t->wait.deadline = moved(t->wait.deadline, by, at);
		if (t->try_deadline)
			t->try_deadline = moved(t->try_deadline, by, at);
	}
}

/* Sets the date; the user may do so. */
static enum syscall_verdict set(VexGuestAMD64State *guest, Long seconds, Long ns)
{
	struct vki_timespec now;

	if (seconds < 0 || seconds > LAST_SECOND || ns < 0 || ns >= NS_PER_SECOND)
		return guest_answer(guest, -(Long)VKI_EINVAL);
	if (host_syscall(__NR_geteuid, 0, 0, 0, 0, 0, 0))
		return guest_answer(guest, -(Long)VKI_EPERM);
	time_read_date(&now);
	*offset() += (seconds - now.tv_sec) * NS_PER_SECOND + ns - now.tv_nsec;
	peers_sends();
	peers_sent();
	slice_stop(guest);
	return guest_answer(guest, 0);
}

/**
 * date_call() - clock_settime(2), settimeofday(2), adjtimex(2) and clock_adjtime(2).
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict date_call(VexGuestAMD64State *guest)
{
	Bool of_clock = guest->guest_RAX == __NR_clock_adjtime;
	Addr at = guest->guest_RDI;
	const Long *words;

	switch (guest->guest_RAX) {
	case __NR_clock_settime:
		/* Two words: seconds and nanoseconds. */
		words = (const Long *)guest->guest_RSI;
		if (at != VKI_CLOCK_REALTIME)
			return guest_answer(guest, -(Long)VKI_EINVAL);
		if (!guest_may((Addr)words, 2 * sizeof(*words), VKI_PROT_READ))
			return guest_answer(guest, -(Long)VKI_EFAULT);
		return set(guest, words[0], words[1]);
	case __NR_settimeofday:
		words = (const Long *)at;
		if (!at)
			return guest_answer(guest, 0);
		if (!guest_may(at, 2 * sizeof(*words), VKI_PROT_READ))
			return guest_answer(guest, -(Long)VKI_EFAULT);
		if (words[1] < 0 || words[1] >= 1000000)
			return guest_answer(guest, -(Long)VKI_EINVAL);
		return set(guest, words[0], words[1] * 1000);
	default:
		/* The first word says what to change; if nothing, the kernel only returns the state. */
		at = of_clock ? guest->guest_RSI : at;
		if (!guest_may(at, sizeof(UInt), VKI_PROT_READ) || !*(const UInt *)at)
			return SYSCALL_REAL;
		return guest_answer(guest, -(Long)VKI_EPERM);
	}
}
