// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fdwait.c - system calls that may wait for a file descriptor.
 *
 * Valgrind carries such a call out only when it will not block: then it is over at once, at a
 * defined virtual time. Until then the thread waits in front of it. The emulator makes poll, select
 * and epoll_wait with a timeout of 0, as their own timeout is virtual; their signal mask is in
 * force while the thread waits.
 *
 * Must never let such a call wait in the kernel while another thread could run.
 */
#include "fdwait.h"
#include "access.h"
#include "account.h"
#include "guest.h"
#include "host.h"
#include "model.h"
#include "peers.h"
#include "sigwait.h"
#include "time.h"
#include "timerfd.h"
#include "txn.h"
#include "vthread.h"
#include "wait.h"

#define POLL_IN 1
#define POLL_PRI 2
#define POLL_OUT 4
#define MSG_DONT_WAIT 0x40
/* include/uapi/asm-generic/socket.h */
#define SO_TYPE 3
#define SO_SNDBUF 7
#define SO_RCVTIMEO 20
#define SO_SNDTIMEO 21
#define SO_DOMAIN 39
/* include/linux/net.h */
#define SOCK_DGRAM 2
#define SOCK_SEQPACKET 5
/* Bytes of the largest fd_set for which select() is answered here: 4096 descriptors. Chosen. */
#define SET_MAX 512
#define EPOLL_EVENT_SIZE 12

static enum syscall_verdict leave_to_kernel(void)
{
	wait_cancel(current_tid);
	return SYSCALL_REAL;
}

/* The virtual deadline of a timeout in milliseconds; 0, which means none, if it is negative. */
static Long deadline_ms(Int timeout)
{
	return timeout < 0 ? 0 : time_after(time_cycles(0, timeout * 1000000LL));
}

/* Lets the running thread wait for its descriptors. @mask is in guest memory, 0 none. */
static enum syscall_verdict wait_for(VexGuestAMD64State *guest, Addr mask, Long deadline)
{
	if (!wait_again(guest) && !sigwait_mask(mask))
		return leave_to_kernel();
	wait_begin(guest, WAIT_FD, deadline, 0);
	return SYSCALL_WAIT;
}

/*
 * Whether the call is over, though no descriptor is ready. A call with a signal mask of its own
 * accepts pending signals even if its timeout is 0, so it polls a second time after their delivery.
 */
static Bool too_late(VexGuestAMD64State *guest, Addr mask, Long deadline)
{
	if (mask && !wait_again(guest))
		return False;
	return wait_expired() || (deadline && deadline <= account_now());
}

/* Timeout of a call on a socket (SO_RCVTIMEO, SO_SNDTIMEO), cycles; 0 none. */
static Long socket_timeout(Int fd, Short events)
{
	struct vki_timeval tv = {0, 0};
	Int option = events & POLL_IN ? SO_RCVTIMEO : SO_SNDTIMEO;
	Int size = sizeof(tv);

	if (host_syscall(__NR_getsockopt, fd, VKI_SOL_SOCKET, option, (Long)&tv, (Long)&size, 0))
		return 0;
	return time_cycles(tv.tv_sec, tv.tv_usec * 1000);
}

/* An option of a socket, -1 if it is none. */
static Int socket_option(Int fd, Int option)
{
	Int value = -1, size = sizeof(value);

	host_syscall(__NR_getsockopt, fd, VKI_SOL_SOCKET, option, (Long)&value, (Long)&size, 0);
	return value;
}

/*
 * Whether the kernel has room for a part of the data for a connection between processes of
 * the host. For poll(2) the connection is ready only while three quarters of the room are free.
 */
static Bool has_room(Int fd, Short events)
{
	Int type, queued = 0;

	if (!(events & POLL_OUT) || socket_option(fd, SO_DOMAIN) != VKI_AF_UNIX)
		return False;
	type = socket_option(fd, SO_TYPE);
	/* Whether a datagram waits also depends on the receiver: see send_datagram(). */
	return (type == VKI_SOCK_STREAM || type == SOCK_SEQPACKET) &&
	       !host_syscall(__NR_ioctl, fd, VKI_TIOCOUTQ, (Long)&queued, 0, 0, 0) &&
	       queued < socket_option(fd, SO_SNDBUF);
}

/*
 * Sends a datagram between processes of the host, if it would not wait: poll(2) does not tell.
 * False if it would, or if the call is another one.
 */
static Bool send_datagram(VexGuestAMD64State *guest, Int fd, Long *result)
{
	Bool plain = guest->guest_RAX == __NR_write;
	Addr buffer = guest->guest_RSI;
	SizeT size = guest->guest_RDX;

	if ((!plain && (guest->guest_RAX != __NR_sendto || guest->guest_R8)) ||
	    socket_option(fd, SO_DOMAIN) != VKI_AF_UNIX ||
	    socket_option(fd, SO_TYPE) != SOCK_DGRAM ||
	    !guest_may(buffer, size, VKI_PROT_READ))
		return False;
	if (txn_nr_open)
		access_direct(current_tid, buffer, size, False);
	peers_sends();
	*result = host_syscall(__NR_sendto, fd, buffer, size,
			       MSG_DONT_WAIT | (plain ? 0 : guest->guest_R10), 0, 0);
	if (*result == -VKI_EAGAIN)
		return False;
	peers_sent();
	wait_fds_changed();
	return True;
}

