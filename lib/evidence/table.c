/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.c - see table.h. */
#include <string.h>

#include "table.h"

struct evidence *elide_evidence;

struct evidence_slot *evidence_find(struct evidence_table *t, uint64_t key)
{
	uint32_t i = (key >> 32) % EVIDENCE_SLOTS;

	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) % EVIDENCE_SLOTS;
	return &t->slots[i];
}

void *evidence_add(struct evidence_table *t, struct evidence_slot *slot, uint64_t key,
		   enum elide_chunk_type type, const void *record, size_t size,
		   enum elide_dropped dropped)
{
	void *copy = NULL;

	if (t->nr < EVIDENCE_BOUND)
		copy = elide_data_record(&t->chunk, type, size);
	if (!copy) {
		__atomic_add_fetch(&elide_data->dropped[dropped], 1, __ATOMIC_RELAXED);
		return NULL;
	}
	memcpy(copy, record, size);
	elide_data_publish(t->chunk);
	slot->index = t->nr++;
	slot->record = copy;
	slot->key = key;
	return copy;
}
