// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tatp.c - the seven transactions of TATP.
 *
 * Whoever looks a key up locks it in the index, whether it is there or not. The entries of
 * CALL_FORWARDING of one facility are one key for that, so that no other transaction inserts
 * into a range that was read.
 */
#include "tatp.h"

#include "../../base/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Changes that a transaction writes, at most: two columns. */
#define CHANGES_MAX 4

static void journal_add(struct client *c, uint64_t key, uint64_t value, int delta)
{
	struct journal *j = &c->journal;

	j->changes[j->nr + j->fresh++] = (struct change){ .key = key, .value = value,
							  .delta = delta };
}

static int journal_room(struct journal *j)
{
	size_t max = j->max ? 2 * j->max : 1024;
	struct change *changes;

	j->fresh = 0;
	if (j->max - j->nr >= CHANGES_MAX)
		return 0;
	changes = reallocarray(j->changes, max, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	j->changes = changes;
	j->max = max;
	return 0;
}

/* Lock a key of an index, and look it up. Returns 0, TATP_FAILED if it is not there, or -errno. */
static int find(struct client *c, enum tree tree, uint64_t key, uint32_t lock, enum lock_mode mode,
		uint64_t *rid)
{
	struct btree *t = &c->sm->trees[tree];
	int err = lock_key(c->x->locks, t->store, lock, mode);

	if (err)
		return err;
	return btree_lookup(t, key, rid) ? 0 : TATP_FAILED;
}

/* Read a row by its key. */
static int read_row(struct client *c, enum tree tree, uint64_t key, enum lock_mode mode, void *row,
		    uint64_t *rid)
{
	int err = find(c, tree, key, (uint32_t)key, LOCK_S, rid);

	return err ? err : heap_read(c->x, &c->sm->heaps[tree_table(tree)], *rid, mode, row);
}

static int get_subscriber_data(struct client *c, const struct input *in)
{
	struct subscriber s;
	uint64_t rid;
	int err = read_row(c, SUBSCRIBER_KEY, in->s_id, LOCK_S, &s, &rid);

	if (err)
		return err;
	for (unsigned int i = 0; i < 10; i++)
		c->sum += s.bit[i] + s.hex[i] + s.byte2[i];
	c->sum += s.msc_location + s.vlr_location + number_value(s.sub_nbr);
	/* There is no subscriber that has another number than its key. */
	return s.s_id == in->s_id ? 0 : -EBADMSG;
}

/* Read the forwardings of a facility from a start time on down, and sum those that fit. */
static int read_forwardings(struct client *c, const struct input *in)
{
	struct btree *tree = &c->sm->trees[CALL_FORWARDING_KEY];
	struct index_entry found[NR_STARTS];
	unsigned int nr, hits = 0;
	int err = lock_key(c->x->locks, tree->store, (uint32_t)type_key(in->s_id, in->type),
			   LOCK_S);

	if (err)
		return err;
	nr = btree_range(tree, forwarding_key(in->s_id, in->type, 0),
			 forwarding_key(in->s_id, in->type, in->start), found, NR_STARTS);
	for (unsigned int i = 0; i < nr; i++) {
		struct call_forwarding f;

		err = heap_read(c->x, &c->sm->heaps[CALL_FORWARDING], found[i].value, LOCK_S, &f);
		if (err)
			return err;
		if (f.end_time <= in->end)
			continue;
		c->sum += number_value(f.numberx);
		hits++;
	}
	return hits ? 0 : TATP_FAILED;
}

static int get_new_destination(struct client *c, const struct input *in)
{
	struct special_facility f;
	uint64_t rid;
	int err = read_row(c, SPECIAL_FACILITY_KEY, type_key(in->s_id, in->type), LOCK_S, &f, &rid);

	if (err)
		return err;
	return f.is_active ? read_forwardings(c, in) : TATP_FAILED;
}

static int get_access_data(struct client *c, const struct input *in)
{
	struct access_info a;
	uint64_t rid;
	int err = read_row(c, ACCESS_INFO_KEY, type_key(in->s_id, in->type), LOCK_S, &a, &rid);

	if (err)
		return err;
	c->sum += a.data1 + a.data2 + (unsigned char)a.data3[0] + (unsigned char)a.data4[0];
	return a.s_id == in->s_id ? 0 : -EBADMSG;
}

/* Change a byte of a row, and note it. */
static int update_byte(struct client *c, enum table table, uint64_t rid, size_t off, uint8_t value,
		       uint64_t item)
{
	uint8_t old;
	int err = heap_update(c->x, &c->sm->heaps[table], rid, (unsigned int)off, 1, &value, &old);

	if (err)
		return err;
	journal_add(c, item, old, -1);
	journal_add(c, item, value, +1);
	return 0;
}

static int update_subscriber_data(struct client *c, const struct input *in)
{
	uint64_t rid;
	int err = find(c, SUBSCRIBER_KEY, in->s_id, (uint32_t)in->s_id, LOCK_S, &rid);

	if (!err)
		err = update_byte(c, SUBSCRIBER, rid, offsetof(struct subscriber, bit),
				  in->value & 1, item_key(in->s_id, ITEM_BIT_1));
	if (!err)
		err = find(c, SPECIAL_FACILITY_KEY, type_key(in->s_id, in->type),
			   (uint32_t)type_key(in->s_id, in->type), LOCK_S, &rid);
	if (!err)
		err = update_byte(c, SPECIAL_FACILITY, rid,
				  offsetof(struct special_facility, data_a),
				  (uint8_t)(in->value >> 8),
				  item_key(in->s_id, ITEM_DATA_A + in->type - 1));
	return err;
}

static int update_location(struct client *c, const struct input *in)
{
	uint32_t value = (uint32_t)in->value, old;
	struct subscriber s;
	uint64_t rid;
	/* The row is found and locked by a cursor first, and changed then. */
	int err = read_row(c, SUBSCRIBER_NUMBER, in->s_id, LOCK_U, &s, &rid);

	if (!err)
		err = heap_update(c->x, &c->sm->heaps[SUBSCRIBER], rid,
				  offsetof(struct subscriber, vlr_location), sizeof(value), &value,
				  &old);
	if (err)
		return err;
	journal_add(c, item_key(s.s_id, ITEM_VLR_LOCATION), old, -1);
	journal_add(c, item_key(s.s_id, ITEM_VLR_LOCATION), value, +1);
	return 0;
}

static unsigned int forwarding_item(const struct input *in)
{
	return ITEM_FORWARDING + (in->type - 1) * NR_STARTS + in->start / 8;
}

/* Read all facilities of a subscriber. Returns TATP_FAILED if the one of @in is not there. */
static int read_facilities(struct client *c, const struct input *in)
{
	int ret = TATP_FAILED;

	for (unsigned int type = 1; type <= NR_TYPES; type++) {
		struct special_facility f;
		uint64_t rid;
		int err = read_row(c, SPECIAL_FACILITY_KEY, type_key(in->s_id, type), LOCK_S, &f,
				   &rid);

		if (err < 0)
			return err;
		if (!err && type == in->type)
			ret = 0;
	}
	return ret;
}

/* The subscriber of a number. */
static int find_number(struct client *c, const struct input *in)
{
	struct subscriber s;
	uint64_t rid;
	int err = read_row(c, SUBSCRIBER_NUMBER, in->s_id, LOCK_S, &s, &rid);

	return err ? err : s.s_id == in->s_id ? 0 : -EBADMSG;
}

static int insert_call_forwarding(struct client *c, const struct input *in)
{
	struct btree *tree = &c->sm->trees[CALL_FORWARDING_KEY];
	struct call_forwarding f = { .s_id = (uint32_t)in->s_id, .sf_type = (uint8_t)in->type,
				     .start_time = (uint8_t)in->start,
				     .end_time = (uint8_t)in->end };
	uint64_t rid;
	int err = find_number(c, in);

	if (!err)
		err = read_facilities(c, in);
	if (!err)
		err = lock_key(c->x->locks, tree->store, (uint32_t)type_key(in->s_id, in->type),
			       LOCK_X);
	if (err)
		return err;
	number_print(f.numberx, in->value);
	err = heap_insert(c->x, &c->sm->heaps[CALL_FORWARDING], &f, &rid);
	if (!err)
		err = btree_insert(c->x, tree, forwarding_key(in->s_id, in->type, in->start), rid);
	if (err)
		return err == -EEXIST ? TATP_FAILED : err;
	journal_add(c, item_key(in->s_id, forwarding_item(in)), forwarding_value(&f), +1);
	return 0;
}

static int delete_call_forwarding(struct client *c, const struct input *in)
{
	uint64_t key = forwarding_key(in->s_id, in->type, in->start), rid;
	struct call_forwarding f;
	int err = find_number(c, in);

	if (!err)
		err = find(c, CALL_FORWARDING_KEY, key, (uint32_t)type_key(in->s_id, in->type),
			   LOCK_X, &rid);
	if (!err)
		err = heap_delete(c->x, &c->sm->heaps[CALL_FORWARDING], rid, &f);
	if (!err)
		err = btree_delete(c->x, &c->sm->trees[CALL_FORWARDING_KEY], key);
	if (err)
		return err;
	journal_add(c, item_key(in->s_id, forwarding_item(in)), forwarding_value(&f), -1);
	return 0;
}

/**
 * transact() - run a transaction once, and end it
 * @c: the client
 * @in: the transaction
 *
 * Return: 0 if it was successful and is durable, TATP_FAILED if it was not successful and has
 * changed nothing, -EDEADLK if it is to be repeated, or another -errno.
 */
int transact(struct client *c, const struct input *in)
{
	static int (*const run[NR_TRANSACTIONS])(struct client *, const struct input *) = {
#define TRANSACTION(id, name, share, success, help) [XCT_##id] = id,
#include "transactions.def"
	};
	int ret = journal_room(&c->journal), err;

	if (ret)
		return ret;
	ret = run[in->kind](c, in);
	if (ret) {
		err = xct_rollback(c->x);
		return err ? err : ret;
	}
	ret = xct_commit(c->x);
	if (!ret)
		c->journal.nr += c->journal.fresh;
	return ret;
}

/* Add 1 to a number that only this thread changes, and others may read. */
static void count(uint64_t *number)
{
	__atomic_store_n(number, *number + 1, __ATOMIC_RELAXED);
}

/**
 * client_step() - draw a transaction and run it until it is not the victim of a deadlock
 * @c: the client
 *
 * Return: 0 or -errno, as when memory or a disk is full.
 */
int client_step(struct client *c)
{
	struct input in;
	uint64_t begin;
	int ret;

	draw_input(c, &in);
	begin = c->latency ? now_ns() : 0;
	while ((ret = transact(c, &in)) == -EDEADLK)
		count(&c->tally.retried[in.kind]);
	if (ret < 0)
		return ret;
	if (c->latency)
		histogram_count(&c->latency[in.kind], now_ns() - begin);
	count(&c->tally.done[in.kind]);
	if (!ret)
		count(&c->tally.ok[in.kind]);
	return 0;
}
