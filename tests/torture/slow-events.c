/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slow-events.c - what happens to threads in global-lock paths. See slow.h. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slow.h"

/* Forks and loads of a library in a process, at most: a fork takes about a millisecond. */
#define MAX_COSTLY  12
#define MAX_UNLOADS 400

static __thread bool in_handler;
static unsigned int nr_costly;

void jumped_out(void)
{
	in_handler = false;
}

/*
 * A library that is unloaded only while no thread is in it; what it has told the engine,
 * and locks of the program that were taken in it, stay.
 */
static struct {
	void *handle;
	int (*sections)(void);
	int (*lock)(pthread_mutex_t *mutex);
	unsigned int users;
	bool closing;
} library;

static bool library_load(void)
{
	library.handle = dlopen("$ORIGIN/lib-slow.so", RTLD_NOW | RTLD_LOCAL);
	if (!library.handle)
		return false;
	library.sections = dlsym(library.handle, "slow_library_sections");
	library.lock = dlsym(library.handle, "slow_library_lock");
	return library.sections && library.lock;
}

/* Sequential consistency: either the thread that unloads sees the user, or this one sees it. */
static bool library_enter(void)
{
	__atomic_add_fetch(&library.users, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&library.closing, __ATOMIC_SEQ_CST))
		return true;
	__atomic_sub_fetch(&library.users, 1, __ATOMIC_SEQ_CST);
	return false;
}

static void library_leave(void)
{
	__atomic_sub_fetch(&library.users, 1, __ATOMIC_SEQ_CST);
}

static void library_unload_or_load(void)
{
	__atomic_store_n(&library.closing, true, __ATOMIC_SEQ_CST);
	if (library.handle) {
		/* Closed to new users until the next event loads it again. */
		if (__atomic_load_n(&library.users, __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&library.closing, false, __ATOMIC_SEQ_CST);
			return;
		}
		dlclose(library.handle);
		library.handle = NULL;
		return;
	}
	if (!library_load())
		fail("the library cannot be loaded again");
	__atomic_store_n(&library.closing, false, __ATOMIC_SEQ_CST);
}

void use_library(unsigned long *count)
{
	if (event != EVENT_unloads || !library_enter())
		return;
	*count += library.sections();
	library_leave();
}

void lock_in_library(pthread_mutex_t *mutex)
{
	if (event == EVENT_unloads && library_enter()) {
		library.lock(mutex);
		library_leave();
	} else {
		pthread_mutex_lock(mutex);
	}
}

/*
 * What only another thread can do to the one that is in a global-lock path. That has the library's lock, so
 * the helper waits by a system call of its own: the library would record a sem_wait(), and a call of syscall().
 * @asked: requests that the helper has not met yet
 */
static struct {
	unsigned int asked;
	bool taken;
	unsigned int nr_done;
	pthread_t whom;
} helper;

static void own_futex(unsigned int *word, long operation, unsigned int value)
{
	register long timeout __asm__("r10") = 0;
	long answer = SYS_futex;

	__asm__ volatile("syscall" : "+a"(answer) : "D"(word), "S"(operation), "d"(value), "r"(timeout)
			 : "rcx", "r11", "memory");
}

