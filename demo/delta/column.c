// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * column.c - the column data of a delta storage: rows and their visibility.
 *
 * delta_add() in delta.c appends rows. A row may be deleted inside a critical
 * section, so no function of this file may allocate.
 */
#include "delta.h"

/**
 * delta_rows() - number of rows of the column data, including deleted rows
 * @delta: the storage
 */
uint64_t delta_rows(const struct delta *delta)
{
	return delta->keep_rows ? delta_column.nr_rows : 0;
}

/**
 * delta_delete_row() - delete a row by clearing its visibility flag
 * @delta: the storage
 * @row: number of the row
 *
 * Return: true if the row exists and was visible.
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
