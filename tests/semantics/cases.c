/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cases.c - cases NAME: what a program may expect of its locks where it takes
 * more than a table of calls to see it. Prints what it saw; rows says what that
 * is compared with. Must print nothing that depends on time or addresses.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cpuid.h>

#include "../../lib/compiler.h"
#include "../../lib/rtm.h"

/* Often enough that some of it meets an elided section, soon done under an emulator. */
#define ROUNDS 20

static const struct timespec past = {1, 0};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile unsigned long value;

static void take(pthread_mutex_t *m, unsigned int n)
{
	while (n--) {
		pthread_mutex_lock(m);
		value++;
		pthread_mutex_unlock(m);
	}
}

static void *in_thread(void *arg)
{
	void *(*run)(void) = (void *(*)(void))arg;

	return run();
}

/* What a call answers in a thread of its own. */
static long elsewhere(void *(*run)(void))
{
	pthread_t thread;
	void *answer;

	pthread_create(&thread, NULL, in_thread, (void *)run);
	pthread_join(thread, &answer);
	return (long)answer;
}

static void *try_lock(void)
{
	long err = pthread_mutex_trylock(&lock);

	if (!err || err == EOWNERDEAD)
		pthread_mutex_unlock(&lock);
	return (void *)err;
}

/* Another kind of mutex at the address of a lock that is known, with destroy and without. */
static int reuse(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK,
				    PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP};
	union { pthread_mutex_t m; pthread_rwlock_t rw; } u;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		pthread_mutexattr_t a;

		pthread_mutexattr_init(&a);
		pthread_mutexattr_settype(&a, types[i % 4]);
		pthread_mutexattr_setrobust(&a, i % 8 == 5);
		memset(&u, 0xa5, sizeof(u));
		pthread_mutex_init(&u.m, &a);
		pthread_mutex_lock(&u.m);
		value++;
		printf("%d %d %d", i % 4, pthread_mutex_trylock(&u.m), i % 4 == 2 ?
		       pthread_mutex_unlock(&u.m) : 0);
		printf(" %d\n", pthread_mutex_unlock(&u.m));
		if (i & 1)
			pthread_mutex_destroy(&u.m);
		/* Static initialisation is only zeroes. */
		memset(&u, 0, sizeof(u));
		take(&u.m, 3);
		memset(&u, 0, sizeof(u));
		printf("%d %d\n", pthread_rwlock_rdlock(&u.rw), pthread_rwlock_unlock(&u.rw));
	}
	return 0;
}

/* A mutex that is locked (by a system call), and sections in it, around it, across its end. */
static int held_both(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		syscall(SYS_getppid);
		pthread_mutex_lock(&other);
		value++;
		if (i & 1)
			pthread_mutex_unlock(&lock);
		pthread_mutex_unlock(&other);
		if (!(i & 1))
			pthread_mutex_unlock(&lock);
		printf("%ld %d\n", elsewhere(try_lock), pthread_mutex_trylock(&other));
		pthread_mutex_unlock(&other);
	}
	return 0;
}

/* Each wait of glibc, in both versions, with one and two locks held, woken and timed out. */
typedef int (*wait_fn)(pthread_cond_t *c, pthread_mutex_t *m);
typedef int (*timed_fn)(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);

static wait_fn waits;
static int (*wakes)(pthread_cond_t *c);
static int (*wakes_all)(pthread_cond_t *c);
static int ready, called;
/* Room for the older kind, which is a pointer that must begin as NULL. */
static union { pthread_cond_t c; void *old; } version_cond;

