/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - for how long the threads of a program and of its children were there, and what they did.
 *
 * From samples of /proc, so also of threads that call no lock function. The program does nothing for it.
 */
#ifndef ELIDE_ACCOUNT_H
#define ELIDE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../lib/datafile.h"

/**
 * struct account - what is known of the processes of a run; all 0: nothing yet.
 * @processes: @nr of them, those that have ended, too
 * @file:      of the program: the account is written there at each sample; NULL: nowhere
 * @no_late:   the kernel does not tell for how long threads are ready to run
 * @next_ns:   CLOCK_MONOTONIC at which account_sample() is due
 * @begun_ns:  at which the program was started
 */
struct account {
	struct account_process *processes;
	size_t nr;
	const char *file;
	bool no_late;
	uint64_t next_ns;
	uint64_t begun_ns;
};

/**
 * account_begin() - a program was started.
 * @pid: of the program
 */
void account_begin(struct account *a, pid_t pid);

/** account_begin_late() - the account of a process begins that runs already: what it did before is left out. */
void account_begin_late(struct account *a, pid_t pid);

/**
 * account_sample() - read /proc for the program and its children, and choose when to do so again.
 *
 * A child of a process that one of its threads but the first has forked is found after some samples.
 */
void account_sample(struct account *a);

/** account_children() - processor time of the children that the program has waited for; it is a zombie. */
uint64_t account_children(const struct account *a);

/**
 * account_end() - the program has ended.
 * @cpu: its processor time in nanoseconds
 */
void account_end(struct account *a, uint64_t cpu);

/**
 * account_write() - write the account of the process that a data file is of.
 * @fd: of the file
 * @h:  its header
 *
 * Return: false on an error, which is in errno.
 */
bool account_write(const struct account *a, int fd, const struct elide_header *h);

/**
 * account_write_threads() - write the times of each thread into its record in the data file of its process.
 *
 * As account_write(); the process has ended.
 */
bool account_write_threads(const struct account *a, int fd, const struct elide_header *h);

/**
 * struct account_seen - a process of the run, for its data file.
 * @pid_start:   field 22 of /proc/PID/stat
 * @exe:         path of its program; empty: not known
 * @name:        by which it was called: the first argument
 * @unseen:      set of enum unseen
 * @start_ns, @end_ns: CLOCK_MONOTONIC when it was found, and of the last sample
 * @nr_threads:  the most that a sample has found
 * @total:       its account
 */
struct account_seen {
	pid_t pid;
	uint64_t pid_start;
	char exe[sizeof(((struct elide_header *)0)->exe)];
	char name[256];
	uint32_t unseen;
	uint64_t start_ns;
	uint64_t end_ns;
	size_t nr_threads;
	struct elide_account total;
};

/** account_threads() - nanoseconds of the threads of all processes together. */
uint64_t account_threads(const struct account *a);

/** account_seen() - fill @to for process number @i of @a->nr. */
void account_seen(const struct account *a, size_t i, struct account_seen *to);

/** account_free() - release what was kept. */
void account_free(struct account *a);

#endif
