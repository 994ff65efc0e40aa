/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit.h - exit codes: those of the commands, and those of programs that were run.
 *
 * Must never end a process.
 */
#ifndef ELIDE_EXIT_H
#define ELIDE_EXIT_H

/* Exit codes of every command but run. */
/*
 * --fail-if holds, a program that is compared fails, a program cannot be profiled, a file is damaged, a
 * deadlock.
 */
#define EXIT_CONDITION 1
#define EXIT_USAGE     2 /* usage, or a file that cannot be read */

/* Exit codes of run, those of env(1) and timeout(1), and rtmgrind's. */
#define EXIT_MACHINE      2 /* the machine of --emulate cannot be emulated */
#define EXIT_LAUNCHER     125 /* a fault of the launcher itself, or usage */
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND    127

/**
 * exit_code() - the exit code that a shell reports for a wait(2) status.
 *
 * Return: 128 + N of a process that signal N ended; -1 if @status is negative, which means unknown.
 */
int exit_code(int status);

/* Bytes of the words of exit_words(). */
#define EXIT_WORDS 32

/**
 * exit_words() - how a process ended, by its wait(2) status: "exit code 3", "killed by SIGTERM"; else empty.
 */
const char *exit_words(int status, char to[EXIT_WORDS]);

/**
 * exit_unread() - the exit code of a command that could not read a data file.
 * @code: that of the command so far
 * @err: what load() has returned, which is not 0
 *
 * Return: EXIT_CONDITION if the file is damaged and @code is no worse, else EXIT_USAGE.
 */
int exit_unread(int code, int err);

/**
 * exit_flushed() - the exit code of a command that has printed to standard output.
 * @code: that of the command
 *
 * Return: @code; not 0, after one line, if the output could not be written.
 */
int exit_flushed(int code);

#endif
