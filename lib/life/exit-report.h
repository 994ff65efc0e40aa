/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exit-report.h - the report at the end of the program (tunable REPORT).
 */
#ifndef ELIDE_EXIT_REPORT_H
#define ELIDE_EXIT_REPORT_H

/**
 * elide_exit_report() - run "elide report" on this process's data file and wait for it.
 * @where: "stderr", or the name of a file, which is replaced; a symbolic link is not followed
 *
 * Looks for the command in ../bin and ../../bin of the library's folder. If it cannot be run, one line
 * says so. Called from a destructor, outside the engine's lock.
 *
 * The program does not notice the command: no signal, no child that wait() finds without __WCLONE, no
 * call of a pthread_atfork() handler.
 */
void elide_exit_report(const char *where);

#endif