static void *wake(void)
{
	for (bool done = false; !done;) {
		usleep(1000);
		pthread_mutex_lock(&lock);
		if (ready) {
			called = 1;
			done = true;
			/* Inside the section, as most programs do. */
			(ready & 1 ? wakes : wakes_all)(&version_cond.c);
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static int waiting(void)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.3.2"};

	for (int i = 0; i < 8; i++) {
		const char *version = versions[i & 1];
		timed_fn timed = (timed_fn)dlvsym(RTLD_DEFAULT, "pthread_cond_timedwait", version);
		pthread_t thread;
		int err = 0;

		waits = (wait_fn)dlvsym(RTLD_DEFAULT, "pthread_cond_wait", version);
		wakes = (int (*)(pthread_cond_t *))dlvsym(RTLD_DEFAULT, "pthread_cond_signal", version);
		wakes_all = (int (*)(pthread_cond_t *))dlvsym(RTLD_DEFAULT, "pthread_cond_broadcast",
							      version);
		memset(&version_cond, 0, sizeof(version_cond));
		ready = called = 0;
		pthread_create(&thread, NULL, in_thread, (void *)wake);
		if (i & 4)
			pthread_mutex_lock(&other);
		pthread_mutex_lock(&lock);
		ready = 1 + (i >> 1 & 1);
		while (!called)
			err |= waits(&version_cond.c, &lock);
		printf("%d %d", err, pthread_mutex_trylock(&lock));
		err = timed(&version_cond.c, &lock, &past);
		printf(" %d", err);
		if (i & 1)
			printf(" %d", pthread_cond_clockwait(&version_cond.c, &lock,
							     CLOCK_MONOTONIC, &past));
		printf(" %d", pthread_mutex_unlock(&lock));
		if (i & 4)
			printf(" %d", pthread_mutex_unlock(&other));
		pthread_join(thread, NULL);
		printf(" %ld\n", elsewhere(try_lock));
	}
	return 0;
}

/* Signals and broadcasts in a section, with nobody waiting and with somebody. */
static int signals_in_section(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		value++;
		printf("%d", i & 1 ? pthread_cond_signal(&cond) : pthread_cond_broadcast(&cond));
		printf(" %d\n", pthread_mutex_unlock(&lock));
	}
	return 0;
}

/* What no transaction survives: each must have happened exactly once. */
static int unfriendly(void)
{
	char *page = mmap(NULL, ROUNDS << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	unsigned int a, b, c, d;
	long pid = getpid(), bytes = 0;
	int ends[2];
	char buffer[8 * ROUNDS];

	if (page == MAP_FAILED || pipe(ends))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		value++;
		switch (i % 5) {
		case 0:
			if (syscall(SYS_getpid) != pid)
				return 1;
			break;
		case 1:
			__cpuid(0, a, b, c, d);
			break;
		case 2:
			__builtin_ia32_pause();
			break;
		case 3:
			page[i << 12] = 1;
			break;
		default:
			bytes += write(ends[1], "once", 4);
		}
		pthread_mutex_unlock(&lock);
	}
	close(ends[1]);
	printf("%lu sections, %ld bytes written, %zd read\n", value, bytes,
	       read(ends[0], buffer, sizeof(buffer)));
	return 0;
}

static volatile sig_atomic_t handled;

/* Not safe in POSIX's eyes, yet programs do it, with a lock that only handlers take. */
static void on_signal(int sig)
{
	pthread_mutex_lock(&other);
	handled++;
	pthread_mutex_unlock(&other);
}

static int signals(void)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	unsigned long rounds = 0;

	signal(SIGALRM, on_signal);
	take(&other, 3);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < ROUNDS; rounds++)
		take(&lock, 1);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%s, %d\n", value == rounds + 3 ? "exact" : "lost", pthread_mutex_trylock(&other));
	return 0;
}

static void *end_in_section(void)
{
	pthread_mutex_lock(&lock);
	value++;
	pthread_exit((void *)7L);
}

static void release(void *m)
{
	pthread_mutex_unlock(m);
}

static void *cancelled_in_section(void)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(release, &lock);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_cleanup_pop(1);
	return NULL;
}

static void *detach_in_section(void)
{
	pthread_mutex_lock(&lock);
	pthread_detach(pthread_self());
	value++;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&other);
	handled = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&other);
	return NULL;
}

static int thread_ends(void)
{
	pthread_mutexattr_t robust;
	pthread_t thread;

	take(&lock, 5);
	printf("cancelled: %ld %ld\n", elsewhere(cancelled_in_section), elsewhere(try_lock));
	pthread_mutex_lock(&other);
	pthread_create(&thread, NULL, in_thread, (void *)detach_in_section);
	while (!handled)
		pthread_cond_wait(&cond, &other);
	pthread_mutex_unlock(&other);
	printf("detached: %ld\n", elsewhere(try_lock));
	printf("ended: %ld", elsewhere(end_in_section));
	printf(" %ld\n", elsewhere(try_lock));
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock, &robust);
	printf("robust: %ld", elsewhere(end_in_section));
	printf(" %ld", elsewhere(try_lock));
	printf(" %ld\n", elsewhere(try_lock));
	return 0;
}

