// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hold.c - for how long locks are held: hold SCENARIO [N [N]].
 */
#include <errno.h>

#include "truth.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;

static struct truth truth = { .name = "m", .after = { &truth } };
static struct truth waits = { .name = "m", .after = { &waits }, .waits = true };

/* One call site for all sections of @m. */
static __attribute__((noinline)) void section(struct truth *t, int64_t napped, int64_t computed)
{
	SECTION(t, pthread_mutex_lock(&m), { if (napped) nap(napped); if (computed) compute(computed); },
		pthread_mutex_unlock(&m));
}

/* Of args[0] consecutive sections one is long, the one whose number modulo args[0] is args[1]. */
static void *alias_thread(void *arg)
{
	for (int i = 0; i < 19200; i++)
		section(&truth, i % args[0] == args[1] ? MS : 0, 0);
	return NULL;
}

static void alias(void)
{
	run_threads(1, alias_thread);
	truth_print(&truth);
}

static void *alternate_thread(void *arg)
{
	for (int i = 0; i < 1000; i++)
		section(&truth, 0, i & 1 ? 300 * US : 10 * US);
	return NULL;
}

static void alternate(void)
{
	run_threads(1, alternate_thread);
	truth_print(&truth);
}

/*
 * Two threads with a site in common. Each 50th section of one of them, in turn, lasts until the other one
 * is about to lock, which then finds the lock held and has a long section. All other sections are short.
 */
static atomic_int arrived, held, announced;

static void hold_until_announced(int meeting)
{
	held = meeting;
	while (announced < meeting)
		sched_yield();
	compute(100 * US);
}

static __attribute__((noinline)) void meeting_section(int meeting, bool holder)
{
	SECTION(&truth, pthread_mutex_lock(&m), {
		if (meeting && holder)
			hold_until_announced(meeting);
		else if (meeting)
			nap(400 * US);
	}, pthread_mutex_unlock(&m));
}

static void *long_if_contended_thread(void *arg)
{
	for (int i = 1; i <= 10000; i++) {
		int meeting = i % 50 ? 0 : i / 50;
		bool holder = (long)arg == (meeting & 1);

		if (meeting && holder) {
			wait_for(&arrived, meeting);
		} else if (meeting) {
			arrived = meeting;
			wait_for(&held, meeting);
			announced = meeting;
		}
		meeting_section(meeting, holder);
	}
	return NULL;
}

static void long_if_contended(void)
{
	run_threads(2, long_if_contended_thread);
	truth_print(&truth);
}

/* Two threads, one after the other, 500 sections each. The very first one is long. */
static void *one_long_thread(void *arg)
{
	for (int i = 0; i < 500; i++)
		section(&truth, arg || i ? 0 : 50 * MS, 0);
	return NULL;
}

static void *one_after_the_other(void *arg)
{
	pthread_t thread;

	one_long_thread(arg);
	pthread_create(&thread, NULL, one_long_thread, (void *)1);
	pthread_join(thread, NULL);
	return NULL;
}

static void one_long(void)
{
	run_threads(1, one_after_the_other);
	truth_print(&truth);
}

/* Two threads: args[0] sections of another lock in each section, which is long. */
static struct truth truth_outer = { .name = "outer", .after = { &truth_outer } };
static struct truth truth_inner = { .name = "inner", .after = { &truth_inner } };

static void inner_sections(void)
{
	for (int i = 0; i < args[0]; i++)
		SECTION(&truth_inner, pthread_mutex_lock(&inner), compute(4 * US),
			pthread_mutex_unlock(&inner));
	compute(200 * US);
}

static void *nested_thread(void *arg)
{
	for (int i = 0; i < 300; i++)
		SECTION(&truth_outer, pthread_mutex_lock(&outer), inner_sections(),
			pthread_mutex_unlock(&outer));
	return NULL;
}

static void nested(void)
{
	run_threads(2, nested_thread);
	truth_print(&truth_outer);
	truth_print(&truth_inner);
	printf("truth names outer,inner\n");
}

/* Two locks, of which the first is unlocked while the second is held. */
static void *overlapping_thread(void *arg)
{
	struct section a, b;

	for (int i = 0; i < 600; i++) {
		LOCKED(&truth_outer, &a, pthread_mutex_lock(&outer));
		compute(100 * US);
		LOCKED(&truth_inner, &b, pthread_mutex_lock(&inner));
		compute(100 * US);
		UNLOCKED(&truth_outer, &a, pthread_mutex_unlock(&outer));
		compute(100 * US);
		UNLOCKED(&truth_inner, &b, pthread_mutex_unlock(&inner));
	}
	return NULL;
}

