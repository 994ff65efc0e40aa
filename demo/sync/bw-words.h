/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bw-words.h - compare-and-swap of one word of the mapping table of a Bw-tree, and of
 * several words at once under one latch that RTM elides. The path of the latter:
 *
 *	a transaction commits                                   all words were compared
 *	it aborts as the latch was held, attempts are left      wait until it is free
 *	it aborts, a retry is advised, and attempts are left    PAUSE, the next attempt
 *	it aborts otherwise, or there is no RTM                 acquire the latch
 */
#ifndef DEMO_SYNC_BW_WORDS_H
#define DEMO_SYNC_BW_WORDS_H

#include "attempt.h"
#include "../bw/bw.h"
#include "../latch/ttas.h"

/* Compare and swap one word. */
static inline bool swap_word(struct bw_tree *tree, const struct bw_step *step)
{
	uint64_t old = step->old;

	/* Release: pairs with bw_get(). What the new word leads to is complete. */
	return __atomic_compare_exchange_n(bw_word(tree, step->id), &old, step->new, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static __inline_always bool words_same(const struct bw_tree *tree, const struct bw_step *steps,
				       unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (node_get(*bw_word(tree, steps[i].id)) != steps[i].old)
			return false;
	return true;
}

/* From the leaf up, because readers may see some of the stores and not the others. */
static __inline_always void words_store(const struct bw_tree *tree, const struct bw_step *steps,
					unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		node_set_link(*bw_word(tree, steps[i].id), steps[i].new);
}

static inline struct ttas_latch *latch_of(struct bw_tree *tree)
{
	return (struct ttas_latch *)(void *)&tree->latch;
}

_Static_assert(sizeof(struct ttas_latch) == sizeof(((struct bw_tree *)0)->latch), "fits");

/* Wait until the latch is free: transactions that begin before would abort. */
static inline void await_free(struct bw_tree *tree)
{
	unsigned int pauses = 1;

	while (node_get(tree->latch))
		back_off(&pauses);
}

/*
 * Begin a transaction with the latch free. Returns true in the transaction, or false if
 * the latch must be acquired.
 */
static __inline_always bool begin(struct bw_tree *tree, struct bw_thread *thread)
{
	uint64_t left = usable ? tree->attempts : 0;

	if (!left)
		return false;
	for (;;) {
		unsigned int status;
		bool again;

		thread->counts.begun++;
		status = rtm_begin();
		if (likely(status == RTM_STARTED)) {
			if (unlikely(node_get(tree->latch)))
				rtm_abort();
			return true;
		}
		again = aborted(&thread->counts, status) || (status & RTM_EXPLICIT);
		if (!again || !--left)
			break;
		await_free(tree);
		__builtin_ia32_pause();
	}
	thread->counts.fallbacks++;
	return false;
}

/* Compare and swap several words at once. */
static inline bool swap_words(struct bw_tree *tree, struct bw_thread *thread,
			      const struct bw_step *steps, unsigned int nr)
{
	bool same;

	if (likely(begin(tree, thread))) {
		same = words_same(tree, steps, nr);
		if (same)
			words_store(tree, steps, nr);
		rtm_end();
		thread->counts.committed++;
		return same;
	}
	ttas_acquire(latch_of(tree));
	same = words_same(tree, steps, nr);
	if (same)
		words_store(tree, steps, nr);
	ttas_release(latch_of(tree));
	return same;
}

#endif