static pid_t parent;
static volatile sig_atomic_t forks;

static void fork_in_handler(int sig)
{
	if (getpid() == parent)
		forks += fork() > 0;
}

/*
 * A signal handler forks, and returns in both into what it interrupted: locks
 * are made and forgotten, so that this is mostly elide at work.
 */
static int handler_forks(void)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	unsigned long failed = 0, rounds;
	int status;

	parent = getpid();
	signal(SIGALRM, fork_in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (rounds = 0; forks < ROUNDS && getpid() == parent; rounds++) {
		pthread_mutex_t m;

		pthread_mutex_init(&m, NULL);
		take(&m, 1);
		pthread_mutex_destroy(&m);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN); /* one may be under way */
	take(&lock, 10);
	if (getpid() != parent)
		_exit(value != rounds + 10);
	while (wait(&status) > 0)
		failed += status != 0;
	printf("%s, %lu failed\n", value == rounds + 10 ? "exact" : "lost", failed);
	return 0;
}

/* Locks over two forks: taken by the first, by the second, released by the last. */
static int two_forks(void)
{
	int status;

	take(&lock, 3);
	pthread_mutex_lock(&lock);
	if (!fork()) {
		take(&other, 3);
		pthread_mutex_lock(&other);
		if (!fork()) {
			printf("%d", pthread_mutex_unlock(&lock));
			printf(" %d", pthread_mutex_unlock(&other));
			take(&lock, 3);
			printf(" %lu\n", value);
			exit(0);
		}
		wait(&status);
		_exit(WEXITSTATUS(status));
	}
	wait(&status);
	printf("%d %d\n", WEXITSTATUS(status), pthread_mutex_unlock(&lock));
	return 0;
}

static int raw_fork(void)
{
	int status;
	pid_t pid;

	take(&lock, 3);
	pid = _Fork();
	if (!pid) {
		take(&lock, 4);
		_exit(value);
	}
	waitpid(pid, &status, 0);
	printf("%d %lu\n", WEXITSTATUS(status), value);
	return 0;
}

/* The child of vfork() takes locks on its parent's memory and changes its variables. */
static int vfork_locks(void)
{
	int status, err;
	pid_t pid;

	take(&lock, 3);
	pid = vfork();
	if (!pid) {
		take(&lock, 4);
		if (!vfork()) {
			take(&lock, 1);
			_exit(0);
		}
		_exit(pthread_mutex_trylock(&lock) || pthread_mutex_unlock(&lock));
	}
	err = waitpid(pid, &status, 0) != pid;
	take(&lock, 5);
	printf("%d %d %d\n", err, WEXITSTATUS(status), pthread_mutex_trylock(&lock));
	return 0;
}

static bool has_rtm(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_RTM && !(d & 1u << 11);
}

/* The program's own transaction. Locks in it are real, and it commits itself. */
static int foreign(void)
{
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	pthread_spinlock_t spin;
	bool rtm = has_rtm();

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned int status = rtm ? rtm_begin() : 0;

		pthread_mutex_lock(&lock);
		pthread_rwlock_wrlock(&rw);
		pthread_spin_lock(&spin);
		value++;
		pthread_spin_unlock(&spin);
		pthread_rwlock_unlock(&rw);
		pthread_mutex_unlock(&lock);
		if (status == RTM_STARTED && !rtm_test()) {
			printf("somebody else ended it\n");
			return 1;
		}
		if (status == RTM_STARTED)
			rtm_end();
		take(&lock, 1);
	}
	printf("%lu %ld\n", value, elsewhere(try_lock));
	return 0;
}

static int many_locks(void)
{
	static pthread_mutex_t locks[1000];

	for (int i = 0; i < 3000; i++)
		take(&locks[i % 1000], 1);
	printf("%lu %d\n", value, pthread_mutex_trylock(&locks[999]));
	return 0;
}

/* dlsym() and printf() allocate, in sections too. */
static int dlsym_and_malloc(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *room;

		pthread_mutex_lock(&lock);
		room = malloc(100 + i);
		value += room && dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
		pthread_mutex_unlock(&lock);
		free(room);
		dlsym(RTLD_DEFAULT, "no such name"); /* makes the text of an error */
		take(&other, 1);
	}
	printf("%lu\n", value);
	return 0;
}

