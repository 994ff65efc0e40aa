// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * time.c - clocks and sleeps, which are those of virtual time, and conversion to virtual time.
 *
 * Each run begins at the same date, so that programs that print or hash the time do the same in
 * each run. Must never read a clock of the host.
 */
#include "time.h"
#include "access.h"
#include "account.h"
#include "date.h"
#include "guest.h"
#include "model.h"
#include "slice.h"
#include "vthread.h"
#include "wait.h"

/* CLOCK_REALTIME at virtual time 0: 14 November 2023, 22:13:20 UTC. Chosen. */
#define EPOCH_SECONDS 1700000000LL
/* CLOCK_MONOTONIC at virtual time 0: the time since the start of the machine. Chosen. */
#define UPTIME_SECONDS 1000LL
/* A timeout of this length, cycles or ns, never expires. Sums of two such numbers do not overflow. */
#define FOR_EVER (1LL << 61)

/* The latest time that a clock has shown to a thread, cycles. */
static Long shown;

#define CLOCK_PROCESS_CPU 2
#define CLOCK_THREAD_CPU 3
/* Bits in the number of a clock of processor time (include/linux/posix-timers.h). */
#define CLOCK_SCHED 2
#define CLOCK_OF_FD 3
#define CLOCK_OF_THREAD 4

/**
 * time_base() - the time that a clock showed at virtual time 0.
 * @clock: number of the clock
 *
 * Return: seconds; -1 if the clock is not simulated.
 */
Long time_base(Int clock)
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
 * time_cpu_cycles() - the processor time of the running thread or of the process.
 * @process: True: the sum of all threads
 *
 * Return: cycles.
 */
Long time_cpu_cycles(Bool process)
{
	Long cycles = account_now() - current_vthread()->clock;
	ThreadId tid;

	if (!process)
		return cycles + current_vthread()->cpu;
	for (tid = 1; tid < vthread_end; tid++)
		cycles += vthreads[tid].cpu;
	return cycles;
}

/*
 * Reads the clock of the running thread, but never shows an earlier time than a clock has shown to
 * another thread. Threads run ahead of each other by up to a slice: if the other thread wakes this
 * one after it has read the time, this one must not read an earlier time.
 */
static Long time_shown(void)
{
	if (shown < account_now())
		shown = account_now();
	current_vthread()->shown = shown;
	return shown;
}

/**
 * time_after() - the deadline of a timeout that begins now.
 * @cycles: the timeout; with 0 the deadline is now
 *
 * Return: virtual time, 0 never. A timeout begins at the time that a clock last showed the running
 * thread, if that is later than its own clock.
 */
Long time_after(Long cycles)
{
	Long now = account_now();

	if (cycles && now < current_vthread()->shown)
		now = current_vthread()->shown;
	if (now < 1)
		now = 1;
	return cycles >= FOR_EVER || now >= FOR_EVER ? 0 : now + cycles;
}

/**
 * time_ns() - convert virtual time to nanoseconds, rounded up.
 * @cycles: virtual time
 *
 * Return: ns.
 */
Long time_ns(Long cycles)
{
	Long ns = model_ns(cycles);

	return ns + (model_cycles(ns) < cycles);
}

/**
 * time_cpu_clock() - is a clock one of processor time?
 * @clock: number of the clock; it has the id of the thread or process (clock_getcpuclockid(3))
 * @tid: receives the thread whose processor time it is, 0 for the whole process
 *
 * Return: False if it is another clock, or one of another process.
 */
Bool time_cpu_clock(Int clock, ThreadId *tid)
{
	Int lwp = ~(clock >> 3);

	*tid = 0;
	if (clock == CLOCK_PROCESS_CPU)
		return True;
	/* The clock of a descriptor. */
	if (clock < 0 && (clock & 3) == CLOCK_OF_FD)
		return False;
	if (clock == CLOCK_THREAD_CPU || (clock < 0 && !lwp && clock & CLOCK_OF_THREAD)) {
		*tid = current_tid;
		return True;
	}
	if (clock >= 0 || (clock & 3) != CLOCK_SCHED)
		return False;
	if (!(clock & CLOCK_OF_THREAD))
		return !lwp || lwp == VG_(getpid)();
	*tid = vthread_find(lwp, True);
	return *tid != 0;
}

