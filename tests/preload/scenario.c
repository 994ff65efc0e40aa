/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario.c - scenario NAME [ARG]: what processes and threads do around
 * locks. Each scenario makes a known number of acquisitions, which run.sh
 * looks for in the data file; it prints nothing and exits 0 when all went well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t held_spin;
static volatile unsigned long value;

static void take(unsigned int n)
{
	while (n--) {
		pthread_mutex_lock(&lock);
		value++;
		pthread_mutex_unlock(&lock);
	}
}

/* Path of this program: under an emulator /proc/self/exe, executed, is the emulator. */
static char self[4096];

static int reap(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int plain(const char *arg)
{
	take(100);
	return 0;
}

/* Nine calls that do not wait for ever, and fail: another thread holds each of the locks. */
static void *try_all(void *arg)
{
	struct timespec past = {0};
	int bad = 0;

	for (int i = 0; i < 3; i++)
		bad += pthread_mutex_trylock(&lock) != EBUSY;
	bad += pthread_mutex_timedlock(&lock, &past) != ETIMEDOUT;
	bad += pthread_spin_trylock(&held_spin) != EBUSY;
	bad += pthread_rwlock_tryrdlock(&held_rwlock) != EBUSY;
	bad += pthread_rwlock_trywrlock(&held_rwlock) != EBUSY;
	bad += pthread_rwlock_timedrdlock(&held_rwlock, &past) != ETIMEDOUT;
	bad += pthread_rwlock_timedwrlock(&held_rwlock, &past) != ETIMEDOUT;
	return (void *)(intptr_t)bad;
}

/* The three acquisitions are locked: each section creates a thread. */
static int tries(const char *arg)
{
	pthread_t thread;
	void *bad;

	pthread_spin_init(&held_spin, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_lock(&lock);
	pthread_spin_lock(&held_spin);
	pthread_rwlock_wrlock(&held_rwlock);
	pthread_create(&thread, NULL, try_all, NULL);
	pthread_join(thread, &bad);
	pthread_rwlock_unlock(&held_rwlock);
	pthread_spin_unlock(&held_spin);
	pthread_mutex_unlock(&lock);
	return bad != NULL;
}

static int nothing(const char *arg)
{
	return 0;
}

/* 100 in the parent before, 20 in the child, 7 in the parent after. */
static int forks(const char *arg)
{
	pid_t pid;
	int err;

	take(100);
	pid = fork();
	if (!pid) {
		take(20);
		_exit(0);
	}
	err = reap(pid);
	take(7);
	return err;
}

/* The child of a thread that holds the lock releases what its parent took. */
static int forks_holding(const char *arg)
{
	pid_t pid;

	take(10);
	pthread_mutex_lock(&lock);
	pid = fork();
	if (!pid) {
		pthread_mutex_unlock(&lock);
		take(20);
		_exit(0);
	}
	pthread_mutex_unlock(&lock);
	return reap(pid);
}

static volatile bool stop;

/* New locks all the time, so that the library's global-lock paths run while others fork. */
static void *make_locks(void *arg)
{
	while (!stop) {
		pthread_mutex_t *m = malloc(sizeof(*m));

		pthread_mutex_init(m, NULL);
		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
		pthread_mutex_destroy(m);
		free(m);
	}
	return NULL;
}

static int forks_among_threads(const char *arg)
{
	pthread_t threads[3];
	int err = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, make_locks, NULL);
	for (int i = 0; i < 100 && !err; i++) {
		pid_t pid = fork();

		if (!pid) {
			pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

			alarm(10); /* a child that waits for a lock nobody will release */
			take(3);
			pthread_mutex_lock(&m);
			pthread_mutex_unlock(&m);
			_exit(0);
		}
		err = reap(pid);
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return err;
}

static int execs(const char *arg)
{
	take(100);
	execl(self, "scenario", "plain", NULL);
	return 1;
}

static int forks_and_execs(const char *arg)
{
	pid_t pid;

	take(100);
	pid = fork();
	if (!pid) {
		execl(self, "scenario", "plain", NULL);
		_exit(1);
	}
	return reap(pid);
}

static int vforks(const char *arg)
{
	pid_t pid;

	take(100);
	pid = vfork();
	if (!pid)
		execl(self, "scenario", "nothing", NULL), _exit(1);
	take(7);
	return reap(pid);
}

static int spawns(const char *arg)
{
	char *argv[] = {"scenario", "nothing", NULL};
	pid_t pid;

	take(100);
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		return 1;
	take(7);
	return reap(pid);
}

static int exits_at_once(const char *arg)
{
	take(100);
	_exit(0);
}

static int is_killed(const char *arg)
{
	take(100);
	raise(SIGKILL);
	return 1;
}

static int crashes(const char *arg)
{
	take(100);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 1;
}

static void *take_ten(void *arg)
{
	take(10);
	return NULL;
}

/* Ten thousand short threads, or ARG, eight at a time. */
static int churns(const char *arg)
{
	unsigned long nr = arg ? strtoul(arg, NULL, 10) : 10000;
	pthread_t threads[8];

	for (unsigned long round = 0; round < nr / 8; round++) {
		for (int i = 0; i < 8; i++)
			if (pthread_create(&threads[i], NULL, take_ten, NULL))
				return 1;
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	return value != 10 * nr;
}

/* errno is left alone by calls that succeed and by calls that fail. */
static int keeps_errno(const char *arg)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec past = {1, 0};
	pthread_spinlock_t s;

	errno = 4711;
	pthread_mutex_lock(&m);
	pthread_mutex_timedlock(&m, &past);
	pthread_cond_timedwait(&c, &m, &past);
	pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&m);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_timedwrlock(&rw, &past);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_destroy(&rw);
	pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&s);
	pthread_spin_trylock(&s);
	pthread_spin_unlock(&s);
	pthread_spin_destroy(&s);
	return errno != 4711;
}