static Bool will_not_wait(VexGuestAMD64State *guest, Int fd)
{
	switch (guest->guest_RAX) {
	case __NR_recvfrom:
	case __NR_sendto:
		if (guest->guest_R10 & MSG_DONT_WAIT)
			return True;
		break;
	case __NR_recvmsg:
	case __NR_sendmsg:
		if (guest->guest_RDX & MSG_DONT_WAIT)
			return True;
		break;
	}
	return (host_syscall(__NR_fcntl, fd, VKI_F_GETFL, 0, 0, 0, 0) & VKI_O_NONBLOCK) != 0;
}

/**
 * fdwait_transfer() - calls that read or write the descriptor in their first argument.
 * @guest: registers of the running thread
 * @events: what the call waits for, as in poll(2)
 *
 * Return: what to do with the call.
 */
enum syscall_verdict fdwait_transfer(VexGuestAMD64State *guest, Short events)
{
	struct vki_pollfd fd = {.fd = guest->guest_RDI, .events = events};
	enum syscall_verdict verdict;
	Long timeout, result;

	timerfd_expire(account_now());
	if (timerfd_read(guest, &verdict))
		return verdict;
	if (host_poll(&fd, 1, 0) != 0 || will_not_wait(guest, fd.fd) || has_room(fd.fd, events))
		return leave_to_kernel();
	if (events & POLL_OUT && send_datagram(guest, fd.fd, &result))
		return wait_answer(guest, result);
	if (wait_expired())
		return wait_answer(guest, -(Long)VKI_EAGAIN);
	timeout = wait_again(guest) ? 0 : socket_timeout(fd.fd, events);
	if (!timeout && !wait_again(guest) && wait_kernel_may())
		return leave_to_kernel();
	*wait_fds(1) = fd;
	return wait_for(guest, 0, timeout ? time_after(timeout) : 0);
}

/**
 * fdwait_poll() - poll and ppoll.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict fdwait_poll(VexGuestAMD64State *guest)
{
	Bool plain = guest->guest_RAX == __NR_poll;
	struct vki_pollfd *fds = (struct vki_pollfd *)guest->guest_RDI;
	UInt nr = guest->guest_RSI;
	SizeT size = nr * sizeof(*fds);
	Bool forever = plain ? (Int)guest->guest_RDX < 0 : !guest->guest_RDX;
	Addr mask = plain ? 0 : guest->guest_R10;
	Long deadline = 0, ready;

	if (nr && !guest_may((Addr)fds, size, VKI_PROT_READ | VKI_PROT_WRITE))
		return leave_to_kernel();
	if (forever && wait_kernel_may())
		return leave_to_kernel();
	timerfd_expire(account_now());
	if (plain)
		deadline = deadline_ms(guest->guest_RDX);
	else if (!forever && !time_read_timeout(guest->guest_RDX, &deadline))
		return leave_to_kernel();

	if (!nr && !forever && !mask) {
		wait_begin(guest, WAIT_SLEEP, deadline, 0);
		return SYSCALL_WAIT;
	}
	if (txn_nr_open)
		access_direct(current_tid, (Addr)fds, size, True);
	ready = host_poll(fds, nr, 0);
	if (ready || too_late(guest, mask, deadline))
		return wait_answer(guest, ready);
	VG_(memcpy)(wait_fds(nr), fds, size);
	return wait_for(guest, mask, deadline);
}

/* Enters the descriptors in the three sets of a select(), @nr bits each, for the running thread. */
static void fds_from_sets(UChar sets[3][SET_MAX], UInt nr)
{
	static const Short events[3] = {POLL_IN, POLL_OUT, POLL_PRI};
	struct vki_pollfd *fds = wait_fds(nr);
	UInt i, set, used = 0;

	for (i = 0; i < nr; i++) {
		Short wanted = 0;

		for (set = 0; set < 3; set++)
			if (sets[set][i / 8] >> i % 8 & 1)
				wanted |= events[set];
		if (wanted)
			fds[used++] = (struct vki_pollfd){.fd = i, .events = wanted};
	}
	wait_fds(used);
}

