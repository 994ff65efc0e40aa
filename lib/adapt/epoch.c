/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * epoch.c - see epoch.h.
 *
 * Clocks may jump, and differ between processors: what cannot be is thrown away.
 */
#include <errno.h>
#include <sys/mman.h>

#include "../evidence/decisions.h"
#include "../rtm.h"
#include "../state/cache.h"
#include "../state/settings.h"
#include "epoch.h"
#include "giveup.h"
#include "sockets.h"

/* Times between reports of a thread. */
#define INTERVAL_HOLD      (80 * LEARN_US)
#define INTERVAL_CHALLENGE (8 * LEARN_US)

/*
 * An epoch is measured from when most threads have reported in it, but not before SETTLE_MIN; it is
 * measured after SETTLE_MAX in any case.
 */
#define SETTLE_MIN (3 * LEARN_US)
#define SETTLE_MAX (100 * LEARN_US)

/* Time after which an epoch ends though the clocks of threads are behind. */
#define IN_STEP_MAX (400 * LEARN_US)

/* After this number of reports in a row with clocks that cannot be right, the epoch begins anew. */
#define STRAYS_MAX 16

/* Sections between reports: the first, and at most. */
#define COUNT_FIRST 4
#define COUNT_MAX   4096

struct adapt_class *adapt_classes;
static uint32_t nr_classes, first_hot;

bool adapt_clocked;
/* Nanoseconds of a cycle, in 1/1024. Until adapt_clock() has measured it: of 3 GHz. */
#define SCALE_BITS 10
static uint32_t scale = (1000 << SCALE_BITS) / 3000;

int adapt_start(uint32_t max_classes)
{
	size_t size = (max_classes + 1 + ELIDE_NR_HOT) * sizeof(*adapt_classes);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	adapt_classes = p;
	nr_classes = 1;
	first_hot = max_classes + 1;
	adapt_sockets_start();
	return 0;
}

struct adapt_class *adapt_hotlock(uint32_t nr)
{
	return &adapt_classes[first_hot + nr - 1];
}

void adapt_clock(uint64_t cycles, uint64_t ns)
{
	/* Only the magnitude matters, but it must not change. Of a short time it is not known. */
	if (ns >= 100 * LEARN_US && ns < 1000000 * LEARN_US && cycles / 64 < ns && ns / 64 < cycles) {
		WRITE_ONCE(scale, (ns << SCALE_BITS) / cycles);
		adapt_clocked = true;
	}
}

uint64_t adapt_now(void)
{
	return cycles_now() * READ_ONCE(scale) >> SCALE_BITS;
}

void adapt_forget(void)
{
	for (uint32_t i = 1; i < nr_classes; i++)
		WRITE_ONCE(adapt_classes[i].lock, 0);
	/* Pages never written stay so. */
	for (uint32_t i = 1; i <= ELIDE_NR_HOT && adapt_hotlock(i)->lock_address; i++)
		WRITE_ONCE(adapt_hotlock(i)->lock, 0);
}

/* The state of a class, whose index is one more than the number of the class. */
static struct adapt_class *adapt_class_of(uint32_t class_index)
{
	struct adapt_class *p = &adapt_classes[class_index + 1];

	for (; nr_classes <= class_index + 1; nr_classes++) {
		learn_start(&adapt_classes[nr_classes].learn);
		adapt_classes[nr_classes].class_index = nr_classes - 1;
		adapt_classes[nr_classes].interval = INTERVAL_CHALLENGE;
	}
	return p;
}

/* Number of a site. Beyond the room for them they share the last. */
static uint32_t site_of(struct adapt_class *p, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < p->nr_keys; i++)
		if (p->keys[i] == key)
			return i;
	if (i == LEARN_SITES)
		return LEARN_SITES - 1;
	p->keys[i] = key;
	/* As the class; whoever ends the epoch tells learn.c. */
	WRITE_ONCE(p->arms[i], p->learn.arm);
	WRITE_ONCE(p->settled[i], p->learn.arm);
	WRITE_ONCE(p->nr_keys, i + 1);
	return i;
}

