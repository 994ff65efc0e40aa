/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crowd.c - see crowd.h.
 *
 * A place holds a ticket and a state in one word, which its thread sleeps on:
 *
 *   state     is                                  next, and who changes it
 *   --------  ----------------------------------  -----------------------------------------------
 *   empty     nobody's                            parked: a thread that parks
 *   parked    a thread sleeps                     first, admitted: another thread; empty: its own
 *   first     a thread sleeps, and looks at the   admitted: another thread; empty: its own
 *             lock now and then; a second
 *             one on another processor does, too
 *   admitted  another has let the thread go       empty: its own
 *
 * All changes are compare-and-swaps with the ticket, sequentially consistent: of a thread that
 * parks and looks whether it is the first, and one that leaves and looks for the next, one sees the
 * other. tests/model/crowd.pml searches all interleavings. A thread whose place was reclaimed
 * (CROWD_LOST) finds its word changed, and leaves.
 *
 * The counts of waiting threads are estimates. A thread that is cancelled while it waits stays in its
 * count: so the count is set back when the lock is seen to be free, and never goes below 0.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <unistd.h>

#include "../base/cpuid.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../base/vdso.h"
#include "../policy/crowd.h"
#include "../state/call.h"
#include "../state/settings.h"
#include "../state/wiped.h"
#include "crowd.h"
#include "trial.h"

enum { EMPTY, PARKED, FIRST, ADMITTED };
#define STATE_MASK 3u
#define WORD(ticket, state) ((ticket) << 2 | (state))

/**
 * struct place - where a thread is parked.
 * @word:   ticket and state, see above
 * @socket: socket of the thread
 * @reads:  it waits to read
 * @processor: that it was parked on; 0: not known
 * @since:  when it was parked, ns
 */
struct place {
	uint32_t word;
	uint16_t socket;
	uint16_t reads;
	uint32_t processor;
	uint64_t since;
};

/**
 * struct crowd - the threads that want a lock.
 * @lock:    address of the lock; NULL: nobody has used it
 * @waiting: threads that wait for it and are not parked
 * @tickets: next ticket
 * @poll:    time until the first parked thread looks at the lock next, ns; 0: the shortest
 * @socket:  socket whose threads leave first
 * @socket_since: when that was chosen, ns
 */
struct crowd {
	const void *lock;
	uint32_t waiting;
	uint32_t tickets;
	uint32_t poll;
	uint32_t socket;
	uint64_t socket_since;
	struct place places[CROWD_PLACES] __cacheline_aligned;
} __cacheline_aligned;

static struct crowd *crowds;

static bool has_rdtscp;

int crowd_start(void)
{
	has_rdtscp = cpuid_has_rdtscp();
	crowds = elide_wiped_alloc(CROWD_LOCKS * sizeof(*crowds));
	return crowds ? 0 : -ENOMEM;
}

/* Is the arm of the call "restrict"? */
static bool is_restricted(const struct elide_call *call)
{
	const struct adapt_class *p = &adapt_classes[call->adapt_nr];

	return elide_process.config.name == POLICY_RESTRICT ||
	       READ_ONCE(p->restricts) >> call->site & 1;
}

/* What the thread knows of the call; NULL: nothing. */
static struct elide_call *call_of(struct elide_thread *t, const struct elide_row *row,
				  const void *lock)
{
	return elide_call_of_row(t, lock, row);
}

/*
 * While a thread is parked, others would wait for the locks that it holds. Of mutexes this shows where
 * the hold time of the outer one is being measured; from then on no thread parks at that site.
 */
static bool is_inside(struct elide_thread *t, const struct elide_call *call, const void *lock)
{
	struct adapt_class *p = &adapt_classes[call->adapt_nr];

	if (t->nr_holds && (t->nr_holds > 1 || t->holds[0].lock != lock))
		__atomic_fetch_or(&p->inside, 1u << call->site, __ATOMIC_RELAXED);
	return (READ_ONCE(p->inside) >> call->site & 1) || t->nr_spins || t->nr_rwlocks ||
	       t->nr_acquired;
}

