/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open-waits.h - waits that had not ended when the process ended, or when its file was read.
 *
 * A process adds a wait to a row after it has ended. Before, the record of the thread, struct
 * elide_thread_record, says since when it waits, and in which row. The length of such a wait ends with the
 * time in the header, so live_set_end() comes before.
 */
#ifndef OPEN_WAITS_H
#define OPEN_WAITS_H

#include "../load.h"

/**
 * open_waits_find() - note which threads of a file wait, in @f->waiting.
 * @f: the file, its threads read
 *
 * Return: 0 or -ENOMEM.
 */
int open_waits_find(struct data_file *f);

/**
 * open_waits_add() - add to a row the waits in it that have not ended.
 * @f: the file
 * @block: of the row
 * @row: a copy of the row; each such wait adds one contended acquisition and its time up to the end of @f
 */
void open_waits_add(const struct data_file *f, uint32_t block, struct elide_row *row);

/**
 * open_waits_blame() - add a blame record for each such wait for a lock whose holder is known.
 * @f: the file; @f->blames grows
 *
 * The blamed call is the one by which the holding thread has held locks of the class for the longest time.
 *
 * Return: 0 or -errno.
 */
int open_waits_blame(struct data_file *f);

#endif