/* Report after @nr sections from now. */
static void count_down(struct adapt_thread *adapt, uint32_t nr)
{
	adapt->nr = nr;
	WRITE_ONCE(adapt->goal, adapt->goal - adapt->countdown + nr);
	WRITE_ONCE(adapt->countdown, nr);
}

static struct adapt_thread *adapt_thread_of(struct elide_thread *t, uint32_t adapt_nr)
{
	uint32_t i = adapt_nr % ELIDE_NR_ROWS;

	/* There are no more of these than rows, which leave room. */
	for (; t->adapts[i].adapt_nr && t->adapts[i].adapt_nr != adapt_nr; i = (i + 1) % ELIDE_NR_ROWS)
		;
	if (!t->adapts[i].adapt_nr) {
		t->adapts[i].adapt_nr = adapt_nr;
		count_down(&t->adapts[i], 1);
	}
	return &t->adapts[i];
}

void adapt_attach(struct elide_thread *t, struct elide_call *call)
{
	const struct elide_row *row = call->row;
	struct adapt_class *p =
		call->hot ? adapt_hotlock(call->hot) : adapt_class_of(row->class_index);

	call->adapt_nr = p - adapt_classes;
	call->adapt = adapt_thread_of(t, call->adapt_nr);
	call->site = site_of(p, elide_cache_key((const void *)row->site, row->kind));
	call->arm = &p->arms[call->site];
}

void adapt_thread_begin(struct elide_thread *t)
{
	if (!t->nr_rows)
		return; /* pages never written stay so */
	for (uint32_t i = 0; i < ELIDE_NR_ROWS; i++)
		if (t->adapts[i].adapt_nr) {
			t->adapts[i].start = 0;
			count_down(&t->adapts[i], 1);
		}
	for (uint32_t i = 0; i < t->nr_rows; i++)
		t->calls[i].streak = t->calls[i].probing = 0;
}

/* Never waited for: a signal handler may come while its own thread has it. */
bool adapt_class_try_lock(struct adapt_class *p)
{
	/* Pairs with the release in adapt_class_unlock(). */
	return !READ_ONCE(p->lock) && !__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE);
}

void adapt_class_unlock(struct adapt_class *p)
{
	__atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
}

/* What acquisitions read, from what is known. */
void adapt_class_publish(struct adapt_class *p)
{
	uint32_t nr = READ_ONCE(p->nr_keys);
	uint8_t parks = 0;

	while (p->learn.nr_sites < nr)
		learn_site(&p->learn);
	for (uint32_t i = 0; i < nr; i++) {
		const struct learn_site *s = &p->learn.sites[i];
		uint8_t arm = learn_arm(&p->learn, i);

		if (p->arms[i] != arm)
			WRITE_ONCE(p->arms[i], arm);
		WRITE_ONCE(p->settled[i], s->unelidable ? POLICY_ARM_real : s->arm);
		if (p->learn.phase == LEARN_HOLD && arm == POLICY_ARM_real)
			parks |= 1u << i;
	}
	WRITE_ONCE(p->parks, parks);
}

/*
 * Sections that all threads have completed. Other threads' counts are read as they go by,
 * and blocks of threads that have ended stay: nothing is missing in a difference.
 */
static uint64_t count(uint32_t adapt_nr, uint64_t *aborts)
{
	uint64_t sum = 0;

	*aborts = 0;
	for (const struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		uint32_t i = adapt_nr % ELIDE_NR_ROWS;
		const struct adapt_thread *adapt;

		while (READ_ONCE(t->adapts[i].adapt_nr) && t->adapts[i].adapt_nr != adapt_nr)
			i = (i + 1) % ELIDE_NR_ROWS;
		adapt = &t->adapts[i];
		if (adapt->adapt_nr != adapt_nr)
			continue;
		sum += READ_ONCE(adapt->goal) - READ_ONCE(adapt->countdown);
		*aborts += READ_ONCE(adapt->aborts);
	}
	return sum;
}

