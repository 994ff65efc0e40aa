/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parked.c - parked NAME [SEED]: what a program may expect of threads that wait for a held lock, while
 * all but one of them are parked (ELIDE_POLICY=restrict). Prints what it saw, which is the same
 * without the library; rows says so. Must print nothing that depends on time or addresses.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"

#define THREADS 8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_t threads[THREADS];
static atomic_int here, handled, done;
static uint32_t seed = 1;

static void check(bool right, const char *what)
{
	if (right)
		return;
	printf("not so, seed %u: %s\n", seed, what);
	exit(1);
}

static void rest(long us)
{
	struct timespec ts = {us / 1000000, us % 1000000 * 1000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void start(void *(*work)(void *))
{
	for (intptr_t i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, work, (void *)i), "pthread_create()");
}

static void join(void)
{
	for (int i = 0; i < THREADS; i++)
		check(!pthread_join(threads[i], NULL), "pthread_join()");
}

/* Does any other thread run, or wait for a processor? */
static bool others_run(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[64], line[512], *end;
	struct dirent *entry;
	bool run = false;
	FILE *file;

	check(tasks, "/proc/self/task");
	while (!run && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.' || atoi(entry->d_name) == gettid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.10s/stat", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file)) {
			end = strrchr(line, ')');
			run = end && !strncmp(end, ") R", 3);
		}
		fclose(file);
	}
	closedir(tasks);
	return run;
}

/*
 * Until all threads are about to lock, and wait for the lock, also where other processes have the
 * processors. Some go on running, at a spinlock, so that is waited for no longer than half a second.
 */
static void gather(void)
{
	while (atomic_load(&here) < THREADS)
		rest(1000);
	rest(20000);
	for (int i = 0; i < 500 && others_run(); i++)
		rest(1000);
}

static void *lock_once(void *arg)
{
	atomic_fetch_add(&here, 1);
	pthread_mutex_lock(&mutex);
	atomic_fetch_add(&done, 1);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Timed calls: not before their time, and then at last. */
static struct timespec in_30_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += 30000000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

static bool is_past(clockid_t clock, const struct timespec *until)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > until->tv_sec ||
	       (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

static void *lock_timed(void *arg)
{
	static const struct timespec none = {0, 1000000000};
	clockid_t clock = (intptr_t)arg % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	struct timespec until;

	for (int call = 0; call < 8; call++) {
		clockid_t its = call % 2 ? clock : CLOCK_REALTIME;
		int err = -1;

		until = in_30_ms(its);
		switch (call) {
		case 0: err = pthread_mutex_timedlock(&mutex, &until); break;
		case 1: err = pthread_mutex_clocklock(&mutex, clock, &until); break;
		case 2: err = pthread_rwlock_timedrdlock(&rwlock, &until); break;
		case 3: err = pthread_rwlock_clockrdlock(&rwlock, clock, &until); break;
		case 4: err = pthread_rwlock_timedwrlock(&rwlock, &until); break;
		case 5: err = pthread_rwlock_clockwrlock(&rwlock, clock, &until); break;
		case 6: err = pthread_mutex_timedlock(&mutex, &until); break;
		case 7: err = pthread_mutex_clocklock(&mutex, clock, &until); break;
		}
		check(err == ETIMEDOUT, "a timed call of a held lock answers ETIMEDOUT");
		check(is_past(its, &until), "not before its time");
		check(pthread_mutex_timedlock(&mutex, &none) == EINVAL, "EINVAL for no time");
		check(pthread_mutex_trylock(&mutex) == EBUSY, "EBUSY of a trylock");
		check(pthread_rwlock_trywrlock(&rwlock) == EBUSY, "EBUSY of a trywrlock");
	}
	return NULL;
}

static void timed(void)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	start(lock_timed);
	join();
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
	puts("timed calls expire");
}

/* A handler runs while its thread waits, and the thread goes on waiting. */
static void handler(int signal)
{
	atomic_fetch_add(&handled, 1);
}

static void signals(void)
{
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL);
	pthread_mutex_lock(&mutex);
	start(lock_once);
	gather();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
		while (atomic_load(&handled) < THREADS * (round + 1))
			rest(1000);
	}
	check(!atomic_load(&done), "nobody has the lock");
	pthread_mutex_unlock(&mutex);
	join();
	printf("%d handlers, %d locks\n", atomic_load(&handled), atomic_load(&done));
}

/* A child of the holder, and children of those that wait. */
static void fork_in_handler(int signal)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* Nobody else is here: what others held in the parent is not waited for. */
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
		_exit(7);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	      WEXITSTATUS(status) == 7, "the child of a handler ends");
	atomic_fetch_add(&handled, 1);
}

