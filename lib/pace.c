/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pace.c - see pace.h.
 *
 * Clocks may jump, and differ between processors: what cannot be is thrown away.
 */
#include <errno.h>
#include <sys/mman.h>

#include "engine.h"
#include "evidence.h"
#include "pace.h"
#include "rtm.h"
#include "turns.h"

/* Times between reports of a thread. */
#define INTERVAL_HOLD      (80 * LEARN_US)
#define INTERVAL_CHALLENGE (8 * LEARN_US)

/* An epoch is not measured before most threads have reported in it, or so long. */
#define SETTLE_MIN (3 * LEARN_US)
#define SETTLE_MAX (100 * LEARN_US)

/* Longest wait for threads whose clocks are behind. */
#define IN_STEP_MAX (400 * LEARN_US)

/* Reports in a row, of any thread, that an epoch's start cannot be, until it begins anew. */
#define STRAYS_MAX 16

/* Sections between reports: the first, and at most. */
#define COUNT_FIRST 4
#define COUNT_MAX   4096

struct elide_pacer *elide_pacers;
static uint32_t nr_pacers, first_hot;

bool elide_pace_clocked;
/* Nanoseconds of a cycle, in 1/1024: of 3 GHz, until it is known better. */
#define SCALE_BITS 10
static uint32_t scale = (1000 << SCALE_BITS) / 3000;

int elide_pace_start(uint32_t max_classes)
{
	size_t size = (max_classes + 1 + ELIDE_NR_HOT) * sizeof(*elide_pacers);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	elide_pacers = p;
	nr_pacers = 1;
	first_hot = max_classes + 1;
	elide_turns_start();
	return 0;
}

struct elide_pacer *elide_pacer_hot(uint32_t nr)
{
	return &elide_pacers[first_hot + nr - 1];
}

void elide_pace_clock(uint64_t cycles, uint64_t ns)
{
	/* Only the magnitude matters, but it must not change. Of a short time it is not known. */
	if (ns >= 100 * LEARN_US && ns < 1000000 * LEARN_US && cycles / 64 < ns && ns / 64 < cycles) {
		WRITE_ONCE(scale, (ns << SCALE_BITS) / cycles);
		elide_pace_clocked = true;
	}
}

uint64_t elide_pace_now(void)
{
	return cycles_now() * READ_ONCE(scale) >> SCALE_BITS;
}

void elide_pace_forget(void)
{
	for (uint32_t i = 1; i < nr_pacers; i++)
		WRITE_ONCE(elide_pacers[i].lock, 0);
	/* Pages never written stay so. */
	for (uint32_t i = 1; i <= ELIDE_NR_HOT && elide_pacer_hot(i)->lock_address; i++)
		WRITE_ONCE(elide_pacer_hot(i)->lock, 0);
}

/* The pacer of a class is found by the class's number: one more. */
static struct elide_pacer *pacer_of(uint32_t class_index)
{
	struct elide_pacer *p = &elide_pacers[class_index + 1];

	for (; nr_pacers <= class_index + 1; nr_pacers++) {
		learn_start(&elide_pacers[nr_pacers].learn);
		elide_pacers[nr_pacers].class_index = nr_pacers - 1;
		elide_pacers[nr_pacers].interval = INTERVAL_CHALLENGE;
	}
	return p;
}

/* Number of a site. Beyond the room for them they share the last. */
static uint32_t site_of(struct elide_pacer *p, uint64_t key)
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

/* Report after so many sections from now. */
static void count_down(struct elide_pace *pace, uint32_t nr)
{
	pace->nr = nr;
	WRITE_ONCE(pace->goal, pace->goal - pace->countdown + nr);
	WRITE_ONCE(pace->countdown, nr);
}

static struct elide_pace *pace_of(struct elide_thread *t, uint32_t pacer)
{
	uint32_t i = pacer % ELIDE_NR_ROWS;

	/* There are no more of these than rows, which leave room. */
	for (; t->paces[i].pacer && t->paces[i].pacer != pacer; i = (i + 1) % ELIDE_NR_ROWS)
		;
	if (!t->paces[i].pacer) {
		t->paces[i].pacer = pacer;
		count_down(&t->paces[i], 1);
	}
	return &t->paces[i];
}