bool crowd_restricts(struct elide_thread *t, const struct elide_row *row, const void *lock)
{
	const struct elide_call *call;

	/* Without a call this may be a forked child without a data file. */
	call = call_of(t, row, lock);
	return call && !elide_halted() && (call->elided || row->state == ELIDE_STATE_RESTRICTED) &&
	       is_restricted(call) && !is_inside(t, call, lock);
}

/* Is a thread parked there now? */
static bool is_used(const struct place *place, uint64_t now)
{
	uint32_t word = __atomic_load_n(&place->word, __ATOMIC_SEQ_CST);

	return word && !policy_crowd_lost(now - READ_ONCE(place->since), CROWD_PARKED);
}

static bool is_deserted(const struct crowd *crowd, uint64_t now)
{
	for (int i = 0; i < CROWD_PLACES; i++)
		if (is_used(&crowd->places[i], now))
			return false;
	return true;
}

/* The crowd of a lock. NULL: the places for it are those of other locks, where threads are parked. */
static struct crowd *crowd_of(const void *lock)
{
	uint32_t hash = (uintptr_t)lock * 0x9e3779b97f4a7c15ull >> 58;
	const void *other;
	uint64_t now;

	for (int i = 0; i < CROWD_PROBES; i++)
		if (likely(READ_ONCE(crowds[(hash + i) % CROWD_LOCKS].lock) == lock))
			return &crowds[(hash + i) % CROWD_LOCKS];
	now = elide_clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < CROWD_PROBES; i++) {
		struct crowd *crowd = &crowds[(hash + i) % CROWD_LOCKS];

		other = READ_ONCE(crowd->lock);
		if ((!other || is_deserted(crowd, now)) &&
		    __atomic_compare_exchange_n(&crowd->lock, &other, lock, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			WRITE_ONCE(crowd->waiting, 0);
			return crowd;
		}
	}
	return NULL;
}

