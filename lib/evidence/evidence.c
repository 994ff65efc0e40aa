/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evidence.c - see evidence.h. The decisions are in decisions.c.
 *
 * A stack is walked in the slow path, on the stack of that: the unwinder needs 3 KB.
 */
#include <errno.h>
#include <string.h>

#include "../base/testpoint.h"
#include "../state/call.h"
#include "../state/gate.h"
#include "../state/holds.h"
#include "../state/modules.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "../state/thread-record.h"
#include "../state/tunables.h"
#include "../state/wiped.h"
#include "detail.h"
#include "evidence.h"
#include "moments.h"
#include "stack.h"

/* Threads, at most, whose rows are searched for a holder whose thread id is not in the lock. */
#define MAX_SUSPECTS 16

/* @look of elide_evidence_start(). */
static void (*thread_look)(uint32_t tid);

int elide_evidence_start(void (*look)(uint32_t tid))
{
	thread_look = look;
	elide_evidence = elide_wiped_alloc(sizeof(*elide_evidence));
	if (!elide_evidence)
		return -ENOMEM;
	elide_stack_start();
	elide_moments_start();
	return 0;
}

/*
 * xorshift64 (Marsaglia, "Xorshift RNGs", 2003), with a state of its own: sampling must not change
 * the pauses that the back-off draws.
 */
static uint64_t draw(struct elide_thread *t)
{
	uint64_t x = t->sample_seed;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	t->sample_seed = x;
	return x;
}

uint64_t elide_evidence_weight(struct elide_thread *t, uint64_t nth)
{
	if (nth <= t->first_seen)
		return 1;
	return draw(t) % elide_tunables.stacks ? 0 : elide_tunables.stacks;
}

/*
 * Return: @weight of this event, plus that of the postponed event if that is of the same kind.
 * @counter: the counter of the kind, whose address tells kinds apart
 */
static uint64_t add_postponed(struct elide_thread *t, const uint64_t *counter, uint64_t weight)
{
	if (likely(t->postponed_of != counter))
		return weight;
	t->postponed_of = NULL;
	return weight + t->postponed;
}

/*
 * Postpone a sample: its weight is added to the next event of its kind. A thread keeps one postponed
 * event: a later one, of another kind, takes its place, and its weight is lost.
 */
static void postpone(struct elide_thread *t, const uint64_t *counter, uint64_t weight)
{
	t->postponed_of = counter;
	t->postponed = weight;
}

/*
 * May a sample wait for the slow path of another thread? That thread may be preempted in it: when all
 * samples waited, 64 threads left two processors idle for a third of the time, asleep at the lock of the
 * slow paths while the program's lock was free. So only an event that is always sampled waits, unless
 * more than EVIDENCE_CROWD threads are alive, which the kernel would put to sleep and wake one by one.
 */
static bool waits_for_others(uint64_t weight)
{
	return weight == 1 && READ_ONCE(elide_nr_active) <= EVIDENCE_CROWD;
}

/**
 * struct event - what is sampled.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock
 * @weight: events that it counts as
 * @tid: thread id in the lock
 * @kind: of the call that had locked it
 * @w: a wait's records
 * @waker: the call that ended a wait, NULL if that is not known
 * @a: an abort
 * @site: of a release
 */
struct event {
	struct elide_thread *t;
	struct elide_row *row;
	const void *lock;
	uint64_t weight;
	uint32_t tid;
	enum elide_kind kind;
	union {
		struct elide_waits *w;
		const struct elide_aborted *a;
		const void *site;
	};
	const struct elide_waker *waker;
};

/* The slow path of a sample. False: not now, and nothing has been done. */
static bool sample_now(void (*body)(void *event), struct event *e)
{
	return waits_for_others(e->weight) ? elide_slow_run(body, e) : elide_slow_try_run(body, e);
}

/* The same; if not now, the sample is postponed. @counter: the counter of the kind of event */
static bool sample(void (*body)(void *event), struct event *e, const uint64_t *counter)
{
	if (sample_now(body, e))
		return true;
	postpone(e->t, counter, e->weight);
	return false;
}

