// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peers.c - two processes, each on a machine of its own or one of them on the host, share locks,
 * semaphores and a condition variable: each wait ends, and the locks exclude.
 *
 * peers [FD]: starts itself again, by its full name, with the descriptor of the shared memory.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define NR_THREADS 2
#define NR_SECTIONS 100
#define NR_TURNS 100
/* A timeout that is longer than the test, s. */
#define LATE_SECONDS 1000

enum { PLAIN, ROBUST, INHERITS, NR_MUTEXES };

static struct shared {
	pthread_mutex_t mutexes[NR_MUTEXES];
	volatile long counts[NR_MUTEXES];
	sem_t sems[2];
	pthread_mutex_t turn_mutex;
	pthread_cond_t turn_changed;
	int turn;
} *shared;

static struct timespec late(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += LATE_SECONDS;
	return ts;
}

static void init_shared(void)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t cond_attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutexes[PLAIN], &attr);
	pthread_mutex_init(&shared->turn_mutex, &attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->mutexes[ROBUST], &attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&shared->mutexes[INHERITS], &attr);
	pthread_condattr_init(&cond_attr);
	pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->turn_changed, &cond_attr);
	sem_init(&shared->sems[0], 1, 1);
	sem_init(&shared->sems[1], 1, 0);
}

static void *sections(void *unused)
{
	struct timespec until = late();

	for (int i = 0; i < NR_SECTIONS; i++) {
		for (int m = 0; m < NR_MUTEXES; m++) {
			pthread_mutex_t *mutex = &shared->mutexes[m];
			long count;

			check("lock", i % 2 ? pthread_mutex_lock(mutex) :
					      pthread_mutex_timedlock(mutex, &until), 0);
			count = shared->counts[m];
			/* In one of ten rounds, long enough for the others to wait. */
			if (i % 10 == m)
				usleep(200);
			shared->counts[m] = count + 1;
			check("unlock", pthread_mutex_unlock(mutex), 0);
		}
	}
	return unused;
}

static void turns(int me)
{
	struct timespec until = late();

	for (int i = 0; i < NR_TURNS; i++) {
		check("semaphore", i % 2 ? sem_wait(&shared->sems[me]) :
					   sem_timedwait(&shared->sems[me], &until), 0);
		sem_post(&shared->sems[!me]);
	}
	for (int i = 0; i < NR_TURNS; i++) {
		pthread_mutex_lock(&shared->turn_mutex);
		while (shared->turn != me)
			check("condition", i % 2 ?
				      pthread_cond_wait(&shared->turn_changed,
							&shared->turn_mutex) :
				      pthread_cond_timedwait(&shared->turn_changed,
							     &shared->turn_mutex, &until), 0);
		shared->turn = !me;
		pthread_cond_signal(&shared->turn_changed);
		pthread_mutex_unlock(&shared->turn_mutex);
	}
}

static int run(int me)
{
	pthread_t threads[NR_THREADS];
	int i;

	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, sections, NULL);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	turns(me);
	return emu_status();
}

static void map_shared(int fd)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		abort();
}

int main(int argc, char **argv)
{
	char number[16];
	int fd, status = -1, m;
	pid_t pid;

	if (argc > 1) {
		map_shared(atoi(argv[1]));
		return run(1);
	}
	emu_require();
	fd = memfd_create("elide-peers", 0);
	if (ftruncate(fd, sizeof(*shared)))
		abort();
	map_shared(fd);
	init_shared();
	snprintf(number, sizeof(number), "%d", fd);
	pid = fork();
	if (!pid)
		execl(argv[0], argv[0], number, (char *)NULL);
	run(0);
	waitpid(pid, &status, 0);
	check("the other process", status, 0);
	for (m = 0; m < NR_MUTEXES; m++)
		check("sections", shared->counts[m], 2 * NR_THREADS * NR_SECTIONS);
	return emu_status();
}
