/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects.c - objects [--seed=N] [--rounds=N] [--racing] --truth=FILE DIRECTORY
 *
 * Objects of lib-object.c are loaded at each other's addresses, by one thread and then by three of
 * them, each with objects of its own. An object's lock is mostly not destroyed before the object goes; a
 * lock on the heap that it has made outlives it. FILE is as that of reuse.c, without LOCKS. Exits with 0
 * if another object's lock had the address of one that was gone, and no call failed.
 */
#include <dlfcn.h>
#include <getopt.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

#define NR_THREADS 3
#define NR_OBJECTS 12
#define NR_SITES   4 /* the object's own, and three of this program */

static const char *const names[NR_OBJECTS] = {
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "my",
};

static const char *directory;
static unsigned long rounds = 40;
static uint64_t seed = 1;
static unsigned long reused;

/* Of one object: locks of its data, and those it has made, by site. */
static struct {
	struct object object; /* as it was when it was loaded */
	unsigned long kept[NR_SITES], made[NR_SITES];
} truth[NR_OBJECTS];

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s failed: %s\n", what, dlerror());
	exit(2);
}

static __attribute__((noinline)) void at_mutex(union any_lock *l)
{
	must(!pthread_mutex_lock(&l->mutex), "pthread_mutex_lock");
	pthread_mutex_unlock(&l->mutex);
}

static __attribute__((noinline)) void at_rwlock(union any_lock *l)
{
	must(!pthread_rwlock_wrlock(&l->rwlock), "pthread_rwlock_wrlock");
	pthread_rwlock_unlock(&l->rwlock);
}

static __attribute__((noinline)) void at_spin(union any_lock *l)
{
	must(!pthread_spin_lock(&l->spin), "pthread_spin_lock");
	pthread_spin_unlock(&l->spin);
}

static void (*const sites[])(union any_lock *) = {at_mutex, at_rwlock, at_spin};

/*
 * Until dlclose() has returned nobody loads another object: at its end the addresses are free, and the
 * library has not been told yet. With --racing they are not kept apart.
 */
static bool racing;
static int loading;

static void loader_enter(void)
{
	/* Acquire pairs with the release in loader_leave(). */
	while (!racing && __atomic_exchange_n(&loading, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void loader_leave(void)
{
	if (!racing)
		__atomic_store_n(&loading, 0, __ATOMIC_RELEASE);
}

/* Locked @n times by the object's own call, if it is there, and by that of this program. */
static void use(unsigned int number, union any_lock *l, unsigned long *counts, int n, bool loaded)
{
	const struct object *o = &truth[number].object;

	while (n--) {
		sites[o->shape](l);
		counts[1 + o->shape]++;
		if (!loaded)
			continue;
		o->use(l);
		counts[0]++;
	}
}

/* An object comes, makes a lock at @made, and goes. */
static void load(unsigned int number, union any_lock *made, uint64_t draw)
{
	static union any_lock *last[NR_OBJECTS];
	const struct object *o;
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/lib-object-%s.so", directory, names[number]);
	loader_enter();
	handle = dlopen(path, RTLD_NOW);
	loader_leave();
	must(handle, path);
	o = dlsym(handle, "object");
	must(o, "dlsym");
	truth[number].object = *o;
	for (int i = 0; i < NR_OBJECTS; i++)
		if (i != (int)number && __atomic_load_n(&last[i], __ATOMIC_RELAXED) == o->kept)
			__atomic_add_fetch(&reused, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&last[number], o->kept, __ATOMIC_RELAXED);
	/* Zeros are an initialised mutex or rwlock; a spinlock and what is process-shared need the call. */
	if (o->shared || o->shape == 2 || draw % 2)
		o->make(o->kept);
	use(number, o->kept, truth[number].kept, 1 + draw / 2 % 20, true);
	o->make(made);
	use(number, made, truth[number].made, 1 + draw / 64 % 20, true);
	if (!(draw / 4096 % 4))
		o->destroy(o->kept);
	loader_enter();
	must(!dlclose(handle), "dlclose");
	loader_leave();
}

static void destroy(unsigned int number, union any_lock *l)
{
	switch (truth[number].object.shape) {
	case 0:
		pthread_mutex_destroy(&l->mutex);
		break;
	case 1:
		pthread_rwlock_destroy(&l->rwlock);
		break;
	default:
		pthread_spin_destroy(&l->spin);
	}
	memset(l, 0xa5, sizeof(*l));
}

/* The objects of thread @me, in turns. */
static void *load_own(void *arg)
{
	unsigned int me = (uintptr_t)arg, first = me * NR_OBJECTS / NR_THREADS;
	uint64_t random = (seed * 64 + me + 1) * 0x9e3779b97f4a7c15ull;
	union any_lock *made = malloc(sizeof(*made));

	must(made, "malloc");
	for (unsigned long i = 0; i < rounds; i++) {
		unsigned int number;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		number = first + (random >> 60) % (NR_OBJECTS / NR_THREADS);
		load(number, made, random >> 32);
		use(number, made, truth[number].made, 1 + i % 3, false);
		destroy(number, made);
	}
	free(made);
	return NULL;
}

static void truth_write(const char *path)
{
	static const char *const own[] = {"mutex", "rwlock", "spin"};
	static const char *const kinds[] = {"mutex", "rwlock-write", "spin"};
	FILE *f = fopen(path, "we");

	must(f, path);
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		for (int site = 0; site < NR_SITES; site++) {
			const struct object *o = &truth[i].object;
			const char *name = site ? own[site - 1] : names[i];
			const char *state = o->shared ? "off" : "on";

			if (truth[i].kept[site])
				fprintf(f, "kept_by_%s|%s|at_%s|%s|%lu\n", names[i], kinds[o->shape], name,
					state, truth[i].kept[site]);
			if (truth[i].made[site])
				fprintf(f, "made in make_%s|%s|at_%s|%s|%lu\n", names[i], kinds[o->shape],
					name, state, truth[i].made[site]);
		}
	must(!fclose(f), path);
}

static const struct option options[] = {
	{"seed", required_argument, NULL, 's'},
	{"rounds", required_argument, NULL, 'r'},
	{"truth", required_argument, NULL, 'o'},
	{"racing", no_argument, NULL, 'x'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	pthread_t threads[NR_THREADS];
	const char *path = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else if (c == 'o')
			path = optarg;
		else if (c == 'x')
			racing = true;
	}
	if (!path || optind != argc - 1)
		return 2;
	directory = argv[optind];
	/* While nobody else loads, an object has the addresses of the last one. */
	load_own(NULL);
	must(reused, "reuse of an address");
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		must(!pthread_create(&threads[i], NULL, load_own, (void *)i), "pthread_create");
	for (int i = 0; i < NR_THREADS; i++)
		must(!pthread_join(threads[i], NULL), "pthread_join");
	truth_write(path);
	return 0;
}