/* Wait for the lock if few do. */
static bool wait_with_few(struct crowd *crowd, enum elide_kind kind)
{
	uint32_t limit = policy_crowd_limit(elide_process.config.crowd, kind == ELIDE_KIND_RWLOCK_READ,
					    elide_process.nr_processors);
	uint32_t waiting = READ_ONCE(crowd->waiting);

	while (waiting < limit)
		if (__atomic_compare_exchange_n(&crowd->waiting, &waiting, waiting + 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

void crowd_left(struct crowd *crowd)
{
	uint32_t waiting = READ_ONCE(crowd->waiting);

	while (waiting && !__atomic_compare_exchange_n(&crowd->waiting, &waiting, waiting - 1, false,
						       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static bool change(struct place *place, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&place->word, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Find a place. Return: NULL if there is none; else *@ticket is the thread's. */
static struct place *arrive(struct crowd *crowd, const struct crowd_call *call, uint64_t now,
			    uint32_t *ticket)
{
	unsigned int where = has_rdtscp ? cpuid_where() : 0;

	*ticket = __atomic_fetch_add(&crowd->tickets, 1, __ATOMIC_RELAXED) & (~0u >> 2);
	for (uint32_t i = 0; i < CROWD_PLACES; i++) {
		struct place *place = &crowd->places[(*ticket + i) % CROWD_PLACES];
		uint32_t word = READ_ONCE(place->word);

		if (word && is_used(place, now))
			continue;
		/* Before it is seen to be in use. Another thread may want it and write about the same. */
		WRITE_ONCE(place->since, now);
		place->socket = (where >> 12) % CROWD_SOCKETS;
		place->processor = where & 0xfff;
		place->reads = call->kind == ELIDE_KIND_RWLOCK_READ;
		if (change(place, word, WORD(*ticket, PARKED)))
			return place;
	}
	return NULL;
}

/* The parked thread that leaves next; with @apart, of those parked on another processor than it. */
static struct place *next_of(struct crowd *crowd, const struct place *apart, uint64_t now)
{
	struct policy_place best = {0}, one;
	uint32_t socket = READ_ONCE(crowd->socket);
	struct place *next = NULL;

	for (int i = 0; i < CROWD_PLACES; i++) {
		struct place *place = &crowd->places[i];
		uint32_t word = __atomic_load_n(&place->word, __ATOMIC_SEQ_CST);

		if ((word & STATE_MASK) == EMPTY || (word & STATE_MASK) == ADMITTED ||
		    !is_used(place, now) ||
		    (apart && READ_ONCE(place->processor) == READ_ONCE(apart->processor)))
			continue;
		one = (struct policy_place){word >> 2, READ_ONCE(place->socket)};
		if (next && !policy_crowd_before(&one, &best, socket))
			continue;
		next = place;
		best = one;
	}
	/* The sockets take turns: the next one is that of a thread which would be the first now. */
	if (now - READ_ONCE(crowd->socket_since) > CROWD_SOCKET) {
		WRITE_ONCE(crowd->socket_since, now);
		WRITE_ONCE(crowd->socket, (socket + 1) % CROWD_SOCKETS);
	}
	return next;
}

static void wake(struct place *place)
{
	sys_futex(&place->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
}

/* Make the next thread a first one; with @reads, let it go if it reads. Return: it, or NULL. */
static struct place *wake_next(struct crowd *crowd, const struct place *apart, bool reads,
			       uint64_t now)
{
	struct place *next;
	uint32_t word, to;

	while ((next = next_of(crowd, apart, now))) {
		word = READ_ONCE(next->word);
		to = (word & ~STATE_MASK) | (reads && next->reads ? ADMITTED : FIRST);
		if ((word & STATE_MASK) == EMPTY || (word & STATE_MASK) == ADMITTED)
			continue;
		if (word == to)
			break;
		if (change(next, word, to)) {
			wake(next);
			break;
		}
	}
	return next;
}

/*
 * A thread has left: another one looks at the lock from now on. Where a reader was let in, the next
 * one goes too if it reads. If others leave at the same time, one of them sees who is left.
 *
 * So does the next one that was parked on another processor. A thread that its timer has woken may
 * stay behind the one that runs on its processor while another is idle, until the kernel balances
 * them: with 64 threads and two processors for up to 16 ms, in which nobody looked.
 */
static void pass_on(struct crowd *crowd, bool reads, uint64_t now)
{
	const struct place *next = wake_next(crowd, NULL, reads, now);

	if (next)
		wake_next(crowd, next, false, now);
}

/* Is nobody parked before the thread with that ticket? */
static bool comes_first(const struct crowd *crowd, uint32_t ticket, uint64_t now)
{
	const struct policy_place own = {ticket, 0};

	for (int i = 0; i < CROWD_PLACES; i++) {
		const struct place *place = &crowd->places[i];
		struct policy_place one = {__atomic_load_n(&place->word, __ATOMIC_SEQ_CST) >> 2, 0};

		if (is_used(place, now) && policy_crowd_before(&one, &own, 0))
			return false;
	}
	return true;
}

static void pause_for(unsigned int cycles)
{
	for (unsigned long long start = cycles_now(); cycles_now() - start < cycles;)
		cpu_relax();
}

/* The first parked thread looks at the lock. */
static void look(const struct crowd *crowd, const struct crowd_call *call, struct policy_parked *p)
{
	p->nr_free = p->nr_waited = 0;
	p->looked = true;
	for (int i = 0; i < CROWD_LOOKS; i++) {
		p->nr_free += call->is_free(call->lock, call->kind);
		p->nr_waited += READ_ONCE(crowd->waiting) != 0;
		pause_for(CROWD_LOOK_CYCLES);
	}
}

/* Time until the deadline of the call, ns. */
static uint64_t time_left(const struct crowd_call *call)
{
	uint64_t now, until;

	if (!call->until)
		return UINT64_MAX;
	now = elide_clock_ns(call->clock);
	if (call->until->tv_sec < 0)
		return 0;
	/* Before it overflows: about 292 years. */
	if ((uint64_t)call->until->tv_sec >= UINT64_MAX / 2000000000ull)
		return UINT64_MAX;
	until = call->until->tv_sec * 1000000000ull + call->until->tv_nsec;
	return until > now ? until - now : 0;
}

static void sleep_in(struct place *place, uint32_t word, uint64_t ns)
{
	struct timespec ts = {ns / 1000000000, ns % 1000000000};

	sys_futex(&place->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, word, &ts);
}

/* The thread is parked in @place until it is to leave. Return: why. */
static enum policy_crowd stay(struct crowd *crowd, struct place *place, uint32_t ticket,
			      const struct crowd_call *call, uint64_t start)
{
	const struct elide_call *known = call_of(call->t, call->row, call->lock);
	struct policy_parked p = {
		.bound = CROWD_PARKED,
		.first = comes_first(crowd, ticket, start),
		.poll = READ_ONCE(crowd->poll) ?: CROWD_POLL_MIN,
	};
	uint64_t now = start, looked = start;
	enum policy_crowd what;
	uint32_t word;

	for (;;) {
		word = __atomic_load_n(&place->word, __ATOMIC_SEQ_CST);
		/* Other words: admitted, or the place was taken for lost, or this is a forked child. */
		p.admitted = word != WORD(ticket, PARKED) && word != WORD(ticket, FIRST);
		if (!p.first && word == WORD(ticket, FIRST)) {
			p.first = true;
			looked = now;
		}
		p.restricts = known && is_restricted(known);
		p.parked = now - start;
		p.left = time_left(call);
		p.looked = false;
		if (p.first && now - looked >= p.poll) {
			look(crowd, call, &p);
			looked = now;
		}
		what = policy_crowd_parked(&p);
		if (p.looked)
			WRITE_ONCE(crowd->poll, p.poll = policy_crowd_poll(p.poll, what));
		if (what != POLICY_CROWD_SLEEP)
			return what;
		test_point(crowd_sleep);
		sleep_in(place, word, policy_crowd_sleep(&p));
		now = elide_clock_ns(CLOCK_MONOTONIC);
	}
}

/* Threads of real-time policies, and of policies that are not known here, are never parked. */
static bool is_normal(void)
{
	int policy = sys_call(sched_getscheduler, 0, 0, 0, 0, 0, 0) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

static void count_dropped(void)
{
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_CROWDS], 1, __ATOMIC_RELAXED);
}

static __noinline bool park(struct crowd *crowd, const struct crowd_call *call)
{
	uint64_t start = elide_clock_ns(CLOCK_MONOTONIC), now;
	unsigned long long cycles = cycles_now();
	enum policy_crowd why;
	struct place *place;
	uint32_t ticket;

	place = arrive(crowd, call, start, &ticket);
	if (!place) {
		count_dropped();
		return false;
	}
	counter_add(call->row->parked, 1);
	test_point(crowd_parked);
	why = stay(crowd, place, ticket, call, start);
	/* Any of the three may be what it holds by now, or it is another thread's. */
	if (!change(place, WORD(ticket, PARKED), 0) && !change(place, WORD(ticket, FIRST), 0))
		change(place, WORD(ticket, ADMITTED), 0);
	test_point(crowd_left);
	now = elide_clock_ns(CLOCK_MONOTONIC);
	if (why == POLICY_CROWD_IDLE)
		WRITE_ONCE(crowd->waiting, 0);
	pass_on(crowd, call->kind == ELIDE_KIND_RWLOCK_READ &&
		       why != POLICY_CROWD_LATE && why != POLICY_CROWD_OPEN, now);
	counter_add(call->row->unparked, 1);
	counter_add(call->row->parked_cycles, cycles_now() - cycles);
	return true;
}

struct crowd *crowd_enter(const struct crowd_call *call)
{
	int saved = errno;
	struct crowd *crowd = crowd_of(call->lock);
	bool waits;

	if (!crowd) {
		count_dropped();
		return NULL;
	}
	waits = wait_with_few(crowd, call->kind);
	if (!waits) {
		/* One that has just got the lock may still be counted. */
		pause_for(CROWD_LOOK_CYCLES / 2);
		waits = wait_with_few(crowd, call->kind);
	}
	if (!waits) {
		if (!is_normal() || !park(crowd, call))
			crowd = NULL;
		else
			__atomic_add_fetch(&crowd->waiting, 1, __ATOMIC_RELAXED);
	}
	errno = saved;
	return crowd;
}
