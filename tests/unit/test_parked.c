// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_parked.c - which parked threads of lib/adapt/crowd.c look at the lock.
 *
 * The lock is made up here: its word is never taken, and each thread says what it sees when it
 * looks.
 */
/* Who leaves because it has been parked for that long, 5 s, has never looked. */
#define CROWD_PARKED 5000000000ull
#include "../../lib/adapt/crowd.c"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/cpuid.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/life/fill.h"
#include "../../lib/section/engine.h"
#include "../../lib/state/settings.h"
#include "own-data.h"

__attribute__((constructor(101))) static void environment(void)
{
	own_data("elide");
	setenv("ELIDE_POLICY", "restrict:crowd=1", 1);
}

static pthread_mutex_t lock;

/**
 * struct waiter - a thread that wants the lock.
 * @thread:    its handle
 * @processor: that it runs on
 * @sees_free: what it sees when it looks at the lock
 * @stuck:     its first look lasts until this is posted; or NULL
 * @row:       counters of its call, once it has some
 * @looks:     how often it has looked
 * @left:      it waits for the lock now
 */
struct waiter {
	pthread_t thread;
	int processor;
	atomic_bool sees_free;
	sem_t *stuck;
	_Atomic(struct elide_row *) row;
	atomic_uint looks;
	atomic_bool left;
};

static __thread struct waiter *self;

static bool looks_free(const void *unused, enum elide_kind kind)
{
	(void)unused;
	(void)kind;
	if (!atomic_fetch_add(&self->looks, 1) && self->stuck)
		while (sem_wait(self->stuck))
			;
	return self->sees_free;
}

/* The lock is held, for the thread. */
static struct crowd *enter(void)
{
	struct elide_call *call =
		elide_call_get(&lock, (const void *)0x500, ELIDE_KIND_MUTEX);

	assert_non_null(call);
	self->row = elide_call_row(call);
	return crowd_enter(&(struct crowd_call){
		.t = elide_self,
		.row = self->row,
		.lock = &lock,
		.is_free = looks_free,
		.kind = ELIDE_KIND_MUTEX,
	});
}

static void run_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void *want(void *waiter)
{
	struct crowd *crowd;

	self = waiter;
	run_on(self->processor);
	crowd = enter();
	self->left = true;
	crowd_leave(crowd);
	return crowd;
}

static void park_one(struct waiter *w)
{
	assert_int_equal(pthread_create(&w->thread, NULL, want, w), 0);
	while (!w->row || !READ_ONCE(w->row->parked))
		usleep(100);
}

static void join(struct waiter *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	assert_true(w->left);
}

/* Two processors that this process may use. False: there are not two, or they cannot be told apart. */
static bool two_processors(int *processors)
{
	cpu_set_t set;
	int nr = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < CPU_SETSIZE && nr < 2; i++)
		if (CPU_ISSET(i, &set))
			processors[nr++] = i;
	if (nr == 2) {
		run_on(processors[1]);
		nr = cpuid_has_rdtscp() && (cpuid_where() & 0xfff) == (unsigned int)processors[1] ? 2 : 0;
		assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	}
	return nr == 2;
}

/*
 * The first parked thread stops in its look at the lock, as one whose processor another thread has.
 * A second thread, parked on another processor, must find the lock free meanwhile.
 */
static void one_of_each_of_two_processors_looks(void **state)
{
	struct waiter waits = {0}, before = {0}, first = {.sees_free = true};
	struct waiter behind = {.sees_free = true}, other = {.sees_free = true};
	struct crowd *crowd;
	int processors[2];
	sem_t stuck;

	if (!two_processors(processors)) {
		print_message("fewer than two processors, or none that says its number\n");
		skip();
	}
	sem_init(&stuck, 0, 0);
	first.stuck = &stuck;
	before.processor = first.processor = behind.processor = processors[0];
	other.processor = processors[1];
	/* The one that may wait. */
	self = &waits;
	crowd = enter();
	assert_non_null(crowd);
	assert_int_equal(waits.row->parked, 0);
	park_one(&before);
	park_one(&first);
	park_one(&behind);
	park_one(&other);
	before.sees_free = true;
	join(&before);
	join(&other);
	assert_true(other.looks > 0);
	assert_false(first.left);
	assert_false(behind.left);
	assert_int_equal(behind.looks, 0);
	sem_post(&stuck);
	join(&first);
	join(&behind);
	assert_true(behind.looks > 0);
	crowd_leave(crowd);
	sem_destroy(&stuck);
}

static int setup(void **state)
{
	/* Pulls the library's constructor in. */
	elide_status(NULL);
	return !elide_process.running;
}

static int teardown(void **state)
{
	return unlink(elide_data_path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_each_of_two_processors_looks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
