// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timers.c - timers that send signals: alarm(2), setitimer(2), timer_create(2).
 *
 * A timer expires in virtual time, and a slice ends there. Its signal is sent through the host's
 * kernel, to the process or to a host thread, between two slices. Valgrind polls for it when the
 * receiver's next slice begins (see sigwait.c), so only the seed decides where it interrupts the
 * program. The clock of a timer of processor time is the processor time in virtual cycles. Must
 * never arm a timer of the host, except just before exec replaces the program.
 */
#include "timers.h"
#include "account.h"
#include "alarm.h"
#include "guest.h"
#include "host.h"
#include "lwp.h"
#include "model.h"
#include "slice.h"
#include "time.h"
#include "timerfd.h"
#include "vthread.h"
#include "wait.h"

enum { REAL, VIRTUAL, PROF, NR_ITIMERS };

/* Values of sigev_notify (include/uapi/asm-generic/siginfo.h); Valgrind has SIGEV_THREAD_ID. */
enum { SIGEV_SIGNAL, SIGEV_NONE };
#define SI_TIMER (-2)
#define SI_KERNEL 0x80

/* Longest time between two checks whether a signal is still pending, cycles. Chosen. */
#define PENDING_CYCLES 20000

#define SIGALRM 14
#define SIGVTALRM 26
#define SIGPROF 27

/**
 * struct timer - a timer that sends a signal.
 * @used: it exists
 * @cpu: its clock is processor time
 * @of: the thread whose processor time it is, 0: the process
 * @clock: number of the clock that it was made with
 * @silent: SIGEV_NONE: it sends no signal, and the program reads the remaining time
 * @lwp: Linux id of the thread that the signal is sent to, 0: the process
 * @signal: number of the signal
 * @value: data that the signal carries
 * @alarm: its next expiry
 * @pending: the signal was sent and not yet delivered
 * @overrun: expiries since the signal was sent
 * @last_overrun: @overrun of the signal that was delivered last
 * @look_at: virtual time of the next check whether the signal is still pending
 * @taken: a signal was taken, and another one sent, before the first could be delivered
 * @taken_overrun: @overrun of the first one
 */
struct timer {
	Bool used;
	Bool cpu;
	ThreadId of;
	Int clock;
	Bool silent;
	Int lwp;
	Int signal;
	vki_sigval_t value;
	struct alarm alarm;
	Bool pending;
	Int overrun;
	Int last_overrun;
	Long look_at;
	Bool taken;
	Int taken_overrun;
};

static struct timer first_timers[NR_ITIMERS] = {
	[REAL] = {.used = True, .signal = SIGALRM, .clock = 1},
	[VIRTUAL] = {.used = True, .signal = SIGVTALRM, .cpu = True, .clock = 2},
	[PROF] = {.used = True, .signal = SIGPROF, .cpu = True, .clock = 2},
};
/* The three timers of setitimer(), then those of timer_create(). */
static struct timer *timers = first_timers;
static Int nr_timers = NR_ITIMERS;

/* Cycles of processor time until a timer expires, at most 0 if it is due. */
static Long cpu_left(const struct timer *t)
{
	return time_cycles(0, t->alarm.expiry) - time_cpu(t->of);
}

static Long now_of(const struct timer *t)
{
	return time_ns(t->cpu ? time_cpu(t->of) : account_now());
}

static Bool sends(const struct timer *t)
{
	return t->used && t->alarm.expiry && !t->silent;
}

/*
 * The virtual time at which a timer must be checked, 0 never. Expiries while its signal is
 * pending are only counted, so they need no separate checks.
 */
static Long due_at(const struct timer *t)
{
	Long due = alarm_due(&t->alarm);

	return due && t->pending && due < t->look_at ? t->look_at : due;
}

/**
 * timers_next() - the next virtual time at which timers_expire() must be called.
 *
 * Return: virtual time, 0 never. A timer of processor time counts only once it is due, with 1.
 */
Long timers_next(void)
{
	Long next = wait_fd_waiters() ? timerfd_next() : 0;
	const struct timer *t;

	for (t = timers; t < timers + nr_timers; t++) {
		Long due;

		if (!sends(t))
			continue;
		due = !t->cpu ? due_at(t) : cpu_left(t) <= 0;
		if (due && (!next || due < next))
			next = due;
	}
	return next;
}

/**
 * timers_armed() - can a timer send a signal while no thread runs?
 *
 * Return: True if so.
 */
