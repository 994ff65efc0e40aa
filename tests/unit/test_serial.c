// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_serial.c - the checker of histories of transactions finds each anomaly, and accuses no
 * history that has none.
 */
#include "unit.h"
#include "../demo/serial.h"

/* Items of the histories, and a version of a transaction. */
enum { X = 1, Y, Z };

#define V(xact, nr) ((xact) * 16 + (nr) + 16u)
#define R(xact, item, version) { xact, false, item, version, 0 }
#define W(xact, item, version, before) { xact, true, item, version, before }

/* Transactions: begin, end, order of the commit, committed. */
#define COMMITTED(begin, end) { begin, end, end, true }
#define ROLLED_BACK(begin, end) { begin, end, 0, false }

static const struct {
	const char *name;
	const char *why;
	struct serial_xact xacts[4];
	uint32_t nr_xacts;
	struct serial_op ops[8];
	size_t nr_ops;
} cases[] = {
	{ "nothing", NULL, { { 0 } }, 0, { { 0 } }, 0 },
	{ "one after the other", NULL, { COMMITTED(1, 2), COMMITTED(3, 4) }, 2,
	  { R(0, X, 0), W(0, X, V(0, 1), 0), R(1, X, V(0, 1)), W(1, X, V(1, 1), V(0, 1)) }, 4 },
	{ "a reader beside the writer, before it", NULL, { COMMITTED(1, 4), COMMITTED(2, 5) }, 2,
	  { W(0, X, V(0, 1), 0), R(1, X, 0) }, 2 },
	{ "own writes", NULL, { COMMITTED(1, 4) }, 1,
	  { W(0, X, V(0, 1), 1), R(0, X, V(0, 1)), W(0, X, V(0, 2), V(0, 1)) }, 3 },
	{ "a rolled back writer", NULL, { ROLLED_BACK(1, 4), COMMITTED(5, 6) }, 2,
	  { W(0, X, V(0, 1), 1), R(1, X, 1), W(1, X, V(1, 1), 1) }, 3 },
	{ "a version before the write is not known", NULL, { COMMITTED(1, 2), COMMITTED(3, 4) }, 2,
	  { W(0, X, V(0, 1), 0), W(1, X, V(1, 1), SERIAL_UNKNOWN) }, 2 },
	{ "lost update", "does not replace", { COMMITTED(1, 4), COMMITTED(2, 5) }, 2,
	  { R(0, X, 0), R(1, X, 0), W(0, X, V(0, 1), 0), W(1, X, V(1, 1), 0) }, 4 },
	{ "a lost update that does not know what it replaces", "cycle",
	  { COMMITTED(1, 4), COMMITTED(2, 5) }, 2,
	  { R(1, X, 0), W(0, X, V(0, 1), 0), W(1, X, V(1, 1), SERIAL_UNKNOWN) }, 3 },
	{ "dirty read", "was rolled back", { ROLLED_BACK(1, 4), COMMITTED(2, 5) }, 2,
	  { W(0, X, V(0, 1), 0), R(1, X, V(0, 1)) }, 2 },
	{ "intermediate read", "its writer replaced", { COMMITTED(1, 4), COMMITTED(2, 5) }, 2,
	  { W(0, X, V(0, 1), 0), W(0, X, V(0, 2), V(0, 1)), R(1, X, V(0, 1)) }, 3 },
	{ "a version from nowhere", "nobody wrote", { COMMITTED(1, 4) }, 1, { R(0, X, V(3, 3)) },
	  1 },
	{ "a version of another item", "nobody wrote", { COMMITTED(1, 4), COMMITTED(5, 6) }, 2,
	  { W(0, X, V(0, 1), 0), R(1, Y, V(0, 1)) }, 2 },
	{ "information flows in a cycle", "cycle", { COMMITTED(1, 4), COMMITTED(2, 5) }, 2,
	  { W(0, X, V(0, 1), 0), R(0, Y, V(1, 1)), W(1, Y, V(1, 1), 0), R(1, X, V(0, 1)) }, 4 },
	{ "a read that is not repeated", "cycle", { COMMITTED(1, 6), COMMITTED(2, 4) }, 2,
	  { R(0, X, 0), W(1, X, V(1, 1), 0), R(0, X, V(1, 1)) }, 3 },
	{ "write skew", "cycle", { COMMITTED(1, 4), COMMITTED(2, 5) }, 2,
	  { R(0, X, 0), R(1, Y, 0), W(0, Y, V(0, 1), 0), W(1, X, V(1, 1), 0) }, 4 },
	{ "phantom: a key appears in a range", "cycle", { COMMITTED(1, 6), COMMITTED(2, 4) }, 2,
	  { R(0, X, 1), R(0, Y, 0), W(1, Y, V(1, 1), 0), R(0, X, 1), R(0, Y, V(1, 1)) }, 5 },
	{ "phantom: a range and what depends on it", "cycle", { COMMITTED(1, 6), COMMITTED(2, 4) },
	  2, { R(0, Y, 0), W(1, Y, V(1, 1), 0), W(1, Z, V(1, 2), 0), R(0, Z, V(1, 2)) }, 4 },
	{ "phantom: a key disappears and comes again", "cycle",
	  { COMMITTED(1, 9), COMMITTED(2, 4), COMMITTED(5, 7) }, 3,
	  { R(0, Y, 1), W(1, Y, V(1, 1), 1), W(2, Y, V(2, 1), V(1, 1)), R(0, Y, V(2, 1)) }, 4 },
	{ "an old version after the writer's end", "cycle", { COMMITTED(1, 2), COMMITTED(3, 4) }, 2,
	  { W(0, X, V(0, 1), 0), R(1, X, 0) }, 2 },
	{ "real time across a third one", "cycle",
	  { COMMITTED(1, 9), COMMITTED(2, 3), COMMITTED(4, 5) }, 3,
	  { W(1, X, V(1, 1), 0), W(2, Y, V(2, 1), 0), R(0, Y, V(2, 1)), R(0, X, 0) }, 4 },
	{ "the order of commits is not that of the writes", "does not replace",
	  { { 1, 4, 9, true }, { 2, 5, 8, true } }, 2,
	  { W(0, X, V(0, 1), 0), W(1, X, V(1, 1), V(0, 1)) }, 2 },
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct serial_history h = {
			.nr_xacts = cases[i].nr_xacts,
			.nr_ops = cases[i].nr_ops,
		};
		struct serial_xact xacts[4];
		struct serial_op ops[8];
		char why[500] = "";
		bool ok;

		memcpy(xacts, cases[i].xacts, sizeof(xacts));
		memcpy(ops, cases[i].ops, sizeof(ops));
		h.xacts = xacts;
		h.ops = ops;
		ok = serial_check(&h, why, sizeof(why));
		if (ok != !cases[i].why || (cases[i].why && !strstr(why, cases[i].why)))
			fail_msg("%s: %s", cases[i].name, ok ? "serializable" : why);
	}
}

/* The cycle that is named is a shortest one. */
static void test_shortest(void **state)
{
	struct serial_xact xacts[] = { COMMITTED(1, 8), COMMITTED(2, 9), COMMITTED(3, 10) };
	struct serial_op ops[] = {
		W(0, X, V(0, 1), 0), R(1, X, V(0, 1)), W(1, Y, V(1, 1), 0),
		R(2, Y, V(1, 1)),    R(0, Y, V(1, 1)), R(2, X, 0),
	};
	struct serial_history h = { xacts, 3, ops, 6 };
	char why[500];

	assert_false(serial_check(&h, why, sizeof(why)));
	assert_string_equal(why, "cycle, backwards: 0 <-wr 2- 1 <-wr 1- 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_shortest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
