/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hope.c - acquisitions that abort without hope: a site, or a single lock, where nothing can be
 * elided. See pace.h; learn.h decides when it is tried again.
 *
 * Outside transactions only. Nothing here waits for another thread.
 */
#include "engine.h"
#include "pace.h"

/* Acquisitions in a row without hope after which a site has none. */
#define HOPELESS_ROW 3

/* Sections that others have elided at a site where the fault is one lock's. */
#define OTHERS_ELIDED 4

/* Attempts that were in vain, as far as is counted: two for each, one less for each one made. */
#define VAIN_MAX 6

__cold bool elide_pace_chance(struct elide_mark *mark, const struct policy_try *try)
{
	if (try->other) {
		if (try->again) {
			mark->vain = mark->vain + 2 < VAIN_MAX ? mark->vain + 2 : VAIN_MAX;
			mark->doubts = (1u << (mark->vain - 2)) - 1;
		}
		return try->again;
	}
	if (mark->doubts) {
		mark->doubts--;
		return false;
	}
	if (mark->vain)
		mark->vain--;
	return true;
}

void elide_pace_failed(struct elide_mark *mark, struct policy_lock *lock, const void *word,
		       const struct policy_try *try)
{
	struct elide_pacer *p = &elide_pacers[mark->pacer];
	struct learn_decision d = {.target = mark->site, .arm = POLICY_ARM_real, .won = true};
	const struct elide_row *row = READ_ONCE(mark->row);
	uint64_t others, now;

	if (unlikely(!row))
		return; /* a handler has forked, and this is the child */
	others = elide_pace_others(row);
	if (!mark->hot && mark->pacer)
		elide_hot_blame(p, lock, word, elide_pace_now());
	/* Capacity is for the measurement to judge: it depends on what a section does. */
	if (!try->hopeless || try->capacity) {
		mark->streak = 0;
		return;
	}
	mark->streak = mark->commits == others && mark->streak < 127 ? mark->streak + 1 : 1;
	mark->commits = mark->probing ? row->commits : others;
	if (mark->streak == 1 || mark->failed != word)
		mark->failed = mark->streak == 1 ? word : NULL;
	if (mark->streak >= HOPELESS_ROW && mark->failed && row->commits >= OTHERS_ELIDED &&
	    !mark->hot && elide_hot_split(p, lock, word, elide_pace_now())) {
		mark->streak = 0;
		return;
	}
	if (!(mark->probing || mark->streak >= HOPELESS_ROW) || !elide_pacer_try_lock(p))
		return;
	now = elide_pace_now();
	if (mark->probing)
		learn_probed(&p->learn, mark->site, LEARN_FAILED, now);
	mark->probing = 0;
	if (mark->streak >= HOPELESS_ROW) {
		d.before = p->settled[mark->site];
		d.made = learn_hopeless(&p->learn, mark->site, now);
		elide_pacer_publish(p);
	}
	elide_pacer_unlock(p);
	if (d.made)
		elide_pacer_tell(p, &d);
}

void elide_pace_waits(struct elide_thread *t, const void *lock)
{
	const struct elide_cache *entry;
	struct elide_mark *mark = NULL;

	/* With more locks than are found again without a search it is not worth one. */
	if (elide_process.config.name != POLICY_ADAPTIVE || !elide_enabled ||
	    t->nr_filled > ELIDE_NR_FILLED)
		return;
	/* Which of several calls has taken it is not written down: then none is blamed. */
	for (uint32_t i = 0; (entry = elide_cache_used(t, i)); i++) {
		if (entry->lock != lock || !elide_mark(t, entry)->elided)
			continue;
		if (mark && mark != elide_mark(t, entry))
			return;
		mark = elide_mark(t, entry);
	}
	if (mark && mark->waits < UINT16_MAX)
		mark->waits++;
}

bool elide_pace_hopes(struct elide_mark *mark, const struct elide_row *row)
{
	uint32_t real = row->not_attempted + row->fallback;
	bool hopes = 2 * (uint32_t)mark->waits <= real - mark->seen;

	mark->seen = real;
	mark->waits = 0;
	return hopes;
}
