/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits.c - waits NAME: what a program may expect of semaphores, barriers and condition variables.
 * Prints what it saw; rows says what that is compared with. Must print nothing that depends on time
 * or addresses.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"

#define ROUNDS 20

static const struct timespec past = {1, 0};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem, other;
static volatile unsigned long value;

/* Prints a call, what it returned and what errno is; errno was 77 before. */
#define show(call)                                                     \
	do {                                                           \
		int answer;                                            \
                                                                       \
		errno = 77;                                            \
		answer = (call);                                       \
		printf("%s = %d, errno %d\n", #call, answer, errno);   \
	} while (0)

static int value_of(sem_t *s)
{
	int n = -1;

	sem_getvalue(s, &n);
	return n;
}

/* Each call of a semaphore: what it returns, and in errno. */
static int sem_calls(void)
{
	const struct timespec bad = {1, 1000000000}, far = {INT32_MAX, 0};

	show(sem_init(&sem, 0, (unsigned int)INT32_MAX + 1));
	show(sem_init(&sem, 0, 2));
	show(sem_wait(&sem));
	show(sem_trywait(&sem));
	show(sem_trywait(&sem));
	show(sem_timedwait(&sem, &past));
	show(sem_timedwait(&sem, &bad));
	show(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
	show(sem_clockwait(&sem, CLOCK_REALTIME, &past));
	show(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &past));
	show(sem_post(&sem));
	show(sem_timedwait(&sem, &far));
	show(sem_post(&sem));
	show(sem_clockwait(&sem, CLOCK_MONOTONIC, &far));
	show(sem_destroy(&sem));
	show(sem_init(&sem, 0, INT32_MAX));
	show(sem_post(&sem));
	printf("%d\n", value_of(&sem));
	return 0;
}

static int cleaned;

static void clean(void *arg)
{
	/* After a wait for a condition variable the mutex is locked again. */
	cleaned += arg ? pthread_mutex_trylock(arg) == EBUSY : 1;
	if (arg)
		pthread_mutex_unlock(arg);
}

static void wait_wait(void)
{
	sem_wait(&sem);
}

static void wait_timed(void)
{
	const struct timespec far = {INT32_MAX, 0};

	sem_timedwait(&sem, &far);
}

static void wait_clock(void)
{
	const struct timespec far = {INT32_MAX, 0};

	sem_clockwait(&sem, CLOCK_MONOTONIC, &far);
}

static void wait_try(void)
{
	sem_trywait(&sem);
}

static void wait_cond(void)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(clean, &lock);
	for (;;)
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(0);
}

/* How a victim is ended: @pending, before its call; @now, with asynchronous cancellation. */
static struct victim {
	void (*waits)(void);
	bool pending;
	bool now;
} victim;

static void *suffer(void *arg)
{
	if (victim.now)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cleanup_push(clean, NULL);
	sem_post(&other);
	if (victim.pending)
		pthread_cancel(pthread_self());
	victim.waits();
	pthread_cleanup_pop(0);
	return arg;
}

static void end_victim(const char *name, struct victim v, unsigned int units)
{
	pthread_t thread;
	void *answer;

	victim = v;
	cleaned = 0;
	sem_init(&sem, 0, units);
	pthread_create(&thread, NULL, suffer, NULL);
	while (sem_wait(&other))
		;
	if (!v.pending) {
		usleep(2000);
		pthread_cancel(thread);
	}
	pthread_join(thread, &answer);
	printf("%s pending %d asynchronous %d units %u: cancelled %d cleaned %d left %d\n", name,
	       v.pending, v.now, units, answer == PTHREAD_CANCELED, cleaned, value_of(&sem));
}

/* Cancellation points are where they are without the library, and take no unit along. */
static int cancel(void)
{
	static const struct {
		const char *name;
		void (*waits)(void);
	} calls[] = {
		{"sem_wait", wait_wait}, {"sem_timedwait", wait_timed},
		{"sem_clockwait", wait_clock}, {"cond_wait", wait_cond},
	};

	sem_init(&other, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		end_victim(calls[i].name, (struct victim){calls[i].waits, false, false}, 0);
		end_victim(calls[i].name, (struct victim){calls[i].waits, true, false}, 0);
		end_victim(calls[i].name, (struct victim){calls[i].waits, true, false}, 1);
		/* POSIX has no call of a mutex in a thread like that. */
		if (calls[i].waits != wait_cond)
			end_victim(calls[i].name, (struct victim){calls[i].waits, false, true}, 0);
	}
	end_victim("sem_trywait", (struct victim){wait_try, true, false}, 1);
	printf("%d\n", pthread_mutex_trylock(&lock));
	return 0;
}

