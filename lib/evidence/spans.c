/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spans.c - see spans.h. */
#include "../base/testpoint.h"
#include "../emulator.h"
#include "../state/gate.h"
#include "evidence.h"
#include "spans.h"
#include "table.h"

/*
 * The first period, in cycles: 44 us at 3 GHz. A record takes about 1 us of a thread that has waited for
 * that time. Chosen here.
 */
#define FIRST_PERIOD (1 << 17)

uint64_t elide_span_periods[ELIDE_SPAN_END] = {~0ull, ~0ull, ~0ull, ~0ull};

void elide_spans_start(void)
{
	for (int type = ELIDE_SPAN_WAIT; type < ELIDE_SPAN_END; type++)
		WRITE_ONCE(elide_span_periods[type], FIRST_PERIOD);
}

void elide_spans_begin(struct elide_thread *t)
{
	for (int type = ELIDE_SPAN_WAIT; type < ELIDE_SPAN_END; type++)
		t->span_sums[type] = (t->sample_seed >> 8 * type) % FIRST_PERIOD;
}

static struct elide_span *span_at(struct evidence_spans *m, uint32_t i)
{
	return (struct elide_span *)(m->chunks[i / SPANS_IN_CHUNK] + 1) + i % SPANS_IN_CHUNK;
}

/*
 * Double the period. Merge the records that stand for less: one stays each time that their weights add up
 * to the new period, so that the expected sums stay right.
 */
static void thin(struct evidence_spans *m, enum elide_span_type type)
{
	uint64_t period = 2 * elide_span_periods[type], sum = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->nr; i++) {
		struct elide_span span = *span_at(m, i);

		if (span.weight < period) {
			sum += span.weight;
			if (sum < period)
				continue;
			sum -= period;
			span.weight = period;
		}
		*span_at(m, kept++) = span;
	}
	for (uint32_t i = kept; i < m->nr; i++)
		span_at(m, i)->type = ELIDE_SPAN_NONE;
	m->nr = kept;
	WRITE_ONCE(elide_span_periods[type], period);
}

/* Place of the next record; NULL if the file is full. */
static struct elide_span *next_span(struct evidence_spans *m, enum elide_span_type type)
{
	uint32_t nr_chunk;

	while (m->nr == ELIDE_MAX_SPANS)
		thin(m, type);
	nr_chunk = m->nr / SPANS_IN_CHUNK;
	if (!m->chunks[nr_chunk])
		m->chunks[nr_chunk] = elide_data_chunk(type == ELIDE_SPAN_ABORT ?
							       ELIDE_CHUNK_ABORTS : ELIDE_CHUNK_SPANS,
						       sizeof(struct elide_span));
	return m->chunks[nr_chunk] ? span_at(m, m->nr) : NULL;
}

/**
 * struct span - a record to be written.
 * @t: the calling thread
 * @row: counters of the call
 * @type: enum elide_span_type
 * @end, @cycles, @block: of the record
 */
struct span {
	struct elide_thread *t;
	const struct elide_row *row;
	enum elide_span_type type;
	uint32_t block;
	unsigned long long end;
	uint64_t cycles;
};

/* Cycles of whole periods since the last record. */
static uint64_t due(const struct elide_thread *t, enum elide_span_type type)
{
	return t->span_sums[type] - t->span_sums[type] % READ_ONCE(elide_span_periods[type]);
}

static void span_global(void *arg)
{
	const struct span *from = arg;
	struct elide_thread *t = from->t;
	struct evidence_spans *m = &elide_evidence->spans[from->type];
	uint64_t weight = due(t, from->type);
	struct elide_span *to;
	struct elide_chunk *chunk;

	t->span_sums[from->type] -= weight;
	test_point(span_entered);
	/* If a handler has forked meanwhile, the row is the parent's. */
	to = t->ready ? next_span(m, from->type) : NULL;
	if (to) {
		*to = (struct elide_span){
			.class_index = from->row->class_index,
			.kind = from->row->kind,
			.type = from->type,
			.site = from->row->site,
			.time = from->end,
			.cycles = from->cycles,
			.weight = weight,
			.block = from->block,
			.tid = t->tid,
		};
		test_point(span_publish);
		chunk = m->chunks[m->nr / SPANS_IN_CHUNK];
		if (m->nr % SPANS_IN_CHUNK == chunk->nr_records)
			elide_data_publish(chunk);
		m->nr++;
	}
	test_point(span_done);
}

/*
 * @block: of the record. The thread mostly holds the lock, so it does not wait for another global-lock path:
 * its sum stays, and its next wait or hold makes the record.
 */
static __cold void record(struct elide_thread *t, const struct elide_row *row,
			  enum elide_span_type type, unsigned long long end, uint64_t cycles,
			  uint32_t block)
{
	struct span span = {t, row, type, block, end, cycles};
	RTMGRIND_STILL;

	if (!elide_evidence || !row->kind || elide_busy)
		t->span_sums[type] -= due(t, type);
	else
		elide_global_try_run(span_global, &span);
}

__cold void elide_span_record(struct elide_thread *t, const struct elide_row *row,
				enum elide_span_type type, unsigned long long end,
				uint64_t cycles)
{
	record(t, row, type, end, cycles, t->record ? t->record->block : 0);
}

__cold void elide_span_aborted(struct elide_thread *t, const struct elide_row *row,
				 enum elide_cause cause, uint64_t cycles)
{
	record(t, row, ELIDE_SPAN_ABORT, cycles_now(), cycles, cause);
}
