// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schema.c - rows of TATP: their keys and their values after the population.
 */
#include "schema.h"

#include "../../base/rng.h"

#include <string.h>

/* Bytes of a subscriber's rows on average, with one tenth for the fill of pages. */
#define HEAP_BYTES ((256 + 8.75 * 104) * 1.02)

/* Entries of all indexes for a subscriber on average, and their fill. */
#define INDEX_ENTRIES (1 + 1 + 2.5 + 2.5 + 3.75)
#define INDEX_BYTES (INDEX_ENTRIES * 16 / 0.69 * 1.01)

/** number_print() - the digits of a number, as sub_nbr and numberx have it */
void number_print(char number[NUMBER_DIGITS], uint64_t value)
{
	for (unsigned int i = NUMBER_DIGITS; i-- > 0; value /= 10)
		number[i] = (char)('0' + value % 10);
}

/** number_value() - the number that has these digits */
uint64_t number_value(const char number[NUMBER_DIGITS])
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < NUMBER_DIGITS; i++)
		value = value * 10 + (uint64_t)(number[i] - '0');
	return value;
}

static void letters(struct rng *rng, char *text, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		text[i] = (char)('A' + rng_below(rng, 26));
}

/* A subset of @of things that has @nr, as a mask. */
static unsigned int subset(struct rng *rng, unsigned int of, unsigned int nr)
{
	unsigned int mask = 0;

	while (nr) {
		unsigned int bit = 1u << rng_below(rng, of);

		nr -= !(mask & bit);
		mask |= bit;
	}
	return mask;
}

static void subscriber_of(struct subscriber *s, struct rng *rng, uint32_t s_id)
{
	s->s_id = s_id;
	number_print(s->sub_nbr, s_id);
	for (unsigned int i = 0; i < 10; i++) {
		s->bit[i] = (uint8_t)rng_below(rng, 2);
		s->hex[i] = (uint8_t)rng_below(rng, 16);
		s->byte2[i] = (uint8_t)rng_below(rng, 256);
	}
	s->msc_location = (uint32_t)rng_next(rng);
	s->vlr_location = (uint32_t)rng_next(rng);
}

static void forwardings_of(struct population *p, struct rng *rng, uint32_t s_id, unsigned int type)
{
	unsigned int starts = subset(rng, NR_STARTS, (unsigned int)rng_below(rng, NR_STARTS + 1));

	for (unsigned int i = 0; i < NR_STARTS; i++) {
		struct call_forwarding *f = &p->forwardings[p->nr_forwardings];

		if (!(starts >> i & 1))
			continue;
		f->s_id = s_id;
		f->sf_type = (uint8_t)type;
		f->start_time = (uint8_t)(8 * i);
		f->end_time = (uint8_t)(f->start_time + 1 + rng_below(rng, 8));
		number_print(f->numberx, rng_below(rng, 100000000000u));
		p->nr_forwardings++;
	}
}

/**
 * population_of() - the rows of a subscriber after the population
 * @p: receives them
 * @seed: seed of the population
 * @s_id: the subscriber
 */
void population_of(struct population *p, uint64_t seed, uint32_t s_id)
{
	unsigned int access, facilities;
	struct rng rng;

	memset(p, 0, sizeof(*p));
	rng_seed(&rng, seed, s_id);
	subscriber_of(&p->subscriber, &rng, s_id);
	access = subset(&rng, NR_TYPES, 1 + (unsigned int)rng_below(&rng, NR_TYPES));
	facilities = subset(&rng, NR_TYPES, 1 + (unsigned int)rng_below(&rng, NR_TYPES));
	for (unsigned int type = 1; type <= NR_TYPES; type++) {
		struct access_info *a = &p->access[p->nr_access];
		struct special_facility *f = &p->facilities[p->nr_facilities];

		if (access >> (type - 1) & 1) {
			a->s_id = s_id;
			a->ai_type = (uint8_t)type;
			a->data1 = (uint8_t)rng_below(&rng, 256);
			a->data2 = (uint8_t)rng_below(&rng, 256);
			letters(&rng, a->data3, sizeof(a->data3));
			letters(&rng, a->data4, sizeof(a->data4));
			p->nr_access++;
		}
		if (!(facilities >> (type - 1) & 1))
			continue;
		f->s_id = s_id;
		f->sf_type = (uint8_t)type;
		f->is_active = rng_below(&rng, 100) < 85;
		f->error_cntrl = (uint8_t)rng_below(&rng, 256);
		f->data_a = (uint8_t)rng_below(&rng, 256);
		letters(&rng, f->data_b, sizeof(f->data_b));
		p->nr_facilities++;
		forwardings_of(p, &rng, s_id, type);
	}
}