static void *help(void *arg)
{
	for (;;) {
		while (!__atomic_load_n(&helper.asked, __ATOMIC_ACQUIRE))
			own_futex(&helper.asked, FUTEX_WAIT_PRIVATE, 0);
		__atomic_sub_fetch(&helper.asked, 1, __ATOMIC_RELAXED);
		if (event == EVENT_async)
			pthread_cancel(helper.whom);
		else if (event == EVENT_exits)
			exit(EXIT_STATUS);
		else if (event == EVENT_unloads)
			library_unload_or_load();
		/* The thread that has asked may have ended. */
		__atomic_add_fetch(&helper.nr_done, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&helper.taken, false, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void nap(long ns)
{
	const struct timespec pause = {.tv_nsec = ns};

	syscall(SYS_nanosleep, &pause, NULL);
}

/* No call here is a cancellation point. An exit waits for this thread to leave the global-lock path. */
static void ask(void)
{
	unsigned int before;

	if (__atomic_exchange_n(&helper.taken, true, __ATOMIC_ACQUIRE))
		return;
	before = __atomic_load_n(&helper.nr_done, __ATOMIC_RELAXED);
	helper.whom = pthread_self();
	__atomic_add_fetch(&helper.asked, 1, __ATOMIC_RELEASE);
	own_futex(&helper.asked, FUTEX_WAKE_PRIVATE, 1);
	if (event == EVENT_exits) {
		nap(200000);
		return; /* one request at a time */
	}
	while (__atomic_load_n(&helper.nr_done, __ATOMIC_ACQUIRE) == before)
		nap(20000);
}

static bool costs(unsigned int most)
{
	return __atomic_fetch_add(&nr_costly, 1, __ATOMIC_RELAXED) >= most;
}

void torture_event(int point)
{
	if (!armed || in_handler || forked)
		return;
	switch (event) {
	case EVENT_forks:
	case EVENT_vforks:
		if (costs(MAX_COSTLY))
			return;
		/* fall through */
	case EVENT_locks:
		raise(SIGUSR1);
		break;
	case EVENT_jumps:
	case EVENT_ends:
		if (me)
			raise(SIGUSR1);
		break;
	case EVENT_deferred:
		if (me)
			pthread_cancel(pthread_self());
		break;
	case EVENT_async:
		if (!me)
			return;
		add(&counts.interrupted, 1);
		ask();
		break;
	case EVENT_unloads:
		if (costs(MAX_UNLOADS))
			return;
		/* fall through */
	case EVENT_exits:
		ask();
		break;
	case EVENT_fifo:
		/* The processor is free for whoever wants to run next. */
		nap(100000);
		break;
	default:
		break;
	}
}

static void take_locks(void)
{
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	pthread_mutex_t mutex;

	pthread_mutex_init(&mutex, NULL);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_destroy(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	add(&counts.handled, 2);
}

static void expect_child(pid_t pid, int wanted)
{
	int status;

	if (pid < 0)
		fail("no child can be made");
	else if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		 WEXITSTATUS(status) != wanted)
		fail("a child ended otherwise than it should");
}

static void fork_here(void)
{
	pid_t pid = fork();

	if (pid) {
		expect_child(pid, 0);
		return;
	}
	forked = true;
	alarm(60); /* a lock that nobody will release */
	take_locks();
	/* Where it does not wait for a thread that is not there it goes on. */
	if (me && !me->waits)
		return;
	every_kind(1);
	_exit(counts.failures != 0);
}

static void vfork_here(void)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pid_t pid = vfork();

	if (!pid) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
		_exit(3);
	}
	expect_child(pid, 3);
}

static void on_signal(int sig)
{
	int saved = errno;

	in_handler = true;
	switch (event) {
	case EVENT_jumps:
		if (!me)
			break;
		add(&counts.interrupted, 1);
		siglongjmp(me->out, 1);
	case EVENT_ends:
		if (!me)
			break;
		add(&counts.interrupted, 1);
		me->over = true;
		me = NULL;
		pthread_exit(NULL);
	case EVENT_forks:
		fork_here();
		break;
	case EVENT_vforks:
		vfork_here();
		break;
	default:
		take_locks();
	}
	in_handler = false;
	errno = saved;
}

static void *nothing(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* The first cancellation loads what unwinds stacks: not while a global-lock path waits for it. */
static void prepare_cancel(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, nothing, NULL);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

bool events_prepare(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sched_param param = {.sched_priority = 10}, normal = {0};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	prepare_cancel();
	pthread_create(&thread, NULL, help, NULL);
	pthread_detach(thread);
	if (event == EVENT_unloads && !library_load()) {
		fprintf(stderr, "slow: %s\n", dlerror());
		exit(2);
	}
	if (event == EVENT_fifo) {
		cpu_set_t one;
		int cpu = sched_getcpu();

		if (sched_setscheduler(0, SCHED_FIFO, &param))
			return false;
		sched_setscheduler(0, SCHED_OTHER, &normal);
		CPU_ZERO(&one);
		CPU_SET(cpu < 0 ? 0 : cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	return true;
}
