/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * save.h - writes a data file from memory.
 *
 * Must never write what load() would refuse.
 */
#ifndef ELIDE_SAVE_H
#define ELIDE_SAVE_H

#include <stdio.h>

#include "../load.h"

/**
 * save() - write a data file.
 * @f: a file with a table; its header's size is set
 *
 * Return: 0; -EFBIG if it would exceed the largest data file. Errors of writing are in ferror(3).
 */
int save(struct data_file *f, FILE *out);

#endif
