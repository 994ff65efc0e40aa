/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - calls that wait for the end of a thread, and those that change the rights of a process. */
#include <errno.h>
#include <unistd.h>

#include "symbols.h"

/* A thread that ends with its lock held, which is found when it is joined. */
static void *end_holding(void *m)
{
	pthread_mutex_lock(m);
	return m;
}

static int end_holding_c11(void *m)
{
	pthread_mutex_lock(m);
	return 3;
}

const char *test_join(join_fn f)
{
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, end_holding, m);
	expect(f(thread, &value) == 0);
	expect(value == m);
	return NULL;
}

const char *test_tryjoin(tryjoin_fn f)
{
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;
	int err;

	pthread_create(&thread, NULL, end_holding, m);
	do
		err = f(thread, &value);
	while (err == EBUSY);
	expect(err == 0);
	expect(value == m);
	return NULL;
}

const char *test_timedjoin(timedjoin_fn f)
{
	const struct timespec far = {.tv_sec = INT32_MAX};
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, end_holding, m);
	expect(f(thread, &value, &far) == 0);
	expect(value == m);
	return NULL;
}

const char *test_clockjoin(clockjoin_fn f)
{
	const struct timespec far = {.tv_sec = INT32_MAX};
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, end_holding, m);
	expect(f(thread, &value, CLOCK_MONOTONIC, &far) == 0);
	expect(value == m);
	return NULL;
}

const char *test_setuid(setuid_fn f)
{
	expect(f(getuid()) == 0);
	return NULL;
}

const char *test_seteuid(seteuid_fn f)
{
	expect(f(geteuid()) == 0);
	return NULL;
}

const char *test_setreuid(setreuid_fn f)
{
	expect(f(getuid(), geteuid()) == 0);
	return NULL;
}

const char *test_setresuid(setresuid_fn f)
{
	expect(f(getuid(), geteuid(), geteuid()) == 0);
	return NULL;
}

const char *test_chroot(chroot_fn f)
{
	expect(f("/") == 0 || errno == EPERM);
	return NULL;
}

const char *test_thrd_join(thrd_join_fn f)
{
	pthread_mutex_t *m = new_mutex();
	thrd_t thread;
	int value;

	expect(thrd_create(&thread, end_holding_c11, m) == thrd_success);
	expect(f(thread, &value) == thrd_success);
	expect(value == 3);
	return NULL;
}