/** row_key() - the key of a row in an index */
uint64_t row_key(enum tree tree, const union row *row)
{
	switch (tree) {
	case SUBSCRIBER_KEY:
		return row->subscriber.s_id;
	case SUBSCRIBER_NUMBER:
		return number_value(row->subscriber.sub_nbr);
	case ACCESS_INFO_KEY:
		return type_key(row->access.s_id, row->access.ai_type);
	case SPECIAL_FACILITY_KEY:
		return type_key(row->facility.s_id, row->facility.sf_type);
	default:
		return forwarding_key(row->forwarding.s_id, row->forwarding.sf_type,
				      row->forwarding.start_time);
	}
}

/** tree_table() - the table of an index */
enum table tree_table(enum tree tree)
{
	static const enum table tables[NR_TREES] = {
		[SUBSCRIBER_KEY] = SUBSCRIBER,
		[SUBSCRIBER_NUMBER] = SUBSCRIBER,
		[ACCESS_INFO_KEY] = ACCESS_INFO,
		[SPECIAL_FACILITY_KEY] = SPECIAL_FACILITY,
		[CALL_FORWARDING_KEY] = CALL_FORWARDING,
	};

	return tables[tree];
}

static double pages_bytes(uint64_t subscribers)
{
	return (double)subscribers * (HEAP_BYTES + INDEX_BYTES);
}

/**
 * schema_options() - the options of a storage manager for TATP, without those of log and locks
 * @subscribers: number of subscribers
 * @seed: seed of the population
 * @born: a number that differs between databases
 */
struct sm_options schema_options(uint64_t subscribers, uint64_t seed, uint64_t born)
{
	/* A quarter more than the mean, and 32 MiB, for the rows that transactions insert. */
	uint32_t pages = (uint32_t)(pages_bytes(subscribers) * 1.25 / PAGE_BYTES) + 4096;

	return (struct sm_options){
		.identity = { .subscribers = subscribers, .seed = seed, .born = born },
		.frames = pages,
		.pages = pages,
		.strides = { sizeof(struct subscriber), sizeof(struct access_info),
			     sizeof(struct special_facility), sizeof(struct call_forwarding) },
		.heaps = NR_TABLES,
		.trees = NR_TREES,
	};
}

/**
 * schema_bytes() - memory that a database needs, about
 * @subscribers: number of subscribers
 * @in_memory: its log and volume are in memory, too
 * @pool: bytes of the pages of the buffer pool, 0 for all pages
 */
double schema_bytes(uint64_t subscribers, bool in_memory, uint64_t pool)
{
	double pages = pages_bytes(subscribers), there = pages;
	double frames = pages / PAGE_BYTES * 1.25;

	if (pool && (double)pool < there) {
		there = (double)pool;
		frames = there / PAGE_BYTES;
	}
	/* The population sorts the entries of the indexes, or rather has them in order. */
	return there + (in_memory ? pages : 0) +
	       frames * (sizeof(struct frame) + sizeof(struct bucket)) +
	       (double)subscribers * INDEX_ENTRIES * sizeof(struct index_entry) + 0x1p27;
}
