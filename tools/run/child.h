/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.h - run a program, and find the data files that it wrote.
 *
 * Must never change how the program behaves.
 */
#ifndef ELIDE_CHILD_H
#define ELIDE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/paths.h"
#include "../model/run-files.h"
#include "account.h"

/**
 * struct child - a program, and how it ended.
 * @path:    file to execute
 * @argv:    its arguments, NULL last
 * @preload: value of its LD_PRELOAD, NULL to leave it as it is
 * @in, @out: its standard input and output if above 2, else ours
 * @bound:   it is killed when this process ends, and if it survives a signal that would have
 *           ended this process
 * @traced:  this process and its children may trace it, where only ancestors may (Yama)
 * @tick:    called with @arg and @pid every @tick_ms milliseconds until the program ends; NULL for
 *           none. It must return soon
 * @account: where to account for the time of its threads; NULL for none
 * @pid:     set to its process id
 * @status:  set to the status of wait(2)
 * @signal:  set to the last signal that arrived meanwhile and would have ended this process, or 0
 * @elapsed_ns: set to the time from its start to its end
 * @cpu_ns:  set to processor time of it and of the processes it has waited for
 */
struct child {
	const char *path;
	char **argv;
	const char *preload;
	int in;
	int out;
	bool bound;
	bool traced;
	void (*tick)(void *arg, pid_t pid);
	void *arg;
	uint64_t tick_ms;
	struct account *account;
	pid_t pid;
	int status;
	int signal;
	uint64_t elapsed_ns;
	uint64_t cpu_ns;
};

/**
 * child_measure() - run a program to its end, with the caller's signals, files and directory.
 *
 * Meanwhile this process ignores signals that the terminal sends to both, and passes those of other
 * processes on to the program.
 *
 * Return: 0, or -errno if the program could not be started.
 */
int child_measure(struct child *c);

/**
 * struct child_files - the data files of a program and of its children; all zero: none.
 * @paths:  that of the program is the first, if it has one
 * @folder: where they are
 * @nr_lost: processes that could not write one
 * @lost_error: the error that the last of them got
 */
struct child_files {
	struct paths paths;
	struct run_folder folder;
	uint64_t nr_lost;
	int lost_error;
};

/**
 * find_files() - find the data files whose header has @run.
 * @output: ELIDE_OUTPUT, with its %p and %e
 * @pid: of the program
 *
 * Return: 0 or -ENOMEM.
 */
int find_files(struct child_files *f, const char *output, uint64_t run, pid_t pid);

/** find_files_free() - release what was found. */
void find_files_free(struct child_files *f);

/**
 * end_data_file() - note exit status and end of a process of the run in its file, and cut off what that does
 * not use.
 * @path: data file of one process of the run
 * @pid: the program, whose status is noted
 * @status: from waitpid()
 * @account: of the run; NULL: none
 *
 * A process that calls exit() notes its end and cuts its file itself; one that is killed does not. Does
 * nothing while the process runs.
 */
void end_data_file(const char *path, pid_t pid, int status, const struct account *account);

#endif
