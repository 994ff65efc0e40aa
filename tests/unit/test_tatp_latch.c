// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tatp_latch.c - the latches of tatp_bench with one thread: who may hold each kind beside
 * whom, upgrade and downgrade, options, counts. Threads: tests/demo/latches.sh.
 */
#include "unit.h"
#include "../../demo/tatp/latch/latch.h"

/* What a kind can do. */
static const struct {
	enum latch_kind kind;
	bool shared;
	bool upgrades;
} all[] = {
	{LATCH_KIND_occ, true, true},
	{LATCH_KIND_occ_mutex, true, true},
	{LATCH_KIND_occ_pthread, true, false},
	{LATCH_KIND_tatas, false, true},
	{LATCH_KIND_mcs, false, true},
	{LATCH_KIND_srw, true, true},
	{LATCH_KIND_pthread_mutex, false, true},
	{LATCH_KIND_pthread_rwlock, true, false},
	{LATCH_KIND_pthread_spin, false, true},
};

static struct latch latch;

static void make(enum latch_kind kind)
{
	latch_settings.kinds[LATCH_ROLE_page] = kind;
	latch_init(&latch, LATCH_ROLE_page);
	assert_false(latch_held(&latch));
}

static void unmake(void)
{
	assert_false(latch_held(&latch));
	assert_int_equal(latch_counts(LATCH_ROLE_page).held, 0);
	latch_destroy(&latch);
}

/* A holder in each mode, and a try in each mode beside it. */
static void test_beside(void **state)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("%s\n", latch_kind_name(all[i].kind));
		make(all[i].kind);
		for (unsigned int try = 0; try < 2; try++)
			for (enum latch_mode m = LATCH_READ; m <= LATCH_WRITE; m++) {
				struct latch_hold h, other;

				if (try)
					assert_true(latch_try(&latch, m, &h));
				else
					latch_acquire(&latch, m, &h);
				assert_int_equal(h.mode, all[i].shared ? m : LATCH_WRITE);
				assert_true(latch_held(&latch));
				assert_false(latch_try(&latch, LATCH_WRITE, &other));
				if (latch_try(&latch, LATCH_READ, &other)) {
					assert_int_equal(h.mode, LATCH_READ);
					latch_release(&latch, &other);
				} else {
					assert_int_equal(h.mode, LATCH_WRITE);
				}
				assert_true(latch_held(&latch));
				latch_release(&latch, &h);
				assert_false(latch_held(&latch));
			}
		unmake();
	}
}

/* A reader becomes the writer alone, stays it, and lets readers in when it is a reader again. */
static void test_upgrade(void **state)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct latch_hold h, other;

		print_message("%s\n", latch_kind_name(all[i].kind));
		make(all[i].kind);
		latch_acquire(&latch, LATCH_READ, &h);
		if (all[i].shared) {
			assert_true(latch_try(&latch, LATCH_READ, &other));
			assert_false(latch_try_upgrade(&latch, &h));
			assert_int_equal(h.mode, LATCH_READ);
			latch_release(&latch, &other);
		}
		assert_int_equal(latch_try_upgrade(&latch, &h), all[i].upgrades);
		if (!all[i].upgrades) {
			assert_int_equal(h.mode, LATCH_READ);
			latch_release(&latch, &h);
			latch_acquire(&latch, LATCH_WRITE, &h);
		}
		assert_true(latch_try_upgrade(&latch, &h));
		assert_int_equal(h.mode, LATCH_WRITE);
		assert_false(latch_try(&latch, LATCH_READ, &other));
		latch_downgrade(&latch, &h);
		assert_int_equal(h.mode,
				 all[i].shared && all[i].upgrades ? LATCH_READ : LATCH_WRITE);
		assert_false(latch_try(&latch, LATCH_WRITE, &other));
		if (h.mode == LATCH_READ) {
			assert_true(latch_try(&latch, LATCH_READ, &other));
			latch_release(&latch, &other);
		}
		latch_release(&latch, &h);
		unmake();
	}
}

