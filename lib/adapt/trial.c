/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trial.c - see trial.h.
 *
 * Clocks may jump, and differ between processors: a trial whose times contradict each other is
 * discarded.
 */
#include <errno.h>

#include "../base/reserve.h"
#include "../evidence/decisions.h"
#include "../policy/pace.h"
#include "../state/call.h"
#include "../state/holds.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "trial.h"
#include "learned.h"
#include "measure.h"

struct adapt_class *adapt_classes;
static uint32_t nr_classes, first_hot;

int adapt_start(uint32_t max_classes)
{
	adapt_classes = elide_reserve((max_classes + 1 + HOT_LOCKS) * sizeof(*adapt_classes));
	if (!adapt_classes)
		return -ENOMEM;
	for (int i = 0; i < LEARN_SITES; i++)
		adapt_classes[0].arms[i] = ELIDE_ARM_LOCK;
	nr_classes = 1;
	first_hot = max_classes + 1;
	return 0;
}

struct adapt_class *adapt_hotlock(uint32_t nr)
{
	return &adapt_classes[first_hot + nr - 1];
}

void adapt_forget(void)
{
	for (uint32_t i = 1; i < nr_classes; i++)
		WRITE_ONCE(adapt_classes[i].lock, 0);
	/* A page that was never written is not written here. */
	for (uint32_t i = 1; i <= HOT_LOCKS && adapt_hotlock(i)->lock_address; i++)
		WRITE_ONCE(adapt_hotlock(i)->lock, 0);
}

struct adapt_class *adapt_class_of(uint32_t class_index)
{
	struct adapt_class *p = &adapt_classes[class_index + 1];

	while (nr_classes <= class_index + 1) {
		learn_start(&adapt_classes[nr_classes].learn,
			    elide_process.mode == ELIDE_RUN_RESTRICT, elide_process.restricts &&
			    elide_class_info(nr_classes - 1)->kind != ELIDE_KIND_CUSTOM);
		adapt_classes[nr_classes].class_index = nr_classes - 1;
		adapt_classes[nr_classes].interval = FLUSH_MIN;
		adapt_learned_class(&adapt_classes[nr_classes]);
		/* Pairs with adapt_knows(). */
		__atomic_store_n(&nr_classes, nr_classes + 1, __ATOMIC_RELEASE);
	}
	return p;
}

bool adapt_knows(uint32_t class_index, const void *site, enum elide_kind kind)
{
	const struct adapt_class *p = &adapt_classes[class_index + 1];
	uint64_t key = elide_call_key(site, kind);
	uint32_t nr;

	/* Both pair with the stores in global-lock paths: what is counted is whole. */
	if (__atomic_load_n(&nr_classes, __ATOMIC_ACQUIRE) <= class_index + 1)
		return false;
	nr = __atomic_load_n(&p->nr_keys, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < nr; i++)
		if (p->keys[i] == key)
			return true;
	return nr == LEARN_SITES;
}

uint32_t adapt_site_of(struct adapt_class *p, uint64_t key)
{
	uint8_t arm;
	uint32_t i;

	for (i = 0; i < p->nr_keys; i++)
		if (p->keys[i] == key)
			return i;
	if (i == LEARN_SITES)
		return LEARN_SITES - 1;
	p->keys[i] = key;
	/* It begins with what is known, or the class; adapt_class_publish() adds it to @learn. */
	arm = adapt_learned_find_site(p, i, key);
	WRITE_ONCE(p->arms[i], ELIDE_ARM_CODE(arm));
	WRITE_ONCE(p->settled[i], arm);
	/* Pairs with adapt_knows(). */
	__atomic_store_n(&p->nr_keys, i + 1, __ATOMIC_RELEASE);
	return i;
}

/* No thread waits for it: a signal handler may interrupt the thread that holds it. */
bool adapt_class_try_lock(struct adapt_class *p)
{
	/* Pairs with the release in adapt_class_unlock(). */
	return !READ_ONCE(p->lock) && !__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE);
}

void adapt_class_unlock(struct adapt_class *p)
{
	__atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
}

