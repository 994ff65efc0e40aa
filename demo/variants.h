/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variants.h - the names of variants.def as numbers, and what they stand for.
 */
#ifndef DEMO_VARIANTS_H
#define DEMO_VARIANTS_H

#include "index.h"

enum index_id {
#define INDEX(name, help) INDEX_##name,
#include "variants.def"
	NR_INDEXES
};

enum scheme_id {
#define SCHEME(name, writers, help) SCHEME_##name,
#include "variants.def"
	NR_SCHEMES
};

enum keys_id {
#define KEYS(name, help) KEYS_##name,
#include "variants.def"
	NR_KEYS
};

/* One name that an option may have as its value. */
struct choice {
	const char *name;
	const char *help;
};

extern const struct choice index_choices[NR_INDEXES + 1];
extern const struct choice scheme_choices[NR_SCHEMES + 1];
extern const struct choice keys_choices[NR_KEYS + 1];

const struct index_ops *variant_ops(enum index_id index, enum scheme_id scheme);
bool scheme_allows(enum scheme_id scheme, unsigned int threads, bool writes);
void variants_list(void);

#endif
