/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtmgrind.h - what the files of the emulator share.
 *
 * The order of the rooms: instrument.c, with block.c and insn.c, turns guest
 * instructions into calls of access.c, txn.c and hle.c (conflicts, transactions) and
 * syscalls.c (system calls in virtual time); sched.c gives out slices of
 * virtual time, account.c measures them, turn.c says to whom, cores.c where;
 * wait.c, futex.c, futex-pi.c, fdwait.c, sigwait.c and try.c keep threads that wait, and idle.c
 * waits when all do.
 *
 * Must never include libc: a Valgrind tool has none.
 */
#ifndef RTMGRIND_H
#define RTMGRIND_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "libvex_guest_amd64.h"

#include "../../lib/emulator.h"
#include "../../lib/rtm.h"
#include "fiber.h"

/* Bytes of a cache line, the unit of conflict detection. */
#define LINE_SIZE 64
#define NS_PER_SECOND 1000000000LL
#define line_of(addr) ((addr) & ~(Addr)(LINE_SIZE - 1))

/**
 * struct rtmgrind_options - the command line.
 * @seed: seed of every random choice
 * @quantum: mean instructions a thread may run ahead of the others
 * @abort_rate: per cent of the transactions that abort for no reason
 * @block_accesses: end translated blocks after so many memory accesses, 0 never
 * @deadlock_waits: a program that is deadlocked waits rather than ends
 * @rtm: False hides RTM in CPUID and makes every XBEGIN fail
 * @hle: XACQUIRE and XRELEASE elide; below 0: as the machine's number says
 * @abort_from_start: spurious aborts and timer ticks do not wait for PROBE_DONE
 * @stacks: records of aborts have stacks
 * @trace: log every begin, commit and abort
 * @spread: threads take the emptiest socket, not the first with room
 */
struct rtmgrind_options {
	Long seed;
	Long quantum;
	Long abort_rate;
	Long block_accesses;
	Bool deadlock_waits;
	Bool rtm;
	Int hle;
	Bool abort_from_start;
	Bool stacks;
	Bool trace;
	Bool spread;
};

extern struct rtmgrind_options opt;

Bool options_parse(const HChar *arg);
void options_usage(void);
void options_debug_usage(void);

/* What happens with a system call after syscall_enter(): the value is tested in generated code. */
enum syscall_verdict {
	SYSCALL_REAL = 0,	/* valgrind carries it out */
	SYSCALL_DONE = 1,	/* answered here: go on behind it */
	SYSCALL_WAIT = 2,	/* stay in front of it and let others run */
};

#define SYSCALL_INSN_SIZE 2

enum wait_kind {
	WAIT_NONE,
	WAIT_FUTEX,		/* for a wake of @addr */
	WAIT_EXIT,		/* for the end of the thread whose id is @value */
	WAIT_SLEEP,		/* for @deadline alone */
	WAIT_FD,		/* for one of @fds */
	WAIT_SIGNAL,		/* for a signal, or for @deadline */
	WAIT_TRY,		/* for what only the kernel knows: the call is tried now and then */
	WAIT_PI,		/* for the priority-inheriting lock at @addr */
	NR_WAIT_KINDS
};

/**
 * struct wait - why a thread stands in front of a system call.
 * @kind: what it waits for
 * @syscall_nr: the call
 * @deadline: virtual time at which it gives up, 0 never
 * @at_deadline: result of the call then
 * @check_at: virtual time at which to look again because something happened, 0 none
 * @look_at: virtual time of the next routine look while others run (WAIT_FD, WAIT_TRY or
 *           @outside), 0 none
 * @outside: another process may end it
 * @woken: another process has
 * @tried: the call was just tried, and would have waited
 * @addr: futex word
 * @mask: futex bit set
 * @value: futex value waited on
 * @requeue_to: priority-inheriting lock that FUTEX_CMP_REQUEUE_PI moves the waiter to, 0 none
 * @queued: order of arrival among futex waiters
 * @fds: descriptors, the thread's own array of room for @fds_room
 * @nr_fds: how many
 * @fds_room: see @fds
 * @masked: the call has a signal mask of its own, which holds now
 * @old_mask: the thread's mask before, and afterwards
 */
struct wait {
	enum wait_kind kind;
	Int syscall_nr;
	Long deadline;
	Long at_deadline;
	Long check_at;
	Long look_at;
	Bool outside;
	Bool woken;
	Bool tried;
	Addr addr;
	UInt mask;
	UInt value;
	Addr requeue_to;
	ULong queued;
	struct vki_pollfd *fds;
	UInt nr_fds;
	UInt fds_room;
	Bool masked;
	vki_sigset_t old_mask;
};

