/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - what /proc says of a process, and why it cannot be stopped to read its stacks.
 *
 * Must never stop it.
 */
#ifndef ELIDE_PROCESS_H
#define ELIDE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of a sentence of process_refuses() and process_denies(). */
#define PROCESS_WHY 400

/**
 * struct process - what /proc says of a process.
 * @pid:    its id, as given
 * @tgid:   0: there is no such process; another number than @pid: that is one of its threads
 * @state:  letter of its state
 * @tracer: process that traces it, 0: none
 * @ruid, @euid: real and effective user
 * @owner:  user who owns files in /proc/PID: another one than @euid if the process may not be dumped
 * @kernel: it is a thread of the kernel
 * @foreign_code: its program is not one of 64-bit x86
 */
struct process {
	long pid;
	long tgid;
	char state;
	long tracer;
	uid_t ruid;
	uid_t euid;
	uid_t owner;
	bool kernel;
	bool foreign_code;
};

/** process_read() - fill @p for process @pid. */
void process_read(struct process *p, long pid);

/**
 * process_refuses() - why a process cannot be stopped, as far as /proc tells.
 * @why: PROCESS_WHY bytes, filled with words that follow "process PID "
 *
 * Return: is there a reason?
 */
bool process_refuses(const struct process *p, char *why);

/**
 * struct denial - what decides whether this process may trace another.
 * @p: the other
 * @own_uid:    effective user of this process
 * @same_userns: both are in one user namespace
 * @scope:      kernel.yama.ptrace_scope, -1 without
 * @own_child:  this process may trace a child of its own
 */
struct denial {
	struct process p;
	uid_t own_uid;
	bool same_userns;
	int scope;
	bool own_child;
};

/** denial_read() - fill @d for a process that could not be traced. */
void denial_read(struct denial *d, const struct process *p);

/**
 * denial_says() - why the kernel denies to trace a process; pure.
 * @why: as of process_refuses()
 */
void denial_says(const struct denial *d, char *why);

/**
 * process_threads() - the ids of all threads.
 * @tids: set to them, to be freed
 * @nr: set to their number
 *
 * Return: 0 or -errno.
 */
int process_threads(long pid, int **tids, size_t *nr);

/** process_inner_tid() - the id of a thread in its own pid namespace. */
int process_inner_tid(long pid, int tid);

/**
 * process_parent_with() - the parent of a process, if the thread @tid is one of the parent's.
 *
 * Return: its id; 0 if not, or if it cannot be read.
 */
long process_parent_with(long pid, int tid);

/** process_has_own_root() - do paths of the process mean other files here? */
bool process_has_own_root(long pid);

/** process_waits_in_vfork() - does a thread wait until the child of its vfork(2) has its own memory? */
bool process_waits_in_vfork(long pid);

/** process_thread_name() - copy the name of a thread to @name, @size bytes; empty if it has ended. */
void process_thread_name(long pid, int tid, char *name, size_t size);

#endif
