// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tpcc-load.c - the rows of TPC-C before the run (revision 5.11, clause 4.3.3).
 */
#include "tpcc.h"

#include "../../base/progress.h"

#include <errno.h>
#include <string.h>

/** tpcc_last_name() - last name number 0 to 999: clause 4.3.2.3 */
void tpcc_last_name(uint32_t number, char name[TPCC_NAME])
{
	static const char *const parts[] = { "BAR", "OUGHT", "ABLE", "PRI", "PRES",
					     "ESE", "ANTI", "CALLY", "ATION", "EING" };
	const char *three[] = { parts[number / 100 % 10], parts[number / 10 % 10],
				parts[number % 10] };
	unsigned int at = 0;

	memset(name, 0, TPCC_NAME);
	for (int i = 0; i < 3; i++)
		for (const char *s = three[i]; *s && at < TPCC_NAME; s++)
			name[at++] = *s;
}

/*
 * struct loader - a load
 * @w: the run
 * @thread: the calling thread
 * @rng: its random numbers
 * @err: the first error, after which nothing is inserted
 */
struct loader {
	struct work *w;
	struct page_tree_thread thread;
	struct rng rng;
	int err;
};

static void put(struct loader *l, enum tpcc_table table, struct tpcc_key key, const void *row,
		size_t len)
{
	if (!l->err)
		l->err = tpcc_insert(l->w, &l->thread, table, key, row, (unsigned int)len);
}

/* Letters that follow from random numbers. */
static void text(struct loader *l, char *to, size_t len)
{
	uint64_t bits = rng_next(&l->rng);

	for (size_t i = 0; i < len; i++)
		to[i] = (char)('a' + (bits >> i % 16 * 4) % 16);
}

static uint32_t below(struct loader *l, uint32_t n)
{
	return (uint32_t)rng_below(&l->rng, n);
}

static void load_items(struct loader *l)
{
	struct tpcc_item row;

	for (uint32_t i = 1; i <= tpcc_rows(l->w, TPCC_ITEMS) && !l->err; i++) {
		row.price = 100 + below(l, 9901);
		text(l, row.rest, sizeof(row.rest));
		put(l, TPCC_item, tpcc_key1(i), &row, sizeof(row));
	}
}

static void load_stock(struct loader *l, uint32_t w)
{
	struct tpcc_stock row = { 0 };

	text(l, row.rest, sizeof(row.rest));
	for (uint32_t i = 1; i <= tpcc_rows(l->w, TPCC_ITEMS) && !l->err; i++) {
		row.quantity = 10 + below(l, 91);
		put(l, TPCC_stock, tpcc_key2(w, i), &row, sizeof(row));
	}
}

static void load_customer(struct loader *l, uint32_t w, uint32_t d, uint32_t c)
{
	struct tpcc_customer row = { .balance = -1000, .ytd_payment = 1000, .payments = 1,
				     .discount = below(l, 5001), .credit = below(l, 10) == 0 };
	struct tpcc_history history = { .amount = 1000 };
	struct tpcc_key name = tpcc_key2(w, d);

	/* The first 1000 customers have all names, so that each name is there. */
	tpcc_last_name(c <= 1000 ? c - 1 : tpcc_nurand(&l->rng, 255, 123, 0, 999), row.last);
	text(l, row.first, sizeof(row.first));
	text(l, row.rest, sizeof(row.rest));
	put(l, TPCC_customer, tpcc_key3(w, d, c), &row, sizeof(row));
	tpcc_key_add_name(&name, row.last);
	tpcc_key_add_name(&name, row.first);
	tpcc_key_add(&name, c);
	put(l, TPCC_names, name, &c, sizeof(c));
	put(l, TPCC_history, tpcc_key4(0, w, d, c), &history, sizeof(history));
}

static void load_order(struct loader *l, uint32_t w, uint32_t d, uint32_t o, uint32_t nr)
{
	struct tpcc_order row = { .customer = 1 + below(l, tpcc_rows(l->w, TPCC_CUSTOMERS)),
				  .lines = 5 + below(l, TPCC_LINES - 4) };
	uint32_t is_new = nr - tpcc_rows(l->w, TPCC_NEW_ORDERS), none = 0;
	struct tpcc_line line = { .supply = w, .quantity = 5 };

	row.carrier = o <= is_new ? 1 + below(l, 10) : 0;
	put(l, TPCC_orders, tpcc_key3(w, d, o), &row, sizeof(row));
	if (o > is_new)
		put(l, TPCC_new_order, tpcc_key3(w, d, o), &none, sizeof(none));
	text(l, line.rest, sizeof(line.rest));
	for (uint32_t i = 1; i <= row.lines; i++) {
		line.item = 1 + below(l, tpcc_rows(l->w, TPCC_ITEMS));
		line.amount = o <= is_new ? 0 : 1 + below(l, 999999);
		put(l, TPCC_order_line, tpcc_key4(w, d, o, i), &line, sizeof(line));
	}
}

static void load_district(struct loader *l, uint32_t w, uint32_t d)
{
	uint32_t customers = tpcc_rows(l->w, TPCC_CUSTOMERS);
	struct tpcc_district row = { .ytd = 3000000, .next_order = customers + 1,
				     .tax = below(l, 2001) };

	text(l, row.rest, sizeof(row.rest));
	put(l, TPCC_district, tpcc_key2(w, d), &row, sizeof(row));
	for (uint32_t c = 1; c <= customers && !l->err; c++)
		load_customer(l, w, d, c);
	/* There are as many orders as customers. */
	for (uint32_t o = 1; o <= customers && !l->err; o++)
		load_order(l, w, d, o, customers);
}

static void load_warehouse(struct loader *l, uint32_t w)
{
	struct tpcc_warehouse row = { .ytd = 3000000 * TPCC_DISTRICTS, .tax = below(l, 2001) };

	text(l, row.rest, sizeof(row.rest));
	put(l, TPCC_warehouse, tpcc_key1(w), &row, sizeof(row));
	load_stock(l, w);
	for (uint32_t d = 1; d <= TPCC_DISTRICTS && !l->err; d++) {
		progress_show("loading", (w - 1) * (uint64_t)TPCC_DISTRICTS + d,
			      l->w->opts->warehouses * TPCC_DISTRICTS);
		load_district(l, w, d);
		if (!l->err && l->w->interrupted())
			l->err = -EINTR;
	}
}

/**
 * tpcc_load() - make the tables and their rows
 * @w: the run
 *
 * Return: 0, -EINTR after a signal, or another -errno.
 */
int tpcc_load(struct work *w)
{
	static const char *const names[NR_TPCC_TABLES] = {
#define TABLE(id) #id,
		TPCC_TABLES(TABLE)
#undef TABLE
	};
	struct loader l = { .w = w };

	rng_seed(&l.rng, w->seed, UINT32_MAX);
	page_tree_thread_init(&l.thread, w->seed, UINT32_MAX);
	for (unsigned int i = 0; i < NR_TPCC_TABLES && !l.err; i++)
		l.err = work_tree(w, names[i], true);
	if (!l.err)
		load_items(&l);
	for (uint32_t i = 1; i <= w->opts->warehouses && !l.err; i++)
		load_warehouse(&l, i);
	progress_clear();
	/* Of this workload it is the number of runs: see history_key() in tpcc.c. */
	w->next = !l.err;
	return l.err;
}
