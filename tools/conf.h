/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf.h - files of settings: elide report --suggest writes them, elide run --conf reads them.
 *
 *   # a comment
 *   build-id OBJECT HEX    of an object the settings were made for
 *   NAME = VALUE           as elide run --set takes it; LD_BIND_NOW too
 *
 * Must never decide what a setting means: see settings.h.
 */
#ifndef ELIDE_CONF_H
#define ELIDE_CONF_H

#include <stdio.h>

#include "paths.h"
#include "report.h"

/**
 * struct suggestion - settings put together from the findings of data files.
 * @rules:    of LOCKS
 * @reasons:  a comment for each
 * @objects:  lines of the objects
 * @nr_unnamed: rows to switch off for which there is no rule
 * @bind_now: functions were bound inside sections
 */
struct suggestion {
	struct paths rules;
	struct paths reasons;
	struct paths objects;
	size_t nr_unnamed;
	int bind_now;
};

/**
 * suggestion_add() - add what the findings of a report suggest.
 *
 * Return: 0 or -ENOMEM.
 */
int suggestion_add(struct suggestion *s, const struct report *r);

/** suggestion_print() - write them as a file of settings, and release them. */
void suggestion_print(struct suggestion *s, FILE *out);

/**
 * conf_read() - read a file of settings.
 * @elf: the program that will run, NULL if it is not known
 * @quiet: say nothing about objects
 * @set: called with each setting; @where is "FILE:LINE"
 *
 * Says which objects are not those the file was made for. A line that cannot
 * be understood is left out with one message.
 *
 * Return: 0, or -errno if it cannot be read.
 */
int conf_read(const char *path, const char *elf, int quiet,
	      void (*set)(void *arg, const char *where, const char *name, const char *value),
	      void *arg);

#endif
