/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tatp.h - the transactions of TATP, and journals of what they changed.
 */
#ifndef DEMO_TATP_TATP_H
#define DEMO_TATP_TATP_H

#include "schema.h"

#include "../../base/rng.h"

enum transaction {
#define TRANSACTION(id, name, share, success, help) XCT_##id,
#include "transactions.def"
	NR_TRANSACTIONS,
};

/* What a journal's entry is about: a column of a subscriber or of one of its other rows. */
enum item {
	ITEM_VLR_LOCATION,
	ITEM_BIT_1,
	ITEM_DATA_A,				  /* and three more types */
	ITEM_FORWARDING = ITEM_DATA_A + NR_TYPES, /* and eleven more types and start times */
	NR_ITEMS = ITEM_FORWARDING + NR_TYPES * NR_STARTS,
};

/**
 * struct change - a value that a committed transaction wrote or overwrote
 * @key: subscriber and item
 * @value: the value
 * @delta: +1 for a value that was written, -1 for one that was overwritten or deleted
 */
struct change {
	uint64_t key;
	uint64_t value;
	int64_t delta;
};

static inline uint64_t item_key(uint64_t s_id, unsigned int item)
{
	return s_id << 8 | item;
}

/* The value of a forwarding in a journal: its number and its end, never 0. */
static inline uint64_t forwarding_value(const struct call_forwarding *f)
{
	return number_value(f->numberx) << 8 | f->end_time;
}

/**
 * struct journal - the changes of a thread's committed transactions
 * @changes: these, and behind them those of the current transaction
 * @nr: number of changes that are committed
 * @max: number of changes that @changes has room for
 * @fresh: number of changes of the current transaction
 */
struct journal {
	struct change *changes;
	size_t nr, max, fresh;
};

/* struct tally - what a thread did: transactions, successes, and repetitions after deadlocks */
struct tally {
	uint64_t done[NR_TRANSACTIONS];
	uint64_t ok[NR_TRANSACTIONS];
	uint64_t retried[NR_TRANSACTIONS];
};

/**
 * struct draws - how transactions are drawn
 * @subscribers: number of subscribers
 * @nurand: the A of non-uniform keys, 0 for uniform ones
 * @only: the one transaction, or NR_TRANSACTIONS for the mix
 */
struct draws {
	uint64_t subscribers;
	uint64_t nurand;
	unsigned int only;
};

/**
 * struct client - a thread that runs transactions
 * @sm: the storage manager
 * @x: its transactions
 * @draws: how it draws them
 * @rng: its random numbers
 * @nr: its number
 * @serial: number of values that it wrote
 * @sum: of all that it read, so that no read is left out
 * @journal: what it changed
 * @tally: what it did; other threads may read it
 * @latency: durations of each kind of transaction, or NULL: they are not measured
 */
struct client {
	struct sm *sm;
	struct xct *x;
	const struct draws *draws;
	struct rng rng;
	unsigned int nr;
	uint64_t serial;
	uint64_t sum;
	struct journal journal;
	struct tally tally;
	struct histogram *latency;
};

/**
 * struct input - what a transaction is run with
 * @kind: the transaction
 * @s_id: the subscriber
 * @type: a type of access data or a facility
 * @start: a start time
 * @end: an end time
 * @value: a value to write
 */
struct input {
	enum transaction kind;
	uint64_t s_id;
	unsigned int type, start, end;
	uint64_t value;
};

/* A transaction that was carried out, and was not successful in the words of TATP. */
#define TATP_FAILED 1

uint64_t nurand_of(uint64_t subscribers);
uint64_t draw_subscriber(const struct draws *d, struct rng *rng);
void draw_input(struct client *c, struct input *in);
int client_init(struct client *c, struct sm *sm, unsigned int nr, const struct draws *draws,
		uint64_t seed);
void client_free(struct client *c);
int client_step(struct client *c);
int transact(struct client *c, const struct input *in);
bool verify_content(struct sm *sm, struct client *clients, unsigned int nr, char *why, size_t len);

#endif
