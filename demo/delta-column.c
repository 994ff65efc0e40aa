// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delta-column.c - the column data of a delta storage: rows and their visibility.
 *
 * Rows are appended by delta_add() in delta.c. Nothing here may allocate: a row
 * may be deleted inside a critical section.
 */
#include "delta.h"

/**
 * delta_rows() - how many rows the column data has, deleted ones included
 * @delta: the storage
 */
uint64_t delta_rows(const struct delta *delta)
{
	return delta->keep_rows ? delta_column.nr_rows : 0;
}

/**
 * delta_delete_row() - delete a row: clear its visibility flag
 * @delta: the storage
 * @row: its number
 *
 * Return: true if there is such a row and it was visible.
 */
bool delta_delete_row(struct delta *delta, uint64_t row)
{
	struct delta_row *at;

	if (row >= delta_rows(delta))
		return false;
	at = area_at(&delta->rows, row);
	if (!at->visible)
		return false;
	at->visible = false;
	return true;
}
