/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unseen.h - why locks and waits of a program have no rows, and what shows them instead.
 *
 * The one list of reasons, for elide run, report, top and doctor. Must never name a reason that was not found
 * in the program's file or in the process.
 */
#ifndef ELIDE_UNSEEN_H
#define ELIDE_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "program.h"

/* Of what the reason is one. */
enum unseen_scope {
	UNSEEN_PROGRAM, /* no lock of the program has a row */
	UNSEEN_WAITS,   /* these waits have no rows, others may have some: futex(2) has their time */
	UNSEEN_RUNTIME, /* locks of a runtime: rows of those that it waits with do not tell them apart */
	UNSEEN_CALLS,   /* waits are rows of kind futex; acquisitions that do not wait are not counted */
};

enum unseen {
#define ELIDE_UNSEEN(id, scope, name, text, use) UNSEEN_##id,
#include "unseen.def"
#undef ELIDE_UNSEEN
	NR_UNSEEN
};

/* The set of one reason, as in header.unseen of a data file. */
#define UNSEEN_BIT(id) (1u << UNSEEN_##id)

/** unseen_id() - the JSON key of a reason. */
const char *unseen_id(enum unseen u);

/** unseen_name() - its short name. */
const char *unseen_name(enum unseen u);

/** unseen_text() - what is not seen, and why: see unseen.def. */
const char *unseen_text(enum unseen u);

/** unseen_use() - what shows it instead. */
const char *unseen_use(enum unseen u);

enum unseen_scope unseen_scope(enum unseen u);

/** unseen_in() - the first reason of a scope in a set; NR_UNSEEN: there is none. */
enum unseen unseen_in(uint32_t set, enum unseen_scope scope);

/** unseen_of_program() - the reasons by a program's file: one at most. */
uint32_t unseen_of_program(const struct program *p);

/** unseen_obstacle() - why the library cannot be loaded into a program, NR_UNSEEN if it can. */
enum unseen unseen_obstacle(const struct program *p);

/** unseen_with_library() - the reasons of a set that hold for a process in which the library is. */
uint32_t unseen_with_library(uint32_t set);

/** unseen_of_library() - the set for a library of this name, without folder, among those of a process. */
uint32_t unseen_of_library(const char *name);

/**
 * unseen_of_process() - the reasons of a running process: by its program, and by the objects in its memory.
 * @exe: filled with the path of its program, @size bytes; empty if this user may not read it
 *
 * Return: the set; 0 if there are none, or they cannot be found out.
 */
uint32_t unseen_of_process(pid_t pid, char *exe, size_t size);

/* Room for unseen_sentence(). */
#define UNSEEN_SENTENCE 768

/**
 * unseen_sentence() - all that is not seen, as sentences.
 * @set:     reasons; those of scope CALLS are not said
 * @percent: of the time of all threads, in futex(2) beyond the waits of rows; NAN or 0: not known
 * @to:      UNSEEN_SENTENCE bytes; empty if there is nothing to say
 */
void unseen_sentence(uint32_t set, double percent, char *to);

#endif