/**
 * time_cpu() - the processor time of a thread or of the process.
 * @tid: the thread, 0: the sum of all threads
 *
 * Return: cycles.
 */
Long time_cpu(ThreadId tid)
{
	return !tid || tid == current_tid ? time_cpu_cycles(!tid) : vthreads[tid].cpu;
}

static Long clock_ns(Int clock)
{
	ThreadId tid;

	if (time_cpu_clock(clock, &tid))
		return model_ns(time_cpu(tid));
	return time_base(clock) * NS_PER_SECOND + model_ns(time_shown()) +
	       (date_clock(clock) ? date_offset() : 0);
}

/**
 * time_cycles() - convert a time to cycles.
 * @seconds: the seconds of the time
 * @ns: the nanoseconds that are added to these
 *
 * Return: cycles; FOR_EVER if the time is too long to be counted in cycles or in nanoseconds.
 */
Long time_cycles(ULong seconds, ULong ns)
{
	seconds += ns / NS_PER_SECOND;
	if (seconds >= (ULong)(FOR_EVER / model_hz()) ||
	    seconds >= (ULong)(FOR_EVER / NS_PER_SECOND))
		return FOR_EVER;
	return seconds * model_hz() + model_cycles(ns % NS_PER_SECOND);
}

/**
 * time_never() - turn a virtual time into a deadline.
 * @cycles: the time
 *
 * Return: @cycles; 0, which means never, if it is FOR_EVER or more.
 */
Long time_never(Long cycles)
{
	return cycles >= FOR_EVER ? 0 : cycles;
}

/**
 * time_saturated_ns() - convert seconds and nanoseconds to nanoseconds.
 * @seconds: not negative
 * @ns: less than NS_PER_SECOND
 *
 * Return: ns, at most FOR_EVER.
 */
Long time_saturated_ns(Long seconds, Long ns)
{
	return seconds >= FOR_EVER / NS_PER_SECOND ? FOR_EVER : seconds * NS_PER_SECOND + ns;
}

static Bool valid(const struct vki_timespec *ts)
{
	return ts->tv_sec >= 0 && ts->tv_nsec >= 0 && ts->tv_nsec < NS_PER_SECOND;
}

/**
 * time_valid_spec() - are the arguments of a timer valid?
 * @spec: value and interval
 *
 * Return: False if the kernel would refuse them.
 */
Bool time_valid_spec(const struct vki_itimerspec *spec)
{
	return valid(&spec->it_value) && valid(&spec->it_interval);
}

static Bool read_timespec(Addr timespec, struct vki_timespec *ts)
{
	if (!guest_may(timespec, sizeof(*ts), VKI_PROT_READ))
		return False;
	*ts = *(const struct vki_timespec *)timespec;
	return valid(ts);
}

/**
 * time_read_timeout() - read a relative timeout.
 * @timespec: address of a struct timespec in guest memory
 * @deadline: receives the virtual time at which it is over, 0 never
 *
 * Return: False if it is not readable or not valid.
 */
Bool time_read_timeout(Addr timespec, Long *deadline)
{
	struct vki_timespec ts;

	if (!read_timespec(timespec, &ts))
		return False;
	*deadline = time_after(time_cycles(ts.tv_sec, ts.tv_nsec));
	return True;
}

/**
 * time_read_deadline() - read an absolute timeout.
 * @clock: number of the clock that it refers to
 * @timespec: address of a struct timespec in guest memory
 * @deadline: receives the virtual time of the timeout, 0 never
 *
 * Return: False if it is not readable or not valid.
 */
Bool time_read_deadline(Int clock, Addr timespec, Long *deadline)
{
	struct vki_timespec ts;
	Long base = time_base(clock);

	if (base <= 0 || !read_timespec(timespec, &ts))
		return False;
	if (date_clock(clock)) {
		date_undo(&ts);
		current_vthread()->dated = True;
	}
	/* A date in the past becomes 1, as 0 means never. */
	*deadline = ts.tv_sec < base ? 1 : time_cycles(ts.tv_sec - base, ts.tv_nsec);
	if (*deadline >= FOR_EVER)
		*deadline = 0;
	else if (*deadline < 1)
		*deadline = 1;
	return True;
}

