/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * open-waits.h - waits that had not ended when the process did, or when its file was read.
 *
 * A process counts a wait when it is over. While it lasts it stands in the record of its thread, struct
 * elide_thread_record. Must be asked after the end of the file's time is known: live_set_end().
 */
#ifndef OPEN_WAITS_H
#define OPEN_WAITS_H

#include "../load.h"

/**
 * open_waits_add() - add the wait of the thread that has a block to its row, if it waits there.
 * @f: the file
 * @block: of the row
 * @row: a copy of the row; it has one contended acquisition more, and the time up to the end of @f
 */
void open_waits_add(const struct data_file *f, uint32_t block, struct elide_row *row);

/**
 * open_waits_blame() - add a blame for each such wait for a lock whose holder is known.
 * @f: the file; @f->blames grows
 *
 * The holder has locked it by the call of that class by which it has held such locks for longest: mostly there
 * is one.
 *
 * Return: 0 or -errno.
 */
int open_waits_blame(struct data_file *f);

#endif
