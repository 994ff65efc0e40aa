/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variants.h - the indexes and schemes of variants.def as numbers and names.
 */
#ifndef DEMO_SYNC_VARIANTS_H
#define DEMO_SYNC_VARIANTS_H

#include "../base/option.h"
#include "../index/index.h"

enum index_id {
#define INDEX(id, name, help) INDEX_##id,
#include "variants.def"
	NR_INDEXES
};

enum scheme_id {
#define SCHEME(id, name, writers, help) SCHEME_##id,
#include "variants.def"
	NR_SCHEMES
};

extern const struct choice index_choices[NR_INDEXES + 1];
extern const struct choice scheme_choices[NR_SCHEMES + 1];

const struct index_ops *variant_ops(enum index_id index, enum scheme_id scheme);
const struct option_row *index_options(enum index_id index);
bool scheme_allows(enum scheme_id scheme, unsigned int threads, bool writes);
void schemes_allowed(char *text, size_t len, enum index_id index, unsigned int threads,
		     bool writes);

#endif