static void *take_some(void)
{
	take(&lock, 10);
	return NULL;
}

static int many_threads(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, in_thread, (void *)take_some);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", value);
	return 0;
}

static pthread_rwlock_t rwlock;

static void *try_read(void)
{
	long err = pthread_rwlock_tryrdlock(&rwlock);

	if (!err)
		pthread_rwlock_unlock(&rwlock);
	return (void *)err;
}

static void *write_it(void)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

/* Does a reader get in before a writer that waits? That is what the kinds differ in. */
static int preference(void)
{
	static const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
				    PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};

	for (int i = 0; i < 3; i++) {
		pthread_rwlockattr_t a;
		pthread_t writer;

		pthread_rwlockattr_init(&a);
		pthread_rwlockattr_setkind_np(&a, kinds[i]);
		pthread_rwlock_init(&rwlock, &a);
		write_it(); /* idle after a writer, it is not all zeroes */
		printf("%ld", elsewhere(try_read));
		pthread_rwlock_rdlock(&rwlock);
		pthread_create(&writer, NULL, in_thread, (void *)write_it);
		/* Until the writer has set its flag: both have locked. */
		while (!(__atomic_load_n(&rwlock.__data.__readers, __ATOMIC_RELAXED) & 2))
			usleep(1000);
		printf(" %ld", elsewhere(try_read));
		printf(" %d", pthread_rwlock_unlock(&rwlock));
		pthread_join(writer, NULL);
		printf(" %ld\n", elsewhere(try_read));
	}
	return 0;
}

/* A counter and its lock in memory shared by two processes, for each kind of lock. */
static int shared_memory(void)
{
	struct {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		pthread_spinlock_t spin;
		volatile unsigned long count[3];
	} *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_rwlockattr_t ra;
	pthread_mutexattr_t ma;
	pid_t pid;

	if (s == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->mutex, &ma);
	pthread_rwlockattr_init(&ra);
	pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&s->rwlock, &ra);
	pthread_spin_init(&s->spin, PTHREAD_PROCESS_SHARED);
	pid = fork();
	for (int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&s->mutex);
		s->count[0]++;
		pthread_mutex_unlock(&s->mutex);
		pthread_rwlock_wrlock(&s->rwlock);
		s->count[1]++;
		pthread_rwlock_unlock(&s->rwlock);
		pthread_spin_lock(&s->spin);
		s->count[2]++;
		pthread_spin_unlock(&s->spin);
	}
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	printf("%lu %lu %lu\n", s->count[0], s->count[1], s->count[2]);
	return 0;
}

/* Misuse in a section of another lock; real locks in it that cannot be had. */
static int odd_in_section(void)
{
	pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, check, robust;
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&check, &a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	take(&normal, 3);
	take(&check, 3);
	take(&robust, 3);
	pthread_mutex_lock(&robust);
	for (int i = 0; i < ROUNDS; i++) {
		int r[5];

		normal = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
		pthread_mutex_lock(&lock);
		r[0] = pthread_mutex_unlock(&normal);
		r[1] = pthread_mutex_unlock(&check);
		r[2] = pthread_mutex_trylock(&robust);
		r[3] = pthread_mutex_lock(&robust);
		r[4] = pthread_mutex_unlock(&lock);
		printf("%d %d %d %d %d\n", r[0], r[1], r[2], r[3], r[4]);
	}
	pthread_mutex_unlock(&robust);
	return 0;
}

static int aborts(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	take(&lock, 100);
	signal(SIGABRT, SIG_DFL);
	abort();
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{"reuse", reuse}, {"held-both", held_both}, {"waiting", waiting},
	{"signals-in-section", signals_in_section}, {"unfriendly", unfriendly},
	{"signals", signals}, {"thread-ends", thread_ends}, {"two-forks", two_forks},
	{"handler-forks", handler_forks},
	{"_Fork", raw_fork}, {"vfork-locks", vfork_locks}, {"foreign", foreign},
	{"dlsym-and-malloc", dlsym_and_malloc},
	{"many-locks", many_locks}, {"many-threads", many_threads}, {"preference", preference},
	{"shared-memory", shared_memory}, {"odd-in-section", odd_in_section}, {"abort", aborts},
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			return cases[i].run();
	fprintf(stderr, "usage: cases NAME\n");
	return 2;
}