void adapt_class_publish(struct adapt_class *p)
{
	uint32_t nr = READ_ONCE(p->nr_keys);
	uint8_t dormant = 0, restricts = 0;

	while (p->learn.nr_sites < nr)
		adapt_learned_site(p, learn_site(&p->learn));
	for (uint32_t i = 0; i < nr; i++) {
		uint8_t arm = learn_arm(&p->learn, i);

		if (p->arms[i] != ELIDE_ARM_CODE(arm))
			WRITE_ONCE(p->arms[i], ELIDE_ARM_CODE(arm));
		WRITE_ONCE(p->settled[i], learn_settled(&p->learn, i));
		if (p->learn.phase == LEARN_HOLD && policy_arm_locks(arm))
			dormant |= 1u << i;
		if (arm == POLICY_ARM_restrict)
			restricts |= 1u << i;
	}
	WRITE_ONCE(p->dormant, dormant);
	if (p->restricts != restricts)
		WRITE_ONCE(p->restricts, restricts);
}

/**
 * struct counted - what all threads have done with the locks of a class.
 * @sections: sections completed
 * @aborts:   attempts that other threads have aborted
 */
struct counted {
	uint64_t sections;
	uint64_t aborts;
};

/*
 * Other threads go on counting meanwhile, and the blocks of threads that have ended stay: each
 * section is in the difference of two such sums that enclose it.
 */
static struct counted count(uint32_t adapt_nr)
{
	struct counted sum = {0};

	for (struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		const struct adapt_thread *adapt = adapt_place(t, adapt_nr);

		if (!adapt || adapt->adapt_nr != adapt_nr)
			continue;
		sum.sections += adapt_completed(adapt);
		sum.aborts += READ_ONCE(adapt->aborts);
	}
	return sum;
}

/* What is measured from here on begins with @done. */
static void measure_from(struct adapt_class *p, struct counted done)
{
	p->before = done.sections;
	p->aborts = done.aborts;
}

/* The next trial begins at @now. */
static void restart(struct adapt_class *p, uint64_t now)
{
	WRITE_ONCE(p->start, now);
	WRITE_ONCE(p->from, 0);
	WRITE_ONCE(p->trial, p->trial + 1);
	if (p->flushers > p->threads || p->learn.phase == LEARN_HOLD)
		WRITE_ONCE(p->threads, p->flushers);
	WRITE_ONCE(p->flushers, 0);
	WRITE_ONCE(p->strays, 0);
	WRITE_ONCE(p->interval, learn_interval(&p->learn));
}

void adapt_class_log(const struct adapt_class *p, const struct learn_decision *d)
{
	bool all = d->target == LEARN_ALL;
	uint64_t key = p->keys[all ? 0 : d->target];

	elide_evidence_chose(p->class_index, p->lock_address,
			     all ? NULL : elide_key_site(key), elide_key_kind(key), d);
}

/* The class in a challenge about eliding, and when its last trial ended, ns. Not synchronised. */
static struct {
	const struct adapt_class *class;
	uint64_t at;
} turn;

/* Is it the turn of another class? */
static bool is_others_turn(const struct adapt_class *p, uint64_t now)
{
	const struct adapt_class *class = READ_ONCE(turn.class);

	return class && class != p && now - READ_ONCE(turn.at) < TRIAL_LONG;
}

/* A trial of the class is over: it has the turn as long as its challenge goes on. */
static void take_turn(struct adapt_class *p, uint64_t now)
{
	bool challenges = p->learn.phase != LEARN_HOLD && p->learn.question != LEARN_CROWD;

	if (challenges)
		WRITE_ONCE(turn.at, now);
	if (challenges || READ_ONCE(turn.class) == p)
		WRITE_ONCE(turn.class, challenges ? p : NULL);
}

/*
 * The measured part of the trial begins, or the trial ends.
 * @from: the caller's view of @p->from; if that has changed, another thread was here
 * @step: the threads have come equally far, see in_step()
 */