enum vthread_state {
	VT_FREE,		/* no thread */
	VT_READY,		/* wants the big lock and a core */
	VT_RUNNING,		/* has both */
	VT_WAITING,		/* stands in front of a call that virtual time completes */
	VT_KERNEL,		/* in a short system call: nobody runs until it is back */
	VT_OUTSIDE,		/* in a call that waits for the outside: others run */
};

/**
 * struct vthread - a guest thread as the simulated machine sees it.
 * @state: see above
 * @calling: VT_KERNEL or VT_OUTSIDE while valgrind carries out a system call, else VT_FREE
 * @exiting: the thread gives up the big lock for good next time
 * @lwp: Linux thread id, which is also what the guest sees; kept after the end of the
 *       thread until its host thread is gone
 * @stack: where on its stack its host thread was last seen, 0 not yet
 * @polled_calls: what had happened when it polled for signals last, see lwp.c
 * @polled_at: virtual time of that
 * @polled_home: the same, on its own host thread
 * @home: host processor + 1 that it is pinned to, 0 none
 * @turn: host futex word the host thread sleeps on
 * @fiber: where it goes on after it gave way
 * @clock: virtual time, cycles since the start of the run
 * @rest: parts of a cycle beyond @clock, see account.c
 * @cpu: cycles it ran
 * @core: hardware thread it has, -1 none
 * @timeslice_end: virtual time from which it gives its core to a queued thread
 * @last_core: hardware thread it had last, -1 none
 * @affinity: bit set of those it may have, model_cpus() long; NULL all
 * @meetings: slices for which it stays close to the others, as it has dealt with them
 * @whole_slice: valgrind gave it a whole slice when it entered generated code last
 * @in_block: it waits in the middle of a block, and must go on on the same core
 * @parked: see sched_park()
 * @section: struct rtmgrind_section in guest memory, 0 none
 * @guest: its registers; known from its first system call or transaction on
 * @shown: the latest time a clock showed it, cycles
 * @wait: see struct wait
 * @ready: the system call that valgrind carries out next does not wait
 * @try_nr: the call that is being tried, 0 none, see try.c
 * @try_arg: the argument of it that was changed
 * @try_deadline: virtual time at which it gives up, 0 never
 * @frame_masked: the signal frame about to be made keeps @frame_mask
 * @frame_mask: the mask from before the call that the signal interrupts
 */
struct vthread {
	/* What is asked of every thread at each hand-over: one line of the host's cache. */
	enum vthread_state state;
	enum vthread_state calling;
	Bool exiting;
	Bool whole_slice;
	Bool in_block;
	Bool parked;
	Int core;
	Long clock;
	Long rest;
	Long cpu;
	Long timeslice_end;
	volatile Int turn;
	Int meetings;
	Int lwp;
	UInt home;
	Addr stack;
	ULong polled_calls;
	Long polled_at;
	Long polled_home;
	struct fiber fiber;
	Int last_core;
	Addr section;
	UChar *affinity;
	VexGuestAMD64State *guest;
	Long shown;
	struct wait wait;
	Bool ready;
	Int try_nr;
	ULong try_arg;
	Long try_deadline;
	Bool frame_masked;
	vki_sigset_t frame_mask;
};

/* Indexed by ThreadId, of nr_vthreads entries; those in use are below vthread_end. */
extern struct vthread *vthreads;
extern UInt nr_vthreads;
extern ThreadId vthread_end;
/* The thread that has the big lock. */
extern ThreadId current_tid;
/*
 * Instructions left in the running slice, counted down by generated code, plus
 * slice_bias. Plain code only asks whether this is below 0; the bias, negative
 * while a transaction is open, makes it so in one test. See instrument.c.
 */
extern Long slice_left;
extern Long slice_bias;

static inline struct vthread *current_vthread(void)
{
	return &vthreads[current_tid];
}

/* slice.insns_per_cycle is a multiple of 2^-SLICE_RATE_SHIFT. */
#define SLICE_RATE_SHIFT 16

/**
 * struct slice - how time passes in the running slice.
 * @scaled: an instruction is not a cycle; else only @given and @lead mean anything
 * @given: instructions it began with
 * @lead: of these, until the thread is no longer the one with the smallest clock
 * @parts: of a cycle that an instruction takes, see account.c
 * @charged: cycles of latencies
 * @charged_insns: instructions that were taken off slice_left for them
 * @insns_per_cycle: how many take as long as a cycle
 */
