/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tpcc.h - the tables of TPC-C, revision 5.11, clause 1.3: their keys, of which the most
 * significant byte is the first, and their rows, whose columns without use are one text.
 */
#ifndef DEMO_PAGES_TPCC_H
#define DEMO_PAGES_TPCC_H

#include "work.h"

/* Clause 1.2 and 4.3: districts of a warehouse, and rows before --scale divides them. */
#define TPCC_DISTRICTS 10
#define TPCC_CUSTOMERS 3000
#define TPCC_ITEMS 100000
#define TPCC_NEW_ORDERS 900

/* Most lines of an order: clause 2.4.1.3. */
#define TPCC_LINES 15

/* TABLE(id): the trees of the workload. @names finds customers by their last names. */
#define TPCC_TABLES(TABLE)                                                                         \
	TABLE(warehouse) TABLE(district) TABLE(customer) TABLE(names) TABLE(history)               \
	TABLE(new_order) TABLE(orders) TABLE(order_line) TABLE(item) TABLE(stock)

enum tpcc_table {
#define TABLE(id) TPCC_##id,
	TPCC_TABLES(TABLE)
#undef TABLE
	NR_TPCC_TABLES
};

_Static_assert((unsigned int)NR_TPCC_TABLES <= (unsigned int)WORK_TREES, "each table has a tree");

/* Amounts are in cents. A warehouse has 150 bytes with its key and slot. */
struct tpcc_warehouse {
	uint64_t ytd;
	uint32_t tax;
	char rest[124];
};

struct tpcc_district {
	uint64_t ytd;
	uint32_t next_order;
	uint32_t tax;
	char rest[79];
};

#define TPCC_NAME 16

struct tpcc_customer {
	int64_t balance;
	uint64_t ytd_payment;
	uint32_t payments;
	uint32_t deliveries;
	uint32_t discount;
	uint32_t credit;
	char last[TPCC_NAME];
	char first[TPCC_NAME];
	char rest[591];
};

struct tpcc_history {
	uint64_t date;
	uint64_t amount;
	char rest[24];
};

struct tpcc_order {
	uint64_t date;
	uint32_t customer;
	uint32_t lines;
	uint32_t carrier;
};

struct tpcc_line {
	uint32_t item;
	uint32_t supply;
	uint32_t quantity;
	uint32_t amount;
	uint64_t delivery;
	char rest[24];
};

struct tpcc_item {
	uint32_t price;
	char rest[74];
};

struct tpcc_stock {
	uint32_t quantity;
	uint32_t ytd;
	uint32_t orders;
	uint32_t remote;
	char rest[290];
};

/* struct tpcc_key - a key: up to four numbers of 4 bytes, or a name behind two of them */
struct tpcc_key {
	unsigned char bytes[16 + 2 * TPCC_NAME];
	unsigned int len;
};

static inline struct tpcc_key tpcc_key(void)
{
	return (struct tpcc_key){ .len = 0 };
}

static inline void tpcc_key_add(struct tpcc_key *k, uint32_t number)
{
	uint32_t swapped = __builtin_bswap32(number);

	__builtin_memcpy(k->bytes + k->len, &swapped, sizeof(swapped));
	k->len += (unsigned int)sizeof(swapped);
}

static inline void tpcc_key_add_name(struct tpcc_key *k, const char name[TPCC_NAME])
{
	__builtin_memcpy(k->bytes + k->len, name, TPCC_NAME);
	k->len += TPCC_NAME;
}

/* The number at a position of a key. */
static inline uint32_t tpcc_key_number(struct bytes key, unsigned int nr)
{
	uint32_t swapped;

	__builtin_memcpy(&swapped, (const unsigned char *)key.data + nr * sizeof(swapped),
			 sizeof(swapped));
	return __builtin_bswap32(swapped);
}

static inline struct tpcc_key tpcc_key1(uint32_t a)
{
	struct tpcc_key k = tpcc_key();

	tpcc_key_add(&k, a);
	return k;
}

static inline struct tpcc_key tpcc_key2(uint32_t a, uint32_t b)
{
	struct tpcc_key k = tpcc_key1(a);

	tpcc_key_add(&k, b);
	return k;
}

static inline struct tpcc_key tpcc_key3(uint32_t a, uint32_t b, uint32_t c)
{
	struct tpcc_key k = tpcc_key2(a, b);

	tpcc_key_add(&k, c);
	return k;
}

static inline struct tpcc_key tpcc_key4(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct tpcc_key k = tpcc_key3(a, b, c);

	tpcc_key_add(&k, d);
	return k;
}

/* Rows of a table before the run, which --scale divides; at least 1. */
static inline uint32_t tpcc_rows(const struct work *w, uint32_t rows)
{
	uint32_t scaled = rows / (uint32_t)w->opts->scale;

	return scaled ? scaled : 1;
}

static inline int tpcc_insert(struct work *w, struct page_tree_thread *thread,
			      enum tpcc_table table, struct tpcc_key key, const void *row,
			      unsigned int len)
{
	return page_tree_insert(&w->trees[table], thread, (struct bytes){ key.bytes, key.len },
				(struct bytes){ row, len });
}

/* Clause 2.1.6; @c: the constant of the run. */
static inline uint32_t tpcc_nurand(struct rng *rng, uint32_t a, uint32_t c, uint32_t from,
				   uint32_t to)
{
	uint32_t x = (uint32_t)rng_below(rng, a + 1);
	uint32_t y = from + (uint32_t)rng_below(rng, to - from + 1);

	return ((x | y) + c) % (to - from + 1) + from;
}

void tpcc_last_name(uint32_t number, char name[TPCC_NAME]);
int tpcc_load(struct work *w);
int tpcc_verify(struct work *w, char *why, size_t len);

#endif
