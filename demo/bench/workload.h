/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.h - streams of operations and keys.
 *
 * The workload follows Karnagel et al., "Improving in-memory database index
 * performance with Intel Transactional Synchronization Extensions", HPCA 2014,
 * section 2.1.2: the index is loaded with even keys from 0 on, searches look these up,
 * inserts add odd keys. Scans begin at an even key. Deletes draw odd and even keys, so
 * they delete loaded and inserted entries; or even keys alone, which are present at first.
 *
 * A stream depends only on the seed, the thread's number and the position in it.
 */
#ifndef DEMO_WORKLOAD_H
#define DEMO_WORKLOAD_H

#include "../base/zipf.h"
#include "options.h"

/* OP(name, plural): the operations of an index; the output names its fields by @plural. */
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

/* Shares are in units of half a per cent, so that half of an odd percentage is a share. */
#define SHARES 200

/**
 * struct mix - distribution of operations and keys, of all threads or of those that write
 * @seed: seed of the run
 * @threads: number of threads
 * @keys: distribution of the keys
 * @preload: number of loaded even keys, at least 1
 * @share: share of each operation; the sum is SHARES
 * @delete_loaded: deletes draw even keys only
 */
struct mix {
	uint64_t seed;
	unsigned int threads;
	enum keys_id keys;
	uint64_t preload;
	unsigned int share[NR_OPS];
	bool delete_loaded;
};

/**
 * struct stream - the operations of a thread
 * @mix: distribution of the run
 * @thread: number of the thread, from 0
 * @rng: generator of the thread's random numbers
 * @nr: number of operations of each kind that were drawn, for sorted keys
 * @zipf: constants of the sampler, for zipfian keys
 */
struct stream {
	const struct mix *mix;
	unsigned int thread;
	struct rng rng;
	uint64_t nr[NR_OPS];
	struct zipf zipf;
};

struct mix mix_of(const struct options *opts);
struct mix mix_of_readers(const struct mix *mix);
void stream_init(struct stream *stream, const struct mix *mix, unsigned int thread);
enum op_kind stream_next(struct stream *stream, uint64_t *key);
uint64_t scatter(uint64_t i, uint64_t n);

#endif
