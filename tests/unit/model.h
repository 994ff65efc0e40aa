/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - what an index must hold: a sorted array, which is its own proof.
 */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Most keys a model holds: several levels of 32 children. */
#define MODEL_MAX 20000

struct entry {
	uint64_t key, value;
};

/* struct model - entries in ascending order */
struct model {
	struct entry entries[MODEL_MAX];
	size_t nr;
};

/* The first entry whose key is not below @key. */
static inline size_t model_at(const struct model *m, uint64_t key)
{
	size_t low = 0, high = m->nr;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (m->entries[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The entry of @key, or NULL. */
static inline struct entry *model_find(struct model *m, uint64_t key)
{
	size_t at = model_at(m, key);

	return at < m->nr && m->entries[at].key == key ? &m->entries[at] : NULL;
}

/* Returns whether @key was absent. */
static inline bool model_insert(struct model *m, uint64_t key, uint64_t value)
{
	size_t at = model_at(m, key);

	if (model_find(m, key))
		return false;
	memmove(m->entries + at + 1, m->entries + at, (m->nr - at) * sizeof(struct entry));
	m->entries[at] = (struct entry){ key, value };
	m->nr++;
	return true;
}

/* Of an entry that is there. */
static inline void model_remove(struct model *m, const struct entry *entry)
{
	size_t at = (size_t)(entry - m->entries);

	m->nr--;
	memmove(m->entries + at, m->entries + at + 1, (m->nr - at) * sizeof(struct entry));
}

/* Entries that a scan sees, and the sum of their values. */
static inline size_t model_scan(const struct model *m, uint64_t from, size_t limit, uint64_t *sum)
{
	size_t at = model_at(m, from), nr = m->nr - at < limit ? m->nr - at : limit;

	*sum = 0;
	for (size_t i = at; i < at + nr; i++)
		*sum += m->entries[i].value;
	return nr;
}

#endif
