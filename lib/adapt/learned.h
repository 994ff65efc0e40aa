/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learned.h - begin with what earlier processes have learnt, and keep what this one has.
 *
 * With ELIDE_LEARNED: the file is read once, when the process starts. What it has of a class, or of a
 * call site, is looked up when that is met for the first time. At the end of the process the classes about
 * which something was decided go into the file; of the others it keeps what it has. A forked child begins
 * with the state of its parent, and writes what it decides itself.
 *
 * Without ELIDE_LEARNED each of these functions does nothing.
 */
#ifndef ELIDE_ADAPT_LEARNED_H
#define ELIDE_ADAPT_LEARNED_H

#include "trial.h"

#pragma GCC visibility push(hidden)

/**
 * adapt_learned_start() - read the file of ELIDE_LEARNED.
 * @max_classes: bound of the classes
 *
 * A file that cannot be used is one line on standard error, and the process begins without it. Called
 * once, after adapt_start().
 */
void adapt_learned_start(uint32_t max_classes);

/** adapt_learned_class() - the state of a class is made: begin with what is known. In a global-lock path. */
void adapt_learned_class(struct adapt_class *p);

/**
 * adapt_learned_find_site() - a call site of a class is met: look for what is known of it.
 * @p: state of the class
 * @nr: number of the site, less than LEARN_SITES
 * @key: the site and its kind
 *
 * In a global-lock path, before @nr is below @p->nr_keys.
 *
 * Return: the arm that it begins with.
 */
enum policy_arm_name adapt_learned_find_site(struct adapt_class *p, uint32_t nr, uint64_t key);

/** adapt_learned_site() - learn_site() has added the site @nr: what was found holds. With @p->lock. */
void adapt_learned_site(struct adapt_class *p, uint32_t nr);

/** adapt_learned_fill() - write into the header of the data file what became of the file. */
void adapt_learned_fill(struct elide_header *h);

/** adapt_learned_forget() - in a forked child: it has decided nothing yet. */
void adapt_learned_forget(void);

/** adapt_learned_gather() - the process ends: collect what it has learnt. In a global-lock path. */
void adapt_learned_gather(void);

/** adapt_learned_gathered() - has adapt_learned_gather() collected anything? */
bool adapt_learned_gathered(void);

/**
 * adapt_learned_write() - merge what was collected with the file as it is now, and replace it.
 *
 * Waits for another process that does so, ELIDE_SMALL_WAIT_MS at most. An error is one line on
 * standard error, and the old file stays.
 */
void adapt_learned_write(void);

#pragma GCC visibility pop

#endif
