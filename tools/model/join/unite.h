/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unite.h - records of many processes that mean the same, as one.
 *
 * Must never add what is not of one name.
 */
#ifndef ELIDE_UNITE_H
#define ELIDE_UNITE_H

#include "../load.h"

/**
 * unite_end_threads() - make all threads of a file ended ones, whose numbers need no rows of their
 * blocks.
 *
 * Those without a name have none afterwards either. The rows of the file must still be those of
 * load().
 *
 * Return: 0 or -errno.
 */
int unite_end_threads(struct data_file *f);

/**
 * unite_records() - sum up the ended threads of one name and the hardware counters of one name, and
 * leave each cycle of locks in the file once.
 *
 * Thread ids of cycles become 0: they mean nothing in the file of many processes.
 */
void unite_records(struct data_file *f);

#endif
