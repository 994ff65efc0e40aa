/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * detail.c - how aborts came about: struct elide_detail, of which equal ones are merged.
 *
 * Two aborts are equal if both threads' instructions and the data are the same, and if in both or in
 * neither the two threads touched a common byte. Data of an object are the same in one cache line; heap
 * blocks are the same if one stack allocated them, as the nodes of a tree. See key_of().
 */
#include "../base/heap.h"
#include "../state/modules.h"
#include "../state/settings.h"
#include "address.h"
#include "detail.h"
#include "stack.h"
#include "table.h"

/* Hints, at most: the rest of EVIDENCE_BOUND (6,144) details is for aborts. */
#define MAX_HINTS 1024

/* Address of the first byte in the line that this thread has touched; if unknown, of the line. */
static uint64_t touched(const struct elide_detail *d, const struct rtmgrind_abort *r)
{
	if (r->own_addr)
		return r->own_addr;
	return d->own_bytes ? d->line + __builtin_ctzll(d->own_bytes) : d->line;
}

static void name_data(struct elide_detail *d, uint64_t address)
{
	struct elide_heap_block block;

	if (d->line == (d->lock & ~(uint64_t)(CACHE_LINE - 1))) {
		d->data_type = ELIDE_DATA_LOCK;
	} else if (elide_module_of((const void *)address)) {
		d->data_type = ELIDE_DATA_STATIC;
	} else if (elide_heap_find && elide_heap_find(address, &block)) {
		d->data_type = ELIDE_DATA_HEAP;
		d->data_base = block.base;
		d->data_size = block.size;
		d->alloc_stack = elide_stack_save(block.frames, block.nr, false);
	} else {
		d->data_type = elide_place(address);
	}
	d->line = elide_recorded_known((const void *)(uintptr_t)d->line);
	d->lock = elide_recorded_known((const void *)(uintptr_t)d->lock);
}

static void name_other(struct elide_detail *d, const struct rtmgrind_abort *r)
{
	const struct rtmgrind_section *s = &r->other_section;
	uint32_t index;

	d->other_pc = elide_recorded_known((const void *)(uintptr_t)r->other_pc);
	d->other_write = r->other_write;
	d->other_bytes = r->other_bytes;
	d->other_written = r->other_written;
	if (!r->other_pc || !s->open)
		return;
	d->other_site = s->site;
	d->other_kind = s->kind;
	index = elide_registry_class((const void *)(uintptr_t)s->lock);
	if (index != ELIDE_NONE)
		d->other_class = index + 1;
}

static void fill_emulated(struct elide_detail *d, const struct rtmgrind_abort *r)
{
	d->source = ELIDE_DETAIL_EMULATOR;
	d->own_pc = elide_recorded((const void *)(uintptr_t)r->own_pc);
	d->line = r->line;
	d->own_bytes = r->own_bytes;
	d->own_written = r->own_written;
	d->syscall_nr = r->cause == RTMGRIND_CAUSE_SYSCALL ? r->syscall_nr : -1;
	d->signal = r->signal;
	d->fault_addr = r->fault_addr;
	d->read_lines = d->max_read_lines = r->read_lines;
	d->write_lines = d->max_write_lines = r->write_lines;
	d->cache_set = r->cache_set;
	d->cache_ways = r->cache_ways;
	name_other(d, r);
	if (d->line)
		name_data(d, touched(d, r));
}

/* Have the two threads touched a common byte, in one of the two details or in both together? */
static bool overlap(const struct elide_detail *a, const struct elide_detail *b)
{
	return (a->own_bytes | b->own_bytes) & (a->other_bytes | b->other_bytes);
}

/* All bytes from the first of @bytes to the last. */
static uint64_t span(uint64_t bytes)
{
	return bytes ? ~0ull >> __builtin_clzll(bytes) & ~0ull << __builtin_ctzll(bytes) : 0;
}

/* Do the spans of the two threads overlap? The report shows spans. */
static bool spans_meet(const struct elide_detail *a, const struct elide_detail *b)
{
	return span(a->own_bytes | b->own_bytes) & span(a->other_bytes | b->other_bytes);
}

static uint64_t key_of(const struct elide_detail *d)
{
	uint64_t key = evidence_hash((uint64_t)d->class_index << 32 | (uint64_t)d->kind << 16 | d->cause,
				     d->site);

	key = evidence_hash(key, d->own_pc);
	key = evidence_hash(key, d->other_pc);
	key = evidence_hash(key, (uint64_t)d->source << 48 | (uint64_t)d->signal << 32 |
					 (uint32_t)d->syscall_nr);
	key = evidence_hash(key, (uint64_t)d->alloc_stack << 32 | overlap(d, d) << 16 | d->data_type);
	return evidence_hash(key, d->data_type == ELIDE_DATA_STATIC ? d->line : 0) | 1;
}

