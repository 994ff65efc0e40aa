/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread-time.h - what the threads of a process did in their time.
 */
#ifndef ELIDE_THREAD_TIME_H
#define ELIDE_THREAD_TIME_H

#include "../../base/unseen.h"
#include "../report.h"

/**
 * struct thread_time - times of all threads together, in nanoseconds.
 * @known:   the launcher has measured @total, @running and @elsewhere
 * @no_late: the kernel does not tell @late
 * @total:   for which the threads existed: the sum of the five below
 * @running: on a processor
 * @locks:   waiting for a lock that another thread held, also again after a condition variable
 * @others:  waiting at condition variables, semaphores and barriers, and for the end of threads
 * @late:    ready to run, without a processor
 * @elsewhere: the rest: input and output, sleep, page faults
 * @futex:   of @elsewhere, in futex(2) beyond the waits that rows have: of locks that are not seen
 * @calls:   system calls in which the threads were meanwhile, those with the most time first; @ns: 0: none. That of
 *           futex(2) is @futex
 * @timed_out: waits for others have timed out, whose time is not in @others
 * @samples: of which the account is
 * @unseen:  set of enum unseen: why
 */
struct thread_time {
	int known;
	int no_late;
	double total;
	double running;
	double locks;
	double others;
	double late;
	double elsewhere;
	double futex;
	bool timed_out;
	uint32_t samples;
	uint32_t unseen;
	struct {
		const char *name;
		double ns;
	} calls[ELIDE_ACCOUNT_CALLS];
};

/**
 * thread_time_joined() - cycles for which threads have waited for the end of others, up to the end in the
 * file.
 */
uint64_t thread_time_joined(const struct elide_header *h);

/** thread_time() - the account of a report's process, or processes. */
void thread_time(const struct report *r, struct thread_time *t);

/** thread_time_percent() - share of the time of all threads; NAN if that is not known. */
double thread_time_percent(const struct thread_time *t, double ns);

/** thread_time_sentence() - what the threads did in their time, as one sentence; @size bytes at @to. */
void thread_time_sentence(const struct thread_time *t, char *to, size_t size);

/** thread_time_unseen() - what has no rows, as unseen_sentence() says it; UNSEEN_SENTENCE bytes at @to. */
void thread_time_unseen(const struct thread_time *t, char *to);

/** thread_time_since() - subtract an earlier account of the same process. */
void thread_time_since(struct thread_time *t, const struct thread_time *before);

#endif