static void forks(void)
{
	pid_t pid;
	int status;

	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = fork_in_handler}, NULL);
	pthread_mutex_lock(&mutex);
	start(lock_once);
	gather();
	pid = fork();
	if (!pid) {
		pthread_mutex_unlock(&mutex);
		atomic_store(&here, 0);
		atomic_store(&done, 0);
		pthread_mutex_lock(&mutex);
		start(lock_once);
		gather();
		pthread_mutex_unlock(&mutex);
		join();
		_exit(atomic_load(&done) == THREADS ? 5 : 6);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	      WEXITSTATUS(status) == 5, "the child has a crowd of its own");
	for (int i = 0; i < THREADS; i++)
		pthread_kill(threads[i], SIGUSR1);
	while (atomic_load(&handled) < THREADS)
		rest(1000);
	pthread_mutex_unlock(&mutex);
	join();
	printf("%d locks\n", atomic_load(&done));
}

/* Deferred cancellation comes after the lock; asynchronous cancellation ends a thread that waits. */
static void unlock_it(void *arg)
{
	atomic_fetch_add(&done, 1);
	pthread_mutex_unlock(&mutex);
}

static void *lock_and_test(void *arg)
{
	atomic_fetch_add(&here, 1);
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock_it, NULL);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *lock_asynchronously(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	atomic_fetch_add(&here, 1);
	pthread_mutex_lock(&mutex);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int join_cancelled(void)
{
	int nr = 0;
	void *result;

	for (int i = 0; i < THREADS; i++) {
		check(!pthread_join(threads[i], &result), "pthread_join()");
		nr += result == PTHREAD_CANCELED;
	}
	return nr;
}

static void cancel_all(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_cancel(threads[i]);
}

static void deferred(void)
{
	pthread_mutex_lock(&mutex);
	start(lock_and_test);
	gather();
	cancel_all();
	rest(20000);
	check(!atomic_load(&done), "no thread ends while it waits");
	pthread_mutex_unlock(&mutex);
	printf("%d cancelled", join_cancelled());
	printf(", %d of them with the lock\n", atomic_load(&done));
}

static void asynchronous(void)
{
	pthread_mutex_lock(&mutex);
	start(lock_asynchronously);
	gather();
	cancel_all();
	/* The lock is held until all have ended. */
	printf("%d cancelled", join_cancelled());
	atomic_store(&here, 0);
	start(lock_once);
	gather();
	pthread_mutex_unlock(&mutex);
	join();
	printf(", %d locks\n", atomic_load(&done));
}

/* The last thread that has the lock destroys it, and its memory is gone. */
static struct shared {
	pthread_mutex_t mutex;
	int users;
} *shared;

static void *use_and_destroy(void *arg)
{
	struct shared *s = shared;
	bool last;

	atomic_fetch_add(&here, 1);
	pthread_mutex_lock(&s->mutex);
	last = !--s->users;
	pthread_mutex_unlock(&s->mutex);
	if (!last)
		return NULL;
	pthread_mutex_destroy(&s->mutex);
	munmap(s, sizeof(*s));
	atomic_fetch_add(&done, 1);
	return NULL;
}

static void destroy(void)
{
	for (int round = 0; round < 5; round++) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		check(shared != MAP_FAILED, "mmap()");
		pthread_mutex_init(&shared->mutex, NULL);
		shared->users = THREADS + 1;
		atomic_store(&here, 0);
		pthread_mutex_lock(&shared->mutex);
		start(use_and_destroy);
		gather();
		shared->users--;
		pthread_mutex_unlock(&shared->mutex);
		join();
	}
	printf("%d destroyed\n", atomic_load(&done));
}

/* Those that circulated go away without the lock: the others must get it. */
static void *lock_and_go(void *arg)
{
	intptr_t me = (intptr_t)arg;

	atomic_fetch_add(&here, 1);
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&mutex);
		if (i == 25 && me < 2) {
			/* As a stopped thread, which holds nothing. */
			pthread_mutex_unlock(&mutex);
			while (atomic_load(&done) < 50 * (THREADS - 2) + 2 * 25)
				rest(1000);
			pthread_mutex_lock(&mutex);
		}
		atomic_fetch_add(&done, 1);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void stopped(void)
{
	pthread_mutex_lock(&mutex);
	start(lock_and_go);
	gather();
	pthread_mutex_unlock(&mutex);
	join();
	printf("%d locks\n", atomic_load(&done));
}

/* A process that is stopped and goes on, and one that is killed, with threads that wait. */
static void killed(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		pthread_mutex_lock(&mutex);
		start(lock_once);
		gather();
		kill(getpid(), SIGSTOP);
		pthread_mutex_unlock(&mutex);
		join();
		pthread_mutex_lock(&mutex);
		start(lock_once);
		kill(getpid(), SIGKILL);
	}
	check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "it stops");
	kill(pid, SIGCONT);
	check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL, "it is killed");
	lock_once(NULL);
	puts("stopped, went on, killed");
}

