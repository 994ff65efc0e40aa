// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * variants.c - tables made of variants.def.
 */
#include "variants.h"

#include <stdio.h>

#define VARIANT(index, scheme) extern const struct index_ops index##_##scheme##_ops;
#include "variants.def"

/* Each list ends with an empty name. */
const struct choice index_choices[NR_INDEXES + 1] = {
#define INDEX(id, name, help) { name, help },
#include "variants.def"
};

const struct choice scheme_choices[NR_SCHEMES + 1] = {
#define SCHEME(id, name, writers, help) { name, help },
#include "variants.def"
};

const struct choice keys_choices[NR_KEYS + 1] = {
#define KEYS(id, name, help) { name, help },
#include "variants.def"
};

const struct choice search_choices[NR_SEARCHES + 1] = {
#define SEARCH(id, name, help) { name, help },
#include "variants.def"
};

const struct choice sharing_choices[NR_SHARINGS + 1] = {
#define SHARING(id, name, help) { name, help },
#include "variants.def"
};

const struct choice values_choices[NR_VALUES + 1] = {
#define VALUES(id, name, help) { name, help },
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
 * scheme_allows() - is a scheme correct for a mix of operations?
 * @scheme: the scheme
 * @threads: threads at once
 * @writes: whether they insert or delete
 */
bool scheme_allows(enum scheme_id scheme, unsigned int threads, bool writes)
{
	return scheme_writers[scheme] == ANY || threads == 1 || !writes;
}

/**
 * schemes_allowed() - the names of the schemes that are correct for a mix of operations
 * @text: receives them, separated by ", "
 * @len: bytes of @text
 * @index: the index
 * @threads: threads at once
 * @writes: whether they insert or delete
 */
void schemes_allowed(char *text, size_t len, enum index_id index, unsigned int threads, bool writes)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < NR_SCHEMES && at < len; i++)
		if (variant_ops(index, i) && scheme_allows(i, threads, writes))
			at += (size_t)snprintf(text + at, len - at, "%s%s", at ? ", " : "",
					       scheme_choices[i].name);
}

static void list(const char *what, const struct choice *choice)
{
	for (; choice->name; choice++)
		printf("%-10s %-10s %s\n", what, choice->name, choice->help);
}

/** variants_list() - print every index, scheme, key distribution and choice of an index */
void variants_list(void)
{
	list("index", index_choices);
	list("scheme", scheme_choices);
	list("keys", keys_choices);
	list("search", search_choices);
	list("dictionary", sharing_choices);
	list("allocator", sharing_choices);
	list("values", values_choices);
}
