/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow.c - slow [--seed=N] [--rounds=N] EVENT
 *
 * Threads that do nothing but what leads the library into its global-lock paths, and one kind of
 * event that happens to them there: points.c calls torture_event() at points of global-lock paths.
 * Prints "acquired N"; "interrupted N", acquisitions that may have been counted or not; "kept
 * N", threads that ended with a lock. Exit 0 passed, 1 failed, 2 usage, 77 refused by the
 * machine; EXIT_STATUS where the event is an exit. Each run must end by itself.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slow.h"

/* Threads that start others, at once and one after the other. */
#define NR_PARENTS 4

static const char *const event_names[NR_EVENTS] = {
	"locks", "forks", "vforks", "jumps", "ends", "deferred", "async", "exits", "unloads", "fifo",
};

/* A thread that makes short-lived ones, and holds a lock that each of them waits for. */
struct parent {
	struct random random;
	pthread_t thread;
	unsigned long rounds;
	unsigned long acquired;
};

enum event event;
__thread struct life *me;
volatile bool armed, forked;
struct counts counts;

static struct parent parents[NR_PARENTS];

void fail(const char *what)
{
	syscall(SYS_write, STDERR_FILENO, what, strlen(what));
	syscall(SYS_write, STDERR_FILENO, "\n", 1);
	add(&counts.failures, 1);
}

/* A lock's whole life, with each of its calls that the draw says; acquisitions in @count. */
static void one_lock(const struct subject *s, union any_lock *lock, struct random *r,
		     unsigned long *count)
{
	const struct calls *calls = s->read && one_in(r, 2) ? &s->read[WAY_ON] : &s->write[WAY_ON];
	const struct timespec long_ago = {0};
	pid_t pid = getpid();
	int err;

	memset(lock, 0, sizeof(*lock));
	s->init(lock);
	if (calls->timedlock && one_in(r, 4))
		err = calls->timedlock(lock, &long_ago);
	else if (calls->trylock && one_in(r, 3))
		err = calls->trylock(lock);
	else
		err = calls->lock(lock);
	if (err) {
		fail("a free lock was not acquired");
		return;
	}
	++*count;
	err = calls->unlock(lock);
	/*
	 * A handler may have forked in the lock call, after it had locked. Some kinds know their holder by its
	 * thread id, and that of the child is another one.
	 */
	if (err && !((err == EPERM || err == thrd_error) && getpid() != pid))
		fail("a held lock was not released");
	if (!one_in(r, 4))
		s->destroy(lock);
}

static const struct subject *any_subject(struct random *r)
{
	return &subjects[1 + random_below(r, nr_subjects - 1)];
}

/* Whatever has happened, the library and the locks work. */
unsigned long every_kind(uint64_t seed)
{
	unsigned long count = 0;
	union any_lock lock;
	struct random r;

	random_seed(&r, seed, 1000);
	for (unsigned int i = 1; i < nr_subjects; i++)
		one_lock(&subjects[i], &lock, &r, &count);
	return count;
}

/* Two locks, one inside the other: an order. */
static void nested(struct life *l, union any_lock *a, union any_lock *b)
{
	const struct subject *outer = any_subject(&l->random), *inner = any_subject(&l->random);

	memset(a, 0, sizeof(*a));
	memset(b, 0, sizeof(*b));
	outer->init(a);
	inner->init(b);
	outer->write[WAY_ON].lock(a);
	l->acquired++;
	inner->write[WAY_ON].lock(b);
	l->acquired++;
	inner->write[WAY_ON].unlock(b);
	outer->write[WAY_ON].unlock(a);
}

static void misuse(union any_lock *lock)
{
	const struct subject *s = subject_find("errorcheck");

	memset(lock, 0, sizeof(*lock));
	s->init(lock);
	if (s->write[WAY_ON].unlock(lock) != EPERM)
		fail("a mutex that nobody holds was released");
}

/* Once in a life. A child that is forked has no parent that would release it. */
static void contend(struct life *l)
{
	if (l->contends || forked)
		return;
	l->contends = true; /* after a jump out of here it may hold the lock without knowing */
	if (!pthread_mutex_trylock(&l->contended)) {
		l->acquired++;
		pthread_mutex_unlock(&l->contended);
	}
	l->waits = true;
	if (forked)
		return; /* by a handler in the call before */
	pthread_mutex_lock(&l->contended);
	l->acquired++;
	pthread_mutex_unlock(&l->contended);
}