static void raise_to(uint32_t *max, uint32_t value)
{
	if (value > *max)
		*max = value;
}

static void merge(struct elide_detail *to, const struct elide_detail *d)
{
	to->samples += d->samples;
	to->count += d->count;
	to->cycles += d->cycles;
	/*
	 * Bytes of another line cannot be added. Nor can bytes that would make the record, which stands for
	 * aborts without a common byte, show an overlap: threads may touch different bytes each time.
	 */
	if (to->line == d->line && overlap(to, d) == overlap(to, to) &&
	    spans_meet(to, d) == spans_meet(to, to)) {
		to->own_bytes |= d->own_bytes;
		to->other_bytes |= d->other_bytes;
		to->own_written |= d->own_written;
		to->other_written |= d->other_written;
	}
	to->other_write |= d->other_write;
	if (!to->other_site) {
		to->other_site = d->other_site;
		to->other_kind = d->other_kind;
		to->other_class = d->other_class;
	}
	raise_to(&to->max_read_lines, d->max_read_lines);
	raise_to(&to->max_write_lines, d->max_write_lines);
}

/* Write what only a new record needs: its stacks, and the objects of its addresses. */
static void complete(struct elide_detail *d, const struct rtmgrind_abort *r)
{
	uint64_t frames[ELIDE_STACK_FRAMES];
	unsigned int nr;

	if (d->source == ELIDE_DETAIL_PMU) {
		elide_module_of_past(d->own_pc);
		d->abort_stack = elide_stack_save(&d->own_pc, 1, true);
	}
	if (!r)
		return;
	elide_module_of_past(d->own_pc);
	elide_module_of_past(d->other_pc);
	elide_module_of_past(d->other_site);
	/* The stack of an XABORT of the engine begins with the program's call. */
	nr = elide_stack_emulated(frames, r->own_frames, r->nr_own, true);
	d->abort_stack = elide_stack_save(frames, nr, nr == r->nr_own);
	nr = elide_stack_emulated(frames, r->other_frames, r->nr_other, false);
	d->other_stack = elide_stack_save(frames, nr, true);
}

void elide_detail_add(struct elide_thread *t, const struct elide_row *row,
		      const struct elide_aborted *a, uint64_t weight, uint32_t stack)
{
	struct evidence_table *table = &elide_evidence->details;
	struct elide_detail d = {
		.class_index = row->class_index,
		.kind = row->kind,
		.cause = a->cause,
		.site = row->site,
		.source = ELIDE_DETAIL_STATUS,
		.samples = 1,
		.count = weight,
		.cycles = a->cycles * weight,
		.own_stack = stack,
		.syscall_nr = -1,
		.lock = (uintptr_t)a->lock,
	};
	struct evidence_slot *slot;
	uint64_t key;

	if (a->detail) {
		fill_emulated(&d, a->detail);
	} else if (a->sampled) {
		d.source = ELIDE_DETAIL_PMU;
		d.own_pc = elide_recorded((const void *)(uintptr_t)a->sampled->pc);
	}
	key = key_of(&d);
	slot = evidence_find(table, key);
	if (slot->key) {
		merge(slot->record, &d);
		return;
	}
	complete(&d, a->detail);
	evidence_add(table, slot, key, ELIDE_CHUNK_DETAILS, &d, sizeof(d), ELIDE_DROPPED_DETAILS);
}

/* A sample has the address of the first byte, not the number of bytes that were loaded. */
void elide_detail_hint(const struct elide_row *row, const void *lock,
		       const struct elide_pmu_load *load)
{
	struct evidence_table *table = &elide_evidence->details;
	struct elide_detail d = {
		.class_index = row->class_index,
		.kind = row->kind,
		.cause = ELIDE_CAUSE_conflict,
		.site = row->site,
		.source = ELIDE_DETAIL_HINT,
		.samples = 1,
		.own_pc = elide_recorded((const void *)(uintptr_t)load->ip),
		.line = load->address & ~(uint64_t)(CACHE_LINE - 1),
		.own_bytes = 1ull << load->address % CACHE_LINE,
		.syscall_nr = -1,
		.lock = (uintptr_t)lock,
	};
	struct evidence_slot *slot;
	uint64_t key;

	name_data(&d, load->address);
	key = key_of(&d);
	slot = evidence_find(table, key);
	if (slot->key) {
		merge(slot->record, &d);
		return;
	}
	if (elide_evidence->nr_hints == MAX_HINTS) {
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_DETAILS], 1,
				   __ATOMIC_RELAXED);
		return;
	}
	elide_module_of_past(d.own_pc);
	if (evidence_add(table, slot, key, ELIDE_CHUNK_DETAILS, &d, sizeof(d),
			 ELIDE_DROPPED_DETAILS))
		elide_evidence->nr_hints++;
}
