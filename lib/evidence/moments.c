/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* moments.c - see moments.h. */
#include "../base/testpoint.h"
#include "../state/gate.h"
#include "moments.h"
#include "table.h"

/*
 * The first period, in cycles: 44 us at 3 GHz. A record takes about a microsecond, of a thread that
 * has waited for as long as that. Chosen here.
 */
#define FIRST_PERIOD (1 << 17)

uint64_t elide_moment_periods[ELIDE_MOMENT_END] = {~0ull, ~0ull, ~0ull, ~0ull};

void elide_moments_start(void)
{
	for (int type = ELIDE_MOMENT_WAIT; type < ELIDE_MOMENT_END; type++)
		WRITE_ONCE(elide_moment_periods[type], FIRST_PERIOD);
}

void elide_moments_begin(struct elide_thread *t)
{
	for (int type = ELIDE_MOMENT_WAIT; type < ELIDE_MOMENT_END; type++)
		t->moment_sums[type] = (t->sample_seed >> 8 * type) % FIRST_PERIOD;
}

static struct elide_moment *moment_at(struct evidence_moments *m, uint32_t i)
{
	return (struct elide_moment *)(m->chunks[i / MOMENTS_IN_CHUNK] + 1) + i % MOMENTS_IN_CHUNK;
}

/*
 * Double the period. Records that stand for less are merged: one stays whenever their weights have
 * come to the new period, so that the expected sums stay right.
 */
static void thin(struct evidence_moments *m, enum elide_moment_type type)
{
	uint64_t period = 2 * elide_moment_periods[type], sum = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->nr; i++) {
		struct elide_moment moment = *moment_at(m, i);

		if (moment.weight < period) {
			sum += moment.weight;
			if (sum < period)
				continue;
			sum -= period;
			moment.weight = period;
		}
		*moment_at(m, kept++) = moment;
	}
	for (uint32_t i = kept; i < m->nr; i++)
		moment_at(m, i)->type = ELIDE_MOMENT_NONE;
	m->nr = kept;
	WRITE_ONCE(elide_moment_periods[type], period);
}

/* Where the next record goes; NULL if the file is full. */
static struct elide_moment *next_moment(struct evidence_moments *m, enum elide_moment_type type)
{
	uint32_t nr_chunk;

	while (m->nr == ELIDE_MAX_MOMENTS)
		thin(m, type);
	nr_chunk = m->nr / MOMENTS_IN_CHUNK;
	if (!m->chunks[nr_chunk])
		m->chunks[nr_chunk] = elide_data_chunk(type == ELIDE_MOMENT_ABORT ?
							       ELIDE_CHUNK_ABORTS : ELIDE_CHUNK_MOMENTS,
						       sizeof(struct elide_moment));
	return m->chunks[nr_chunk] ? moment_at(m, m->nr) : NULL;
}

/**
 * struct moment - a record to be written.
 * @t: the calling thread
 * @row: counters of the call
 * @type: enum elide_moment_type
 * @end, @cycles, @block: of the record
 */
struct moment {
	struct elide_thread *t;
	const struct elide_row *row;
	enum elide_moment_type type;
	uint32_t block;
	unsigned long long end;
	uint64_t cycles;
};

/* Cycles of whole periods since the last record. */
static uint64_t due(const struct elide_thread *t, enum elide_moment_type type)
{
	return t->moment_sums[type] - t->moment_sums[type] % READ_ONCE(elide_moment_periods[type]);
}

static void moment_global(void *arg)
{
	const struct moment *from = arg;
	struct elide_thread *t = from->t;
	struct evidence_moments *m = &elide_evidence->moments[from->type];
	uint64_t weight = due(t, from->type);
	struct elide_moment *to;
	struct elide_chunk *chunk;

	t->moment_sums[from->type] -= weight;
	test_point(moment_entered);
	/* If a handler has forked meanwhile, the row is the parent's. */
	to = t->ready ? next_moment(m, from->type) : NULL;
	if (to) {
		*to = (struct elide_moment){
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
		test_point(moment_publish);
		chunk = m->chunks[m->nr / MOMENTS_IN_CHUNK];
		if (m->nr % MOMENTS_IN_CHUNK == chunk->nr_records)
			elide_data_publish(chunk);
		m->nr++;
	}
	test_point(moment_done);
}

/*
 * @block: of the record. The thread mostly holds the lock, so it waits for no other global-lock path: then
 * its sum stays, and the next wait or hold gets the record.
 */
static __cold void record(struct elide_thread *t, const struct elide_row *row,
			  enum elide_moment_type type, unsigned long long end, uint64_t cycles,
			  uint32_t block)
{
	struct moment moment = {t, row, type, block, end, cycles};

	if (!elide_evidence || !row->kind || elide_busy)
		t->moment_sums[type] -= due(t, type);
	else
		elide_global_try_run(moment_global, &moment);
}

__cold void elide_moment_record(struct elide_thread *t, const struct elide_row *row,
				enum elide_moment_type type, unsigned long long end,
				uint64_t cycles)
{
	record(t, row, type, end, cycles, t->record ? t->record->block : 0);
}

__cold void elide_moment_aborted(struct elide_thread *t, const struct elide_row *row,
				 enum elide_cause cause, uint64_t cycles)
{
	record(t, row, ELIDE_MOMENT_ABORT, cycles_now(), cycles, cause);
}
