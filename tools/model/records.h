/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - what a record of a data file may hold, and which are alike.
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

/**
 * record_check() - is every number of a record that stands for something one we know?
 * @what: filled with what is wrong, @size bytes
 *
 * Indices of other records are not checked here: records_link() checks them.
 *
 * Return: 0 or -EINVAL.
 */
int record_check(int type, void *record, char *what, size_t size);

/**
 * records_link() - leave out what names a lock class that is not in the file, and forget stacks
 * that are not: they came after what was lost, or are being written.
 */
void records_link(struct data_file *f);

/**
 * records_merge() - sum the samples, details, blame and misuse that are alike, leaving out what
 * comes to nothing.
 */
void records_merge(struct data_file *f);

/**
 * records_negate() - make samples, details, blame and misuse such that they come to nothing
 * together with what they were copied from: sums are modulo 2^64.
 */
void records_negate(struct data_file *f);

#endif
