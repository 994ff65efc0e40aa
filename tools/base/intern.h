/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - texts and records, each kept once and numbered.
 *
 * Must never forget a key: data files refer to it by its number.
 */
#ifndef ELIDE_INTERN_H
#define ELIDE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key and its place in the bytes. */
struct intern_key {
	size_t at;
	size_t len;
};

/**
 * struct intern - keys, numbered from 0 in the order in which they came; all zero is empty.
 * @bytes: of all keys, of @nr_bytes; @room_bytes allocated
 * @keys:  of @nr; @room allocated
 * @index: @nr_index places (a power of two), each with the number of a key + 1, or 0
 */
struct intern {
	char *bytes;
	size_t nr_bytes;
	size_t room_bytes;
	struct intern_key *keys;
	size_t nr;
	size_t room;
	uint32_t *index;
	size_t nr_index;
};

/** intern() - the number of a key, a new one if it has none; -1 without memory. */
int64_t intern(struct intern *t, const void *key, size_t len);

/** intern_has() - is the key there? */
bool intern_has(const struct intern *t, const void *key, size_t len);

/** intern_free() - release all keys. */
void intern_free(struct intern *t);

#endif
