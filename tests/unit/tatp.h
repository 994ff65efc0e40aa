/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tatp.h - what the tests of the storage manager share: small databases and threads.
 */
#ifndef TESTS_UNIT_TATP_H
#define TESTS_UNIT_TATP_H

#include <pthread.h>

#include "unit.h"
#include "../../demo/base/rng.h"
#include "../../demo/tatp/sm.h"

#define TATP_THREADS 4
#define TATP_ROW 32

/* Options of a database in memory with one heap and one tree. */
static inline struct sm_options small_options(uint32_t frames, bool inherit)
{
	return (struct sm_options){
		.identity = { .subscribers = 1, .seed = 1, .born = 1 },
		.log = { .group = true, .threads = TATP_THREADS },
		.frames = frames,
		.pages = 4096,
		.strides = { TATP_ROW },
		.heaps = 1,
		.trees = 1,
		.inherit = inherit,
	};
}

/* Run a function in threads, each with its number. */
struct test_thread {
	pthread_t thread;
	unsigned int nr;
	void *arg;
};

static inline void run_threads(unsigned int nr, void *(*function)(void *), void *arg)
{
	struct test_thread threads[16];

	for (unsigned int i = 0; i < nr; i++) {
		threads[i] = (struct test_thread){ .nr = i, .arg = arg };
		assert_int_equal(pthread_create(&threads[i].thread, NULL, function, &threads[i]), 0);
	}
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i].thread, NULL);
}

#endif