/*
 * One thread has the lock nearly all of the time, in sections that follow each other at once. Each of
 * the others gets it all the same, again and again.
 */
static atomic_int turns[THREADS];
static atomic_bool enough;

static void *take_turns(void *arg)
{
	intptr_t me = (intptr_t)arg;

	while (!atomic_load(&enough)) {
		pthread_mutex_lock(&mutex);
		for (int i = 0; i < (me ? 1 : 200); i++)
			cpu_relax();
		atomic_fetch_add(&turns[me], 1);
		pthread_mutex_unlock(&mutex);
		/* Where nothing takes a processor away, others would not come to wait for it. */
		if (!me && atomic_load(&turns[0]) % 64 == 0)
			rest(100);
	}
	return NULL;
}

static void bound(void)
{
	start(take_turns);
	for (int i = 0; i < THREADS; i++)
		while (atomic_load(&turns[i]) < 5)
			rest(1000);
	atomic_store(&enough, true);
	join();
	puts("each thread had the lock");
}

/* Any call of any lock, by chance: sections exclude each other, and readers only writers. */
static int inside[3], writers;
static atomic_int readers;

static uint32_t draw(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

static void work_inside(int *nr, uint32_t steps)
{
	check(++*nr == 1, "one thread at a time");
	while (steps--)
		cpu_relax();
	check(--*nr == 0, "one thread at a time");
}

static void use_mutex(uint32_t call, uint32_t steps)
{
	struct timespec until = in_30_ms(call == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
	int err = call == 0 ? pthread_mutex_trylock(&mutex) :
		  call == 1 ? pthread_mutex_timedlock(&mutex, &until) :
		  call == 2 ? pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) :
			      pthread_mutex_lock(&mutex);

	check(!err || (call == 0 && err == EBUSY) || (call < 3 && err == ETIMEDOUT), "mutex");
	if (err)
		return;
	work_inside(&inside[0], steps);
	pthread_mutex_unlock(&mutex);
}

static void use_rwlock(uint32_t call, uint32_t steps)
{
	struct timespec until = in_30_ms(CLOCK_MONOTONIC);
	bool writes = call < 3;
	int err = call == 0 ? pthread_rwlock_trywrlock(&rwlock) :
		  call == 1 ? pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until) :
		  call == 2 ? pthread_rwlock_wrlock(&rwlock) :
		  call == 3 ? pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &until) :
			      pthread_rwlock_rdlock(&rwlock);

	check(!err || (call == 0 && err == EBUSY) || err == ETIMEDOUT, "rwlock");
	if (err)
		return;
	if (writes) {
		check(!atomic_load(&readers), "no reader beside a writer");
		work_inside(&writers, steps);
	} else {
		atomic_fetch_add(&readers, 1);
		check(!READ_ONCE(writers), "no writer beside a reader");
		atomic_fetch_sub(&readers, 1);
	}
	pthread_rwlock_unlock(&rwlock);
}

static void *torture(void *arg)
{
	uint32_t x = seed * 2654435761u + (uint32_t)(intptr_t)arg;

	/* All meet here once, and have an id when they go on. */
	atomic_fetch_add(&here, 1);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 400; i++) {
		uint32_t what = draw(&x) % 8, call = draw(&x) % 6, steps = draw(&x) % 300;

		if (what < 4) {
			use_mutex(call, steps);
		} else if (what < 7) {
			use_rwlock(call, steps);
		} else {
			pthread_spin_lock(&spin);
			work_inside(&inside[2], steps);
			pthread_spin_unlock(&spin);
		}
		if (i % 100 == 99 && draw(&x) % 2)
			pthread_kill(threads[draw(&x) % THREADS], SIGUSR1);
	}
	/* Nobody ends before the last signal has been sent. */
	atomic_fetch_add(&done, 1);
	while (atomic_load(&done) < THREADS)
		rest(1000);
	return NULL;
}

static void chance(void)
{
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL);
	pthread_mutex_lock(&mutex);
	start(torture);
	gather();
	pthread_mutex_unlock(&mutex);
	join();
	puts("nothing was torn");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"timed", timed}, {"signals", signals}, {"forks", forks}, {"deferred", deferred},
		{"asynchronous", asynchronous}, {"destroy", destroy}, {"stopped", stopped},
		{"killed", killed}, {"bound", bound}, {"chance", chance},
	};

	if (argc > 2)
		seed = strtoul(argv[2], NULL, 10);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	fputs("Usage: parked timed|signals|forks|deferred|asynchronous|destroy|stopped|killed|bound|chance [SEED]\n",
	      stderr);
	return 2;
}
