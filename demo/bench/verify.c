// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * verify.c - compares an index with the journals of its writers (see verify.h).
 *
 * The loaded entries are stored in the index only: they are all even keys below a
 * bound. The comparison generates them in ascending order and merges them with the
 * journals, which it sorts by key.
 */
#include "verify.h"

#include "../index/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/**
 * journal_reserve() - make room for changes
 * @journal: the journal
 * @max: number of changes that the journal must be able to hold
 *
 * The new memory is written once, so that its pages are present.
 *
 * Return: 0, or -ENOMEM with the journal unchanged.
 */
int journal_reserve(struct journal *journal, size_t max)
{
	struct change *changes;

	if (max <= journal->max)
		return 0;
	changes = reallocarray(journal->changes, max, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	memset(changes + journal->max, 0, (max - journal->max) * sizeof(*changes));
	journal->changes = changes;
	journal->max = max;
	return 0;
}

/**
 * journal_free() - free the memory of a journal, which is empty afterwards
 * @journal: the journal
 */
void journal_free(struct journal *journal)
{
	free(journal->changes);
	*journal = (struct journal){ 0 };
}

/*
 * struct expected - generates the expected entries of the index in ascending order
 * @journals: journals with changes that are not yet processed, a binary heap; the first
 *	      one has the least change
 * @nr: number of these journals
 * @load_key: the next loaded key
 * @load_end: the first even key that was not loaded
 * @fault: receives the first difference
 */
struct expected {
	struct journal **journals;
	unsigned int nr;
	uint64_t load_key, load_end;
	struct fault fault;
};

static int change_cmp(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static const struct change *least(const struct journal *journal)
{
	return &journal->changes[journal->at];
}

/* Move the journal at @at down the heap until no journal below it has a lesser change. */
static void sink(struct expected *e, unsigned int at)
{
	for (;;) {
		unsigned int child = 2 * at + 1;
		struct journal *journal = e->journals[at];

		if (child >= e->nr)
			return;
		if (child + 1 < e->nr &&
		    change_cmp(least(e->journals[child + 1]), least(e->journals[child])) < 0)
			child++;
		if (change_cmp(least(journal), least(e->journals[child])) <= 0)
			return;
		e->journals[at] = e->journals[child];
		e->journals[child] = journal;
		at = child;
	}
}

/* The least change that is not yet processed, by key and value; NULL after the last. */
static const struct change *change_next(const struct expected *e)
{
	return e->nr ? least(e->journals[0]) : NULL;
}

/* Mark the change that change_next() returned as processed. */
static void change_done(struct expected *e)
{
	struct journal *journal = e->journals[0];

	if (++journal->at == journal->nr) {
		e->journals[0] = e->journals[--e->nr];
		e->journals[e->nr] = journal;
	}
	sink(e, 0);
}

static bool change_of(const struct change *change, uint64_t key)
{
	return change && change->key == key;
}

/* Sum the changes of a key with a value; @loaded: the load wrote it, too. */
static int value_balance(struct expected *e, uint64_t key, uint64_t value, bool loaded,
			 int64_t *balance)
{
	const struct change *next;

	*balance = loaded;
	while (change_of(next = change_next(e), key) && next->value == value) {
		*balance += next->delta;
		change_done(e);
	}
	if (*balance < 0)
		return fault(&e->fault, "key %" PRIu64 ": a value was deleted that was not there",
			     key);
	if (*balance > 1)
		return fault(&e->fault, "key %" PRIu64 ": one insert took place twice", key);
	return 0;
}

/*
 * The entries that remain of a key: their number @live, 0 or 1, and the @value. Values
 * are processed in ascending order, the loaded value among those of the changes.
 */
static int key_balance(struct expected *e, uint64_t key, bool loaded, int64_t *live,
		       uint64_t *value)
{
	uint64_t load_value = value_of(key, WRITER_LOAD, 0);
	int64_t balance;

	*live = 0;
	do {
		const struct change *change = change_next(e);
		uint64_t next = change_of(change, key) ? change->value : load_value;
		bool from_load = loaded && next >= load_value;

		if (from_load) {
			next = load_value;
			loaded = false;
		}
		if (value_balance(e, key, next, from_load, &balance))
			return -EINVAL;
		if (balance)
			*value = next;
		*live += balance;
	} while (loaded || change_of(change_next(e), key));
	if (*live > 1)
		return fault(&e->fault, "key %" PRIu64 ": inserted while it was present", key);
	return 0;
}

/* The next expected entry. Returns 1 with the entry, 0 at the end, -EINVAL at a fault. */
static int expected_next(struct expected *e, uint64_t *key, uint64_t *value)
{
	int64_t live = 0;

	while (!live) {
		const struct change *change = change_next(e);
		bool loaded = e->load_key < e->load_end;

		if (change && (!loaded || change->key <= e->load_key)) {
			*key = change->key;
			loaded = loaded && *key == e->load_key;
		} else if (loaded) {
			*key = e->load_key;
		} else {
			return 0;
		}
		if (loaded)
			e->load_key += 2;
		if (key_balance(e, *key, loaded, &live, value))
			return -EINVAL;
	}
	return 1;
}

/* Compare an entry of the index, which come in ascending order, with the expected one. */
static int visit(void *ctx, uint64_t key, uint64_t value)
{
	struct expected *e = ctx;
	uint64_t want_key, want_value;
	int more = expected_next(e, &want_key, &want_value);

	if (more < 0)
		return more;
	if (!more || key < want_key)
		return fault(&e->fault, "key %" PRIu64 " is present and should not be", key);
	if (key > want_key)
		return fault(&e->fault, "key %" PRIu64 " is lost", want_key);
	if (value != want_value)
		return fault(&e->fault, "key %" PRIu64 " has the value of another insert", key);
	return 0;
}

/**
 * verify_content() - compare the content of an index with the journals of its writers
 * @index: the index; no other thread may use it
 * @preload: number of loaded even keys, from 0 on
 * @journals: the journals of all threads; the function sorts them and reorders the array
 * @nr: number of journals
 * @why: receives the first difference, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * The function allocates no memory, so it also works after a run that ran out of it.
 *
 * Return: true if the content is as expected, else false with @why written.
 */
bool verify_content(const struct index *index, uint64_t preload, struct journal **journals,
		    unsigned int nr, char *why, size_t len)
{
	struct expected e = { .load_end = 2 * preload, .fault = { why, len } };
	uint64_t key, value;
	int ret;

	e.journals = journals;
	for (unsigned int i = 0; i < nr; i++) {
		struct journal *journal = journals[i];

		journal->at = 0;
		if (!journal->nr)
			continue;
		qsort(journal->changes, journal->nr, sizeof(journal->changes[0]), change_cmp);
		journals[i] = journals[e.nr];
		journals[e.nr++] = journal;
	}
	for (unsigned int i = e.nr / 2; i-- > 0;)
		sink(&e, i);
	ret = index->ops->tree->walk(index->tree, visit, &e);
	if (!ret && (ret = expected_next(&e, &key, &value)) > 0)
		fault(&e.fault, "key %" PRIu64 " is lost", key);
	return !ret;
}
