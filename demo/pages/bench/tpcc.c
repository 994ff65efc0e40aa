// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tpcc.c - new-order and payment transactions of TPC-C, revision 5.11, clauses 2.4 and 2.5, without
 * isolation, as Alhomssi and Leis, CIDR 2021, section 5: each operation on a row is atomic, a
 * transaction is not. 45 of 88 transactions are new orders, 43 payments (clause 5.2.3).
 */
#include "tpcc.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static struct bytes bytes_of(const struct tpcc_key *key)
{
	return (struct bytes){ key->bytes, key->len };
}

/* Read a row, which must be there. */
static int get(struct work *w, enum tpcc_table table, struct tpcc_key key, void *row, size_t room)
{
	unsigned int len;
	int err = page_tree_lookup(&w->trees[table], bytes_of(&key), row, (unsigned int)room, &len);

	return err == -ENOENT ? -EBADMSG : err;
}

/* Change a row, which must be there. */
static int change(struct worker *t, enum tpcc_table table, struct tpcc_key key,
		  page_tree_change how, void *ctx)
{
	int err = page_tree_update(&t->work->trees[table], &t->tree, bytes_of(&key), how, ctx);

	return err == -ENOENT ? -EBADMSG : err;
}

static uint32_t customer(struct worker *t)
{
	uint32_t nr = tpcc_rows(t->work, TPCC_CUSTOMERS);

	return tpcc_nurand(&t->rng, 1023, 259, 1, nr);
}

/* The members of a row at @value, which may lie at any address, are changed in a copy. */
#define CHANGE(type, name, value, what)                                                            \
	do {                                                                                       \
		struct type name;                                                                  \
		memcpy(&name, value, offsetof(struct type, rest));                                 \
		what;                                                                              \
		memcpy(value, &name, offsetof(struct type, rest));                                 \
	} while (0)

/* ctx: receives the number of the order. */
static void next_order(void *ctx, void *value, unsigned int len)
{
	uint32_t *order = ctx;

	CHANGE(tpcc_district, d, value, *order = d.next_order++);
}

/* struct line - a line of a new order: what is bought, from where */
struct line {
	uint32_t item, supply, quantity;
	bool remote;
};

/* Clause 2.4.2.2 */
static void take_stock(void *ctx, void *value, unsigned int len)
{
	const struct line *line = ctx;

	CHANGE(tpcc_stock, s, value, {
		s.quantity = s.quantity >= line->quantity + 10 ? s.quantity - line->quantity :
								 s.quantity + 91 - line->quantity;
		s.ytd += line->quantity;
		s.orders++;
		s.remote += line->remote;
	});
}

static void draw_lines(struct worker *t, uint32_t warehouse, struct line *lines, uint32_t nr)
{
	uint32_t items = tpcc_rows(t->work, TPCC_ITEMS);
	uint32_t warehouses = (uint32_t)t->work->opts->warehouses;

	for (uint32_t i = 0; i < nr; i++) {
		struct line *line = &lines[i];

		line->item = tpcc_nurand(&t->rng, 8191, 7911, 1, items);
		line->quantity = 1 + (uint32_t)rng_below(&t->rng, 10);
		line->supply = warehouse;
		if (warehouses > 1 && !rng_below(&t->rng, 100))
			line->supply = 1 + (uint32_t)rng_below(&t->rng, warehouses);
		line->remote = line->supply != warehouse;
	}
}

static int add_line(struct worker *t, uint32_t w, uint32_t d, uint32_t o, uint32_t i,
		    struct line *line)
{
	struct tpcc_line row = { .item = line->item, .supply = line->supply,
				 .quantity = line->quantity };
	struct tpcc_item item;
	int err = get(t->work, TPCC_item, tpcc_key1(line->item), &item, sizeof(item));

	if (!err)
		err = change(t, TPCC_stock, tpcc_key2(line->supply, line->item), take_stock, line);
	if (err)
		return err;
	row.amount = item.price * line->quantity;
	return tpcc_insert(t->work, &t->tree, TPCC_order_line, tpcc_key4(w, d, o, i), &row,
			   sizeof(row));
}

/* Clause 2.4.2: 1 % are rolled back because of an unknown item, here before any change. */
static int new_order(struct worker *t, uint32_t w)
{
	uint32_t d = 1 + (uint32_t)rng_below(&t->rng, TPCC_DISTRICTS), o, none = 0;
	struct tpcc_order row = { .customer = customer(t),
				  .lines = 5 + (uint32_t)rng_below(&t->rng, TPCC_LINES - 4) };
	struct tpcc_warehouse warehouse;
	struct tpcc_customer c;
	struct line lines[TPCC_LINES];
	int err = get(t->work, TPCC_warehouse, tpcc_key1(w), &warehouse, sizeof(warehouse));

	draw_lines(t, w, lines, row.lines);
	if (!err)
		err = get(t->work, TPCC_customer, tpcc_key3(w, d, row.customer), &c, sizeof(c));
	if (err || !rng_below(&t->rng, 100))
		return err;
	err = change(t, TPCC_district, tpcc_key2(w, d), next_order, &o);
	if (!err)
		err = tpcc_insert(t->work, &t->tree, TPCC_orders, tpcc_key3(w, d, o), &row,
				  sizeof(row));
	if (!err)
		err = tpcc_insert(t->work, &t->tree, TPCC_new_order, tpcc_key3(w, d, o), &none,
				  sizeof(none));
	for (uint32_t i = 0; i < row.lines && !err; i++)
		err = add_line(t, w, d, o, i + 1, &lines[i]);
	return err;
}