/* The stack of the call that returns to @site: its number in the data file. */
static uint32_t save_stack(uint64_t site)
{
	uint64_t frames[ELIDE_STACK_FRAMES];
	unsigned int nr = elide_stack_take(frames, (const void *)site);

	return elide_stack_save(frames, nr, false);
}

static struct elide_sample *find_sample(const struct elide_row *row, enum elide_sample_type type,
					uint32_t stack)
{
	const struct elide_sample sample = {
		.class_index = row->class_index,
		.kind = row->kind,
		.type = type,
		.site = row->site,
		.stack = stack,
	};
	struct evidence_table *table = &elide_evidence->samples;
	uint64_t key = evidence_hash(row->site, (uint64_t)row->class_index << 32 |
							(uint64_t)row->kind << 16 | type);
	struct evidence_slot *slot;

	key = evidence_hash(key, stack) | 1;
	slot = evidence_find(table, key);
	if (slot->key)
		return slot->record;
	return evidence_add(table, slot, key, ELIDE_CHUNK_SAMPLES, &sample, sizeof(sample),
			    ELIDE_DROPPED_DETAILS);
}

/* Atomic: a thread that has waited adds to its records outside of slow paths. */
static void add_to_sample(struct elide_sample *s, uint64_t weight, uint64_t cycles)
{
	if (!s)
		return;
	__atomic_add_fetch(&s->samples, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->count, weight, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->cycles, cycles * weight, __ATOMIC_RELAXED);
}

static void add_to_blame(struct elide_blame *b, uint64_t weight, uint64_t cycles)
{
	if (!b)
		return;
	__atomic_add_fetch(&b->samples, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&b->count, weight, __ATOMIC_RELAXED);
	__atomic_add_fetch(&b->cycles, cycles * weight, __ATOMIC_RELAXED);
}

/*
 * The call that held a lock, or that ended a wait; @kind is ELIDE_KIND_NONE and @site 0 if only the
 * class is known. @peer as in struct elide_blame.
 */
struct holder {
	uint32_t class_index;
	uint32_t kind;
	uint64_t site;
	bool peer;
};

static struct elide_blame *find_blame(const struct elide_row *row, enum elide_blame_type type,
				      const struct holder *holder)
{
	bool peer = holder->peer;
	const struct elide_blame blame = {
		.class_index = row->class_index,
		.kind = row->kind,
		.type = type,
		.site = row->site,
		.held_class = holder->class_index,
		.held_kind = holder->kind,
		.peer = peer,
		.held_site = holder->site,
	};
	struct evidence_table *table = &elide_evidence->blame;
	uint64_t key = evidence_hash(row->site, (uint64_t)row->class_index << 32 |
							(uint64_t)row->kind << 16 | type);
	struct evidence_slot *slot;

	key = evidence_hash(key, (uint64_t)holder->class_index << 32 | peer << 8 | holder->kind);
	key = evidence_hash(key, holder->site) | 1;
	slot = evidence_find(table, key);
	if (slot->key)
		return slot->record;
	elide_module_of_past(holder->site);
	return evidence_add(table, slot, key, ELIDE_CHUNK_BLAME, &blame, sizeof(blame),
			    ELIDE_DROPPED_DETAILS);
}

/*
 * A thread does not note by which of its calls it has locked a lock, as that would cost each
 * acquisition. So one of the rows is drawn, with a probability that is its share of the time that
 * the rows held locks: the expected sums are right. With one row, as usual, there is no choice.
 */
struct choice {
	uint64_t total;
	const struct elide_row *row;
};

/* Cycles that a row's locks were held, by the mean hold time; where none is known, acquisitions. */
static uint64_t time_held(const struct elide_row *row)
{
	uint64_t nr = row->not_attempted + row->fallback;

	return 1 + (row->hold.count ? nr * (row->hold.total / row->hold.count) : nr);
}

/* What is known of the holder that is searched for. */
struct suspect {
	const void *lock;
	uint32_t class_index;
	enum elide_kind kind;
};

