/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - rows of data files, with all fields, summed up exactly in memory.
 *
 * Must never lose a count that does not fit into a row: see table_add().
 */
#ifndef ELIDE_TABLE_H
#define ELIDE_TABLE_H

#include "../load.h"

struct row_table;

/** table_new() - an empty table; NULL without memory. */
struct row_table *table_new(void);

/** table_free() - release a table, which may be NULL. */
void table_free(struct row_table *t);

/**
 * table_add() - add a row to that of its class, site and kind.
 *
 * Bins have 32 bits. If a sum would exceed INT32_MAX, a new row is begun: a file may have several rows of
 * a class, site and kind. Rows with negated numbers must be added to those that they negate in a table of
 * their own first: table_add_file().
 *
 * Return: 0 or -ENOMEM.
 */
int table_add(struct row_table *t, const struct elide_row *row);

/** table_add_file() - add all rows of a file. Return: 0 or -errno. */
int table_add_file(struct row_table *t, const struct data_file *f);

/** table_nr() - number of rows. */
size_t table_nr(const struct row_table *t);

/** table_row() - row @i, of which all but class, site and kind may be changed. */
struct elide_row *table_row(struct row_table *t, size_t i);

/** table_rows() - the rows of a file with a table, for struct data_file: @merged_rows. */
int table_rows(const struct data_file *f, load_row row, void *arg);

#endif
