/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reload.c - reload DIRECTORY [relative]: plugins that are loaded at each other's addresses, in two threads.
 *
 * Each thread loads plugins of its own, of which the loader reuses the addresses. The plugins of the
 * main thread acquire each of three locks 10 times (alpha), 1,000 times (beta), 5 times (alpha again), and,
 * at another address while beta is loaded, 7 times (alpha): 1,022 in all. Another thread does so with
 * gamma (100) and delta (20) in turn, 10 times. Exits with 0 if alpha and beta had the same address.
 *
 * With "relative" the loader is given the plugins of the first three by a path from the current directory,
 * which is another one when they first acquire a lock.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 10

typedef int (*work_fn)(pthread_mutex_t *callers, int n);

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static const char *directory;
static bool relative;

static void *load(const char *name, work_fn *work)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/lib-plugin-%s.so", relative ? "." : directory, name);
	if (relative && chdir(directory))
		exit(2);
	handle = dlopen(path, RTLD_NOW);
	if (relative && chdir("/"))
		exit(2);
	if (!handle || !(*work = (work_fn)dlsym(handle, "plugin_work"))) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return handle;
}

static work_fn use(const char *name, int n)
{
	work_fn work;
	void *handle = load(name, &work);

	if (work(&shared, n) || dlclose(handle))
		exit(2);
	return work;
}

static void *others(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		use("gamma", 100);
		use("delta", 20);
	}
	return arg;
}

int main(int argc, char **argv)
{
	work_fn first, second, last;
	pthread_t thread;
	void *beta;
	int same;

	directory = argc > 1 ? argv[1] : ".";
	relative = argc > 2;
	first = use("alpha", 10);
	second = use("beta", 1000);
	same = first == second;
	same &= use("alpha", 5) == first;
	relative = false;
	/* Now at another address, as beta has that of alpha. */
	beta = load("beta", &second);
	last = use("alpha", 7);
	same &= last != first;
	if (pthread_create(&thread, NULL, others, NULL) || second(&shared, 1) ||
	    pthread_join(thread, NULL) || dlclose(beta))
		return 2;
	return !same;
}