/*
 * Draw one of the rows of @holder that may have locked the lock: those that have locked it last, or
 * all of the class if there is none.
 */
static void choose(struct elide_thread *t, struct elide_thread *holder, const struct suspect *s,
		   struct choice *choice)
{
	for (int exact = 1; exact >= 0 && !choice->total; exact--) {
		for (uint32_t nr = 1; nr <= holder->nr_calls; nr++) {
			const struct elide_call *call = elide_call_at(holder, nr);
			const struct elide_row *row = READ_ONCE(call->row);
			uint64_t weight;

			if (!row || row->class_index != s->class_index || row->kind != s->kind)
				continue;
			if (exact && READ_ONCE(call->lock) != s->lock)
				continue;
			weight = time_held(row);
			choice->total += weight;
			if (draw(t) % choice->total < weight)
				choice->row = row;
		}
	}
}

/*
 * The call that locked the lock last, which elide_evidence_locked() has noted. With several readers
 * that may be another than the one that holds it.
 */
static bool known_holder(const void *lock, struct holder *holder)
{
	uint64_t mark = elide_registry_holder(lock);

	if (!mark)
		return false;
	holder->class_index = elide_registry_class(lock);
	holder->kind = mark & ELIDE_HOLDER_KIND;
	holder->site = mark / (ELIDE_HOLDER_KIND + 1);
	return true;
}

/* @tid: thread id in the lock. A writer of a rwlock leaves its own, readers leave none. */
static enum elide_kind holder_kind(const struct elide_row *row, uint32_t tid)
{
	if (row->kind == ELIDE_KIND_REACQUIRE)
		return ELIDE_KIND_MUTEX;
	if (row->kind != ELIDE_KIND_RWLOCK_READ && row->kind != ELIDE_KIND_RWLOCK_WRITE)
		return row->kind;
	return tid ? ELIDE_KIND_RWLOCK_WRITE : ELIDE_KIND_RWLOCK_READ;
}

static struct holder find_holder(struct elide_thread *t, const struct elide_row *row,
				 const void *lock, uint32_t tid)
{
	const struct suspect suspect = {lock, row->class_index, holder_kind(row, tid)};
	struct holder holder = {.class_index = row->class_index};
	struct elide_thread *other = elide_threads_all();
	struct choice choice = {0};

	if (known_holder(lock, &holder))
		return holder;
	for (uint32_t i = 0; other && (tid || i < MAX_SUSPECTS); other = other->next, i++)
		if (tid ? other->tid == tid : other != t && other->tid)
			choose(t, other, &suspect, &choice);
	if (choice.row) {
		holder.kind = choice.row->kind;
		holder.site = choice.row->site;
	}
	return holder;
}

/*
 * The lock call that a stack is in: its site is the first frame outside of this library. Its class
 * is that of a row of that site, of any thread.
 */
static bool find_by_stack(const unsigned long long *stack, unsigned int nr, struct holder *holder)
{
	uint64_t frames[ELIDE_STACK_FRAMES];

	if (!elide_stack_emulated(frames, stack, nr, true))
		return false;
	*holder = (struct holder){.class_index = ELIDE_NONE,
				   .site = elide_recorded_known((const void *)frames[0])};
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
			const struct elide_row *row = READ_ONCE(elide_call_at(t, nr)->row);

			if (!row || row->site != holder->site)
				continue;
			holder->class_index = row->class_index;
			holder->kind = row->kind;
			return true;
		}
	return false;
}

/*
 * The emulator's stack says which call of the section found the inner lock held. If the class of
 * that call is one static lock, it is that lock. Else it is the lock that this thread has locked last by
 * the call. If no holder is known,
 * only the class is.
 */
static void find_inner(struct elide_thread *t, const struct rtmgrind_abort *d,
		       struct holder *holder)
{
	struct holder call = {.class_index = ELIDE_NONE};
	const struct elide_class *class;