static volatile sig_atomic_t nr_signals;

static void count_signal(int sig)
{
	nr_signals++;
	(void)sig;
}

static void post_signal(int sig)
{
	int saved = errno;

	sem_post(&sem);
	nr_signals++;
	errno = saved;
	(void)sig;
}

static bool over;

/* Until the wait is over: one that arrives before the wait changes nothing. */
static void *interrupt(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		usleep(1000);
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
	}
	return arg;
}

/* A handler interrupts a wait: EINTR, or it goes on and the handler's post ends it. */
static int interrupted(void)
{
	pthread_t self = pthread_self(), thread;
	struct sigaction action = {.sa_handler = count_signal};
	const struct timespec far = {INT32_MAX, 0};

	sem_init(&sem, 0, 0);
	for (int i = 0; i < 6; i++) {
		int err;

		over = false;
		action.sa_handler = i < 3 ? count_signal : post_signal;
		action.sa_flags = i < 3 ? 0 : SA_RESTART;
		sigaction(SIGUSR1, &action, NULL);
		pthread_create(&thread, NULL, interrupt, &self);
		errno = 77;
		err = i % 3 == 0 ? sem_wait(&sem) :
		      i % 3 == 1 ? sem_timedwait(&sem, &far) :
				   sem_clockwait(&sem, CLOCK_MONOTONIC, &far);
		printf("%d errno %d\n", err, errno);
		__atomic_store_n(&over, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		while (!sem_trywait(&sem))
			;
	}
	return 0;
}

/* Posts of handlers that interrupt lock calls, waits and the library's global-lock paths: none is lost. */
static int handlers(void)
{
	const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = post_signal, .sa_flags = SA_RESTART};
	unsigned long got = 0;

	sem_init(&sem, 0, 0);
	sem_init(&other, 0, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; nr_signals < 200; i++) {
		pthread_mutex_t *fresh = malloc(sizeof(*fresh));

		/* A lock that is not known takes a global-lock path. */
		pthread_mutex_init(fresh, NULL);
		pthread_mutex_lock(fresh);
		value++;
		pthread_mutex_unlock(fresh);
		pthread_mutex_destroy(fresh);
		free(fresh);
		sem_post(&other);
		sem_wait(&other);
		got += !sem_trywait(&sem);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	while (!sem_trywait(&sem))
		got++;
	printf("%d\n", got == (unsigned long)nr_signals);
	return 0;
}

/* Semaphores, a condition variable and a barrier that two processes share; a named semaphore. */
static int shared(void)
{
	struct {
		sem_t sems[2];
		pthread_mutex_t mutex;
		pthread_cond_t cond;
		pthread_barrier_t barrier;
		int turn;
		unsigned long count[2];
	} *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t ba;
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	char name[64];
	sem_t *named;
	int me, serial = 0, status;
	pid_t pid;

	if (s == MAP_FAILED)
		return 1;
	snprintf(name, sizeof(name), "/elide-waits-%d", getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	sem_unlink(name);
	sem_init(&s->sems[0], 1, 1);
	sem_init(&s->sems[1], 1, 0);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->mutex, &ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->cond, &ca);
	pthread_barrierattr_init(&ba);
	pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&s->barrier, &ba, 2);
	pid = fork();
	me = !pid;
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&s->sems[me]);
		s->count[0]++;
		sem_post(&s->sems[!me]);
		pthread_mutex_lock(&s->mutex);
		while (s->turn != me)
			pthread_cond_wait(&s->cond, &s->mutex);
		s->turn = !me;
		pthread_cond_signal(&s->cond);
		pthread_mutex_unlock(&s->mutex);
		if (named != SEM_FAILED) {
			sem_wait(named);
			s->count[1]++;
			sem_post(named);
		}
		serial += pthread_barrier_wait(&s->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
	}
	if (!pid)
		_exit(serial);
	waitpid(pid, &status, 0);
	printf("%lu %d %d\n", s->count[0], WEXITSTATUS(status) + serial,
	       named == SEM_FAILED || s->count[1] == 2 * ROUNDS);
	return 0;
}

static unsigned long serials;

static void *meet(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	return arg;
}

