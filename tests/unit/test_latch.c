// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_latch.c - the latches of the trees: threads that exclude each other, and the modes S, U
 * and X of the latch with three modes.
 */
#include <pthread.h>

#include "unit.h"
#include "../../demo/base/base.h"
#include "../../demo/base/rng.h"
#include "../../demo/latch/hle.h"
#include "../../demo/latch/spin.h"
#include "../../demo/latch/spin-rw.h"
#include "../../demo/latch/sux.h"
#include "../../demo/latch/tas.h"
#include "../../demo/latch/ttas.h"
#include "../../demo/latch/version.h"

#define THREADS 4
#define STEPS 20000

/* What the latches guard: two equal numbers. */
static struct {
	uint64_t a;
	uint64_t b __cacheline_aligned;
} guarded;

static int torn;

/* What a thread does with the pair while it may change it, and while it may read it. */
static void change(void)
{
	__atomic_store_n(&guarded.a, guarded.a + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&guarded.b, guarded.b + 1, __ATOMIC_RELAXED);
}

static bool look(void)
{
	return __atomic_load_n(&guarded.a, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&guarded.b, __ATOMIC_RELAXED);
}

static void expect(bool whole)
{
	if (!whole)
		__atomic_store_n(&torn, 1, __ATOMIC_RELAXED);
}

static void run(void *(*function)(void *), void *arg)
{
	pthread_t threads[THREADS];

	guarded.a = guarded.b = 0;
	torn = 0;
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, function, arg), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(torn, 0);
}

/* The latch under test; large enough for each. */
static union {
	struct tas_latch tas;
	struct ttas_latch ttas;
	struct hle_latch hle;
	struct spin_latch spin;
	struct spin_rw_latch spin_rw;
	struct sux_latch sux;
	uint32_t version;
} latch;

/* Half of the operations change the pair. */
static void *exclude(void *arg)
{
	const struct latch_ops *ops = arg;

	for (unsigned int i = 0; i < STEPS; i++) {
		if (i % 2) {
			ops->write(&latch);
			expect(look());
			change();
			ops->write_release(&latch);
		} else {
			ops->read(&latch);
			expect(look());
			ops->read_release(&latch);
		}
	}
	return NULL;
}

static void test_exclusion(void **state)
{
	static const struct {
		const char *name;
		const struct latch_ops *ops;
	} all[] = {
		{ "tas", &latch_tas },   { "ttas", &latch_ttas },	{ "spin", &latch_spin },
		{ "sux", &latch_sux },   { "spin-rw", &latch_spin_rw },
#ifndef __SANITIZE_THREAD__
		{ "hle", &latch_hle },
#endif
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("%s\n", all[i].name);
		memset(&latch, 0, sizeof(latch));
		assert_int_equal(all[i].ops->init(&latch), 0);
		run(exclude, (void *)(uintptr_t)all[i].ops);
		assert_int_equal(guarded.a, THREADS * STEPS / 2);
		all[i].ops->destroy(&latch);
	}
}

/* U is granted beside S and not beside U; its holder alone changes the pair, after the upgrade. */
static void *upgrade(void *arg)
{
	struct rng rng;

	rng_seed(&rng, 1, __atomic_fetch_add((unsigned int *)arg, 1, __ATOMIC_RELAXED));
	for (unsigned int i = 0; i < STEPS; i++) {
		switch (rng_below(&rng, 4)) {
		case 0:
			sux_read(&latch.sux);
			expect(look());
			sux_read_release(&latch.sux);
			break;
		case 1:
			sux_write(&latch.sux);
			change();
			sux_write_release(&latch.sux);
			break;
		default: {
			uint64_t before;

			sux_update(&latch.sux);
			expect(look());
			before = guarded.a;
			if (i % 2) {
				sux_upgrade(&latch.sux);
				/* Nobody changed it while this thread held U. */
				expect(before == guarded.a);
				change();
				sux_write_release(&latch.sux);
			} else {
				expect(before == guarded.a);
				sux_update_release(&latch.sux);
			}
		}
		}
	}
	return NULL;
}

static void test_upgrade(void **state)
{
	unsigned int next = 0;

	sux_init(&latch.sux);
	run(upgrade, &next);
	assert_int_equal(latch.sux.word, 0);
}

/* Which mode is granted while another one is held, by one thread. */
static void test_modes(void **state)
{
	sux_init(&latch.sux);
	sux_read(&latch.sux);
	sux_update(&latch.sux);
	sux_read(&latch.sux);
	assert_int_equal(latch.sux.word, 2 * SUX_READER | SUX_UPDATE);
	sux_read_release(&latch.sux);
	sux_read_release(&latch.sux);
	sux_upgrade(&latch.sux);
	assert_int_equal(latch.sux.word, SUX_EXCLUSIVE);
	sux_write_release(&latch.sux);
	assert_int_equal(latch.sux.word, 0);
}

/* Readers compare versions; a third of them upgrades theirs to write. */
static void *optimistic(void *arg)
{
	for (unsigned int i = 0; i < STEPS; i++) {
		uint32_t version = version_begin(&latch.version);
		bool whole = look();

		if (i % 3 == 0) {
			if (version_upgrade(&latch.version, version)) {
				expect(whole && look());
				change();
				version_release(&latch.version);
			}
		} else if (i % 3 == 1) {
			version_acquire(&latch.version);
			expect(look());
			change();
			version_release(&latch.version);
		} else if (version_same(&latch.version, version)) {
			expect(whole);
		}
	}
	return NULL;
}

static void test_version(void **state)
{
	latch.version = UINT32_MAX - 101;
	run(optimistic, NULL);
	assert_true(version_free(&latch.version));
	assert_int_equal(latch.version, (uint32_t)(UINT32_MAX - 101 + 2 * guarded.a));
	assert_false(version_same(&latch.version, latch.version + 2));
	assert_false(version_upgrade(&latch.version, latch.version + 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exclusion),
		cmocka_unit_test(test_upgrade),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