static void end_trial(struct adapt_class *p, uint64_t now, uint64_t from, bool step)
{
	uint32_t number = p - adapt_classes;
	struct learn_decision decision = {0};
	struct learn_trial trial;
	struct counted done;

	if (!adapt_class_try_lock(p))
		return;
	if (from != p->from || (int64_t)(now - p->start) < 0 || (int64_t)(now - from) < 0) {
		adapt_class_unlock(p);
		return;
	}
	done = count(number);
	trial = (struct learn_trial){
		.sections = done.sections - p->before,
		.aborts = done.aborts - p->aborts,
		.length = now - p->from,
		.whole = now - p->start,
		.now = now,
		.oversubscribed = elide_oversubscribed(),
	};
	/* The class was unused, or the clock has jumped: begin a new trial. */
	if (trial.whole > ABSURD) {
		measure_from(p, done);
		restart(p, now);
	} else if (!p->from && step) {
		measure_from(p, done);
		WRITE_ONCE(p->from, now);
	} else if (!p->from) {
		/*
		 * They were not in step for SETTLE_MAX. Measure from the start of the trial: they
		 * were when it began, and what each did before its first flush is little by now.
		 */
		WRITE_ONCE(p->from, p->start);
	} else if (learn_over(&p->learn, trial.length, trial.sections)) {
		trial.waits = __atomic_exchange_n(&p->waits, 0, __ATOMIC_RELAXED);
		trial.joined = __atomic_exchange_n(&p->joined, 0, __ATOMIC_RELAXED) != 0;
		trial.others = is_others_turn(p, now);
		adapt_class_publish(p);
		decision = learn_trial(&p->learn, &trial);
		take_turn(p, now);
		adapt_class_publish(p);
		measure_from(p, done);
		restart(p, now);
	}
	adapt_class_unlock(p);
	if (decision.made)
		adapt_class_log(p, &decision);
}

/* A thread flushes @since ns after the start: do most threads use the arms of this trial by now? */
static bool settled(struct adapt_class *p, struct adapt_thread *adapt, uint64_t since)
{
	uint32_t trial = READ_ONCE(p->trial);

	if (adapt->trial != trial) {
		adapt->trial = trial;
		__atomic_add_fetch(&p->flushers, 1, __ATOMIC_RELAXED);
	}
	if (since < learn_settles(&p->learn))
		return false;
	return since >= SETTLE_MAX ||
	       (since >= SETTLE_MIN && READ_ONCE(p->flushers) * 8 >= READ_ONCE(p->threads) * 7);
}

/*
 * Has another thread come as far as this one? Where clocks differ, or one thread runs and the
 * others do not, the sections that all have completed do not belong to the time of this thread.
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
 * The flush is more than ABSURD away from the start of the trial. If the class was unused in
 * between, or the clock has jumped, the flushes of all threads are. If the clocks of processors are
 * that far apart, only those of threads on other processors are than the one that began the trial,
 * and they must not end it for the others: hence the flushes in a row.
 */
static void stray(struct adapt_class *p, uint64_t now)
{
	uint32_t strays = READ_ONCE(p->strays) + 1;

	WRITE_ONCE(p->strays, strays);
	if ((strays < STRAYS_MAX && READ_ONCE(p->start)) || !adapt_class_try_lock(p))
		return;
	WRITE_ONCE(p->latest, now);
	restart(p, now);
	adapt_class_unlock(p);
}

void adapt_flushed(struct adapt_class *p, struct adapt_thread *adapt, uint64_t now)
{
	uint64_t since = now - READ_ONCE(p->start), from = READ_ONCE(p->from);
	uint64_t length = now - from;
	bool ready = settled(p, adapt, since), step;

	if (since > ABSURD && since < -(uint64_t)ABSURD) {
		stray(p, now);
		return;
	}
	if (READ_ONCE(p->strays))
		WRITE_ONCE(p->strays, 0);
	if (since > ABSURD)
		return; /* @now is before the start: the clocks of two processors */
	step = in_step(p, adapt, now);
	if (from ? learn_may_end(&p->learn, length) && (step || length >= IN_STEP_MAX) :
		   ready && (step || since >= SETTLE_MAX))
		end_trial(p, now, from, step);
}