void elide_pace_attach(struct elide_thread *t, struct elide_mark *mark)
{
	const struct elide_row *row = mark->row;
	struct elide_pacer *p =
		mark->hot ? elide_pacer_hot(mark->hot) : pacer_of(row->class_index);

	mark->pacer = p - elide_pacers;
	mark->pace = pace_of(t, mark->pacer);
	mark->site = site_of(p, elide_cache_key((const void *)row->site, row->kind));
	mark->arm = &p->arms[mark->site];
}

void elide_pace_begin(struct elide_thread *t)
{
	if (!t->nr_rows)
		return; /* pages never written stay so */
	for (uint32_t i = 0; i < ELIDE_NR_ROWS; i++)
		if (t->paces[i].pacer) {
			t->paces[i].start = 0;
			count_down(&t->paces[i], 1);
		}
	for (uint32_t i = 0; i < t->nr_rows; i++)
		t->marks[i].streak = t->marks[i].probing = 0;
}

/* Never waited for: a signal handler may come while its own thread has it. */
bool elide_pacer_try_lock(struct elide_pacer *p)
{
	/* Pairs with the release in elide_pacer_unlock(). */
	return !READ_ONCE(p->lock) && !__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE);
}

void elide_pacer_unlock(struct elide_pacer *p)
{
	__atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
}

/* What acquisitions read, from what is known. */
void elide_pacer_publish(struct elide_pacer *p)
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
		WRITE_ONCE(p->settled[i], s->hopeless ? POLICY_ARM_real : s->arm);
		if (p->learn.phase == LEARN_HOLD && arm == POLICY_ARM_real)
			parks |= 1u << i;
	}
	WRITE_ONCE(p->parks, parks);
}

/*
 * Sections that all threads have completed. Other threads' counts are read as they go by,
 * and blocks of threads that have ended stay: nothing is missing in a difference.
 */
static uint64_t count(uint32_t pacer, uint64_t *aborts)
{
	uint64_t sum = 0;

	*aborts = 0;
	for (const struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		uint32_t i = pacer % ELIDE_NR_ROWS;
		const struct elide_pace *pace;

		while (READ_ONCE(t->paces[i].pacer) && t->paces[i].pacer != pacer)
			i = (i + 1) % ELIDE_NR_ROWS;
		pace = &t->paces[i];
		if (pace->pacer != pacer)
			continue;
		sum += READ_ONCE(pace->goal) - READ_ONCE(pace->countdown);
		*aborts += READ_ONCE(pace->aborts);
	}
	return sum;
}

static void restart(struct elide_pacer *p, uint64_t now, uint64_t done, uint64_t aborts)
{
	p->before = done;
	p->aborts = aborts;
	WRITE_ONCE(p->start, now);
	WRITE_ONCE(p->from, 0);
	WRITE_ONCE(p->epoch, p->epoch + 1);
	if (p->reporters > p->threads || p->learn.phase == LEARN_HOLD)
		WRITE_ONCE(p->threads, p->reporters);
	WRITE_ONCE(p->reporters, 0);
	elide_turns_share(p);
	WRITE_ONCE(p->strays, 0);
	WRITE_ONCE(p->interval,
		   p->learn.phase == LEARN_HOLD ? INTERVAL_HOLD : INTERVAL_CHALLENGE);
}

/* Tell what was decided. */
void elide_pacer_tell(const struct elide_pacer *p, const struct learn_decision *d)
{
	bool all = d->target == LEARN_ALL;
	uint64_t key = p->keys[all ? 0 : d->target];

	elide_evidence_chose(p->class_index, p->lock_address,
			     all ? NULL : (const void *)(key / (ELIDE_CACHE_KIND + 1)),
			     key & ELIDE_CACHE_KIND, d);
}