static void restart(struct adapt_class *p, uint64_t now, uint64_t done, uint64_t aborts)
{
	p->before = done;
	p->aborts = aborts;
	WRITE_ONCE(p->start, now);
	WRITE_ONCE(p->from, 0);
	WRITE_ONCE(p->epoch, p->epoch + 1);
	if (p->reporters > p->threads || p->learn.phase == LEARN_HOLD)
		WRITE_ONCE(p->threads, p->reporters);
	WRITE_ONCE(p->reporters, 0);
	adapt_sockets_share(p);
	WRITE_ONCE(p->strays, 0);
	WRITE_ONCE(p->interval,
		   p->learn.phase == LEARN_HOLD ? INTERVAL_HOLD : INTERVAL_CHALLENGE);
}

/* Tell what was decided. */
void adapt_class_tell(const struct adapt_class *p, const struct learn_decision *d)
{
	bool all = d->target == LEARN_ALL;
	uint64_t key = p->keys[all ? 0 : d->target];

	elide_evidence_chose(p->class_index, p->lock_address,
			     all ? NULL : (const void *)(key / (ELIDE_CACHE_KIND + 1)),
			     key & ELIDE_CACHE_KIND, d);
}

/* Measurement begins, or is over. @step: the threads have come equally far. */
static void end_epoch(struct adapt_class *p, uint64_t now, uint64_t from, bool step)
{
	uint32_t number = p - adapt_classes;
	struct learn_decision decision = {0};
	struct learn_epoch epoch;
	uint64_t done, aborts;

	/* Another thread may have ended the epoch, or begun to measure, since @from was read. */
	if (!adapt_class_try_lock(p))
		return;
	if (from != p->from || (int64_t)(now - p->start) < 0 || (int64_t)(now - from) < 0) {
		adapt_class_unlock(p);
		return;
	}
	done = count(number, &aborts);
	epoch = (struct learn_epoch){
		.sections = done - p->before,
		.aborts = aborts - p->aborts,
		.length = now - p->from,
		.whole = now - p->start,
		.now = now,
		.nr_sockets = adapt_sockets_used(p),
	};
	/* Without a clock that has gone by sensibly the epoch begins anew. */
	if (epoch.whole > LEARN_ABSURD) {
		restart(p, now, done, aborts);
	} else if (!p->from && step) {
		p->before = done;
		p->aborts = aborts;
		WRITE_ONCE(p->from, now);
	} else if (!p->from) {
		/* They had when the epoch began, and what they did first is little by now. */
		WRITE_ONCE(p->from, p->start);
	} else if (learn_over(&p->learn, epoch.length, epoch.sections)) {
		epoch.waits = __atomic_exchange_n(&p->waits, 0, __ATOMIC_RELAXED);
		epoch.joined = __atomic_exchange_n(&p->joined, 0, __ATOMIC_RELAXED) != 0;
		adapt_class_publish(p);
		decision = learn_epoch(&p->learn, &epoch);
		adapt_class_publish(p);
		restart(p, now, done, aborts);
	}
	adapt_class_unlock(p);
	if (decision.made)
		adapt_class_tell(p, &decision);
}

/* Do the threads do by now what the epoch wants of them? */
static bool settled(struct adapt_class *p, struct adapt_thread *adapt, uint32_t socket,
		    uint64_t since)
{
	uint32_t epoch = READ_ONCE(p->epoch);

	if (adapt->epoch != epoch) {
		adapt->epoch = epoch;
		__atomic_add_fetch(&p->reporters, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&p->reporters_on[socket], 1, __ATOMIC_RELAXED);
	}
	return since >= SETTLE_MAX ||
	       (since >= SETTLE_MIN && READ_ONCE(p->reporters) * 8 >= READ_ONCE(p->threads) * 7);
}