struct slice {
	Bool scaled;
	Long given;
	Long lead;
	Long parts;
	Long charged;
	Long charged_insns;
	Long insns_per_cycle;
};

extern struct slice slice;

/**
 * charge() - let virtual time pass for the running thread.
 * @cycles: exactly so long, whatever its sibling does
 */
static inline void charge(Long cycles)
{
	Long insns = cycles;

	if (slice.scaled) {
		insns = cycles * slice.insns_per_cycle >> SLICE_RATE_SHIFT;
		slice.charged += cycles;
		slice.charged_insns += insns;
	}
	slice_left -= insns;
}

/** uncharge_insn() - the running instruction was paid for once before. */
static inline void uncharge_insn(void)
{
	slice_left++;
}

void account_begin(const struct vthread *t);
Long account_insns(Long cycles, Long max);
void account_give(Long insns, Long lead);
Bool account_end(struct vthread *t);
Bool account_ahead(void);

void sched_init(void);
Long sched_now(void);
Long sched_latest(void);
void sched_end_slice(VexGuestAMD64State *guest);
void sched_thread_create(ThreadId parent, ThreadId child);
void sched_thread_exit(ThreadId tid);
Bool sched_is_idle(void);
void sched_note_end(void);
Long sched_end_time(void);
void sched_track(void);
Bool sched_at_home(void);
void sched_go_home(void);
Int sched_lwp(Int lwp);
void sched_wait_turn(void);
void sched_park(void);
void sched_unpark(ThreadId tid, Long at);
void account_cut(Long at);
struct host_waitv;
Long sched_sleep(struct host_waitv *words, UInt nr, Long timeout_ns);
Bool sched_alone(void);

Bool lwp_same_stack(Addr a, Addr b);
ThreadId lwp_find(void);
void lwp_note_call(Bool forks);
void lwp_poll_soon(void);
Bool lwp_sleeps(Int lwp);
void lwp_await_end(Int lwp);
enum syscall_verdict lwp_signal_call(VexGuestAMD64State *guest);
void pin_turn(struct vthread *t);
void pin_release(struct vthread *t);

ThreadId turn_next(ThreadId except, Bool busy, Long *key);
ThreadId turn_pick(Bool *idle);

void cores_init(void);
void cores_reset(ThreadId only);
void cores_release(ThreadId tid);
void cores_place(void);
Bool cores_preempt(ThreadId tid);
Bool cores_evict(ThreadId tid);
Bool cores_wanted(ThreadId tid);
Bool cores_shared(Int cpu);
Bool affinity_allows(const struct vthread *t, Int cpu);
void affinity_copy(struct vthread *to, const struct vthread *from);
SizeT affinity_list(HChar *text);
SizeT affinity_mask(HChar *text);
enum syscall_verdict affinity_get(VexGuestAMD64State *guest);
enum syscall_verdict affinity_set(VexGuestAMD64State *guest);

void wait_begin(VexGuestAMD64State *guest, enum wait_kind kind, Long deadline, Long at_deadline);
void wait_complete(ThreadId tid, Long result, Long at);
void wait_expire(ThreadId tid);
Bool wait_expired(void);
void wait_cancel(ThreadId tid);
struct vki_pollfd *wait_fds(UInt nr);
void wait_signal(ThreadId tid, Int signal);
void wait_signal_taken(Int signal);
void wait_poke(ThreadId tid, Long at);
void wait_poke_signalled(Int lwp);
void wait_poke_signalled_at(Int lwp, Long at);
void wait_poke_fds(Long at);
Bool wait_fd_waiters(void);
void wait_fds_changed(void);
Long wait_key(const struct vthread *t, Bool busy);
Bool wait_due(Long deadline);
void wait_pace_stop(void);
Bool wait_again(VexGuestAMD64State *guest);
void wait_idle(void);
void wait_child_started(void);
void wait_child_reaped(void);
void wait_forked(void);
Bool wait_children(void);
void wait_sigaction(Int signal, const struct vki_sigaction_base *action);
Bool wait_signals_handled(void);
Bool wait_signal_pending(void);
Bool wait_mask(Addr set);
void wait_frame_mask(ThreadId tid, vki_sigset_t *mask);
void wait_look_outside(Long at);
Bool wait_child_there(const struct vthread *t);
void wait_set_kind(struct wait *wait, enum wait_kind kind);
void wait_outside(void);
Bool wait_kernel_may(void);
enum syscall_verdict wait_signal_call(VexGuestAMD64State *guest);
enum syscall_verdict wait_child_call(VexGuestAMD64State *guest);

