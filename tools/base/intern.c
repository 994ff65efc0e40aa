// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * intern.c - texts and records, each kept once and numbered.
 *
 * Must never forget a key: data files refer to it by its number.
 */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a of 64 bits, Fowler, Noll and Vo. */
static uint64_t hash(const unsigned char *key, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ key[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

static uint32_t *place_of(const struct intern *t, const void *key, size_t len)
{
	size_t at = hash(key, len) & (t->nr_index - 1);

	for (;; at = (at + 1) & (t->nr_index - 1)) {
		const struct intern_key *k;

		if (!t->index[at])
			return &t->index[at];
		k = &t->keys[t->index[at] - 1];
		if (k->len == len && !memcmp(t->bytes + k->at, key, len))
			return &t->index[at];
	}
}

/* At least half of the places stay free. */
static int grow_index(struct intern *t)
{
	size_t nr = t->nr_index ? 2 * t->nr_index : 1024;
	uint32_t *index = calloc(nr, sizeof(*index));

	if (!index)
		return -1;
	free(t->index);
	t->index = index;
	t->nr_index = nr;
	for (size_t i = 0; i < t->nr; i++)
		*place_of(t, t->bytes + t->keys[i].at, t->keys[i].len) = i + 1;
	return 0;
}

static int grow(struct intern *t, size_t len)
{
	struct intern_key *keys;
	char *bytes;

	if (t->nr == t->room) {
		keys = reallocarray(t->keys, 2 * t->room + 256, sizeof(*keys));
		if (!keys)
			return -1;
		t->keys = keys;
		t->room = 2 * t->room + 256;
	}
	if (t->room_bytes - t->nr_bytes < len + 1) {
		bytes = realloc(t->bytes, 2 * t->room_bytes + len + 4096);
		if (!bytes)
			return -1;
		t->bytes = bytes;
		t->room_bytes = 2 * t->room_bytes + len + 4096;
	}
	return 0;
}

int64_t intern(struct intern *t, const void *key, size_t len)
{
	uint32_t *place;

	if (2 * t->nr >= t->nr_index && grow_index(t))
		return -1;
	if (grow(t, len))
		return -1;
	place = place_of(t, key, len);
	if (*place)
		return *place - 1;
	memcpy(t->bytes + t->nr_bytes, key, len);
	t->keys[t->nr] = (struct intern_key){t->nr_bytes, len};
	t->nr_bytes += len;
	*place = ++t->nr;
	return (int64_t)t->nr - 1;
}

bool intern_has(const struct intern *t, const void *key, size_t len)
{
	return t->nr_index && *place_of(t, key, len);
}

void intern_free(struct intern *t)
{
	free(t->bytes);
	free(t->keys);
	free(t->index);
	*t = (struct intern){0};
}