	*holder = call;
	if (!d || !find_by_stack(d->own_frames, d->nr_own, &call))
		return;
	holder->class_index = call.class_index;
	class = elide_class_info(call.class_index);
	if (class->type == ELIDE_CLASS_STATIC && !class->array) {
		known_holder(elide_at_run_time(class->address), holder);
		return;
	}
	for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
		const struct elide_call *own = elide_call_at(t, nr);

		if (own->lock && elide_call_row(own)->site == call.site &&
		    known_holder(own->lock, holder))
			return;
	}
}

/* Was the attempt aborted by a thread that locked, and not by data in the line of the lock? */
static bool killed_by_holder(const struct elide_aborted *a)
{
	const struct rtmgrind_brief *b = a->brief;

	if (a->cause != ELIDE_CAUSE_conflict || !b)
		return a->cause == ELIDE_CAUSE_conflict && a->held;
	return b->other_write && b->other_addr - (uintptr_t)a->lock < sizeof(uint64_t);
}

/*
 * The emulator has the stack of the thread that locked the lock; by now another may have locked it
 * last, which is what known_holder() finds.
 */
static void name_killer(const struct rtmgrind_abort *d, struct holder *holder)
{
	struct holder killer;

	if (find_by_stack(d->other_frames, d->nr_other, &killer) &&
	    killer.class_index == holder->class_index)
		*holder = killer;
}

static void blame_abort(struct elide_thread *t, const struct elide_row *row,
			const struct elide_aborted *a, uint64_t weight)
{
	struct holder holder = {.class_index = row->class_index};

	if (a->cause == ELIDE_CAUSE_busy || killed_by_holder(a)) {
		known_holder(a->lock, &holder);
		if (a->detail && a->detail->nr_other)
			name_killer(a->detail, &holder);
		add_to_blame(find_blame(row, ELIDE_BLAME_ABORT, &holder), weight, a->cycles);
	} else if (a->cause == ELIDE_CAUSE_inner_busy) {
		find_inner(t, a->detail, &holder);
		add_to_blame(find_blame(row, ELIDE_BLAME_INNER, &holder), weight, a->cycles);
	}
}

uint8_t elide_contended_classes[ELIDE_TAG_HOT / 8];

/*
 * From now on each acquisition that locks is watched. Transactions read the line that is written
 * here, so this is done once.
 */
static void watch_locked(void)
{
	if (READ_ONCE(elide_process.watch_locked))
		return;
	WRITE_ONCE(elide_process.watch_locked, true);
	WRITE_ONCE(elide_short_mask, 0);
}

/* From now on it is noted who locks the locks of the class. */
static void contended(uint32_t class_index)
{
	uint8_t *bits = &elide_contended_classes[class_index / 8];

	if (!elide_process.blames)
		return;
	if (!(READ_ONCE(*bits) >> class_index % 8 & 1))
		__atomic_fetch_or(bits, 1 << class_index % 8, __ATOMIC_RELAXED);
	watch_locked();
}

/* Which classes does an abort show to be contended? Not those whose sections share data alone. */
static void contended_by(struct elide_thread *t, const struct elide_row *row,
			 const struct elide_aborted *a)
{
	if (a->cause == ELIDE_CAUSE_busy || killed_by_holder(a))
		contended(row->class_index);
	/* The lock that was held may be of any class that the thread has met. */
	if (a->cause == ELIDE_CAUSE_inner_busy)
		for (uint32_t nr = 1; nr <= t->nr_calls; nr++)
			contended(elide_call_row(elide_call_at(t, nr))->class_index);
	/* The emulator knows who has aborted the transaction, if that thread says what it does. */
	if (a->cause == ELIDE_CAUSE_conflict && elide_process.blames &&
	    elide_process.rtm == ELIDE_RTM_EMULATED && !READ_ONCE(elide_process.tell_section)) {
		WRITE_ONCE(elide_process.tell_section, true);
		watch_locked();
	}
}

/* All of the emulator's record. A handler's abort may have taken its place meanwhile. */
static bool whole_record(const struct rtmgrind_brief *brief, struct rtmgrind_abort *record)
{
	return brief &&
	       rtmgrind_request(RTMGRIND_ABORT_AGAIN, (unsigned long)record, sizeof(*record)) &&
	       !memcmp(record, brief, sizeof(*brief));
}