/* Measurement begins, or is over. @step: the threads have come equally far. */
static void end_epoch(struct elide_pacer *p, uint64_t now, uint64_t from, bool step)
{
	uint32_t number = p - elide_pacers;
	struct learn_decision decision = {0};
	struct learn_epoch epoch;
	uint64_t done, aborts;

	/* Another thread may have ended the epoch, or begun to measure, since @from was read. */
	if (!elide_pacer_try_lock(p))
		return;
	if (from != p->from || (int64_t)(now - p->start) < 0 || (int64_t)(now - from) < 0) {
		elide_pacer_unlock(p);
		return;
	}
	done = count(number, &aborts);
	epoch = (struct learn_epoch){
		.sections = done - p->before,
		.aborts = aborts - p->aborts,
		.length = now - p->from,
		.whole = now - p->start,
		.now = now,
		.nr_sockets = elide_turns_sockets(p),
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
		elide_pacer_publish(p);
		decision = learn_epoch(&p->learn, &epoch);
		elide_pacer_publish(p);
		restart(p, now, done, aborts);
	}
	elide_pacer_unlock(p);
	if (decision.made)
		elide_pacer_tell(p, &decision);
}

/* Do the threads do by now what the epoch wants of them? */
static bool settled(struct elide_pacer *p, struct elide_pace *pace, uint32_t socket,
		    uint64_t since)
{
	uint32_t epoch = READ_ONCE(p->epoch);

	if (pace->epoch != epoch) {
		pace->epoch = epoch;
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
static bool in_step(struct elide_pacer *p, const struct elide_pace *pace, uint64_t now)
{
	const struct elide_pace *leader = READ_ONCE(p->leader);

	if ((int64_t)(now - READ_ONCE(p->latest)) < 0)
		return false;
	WRITE_ONCE(p->latest, now);
	if (leader != pace)
		WRITE_ONCE(p->leader, pace);
	return leader != pace || READ_ONCE(p->threads) < 2;
}

/*
 * The epoch cannot have begun when its start says. It was long unused, or the clock has jumped:
 * then all find that. Where processors' clocks are that far apart, only those find it that run
 * by another than the one that began it, and they must not end it for the others.
 */
static void stray(struct elide_pacer *p, uint64_t now)
{
	uint32_t strays = READ_ONCE(p->strays) + 1;

	WRITE_ONCE(p->strays, strays);
	if ((strays < STRAYS_MAX && READ_ONCE(p->start)) || !elide_pacer_try_lock(p))
		return;
	WRITE_ONCE(p->latest, now);
	restart(p, now, p->before, p->aborts);
	elide_pacer_unlock(p);
}

/* A thread reports: is the epoch over? */
static void look(struct elide_pacer *p, struct elide_pace *pace, uint32_t socket, uint64_t now)
{
	uint64_t since = now - READ_ONCE(p->start), from = READ_ONCE(p->from);
	uint64_t length = now - from;
	bool ready = settled(p, pace, socket, since), step;

	if (since > LEARN_ABSURD && since < -LEARN_ABSURD) {
		stray(p, now);
		return;
	}
	if (READ_ONCE(p->strays))
		WRITE_ONCE(p->strays, 0);
	if (since > LEARN_ABSURD)
		return; /* between processors */
	step = in_step(p, pace, now);
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
static bool probe(struct elide_pacer *p, struct elide_mark *mark, const struct elide_row *row,
		  uint64_t now)
{
	bool due = false;

	if (READ_ONCE(p->settled[mark->site]) != POLICY_ARM_real || !elide_pacer_try_lock(p))
		return false;
	if (mark->probing) {
		mark->probing = 0;
		if (learn_probed(&p->learn, mark->site,
				 row->commits != mark->commits ? LEARN_PASSED : LEARN_UNSURE, now))
			elide_pacer_publish(p);
	}
	if (!mark->probing && learn_probe(&p->learn, mark->site, now)) {
		mark->probing = due = elide_pace_hopes(mark, row);
		mark->commits = row->commits;
		if (!due)
			learn_probed(&p->learn, mark->site, LEARN_FAILED, now);
	}
	elide_pacer_unlock(p);
	return due;
}

static uint64_t report(struct elide_thread *t, struct elide_pacer *p, struct elide_pace *pace,
		       struct elide_mark *mark, const struct elide_row *row)
{
	uint64_t now = elide_pace_now(), elapsed = now - pace->start;
	uint32_t nr = COUNT_FIRST;

	if (mark->contended != row->contended) {
		__atomic_add_fetch(&p->waits, row->contended - mark->contended, __ATOMIC_RELAXED);
		mark->contended = row->contended;
	}
	if (!pace->start)
		__atomic_add_fetch(&p->joined, 1, __ATOMIC_RELAXED);
	else if (elapsed < LEARN_ABSURD)
		nr = next_count(pace->nr, elapsed, READ_ONCE(p->interval));
	count_down(pace, nr);
	t->socket = elide_turns_socket();
	if (pace->start)
		look(p, pace, t->socket, now);
	pace->start = now;
	return now;
}

/* Need the thread not ask for a while? Not where one in the acquisitions that wake it is too long. */
static bool may_park(const struct elide_pacer *p, const struct elide_mark *mark,
		     const struct elide_pace *pace, const struct elide_row *row)
{
	/* Custom locks are not told of when they are taken, so nothing would wake them. */
	return READ_ONCE(p->parks) >> mark->site & 1 && elide_short_way() &&
	       pace->nr > elide_hold_mask && row->kind != ELIDE_KIND_CUSTOM;
}

static void park(const struct elide_thread *t, struct elide_mark *mark,
		 const struct elide_row *row, bool parked)
{
	WRITE_ONCE(mark->way, parked ? ELIDE_WAY_SHORT : elide_way(t, row));
}

/* The countdown is over. */
static enum policy_arm_name ask(struct elide_thread *t, struct elide_mark *mark)
{
	struct elide_pacer *p = &elide_pacers[mark->pacer];
	struct elide_pace *pace = READ_ONCE(mark->pace);
	struct elide_row *row = READ_ONCE(mark->row);
	uint64_t now;

	if (unlikely(!row || !pace))
		return POLICY_ARM_real; /* a handler has forked, and this is the child */
	/* A transaction of the program's own: the next one will do. */
	if (rtm_test()) {
		count_down(pace, 1);
		return POLICY_ARM_real;
	}
	now = report(t, p, pace, mark, row);
	if (!mark->hot)
		WRITE_ONCE(row->state, READ_ONCE(p->settled[mark->site]) == POLICY_ARM_real ?
					     ELIDE_STATE_PAUSED : ELIDE_STATE_ELIDING);
	park(t, mark, row, !mark->probing && may_park(p, mark, pace, row));
	if (probe(p, mark, row, now)) {
		park(t, mark, row, false);
		count_down(pace, 1);
		return POLICY_ARM_probe;
	}
	return READ_ONCE(p->arms[mark->site]);
}

enum policy_arm_name elide_pace_arm(struct elide_thread *t, struct elide_mark *mark)
{
	struct elide_pace *pace = READ_ONCE(mark->pace);
	const uint8_t *arm = READ_ONCE(mark->arm);

	/* The wrapper may have counted it already, but only if it was the last. */
	if (unlikely(!arm || !pace->countdown || !--pace->countdown))
		return ask(t, mark);
	return READ_ONCE(*arm);
}

__cold void elide_pace_wake(struct elide_thread *t, struct elide_mark *mark, uint32_t nr)
{
	struct elide_pacer *p = &elide_pacers[mark->pacer];
	struct elide_pace *pace = READ_ONCE(mark->pace);
	const struct elide_row *row = READ_ONCE(mark->row);
	uint64_t now;

	if (unlikely(!row || !pace))
		return; /* a handler has forked, and this is the child */
	if (pace->countdown > nr && READ_ONCE(p->parks) >> mark->site & 1) {
		pace->countdown -= nr;
	} else {
		/* What is left of the count is more or less than what has gone by. */
		pace->goal += (uint64_t)nr - pace->countdown;
		pace->countdown = 0;
		now = report(t, p, pace, mark, row);
		/* Without hope, but its time has come: the next one may try. */
		if (learn_due(&p->learn, mark->site, now)) {
			count_down(pace, 1);
			park(t, mark, row, false);
			return;
		}
	}
	park(t, mark, row, may_park(p, mark, pace, row));
}
