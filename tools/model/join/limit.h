/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit.h - the bounds of what was sampled in many files.
 *
 * Must never leave out a row, or a count that is exact.
 */
#ifndef ELIDE_LIMIT_H
#define ELIDE_LIMIT_H

#include "../load.h"

/* Records of each type that are kept, at most: as many as a process has decisions. */
#define LIMIT_RECORDS 65536

/* Moments of each type: of 8 processes. */
#define LIMIT_MOMENTS (8 * ELIDE_MAX_MOMENTS)

/**
 * limit_records() - leave out samples, details, blames, misuses, decisions and cycles beyond the
 * limit, those that count least first, and stacks that nothing names any more; merge moments.
 *
 * header.dropped counts what is left out, but for misuses, blames, of which the rest stands for
 * all, and moments, of which those that are kept stand for more.
 *
 * Return: 0 or -ENOMEM.
 */
int limit_records(struct data_file *f);

#endif
