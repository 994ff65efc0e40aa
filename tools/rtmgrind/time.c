// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * time.c - clocks and sleeps, answered from the running thread's virtual clock.
 *
 * Every run begins at the same moment, so that programs that print or hash
 * the time do the same each time. Must never look at the host's clock.
 */
#include "rtmgrind.h"
#include "model.h"

/* The wall clock at the start: 14 November 2023, 22:13:20 UTC. */
#define EPOCH_SECONDS 1700000000LL
/* The monotonic clocks at the start: a machine that has been up a while. */
#define UPTIME_SECONDS 1000LL
/* Cycles; far off, and may still be added to. */
#define FOR_EVER (1LL << 61)

#define CLOCK_PROCESS_CPU 2
#define CLOCK_THREAD_CPU 3

/* What the clock showed at virtual time 0, seconds; -1 if it is not ours. */
static Long base_of(Int clock)
{
	switch (clock) {
	case 0: case 5: case 8: case 11: /* REALTIME, its COARSE and ALARM forms, TAI */
		return EPOCH_SECONDS;
	case 1: case 4: case 6: case 7: case 9: /* MONOTONIC, RAW, COARSE, BOOTTIME, its ALARM */
		return UPTIME_SECONDS;
	case CLOCK_PROCESS_CPU: case CLOCK_THREAD_CPU:
		return 0;
	default:
		return -1;
	}
}

/**
 * cpu_cycles() - processor time used.
 * @process: by all threads of the process rather than by the running one
 *
 * Return: cycles.
 */
Long cpu_cycles(Bool process)
{
	Long cycles = sched_now() - current_vthread()->clock;
	ThreadId tid;

	if (!process)
		return cycles + current_vthread()->cpu;
	for (tid = 1; tid < vthread_end; tid++)
		cycles += vthreads[tid].cpu;
	return cycles;
}

static Long clock_ns(Int clock)
{
	if (clock == CLOCK_PROCESS_CPU || clock == CLOCK_THREAD_CPU)
		return model_ns(cpu_cycles(clock == CLOCK_PROCESS_CPU));
	return base_of(clock) * NS_PER_SECOND + model_ns(sched_now());
}

/**
 * time_cycles() - convert to virtual time.
 * @seconds: not negative
 * @ns: not negative, may be more than a second's
 *
 * Return: cycles; a time that would overflow is for ever.
 */
Long time_cycles(Long seconds, Long ns)
{
	if (seconds >= FOR_EVER / model_hz())
		return FOR_EVER;
	return seconds * model_hz() + model_cycles(ns);
}

/**
 * time_read_timeout() - read a struct timespec that says how long.
 * @timespec: in guest memory
 * @cycles: receives the time
 *
 * Return: False if it is not readable or not valid.
 */
Bool time_read_timeout(Addr timespec, Long *cycles)
{
	const struct vki_timespec *ts = (const struct vki_timespec *)timespec;

	if (!guest_may(timespec, sizeof(*ts), VKI_PROT_READ) || ts->tv_sec < 0 ||
	    ts->tv_nsec < 0 || ts->tv_nsec >= NS_PER_SECOND)
		return False;
	*cycles = time_cycles(ts->tv_sec, ts->tv_nsec);
	return True;
}

/**
 * time_read_deadline() - read a struct timespec that says until when.
 * @clock: the clock it refers to
 * @timespec: in guest memory
 * @deadline: receives the virtual time, at least 1
 *
 * Return: False if it is not readable or not valid.
 */
Bool time_read_deadline(Int clock, Addr timespec, Long *deadline)
{
	if (base_of(clock) <= 0 || !time_read_timeout(timespec, deadline))
		return False;
	*deadline -= time_cycles(base_of(clock), 0);
	if (*deadline < 1)
		*deadline = 1;
	return True;
}

static enum syscall_verdict answer(VexGuestAMD64State *guest, Long result)
{
	guest->guest_RAX = result;
	return SYSCALL_DONE;
}

