// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * helpers.c - the flusher, the cleaner and the checkpointer.
 *
 * Transactions need none of them, but a log in memory: its room comes from checkpoints.
 */
#include "worker.h"
#include "wake.h"

#include <errno.h>

/* Intervals: of the flusher as of Shore-MT's log, of the others so that a second has some. */
#define FLUSH_NS 10000000
#define CLEAN_NS 50000000
#define CHECKPOINT_NS 500000000

/* Bytes of log after which a checkpoint is made earlier: a quarter of what memory keeps. */
#define CHECKPOINT_BYTES (16u << 20)

/* Pages that the cleaner looks at in an interval: an eighth of the pool. */
#define CLEAN_PART 8

/* Until the time is over, or the helpers are to end. */
static void pause_ns(const struct helpers *h, uint64_t ns)
{
	wake_pause(h->wake, ns);
}

static bool stopped(struct helpers *h)
{
	return __atomic_load_n(&h->stop, __ATOMIC_RELAXED);
}

static void note(struct helpers *h, int err)
{
	if (err && err != -EBUSY)
		__atomic_store_n(&h->err, err, __ATOMIC_RELAXED);
}

/* Make durable what no commit makes durable. */
static void *flusher(void *arg)
{
	struct helpers *h = arg;
	struct log *log = &h->sm->log;

	while (!stopped(h)) {
		/* It leaves the commits that wait to their transactions. */
		if (__atomic_load_n(&log->tail, __ATOMIC_RELAXED) >
			    __atomic_load_n(&log->durable, __ATOMIC_RELAXED) &&
		    !__atomic_load_n(&log->waiting, __ATOMIC_RELAXED))
			note(h, log_flush(log));
		pause_ns(h, FLUSH_NS);
	}
	return NULL;
}

static void *cleaner(void *arg)
{
	struct helpers *h = arg;
	struct buffer *b = &h->sm->buffer;

	while (!stopped(h)) {
		uint32_t written = 0;

		note(h, buffer_clean(b, b->nr / CLEAN_PART + 1, &written));
		__atomic_fetch_add(&h->cleaned, written, __ATOMIC_RELAXED);
		pause_ns(h, CLEAN_NS);
	}
	return NULL;
}

/* With a log in memory all pages are cleaned before, so that the log can forget. */
static void *checkpointer(void *arg)
{
	struct helpers *h = arg;
	struct log *log = &h->sm->log;
	uint64_t last = log->durable, waited = 0;

	while (!stopped(h)) {
		pause_ns(h, FLUSH_NS);
		waited += FLUSH_NS;
		if (waited < CHECKPOINT_NS &&
		    __atomic_load_n(&log->tail, __ATOMIC_RELAXED) - last < CHECKPOINT_BYTES)
			continue;
		waited = 0;
		last = __atomic_load_n(&log->tail, __ATOMIC_RELAXED);
		note(h, checkpoint_clean(h->sm));
		note(h, checkpoint(h->sm));
		__atomic_fetch_add(&h->checkpoints, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/**
 * helpers_start() - start the helpers, on any processor
 * @h: the helpers
 * @sm: the storage manager
 *
 * Return: 0 or -errno; then helpers_stop() in any case.
 */
int helpers_start(struct helpers *h, struct sm *sm)
{
	static void *(*const mains[NR_HELPERS])(void *) = { flusher, cleaner, checkpointer };

	*h = (struct helpers){ .sm = sm, .wake = wake_make() };
	if (h->wake < 0)
		return -errno;
	for (; h->nr < NR_HELPERS; h->nr++) {
		int err = pthread_create(&h->threads[h->nr], NULL, mains[h->nr], h);

		if (err)
			return -err;
	}
	sm->log.kept = true;
	return 0;
}

/** helpers_stop() - end the helpers; returns 0 or the first error of one of them */
int helpers_stop(struct helpers *h)
{
	h->sm->log.kept = false;
	__atomic_store_n(&h->stop, true, __ATOMIC_RELAXED);
	wake_up(h->wake);
	while (h->nr)
		pthread_join(h->threads[--h->nr], NULL);
	close(h->wake);
	return h->err;
}
