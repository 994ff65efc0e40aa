// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * variants.c - tables made of variants.def.
 */
#include "variants.h"

#include <stdio.h>

#define VARIANT(index, scheme) extern const struct index_ops index##_##scheme##_ops;
#include "variants.def"

const struct choice index_choices[NR_INDEXES + 1] = {
#define INDEX(id, name, help) { name, help },
#include "variants.def"
};

const struct choice scheme_choices[NR_SCHEMES + 1] = {
#define SCHEME(id, name, writers, help) { name, help },
#include "variants.def"
};

static const struct index_ops *const variants[NR_INDEXES][NR_SCHEMES] = {
#define VARIANT(index, scheme) [INDEX_##index][SCHEME_##scheme] = &index##_##scheme##_ops,
#include "variants.def"
};

enum writers {
	ONE,
	ANY,
};

static const enum writers scheme_writers[NR_SCHEMES] = {
#define SCHEME(id, name, writers, help) writers,
#include "variants.def"
};

/**
 * variant_ops() - the operations of an index under a scheme
 * @index: the index
 * @scheme: the scheme
 *
 * Return: the table, NULL if the index does not run under the scheme.
 */
const struct index_ops *variant_ops(enum index_id index, enum scheme_id scheme)
{
	return variants[index][scheme];
}

/**
 * index_options() - the options of an index, which are the same under all schemes
 * @index: the index
 *
 * Return: the table of its rows, empty if the index has no options.
 */
const struct option_row *index_options(enum index_id index)
{
	static const struct option_row none = { .name = NULL };

	for (unsigned int i = 0; i < NR_SCHEMES; i++)
		if (variants[index][i] && variants[index][i]->tree->options)
			return variants[index][i]->tree->options;
	return &none;
}

/**
 * scheme_allows() - true if a scheme is correct for a mix of operations
 * @scheme: the scheme
 * @threads: number of threads at the same time
 * @writes: the threads insert or delete
 */
bool scheme_allows(enum scheme_id scheme, unsigned int threads, bool writes)
{
	return scheme_writers[scheme] == ANY || threads == 1 || !writes;
}

/**
 * schemes_allowed() - the names of the schemes that are correct for a mix of operations
 * @text: receives the names, separated by ", "
 * @len: size of @text in bytes
 * @index: the index
 * @threads: number of threads at the same time
 * @writes: the threads insert or delete
 */
void schemes_allowed(char *text, size_t len, enum index_id index, unsigned int threads,
		     bool writes)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < NR_SCHEMES && at < len; i++)
		if (variant_ops(index, i) && scheme_allows(i, threads, writes))
			at += (size_t)snprintf(text + at, len - at, "%s%s", at ? ", " : "",
					       scheme_choices[i].name);
}