static void overlapping(void)
{
	run_threads(2, overlapping_thread);
	truth_print(&truth_outer);
	truth_print(&truth_inner);
}

/* A list, each node of which is locked before the previous one is unlocked. */
#define NODES 16

static struct node {
	pthread_mutex_t lock;
	struct truth truth;
} list[NODES];

static void node_unlock(struct node *n, struct section *s)
{
	UNLOCKED(&n->truth, s, pthread_mutex_unlock(&n->lock));
}

static void *handed_over_thread(void *arg)
{
	for (int i = 0; i < 40; i++) {
		struct section s[NODES];

		for (int n = 0; n < NODES; n++) {
			LOCKED(&list[n].truth, &s[n], pthread_mutex_lock(&list[n].lock));
			if (n)
				node_unlock(&list[n - 1], &s[n - 1]);
			compute(200 * US);
		}
		node_unlock(&list[NODES - 1], &s[NODES - 1]);
	}
	return NULL;
}

static void handed_over(void)
{
	struct truth sum = { .name = "list[]" };

	for (int n = 0; n < NODES; n++) {
		pthread_mutex_init(&list[n].lock, NULL);
		list[n].truth.after[0] = &list[n].truth;
	}
	run_threads(2, handed_over_thread);
	for (int n = 0; n < NODES; n++) {
		sum.hold_low += list[n].truth.hold_low;
		sum.hold_high += list[n].truth.hold_high;
		sum.acquired += list[n].truth.acquired;
	}
	truth_print(&sum);
}

/* Held from the outermost lock call to the last unlock; that is one acquisition. */
static struct truth truth_again = { .name = "again", .after = { &truth_again } };
static struct truth truth_checked = { .name = "checked", .after = { &truth_checked } };

static void recursive_again(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&again);
		pthread_mutex_unlock(&again);
	}
	compute(200 * US);
}

static void *recursive_thread(void *arg)
{
	for (int i = 0; i < 600; i++)
		SECTION(&truth_again, pthread_mutex_lock(&again), recursive_again(),
			pthread_mutex_unlock(&again));
	return NULL;
}

static void recursive(void)
{
	run_threads(2, recursive_thread);
	truth_print(&truth_again);
}

static void *errorcheck_thread(void *arg)
{
	for (int i = 0; i < 600; i++) {
		SECTION(&truth_checked, pthread_mutex_lock(&checked), compute(200 * US),
			pthread_mutex_unlock(&checked));
		if (pthread_mutex_unlock(&checked) != EPERM)
			exit(3);
	}
	return NULL;
}

static void errorcheck(void)
{
	run_threads(2, errorcheck_thread);
	truth_print(&truth_checked);
}

/* Three readers and a writer. */
static struct truth truth_write = { .name = "r/rwlock-write" };
static struct truth truth_read = { .name = "r/rwlock-read", .after = { &truth_write } };

static void *rwlock_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		if (arg)
			SECTION(&truth_read, pthread_rwlock_rdlock(&r), nap(700 * US),
				pthread_rwlock_unlock(&r));
		else
			SECTION(&truth_write, pthread_rwlock_wrlock(&r), nap(300 * US),
				pthread_rwlock_unlock(&r));
		nap(200 * US);
	}
	return NULL;
}

static void rwlock(void)
{
	truth_write.after[0] = &truth_write;
	truth_write.after[1] = &truth_read;
	run_threads(4, rwlock_thread);
	truth_print(&truth_read);
	truth_print(&truth_write);
}

static struct truth truth_spin = { .name = "spin", .after = { &truth_spin } };

static void *spinlock_thread(void *arg)
{
	for (int i = 0; i < 3000; i++) {
		SECTION(&truth_spin, pthread_spin_lock(&spin), compute(20 * US), pthread_spin_unlock(&spin));
		compute(20 * US);
	}
	return NULL;
}

static void spinlock(void)
{
	pthread_spin_init(&spin, 0);
	run_threads(2, spinlock_thread);
	truth_print(&truth_spin);
}

/* One thread holds the lock mostly; the other one tries: without a wait, or with args[0] for 200 us. */
static bool try_lock(void)
{
	struct timespec until;

	if (!args[0])
		return !pthread_mutex_trylock(&m);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200 * US;
	if (until.tv_nsec >= 1000 * MS) {
		until.tv_nsec -= 1000 * MS;
		until.tv_sec++;
	}
	return !pthread_mutex_timedlock(&m, &until);
}