/* occ and srw tell the mode and the readers; the others whether they are held. */
static void test_state(void **state)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct latch_hold h[3];

		make(all[i].kind);
		assert_int_equal(latch_state(&latch), 0);
		latch_acquire(&latch, LATCH_WRITE, &h[0]);
		assert_int_equal(latch_state(&latch), LATCH_WRITER);
		latch_release(&latch, &h[0]);
		for (uint64_t n = 0; all[i].shared && n < 3; n++) {
			latch_acquire(&latch, LATCH_READ, &h[n]);
			assert_int_equal(latch_state(&latch),
					 all[i].upgrades ? (n + 1) * LATCH_READER : LATCH_READER);
		}
		for (unsigned int n = 0; all[i].shared && n < 3; n++)
			latch_release(&latch, &h[n]);
		unmake();
	}
}

static void test_none(void **state)
{
	struct latch_hold h, other;

	make(LATCH_KIND_none);
	latch_acquire(&latch, LATCH_WRITE, &h);
	assert_true(latch_try(&latch, LATCH_WRITE, &other));
	assert_false(latch_held(&latch));
	latch_release(&latch, &other);
	latch_release(&latch, &h);
	unmake();
}

/* Holders are counted in the latch, or in the thread. */
static void test_stats(void **state)
{
	struct latch_hold h, other;

	for (enum latch_stats s = LATCH_STATS_SHARED; s <= LATCH_STATS_THREAD; s++) {
		latch_settings.stats = s;
		make(LATCH_KIND_srw);
		latch_acquire(&latch, LATCH_READ, &h);
		latch_acquire(&latch, LATCH_READ, &other);
		assert_int_equal(latch.total, s == LATCH_STATS_SHARED ? 2 : 0);
		assert_int_equal(latch_counts(LATCH_ROLE_page).held,
				 s == LATCH_STATS_THREAD ? 2 : 0);
		latch_release(&latch, &other);
		assert_true(latch_try_upgrade(&latch, &h));
		assert_int_equal(latch.total, s == LATCH_STATS_SHARED);
		latch_downgrade(&latch, &h);
		latch_release(&latch, &h);
		unmake();
		make(LATCH_KIND_occ);
		latch_acquire(&latch, LATCH_READ, &h);
		assert_int_equal(latch.total, 0);
		assert_int_equal(latch_counts(LATCH_ROLE_page).held, 0);
		latch_release(&latch, &h);
		unmake();
	}
	latch_settings.stats = LATCH_STATS_SHARED;
}

static void test_counts(void **state)
{
	struct latch_count before = latch_counts(LATCH_ROLE_tree), after;
	struct latch_hold h, other;

	latch_settings.kinds[LATCH_ROLE_tree] = LATCH_KIND_mcs;
	latch_init(&latch, LATCH_ROLE_tree);
	for (unsigned int i = 0; i < 5; i++) {
		latch_acquire(&latch, LATCH_WRITE, &h);
		assert_false(latch_try(&latch, LATCH_WRITE, &other));
		latch_release(&latch, &h);
	}
	latch_destroy(&latch);
	after = latch_counts(LATCH_ROLE_tree);
	assert_int_equal(after.acquisitions - before.acquisitions, 5);
	assert_int_equal(after.contended, 0);
	assert_int_equal(after.elided, 0);
	assert_int_equal(after.attempts, 0);
}

