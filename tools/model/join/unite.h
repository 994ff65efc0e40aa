/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unite.h - sums up records of the same name from many processes.
 *
 * Must never add records of different names.
 */
#ifndef ELIDE_UNITE_H
#define ELIDE_UNITE_H

#include "../load.h"

/**
 * unite_end_threads() - make all threads of a file ended ones, whose counts do not need the rows of a
 * block.
 *
 * Threads without a name remain so. The rows of the file must still be those of load().
 *
 * Return: 0 or -errno.
 */
int unite_end_threads(struct data_file *f);

/**
 * unite_records() - sum up the ended threads of one name and the hardware counters of one name, and
 * leave each cycle of locks in the file once.
 *
 * Thread ids of cycles become 0, as they mean nothing in a file of many processes.
 */
void unite_records(struct data_file *f);

#endif