/* ctx: the amount. */
static void pay_warehouse(void *ctx, void *value, unsigned int len)
{
	CHANGE(tpcc_warehouse, w, value, w.ytd += *(uint64_t *)ctx);
}

static void pay_district(void *ctx, void *value, unsigned int len)
{
	CHANGE(tpcc_district, d, value, d.ytd += *(uint64_t *)ctx);
}

static void pay_customer(void *ctx, void *value, unsigned int len)
{
	uint64_t amount = *(uint64_t *)ctx;

	CHANGE(tpcc_customer, c, value, {
		c.balance -= (int64_t)amount;
		c.ytd_payment += amount;
		c.payments++;
	});
}

/* struct found - the customers of a name */
struct found {
	struct tpcc_key prefix;
	uint32_t nr;
	uint32_t ids[256];
};

static bool find(void *ctx, struct bytes key, struct bytes value)
{
	struct found *f = ctx;

	if (key.len < f->prefix.len || memcmp(key.data, f->prefix.bytes, f->prefix.len) ||
	    f->nr == sizeof(f->ids) / sizeof(*f->ids))
		return false;
	memcpy(&f->ids[f->nr++], value.data, sizeof(f->ids[0]));
	return true;
}

/* Clause 2.5.2.2: of all customers of a name the one in the middle, in the order of first names. */
static int by_name(struct worker *t, uint32_t w, uint32_t d, uint32_t *c)
{
	uint32_t nr = tpcc_rows(t->work, TPCC_CUSTOMERS);
	struct found f = { .prefix = tpcc_key2(w, d) };
	char name[TPCC_NAME];
	int err;

	tpcc_last_name(tpcc_nurand(&t->rng, 255, 223, 0, nr < 1000 ? nr - 1 : 999), name);
	tpcc_key_add_name(&f.prefix, name);
	err = page_tree_scan(&t->work->trees[TPCC_names], bytes_of(&f.prefix), find, &f);
	if (err)
		return err;
	*c = f.nr ? f.ids[f.nr / 2] : 0;
	return f.nr ? 0 : -EBADMSG;
}

/* Keys of the history differ by the run of the program, the thread, and its payments. */
static struct tpcc_key history_key(const struct worker *t)
{
	uint64_t nr = t->done[KIND_payment];

	return tpcc_key4((uint32_t)t->work->next, t->nr, (uint32_t)(nr >> 32), (uint32_t)nr);
}

/* Clause 2.5: 60 % find the customer by the name, 15 % are of another warehouse. */
static int payment(struct worker *t, uint32_t w)
{
	uint32_t d = 1 + (uint32_t)rng_below(&t->rng, TPCC_DISTRICTS), cw = w, cd = d, c;
	uint32_t warehouses = (uint32_t)t->work->opts->warehouses;
	uint64_t amount = 100 + rng_below(&t->rng, 499901);
	struct tpcc_history history = { .amount = amount };
	int err = 0;

	if (warehouses > 1 && rng_below(&t->rng, 100) < 15) {
		cw = 1 + (uint32_t)rng_below(&t->rng, warehouses);
		cd = 1 + (uint32_t)rng_below(&t->rng, TPCC_DISTRICTS);
	}
	if (rng_below(&t->rng, 100) < 60)
		err = by_name(t, cw, cd, &c);
	else
		c = customer(t);
	if (!err)
		err = change(t, TPCC_warehouse, tpcc_key1(w), pay_warehouse, &amount);
	if (!err)
		err = change(t, TPCC_district, tpcc_key2(w, d), pay_district, &amount);
	if (!err)
		err = change(t, TPCC_customer, tpcc_key3(cw, cd, c), pay_customer, &amount);
	return err ? err : tpcc_insert(t->work, &t->tree, TPCC_history, history_key(t), &history,
				       sizeof(history));
}

static int tpcc_step(struct worker *t)
{
	uint32_t w = 1 + (uint32_t)rng_below(&t->rng, t->work->opts->warehouses);
	bool is_order = rng_below(&t->rng, 88) < 45;
	int err = is_order ? new_order(t, w) : payment(t, w);

	if (!err)
		worker_count(t, is_order ? KIND_new_order : KIND_payment);
	return err;
}

static int tpcc_open(struct work *w)
{
	static const char *const names[NR_TPCC_TABLES] = {
#define TABLE(id) #id,
		TPCC_TABLES(TABLE)
#undef TABLE
	};
	int err = 0;

	w->next = *pool_note(&w->pool, NOTE_next) + 1;
	for (unsigned int i = 0; i < NR_TPCC_TABLES && !err; i++)
		err = work_tree(w, names[i], false);
	return w->next == 1 ? -ENOENT : err;
}