Bool timers_armed(void)
{
	const struct timer *t;

	for (t = timers; t < timers + nr_timers; t++)
		if (sends(t) && !t->cpu && alarm_due(&t->alarm))
			return True;
	return False;
}

/**
 * timers_slice() - shorten a slice to the next expiry of a timer.
 * @tid: the thread whose slice it is
 * @slice: length of the slice, cycles
 *
 * Return: cycles, at least 1 and no more than @slice.
 */
Long timers_slice(ThreadId tid, Long slice)
{
	Long next = timers_next();
	const struct timer *t;

	if (next && next - vthreads[tid].clock < slice)
		slice = next - vthreads[tid].clock;
	for (t = timers; t < timers + nr_timers; t++)
		if (sends(t) && t->cpu && (!t->of || t->of == tid) && cpu_left(t) < slice)
			slice = cpu_left(t);
	return slice > 0 ? slice : 1;
}

/* Whether the signal of a timer is still pending in the host's kernel. */
static Bool still_pending(const struct timer *t)
{
	const HChar *field = t->lwp ? "\nSigPnd:" : "\nShdPnd:";
	HChar name[64], status[4096], *at;

	VG_(sprintf)(name, "/proc/self/task/%d/status", t->lwp ? t->lwp : VG_(getpid)());
	host_read_file(name, status, sizeof(status));
	at = VG_(strstr)(status, field);
	return at && VG_(strtoull16)(at + VG_(strlen)(field) + 1, NULL) >> (t->signal - 1) & 1;
}

static void expire(struct timer *t, Long times, Long at)
{
	vki_siginfo_t info = {.si_signo = t->signal, .si_code = SI_TIMER};
	Int pid = VG_(getpid)();

	t->look_at = at + PENDING_CYCLES;
	if (t->pending && still_pending(t)) {
		t->overrun += times;
		return;
	}
	if (t->pending) {
		t->taken = True;
		t->taken_overrun = t->overrun;
	}
	t->pending = True;
	t->overrun = times - 1;
	info._sifields._timer._tid = t - timers - NR_ITIMERS;
	info._sifields._timer._sigval = t->value;
	if (t->lwp)
		host_syscall(__NR_rt_tgsigqueueinfo, pid, t->lwp, t->signal, (Long)&info, 0, 0);
	else
		host_syscall(__NR_rt_sigqueueinfo, pid, t->signal, (Long)&info, 0, 0, 0);
	lwp_poll_soon();
	wait_poke_signalled_at(t->lwp, at);
}

/**
 * timers_expire() - let timers expire, between two slices.
 * @now: virtual time, the result of timers_next()
 */
void timers_expire(Long now)
{
	struct timer *t;

	timerfd_expire(now);
	for (t = timers; t < timers + nr_timers; t++) {
		Long times;

		if (!sends(t))
			continue;
		times = alarm_pass(&t->alarm, t->cpu ? model_ns(time_cpu(t->of)) : model_ns(now));
		if (times)
			expire(t, times, t->cpu ? account_now() : now);
	}
}

/**
 * timers_delivered() - a signal is about to be delivered to the program.
 * @info: its data for the program, completed if a timer sent it
 */
void timers_delivered(vki_siginfo_t *info)
{
	Int index = info->_sifields._timer._tid + NR_ITIMERS;
	struct timer *t = &timers[index];

	if (info->si_code != SI_TIMER || index < 0 || index >= nr_timers)
		return;
	if (t->taken) {
		t->last_overrun = t->taken_overrun;
	} else {
		t->pending = False;
		t->last_overrun = t->overrun + alarm_pass(&t->alarm, now_of(t));
	}
	t->taken = False;
	info->_sifields._timer._overrun = t->last_overrun;
	if (index < NR_ITIMERS) {
		VG_(memset)(&info->_sifields, 0, sizeof(info->_sifields));
		info->si_code = SI_KERNEL;
	}
}

/**
 * timers_thread_exits() - disarm the timers of a thread that ends.
 * @tid: the thread
 */
void timers_thread_exits(ThreadId tid)
{
	struct timer *t;

	for (t = timers; t < timers + nr_timers; t++)
		if ((t->cpu && t->of == tid) || (t->lwp && t->lwp == vthreads[tid].lwp))
			t->alarm.expiry = 0;
}

/**
 * timers_date_moved() - the date was set.
 * @by: how much later the date is now, ns
 * @at: the virtual time of that, ns
 */
void timers_date_moved(Long by, Long at)
{
	struct timer *t;

	for (t = timers; t < timers + nr_timers; t++)
		alarm_date_moved(&t->alarm, by, at);
}