struct looped {
	pthread_mutex_t m;
	pthread_cond_t c;
	bool ready;
};

static void *signal_later(void *arg)
{
	struct looped *l = arg;

	usleep(200000);
	pthread_mutex_lock(&l->m);
	l->ready = true;
	pthread_cond_signal(&l->c);
	pthread_mutex_unlock(&l->m);
	return NULL;
}

/* Waits in a loop of calls that time out; prints the cycles from its begin to its end. */
static int waits_in_loop(const char *arg)
{
	static struct looped l = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
	struct timespec until;
	pthread_t thread;
	uint64_t begin;

	pthread_mutex_lock(&l.m);
	if (pthread_create(&thread, NULL, signal_later, &l))
		return 1;
	begin = cycles_now();
	while (!l.ready) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 10000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&l.c, &l.m, &until);
	}
	printf("%lu\n", (unsigned long)cycles_now() - begin);
	pthread_mutex_unlock(&l.m);
	pthread_join(thread, NULL);
	return 0;
}

/* A program that unlocks twice and never looks. */
static int unlocks_twice(const char *arg)
{
	pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				PTHREAD_MUTEX_INITIALIZER};

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m[i]);
		pthread_mutex_unlock(&m[i]);
		pthread_mutex_unlock(&m[i]);
	}
	take(10);
	return 0;
}

/* A recursive mutex that is locked is locked again: 1 acquisition and 1 misuse of the other. */
static int relocks(const char *arg)
{
	pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_mutex_t e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	int err = 0;

	pthread_mutex_lock(&r);
	getppid(); /* locked */
	for (int i = 0; i < 10; i++)
		err |= i & 1 ? pthread_mutex_lock(&r) : pthread_mutex_trylock(&r);
	for (int i = 0; i < 11; i++)
		err |= pthread_mutex_unlock(&r);
	pthread_mutex_lock(&e);
	getppid();
	err |= pthread_mutex_lock(&e) != EDEADLK;
	err |= pthread_mutex_unlock(&e);
	return err;
}

/* An object that finds glibc's symbols before ours: dlopen(ARG) with RTLD_DEEPBIND. */
static int binds_deeply(const char *arg)
{
	void *object = dlopen(arg, RTLD_NOW | RTLD_DEEPBIND);
	int (*lock_it)(pthread_mutex_t *), (*unlock_it)(pthread_mutex_t *);

	if (!object)
		return 1;
	lock_it = (int (*)(pthread_mutex_t *))dlsym(object, "hidden_lock");
	unlock_it = (int (*)(pthread_mutex_t *))dlsym(object, "hidden_unlock");
	if (!lock_it || !unlock_it)
		return 1;
	for (int i = 0; i < 100; i++) {
		take(1);
		/* Taken past us, released through us, and the reverse. */
		lock_it(&lock);
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		unlock_it(&lock);
		/* Released and taken past us inside the section. */
		pthread_mutex_lock(&lock);
		unlock_it(&lock);
		lock_it(&lock);
		pthread_mutex_unlock(&lock);
	}
	return pthread_mutex_trylock(&lock) ? 1 : pthread_mutex_unlock(&lock);
}

