/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* records.c - see records.h. */
#include "../state/modules.h"
#include "holder.h"
#include "records.h"
#include "stack.h"
#include "table.h"

uint32_t evidence_stack(uint64_t site)
{
	uint64_t frames[ELIDE_STACK_FRAMES];
	unsigned int nr = elide_stack_take(frames, (const void *)site);

	return elide_stack_save(frames, nr, false);
}

struct elide_sample *evidence_sample_record(const struct elide_row *row, enum elide_sample_type type,
					    uint32_t stack)
{
	const struct elide_sample sample = {
		.class_index = row->class_index,
		.kind = row->kind,
		.type = type,
		.site = row->site,
		.stack = stack,
	};
	struct evidence_table *table = &elide_evidence->samples;
	uint64_t key = evidence_hash(row->site, (uint64_t)row->class_index << 32 |
							(uint64_t)row->kind << 16 | type);
	struct evidence_slot *slot;

	key = evidence_hash(key, stack) | 1;
	slot = evidence_find(table, key);
	if (slot->key)
		return slot->record;
	return evidence_add(table, slot, key, ELIDE_CHUNK_SAMPLES, &sample, sizeof(sample),
			    ELIDE_DROPPED_DETAILS);
}

void evidence_add_to_sample(struct elide_sample *s, uint64_t weight, uint64_t cycles)
{
	if (!s)
		return;
	__atomic_add_fetch(&s->samples, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->count, weight, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->cycles, cycles * weight, __ATOMIC_RELAXED);
}

void evidence_add_to_blame(struct elide_blame *b, uint64_t weight, uint64_t cycles)
{
	if (!b)
		return;
	__atomic_add_fetch(&b->samples, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&b->count, weight, __ATOMIC_RELAXED);
	__atomic_add_fetch(&b->cycles, cycles * weight, __ATOMIC_RELAXED);
}

struct elide_blame *evidence_blame_record(const struct elide_row *row, enum elide_blame_type type,
					  const struct evidence_holder *holder)
{
	bool peer = holder->peer;
	const struct elide_blame blame = {
		.class_index = row->class_index,
		.kind = row->kind,
		.type = type,
		.site = row->site,
		.held_class = holder->class_index,
		.held_kind = holder->kind,
		.peer = peer,
		.held_site = holder->site,
		.waker = holder->waker,
	};
	struct evidence_table *table = &elide_evidence->blame;
	uint64_t key = evidence_hash(row->site, (uint64_t)row->class_index << 32 |
							(uint64_t)row->kind << 16 | type);
	struct evidence_slot *slot;

	key = evidence_hash(key, (uint64_t)holder->class_index << 32 | peer << 8 | holder->kind);
	key = evidence_hash(key, holder->site ^ (uint64_t)holder->waker << 48) | 1;
	slot = evidence_find(table, key);
	if (slot->key)
		return slot->record;
	elide_module_of_past(holder->site);
	return evidence_add(table, slot, key, ELIDE_CHUNK_BLAME, &blame, sizeof(blame),
			    ELIDE_DROPPED_DETAILS);
}
