/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace.h - files that are replaced as a whole: by a new file beside them, which gets their name.
 *
 * Must never leave half a file under the name, nor replace a file that is not ours.
 */
#ifndef ELIDE_REPLACE_H
#define ELIDE_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes at the beginning of a file by which it is recognised, at most. */
#define REPLACE_HEAD 4096

/**
 * struct replacement - a file that is being written.
 * @out:    where to write it to
 * @path:   as the user named it; "-" is standard output
 * @kind:   what the file is, for messages: "page of elide report"
 * @target: the file that gets replaced, the links of its folder resolved
 * @temp:   the new file, in the same folder; empty if @out is written directly
 */
struct replacement {
	FILE *out;
	const char *path;
	const char *kind;
	char target[PATH_MAX];
	char temp[PATH_MAX];
};

/**
 * replace_begin() - begin to write a file.
 * @path: file to write; a new one is for its owner alone. A device, a pipe, and a name below /dev or
 *        /proc/self/fd are written directly, "-" is @standard, another symbolic link is refused
 * @ours: did this program write a file that begins with these bytes, which a NUL follows? An
 *        empty file is always ours
 *
 * Return: 0, or -errno after one line.
 */
int replace_begin(struct replacement *r, const char *path, const char *kind, FILE *standard,
		  bool (*ours)(const char *head, size_t len));

/**
 * replace_end() - rename the new file, or leave the old one as it was.
 * @rc: 0, or an error that was not reported yet
 *
 * Return: 0, or -errno after one line.
 */
int replace_end(struct replacement *r, int rc);

/** replace_drop() - end without a new file; the caller has said why. */
void replace_drop(struct replacement *r);

#endif