void deadlock_check(void);

/**
 * struct alarm - when a timer expires.
 * @expiry: on its clock, ns; 0 not armed
 * @interval: ns from one expiry to the next, 0 only one
 */
struct alarm {
	Long expiry;
	Long interval;
};

Long alarm_pass(struct alarm *alarm, Long now);
void alarm_set(struct alarm *alarm, const struct vki_itimerspec *spec, Long now, Long base);
void alarm_get(const struct alarm *alarm, Long now, struct vki_itimerspec *spec);
Long alarm_due(const struct alarm *alarm);
Long timers_next(void);
void timers_expire(Long now);
Long timers_slice(ThreadId tid, Long slice);
Bool timers_armed(void);
void timers_delivered(vki_siginfo_t *info);
void timers_thread_exits(ThreadId tid);
void timers_forked(void);
void timers_exec(Bool begins);
void timers_init(void);
enum syscall_verdict timers_call(VexGuestAMD64State *guest, Bool *ours);

Long timerfd_next(void);
void timerfd_expire(Long now);
Bool timerfd_outside(const struct vki_pollfd *fds, UInt nr);
void timerfd_note(UInt nr, const UWord *args, Long result);
enum syscall_verdict timerfd_call(VexGuestAMD64State *guest, Bool *ours);
Bool timerfd_read(VexGuestAMD64State *guest, enum syscall_verdict *verdict);

enum syscall_verdict futex_call(VexGuestAMD64State *guest);
void futex_thread_exits(ThreadId tid);
Bool futex_holds(Addr word, UInt value);
Bool futex_pi_free(Addr word);
enum syscall_verdict try_call(VexGuestAMD64State *guest);
Bool try_over(struct vthread *t, Int error);
enum syscall_verdict fd_transfer(VexGuestAMD64State *guest, Short events);
enum syscall_verdict fd_poll(VexGuestAMD64State *guest);
enum syscall_verdict fd_select(VexGuestAMD64State *guest);
enum syscall_verdict fd_epoll(VexGuestAMD64State *guest);
enum syscall_verdict time_call(VexGuestAMD64State *guest, Bool *ours);
Long time_cycles(ULong seconds, ULong ns);
Long time_after(Long cycles);
Long time_base(Int clock);
Long time_ns(Long cycles);
Long time_never(Long cycles);
Long time_saturated_ns(Long seconds, Long ns);
Bool time_valid_spec(const struct vki_itimerspec *spec);
Bool time_cpu_clock(Int clock, ThreadId *tid);
Long time_cpu(ThreadId tid);
Bool time_read_timeout(Addr timespec, Long *deadline);
Bool time_read_deadline(Int clock, Addr timespec, Long *deadline);
Long cpu_cycles(Bool process);
enum syscall_verdict procfs_open(VexGuestAMD64State *guest);
SizeT limit_mapped(Addr from, Addr to);
void limit_init(void);
void limit_data_end(Addr end);
void limit_exec(Bool begins);
enum syscall_verdict limit_call(VexGuestAMD64State *guest, Bool *ours);
/* Bytes by which /proc/cpuinfo may be longer than the host's, for each processor. */
#define CPUINFO_ADDED 100
void topology_cpuid(VexGuestAMD64State *guest, UInt leaf, UInt subleaf, Int cpu);
SizeT topology_list(HChar *text, Bool (*has)(Int cpu, Long what), Long what);
SizeT topology_file(const HChar *name, Int cpu, HChar *text);
SizeT topology_cpuinfo(HChar *text, const HChar *host);
enum syscall_verdict machine_call(VexGuestAMD64State *guest, Bool *ours);
void machine_init(void);
void machine_first_insn(ThreadId tid);
void machine_cpuid_enter(VexGuestAMD64State *guest);
void machine_cpuid_leave(VexGuestAMD64State *guest);
ULong machine_rdtsc(void);
void machine_rdtscp(VexGuestAMD64State *guest);

ULong syscall_enter(VexGuestAMD64State *guest);
void syscall_pre(ThreadId tid, UInt nr, UWord *args, UInt nr_args);
void syscall_post(ThreadId tid, UInt nr, UWord *args, UInt nr_args, SysRes res);
Bool guest_may(Addr addr, SizeT size, UInt prot);

