// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload.c - streams of operations and keys (see workload.h).
 */
#include "workload.h"

/* Exponent of Zipf's law, that of the Yahoo! Cloud Serving Benchmark (Cooper et al., SoCC 2010). */
#define ZIPF_EXPONENT 0.99

/**
 * scatter() - a fixed pseudo-random permutation of the numbers below @n
 * @i: a number below @n
 * @n: the number of elements, at least 1
 *
 * The function repeats a bijection of the numbers below the next power of two until
 * the result is below @n (cycle walking: Black, Rogaway, "Ciphers with arbitrary
 * finite domains", CT-RSA 2002, section 3), in fewer than two steps on average.
 */
uint64_t scatter(uint64_t i, uint64_t n)
{
	unsigned int bits = n > 1 ? 64 - (unsigned int)__builtin_clzll(n - 1) : 0;
	uint64_t mask = bits ? ~0ull >> (64 - bits) : 0;

	if (!bits)
		return 0;
	do {
		/* Each step is a bijection: an odd factor, an XOR with a shift to the right. */
		for (int round = 0; round < 3; round++) {
			i = (i * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) & mask;
			i ^= i >> (bits + 1) / 2;
		}
	} while (i >= n);
	return i;
}

/**
 * mix_of() - the distribution of operations and keys of a command line
 * @opts: the command line
 *
 * Return: the distribution of all threads, with --writers that of the threads that write.
 */
struct mix mix_of(const struct options *opts)
{
	unsigned int rate = opts->writers ? 100 : (unsigned int)opts->update_rate;
	unsigned int percent = SHARES / 100;
	bool together = opts->given[OPTION_ID_update_rate] || opts->writers;
	struct mix mix = {
		.seed = opts->seed,
		.threads = (unsigned int)opts->threads,
		.keys = opts->keys,
		.preload = opts->preload,
		.delete_loaded = together,
	};

	/* Half of the rate is inserts, half deletes. */
	mix.share[OP_insert] = together ? rate * percent / 2 :
					  (unsigned int)opts->updates * percent;
	mix.share[OP_remove] = together ? rate * percent / 2 :
					  (unsigned int)opts->deletes * percent;
	mix.share[OP_scan] = (unsigned int)opts->scans * percent;
	mix.share[OP_search] = SHARES - mix.share[OP_insert] - mix.share[OP_remove] -
			       mix.share[OP_scan];
	return mix;
}

/**
 * mix_of_readers() - the distribution of the threads that do not write
 * @mix: distribution of the threads that write
 */
struct mix mix_of_readers(const struct mix *mix)
{
	struct mix readers = *mix;

	for (unsigned int op = 0; op < NR_OPS; op++)
		readers.share[op] = op == OP_search ? SHARES : 0;
	return readers;
}

/**
 * stream_init() - initialise the stream of a thread
 * @stream: the stream
 * @mix: distribution of the run; must stay valid as long as the stream is used
 * @thread: number of the thread, from 0
 */
void stream_init(struct stream *stream, const struct mix *mix, unsigned int thread)
{
	*stream = (struct stream){ .mix = mix, .thread = thread };
	rng_seed(&stream->rng, mix->seed, thread);
	zipf_init(&stream->zipf, mix->preload, ZIPF_EXPONENT);
}

static enum op_kind next_op(struct stream *stream)
{
	unsigned int at = (unsigned int)rng_below(&stream->rng, SHARES);
	unsigned int op = 0;

	while (at >= stream->mix->share[op])
		at -= stream->mix->share[op++];
	return (enum op_kind)op;
}

/* Draw the number of a loaded key; with sorted keys inserts continue after the last one. */
static uint64_t next_position(struct stream *stream, enum op_kind op)
{
	const struct mix *mix = stream->mix;
	uint64_t turn;

	switch (mix->keys) {
	case KEYS_sorted:
		turn = stream->nr[op] * mix->threads + stream->thread;
		return op == OP_insert ? mix->preload + turn : turn % mix->preload;
	case KEYS_zipf:
		return scatter(zipf_next(&stream->zipf, &stream->rng), mix->preload);
	default:
		return rng_below(&stream->rng, mix->preload);
	}
}

/**
 * stream_next() - draw the next operation and its key
 * @stream: the thread's stream
 * @key: receives the key
 *
 * Return: the operation.
 */
enum op_kind stream_next(struct stream *stream, uint64_t *key)
{
	enum op_kind op = next_op(stream);
	uint64_t odd = 0;

	if (op == OP_insert)
		odd = 1;
	else if (op == OP_remove && !stream->mix->delete_loaded)
		odd = rng_next(&stream->rng) >> 63;
	*key = 2 * next_position(stream, op) + odd;
	stream->nr[op]++;
	return op;
}
