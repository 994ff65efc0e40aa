// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * worker.c - what a thread of a run does.
 *
 * Everything that allocates, draws keys or records results happens outside
 * the operations of the index, and writes nothing that other threads use.
 */
#include "worker.h"

/* Whether all loaded keys stay where they are, so that a miss is an error. */
static bool loaded_keys_stay(const struct worker *w)
{
	return !w->run->mix.percent[OP_remove];
}

static void do_search(struct worker *w, uint64_t key)
{
	struct index *index = w->run->index;
	uint64_t value;

	if (index->ops->search(index, key, &value)) {
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
	int err = pool_reserve(&w->pool, index->ops->nodes_per_insert);

	if (err || !index->ops->insert(index, &w->pool, key, value))
		return err;
	w->hits[OP_insert]++;
	return journal_add(&w->journal, key, value, +1);
}

static int do_remove(struct worker *w, uint64_t key)
{
	struct index *index = w->run->index;
	uint64_t value;

	if (!index->ops->remove(index, &w->pool, key, &value))
		return 0;
	w->hits[OP_remove]++;
	w->wrong += !value_belongs(key, value, w->run->mix.threads);
	return journal_add(&w->journal, key, value, -1);
}

/* Could a correct index have answered a scan from @from like this? */
static bool scan_possible(const struct worker *w, uint64_t from, const struct scan_result *res)
{
	if (!res->nr)
		return !loaded_keys_stay(w);
	if (res->nr > w->run->scan_length || res->first < from || res->last < res->first ||
	    res->last - res->first < res->nr - 1)
		return false;
	if (!loaded_keys_stay(w))
		return true;
	/* It began at a loaded key, and every second key up to the last loaded one is there. */
	return res->first == from &&
	       (res->nr == w->run->scan_length || res->last >= 2 * (w->run->mix.preload - 1)) &&
	       (res->last >= 2 * w->run->mix.preload || res->nr > (res->last - from) / 2);
}

static void do_scan(struct worker *w, uint64_t from)
{
	struct index *index = w->run->index;
	struct scan_result res;

	index->ops->scan(index, from, w->run->scan_length, &res);
	w->hits[OP_scan] += !!res.nr;
	w->sum += res.sum;
	w->wrong += !scan_possible(w, from, &res);
}

static int do_next(struct worker *w, uint64_t serial)
{
	uint64_t key;
	enum op_kind op = stream_next(&w->stream, &key);

	w->done[op]++;
	switch (op) {
	case OP_insert:
		return do_insert(w, key, serial);
	case OP_remove:
		return do_remove(w, key);
	case OP_scan:
		do_scan(w, key);
		return 0;
	default:
		do_search(w, key);
		return 0;
	}
}

/* Operations of a kind that a stream will hardly exceed: a sixteenth above the mean. */
static uint64_t likely_share(uint64_t nr_ops, unsigned int percent)
{
	uint64_t mean = nr_ops / 100 * percent + nr_ops % 100 * percent / 100;

	return percent ? mean + mean / 16 + 64 : 0;
}

/**
 * worker_init() - prepare a thread's memory
 * @worker: the thread
 * @run: the run it belongs to
 * @nr: its number, from 0
 * @nr_ops: operations to do
 *
 * Takes what the thread will probably need, so that it rarely asks for more
 * while the clock runs.
 *
 * Return: 0 or -ENOMEM; worker_destroy() is right after either.
 */
int worker_init(struct worker *worker, struct run *run, unsigned int nr, uint64_t nr_ops)
{
	const struct index_ops *ops = run->index->ops;
	uint64_t inserts = likely_share(nr_ops, run->mix.percent[OP_insert]);
	uint64_t removes = likely_share(nr_ops, run->mix.percent[OP_remove]);
	int err;

	*worker = (struct worker){ .run = run, .nr_ops = nr_ops };
	stream_init(&worker->stream, &run->mix, nr);
	pool_init(&worker->pool, ops->node_size);
	err = journal_reserve(&worker->journal, inserts + removes);
	if (err)
		return err;
	return pool_reserve(&worker->pool, inserts / ops->node_keys_min + ops->nodes_per_insert);
}

/**
 * worker_main() - the thread: wait for the others, then work
 * @worker: the thread's struct worker
 *
 * Return: NULL.
 */
void *worker_main(void *worker)
{
	struct worker *w = worker;

	pthread_barrier_wait(&w->run->start);
	w->start_ns = now_ns();
	for (uint64_t i = 0; i < w->nr_ops && !w->err; i++)
		w->err = do_next(w, i);
	w->end_ns = now_ns();
	return NULL;
}

/**
 * worker_destroy() - give a thread's memory back, once the index is destroyed
 * @worker: the thread
 */
void worker_destroy(struct worker *worker)
{
	journal_free(&worker->journal);
	pool_destroy(&worker->pool);
}
