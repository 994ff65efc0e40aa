// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_verify.c - the comparison of an index with its writers' journals must
 * accept every true history and see each way in which one can be false.
 */
#include "unit.h"
#include "../../demo/bench/verify.h"

#define ENTRIES_MAX 8
#define CHANGES_MAX 8

struct entry {
	uint64_t key, value;
};

/* struct content - a tree that can only be walked */
struct content {
	const struct entry *entries;
	size_t nr;
};

static int walk(const void *tree, visit_fn visit, void *ctx)
{
	const struct content *content = tree;
	int ret = 0;

	for (size_t i = 0; i < content->nr && !ret; i++)
		ret = visit(ctx, content->entries[i].key, content->entries[i].value);
	return ret;
}

static const struct tree_ops walk_tree = { .walk = walk };
static const struct index_ops walk_ops = { .tree = &walk_tree };

/*
 * A history of keys 0 and 2 loaded. In the table 'L' stands for the loaded
 * value, other letters for values of their own; an array ends with no letter.
 */
static const struct history {
	const char *name;
	struct entry entries[ENTRIES_MAX];
	struct change changes[CHANGES_MAX];
	const char *why; /* NULL: true history */
} histories[] = {
	{ "loaded only", { { 0, 'L' }, { 2, 'L' } }, { { 0 } }, NULL },
	{ "odd inserted", { { 0, 'L' }, { 1, 'a' }, { 2, 'L' } }, { { 1, 'a', 1 } }, NULL },
	{ "inserted behind", { { 0, 'L' }, { 2, 'L' }, { 9, 'a' } }, { { 9, 'a', 1 } }, NULL },
	{ "loaded deleted", { { 2, 'L' } }, { { 0, 'L', -1 } }, NULL },
	{ "all deleted", { { 0 } }, { { 2, 'L', -1 }, { 0, 'L', -1 } }, NULL },
	{ "deleted, inserted", { { 0, 'a' }, { 2, 'L' } },
	  { { 0, 'L', -1 }, { 0, 'a', 1 } }, NULL },
	{ "deleted twice between inserts", { { 0, 'L' }, { 1, 'c' }, { 2, 'L' } },
	  { { 1, 'c', 1 }, { 1, 'b', -1 }, { 1, 'a', -1 }, { 1, 'a', 1 }, { 1, 'b', 1 } }, NULL },

	{ "loaded lost", { { 2, 'L' } }, { { 0 } }, "key 0 is lost" },
	{ "last loaded lost", { { 0, 'L' } }, { { 0 } }, "key 2 is lost" },
	{ "insert lost", { { 0, 'L' }, { 2, 'L' } }, { { 1, 'a', 1 } }, "key 1 is lost" },
	{ "last insert lost", { { 0, 'L' }, { 2, 'L' } }, { { 9, 'a', 1 } }, "key 9 is lost" },
	{ "insert not reported", { { 0, 'L' }, { 1, 'a' }, { 2, 'L' } }, { { 0 } },
	  "key 1 is present and should not be" },
	{ "behind the end", { { 0, 'L' }, { 2, 'L' }, { 4, 'L' } }, { { 0 } },
	  "key 4 is present and should not be" },
	{ "delete undone", { { 0, 'L' }, { 2, 'L' } }, { { 0, 'L', -1 } },
	  "key 0 is present and should not be" },
	{ "entry twice", { { 0, 'L' }, { 0, 'L' }, { 2, 'L' } }, { { 0 } },
	  "key 0 is present and should not be" },
	{ "two inserts succeed", { { 0, 'L' }, { 1, 'a' }, { 2, 'L' } },
	  { { 1, 'a', 1 }, { 1, 'b', 1 } }, "key 1: inserted while it was present" },
	{ "two deletes succeed", { { 2, 'L' } }, { { 0, 'L', -1 }, { 0, 'L', -1 } },
	  "key 0: a value was deleted that was not there" },
	{ "foreign value deleted", { { 0, 'L' }, { 2, 'L' } }, { { 1, 'a', -1 } },
	  "key 1: a value was deleted that was not there" },
	{ "value of another insert", { { 0, 'L' }, { 1, 'b' }, { 2, 'L' } }, { { 1, 'a', 1 } },
	  "key 1 has the value of another insert" },
	{ "one insert twice", { { 0, 'L' }, { 1, 'a' }, { 2, 'L' } },
	  { { 1, 'a', 1 }, { 1, 'a', 1 } }, "key 1: one insert took place twice" },
};

/* The value a letter stands for: around the loaded one, which must not matter. */
static uint64_t letter_value(uint64_t key, uint64_t letter)
{
	uint64_t loaded = value_of(key, WRITER_LOAD, 0);

	return letter == 'L' ? loaded : loaded + (letter % 2 ? letter : -letter);
}

static void run_history(const struct history *h)
{
	struct entry entries[ENTRIES_MAX] = { { 0 } };
	struct journal journals[2] = { { 0 } };
	struct journal *both[2] = { &journals[0], &journals[1] };
	struct content content = { entries, 0 };
	struct index index = { &walk_ops, &content };
	char why[128] = "";
	bool ok;

	for (const struct entry *e = h->entries; e->value; e++)
		entries[content.nr++] = (struct entry){ e->key, letter_value(e->key, e->value) };
	for (size_t i = 0; i < CHANGES_MAX && h->changes[i].value; i++) {
		const struct change *c = &h->changes[i];

		assert_int_equal(journal_room(both[i % 2]), 0);
		journal_add(both[i % 2], c->key, letter_value(c->key, c->value), (int)c->delta);
	}
	ok = verify_content(&index, 2, both, 2, why, sizeof(why));
	journal_free(both[0]);
	journal_free(both[1]);
	if (ok != !h->why)
		fail_msg("%s: %s", h->name, ok ? "not seen" : why);
	if (h->why && strcmp(why, h->why))
		fail_msg("%s: says \"%s\", not \"%s\"", h->name, why, h->why);
}

static void test_histories(void **state)
{
	for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++)
		run_history(&histories[i]);
}

static void test_value_belongs(void **state)
{
	const uint64_t last = (1ull << VALUE_SERIAL_BITS) - 1;

	assert_true(value_belongs(7, value_of(7, WRITER_LOAD, 0), 4));
	assert_true(value_belongs(7, value_of(7, 4, last), 4));
	assert_false(value_belongs(7, value_of(7, 5, 0), 4));
	assert_false(value_belongs(8, value_of(7, 1, 0), 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories),
		cmocka_unit_test(test_value_belongs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