/**
 * time_read_date() - the date that the running thread reads now.
 * @ts: receives it
 */
void time_read_date(struct vki_timespec *ts)
{
	Long ns = clock_ns(VKI_CLOCK_REALTIME);

	ts->tv_sec = ns / NS_PER_SECOND;
	ts->tv_nsec = ns % NS_PER_SECOND;
}

static enum syscall_verdict read_clock(VexGuestAMD64State *guest)
{
	Int clock = guest->guest_RDI;
	Addr addr = guest->guest_RSI;
	struct vki_timespec *ts = (struct vki_timespec *)addr;
	ThreadId of;
	Long ns;

	if (time_base(clock) < 0 && !time_cpu_clock(clock, &of))
		return SYSCALL_REAL;
	if (!access_kernel_write(addr, sizeof(*ts)))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	ns = clock_ns(clock);
	ts->tv_sec = ns / NS_PER_SECOND;
	ts->tv_nsec = ns % NS_PER_SECOND;
	return guest_answer(guest, 0);
}

static enum syscall_verdict read_timeofday(VexGuestAMD64State *guest)
{
	Addr addr = guest->guest_RDI;
	struct vki_timeval *tv = (struct vki_timeval *)addr;
	Long ns = clock_ns(VKI_CLOCK_REALTIME);

	if (addr && !access_kernel_write(addr, sizeof(*tv)))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	if (addr) {
		tv->tv_sec = ns / NS_PER_SECOND;
		tv->tv_usec = ns % NS_PER_SECOND / 1000;
	}
	return guest_answer(guest, 0);
}

static enum syscall_verdict read_time(VexGuestAMD64State *guest)
{
	Addr addr = guest->guest_RDI;
	Long seconds = clock_ns(VKI_CLOCK_REALTIME) / NS_PER_SECOND;

	if (addr && !access_kernel_write(addr, sizeof(Long)))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	if (addr)
		*(Long *)addr = seconds;
	return guest_answer(guest, seconds);
}

/* Whether the kernel has sleeps on a clock; it refuses the processor time of the own thread. */
static Bool may_sleep_by(Int clock)
{
	ThreadId tid;

	if (clock == CLOCK_THREAD_CPU)
		return False;
	return time_base(clock) >= 0 || time_cpu_clock(clock, &tid);
}

static enum syscall_verdict sleep_call(VexGuestAMD64State *guest)
{
	Bool plain = guest->guest_RAX == __NR_nanosleep;
	Bool absolute = !plain && guest->guest_RSI & 1;
	Addr timespec = plain ? guest->guest_RDI : guest->guest_RDX;
	Long deadline = 0;

	if (!plain && !may_sleep_by(guest->guest_RDI))
		return SYSCALL_REAL;
	if (wait_again(guest)) {
		/* The thread goes on sleeping; its deadline is known. */
	} else if (absolute) {
		if (!time_read_deadline(guest->guest_RDI, timespec, &deadline))
			return SYSCALL_REAL;
	} else {
		if (!time_read_timeout(timespec, &deadline))
			return SYSCALL_REAL;
		if (deadline)
			deadline = time_after(0) + account_takes(deadline - time_after(0));
		/* A sleep of 0 ns lasts 1 cycle, so that other threads run. */
		deadline += deadline == time_after(0);
	}
	if (absolute && !wait_again(guest) && deadline && deadline <= account_now())
		return guest_answer(guest, 0);
	wait_begin(guest, WAIT_SLEEP, deadline, 0);
	return SYSCALL_WAIT;
}

/* sched_yield(): the thread gives up its time slice, and lets threads with smaller clocks run first. */
static enum syscall_verdict yield_call(VexGuestAMD64State *guest)
{
	charge(model.quantum);
	current_vthread()->timeslice_end = 0;
	slice_stop(guest);
	return guest_answer(guest, 0);
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
	case __NR_clock_settime:
	case __NR_settimeofday:
	case __NR_adjtimex:
	case __NR_clock_adjtime:
		return date_call(guest);
	default:
		*ours = False;
		return SYSCALL_REAL;
	}
}