static int barriers(void)
{
	pthread_t threads[3];

	show(pthread_barrier_init(&barrier, NULL, 0));
	show(pthread_barrier_init(&barrier, NULL, 4));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, meet, NULL);
	meet(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", serials);
	show(pthread_barrier_destroy(&barrier));
	return 0;
}

/* In a section of a lock: calls that need not wait are part of it. */
static int in_section(void)
{
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 1);
	for (int i = 0; i < ROUNDS; i++) {
		int r[5];

		pthread_mutex_lock(&lock);
		value++;
		r[0] = sem_trywait(&sem);
		r[1] = sem_post(&sem);
		r[2] = i & 1 ? sem_wait(&sem) : sem_trywait(&sem);
		r[3] = pthread_barrier_wait(&barrier);
		r[4] = pthread_cond_signal(&cond);
		printf("%d %d %d %d %d %d\n", r[0], r[1], r[2], r[3], r[4],
		       pthread_mutex_unlock(&lock));
		pthread_mutex_lock(&lock);
		value++;
		pthread_mutex_unlock(&lock);
	}
	printf("%d\n", value_of(&sem));
	return 0;
}

/* A turn that two threads give each other; by C11's calls for the odd ones. */
static struct {
	mtx_t mutex;
	cnd_t cond;
	int turn;
} table;

static int take_turns(void *arg)
{
	int me = arg != NULL, bad = 0;

	for (int i = 0; i < ROUNDS; i++) {
		mtx_lock(&table.mutex);
		while (table.turn != me)
			bad |= cnd_wait(&table.cond, &table.mutex) != thrd_success;
		table.turn = !me;
		bad |= (i & 1 ? cnd_signal(&table.cond) : cnd_broadcast(&table.cond)) !=
		       thrd_success;
		mtx_unlock(&table.mutex);
	}
	return bad;
}

static int c11(void)
{
	thrd_t thread;
	int bad, answer;

	mtx_init(&table.mutex, mtx_timed);
	printf("%d\n", cnd_init(&table.cond) == thrd_success);
	thrd_create(&thread, take_turns, &table);
	bad = take_turns(NULL);
	thrd_join(thread, &answer);
	mtx_lock(&table.mutex);
	printf("%d %d %d\n", bad, answer,
	       cnd_timedwait(&table.cond, &table.mutex, &past) == thrd_timedout);
	printf("%d\n", mtx_unlock(&table.mutex) == thrd_success);
	cnd_destroy(&table.cond);
	mtx_destroy(&table.mutex);
	return 0;
}

/* Other kinds of objects at one address, without a call that ends the one before. */
static int reuse(void)
{
	union { pthread_mutex_t m; pthread_cond_t c; sem_t s; } *u = malloc(sizeof(*u));

	for (int i = 0; i < ROUNDS; i++) {
		memset(u, 0, sizeof(*u));
		pthread_mutex_lock(&u->m);
		value++;
		pthread_mutex_unlock(&u->m);
		memset(u, 0, sizeof(*u));
		pthread_mutex_lock(&lock);
		printf("%d", pthread_cond_timedwait(&u->c, &lock, &past));
		pthread_mutex_unlock(&lock);
		memset(u, 0, sizeof(*u));
		printf(" %d", sem_trywait(&u->s));
		sem_post(&u->s);
		printf(" %d\n", sem_trywait(&u->s));
	}
	free(u);
	return 0;
}

/* Programs linked with the versions of glibc before 2.34 get the same wrappers. */
__asm__(".symver old_sem_wait, sem_wait@GLIBC_2.2.5");
__asm__(".symver old_sem_post, sem_post@GLIBC_2.2.5");
__asm__(".symver old_barrier_wait, pthread_barrier_wait@GLIBC_2.2.5");
int old_sem_wait(sem_t *s);
int old_sem_post(sem_t *s);
int old_barrier_wait(pthread_barrier_t *b);

static int versions(void)
{
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 1);
	for (int i = 0; i < ROUNDS; i++) {
		int posted = old_sem_post(&sem), got = old_sem_wait(&sem);

		printf("%d %d %d\n", posted, got, old_barrier_wait(&barrier));
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{"calls", sem_calls}, {"cancel", cancel}, {"interrupted", interrupted},
	{"handlers", handlers}, {"shared", shared}, {"barriers", barriers},
	{"in-section", in_section}, {"c11", c11}, {"reuse", reuse}, {"versions", versions},
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			return cases[i].run();
	fprintf(stderr, "usage: waits NAME\n");
	return 2;
}
