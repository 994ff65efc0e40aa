// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * verify.c - compares the content of the database with the population and the journals.
 *
 * A journal has each value that a committed transaction wrote or overwrote. Of each item the
 * population's value, plus those that were written, less those that were overwritten or
 * deleted, must leave exactly the one that is there. So an update that is lost, repeated or
 * half undone is found, in whatever order the threads ran.
 */
#include "tatp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Value of a forwarding that is not there; those that are there have a number above 0. */
#define NONE UINT64_MAX

/**
 * struct verify - state of verify_content()
 * @sm: the storage manager
 * @changes: all changes by key and value
 * @nr: number of changes
 * @at: first change that is not yet regarded
 * @why: receives the first difference
 * @len: size of @why
 */
struct verify {
	struct sm *sm;
	struct change *changes;
	size_t nr, at;
	char *why;
	size_t len;
};

static int change_cmp(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* All journals in one array, by key and value. */
static int collect(struct verify *v, const struct client *clients, unsigned int nr)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		sum += clients[i].journal.nr;
	v->changes = reallocarray(NULL, sum + 1, sizeof(*v->changes));
	if (!v->changes)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		const struct journal *j = &clients[i].journal;

		if (j->nr)
			memcpy(v->changes + v->nr, j->changes, j->nr * sizeof(*j->changes));
		v->nr += j->nr;
	}
	qsort(v->changes, v->nr, sizeof(*v->changes), change_cmp);
	return 0;
}

static bool differs(struct verify *v, uint64_t s_id, unsigned int item, const char *what)
{
	snprintf(v->why, v->len, "subscriber %" PRIu64 ", item %u: %s", s_id, item, what);
	return false;
}

/* Compare the value of an item that is there with the population's one and the changes. */
static bool settle(struct verify *v, uint64_t s_id, unsigned int item, uint64_t load,
		   uint64_t there)
{
	uint64_t key = item_key(s_id, item);
	bool seen_load = load == NONE, seen_there = there == NONE;

	while (v->at < v->nr && v->changes[v->at].key == key) {
		uint64_t value = v->changes[v->at].value;
		int64_t balance = value == load;

		for (; v->at < v->nr && v->changes[v->at].key == key &&
		       v->changes[v->at].value == value; v->at++)
			balance += v->changes[v->at].delta;
		seen_load |= value == load;
		seen_there |= value == there;
		if (balance != (value == there))
			return differs(v, s_id, item,
				       balance < 0 ? "a value was overwritten twice" :
				       balance > 1 ? "a value was written twice" :
				       value == there ? "has a value that was overwritten" :
							"lost a value that was written");
	}
	/* A value that no change names is the population's, and is there or was never. */
	if (!seen_there && there != load)
		return differs(v, s_id, item, "has a value that nobody wrote");
	return (seen_load || there == load) ? true :
					      differs(v, s_id, item, "lost the population's value");
}

/* Read a row by its key, without locks. Returns false if it is not there. */
static bool read_row(struct sm *sm, enum tree tree, uint64_t key, void *row)
{
	struct page_ref ref;
	uint64_t rid;

	if (!btree_lookup(&sm->trees[tree], key, &rid))
		return false;
	buffer_fix(&sm->buffer, rid_page(rid), LATCH_READ, &ref);
	memcpy(row, heap_page_row(ref.page, rid_slot(rid)), ref.page->stride);
	buffer_unfix(&sm->buffer, &ref);
	return true;
}

static bool verify_subscriber(struct verify *v, const struct population *p)
{
	uint64_t s_id = p->subscriber.s_id;
	struct subscriber s, want = p->subscriber;

	if (!read_row(v->sm, SUBSCRIBER_KEY, s_id, &s))
		return differs(v, s_id, ITEM_VLR_LOCATION, "is not there");
	want.vlr_location = s.vlr_location;
	want.bit[0] = s.bit[0];
	if (memcmp(&s, &want, sizeof(s)))
		return differs(v, s_id, ITEM_VLR_LOCATION, "another column has changed");
	return settle(v, s_id, ITEM_VLR_LOCATION, p->subscriber.vlr_location, s.vlr_location) &&
	       settle(v, s_id, ITEM_BIT_1, p->subscriber.bit[0], s.bit[0]);
}

static bool verify_types(struct verify *v, const struct population *p)
{
	uint64_t s_id = p->subscriber.s_id;
	unsigned int access = 0, facility = 0;

	for (unsigned int type = 1; type <= NR_TYPES; type++) {
		const struct access_info *a = &p->access[access];
		const struct special_facility *f = &p->facilities[facility];
		bool has_a = access < p->nr_access && a->ai_type == type;
		bool has_f = facility < p->nr_facilities && f->sf_type == type;
		struct special_facility sf, want = *f;
		struct access_info ai;

		access += has_a;
		facility += has_f;
		if (read_row(v->sm, ACCESS_INFO_KEY, type_key(s_id, type), &ai) != has_a ||
		    (has_a && memcmp(&ai, a, sizeof(ai))))
			return differs(v, s_id, type, "access data have changed");
		if (read_row(v->sm, SPECIAL_FACILITY_KEY, type_key(s_id, type), &sf) != has_f)
			return differs(v, s_id, type, "facilities have changed");
		if (!has_f)
			continue;
		want.data_a = sf.data_a;
		if (memcmp(&sf, &want, sizeof(sf)))
			return differs(v, s_id, type, "a column of a facility has changed");
		if (!settle(v, s_id, ITEM_DATA_A + type - 1, f->data_a, sf.data_a))
			return false;
	}
	return true;
}

static bool verify_forwardings(struct verify *v, const struct population *p)
{
	uint64_t s_id = p->subscriber.s_id;
	unsigned int at = 0;

	for (unsigned int i = 0; i < NR_TYPES * NR_STARTS; i++) {
		unsigned int type = 1 + i / NR_STARTS, start = 8 * (i % NR_STARTS);
		const struct call_forwarding *f = &p->forwardings[at];
		bool had = at < p->nr_forwardings && f->sf_type == type && f->start_time == start;
		struct call_forwarding cf;
		bool has = read_row(v->sm, CALL_FORWARDING_KEY, forwarding_key(s_id, type, start),
				    &cf);

		at += had;
		if (!settle(v, s_id, ITEM_FORWARDING + i, had ? forwarding_value(f) : NONE,
			    has ? forwarding_value(&cf) : NONE))
			return false;
	}
	return true;
}

/**
 * verify_content() - compare the database with the population and the clients' journals
 * @sm: the storage manager; no thread uses it
 * @clients: the clients
 * @nr: number of clients
 * @why: receives the first difference
 * @len: size of @why in bytes
 *
 * Return: true if there is none.
 */
bool verify_content(struct sm *sm, struct client *clients, unsigned int nr, char *why, size_t len)
{
	const struct identity *id = &sm->opts.identity;
	struct verify v = { .sm = sm, .why = why, .len = len };
	bool ok = true;

	if (collect(&v, clients, nr)) {
		snprintf(why, len, "out of memory for the journals");
		return false;
	}
	for (uint32_t s_id = 1; s_id <= id->subscribers && ok; s_id++) {
		struct population p;

		population_of(&p, id->seed, s_id);
		ok = verify_subscriber(&v, &p) && verify_types(&v, &p) &&
		     verify_forwardings(&v, &p);
	}
	if (ok && v.at < v.nr)
		ok = differs(&v, v.changes[v.at].key >> 8, v.changes[v.at].key & 0xff,
			     "a change is of a row that is not there");
	free(v.changes);
	return ok;
}