/* Copies the three sets of a select() from guest memory, or with @back to it. False: EFAULT. */
static Bool copy_sets(VexGuestAMD64State *guest, UChar sets[3][SET_MAX], SizeT size, Bool back)
{
	Addr addrs[3] = {guest->guest_RSI, guest->guest_RDX, guest->guest_R10};
	UInt i;

	for (i = 0; i < 3; i++) {
		if (!addrs[i])
			continue;
		if (!guest_may(addrs[i], size, VKI_PROT_READ | VKI_PROT_WRITE))
			return False;
		if (txn_nr_open)
			access_direct(current_tid, addrs[i], size, back);
		if (back)
			VG_(memcpy)((void *)addrs[i], sets[i], size);
		else
			VG_(memcpy)(sets[i], (void *)addrs[i], size);
	}
	return True;
}

/*
 * Writes the remaining time to the timeout, as the kernel does (select(2), "C library/kernel
 * differences").
 */
static void write_select_left(VexGuestAMD64State *guest, Long deadline)
{
	Long left = deadline > account_now() ? model_ns(deadline - account_now()) : 0;
	/* struct timeval or timespec: two words */
	Long *timeout = (Long *)guest->guest_R8;

	if (!timeout || !guest_may((Addr)timeout, 2 * sizeof(Long), VKI_PROT_WRITE))
		return;
	timeout[0] = left / NS_PER_SECOND;
	timeout[1] = left % NS_PER_SECOND / (guest->guest_RAX == __NR_select ? 1000 : 1);
}

/*
 * Reads the virtual deadline of a select() or pselect6(), 0 none, and the address of its signal
 * mask, 0 none. Return: False if an argument is not valid; then the kernel answers.
 */
static Bool select_deadline(VexGuestAMD64State *guest, Long *deadline, Addr *mask)
{
	const struct vki_timeval *tv = (const struct vki_timeval *)guest->guest_R8;
	const Addr *sixth = (const Addr *)guest->guest_R9;

	*deadline = current_vthread()->wait.deadline;
	*mask = 0;
	if (guest->guest_RAX == __NR_pselect6 && sixth) {
		if (!guest_may((Addr)sixth, sizeof(*sixth), VKI_PROT_READ))
			return False;
		*mask = *sixth;
	}
	if (!tv || *deadline)
		return True;
	if (guest->guest_RAX == __NR_pselect6) {
		return time_read_timeout((Addr)tv, deadline);
	} else {
		if (!guest_may((Addr)tv, sizeof(*tv), VKI_PROT_READ | VKI_PROT_WRITE) ||
		    tv->tv_sec < 0 || tv->tv_usec < 0)
			return False;
		*deadline = time_after(time_cycles((ULong)tv->tv_sec + tv->tv_usec / 1000000,
						   tv->tv_usec % 1000000 * 1000));
	}
	return True;
}

/**
 * fdwait_select() - select and pselect6.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict fdwait_select(VexGuestAMD64State *guest)
{
	UChar sets[3][SET_MAX] = {{0}}, wanted[3][SET_MAX];
	Int nr = guest->guest_RDI;
	SizeT size = (nr + 63) / 64 * 8;
	struct vki_timeval now = {0, 0};
	Long deadline, ready;
	Addr mask;

	timerfd_expire(account_now());
	if (nr < 0 || size > SET_MAX || (!guest->guest_R8 && wait_kernel_may()) ||
	    !select_deadline(guest, &deadline, &mask) || !copy_sets(guest, sets, size, False))
		return leave_to_kernel();
	VG_(memcpy)(wanted, sets, sizeof(sets));
	ready = host_syscall(__NR_select, nr, (Long)sets[0], (Long)sets[1], (Long)sets[2],
			     (Long)&now, 0);
	if (ready < 0)
		return wait_answer(guest, ready);
	if (ready || too_late(guest, mask, deadline)) {
		copy_sets(guest, sets, size, True);
		write_select_left(guest, deadline);
		return wait_answer(guest, ready);
	}
	fds_from_sets(wanted, nr);
	return wait_for(guest, mask, deadline);
}

/**
 * fdwait_epoll() - epoll_wait and epoll_pwait.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict fdwait_epoll(VexGuestAMD64State *guest)
{
	Addr events = guest->guest_RSI;
	Int max = guest->guest_RDX;
	Int timeout = guest->guest_R10;
	Addr mask = guest->guest_RAX == __NR_epoll_pwait ? guest->guest_R8 : 0;
	Long deadline = deadline_ms(timeout);
	Long ready;

	timerfd_expire(account_now());
	if (max <= 0 || !guest_may(events, EPOLL_EVENT_SIZE, VKI_PROT_WRITE) ||
	    (timeout < 0 && wait_kernel_may()))
		return leave_to_kernel();
	if (txn_nr_open)
		access_direct(current_tid, events, (SizeT)max * EPOLL_EVENT_SIZE, True);
	ready = host_syscall(__NR_epoll_wait, guest->guest_RDI, events, max, 0, 0, 0);
	if (ready || too_late(guest, mask, deadline))
		return wait_answer(guest, ready);
	*wait_fds(1) = (struct vki_pollfd){.fd = guest->guest_RDI, .events = POLL_IN};
	return wait_for(guest, mask, deadline);
}
