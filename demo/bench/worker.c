// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * worker.c - the threads of a run.
 *
 * A thread allocates memory, draws keys and records results outside the operations of
 * the index, and writes only its own data there.
 */
#include "worker.h"

#include "../base/region.h"

#include <errno.h>
#include <stdlib.h>

/* Operations between two readings of the clock if time ends the run: about 10 us. */
#define CLOCK_INTERVAL 64

/* True if no operation deletes keys, so that each loaded key must be found. */
static bool loaded_keys_stay(const struct worker *w)
{
	return !w->run->mix.share[OP_remove];
}

static bool look_up(struct worker *w, uint64_t key, uint64_t *value)
{
	struct index *index = w->run->index;
	bool found;

	if (likely(!w->footprint))
		return index->ops->search(index, w->share, key, value);
	footprint_begin(w->footprint);
	found = index->ops->search_counted(index, w->share, key, value, w->footprint);
	footprint_end(w->footprint);
	return found;
}

static void do_search(struct worker *w, uint64_t key)
{
	uint64_t value;

	if (look_up(w, key, &value)) {
		w->hits[OP_search]++;
		w->sum += value;
		w->wrong += !value_belongs(key, value, w->run->mix.threads);
	} else {
		w->wrong += loaded_keys_stay(w);
	}
}

static int do_insert(struct worker *w, uint64_t key, uint64_t serial)
{
	struct index *index = w->run->index;
	uint64_t value = value_of(key, w->stream.thread + 1, serial);
	int err = index->ops->reserve(index, w->share);

	if (!err)
		err = journal_room(&w->journal);
	if (err || !index->ops->insert(index, w->share, key, value))
		return err;
	w->hits[OP_insert]++;
	journal_add(&w->journal, key, value, +1);
	return 0;
}

static int do_remove(struct worker *w, uint64_t key)
{
	struct index *index = w->run->index;
	uint64_t value;
	int err = index_reserve_remove(index, w->share);

	if (!err)
		err = journal_room(&w->journal);
	if (err || !index->ops->remove(index, w->share, key, &value))
		return err;
	w->hits[OP_remove]++;
	w->wrong += !value_belongs(key, value, w->run->mix.threads);
	journal_add(&w->journal, key, value, -1);
	return 0;
}

/* True if a correct index could have returned @res for a scan from @from. */
static bool scan_possible(const struct worker *w, uint64_t from, const struct scan_result *res)
{
	if (!res->nr)
		return !loaded_keys_stay(w);
	if (res->nr > w->run->scan_length || res->first < from || res->last < res->first ||
	    res->last - res->first < res->nr - 1)
		return false;
	if (!loaded_keys_stay(w))
		return true;
	/* The scan began at a loaded key, and all even keys up to the last loaded one exist. */
	return res->first == from &&
	       (res->nr == w->run->scan_length || res->last >= 2 * (w->run->mix.preload - 1)) &&
	       (res->last >= 2 * w->run->mix.preload || res->nr > (res->last - from) / 2);
}

static void do_scan(struct worker *w, uint64_t from)
{
	struct index *index = w->run->index;
	struct scan_result res;

	index->ops->scan(index, w->share, from, w->run->scan_length, &res);
	w->hits[OP_scan] += !!res.nr;
	w->sum += res.sum;
	w->wrong += !scan_possible(w, from, &res);
}

static int do_next(struct worker *w, uint64_t serial)
{
	uint64_t key;
	enum op_kind op = stream_next(&w->stream, &key);
	int err = 0;

	switch (op) {
	case OP_insert:
		err = do_insert(w, key, serial);
		break;
	case OP_remove:
		err = do_remove(w, key);
		break;
	case OP_scan:
		do_scan(w, key);
		break;
	default:
		do_search(w, key);
	}
	/* An operation that is out of memory changed nothing and does not count. */
	w->done[op] += !err;
	return err;
}

/**
 * likely_share() - number of operations of a kind that a stream rarely exceeds
 * @nr_ops: number of operations of all kinds
 * @share: share of the kind, of SHARES
 *
 * Return: 17/16 of the mean, plus 64; 0 for a share of 0.
 */
uint64_t likely_share(uint64_t nr_ops, unsigned int share)
{
	uint64_t mean = nr_ops / SHARES * share + nr_ops % SHARES * share / SHARES;

	return share ? mean + mean / 16 + 64 : 0;
}

