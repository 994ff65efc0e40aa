/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * records.h - the records of sampled events in the data file: stacks, samples and blame.
 *
 * Equal ones are one record. Used in global-lock paths, on their stack: the unwinder needs 3 KB.
 */
#ifndef ELIDE_RECORDS_H
#define ELIDE_RECORDS_H

#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

struct evidence_holder;

/** evidence_stack() - save the stack of the call that returns to @site. Return: its number in the file. */
uint32_t evidence_stack(uint64_t site);

/**
 * evidence_sample_record() - the record of a type of events of a call with that stack.
 * @row: counters of the call
 *
 * Return: the record; NULL, counted as dropped, if there is no room.
 */
struct elide_sample *evidence_sample_record(const struct elide_row *row, enum elide_sample_type type,
					    uint32_t stack);

/**
 * evidence_blame_record() - the record of a type of events of a call for which @holder is to blame.
 * @row: counters of the call
 *
 * Return: the record; NULL, counted as dropped, if there is no room.
 */
struct elide_blame *evidence_blame_record(const struct elide_row *row, enum elide_blame_type type,
					  const struct evidence_holder *holder);

/**
 * evidence_add_to_sample() - add an event to a record, if there is one.
 * @weight: events for which it counts
 * @cycles: cycles of the event
 *
 * Atomic: a thread that has waited adds to its records outside of global-lock paths.
 */
void evidence_add_to_sample(struct elide_sample *s, uint64_t weight, uint64_t cycles);

/** evidence_add_to_blame() - evidence_add_to_sample() for a record of blame. */
void evidence_add_to_blame(struct elide_blame *b, uint64_t weight, uint64_t cycles);

#pragma GCC visibility pop

#endif