/*
 * Has another thread come as far as this one? Where clocks differ, or one thread runs while
 * the others only seem to, what all have done and the time of one do not belong together.
 */
static bool in_step(struct adapt_class *p, const struct adapt_thread *adapt, uint64_t now)
{
	const struct adapt_thread *leader = READ_ONCE(p->leader);

	if ((int64_t)(now - READ_ONCE(p->latest)) < 0)
		return false;
	WRITE_ONCE(p->latest, now);
	if (leader != adapt)
		WRITE_ONCE(p->leader, adapt);
	return leader != adapt || READ_ONCE(p->threads) < 2;
}

/*
 * The epoch cannot have begun when its start says. It was long unused, or the clock has jumped:
 * then all find that. Where processors' clocks are that far apart, only those find it that run
 * by another than the one that began it, and they must not end it for the others.
 */
static void stray(struct adapt_class *p, uint64_t now)
{
	uint32_t strays = READ_ONCE(p->strays) + 1;

	WRITE_ONCE(p->strays, strays);
	if ((strays < STRAYS_MAX && READ_ONCE(p->start)) || !adapt_class_try_lock(p))
		return;
	WRITE_ONCE(p->latest, now);
	restart(p, now, p->before, p->aborts);
	adapt_class_unlock(p);
}

/* A thread reports: is the epoch over? */
static void look(struct adapt_class *p, struct adapt_thread *adapt, uint32_t socket, uint64_t now)
{
	uint64_t since = now - READ_ONCE(p->start), from = READ_ONCE(p->from);
	uint64_t length = now - from;
	bool ready = settled(p, adapt, socket, since), step;

	if (since > LEARN_ABSURD && since < -LEARN_ABSURD) {
		stray(p, now);
		return;
	}
	if (READ_ONCE(p->strays))
		WRITE_ONCE(p->strays, 0);
	if (since > LEARN_ABSURD)
		return; /* between processors */
	step = in_step(p, adapt, now);
	if (from ? learn_may_end(&p->learn, length) && (step || length >= IN_STEP_MAX) :
		   ready && (step || since >= SETTLE_MAX))
		end_epoch(p, now, from, step);
}

/* Sections until the next report. */
static uint32_t next_count(uint32_t nr, uint64_t elapsed, uint32_t interval)
{
	uint64_t most = 4 * (uint64_t)nr, next = nr * (uint64_t)interval / (elapsed + 1);

	if (next > most)
		next = most;
	if (next > COUNT_MAX)
		next = COUNT_MAX;
	return next ? next : 1;
}

/* The outcome of the thread's last probe, if there is one by now; and is this one a probe? */
static bool probe(struct adapt_class *p, struct elide_call *call, const struct elide_row *row,
		  uint64_t now)
{
	bool due = false;

	if (READ_ONCE(p->settled[call->site]) != POLICY_ARM_real || !adapt_class_try_lock(p))
		return false;
	if (call->probing) {
		call->probing = 0;
		if (learn_probed(&p->learn, call->site,
				 row->commits != call->commits ? LEARN_PASSED : LEARN_UNSURE, now))
			adapt_class_publish(p);
	}
	if (!call->probing && learn_probe(&p->learn, call->site, now)) {
		call->probing = due = adapt_may_probe(call, row);
		call->commits = row->commits;
		if (!due)
			learn_probed(&p->learn, call->site, LEARN_FAILED, now);
	}
	adapt_class_unlock(p);
	return due;
}

static uint64_t report(struct elide_thread *t, struct adapt_class *p, struct adapt_thread *adapt,
		       struct elide_call *call, const struct elide_row *row)
{
	uint64_t now = adapt_now(), elapsed = now - adapt->start;
	uint32_t nr = COUNT_FIRST;