void shared_init(void);
void shared_map(Addr start, SizeT size, Bool shared);
Bool shared_contains(Addr addr);

void pages_init(void);
void pages_forget(void);
Bool pages_present(Addr addr);
void pages_touch(Addr addr);

/**
 * struct line - a cache line that some open transaction has touched.
 * @next: chain of the hash table, or of the free list
 * @addr: address of its first byte
 * @writer: thread that wrote it in its transaction, 0 none
 * @nr_readers: threads that have it in their read set
 * @old: contents to restore if @writer aborts
 * @readers: bit set of those threads, reader_words long
 */
struct line {
	struct line *next;
	Addr addr;
	ThreadId writer;
	UInt nr_readers;
	UChar old[LINE_SIZE];
	ULong readers[];
};

void line_init(UInt nr_threads);
struct line *line_find(Addr addr);
struct line *line_get(Addr addr);
void line_put(struct line *line);
Bool line_reads(const struct line *line, ThreadId tid);
void line_set_reader(struct line *line, ThreadId tid, Bool reads);
ThreadId line_other_reader(const struct line *line, ThreadId tid);

/* Open transactions; tracked code tests it once a block. */
extern ULong txn_nr_open;

/* The guest instruction that called: valgrind keeps the register up to date too coarsely. */
extern Addr current_pc;
/* The bytes of their line that it accesses, a bit each. */
extern ULong current_bytes;

void txn_init(UInt nr_threads);
Bool txn_open(ThreadId tid);
void txn_access(ThreadId tid, Addr addr, SizeT size, Bool write);
void guest_access(Addr addr, SizeT size, Bool write);
void guest_access_again(Addr addr, SizeT size, Bool write);
ULong txn_begin(VexGuestAMD64State *guest, ULong fallback, ULong next);
ULong txn_end(ULong next);
void txn_xabort(ULong code);
ULong txn_test(void);
void txn_abort_self(enum rtmgrind_cause cause, Int syscall_nr);
void txn_abort_fault(Int signal, Addr addr);
void txn_abort_parked(ThreadId tid, enum rtmgrind_cause cause);
void txn_abort_faulted(ThreadId tid, Int signal, Addr addr);
void txn_abort_others(ThreadId tid, enum rtmgrind_cause cause);
void txn_forget(ThreadId tid);
void txn_noise_start(void);
void txn_tick(ThreadId tid, Long before, Long after);
Bool txn_last_abort(ThreadId tid, Addr record, SizeT size);

UInt unwind_stack(ThreadId tid, Addr pc, Bool pushed, ULong *frames, UInt max);
Bool unwind_insn_pushes(Addr pc);
void unwind_forget(void);

Bool request_handle(ThreadId tid, UWord *args, UWord *answer);
/* Whether the cost model is on: False outside the region of interest. */
extern Bool in_region;
Long region_cycles(void);

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word);
Bool insn_needs_exact_registers(const VexGuestExtents *extents);
Bool insn_hint_at(Addr addr, UInt *at);

/* Sizes valgrind's cache of translations; bytes. Plain ones take 260, tracked ones more. */
#define AVERAGE_TRANSLATION 400

/* Whether the block being translated is to be a tracked one. */
extern Bool core_tracked;
Addr core_tracked_addr(Addr addr);
void core_hooks_check(void);
void core_untrack_ip(ThreadId tid);
Bool core_blocks_stay(void);
void core_let_others_run(ThreadId tid);
void core_read_symbols(void);
void core_set_mask(ThreadId tid, const vki_sigset_t *set, vki_sigset_t *old);
void core_restart_thread(void) __attribute__((noreturn));
/* Valgrind's own, not in its installed headers: the thread is on its way out. */
extern Bool VG_(is_exiting)(ThreadId tid);

/**
 * struct rng - a stream of pseudo-random numbers (xorshift64*, Vigna 2016).
 * @state: never 0
 */
struct rng {
	ULong state;
};

static inline void rng_seed(struct rng *rng, ULong seed, ULong stream)
{
	/* Golden-ratio steps keep neighbouring seeds and streams apart. */
	rng->state = (seed + 1) * 0x9E3779B97F4A7C15ULL ^ (stream + 1) * 0xD1B54A32D192ED03ULL;
	if (!rng->state)
		rng->state = 1;
}

static inline ULong rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545F4914F6CDD1DULL >> 11;
}

#endif