static void test_options(void **state)
{
	static const char *const wrong[][2] = {
		{"latch", "page"},	   {"latch", "=srw"},	     {"latch", "pages=srw"},
		{"latch", "page=srwlock"}, {"latch", "page="},	     {"locks", "some"},
		{"means", "preload"},	   {"fences", "yes"},	     {"latch-stats", ""},
		{"latches", "page=srw"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		print_message("%s=%s\n", wrong[i][0], wrong[i][1]);
		assert_non_null(latch_option(wrong[i][0], wrong[i][1]));
		assert_non_null(strstr(latch_option(wrong[i][0], wrong[i][1]), "%s"));
	}
	assert_null(latch_option("latch", "log_insert=pthread-mutex"));
	assert_int_equal(latch_settings.kinds[LATCH_ROLE_log_insert], LATCH_KIND_pthread_mutex);
	assert_null(latch_option("locks", "all"));
	assert_int_equal(latch_settings.locks, LATCH_LOCKS_ALL);
	assert_null(latch_option("means", "api"));
	assert_int_equal(latch_settings.means, LATCH_MEANS_API);
	assert_null(latch_option("latch-stats", "thread"));
	assert_int_equal(latch_settings.stats, LATCH_STATS_THREAD);
	assert_null(latch_option("latch-stats", "shared"));
	assert_null(latch_option("fences", "full"));
	assert_true(latch_settings.fences);
}

/* By kind: the choices of --locks with which it is elided, as bits. */
static const unsigned int elided_with[NR_LATCH_KINDS] = {
#define BITS_SELECTED (1u << LATCH_LOCKS_SELECTED | 1u << LATCH_LOCKS_ALL | 1u << LATCH_LOCKS_TREE)
	[LATCH_KIND_occ] = BITS_SELECTED,
	[LATCH_KIND_tatas] = BITS_SELECTED,
	[LATCH_KIND_mcs] = BITS_SELECTED,
	[LATCH_KIND_srw] = 1u << LATCH_LOCKS_ALL,
};

/* Nothing is acquired: the means need not be usable here. */
static void test_who_elides(void **state)
{
	enum latch_means means = latch_settings.means;

	latch_settings.means = LATCH_MEANS_INLINE;
	for (enum latch_locks locks = LATCH_LOCKS_PLAIN; locks <= LATCH_LOCKS_TREE; locks++)
		for (enum latch_kind kind = 0; kind < NR_LATCH_KINDS; kind++) {
			latch_settings.locks = locks;
			make(kind);
			assert_int_equal(latch.means, elided_with[kind] >> locks & 1 ?
							      LATCH_MEANS_INLINE :
							      LATCH_MEANS_PLAIN);
			unmake();
		}
	latch_settings.means = means;
	latch_settings.locks = LATCH_LOCKS_PLAIN;
}

/* The library is not preloaded, and --locks=plain elides nothing: the words say so. */
static void test_setup(void **state)
{
	latch_settings.kinds[LATCH_ROLE_tree] = LATCH_KIND_none;
	assert_null(latch_option("locks", "tree"));
	assert_null(latch_option("means", "api"));
	latch_setup();
	assert_int_equal(latch_settings.means, LATCH_MEANS_PLAIN);
	assert_string_equal(latch_says(), "plain: no library with elide.h is preloaded");
	assert_int_equal(latch_settings.kinds[LATCH_ROLE_tree], LATCH_KIND_mcs);
	assert_null(latch_option("means", "inline"));
	assert_null(latch_option("locks", "plain"));
	latch_setup();
	assert_int_equal(latch_settings.means, LATCH_MEANS_PLAIN);
	assert_string_equal(latch_says(), "plain");
	assert_null(latch_option("latch", "tree=pthread-spin"));
	assert_null(latch_option("locks", "tree"));
	latch_setup();
	assert_int_equal(latch_settings.kinds[LATCH_ROLE_tree], LATCH_KIND_pthread_spin);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beside),	cmocka_unit_test(test_upgrade),
		cmocka_unit_test(test_state),	cmocka_unit_test(test_none),
		cmocka_unit_test(test_stats),	cmocka_unit_test(test_counts),
		cmocka_unit_test(test_options), cmocka_unit_test(test_who_elides),
		cmocka_unit_test(test_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
