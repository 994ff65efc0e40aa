/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapted.c - GLib's mutexes, or OpenMP's locks, of libraries that are loaded and unloaded meanwhile.
 *
 * adapted count LIBRARY...     with each in turn, 4 threads count under a mutex
 * adapted torture LIBRARY      as well, beside signals, forks, waits for a GCond and trylocks
 *
 * Says what is wrong, and fails. LIBRARY has g_mutex_lock() or omp_set_lock().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  2000

static void (*init)(void *m), (*lock)(void *m), (*unlock)(void *m);
static int (*try)(void *m), (*wait_until)(void *c, void *m, int64_t until);

static struct {
	_Alignas(64) uint64_t lock[2];
	/* Apart, so that elided sections conflict in what they count, and not in the lock's line. */
	_Alignas(64) long count;
	long copy;
} shared;
static _Alignas(64) uint64_t cond[2];
static atomic_long tried, signals;
static bool torture;

/* The wrappers are there before any library is, so the caller says whose functions these are. */
static void find(bool openmp)
{
	*(void **)&init = dlsym(RTLD_DEFAULT, openmp ? "omp_init_lock" : "g_mutex_init");
	*(void **)&lock = dlsym(RTLD_DEFAULT, openmp ? "omp_set_lock" : "g_mutex_lock");
	*(void **)&unlock = dlsym(RTLD_DEFAULT, openmp ? "omp_unset_lock" : "g_mutex_unlock");
	*(void **)&try = dlsym(RTLD_DEFAULT, openmp ? "omp_test_lock" : "g_mutex_trylock");
	*(void **)&wait_until = openmp ? NULL : dlsym(RTLD_DEFAULT, "g_cond_wait_until");
}

static void section(void)
{
	long was = shared.count;

	shared.copy = was;
	__asm__ volatile("" ::: "memory");
	shared.count = was + 1;
}

static void *count(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (torture && i % 8 == 0 && !try(shared.lock))
			continue;
		if (!torture || i % 8)
			lock(shared.lock);
		section();
		if (torture && wait_until && i % 256 == 1)
			wait_until(cond, shared.lock, 1);
		tried++;
		unlock(shared.lock);
	}
	return NULL;
}

static void on_signal(int nr)
{
	signals++;
}

/* Children lock a mutex of their own, as another thread of the parent may hold the shared one. */
static bool fork_once(void)
{
	uint64_t own[2] = {0};
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		init(own);
		for (int i = 0; i < 100; i++) {
			lock(own);
			unlock(own);
		}
		_exit(!try(own));
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static const char *run(const char *library)
{
	struct itimerval every = {{0, 1000}, {0, 1000}};
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	pthread_t threads[THREADS];
	long want;

	if (!handle)
		return dlerror();
	find(dlsym(handle, "omp_set_lock") && !dlsym(handle, "g_mutex_lock"));
	shared.count = 0;
	tried = 0;
	init(shared.lock);
	if (torture) {
		signal(SIGPROF, on_signal);
		setitimer(ITIMER_PROF, &every, NULL);
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, count, NULL))
			return "no thread";
	for (int i = 0; torture && i < 5; i++)
		if (!fork_once())
			return "a child failed";
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	want = torture ? tried : (long)THREADS * ROUNDS;
	if (shared.count != want)
		return "sections ran beside one another";
	dlclose(handle);
	return NULL;
}

int main(int argc, char **argv)
{
	torture = argc > 1 && !strcmp(argv[1], "torture");
	for (int i = 2; i < argc; i++) {
		const char *wrong = run(argv[i]);

		if (wrong) {
			printf("%s: %s\n", argv[i], wrong);
			return 1;
		}
	}
	return 0;
}