/** timers_forked() - this is a child process, which does not inherit its parent's timers. */
void timers_forked(void)
{
	Int i;

	for (i = 0; i < nr_timers; i++) {
		timers[i].alarm.expiry = timers[i].alarm.interval = 0;
		timers[i].pending = timers[i].taken = False;
		timers[i].used = i < NR_ITIMERS;
	}
}

/* Sets the interval timer of the host; @old receives its previous value. */
static void host_itimer(const struct vki_itimerval *value, struct vki_itimerval *old)
{
	host_syscall(__NR_setitimer, REAL, (Long)value, (Long)old, 0, 0, 0);
}

static void to_itimerval(const struct vki_itimerspec *spec, struct vki_itimerval *value)
{
	value->it_value.tv_sec = spec->it_value.tv_sec;
	value->it_value.tv_usec = spec->it_value.tv_nsec / 1000;
	value->it_interval.tv_sec = spec->it_interval.tv_sec;
	value->it_interval.tv_usec = spec->it_interval.tv_nsec / 1000;
	/* A value of 0 would mean that the timer is not armed. */
	if (spec->it_value.tv_nsec && !value->it_value.tv_sec && !value->it_value.tv_usec)
		value->it_value.tv_usec = 1;
}

static Bool from_itimerval(const struct vki_itimerval *value, struct vki_itimerspec *spec)
{
	spec->it_value.tv_sec = value->it_value.tv_sec;
	spec->it_value.tv_nsec = value->it_value.tv_usec * 1000;
	spec->it_interval.tv_sec = value->it_interval.tv_sec;
	spec->it_interval.tv_nsec = value->it_interval.tv_usec * 1000;
	return (ULong)value->it_value.tv_usec < 1000000 &&
	       (ULong)value->it_interval.tv_usec < 1000000 && time_valid_spec(spec);
}

/**
 * timers_exec() - pass the alarm on to the next program of an exec.
 * @begins: True before exec: the host's timer is armed; False after it has failed: disarmed
 */
void timers_exec(Bool begins)
{
	struct vki_itimerval value = {{0, 0}, {0, 0}};
	struct vki_itimerspec spec;

	if (begins) {
		alarm_get(&timers[REAL].alarm, now_of(&timers[REAL]), &spec);
		to_itimerval(&spec, &value);
	}
	host_itimer(&value, NULL);
}

/** timers_init() - take over the alarm that this program was started with. */
void timers_init(void)
{
	struct vki_itimerval none = {{0, 0}, {0, 0}}, value;
	struct vki_itimerspec spec;

	host_itimer(&none, &value);
	if (from_itimerval(&value, &spec))
		alarm_set(&timers[REAL].alarm, &spec, 0, -1);
}

/* Forgets the expiries of a timer from before it was set. */
static void restart(struct timer *t)
{
	t->pending = t->taken = False;
	t->overrun = t->last_overrun = 0;
}

/* Arms a timer for a time from now on, or disarms it. */
static void set_timer(VexGuestAMD64State *guest, struct timer *t, const struct vki_itimerspec *spec)
{
	alarm_set(&t->alarm, spec, now_of(t), -1);
	restart(t);
	/* The running slice may end after the expiry. */
	slice_stop(guest);
}

static enum syscall_verdict alarm_call(VexGuestAMD64State *guest)
{
	struct timer *t = &timers[REAL];
	struct vki_itimerspec left, spec = {{0, 0}, {(UInt)guest->guest_RDI, 0}};

	alarm_get(&t->alarm, now_of(t), &left);
	set_timer(guest, t, &spec);
	/* Rounded as in the kernel's alarm_setitimer(): to nearest, but never to 0. */
	return guest_answer(guest, left.it_value.tv_sec +
				     (left.it_value.tv_nsec >= NS_PER_SECOND / 2 ||
				      (left.it_value.tv_nsec && !left.it_value.tv_sec)));
}

static enum syscall_verdict itimer_call(VexGuestAMD64State *guest, Addr new, Addr old)
{
	UInt which = guest->guest_RDI;
	struct vki_itimerspec spec = {{0, 0}, {0, 0}}, left;