static void do_step(struct life *l)
{
	union any_lock *locks = &l->locks[2 * l->step];

	switch (random_below(&l->random, 8)) {
	case 0:
		misuse(locks);
		break;
	case 1:
		nested(l, &locks[0], &locks[1]);
		break;
	case 2:
	case 3:
		contend(l);
		break;
	case 4:
		use_library(&l->acquired);
		break;
	default:
		one_lock(any_subject(&l->random), locks, &l->random, &l->acquired);
	}
	if (event == EVENT_deferred && one_in(&l->random, 4))
		pthread_testcancel();
}

static void *live(void *arg)
{
	struct life *volatile l = arg;

	if (event == EVENT_jumps && sigsetjmp(l->out, 1)) {
		jumped_out();
		l->step++;
	}
	me = l;
	if (event == EVENT_async)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (; l->step < STEPS; l->step++)
		do_step(l);
	if (!forked && !l->keeps && one_in(&l->random, 4)) {
		/* It ends while it holds the lock, which nobody else takes. */
		l->keeps = true;
		pthread_mutex_lock(&l->kept);
		l->acquired++;
		add(&counts.kept, 1);
	}
	if (event == EVENT_async)
		pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	me = NULL;
	if (forked) {
		every_kind(l->step);
		_exit(counts.failures != 0);
	}
	l->over = true;
	if (one_in(&l->random, 2))
		pthread_exit(NULL);
	return NULL;
}

static void attributes(pthread_attr_t *attr, bool fifo)
{
	struct sched_param param = {.sched_priority = 10};

	pthread_attr_init(attr);
	if (!fifo)
		return;
	pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attr, SCHED_FIFO);
	pthread_attr_setschedparam(attr, &param);
}

/* Start a life, hold the lock that it waits for, join it. */
static void one_life(struct parent *p, struct life *l, bool fifo)
{
	pthread_attr_t attr;
	int err;

	attributes(&attr, fifo);
	pthread_mutex_init(&l->contended, NULL);
	lock_in_library(&l->contended);
	p->acquired++;
	err = pthread_create(&l->thread, &attr, live, l);
	if (err) {
		pthread_mutex_unlock(&l->contended);
		fail("no thread can be made");
		return;
	}
	/* It may have been ended, so this is no longer than a few milliseconds. */
	for (int i = 0; i < 30 && !l->waits && !l->over; i++)
		usleep(100);
	usleep(100);
	pthread_mutex_unlock(&l->contended);
	pthread_join(l->thread, NULL);
	p->acquired += l->acquired;
}

/* Each life has memory of its own: a lock that it left held is never used again. */
static void *raise_lives(void *arg)
{
	struct parent *p = arg;

	for (unsigned long i = 0; i < p->rounds; i++) {
		struct life *l = calloc(1, sizeof(*l));

		random_seed(&l->random, p->random.state, i);
		one_life(p, l, event == EVENT_fifo && i % 2);
		if (forked)
			_exit(counts.failures != 0);
	}
	return NULL;
}

static int usage(void)
{
	fprintf(stderr, "usage: slow [--seed=N] [--rounds=LIVES] EVENT\nevents:");
	for (int i = 0; i < NR_EVENTS; i++)
		fprintf(stderr, " %s", event_names[i]);
	fprintf(stderr, "\n");
	return 2;
}

static const struct option options[] = {
	{"seed", required_argument, NULL, 's'},
	{"rounds", required_argument, NULL, 'r'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	unsigned long seed = 1, rounds = 20, acquired = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			seed = strtoul(optarg, NULL, 10);
		else if (c == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else
			return usage();
	}
	while (optind < argc && event < NR_EVENTS && strcmp(argv[optind], event_names[event]))
		event++;
	if (optind != argc - 1 || event == NR_EVENTS)
		return usage();
	locks_start();
	if (!events_prepare()) {
		printf("SCHED_FIFO is refused here\n");
		return REFUSED;
	}
	acquired = every_kind(0);
	armed = true;
	for (unsigned int i = 0; i < NR_PARENTS; i++) {
		random_seed(&parents[i].random, seed, i);
		parents[i].rounds = rounds;
		pthread_create(&parents[i].thread, NULL, raise_lives, &parents[i]);
	}
	for (unsigned int i = 0; i < NR_PARENTS; i++) {
		pthread_join(parents[i].thread, NULL);
		acquired += parents[i].acquired;
	}
	acquired += every_kind(seed);
	armed = false;
	printf("acquired %lu\ninterrupted %lu\nkept %lu\n", acquired + counts.handled,
	       counts.interrupted, counts.kept);
	return counts.failures != 0;
}
