/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - what each thread of a process acquired, waited and held.
 *
 * Must never give a thread counts that the file gives to no thread.
 */
#ifndef ELIDE_THREADS_H
#define ELIDE_THREADS_H

#include <stdbool.h>

#include "report.h"

/**
 * struct thread_line - a thread, or the ended threads of one name.
 * @name:     its name, readable
 * @tid_text: its id; of ended threads "N ended"
 * @tid:      0 of ended threads
 * @nr:       threads
 * @wait, @held: cycles
 * @lived, @ran, @late: nanoseconds, see struct elide_thread_record; 0: not measured
 */
struct thread_line {
	char name[32];
	char tid_text[32];
	uint32_t tid;
	uint32_t nr;
	uint64_t acquired;
	uint64_t elided;
	uint64_t contended;
	double wait;
	double held;
	double lived;
	double ran;
	double late;
};

/**
 * struct threads - the threads of a file, those that waited longest first.
 * @known: the file has records of threads: a damaged one may have none
 */
struct threads {
	struct thread_line *lines;
	size_t nr;
	bool known;
};

/** threads_build() - the threads of a report's file. Return: 0 or -errno. */
int threads_build(const struct report *r, struct threads *to);

/** threads_free() - release what threads_build() took. */
void threads_free(struct threads *t);

/** thread_share() - cycles in per cent of the run; NAN if its length is unknown. */
double thread_share(const struct report *r, double cycles);

/** thread_part() - nanoseconds in per cent of the time for which a line's threads existed; NAN if unknown. */
double thread_part(const struct thread_line *t, double ns);

#endif
