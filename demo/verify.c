// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * verify.c - compares an index with the journals of its writers (see verify.h).
 *
 * Loaded entries are not stored anywhere but in the index: they are even keys
 * in ascending order, counted along while the journals are read in key order,
 * merged as they are read.
 */
#include "verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * journal_reserve() - have room for @max changes
 * @journal: the journal
 * @max: changes in all
 *
 * The new room is written once, so that its pages are present.
 *
 * Return: 0, or -ENOMEM with the journal as it was.
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
 * journal_free() - forget all changes
 * @journal: the journal
 */
void journal_free(struct journal *journal)
{
	free(journal->changes);
	*journal = (struct journal){ 0 };
}

/*
 * struct expected - the entries the index must hold, in ascending order
 * @journals: those with changes not yet used up, a heap: the least change is that of the first
 * @nr: how many
 * @load_key: the loaded key that comes next
 * @load_end: the first even key that was not loaded
 */
struct expected {
	struct journal **journals;
	unsigned int nr;
	uint64_t load_key, load_end;
	char *why;
	size_t len;
};

static int __attribute__((format(printf, 2, 3))) fault(struct expected *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->why, e->len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

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

/* Let the journal at @at sink to where none below it has a lesser change. */
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

/* Of all changes the next by key and value, NULL behind the last. */
static const struct change *change_next(const struct expected *e)
{
	return e->nr ? least(e->journals[0]) : NULL;
}

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

/* Add up the changes of one key and one value; @loaded if it was there at the start. */
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
		return fault(e, "key %" PRIu64 ": a value was deleted that was not there", key);
	if (*balance > 1)
		return fault(e, "key %" PRIu64 ": one insert took place twice", key);
	return 0;
}

/*
 * What remains of one key: @live entries (0 or 1), the last with @value.
 * The value it was loaded with is looked at first if no change names it.
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
		return fault(e, "key %" PRIu64 ": inserted while it was present", key);
	return 0;
}

/* The next entry that must be there: 1 and the entry, 0 at the end, -EINVAL. */
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

/* An entry of the index, in ascending order: it must be the one that comes next. */
static int visit(void *ctx, uint64_t key, uint64_t value)
{
	struct expected *e = ctx;
	uint64_t want_key, want_value;
	int more = expected_next(e, &want_key, &want_value);

	if (more < 0)
		return more;
	if (!more || key < want_key)
		return fault(e, "key %" PRIu64 " is present and should not be", key);
	if (key > want_key)
		return fault(e, "key %" PRIu64 " is lost", want_key);
	if (value != want_value)
		return fault(e, "key %" PRIu64 " has the value of another insert", key);
	return 0;
}

/**
 * verify_content() - compare an index with what its writers report
 * @index: no other thread may use it
 * @preload: even keys loaded, from 0 on
 * @journals: of all threads; each is sorted, and so is the array
 * @nr: how many
 * @why: receives the first difference, without quotes or backslashes
 * @len: bytes of @why
 *
 * Takes no memory, so that it also judges a run that ended for want of it.
 *
 * Return: true, or false with @why written.
 */
bool verify_content(const struct index *index, uint64_t preload, struct journal **journals,
		    unsigned int nr, char *why, size_t len)
{
	struct expected e = { .load_end = 2 * preload, .why = why, .len = len };
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
	ret = index->ops->walk(index, visit, &e);
	if (!ret && (ret = expected_next(&e, &key, &value)) > 0)
		fault(&e, "key %" PRIu64 " is lost", key);
	return !ret;
}