static enum syscall_verdict read_clock(VexGuestAMD64State *guest)
{
	Int clock = guest->guest_RDI;
	Addr addr = guest->guest_RSI;
	struct vki_timespec *ts = (struct vki_timespec *)addr;
	Long ns;

	if (base_of(clock) < 0)
		return SYSCALL_REAL;
	if (!guest_may(addr, sizeof(*ts), VKI_PROT_WRITE))
		return answer(guest, -(Long)VKI_EFAULT);
	if (txn_nr_open)
		txn_access(current_tid, addr, sizeof(*ts), True);
	ns = clock_ns(clock);
	ts->tv_sec = ns / NS_PER_SECOND;
	ts->tv_nsec = ns % NS_PER_SECOND;
	return answer(guest, 0);
}

static enum syscall_verdict read_timeofday(VexGuestAMD64State *guest)
{
	Addr addr = guest->guest_RDI;
	struct vki_timeval *tv = (struct vki_timeval *)addr;
	Long ns = clock_ns(VKI_CLOCK_REALTIME);

	if (addr && !guest_may(addr, sizeof(*tv), VKI_PROT_WRITE))
		return answer(guest, -(Long)VKI_EFAULT);
	if (addr) {
		if (txn_nr_open)
			txn_access(current_tid, addr, sizeof(*tv), True);
		tv->tv_sec = ns / NS_PER_SECOND;
		tv->tv_usec = ns % NS_PER_SECOND / 1000;
	}
	return answer(guest, 0);
}

static enum syscall_verdict read_time(VexGuestAMD64State *guest)
{
	Addr addr = guest->guest_RDI;
	Long seconds = clock_ns(VKI_CLOCK_REALTIME) / NS_PER_SECOND;

	if (addr && !guest_may(addr, sizeof(Long), VKI_PROT_WRITE))
		return answer(guest, -(Long)VKI_EFAULT);
	if (addr) {
		if (txn_nr_open)
			txn_access(current_tid, addr, sizeof(Long), True);
		*(Long *)addr = seconds;
	}
	return answer(guest, seconds);
}

static enum syscall_verdict sleep_call(VexGuestAMD64State *guest)
{
	Bool plain = guest->guest_RAX == __NR_nanosleep;
	Bool absolute = !plain && guest->guest_RSI & 1;
	Addr timespec = plain ? guest->guest_RDI : guest->guest_RDX;
	Long deadline = 0;

	if (wait_again(guest)) {
		/* It sleeps on; the deadline is known. */
	} else if (absolute) {
		if (!time_read_deadline(guest->guest_RDI, timespec, &deadline))
			return SYSCALL_REAL;
	} else {
		if (!time_read_timeout(timespec, &deadline))
			return SYSCALL_REAL;
		deadline += sched_now();
		/* A sleep of 0 is a sleep of 1: it waits for the others. */
		deadline += deadline == sched_now();
	}
	if (absolute && !wait_again(guest) && deadline <= sched_now())
		return answer(guest, 0);
	wait_begin(guest, WAIT_SLEEP, deadline, 0);
	return SYSCALL_WAIT;
}

/* sched_yield(): whoever else is ready comes first. */
static enum syscall_verdict yield_call(VexGuestAMD64State *guest)
{
	charge(opt.quantum);
	current_vthread()->timeslice_end = 0;
	sched_end_slice(guest);
	return answer(guest, 0);
}

/**
 * time_call() - system calls about time.
 * @guest: registers of the running thread
 * @ours: set to False if the call is none of them
 *
 * Return: what to do with the call.
 */
enum syscall_verdict time_call(VexGuestAMD64State *guest, Bool *ours)
{
	*ours = True;
	switch (guest->guest_RAX) {
	case __NR_clock_gettime:
		return read_clock(guest);
	case __NR_gettimeofday:
		return read_timeofday(guest);
	case __NR_time:
		return read_time(guest);
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
		return sleep_call(guest);
	case __NR_sched_yield:
		return yield_call(guest);
	default:
		*ours = False;
		return SYSCALL_REAL;
	}
}
