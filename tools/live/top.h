/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top.h - what a running process did in the last interval.
 *
 * The path of the data: a report -> top.c (what is new since the one before)
 * -> top-view.c (text) -> cmd-top.c (terminal). Must never depend on a terminal.
 */
#ifndef ELIDE_TOP_H
#define ELIDE_TOP_H

#include <stdbool.h>

#include "../model/answer/thread-time.h"
#include "../model/file/faults.h"
#include "../model/report.h"

/**
 * struct top_row - a row of the report.
 * @key:  name of the row, the same in all frames
 * @all:  numbers since the start, and the short names
 * @new:  numbers of the interval
 */
struct top_row {
	char *key;
	struct line all;
	struct line new;
};

/**
 * struct frame - what was read at one moment.
 * @file:    its header alone
 * @report:  report of @file without lines, by which times are shown
 * @rows:    the rows, @nr of them
 * @total:   their sum
 * @time:    what the threads did since the start; @time_new: in the interval
 * @seconds: length of the interval, 0 if not known
 * @parked:  threads that are parked at a lock
 * @read_ns: time of reading, CLOCK_MONOTONIC
 * @ended:   the process has ended
 * @faults:  what is missing in the file, empty if nothing is
 */
struct frame {
	struct data_file file;
	struct report report;
	struct top_row *rows;
	size_t nr;
	struct top_row total;
	struct thread_time time;
	struct thread_time time_new;
	double seconds;
	uint64_t parked;
	uint64_t read_ns;
	bool ended;
	char faults[FAULTS_TEXT];
};

/**
 * frame_read() - read a data file.
 * @pid: of the process in this pid namespace
 * @error: LOAD_ERROR_MAX bytes, filled with one line on failure
 *
 * Return: 0 or -errno.
 */
int frame_read(struct frame *f, const char *path, long pid, enum report_by by, char *error);

/** frame_since() - set @new to @all less @all of @before; to @all if @before is NULL. */
void frame_since(struct frame *f, const struct frame *before);

/** frame_free() - release what frame_read() took. */
void frame_free(struct frame *f);

#endif
