/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unseen-file.h - data files of processes of a run in which the library was not.
 *
 * Such a file is a header with the account of the process and the reasons: the report of the run names the
 * process. Must never replace a file that is not a data file, nor one of this run.
 */
#ifndef ELIDE_UNSEEN_FILE_H
#define ELIDE_UNSEEN_FILE_H

#include "../base/paths.h"
#include "account.h"

/**
 * unseen_files_write() - write the files of those processes that may have waited for locks for a part of the
 * run: that had two threads at least, and a hundredth of the thread time of the run.
 * @account: of the run, that has ended
 * @paths:   the data files of the run; those that are written are added
 * @output:  ELIDE_OUTPUT, with its %p and %e
 * @run:     header.run
 * @pid:     the program, whose @status from waitpid() is noted
 *
 * Says in one line if a file cannot be written.
 */
void unseen_files_write(const struct account *account, struct paths *paths, const char *output, uint64_t run,
			pid_t pid, int status);

#endif
