// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_gate.c - lib/state/gate.c: a global-lock path blocks signals and gives the mask back, and there is
 * none where a seccomp filter forbids a part of that.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/state/gate.h"
#include "../../lib/state/settings.h"

static uint64_t inside;
static unsigned int ran;

static int is_ready(void)
{
	return 0;
}

/* The mask of blocked signals, as the kernel tells it in a file. */
static uint64_t mask_now(void)
{
	FILE *f = fopen("/proc/thread-self/status", "r");
	unsigned long mask = ~0ul;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %lx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask;
}

static void body(void *arg)
{
	inside = mask_now();
	ran++;
}

static int start(void **state)
{
	elide_process.running = true;
	return elide_gate_start(is_ready);
}

static void signals_are_blocked_meanwhile(void **state)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	ran = 0;
	errno = EXDEV;
	assert_true(elide_global_run(body, NULL));
	assert_int_equal(errno, EXDEV);
	assert_int_equal(ran, 1);
	assert_true(inside >> (SIGINT - 1) & 1);
	assert_true(inside >> (SIGTERM - 1) & 1);
	assert_false(inside >> (SIGSEGV - 1) & 1);
	assert_int_equal(mask_now(), 1ull << (SIGUSR1 - 1));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* What is forbidden: the number of a system call, and of which argument a value that is not 0; 6: any. */
struct forbidden {
	uint32_t number, argument;
	bool none;        /* no filter can be installed here */
	bool entered;
	uint64_t mask;
	int err;
};

static bool forbid(const struct forbidden *f)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, f->number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 f->argument > 5 ? offsetof(struct seccomp_data, nr) :
					   offsetof(struct seccomp_data, args) + 8 * f->argument),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), (struct sock_filter *)code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A filter of this thread alone, which has blocked a signal itself. */
static void *run_forbidden(void *arg)
{
	struct forbidden *f = arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	f->none = !forbid(f);
	errno = EXDEV;
	f->entered = elide_global_run(body, NULL) || elide_global_try_run(body, NULL);
	f->err = errno;
	f->mask = mask_now();
	return NULL;
}

static void there_is_none_where_it_is_forbidden(void **state)
{
	struct forbidden all[] = {
		{SYS_rt_sigprocmask, 6},
		/* It may set the mask, but is not told what it was. */
		{SYS_rt_sigprocmask, 2},
		/* Without a thread id there is no lock. */
		{SYS_gettid, 6},
	};
	pthread_t thread;

	ran = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		assert_int_equal(pthread_create(&thread, NULL, run_forbidden, &all[i]), 0);
		pthread_join(thread, NULL);
		if (all[i].none)
			skip(); /* no filter can be installed here */
		assert_false(all[i].entered);
		assert_int_equal(all[i].mask, 1ull << (SIGUSR1 - 1));
		assert_int_equal(all[i].err, EXDEV);
	}
	assert_int_equal(ran, 0);
	/* Another thread has its global-lock paths. */
	assert_true(elide_global_run(body, NULL));
	assert_int_equal(ran, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_blocked_meanwhile),
		cmocka_unit_test(there_is_none_where_it_is_forbidden),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