	if (call->contended != row->contended) {
		__atomic_add_fetch(&p->waits, row->contended - call->contended, __ATOMIC_RELAXED);
		call->contended = row->contended;
	}
	if (!adapt->start)
		__atomic_add_fetch(&p->joined, 1, __ATOMIC_RELAXED);
	else if (elapsed < LEARN_ABSURD)
		nr = next_count(adapt->nr, elapsed, READ_ONCE(p->interval));
	count_down(adapt, nr);
	t->socket = adapt_socket();
	if (adapt->start)
		look(p, adapt, t->socket, now);
	adapt->start = now;
	return now;
}

/*
 * May the thread lock without a question until adapt_wake()? Not where its countdown is shorter than
 * the acquisitions between two of these.
 */
static bool may_park(const struct adapt_class *p, const struct elide_call *call,
		     const struct adapt_thread *adapt, const struct elide_row *row)
{
	/* Custom locks are not seen being locked, so nothing would wake their calls. */
	return READ_ONCE(p->parks) >> call->site & 1 && elide_short_way() &&
	       adapt->nr > elide_hold_mask && row->kind != ELIDE_KIND_CUSTOM;
}

static void park(const struct elide_thread *t, struct elide_call *call,
		 const struct elide_row *row, bool parked)
{
	WRITE_ONCE(call->way, parked ? ELIDE_WAY_SHORT : elide_way(t, row));
}

/* The countdown is over. */
static enum policy_arm_name ask(struct elide_thread *t, struct elide_call *call)
{
	struct adapt_class *p = &adapt_classes[call->adapt_nr];
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	struct elide_row *row = READ_ONCE(call->row);
	uint64_t now;

	if (unlikely(!row || !adapt))
		return POLICY_ARM_real; /* a handler has forked, and this is the child */
	/* A transaction of the program's own: the next one will do. */
	if (rtm_test()) {
		count_down(adapt, 1);
		return POLICY_ARM_real;
	}
	now = report(t, p, adapt, call, row);
	if (!call->hot)
		WRITE_ONCE(row->state, READ_ONCE(p->settled[call->site]) == POLICY_ARM_real ?
					     ELIDE_STATE_PAUSED : ELIDE_STATE_ELIDING);
	park(t, call, row, !call->probing && may_park(p, call, adapt, row));
	if (probe(p, call, row, now)) {
		park(t, call, row, false);
		count_down(adapt, 1);
		return POLICY_ARM_probe;
	}
	return READ_ONCE(p->arms[call->site]);
}

enum policy_arm_name adapt_arm(struct elide_thread *t, struct elide_call *call)
{
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	const uint8_t *arm = READ_ONCE(call->arm);

	/* The wrapper may have counted it already, but only if it was the last. */
	if (unlikely(!arm || !adapt->countdown || !--adapt->countdown))
		return ask(t, call);
	return READ_ONCE(*arm);
}

__cold void adapt_wake(struct elide_thread *t, struct elide_call *call, uint32_t nr)
{
	struct adapt_class *p = &adapt_classes[call->adapt_nr];
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	const struct elide_row *row = READ_ONCE(call->row);
	uint64_t now;

	if (unlikely(!row || !adapt))
		return; /* a handler has forked, and this is the child */
	if (adapt->countdown > nr && READ_ONCE(p->parks) >> call->site & 1) {
		adapt->countdown -= nr;
	} else {
		/* What is left of the count is more or less than what has gone by. */
		adapt->goal += (uint64_t)nr - adapt->countdown;
		adapt->countdown = 0;
		now = report(t, p, adapt, call, row);
		/* The site is unelidable, and a probe is due: the next acquisition may be one. */
		if (learn_due(&p->learn, call->site, now)) {
			count_down(adapt, 1);
			park(t, call, row, false);
			return;
		}
	}
	park(t, call, row, may_park(p, call, adapt, row));
}