static int on_object(struct dl_phdr_info *info, size_t size, void *data)
{
	pthread_mutex_t *m = malloc(sizeof(*m));

	/* A fresh lock under the loader's own lock, as unwinders and profilers do. */
	pthread_mutex_init(m, NULL);
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
	pthread_mutex_destroy(m);
	free(m);
	return 0;
}

static void *walk_objects(void *arg)
{
	for (int i = 0; i < 300; i++)
		dl_iterate_phdr(on_object, NULL);
	return NULL;
}

static int locks_under_the_loader(const char *arg)
{
	pthread_t walkers[2], makers[2];

	alarm(20);
	for (int i = 0; i < 2; i++) {
		pthread_create(&makers[i], NULL, make_locks, NULL);
		pthread_create(&walkers[i], NULL, walk_objects, NULL);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(walkers[i], NULL);
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(makers[i], NULL);
	return 0;
}

/* What this process has in private and shared memory, KiB. */
static unsigned long resident(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Rss: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

#define MANY_LOCKS   100000
#define MANY_THREADS 64
#define LOCK_STRIDE  64

static char *many;
static pthread_barrier_t barrier;
static bool take_all;

/* Each lock once, not in the order in which others take them. */
static void lock_all(uintptr_t me)
{
	for (uintptr_t i = 0; i < MANY_LOCKS; i++) {
		uintptr_t at = (i + me * (MANY_LOCKS / MANY_THREADS)) % MANY_LOCKS;
		pthread_mutex_t *m = (pthread_mutex_t *)(many + at * LOCK_STRIDE);

		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
	}
}

static void *lock_share(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (uintptr_t i = me; i < MANY_LOCKS; i += MANY_THREADS) {
		pthread_mutex_t *m = (pthread_mutex_t *)(many + i * LOCK_STRIDE);

		pthread_mutex_init(m, NULL);
		for (int n = 0; n < 3; n++) {
			pthread_mutex_lock(m);
			pthread_mutex_unlock(m);
		}
	}
	pthread_barrier_wait(&barrier);
	if (take_all)
		lock_all(me);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/*
 * The one scenario that prints: KiB resident with 100,000 locks and 64 threads alive, each of
 * which has taken its share of the locks, or with @arg all of them.
 */
static int memory(const char *arg)
{
	pthread_t threads[MANY_THREADS];

	take_all = arg != NULL;
	many = calloc(MANY_LOCKS, LOCK_STRIDE);
	pthread_barrier_init(&barrier, NULL, MANY_THREADS + 1);
	for (uintptr_t i = 0; i < MANY_THREADS; i++)
		if (pthread_create(&threads[i], NULL, lock_share, (void *)i))
			return 1;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	printf("%lu\n", resident());
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Objects in a namespace of their own have a C library of their own, too. */
static int opens_namespace(const char *arg)
{
	take(100);
	return !dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
}

static const struct {
	const char *name;
	int (*run)(const char *arg);
} scenarios[] = {
	{"tries", tries}, {"plain", plain}, {"nothing", nothing}, {"fork", forks}, {"fork-holding", forks_holding},
	{"fork-among-threads", forks_among_threads}, {"exec", execs}, {"fork-exec", forks_and_execs},
	{"vfork", vforks}, {"spawn", spawns}, {"_exit", exits_at_once}, {"killed", is_killed},
	{"crash", crashes}, {"churn", churns}, {"errno", keeps_errno}, {"timed-loop", waits_in_loop},
	{"unlock-twice", unlocks_twice}, {"relock", relocks}, {"deepbind", binds_deeply},
	{"dlmopen", opens_namespace}, {"loader", locks_under_the_loader}, {"memory", memory},
};

int main(int argc, char **argv)
{
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	for (unsigned int i = 0; argc > 1 && i < ARRAY_SIZE(scenarios); i++)
		if (!strcmp(argv[1], scenarios[i].name))
			return scenarios[i].run(argv[2]);
	fprintf(stderr, "usage: scenario NAME [ARG]\n");
	return 2;
}
