/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - checks the records of a data file, and sums up equal ones.
 *
 * Must never be given a record that is mapped from the file: it terminates the texts.
 */
#ifndef ELIDE_RECORDS_H
#define ELIDE_RECORDS_H

#include "load.h"

/**
 * record_size() - bytes of a record, 0 for an unknown type.
 * @type: enum elide_chunk_type
 */
size_t record_size(int type);

/** record_name() - the name of the records of a type, in the plural. */
const char *record_name(int type);

/**
 * record_check() - are the enumerations in a record valid? Terminates its texts.
 * @what: @size bytes, set to the fault
 *
 * Indices of other records are not checked here: records_link() checks them.
 *
 * Return: 0 or -EINVAL.
 */
int record_check(int type, void *record, char *what, size_t size);

/**
 * records_link() - leave out records whose lock class is not in the file, and set numbers of stacks
 * that are not in the file to 0. Both happen if the end of the file is missing, or if it is being
 * written.
 */
void records_link(struct data_file *f);

/**
 * records_renumber() - give the classes that records refer to their numbers in the array, @numbers, and
 * settle the orders of locks. records_link() was called before.
 */
void records_renumber(struct data_file *f);

/**
 * records_merge() - sum up equal samples, details, blame and misuse, and leave out those whose sums
 * are 0.
 */
void records_merge(struct data_file *f);

/**
 * records_negate() - negate samples, details, blame and misuse, so that their sums with the records
 * they were copied from are 0 modulo 2^64.
 */
void records_negate(struct data_file *f);

#endif