static void abort_slow(void *arg)
{
	const struct event *e = arg;
	struct elide_aborted a = *e->a;
	struct rtmgrind_abort detail;
	uint32_t stack;

	test_point(abort_entered);
	if (whole_record(a.brief, &detail))
		a.detail = &detail;
	stack = save_stack(e->row->site);
	test_point(abort_publish);
	add_to_sample(find_sample(e->row, ELIDE_SAMPLE_ABORT, stack), e->weight, a.cycles);
	elide_detail_add(e->t, e->row, &a, e->weight, stack);
	blame_abort(e->t, e->row, &a, e->weight);
	test_point(abort_done);
}

__cold void elide_evidence_abort(struct elide_thread *t, struct elide_row *row,
				 const struct elide_aborted *a)
{
	const uint64_t *counter = &row->causes[a->cause];
	struct event e = {.t = t, .row = row, .a = a};

	if (!row->kind || elide_busy)
		return;
	contended_by(t, row, a);
	e.weight = elide_evidence_weight(t, *counter);
	/* After the first ones the processor chooses: one abort in elide_pmu_period(). */
	if (t->pmu && *counter > t->first_seen)
		e.weight = a->sampled ? elide_pmu_period() : 0;
	e.weight = add_postponed(t, counter, e.weight);
	if (e.weight)
		sample(abort_slow, &e, counter);
}

/* The same for a wait that is about to be counted. */
static uint64_t weigh_wait(struct elide_thread *t, const struct elide_row *row)
{
	return add_postponed(t, &row->contended, elide_evidence_weight(t, row->contended + 1));
}

static void wait_slow(void *arg)
{
	const struct event *e = arg;
	struct holder holder;

	test_point(wait_entered);
	elide_thread_record_name(e->t);
	if (e->tid && e->tid != e->t->tid)
		thread_look(e->tid);
	holder = find_holder(e->t, e->row, e->lock, e->tid);
	e->w->sample = find_sample(e->row, ELIDE_SAMPLE_WAIT, save_stack(e->row->site));
	test_point(wait_publish);
	e->w->blame = find_blame(e->row, ELIDE_BLAME_WAIT, &holder);
	test_point(wait_done);
}

__cold void elide_evidence_waits(struct elide_thread *t, struct elide_row *row, const void *lock,
				 uint32_t tid, struct elide_waits *w)
{
	struct event e = {.t = t, .row = row, .lock = lock, .tid = tid, .w = w};

	*w = (struct elide_waits){0};
	if (!elide_evidence || !row->kind || elide_busy)
		return;
	contended(row->class_index);
	e.weight = weigh_wait(t, row);
	if (e.weight && sample(wait_slow, &e, &row->contended))
		w->weight = e.weight;
}

static void sleep_slow(void *arg)
{
	const struct event *e = arg;

	test_point(sleep_entered);
	test_point(sleep_publish);
	e->w->sample = find_sample(e->row, ELIDE_SAMPLE_WAIT, save_stack(e->row->site));
	e->w->blame = NULL;
	test_point(sleep_done);
}

void elide_evidence_sleeps(struct elide_thread *t, struct elide_row *row, struct elide_waits *w)
{
	struct event e = {.t = t, .row = row, .w = w};

	w->weight = 0;
	if (!elide_evidence || !row->kind || elide_busy)
		return;
	if (likely(!(e.weight = weigh_wait(t, row))))
		return;
	if (sample(sleep_slow, &e, &row->contended))
		w->weight = e.weight;
}

static void woken_slow(void *arg)
{
	const struct event *e = arg;
	struct holder holder = {.class_index = e->row->class_index};

	test_point(woken_entered);
	if (e->waker) {
		holder.kind = e->row->kind;
		holder.site = elide_recorded_known((const void *)(uintptr_t)e->waker->by);
		holder.peer = e->waker->peer;
	}
	test_point(woken_publish);
	e->w->blame = find_blame(e->row, ELIDE_BLAME_WAIT, &holder);
	test_point(woken_done);
}

