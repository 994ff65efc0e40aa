/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - what a record of a data file may hold, and which records are equal.
 *
 * Must never be given a record that lies in the file itself: texts are ended in it.
 */
#ifndef ELIDE_RECORDS_H
#define ELIDE_RECORDS_H

#include "load.h"

/**
 * record_size() - bytes of a record, 0 of a type this elide does not know.
 * @type: enum elide_chunk_type
 */
size_t record_size(int type);

/** record_name() - what the records of a type are, in the plural. */
const char *record_name(int type);

/**
 * record_check() - are the numbers in a record those of enumerations, and its texts ended?
 * @what: @size bytes, set to what is wrong
 *
 * Indices of other records are not checked here: records_link() checks them.
 *
 * Return: 0 or -EINVAL.
 */
int record_check(int type, void *record, char *what, size_t size);

/**
 * records_link() - leave out records whose lock class is not in the file, and set numbers of stacks
 * that are not in the file to 0. Both happen where the file has an end missing, or is being
 * written.
 */
void records_link(struct data_file *f);

/**
 * records_merge() - sum up the samples, details, blame and misuse that are equal, and leave out
 * those whose sums are 0.
 */
void records_merge(struct data_file *f);

/**
 * records_negate() - negate samples, details, blame and misuse, so that their sums with the records
 * they were copied from are 0 modulo 2^64.
 */
void records_negate(struct data_file *f);

#endif
