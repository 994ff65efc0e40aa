/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.h - which operation on which key comes next.
 *
 * As in Karnagel et al., "Improving in-memory database index performance with
 * Intel Transactional Synchronization Extensions", HPCA 2014, section 2.1.2:
 * the index is loaded with even keys from 0 on, searches look for these,
 * inserts add odd keys. Scans begin at an even key; deletes take odd and even
 * ones, so that loaded and inserted entries both go.
 *
 * Pure: depends on nothing but seed, thread and position in the stream.
 */
#ifndef DEMO_WORKLOAD_H
#define DEMO_WORKLOAD_H

#include "rng.h"
#include "variants.h"

/* OP(name, plural): the operations of an index; plurals are the fields of the output. */
#define OPS(OP)                \
	OP(search, "searches") \
	OP(insert, "inserts")  \
	OP(remove, "deletes")  \
	OP(scan, "scans")

enum op_kind {
#define OP(name, plural) OP_##name,
	OPS(OP)
#undef OP
	NR_OPS
};

/**
 * struct mix - what all threads of a run have in common
 * @seed: of the run
 * @threads: how many there are
 * @keys: distribution of the keys
 * @preload: even keys loaded beforehand, at least 1
 * @percent: share of each operation; they add up to 100
 */
struct mix {
	uint64_t seed;
	unsigned int threads;
	enum keys_id keys;
	uint64_t preload;
	unsigned int percent[NR_OPS];
};

/*
 * struct zipf - constants of the rejection-inversion sampler for ranks 1..n
 */
struct zipf {
	double h_low, h_high, cut;
};

/**
 * struct stream - one thread's operations
 * @mix: the run's
 * @thread: number of the thread, from 0
 * @rng: its random numbers
 * @nr: operations of each kind drawn so far, for sorted keys
 * @zipf: constants, for zipfian keys
 */
struct stream {
	const struct mix *mix;
	unsigned int thread;
	struct rng rng;
	uint64_t nr[NR_OPS];
	struct zipf zipf;
};

void stream_init(struct stream *stream, const struct mix *mix, unsigned int thread);
enum op_kind stream_next(struct stream *stream, uint64_t *key);
uint64_t scatter(uint64_t i, uint64_t n);

#endif
