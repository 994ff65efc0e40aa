// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * news.c - the workload of a news site: half of the operations look up and half change one of
 * the newest entries; the newer one is, the more often (Zipf, exponent 0.75), in a window that
 * shifts by a tenth (Alhomssi and Leis, CIDR 2021, section 5.5 and figure 6).
 *
 * With --news=growing the first thread inserts the entries by which the window shifts; with moving
 * all are there, and the window begins with the oldest.
 */
#include "work.h"

#include <errno.h>
#include <string.h>

/* The exponent: section 5.5. */
#define NEWS_EXPONENT 0.75

static int news_load(struct work *w)
{
	int err;

	w->order = ORDER_sorted;
	err = entries_load(w, w->opts->entries);
	if (!err && w->opts->news == NEWS_moving)
		w->newest = w->opts->window;
	return err;
}

static int news_open(struct work *w)
{
	int err = entries_open(w);

	return err ? err : w->next < w->opts->window ? -ENOENT : 0;
}

static int news_prepare(struct worker *worker)
{
	zipf_init(&worker->zipf, worker->work->opts->window, NEWS_EXPONENT);
	return 0;
}

/* Insert one entry of those by which the window shifts. */
static int add_one(struct worker *worker)
{
	unsigned char key[ENTRY_KEY], value[ENTRY_VALUE];
	struct work *w = worker->work;
	struct bytes k = entry_key(w, w->next, key);
	int err = page_tree_insert(w->trees, &worker->tree, k, entry_value(w, k, value));

	if (err)
		return err;
	w->next++;
	worker_count(worker, KIND_add);
	return 0;
}

/* The first thread shifts the window if it is time. Returns 0 or -errno. */
static int shift(struct worker *worker)
{
	struct work *w = worker->work;
	uint64_t by = w->opts->window / 10, now = now_ns();
	int err = 0;

	if (!worker->shift_ns)
		worker->shift_ns = now + w->opts->shift_ms * 1000000;
	if (now < worker->shift_ns)
		return 0;
	worker->shift_ns += w->opts->shift_ms * 1000000;
	for (uint64_t i = 0; i < by && w->opts->news == NEWS_growing && !err; i++)
		err = add_one(worker);
	/* One that has moved over all entries begins again with the oldest. */
	if (w->newest + by > w->next)
		__atomic_store_n(&w->newest, w->opts->window, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&w->newest, w->newest + by, __ATOMIC_RELAXED);
	if (err)
		return err;
	shifts_note(&w->shifts, now);
	/* A shift that takes longer than the time between two leaves those out that should have begun. */
	for (now = now_ns(); worker->shift_ns <= now; worker->shift_ns += w->opts->shift_ms * 1000000)
		;
	return 0;
}

static int news_step(struct worker *worker)
{
	unsigned char key[ENTRY_KEY], value[ENTRY_VALUE];
	struct work *w = worker->work;
	uint64_t newest, check;
	unsigned int len;
	struct bytes k;
	int err = !worker->nr && w->opts->shift_ms ? shift(worker) : 0;

	if (err)
		return err;
	newest = __atomic_load_n(&w->newest, __ATOMIC_RELAXED);
	k = entry_key(w, newest - 1 - zipf_next(&worker->zipf, &worker->rng), key);
	if (rng_next(&worker->rng) >> 63) {
		err = page_tree_update(w->trees, &worker->tree, k, entry_change, NULL);
		worker->changes += !err;
		worker_count(worker, KIND_change);
	} else {
		err = page_tree_lookup(w->trees, k, value, sizeof(value), &len);
		worker_count(worker, KIND_read);
		if (!err) {
			memcpy(&check, value, sizeof(check));
			worker->wrong += len != w->value || check != entry_check(k);
		}
	}
	worker->wrong += err == -ENOENT;
	return err == -ENOENT ? 0 : err;
}

static int news_verify(struct work *w, char *why, size_t len)
{
	return entries_verify(w, w->next, w->updates, why, len);
}

const struct workload work_news = {
	.family = FAMILY_news,
	.load = news_load,
	.open = news_open,
	.step = news_step,
	.verify = news_verify,
	.prepare = news_prepare,
};
