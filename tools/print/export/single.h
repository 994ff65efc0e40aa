/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * single.h - the file of a format that holds one report.
 *
 * Must never leave a file that has only a part of the reports.
 */
#ifndef ELIDE_SINGLE_H
#define ELIDE_SINGLE_H

#include <stdbool.h>

#include "../../base/replace.h"
#include "../output.h"

/**
 * struct single - the state of such a format.
 * @open:    @file is being written
 * @several: there was more than one report, which one line has reported
 * @rc:      error of writing
 */
struct single {
	struct replacement file;
	bool open;
	bool several;
	int rc;
};

/**
 * single_begin() - begin the file of @o.
 * @what: name of the format in a message: "a profile"
 * @kind, @ours: as of replace_begin()
 *
 * Return: where to write, or NULL after one line.
 */
FILE *single_begin(struct output *o, const char *what, const char *kind,
		   bool (*ours)(const char *head, size_t len));

/** single_end() - end the file, if it was begun. Return: 0, or -errno after one line. */
int single_end(struct output *o);

/** single_argument() - take the name of the file. Return: 0. */
int single_argument(struct report_options *o, const char *text);

#endif
