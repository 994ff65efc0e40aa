/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c - calls that wait for the end of a thread, and those that change what a process may do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../lib/emulator.h"
#include "symbols.h"

/* The function under test, one of the two. */
static create_fn make;
static thrd_create_fn make_c11;

/* Not by libc's function: the library is not to know. */
static long prctl_raw(long option, long a, const void *b)
{
	long answer;

	__asm__ volatile("xor %%r10d, %%r10d; xor %%r8d, %%r8d; syscall"
			 : "=a"(answer)
			 : "a"((long)SYS_prctl), "D"(option), "S"(a), "d"(b)
			 : "rcx", "r8", "r10", "r11", "memory");
	return answer;
}

/* For this thread alone: rt_sigprocmask() with SIG_BLOCK fails. False: there is no filter here. */
static int forbid_to_block(void)
{
	static const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIG_BLOCK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {6, (struct sock_filter *)code};

	return !prctl_raw(PR_SET_NO_NEW_PRIVS, 1, NULL) &&
	       !prctl_raw(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Where the next call will have its frame. */
static __attribute__((noinline)) void leave_ones(void)
{
	char below[2048];

	memset(below, 0xff, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
}

static void *do_nothing(void *arg)
{
	return arg;
}

static int do_nothing_c11(void *arg)
{
	return arg != NULL;
}

/* Returns what is wrong. */
static void *make_filtered(void *arg)
{
	int filtered = forbid_to_block(), err;
	pthread_t thread;
	sigset_t mask;
	Dl_info info;

	leave_ones();
	err = make ? make(&thread, NULL, do_nothing, NULL) :
		     make_c11(&thread, do_nothing_c11, NULL);
	if (err || pthread_join(thread, NULL))
		return "no thread is made";
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	/* In glibc's own function all are blocked now. */
	if (!filtered || !dladdr(make ? (void *)make : (void *)make_c11, &info) ||
	    !strstr(info.dli_fname, "libelide-preload"))
		return arg;
	return sigisemptyset(&mask) ? arg : "signals are blocked that the program has not blocked";
}

static const char *try_make(create_fn f, thrd_create_fn f_c11)
{
	pthread_t thread;
	void *wrong;

	make = f;
	make_c11 = f_c11;
	pthread_create(&thread, NULL, make_filtered, NULL);
	pthread_join(thread, &wrong);
	return wrong;
}

const char *test_create(create_fn f)
{
	return try_make(f, NULL);
}

const char *test_thrd_create(thrd_create_fn f)
{
	return try_make(NULL, f);
}

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

const char *test_dlclose(dlclose_fn f)
{
	void *handle = dlopen(NULL, RTLD_NOW);

	expect(handle && f(handle) == 0);
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

const char *test_prctl(prctl_fn f)
{
	char name[16], wanted[16];

	expect(f(PR_GET_NAME, (unsigned long)name, 0, 0, 0) == 0);
	expect(!pthread_getname_np(pthread_self(), wanted, sizeof(wanted)) && !strcmp(name, wanted));
	errno = 0;
	expect(f(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0) == -1 && errno != 0);
	return NULL;
}

static uint32_t futex_word;

static bool answers(syscall_fn f, int err, long number, unsigned long a, unsigned long b, unsigned long c)
{
	errno = 0;
	return f(number, a, b, c, 0, 0, 0) == -1 && (errno == err || errno == ENOSYS);
}

/* Those calls of futexes that Valgrind does not have: arguments that cannot be read, and a wait that times out. */
static const char *test_modern_futexes(syscall_fn f)
{
	struct { uint64_t value, at; uint32_t flags, unused; } many[2] = {{1, (uintptr_t)&futex_word, 2, 0}};
	unsigned long nowhere = f(SYS_mmap, 0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const unsigned long at = (unsigned long)many;

	expect(answers(f, EAGAIN, 449, at, 1, 0));
	expect(answers(f, EINVAL, 449, at, 0, 0));
	expect(answers(f, EINVAL, 449, at, 1, 1));
	expect(answers(f, EINVAL, 449, at, 1000, 0));
	expect(answers(f, EINVAL, 449, 0, 1, 0));
	expect(answers(f, EFAULT, 449, nowhere, 1, 0));
	expect(answers(f, EAGAIN, 455, (unsigned long)&futex_word, 1, 1) || errno == EINVAL);
	expect(answers(f, EINVAL, 456, 0, 0, 0));
	expect(answers(f, EFAULT, 456, nowhere, 0, 0));
	expect(answers(f, ENOSYS, 100000, 0, 0, 0));
	return NULL;
}

/* All six arguments, the result, errno, and a call that returns twice. */
const char *test_syscall(syscall_fn f)
{
	char *page = (char *)f(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const struct timespec soon = {0, 1000000};
	const char *wrong = NULL;
	int status;
	pid_t pid;

	expect(page != MAP_FAILED && !*page && !munmap(page, 4096));
	expect(f(SYS_gettid, 0, 0, 0, 0, 0, 0) == gettid());
	errno = 0;
	expect(f(SYS_close, -1, 0, 0, 0, 0, 0) == -1 && errno == EBADF);
	errno = 0;
	expect(f(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == -1 && errno == EBADF);
	errno = 0;
	expect(f(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0, 0) == -1 && errno != 0);
	expect(f(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0) >= 0);
	errno = 0;
	expect(f(SYS_futex, (unsigned long)&futex_word, FUTEX_WAIT_PRIVATE, 0, (unsigned long)&soon, 0, 0) == -1 &&
	       errno == ETIMEDOUT);
	if (!valgrind_runs())
		wrong = test_modern_futexes(f);
	expect(!wrong);
	pid = f(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
	if (!pid)
		_exit(7);
	expect(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
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
