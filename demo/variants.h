/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variants.h - the names of variants.def as numbers, and what they stand for.
 */
#ifndef DEMO_VARIANTS_H
#define DEMO_VARIANTS_H

#include "index.h"

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

enum keys_id {
#define KEYS(id, name, help) KEYS_##id,
#include "variants.def"
	NR_KEYS
};

enum search_id {
#define SEARCH(id, name, help) SEARCH_##id,
#include "variants.def"
	NR_SEARCHES
};

enum sharing_id {
#define SHARING(id, name, help) SHARING_##id,
#include "variants.def"
	NR_SHARINGS
};

enum values_id {
#define VALUES(id, name, help) VALUES_##id,
#include "variants.def"
	NR_VALUES
};

/* One name that an option may have as its value. */
struct choice {
	const char *name;
	const char *help;
};

extern const struct choice index_choices[NR_INDEXES + 1];
extern const struct choice scheme_choices[NR_SCHEMES + 1];
extern const struct choice keys_choices[NR_KEYS + 1];
extern const struct choice search_choices[NR_SEARCHES + 1];
extern const struct choice sharing_choices[NR_SHARINGS + 1];
extern const struct choice values_choices[NR_VALUES + 1];

const struct index_ops *variant_ops(enum index_id index, enum scheme_id scheme);
bool scheme_allows(enum scheme_id scheme, unsigned int threads, bool writes);
void schemes_allowed(char *text, size_t len, enum index_id index, unsigned int threads, bool writes);
void variants_list(void);

#endif