__cold void elide_evidence_woken(struct elide_row *row, const struct elide_waker *waker,
				 struct elide_waits *w, unsigned long long cycles)
{
	struct event e = {.row = row, .waker = waker, .w = w, .weight = w->weight};

	if (!row->kind)
		return;
	/* If not now, the sample has its stack already; only who woke the thread stays unknown. */
	sample_now(woken_slow, &e);
	elide_evidence_waited(w, cycles);
}

static void reacquire_slow(void *arg)
{
	const struct event *e = arg;
	struct holder holder;

	test_point(reacquire_entered);
	holder = find_holder(e->t, e->row, e->lock, e->tid);
	e->w->sample = find_sample(e->row, ELIDE_SAMPLE_WAIT, save_stack(e->row->site));
	test_point(reacquire_publish);
	e->w->blame = find_blame(e->row, ELIDE_BLAME_WAIT, &holder);
	test_point(reacquire_done);
}

void elide_evidence_reacquired(struct elide_thread *t, struct elide_row *row, const void *mutex,
			       uint32_t tid, unsigned long long cycles)
{
	struct elide_waits w = {0};
	struct event e = {.t = t, .row = row, .lock = mutex, .tid = tid, .w = &w};

	if (!elide_evidence || !row->kind || elide_busy)
		return;
	if (likely(!(e.weight = w.weight = weigh_wait(t, row))))
		return;
	if (sample(reacquire_slow, &e, &row->contended))
		elide_evidence_waited(&w, cycles);
}

__cold void elide_evidence_waited(const struct elide_waits *w, unsigned long long cycles)
{
	if (!w->weight)
		return;
	add_to_sample(w->sample, w->weight, cycles);
	add_to_blame(w->blame, w->weight, cycles);
}

static void blocked_slow(void *arg)
{
	const struct event *e = arg;
	struct suspect self = {.lock = e->lock, .kind = e->kind};
	struct choice choice = {0};

	test_point(blocked_entered);
	self.class_index = elide_registry_class(e->lock);
	if (self.class_index != ELIDE_NONE)
		choose(e->t, e->t, &self, &choice);
	test_point(blocked_publish);
	if (choice.row)
		add_to_sample(find_sample(choice.row, ELIDE_SAMPLE_BLOCK,
					  save_stack((uintptr_t)e->site)),
			      e->weight, 0);
	test_point(blocked_done);
}

__cold void elide_evidence_blocked(struct elide_thread *t, const void *lock,
				   enum elide_kind kind, const void *site)
{
	struct event e = {.t = t, .lock = lock, .kind = kind, .site = site};

	if (!elide_evidence || !t || elide_busy)
		return;
	e.weight = elide_evidence_weight(t, ++t->nr_blocked);
	e.weight = add_postponed(t, &t->nr_blocked, e.weight);
	if (e.weight && elide_registry_find(lock) != ELIDE_NONE)
		sample(blocked_slow, &e, &t->nr_blocked);
}

/* A load that was sampled in a locked section of @row. */
struct sampled_load {
	struct elide_thread *t;
	const struct elide_row *row;
	struct elide_pmu_load load;
};

static void loads_slow(void *arg)
{
	const struct sampled_load *s = arg;

	test_point(loads_entered);
	/* If a handler has forked meanwhile, the row is the parent's. */
	if (s->t->locked_row == s->row) {
		test_point(loads_publish);
		elide_detail_hint(s->row, s->t->locked, &s->load);
	}
	test_point(loads_done);
}

void elide_evidence_loads(struct elide_thread *t)
{
	const struct elide_row *row = t->locked_row;
	struct sampled_load s;

	if (likely(!elide_pmu_take_load(t->loads, &s.load)))
		return;
	if (!elide_evidence || !row || !row->kind || !row->causes[ELIDE_CAUSE_conflict] || elide_busy)
		return;
	s.t = t;
	s.row = row;
	elide_slow_try_run(loads_slow, &s);
}
