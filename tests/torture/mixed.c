/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mixed.c - short runs of many threads on locks of different kinds, those with extras among them, which
 * must come to their end.
 *
 * The seed draws the four kinds, and whether a timer's signals interrupt the waits. A run that stands
 * still is described on standard error: which cell each thread waits for, in which system call, the
 * words of the locks, and the stacks, where gdb is installed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "torture.h"

/* A run takes some 100 ms. Seconds without an end after which it stands still: a busy machine is slow. */
#define STILL 60

/* Microseconds between two signals of the timer. */
#define TIMER_US 500

static struct cell cells[NR_CELLS];
static struct worker workers[MAX_THREADS];

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	for (unsigned long i = 0; i < w->run->rounds; i++)
		section(w, cells);
	w->ended = true;
	return NULL;
}

static void cut_short(int number)
{
}

/* Signals for whichever thread runs. */
static void start_timer(bool on)
{
	const struct itimerval every = {{0, on ? TIMER_US : 0}, {0, on ? TIMER_US : 0}};
	struct sigaction action = {.sa_handler = cut_short, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* What /proc says of a thread, in a line. */
static void say_of(int tid, const char *what)
{
	char path[64], line[200] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, what);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	if (read(fd, line, sizeof(line) - 1) > 0)
		say("    %s: %.*s", what, (int)strcspn(line, "\n"), line);
	close(fd);
}

static int describe(const struct run *run)
{
	char command[96];

	for (unsigned int i = 0; i < run->threads; i++) {
		const struct cell *cell = workers[i].waits;

		if (workers[i].ended)
			continue;
		say("  thread %u, id %d: %s %ld", i, workers[i].tid,
		    cell ? "waits for lock" : "runs", cell ? (long)(cell - cells) : -1);
		say_of(workers[i].tid, "syscall");
		say_of(workers[i].tid, "wchan");
	}
	for (unsigned int c = 0; c < NR_CELLS; c++) {
		const uint32_t *words = (const uint32_t *)&cells[c].lock;

		say("  lock %u, %s, %p: %x %x %x %x %x %x %x %x", c, cells[c].subject->name,
		    (const void *)words, words[0], words[1], words[2], words[3], words[4], words[5],
		    words[6], words[7]);
	}
	snprintf(command, sizeof(command),
		 "LD_PRELOAD= gdb -batch -p %d -ex 'thread apply all bt 14' >&2 2>/dev/null", getpid());
	return system(command);
}

static bool all_ended(const struct run *run)
{
	for (unsigned int i = 0; i < run->threads; i++)
		if (!workers[i].ended)
			return false;
	return true;
}

/* Wait for all of them, without a lock. Return: failures; it does not return from a run that stands still. */
static void wait_for_all(const struct run *run)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	time_t end = deadline(CLOCK_MONOTONIC, 0).tv_sec + STILL;

	while (!all_ended(run)) {
		nanosleep(&pause, NULL);
		/* Not by the time of day, which may be set meanwhile. */
		if (deadline(CLOCK_MONOTONIC, 0).tv_sec < end)
			continue;
		start_timer(false);
		say("seed %lu stands still", (unsigned long)run->seed);
		describe(run);
		_exit(1);
	}
}

unsigned int run_mixed(const struct run *run, unsigned long *acquired)
{
	pthread_t threads[MAX_THREADS];
	struct random random;

	random_seed(&random, run->seed, MAX_THREADS);
	for (unsigned int i = 0; i < NR_CELLS; i++) {
		unsigned int which = 1 + random_below(&random, nr_subjects_mixed - 1);

		/* Not where threads outnumber processors: a spinlock's holder costs the others their time slices. */
		if (!strcmp(subjects[which].name, "spin") && run->threads > 4)
			which = nr_subjects;
		cells[i].subject = run->subject ? run->subject : &subjects[which];
		cells[i].subject->init(&cells[i].lock);
	}
	workers_make(workers, run);
	start_timer(one_in(&random, 2));
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_create(&threads[i], NULL, work, &workers[i]);
	wait_for_all(run);
	start_timer(false);
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_join(threads[i], NULL);
	return cells_check(cells, workers, run->threads);
}
