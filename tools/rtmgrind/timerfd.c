// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timerfd.c - timers that are file descriptors, in virtual time.
 *
 * The descriptor is the kernel's, so that it can be polled, added to an epoll set, duplicated and
 * closed. Its timer in the kernel is used only to make the descriptor readable: it is armed for
 * the next nanosecond when the virtual timer expires, and is disarmed otherwise. The number of
 * expiries is counted here. Must never let the kernel decide when a timer expires.
 */
#include "timerfd.h"
#include "account.h"
#include "alarm.h"
#include "guest.h"
#include "host.h"
#include "model.h"
#include "time.h"
#include "vthread.h"
#include "wait.h"

#define POLL_IN 1
/* Longest wait for the kernel to make a descriptor readable whose timer is armed, ns. Chosen. */
#define SWITCH_NS NS_PER_SECOND
/* F_DUPFD_CLOEXEC, missing from Valgrind's headers (include/uapi/asm-generic/fcntl.h). */
#define DUPFD_CLOEXEC 1030
/* Depth of nested epoll sets to search; the kernel allows no more. */
#define MAX_DEPTH 5

/**
 * struct timerfd - one timer.
 * @refs: number of descriptors that refer to it
 * @fd: one of these
 * @clock: number of the clock that it was made with
 * @alarm: its next expiry
 * @ticks: expiries since the last read
 */
struct timerfd {
	UInt refs;
	Int fd;
	Int clock;
	struct alarm alarm;
	ULong ticks;
};

/* Indexed by descriptor, of nr_timerfds entries; NULL for other descriptors. */
static struct timerfd **timerfds;
static Int nr_timerfds;

static struct timerfd *find(Int fd)
{
	return fd >= 0 && fd < nr_timerfds ? timerfds[fd] : NULL;
}

/* The timer if @fd is the one of its descriptors that timerfd.fd names, else NULL. */
static struct timerfd *first_of(Int fd)
{
	struct timerfd *t = find(fd);

	return t && t->fd == fd ? t : NULL;
}

static void drop(Int fd)
{
	struct timerfd *t = find(fd);
	Int i;

	if (!t)
		return;
	timerfds[fd] = NULL;
	if (!--t->refs) {
		VG_(free)(t);
		return;
	}
	for (i = 0; t->fd == fd && i < nr_timerfds; i++)
		if (timerfds[i] == t)
			t->fd = i;
}

static void enter(Int fd, struct timerfd *t)
{
	Int i, nr = nr_timerfds;

	drop(fd);
	if (fd >= nr) {
		nr_timerfds = 2 * fd + 1;
		timerfds = VG_(realloc)("rtmgrind.timerfds", timerfds,
					nr_timerfds * sizeof(*timerfds));
		for (i = nr; i < nr_timerfds; i++)
			timerfds[i] = NULL;
	}
	timerfds[fd] = t;
	t->refs++;
}

/**
 * timerfd_note() - a system call succeeded, which may have made or closed descriptors.
 * @nr: number of the call
 * @args: its arguments
 * @result: its result
 */
void timerfd_note(UInt nr, const UWord *args, Long result)
{
	struct timerfd *t;

	switch (nr) {
	case __NR_timerfd_create:
		t = VG_(calloc)("rtmgrind.timerfd", 1, sizeof(*t));
		t->fd = result;
		t->clock = args[0];
		enter(result, t);
		break;
	case __NR_close:
		drop(args[0]);
		break;
	case __NR_dup2:
	case __NR_dup3:
	case __NR_dup:
		t = find(args[0]);
		if (t && t != find(result))
			enter(result, t);
		else if (!t)
			drop(result);
		break;
	case __NR_fcntl:
		if ((args[1] == VKI_F_DUPFD || args[1] == DUPFD_CLOEXEC) && find(args[0]))
			enter(result, find(args[0]));
		break;
	}
}

/* Makes the descriptors of a timer readable, or not readable. */
static void set_readable(const struct timerfd *t, Bool readable)
{
	struct vki_itimerspec spec = {{0, 0}, {0, readable}};
	struct vki_pollfd fd = {.fd = t->fd, .events = POLL_IN};

	host_syscall(__NR_timerfd_settime, t->fd, 0, (Long)&spec, 0, 0, 0);
	if (readable)
		host_poll(&fd, 1, SWITCH_NS);
}

/**
 * timerfd_date_moved() - the date was set.
 * @by: how much later the date is now, ns
 * @at: the virtual time of that, ns
 */
void timerfd_date_moved(Long by, Long at)
{
	Int fd;

	for (fd = 0; fd < nr_timerfds; fd++)
		if (first_of(fd))
			alarm_date_moved(&timerfds[fd]->alarm, by, at);
}

/**
 * timerfd_next() - the next expiry of all these timers.
 *
 * Return: virtual time, 0 never.
 */
