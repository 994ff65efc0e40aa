/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suggestion.h - the settings that follow from the measurements: elide report --suggest.
 *
 * Must never set anything itself. conf.h has the format of the file.
 */
#ifndef ELIDE_SUGGESTION_H
#define ELIDE_SUGGESTION_H

#include <stdio.h>

#include "../base/paths.h"
#include "../model/report.h"

/**
 * struct suggestion - settings that follow from the findings of data files.
 * @rules:    patterns of locks that ELIDE_LOCKS switches off
 * @reasons:  a comment for each rule
 * @objects:  the lines "build-id OBJECT HEX"
 * @nr_unnamed: rows to switch off for which no rule is possible
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

#endif
