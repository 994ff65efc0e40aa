// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pi_lock.c - lib/base/pi-lock.c, where the kernel does what is asked, and where it refuses: a
 * seccomp filter of one thread forbids the operations, a holder has ended.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/pi-lock.h"
#include "../../lib/compiler.h"

#define THREADS 4
#define ROUNDS  2000

static struct elide_pi_lock lock;
static volatile unsigned long count;
static volatile bool filtered, refuses;

static uint32_t own_id(void)
{
	return syscall(SYS_gettid);
}

/* No futex operation that inherits priority, for this thread alone. */
static bool forbid(void)
{
	static const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_LOCK_PI, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_LOCK_PI2, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_UNLOCK_PI, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), (struct sock_filter *)code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *add(void *filter)
{
	uint32_t id = own_id();

	if (filter && !forbid())
		return filter;
	for (int i = 0; i < ROUNDS; i++) {
		if (!elide_pi_lock(&lock, id))
			break;
		count++;
		if (i % 64 == 0)
			usleep(20);
		elide_pi_unlock(&lock, id);
	}
	return NULL;
}

static void make_free(void)
{
	lock = (struct elide_pi_lock){0};
	count = 0;
	alarm(60); /* a wake-up that is lost */
}

static void threads_exclude_each_other(void **state)
{
	pthread_t threads[THREADS];

	make_free();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count, THREADS * ROUNDS);
	assert_int_equal(lock.word, 0);
	assert_int_equal(lock.sleepers, 0);
	assert_int_equal(lock.refused, 0);
}

static void a_try_does_not_wait(void **state)
{
	make_free();
	assert_true(elide_pi_trylock(&lock, own_id()));
	assert_false(elide_pi_trylock(&lock, own_id()));
	elide_pi_unlock(&lock, own_id());
	assert_int_equal(lock.word, 0);
}

/* Under a filter of its own it holds the lock until another thread sleeps for that. */
static void *hold(void *none)
{
	uint32_t id = own_id();

	refuses = forbid();
	assert_true(elide_pi_lock(&lock, id));
	filtered = true;
	while (refuses && !(READ_ONCE(lock.word) & FUTEX_WAITERS))
		usleep(100);
	elide_pi_unlock(&lock, id);
	/* The kernel gives the lock of a thread that ends to one that sleeps. */
	while (filtered)
		usleep(100);
	return none;
}

static void a_refused_release_wakes_who_sleeps(void **state)
{
	pthread_t holder;

	make_free();
	filtered = false;
	assert_int_equal(pthread_create(&holder, NULL, hold, NULL), 0);
	while (!filtered)
		usleep(100);
	assert_true(elide_pi_lock(&lock, own_id()));
	assert_int_equal(lock.word & FUTEX_TID_MASK, own_id());
	elide_pi_unlock(&lock, own_id());
	filtered = false;
	pthread_join(holder, NULL);
	if (!refuses)
		skip(); /* no filter can be installed here */
	assert_int_equal(lock.refused, 1);
	assert_int_equal(lock.word, 0);
}

static void threads_with_a_filter_exclude_each_other(void **state)
{
	pthread_t threads[THREADS];
	unsigned int refused = 0;
	void *answer;

	make_free();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add, i % 2 ? &lock : NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &answer);
		refused += answer != NULL;
	}
	if (refused)
		skip(); /* no filter can be installed here */
	assert_int_equal(count, THREADS * ROUNDS);
	assert_int_equal(lock.word, 0);
	assert_int_equal(lock.sleepers, 0);
}

static void *leave_held(void *none)
{
	assert_true(elide_pi_lock(&lock, own_id()));
	return none;
}

static void a_lock_whose_holder_has_ended_is_refused(void **state)
{
	pthread_t holder;

	make_free();
	assert_int_equal(pthread_create(&holder, NULL, leave_held, NULL), 0);
	pthread_join(holder, NULL);
	assert_false(elide_pi_lock(&lock, own_id()));
	assert_false(elide_pi_trylock(&lock, own_id()));
	/* A thread has got the id of the one that has ended. */
	lock.word = own_id();
	assert_false(elide_pi_lock(&lock, own_id()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_exclude_each_other),
		cmocka_unit_test(a_try_does_not_wait),
		cmocka_unit_test(a_refused_release_wakes_who_sleeps),
		cmocka_unit_test(threads_with_a_filter_exclude_each_other),
		cmocka_unit_test(a_lock_whose_holder_has_ended_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