	if (which >= NR_ITIMERS)
		return guest_answer(guest, -(Long)VKI_EINVAL);
	if ((new && !guest_may(new, sizeof(struct vki_itimerval), VKI_PROT_READ)) ||
	    (old && !guest_may(old, sizeof(struct vki_itimerval), VKI_PROT_WRITE)))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	if (new && !from_itimerval((const struct vki_itimerval *)new, &spec))
		return guest_answer(guest, -(Long)VKI_EINVAL);
	alarm_get(&timers[which].alarm, now_of(&timers[which]), &left);
	/* setitimer() without a value disarms. */
	if (guest->guest_RAX == __NR_setitimer)
		set_timer(guest, &timers[which], &spec);
	if (old)
		to_itimerval(&left, (struct vki_itimerval *)old);
	return guest_answer(guest, 0);
}

static struct timer *new_timer(void)
{
	struct timer *grown;
	Int i;

	for (i = NR_ITIMERS; i < nr_timers; i++)
		if (!timers[i].used)
			return &timers[i];
	grown = VG_(calloc)("rtmgrind.timers", 2 * nr_timers, sizeof(*grown));
	VG_(memcpy)(grown, timers, nr_timers * sizeof(*grown));
	if (timers != first_timers)
		VG_(free)(timers);
	timers = grown;
	i = nr_timers;
	nr_timers *= 2;
	return &timers[i];
}

static enum syscall_verdict create(VexGuestAMD64State *guest)
{
	const vki_sigevent_t *event = (const vki_sigevent_t *)guest->guest_RSI;
	Int *id = (Int *)guest->guest_RDX;
	struct timer *t, made = {.used = True, .clock = guest->guest_RDI, .signal = SIGALRM};

	if ((event && !guest_may((Addr)event, sizeof(*event), VKI_PROT_READ)) ||
	    !guest_may((Addr)id, sizeof(*id), VKI_PROT_WRITE))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	made.cpu = time_cpu_clock(made.clock, &made.of);
	if (!made.cpu && time_base(made.clock) <= 0)
		return guest_answer(guest, -(Long)VKI_EINVAL);
	if (event) {
		made.silent = event->sigev_notify == SIGEV_NONE;
		made.signal = event->sigev_signo;
		made.value = event->sigev_value;
		if (event->sigev_notify & VKI_SIGEV_THREAD_ID)
			made.lwp = event->vki_sigev_notify_thread_id;
		if (!made.silent && (made.signal < 1 || made.signal > _VKI_NSIG))
			return guest_answer(guest, -(Long)VKI_EINVAL);
	}
	t = new_timer();
	*t = made;
	*id = t - timers - NR_ITIMERS;
	if (!event)
		t->value.sival_int = *id;
	return guest_answer(guest, 0);
}

static enum syscall_verdict settime(VexGuestAMD64State *guest, struct timer *t)
{
	Long result = alarm_settime(guest, &t->alarm, now_of(t), t->clock);

	if (!result)
		restart(t);
	return guest_answer(guest, result);
}

static enum syscall_verdict gettime(VexGuestAMD64State *guest, struct timer *t)
{
	if (t->silent)
		alarm_pass(&t->alarm, now_of(t));
	return guest_answer(guest, alarm_gettime(guest, &t->alarm, now_of(t)));
}

/**
 * timers_call() - system calls about timers that send signals.
 * @guest: registers of the running thread
 * @ours: set to False if the call is another one
 *
 * Return: what to do with the call.
 */
enum syscall_verdict timers_call(VexGuestAMD64State *guest, Bool *ours)
{
	Int nr = guest->guest_RAX;
	Long index = (Int)guest->guest_RDI + (Long)NR_ITIMERS;

	*ours = True;
	switch (nr) {
	case __NR_alarm:
		return alarm_call(guest);
	case __NR_setitimer:
		return itimer_call(guest, guest->guest_RSI, guest->guest_RDX);
	case __NR_getitimer:
		return itimer_call(guest, 0, guest->guest_RSI);
	case __NR_timer_create:
		return create(guest);
	case __NR_timer_settime:
	case __NR_timer_gettime:
	case __NR_timer_getoverrun:
	case __NR_timer_delete:
		break;
	default:
		*ours = False;
		return SYSCALL_REAL;
	}
	if (index < NR_ITIMERS || index >= nr_timers || !timers[index].used)
		return guest_answer(guest, -(Long)VKI_EINVAL);
	if (nr == __NR_timer_settime)
		return settime(guest, &timers[index]);
	if (nr == __NR_timer_gettime)
		return gettime(guest, &timers[index]);
	if (nr == __NR_timer_getoverrun)
		return guest_answer(guest, timers[index].last_overrun);
	timers[index].used = False;
	return guest_answer(guest, 0);
}