/* struct sums - what the consistency conditions compare, of a district; @ytd: of a warehouse */
struct sums {
	uint64_t ytd;
	uint64_t first, last, nr;
	uint64_t lines;
	struct tpcc_key prefix;
};

static bool in_prefix(const struct sums *s, struct bytes key)
{
	return !memcmp(key.data, s->prefix.bytes, s->prefix.len);
}

static bool sum_district(void *ctx, struct bytes key, struct bytes value)
{
	struct sums *s = ctx;
	struct tpcc_district d;

	if (!in_prefix(s, key))
		return false;
	memcpy(&d, value.data, sizeof(d));
	s->ytd += d.ytd;
	return true;
}

static bool sum_order(void *ctx, struct bytes key, struct bytes value)
{
	struct sums *s = ctx;
	struct tpcc_order row;

	if (!in_prefix(s, key))
		return false;
	if (value.len == sizeof(row)) {
		memcpy(&row, value.data, sizeof(row));
		s->lines += row.lines;
	}
	s->last = tpcc_key_number(key, 2);
	s->first = s->nr++ ? s->first : s->last;
	return true;
}

static bool count_line(void *ctx, struct bytes key, struct bytes value)
{
	struct sums *s = ctx;

	s->nr += in_prefix(s, key);
	return in_prefix(s, key);
}

static int sum(struct work *w, enum tpcc_table table, page_tree_visit visit, struct tpcc_key prefix,
	       struct sums *s)
{
	*s = (struct sums){ .prefix = prefix };
	return page_tree_scan(&w->trees[table], bytes_of(&prefix), visit, s);
}

static int inconsistent(char *why, size_t len, int condition, uint32_t w, uint32_t d)
{
	snprintf(why, len, "TPC-C consistency condition %d fails for warehouse %u, district %u",
		 condition, w, d);
	return -EBADMSG;
}

/* Conditions 2 to 4 of clause 3.3.2 for a district. */
static int verify_district(struct work *w, uint32_t warehouse, uint32_t d, char *why, size_t len)
{
	struct tpcc_key key = tpcc_key2(warehouse, d);
	struct sums orders, fresh, lines;
	struct tpcc_district row;
	int err = get(w, TPCC_district, key, &row, sizeof(row));

	if (!err)
		err = sum(w, TPCC_orders, sum_order, key, &orders);
	if (!err)
		err = sum(w, TPCC_new_order, sum_order, key, &fresh);
	if (!err)
		err = sum(w, TPCC_order_line, count_line, key, &lines);
	if (err) {
		snprintf(why, len, "%s", strerror(-err));
		return err;
	}
	if (row.next_order - 1 != orders.last || orders.last != fresh.last)
		return inconsistent(why, len, 2, warehouse, d);
	if (fresh.last - fresh.first + 1 != fresh.nr)
		return inconsistent(why, len, 3, warehouse, d);
	if (orders.lines != lines.nr)
		return inconsistent(why, len, 4, warehouse, d);
	return 0;
}

/**
 * tpcc_verify() - the consistency conditions 1 to 4 of clause 3.3.2
 * @w: the run, whose threads have ended
 * @why: receives what is wrong
 * @len: size of @why in bytes
 *
 * Return: 0, -EBADMSG, or another -errno of a page that cannot be read.
 */
int tpcc_verify(struct work *w, char *why, size_t len)
{
	int err = 0;

	for (uint32_t i = 1; i <= w->opts->warehouses && !err; i++) {
		struct tpcc_warehouse row;
		struct sums s;

		err = get(w, TPCC_warehouse, tpcc_key1(i), &row, sizeof(row));
		if (!err)
			err = sum(w, TPCC_district, sum_district, tpcc_key1(i), &s);
		if (err)
			snprintf(why, len, "%s", strerror(-err));
		else if (row.ytd != s.ytd)
			err = inconsistent(why, len, 1, i, 0);
		for (uint32_t d = 1; d <= TPCC_DISTRICTS && !err; d++)
			err = verify_district(w, i, d, why, len);
	}
	return err;
}

/**
 * tpcc_pages() - pages that the tables will have, roughly and rather too many
 * @opts: the command line
 */
uint64_t tpcc_pages(const struct options *opts)
{
	/* Half full, a warehouse takes 190 MiB and the items 20 MiB; a transaction adds 2 KiB. */
	uint64_t kib = opts->warehouses * (190 * 1024 / opts->scale + 512) + 20 * 1024 / opts->scale;

	if (!options_duration(opts))
		kib += opts->operations * 2;
	return (kib + opts->warmup * 2) * 1024 / PAGE_BYTES + 64;
}

const struct workload work_tpcc = {
	.family = FAMILY_tpcc,
	.load = tpcc_load,
	.open = tpcc_open,
	.step = tpcc_step,
	.verify = tpcc_verify,
};