static void *trying_thread(void *arg)
{
	struct section s;

	for (int i = 0; i < 300; i++) {
		if (!arg) {
			section(&truth, 700 * US, 0);
		} else {
			section_call(&truth, &s);
			if (try_lock()) {
				section_begun(&truth, &s);
				nap(300 * US);
				UNLOCKED(&truth, &s, pthread_mutex_unlock(&m));
			} else {
				truth.failed++;
			}
		}
		nap(100 * US);
	}
	return NULL;
}

static void trying(void)
{
	run_threads(2, trying_thread);
	truth_print(&truth);
}

/* The wait for the condition variable, most of the time, is no held time of the mutex. */
static struct truth truth_cond = { .name = "c/cond", .after = { &truth_cond }, .waits = true };
static atomic_int waiting;
static int ready;

static void *condition_wait(void *arg)
{
	for (int i = 1; i <= 100; i++) {
		struct section s;

		LOCKED(&truth, &s, pthread_mutex_lock(&m));
		nap(300 * US);
		waiting = i;
		while (ready < i)
			SECTION_WAIT(&truth, &s, &truth_cond, pthread_cond_wait(&c, &m));
		nap(300 * US);
		UNLOCKED(&truth, &s, pthread_mutex_unlock(&m));
	}
	return NULL;
}

static __attribute__((noinline)) void waker(void)
{
	moment(&truth_cond.ended, now());
	pthread_cond_signal(&c);
}

static void *condition_thread(void *arg)
{
	if (arg)
		return condition_wait(arg);
	for (int i = 1; i <= 100; i++) {
		wait_for(&waiting, i);
		nap(1500 * US);
		SECTION(&truth, pthread_mutex_lock(&m), { ready = i; waker(); }, pthread_mutex_unlock(&m));
	}
	return NULL;
}

static void condition(void)
{
	run_threads(2, condition_thread);
	truth_print(&truth);
	truth_print(&truth_cond);
	printf("truth blocker c/cond waker\n");
}

/* Four threads that do the same at the same time: each 64th section is long in all of them. */
static void *in_step_thread(void *arg)
{
	for (int i = 0; i < 512; i++) {
		pthread_barrier_wait(&barrier);
		section(&truth, i % 64 == args[0] ? 2 * MS : 0, 0);
	}
	return NULL;
}

static void in_step(void)
{
	pthread_barrier_init(&barrier, NULL, 4);
	run_threads(4, in_step_thread);
	truth_print(&truth);
}

/* args[0] threads, 2000 sections in all. */
static void *threads_thread(void *arg)
{
	for (int i = 0; i < 2000 / args[0]; i++)
		section(&waits, 0, 100 * US);
	return NULL;
}

static void threads(void)
{
	run_threads(args[0], threads_thread);
	truth_print(&waits);
	printf("truth names m\n");
}

/*
 * A thread whose only work is short sections at 16 call sites in turn. The clock is that of the thread's processor
 * time. A measurement takes it 0.1 to 0.2 us; it makes one in 6 us, or at 2.7 GHz and more one in 3, and up to 150 of
 * a site's first sections.
 */
#define SHORT_SITE pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
#define SHORT_SITES SHORT_SITE SHORT_SITE SHORT_SITE SHORT_SITE

static void *sites_thread(void *arg)
{
	int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < 100000; i++) {
		SHORT_SITES SHORT_SITES SHORT_SITES SHORT_SITES
	}
	printf("truth measured m 100 %lld\n",
	       16 * 150 + (long long)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (3 * US));
	return NULL;
}

static void sites(void)
{
	run_threads(1, sites_thread);
}

static const struct scenario scenarios[] = {
	{ "alias", alias },
	{ "alternate", alternate },
	{ "long-if-contended", long_if_contended },
	{ "one-long", one_long },
	{ "nested", nested },
	{ "overlapping", overlapping },
	{ "handed-over", handed_over },
	{ "recursive", recursive },
	{ "errorcheck", errorcheck },
	{ "rwlock", rwlock },
	{ "spinlock", spinlock },
	{ "trying", trying },
	{ "condition", condition },
	{ "in-step", in_step },
	{ "threads", threads },
	{ "sites", sites },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	return scenario_main(argc, argv, scenarios);
}
