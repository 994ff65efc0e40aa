/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - the words of enumerations, and the names of locks and code.
 *
 * Must never put an address into a name.
 */
#ifndef ELIDE_NAMES_H
#define ELIDE_NAMES_H

#include "symbolize.h"

/** kind_id() - a kind in JSON, CSV and exports; kind_name() - in tables and sentences. */
const char *kind_id(unsigned int kind);
const char *kind_name(unsigned int kind);

/** waits_for() - what the waits of a kind are for: "locks" or "others", see elide_kind_waits_for_lock(). */
const char *waits_for(unsigned int kind);

/* The words of other enumerations: JSON, CSV and tables use the same. */
const char *state_name(unsigned int state);
const char *mode_name(unsigned int mode);
const char *rtm_name(unsigned int rtm);
const char *learned_name(unsigned int state);
const char *learned_says(unsigned int state);
const char *misuse_name(unsigned int type);
const char *misuse_says(unsigned int type);
const char *dropped_name(unsigned int what);
const char *sample_name(unsigned int type);
const char *source_name(unsigned int source);
const char *data_type_name(unsigned int type);
const char *blame_name(unsigned int type);
const char *event_name(unsigned int type);
const char *counter_source_name(unsigned int source);

/**
 * program_title() - what the program of a data file is called: by its first argument, because a file
 * may have several names.
 */
const char *program_title(const struct elide_header *h);

/**
 * class_name() - the name of a lock class that a report shows.
 * @place: set to the place that the class is named after
 *
 * Return: the name, to be freed; NULL without memory.
 */
char *class_name(struct symbolizer *symbols, const struct elide_class *c, struct place *place);

/** class_id() - identify a class among all classes of the program. Return: as class_name(). */
char *class_id(const struct elide_class *c, const struct place *place);

/** code_name() - "function file:line" and the function it was inlined into. Return: as class_name(). */
char *code_name(const struct place *p);

#endif