/**
 * worker_init() - initialise a thread and allocate its memory
 * @worker: the thread
 * @run: the run that the thread belongs to
 * @nr: number of the thread, from 0
 * @nr_warmup: number of operations of the warm-up
 * @nr_ops: maximum number of operations of the measured part
 *
 * If a number of operations ends the run, the expected memory is allocated here, so
 * the thread rarely allocates in the measured part. If time ends the run, it allocates
 * there.
 *
 * Return: 0 or -ENOMEM; call worker_destroy() in both cases.
 */
int worker_init(struct worker *worker, struct run *run, unsigned int nr, uint64_t nr_warmup,
		uint64_t nr_ops)
{
	uint64_t expected = nr_warmup + (run->duration_ns ? 0 : nr_ops);
	const struct mix *mix = !run->writers || nr < run->writers ? &run->mix : &run->readers;
	uint64_t inserts = likely_share(expected, mix->share[OP_insert]);
	uint64_t removes = likely_share(expected, mix->share[OP_remove]);

	*worker = (struct worker){ .run = run, .nr_warmup = nr_warmup, .nr_ops = nr_ops };
	stream_init(&worker->stream, mix, nr);
	if (run->latency && !(worker->latency = calloc(1, sizeof(*worker->latency))))
		return -ENOMEM;
	if (run->footprint && !(worker->footprint = calloc(1, sizeof(*worker->footprint))))
		return -ENOMEM;
	worker->share = run->ops->tree->attach(run->index->tree, nr, inserts + 1);
	if (!worker->share)
		return -ENOMEM;
	return journal_reserve(&worker->journal, inserts + removes);
}

/* Reset the results: operations of the warm-up count for the check only. */
static void forget_warmup(struct worker *w)
{
	w->warmup_inserts = w->done[OP_insert];
	if (w->run->ops->counts)
		w->counts = *w->run->ops->counts(w->share);
	for (unsigned int op = 0; op < NR_OPS; op++)
		w->done[op] = w->hits[op] = 0;
	if (w->footprint)
		*w->footprint = (struct footprint){ 0 };
}

/* True if the thread has a further turn in the measured part, of which it had @i. */
static bool has_turn(const struct worker *w, uint64_t i)
{
	if (w->run->dealt)
		return __atomic_fetch_add(&w->run->next, 1, __ATOMIC_RELAXED) < w->run->turns;
	return i < w->nr_ops;
}

/*
 * The measured part: @nr_ops operations, as many as are dealt to the thread, or as many as
 * the time allows, from @serial on.
 */
static void work(struct worker *w, uint64_t serial)
{
	uint64_t end = w->run->duration_ns ? w->start_ns + w->run->duration_ns : UINT64_MAX;

	for (uint64_t i = 0; !w->err && has_turn(w, i); i++) {
		if (w->latency) {
			uint64_t begin = now_ns();

			w->err = do_next(w, serial + i);
			histogram_count(w->latency, now_ns() - begin);
		} else {
			w->err = do_next(w, serial + i);
		}
		if (end != UINT64_MAX && i % CLOCK_INTERVAL == 0 && now_ns() >= end)
			break;
	}
}

/**
 * worker_main() - main function of a thread: wait for the others, warm up, work
 * @worker: the thread's struct worker
 *
 * Return: NULL.
 */
void *worker_main(void *worker)
{
	struct worker *w = worker;

	/* The region of interest begins with the warm-up, which fills the simulated caches. */
	if (pthread_barrier_wait(&w->run->start) == PTHREAD_BARRIER_SERIAL_THREAD)
		region_request(REGION_BEGIN);
	pthread_barrier_wait(&w->run->start);
	for (uint64_t i = 0; i < w->nr_warmup && !w->err; i++)
		w->err = do_next(w, i);
	forget_warmup(w);
	pthread_barrier_wait(&w->run->start);
	w->start_ns = now_ns();
	work(w, w->nr_warmup);
	w->end_ns = now_ns();
	/* Memory that other threads retire from now on need not wait for this thread. */
	if (w->run->ops->idle)
		w->run->ops->idle(w->run->index, w->share);
	return NULL;
}

/**
 * worker_destroy() - free the memory of a thread, after the index was destroyed
 * @worker: the thread
 */
void worker_destroy(struct worker *worker)
{
	journal_free(&worker->journal);
	if (worker->share)
		worker->run->ops->tree->detach(worker->share);
	free(worker->latency);
	free(worker->footprint);
}