Long timerfd_next(void)
{
	Long next = 0;
	Int fd;

	for (fd = 0; fd < nr_timerfds; fd++) {
		const struct timerfd *t = first_of(fd);
		Long due = t ? alarm_due(&t->alarm) : 0;

		if (due && (!next || due < next))
			next = due;
	}
	return next;
}

/**
 * timerfd_expire() - make expired timers readable, and let threads that wait for them retry.
 * @now: virtual time
 */
void timerfd_expire(Long now)
{
	Int fd;

	for (fd = 0; fd < nr_timerfds; fd++) {
		struct timerfd *t = first_of(fd);
		Long times = t ? alarm_pass(&t->alarm, model_ns(now)) : 0;

		if (!times)
			continue;
		t->ticks += times;
		set_readable(t, True);
		wait_poke_fds(now);
	}
}

/* Whether an epoll set has only timers as members, according to the kernel's list of these. */
static Bool only_timers(Int epoll, Int depth)
{
	HChar name[64], info[4096], *at;
	Bool only = True;

	VG_(sprintf)(name, "/proc/self/fdinfo/%d", epoll);
	/* A list that fills the buffer is cut; such a long one most likely has other members, too. */
	if (host_read_file(name, info, sizeof(info)) == sizeof(info) - 1)
		return False;
	at = VG_(strstr)(info, "\ntfd:");
	if (!at)
		return False;
	for (; only && at; at = VG_(strstr)(at + 1, "\ntfd:")) {
		Int member = VG_(strtoll10)(at + 5 + VG_(strspn)(at + 5, " \t"), NULL);

		only = find(member) || (depth < MAX_DEPTH && only_timers(member, depth + 1));
	}
	return only;
}

/**
 * timerfd_outside() - may an event from outside the process make a descriptor ready?
 * @fds: descriptors that a thread waits for
 * @nr: number of descriptors
 *
 * Return: False if all are timers, or epoll sets of timers.
 */
Bool timerfd_outside(const struct vki_pollfd *fds, UInt nr)
{
	UInt i;

	for (i = 0; i < nr; i++)
		if (!find(fds[i].fd) && (!nr_timerfds || !only_timers(fds[i].fd, 1)))
			return True;
	return False;
}

/**
 * timerfd_read() - read(2) of a timer.
 * @guest: registers of the running thread
 * @verdict: receives what to do with the call
 *
 * Return: False if the call is another one, or the descriptor is no timer.
 */
Bool timerfd_read(VexGuestAMD64State *guest, enum syscall_verdict *verdict)
{
	struct timerfd *t = find(guest->guest_RDI);
	ULong *ticks = (ULong *)guest->guest_RSI;

	if (guest->guest_RAX != __NR_read || !t)
		return False;
	if (guest->guest_RDX < sizeof(*ticks)) {
		*verdict = wait_answer(guest, -(Long)VKI_EINVAL);
	} else if (!guest_may((Addr)ticks, sizeof(*ticks), VKI_PROT_WRITE)) {
		*verdict = wait_answer(guest, -(Long)VKI_EFAULT);
	} else if (t->ticks) {
		*ticks = t->ticks;
		t->ticks = 0;
		set_readable(t, False);
		*verdict = wait_answer(guest, sizeof(*ticks));
	} else if (host_syscall(__NR_fcntl, t->fd, VKI_F_GETFL, 0, 0, 0, 0) & VKI_O_NONBLOCK) {
		*verdict = wait_answer(guest, -(Long)VKI_EAGAIN);
	} else {
		*wait_fds(1) = (struct vki_pollfd){.fd = t->fd, .events = POLL_IN};
		wait_begin(guest, WAIT_FD, 0, 0);
		*verdict = SYSCALL_WAIT;
	}
	return True;
}

static Long settime(VexGuestAMD64State *guest, struct timerfd *t)
{
	Long result = alarm_settime(guest, &t->alarm, time_ns(account_now()), t->clock);

	if (!result) {
		t->ticks = 0;
		set_readable(t, False);
	}
	return result;
}

/**
 * timerfd_call() - system calls about timers that are descriptors.
 * @guest: registers of the running thread
 * @ours: set to False if the call is another one
 *
 * Return: what to do with the call.
 */
enum syscall_verdict timerfd_call(VexGuestAMD64State *guest, Bool *ours)
{
	struct timerfd *t = find(guest->guest_RDI);
	Long result;

	*ours = t && (guest->guest_RAX == __NR_timerfd_settime ||
		      guest->guest_RAX == __NR_timerfd_gettime);
	if (!*ours)
		return SYSCALL_REAL;
	timerfd_expire(account_now());
	if (guest->guest_RAX == __NR_timerfd_settime)
		result = settime(guest, t);
	else
		result = alarm_gettime(guest, &t->alarm, time_ns(account_now()));
	return wait_answer(guest, result);
}
