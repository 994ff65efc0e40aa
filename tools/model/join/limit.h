/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit.h - limits the number of samples from many files.
 *
 * Must never leave out a row or an exact count.
 */
#ifndef ELIDE_LIMIT_H
#define ELIDE_LIMIT_H

#include "../load.h"

/* Records of each type, at most: as many as a process can have decisions. */
#define LIMIT_RECORDS 65536

/* Spans of each type, at most: those of 8 processes. */
#define LIMIT_SPANS (8 * ELIDE_MAX_SPANS)

/**
 * limit_records() - leave out samples, details, blames, misuses, decisions and cycles beyond the
 * limit, those that count least first, and stacks that no record uses any more; merge spans.
 *
 * header.dropped counts what is left out, except for misuses, for blames, as the rest represents
 * all, and for spans, as the kept ones weigh more.
 *
 * Return: 0 or -ENOMEM.
 */
int limit_records(struct data_file *f);

#endif
