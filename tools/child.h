/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.h - run the program, and find what it left.
 *
 * Must never change how the program behaves.
 */
#ifndef ELIDE_CHILD_H
#define ELIDE_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "paths.h"

/**
 * child_run() - run a program to its end, with the caller's signals, files and directory.
 * @path: file to execute
 * @argv: its arguments, NULL last
 * @preload: value of its LD_PRELOAD, NULL to leave it as it is
 * @pid: set to its process id
 * @status: set to what wait(2) says
 *
 * Meanwhile this process lives on: it leaves to the program what the terminal
 * sends to both, and hands on what other processes send.
 *
 * Return: 0, or -errno if the program could not be started.
 */
int child_run(const char *path, char **argv, const char *preload, pid_t *pid, int *status);

/**
 * find_files() - find the data files whose header has @run, that of @pid first if there is one.
 * @f: an empty list
 * @output: name asked for, with its %p and %e
 * @pid: of the program
 *
 * Return: 0 or -ENOMEM.
 */
int find_files(struct paths *f, const char *output, uint64_t run, pid_t pid);

/**
 * write_exit_status() - note how process @pid ended in its data file.
 *
 * Does nothing if the file is another process's: a program that took no lock
 * leaves the name asked for to the first of its children that does.
 */
void write_exit_status(const char *path, pid_t pid, int status);

#endif
