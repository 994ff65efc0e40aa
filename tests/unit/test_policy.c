/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_policy.c - the truth tables of lib/policy.c, and what it costs over a
 * long stream of acquisitions of a hostile and of a friendly lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/compiler.h"
#include "../../lib/policy.h"
#include "../../lib/rtm.h"

#define XABORT(code) (RTM_EXPLICIT | (unsigned int)(code) << 24)

static const struct policy_config base = {
	.retry_conflict = 5, .retry_busy = 8, .retry_capacity = 1, .retry_other = 2,
	.spin_busy = 1000, .backoff = 16,
	.window = 64, .fail_percent = 50, .pause_min = 256, .pause_max = 1048576,
};

static struct policy_config config_of(enum policy_name name)
{
	struct policy_config c = base;

	c.name = name;
	return c;
}

static void cause_of_each_status(void **state)
{
	static const struct {
		unsigned int status;
		enum elide_cause cause;
	} table[] = {
		{0, ELIDE_CAUSE_other},
		{RTM_RETRY, ELIDE_CAUSE_other},
		{RTM_CONFLICT, ELIDE_CAUSE_conflict},
		{RTM_CONFLICT | RTM_RETRY, ELIDE_CAUSE_conflict},
		{RTM_CAPACITY, ELIDE_CAUSE_capacity},
		{RTM_CAPACITY | RTM_RETRY, ELIDE_CAUSE_capacity},
		{RTM_DEBUG, ELIDE_CAUSE_debug},
		{RTM_NESTED, ELIDE_CAUSE_nested},
		{RTM_NESTED | RTM_RETRY, ELIDE_CAUSE_nested},
		/* Several bits: explicit, capacity, conflict, debug, nested. */
		{RTM_CAPACITY | RTM_CONFLICT | RTM_DEBUG | RTM_NESTED, ELIDE_CAUSE_capacity},
		{RTM_CONFLICT | RTM_DEBUG | RTM_NESTED, ELIDE_CAUSE_conflict},
		{RTM_DEBUG | RTM_NESTED, ELIDE_CAUSE_debug},
		{XABORT(0xff) | RTM_CAPACITY | RTM_CONFLICT | RTM_DEBUG | RTM_NESTED,
		 ELIDE_CAUSE_busy},
		/* Codes that nobody of us uses, 0 among them; a code without the bit is none. */
		{XABORT(0), ELIDE_CAUSE_explicit},
		{XABORT(1), ELIDE_CAUSE_explicit},
		{XABORT(0xf7), ELIDE_CAUSE_explicit},
		{0xff000000u, ELIDE_CAUSE_other},
		{0xff000000u | RTM_CONFLICT, ELIDE_CAUSE_conflict},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(policy_cause(table[i].status), table[i].cause);
}

static void cause_of_each_own_code(void **state)
{
#define ELIDE_CAUSE(id, code, column, help, advice) \
	if (code)                                   \
		assert_int_equal(policy_cause(XABORT(code)), ELIDE_CAUSE_##id);
#include "../../lib/aborts.def"
#undef ELIDE_CAUSE
}

/* What happens after the abort number @nr + 1 of an acquisition, all with @status. */
struct reaction {
	enum policy_name name;
	unsigned int status;
	unsigned int nr;
	enum policy_action action;
	uint32_t spins;
	uint16_t hopeless;
	uint32_t skip;
};

static const struct reaction reactions[] = {
	{POLICY_ADAPTIVE, RTM_CONFLICT, 0, POLICY_BACKOFF, 16, 0, 0},
	{POLICY_ADAPTIVE, RTM_CONFLICT | RTM_RETRY, 1, POLICY_BACKOFF, 32, 0, 0},
	{POLICY_ADAPTIVE, RTM_CONFLICT, 4, POLICY_BACKOFF, 256, 0, 0},
	{POLICY_ADAPTIVE, RTM_CONFLICT, 5, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_ADAPTIVE, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, XABORT(0xff), 7, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, XABORT(0xff), 8, POLICY_FALLBACK, 0, 0, 0},
	/* An inner lock that is held goes by the same account. */
	{POLICY_ADAPTIVE, XABORT(0xf8), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, XABORT(0xf8), 7, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, XABORT(0xf8), 8, POLICY_FALLBACK, 0, 0, 0},
	/* Capacity without the retry bit is still tried again. */
	{POLICY_ADAPTIVE, RTM_CAPACITY, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, RTM_CAPACITY, 1, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, 0, 1, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, 0, 2, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, RTM_DEBUG, 2, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, RTM_NESTED, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, XABORT(7), 0, POLICY_WAIT, 1000, 0, 0},
	/* Our own codes but for busy: only the real lock can answer. */
	{POLICY_ADAPTIVE, XABORT(0xfe), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, XABORT(0xfd), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, XABORT(0xfc), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, XABORT(0xf9), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_FIXED, RTM_CONFLICT, 0, POLICY_BACKOFF, 16, 0, 0},
	{POLICY_FIXED, RTM_CAPACITY, 1, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_HPCA, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_HPCA, XABORT(0xf8), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_HPCA, RTM_CONFLICT, 5, POLICY_FALLBACK, 0, 0, 0},
	/* glibc: three tries while the retry bit is set, else skip three. */
	{POLICY_GLIBC, RTM_CONFLICT | RTM_RETRY, 0, POLICY_RETRY, 0, 0, 0},
	{POLICY_GLIBC, RTM_RETRY, 1, POLICY_RETRY, 0, 0, 0},
	{POLICY_GLIBC, RTM_RETRY, 2, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_GLIBC, RTM_CONFLICT, 0, POLICY_FALLBACK, 0, 0, 3},
	{POLICY_GLIBC, XABORT(0xff), 0, POLICY_FALLBACK, 0, 0, 3},
	{POLICY_GLIBC, 0, 0, POLICY_FALLBACK, 0, 0, 3},
	/* DaMoN'15: two attempts. */
	{POLICY_DAMON, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_DAMON, XABORT(0xf8), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_DAMON, XABORT(0xff), 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, XABORT(0xf8), 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, RTM_CONFLICT, 0, POLICY_BACKOFF, 16, 0, 0},
	{POLICY_DAMON, RTM_CONFLICT | RTM_RETRY, 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, RTM_RETRY, 0, POLICY_BACKOFF, 1, 0, 0},
	{POLICY_DAMON, RTM_CAPACITY, 0, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, 0, 0, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_NEVER, RTM_CONFLICT | RTM_RETRY, 0, POLICY_FALLBACK, 0, 0, 0},
};

static void reaction_of_each_policy(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(reactions); i++) {
		const struct reaction *r = &reactions[i];
		struct policy_config config = config_of(r->name);
		struct policy_lock lock = {0};
		struct policy_try try = {0};
		struct policy_verdict v = {0};

		for (unsigned int n = 0; n <= r->nr; n++)
			v = policy_abort(&config, &lock, &try, r->status);
		if (v.action != r->action || v.spins != r->spins || try.hopeless != r->hopeless ||
		    lock.skip != r->skip || try.attempts != r->nr + 1)
			fail_msg("row %u: action %d spins %u hopeless %d skip %u", i, v.action,
				 v.spins, try.hopeless, lock.skip);
	}
}

static void budgets_are_apart(void **state)
{
	struct policy_config config = config_of(POLICY_FIXED);
	struct policy_lock lock = {0};
	struct policy_try try = {0};

	/* A conflict does not use up the tries for a held lock, and the reverse. */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(policy_abort(&config, &lock, &try, RTM_CONFLICT).action,
				 POLICY_BACKOFF);
		assert_int_equal(policy_abort(&config, &lock, &try, XABORT(0xff)).action,
				 POLICY_WAIT);
	}
	assert_int_equal(policy_abort(&config, &lock, &try, RTM_CAPACITY).action, POLICY_WAIT);
	assert_int_equal(policy_abort(&config, &lock, &try, RTM_CONFLICT).action, POLICY_FALLBACK);
}

static void no_budget_is_one_attempt(void **state)
{
	static const unsigned int statuses[] = {RTM_CONFLICT, XABORT(0xff), RTM_CAPACITY, 0};
	struct policy_config config = config_of(POLICY_FIXED);
	struct policy_lock lock = {0};

	config.retry_conflict = config.retry_busy = config.retry_capacity = config.retry_other = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(statuses); i++) {
		struct policy_try try = {0};

		assert_int_equal(policy_abort(&config, &lock, &try, statuses[i]).action,
				 POLICY_FALLBACK);
	}
}

static void backoff_doubles_to_a_bound(void **state)
{
	struct policy_config config = config_of(POLICY_FIXED);
	struct policy_lock lock = {0};
	struct policy_try try = {0};
	uint32_t last = 0;

	config.retry_conflict = 1000;
	config.backoff = 1000000; /* the tunable's maximum must not overflow */
	for (unsigned int i = 0; i < 1000; i++) {
		struct policy_verdict v = policy_abort(&config, &lock, &try, RTM_CONFLICT);

		assert_int_equal(v.action, POLICY_BACKOFF);
		assert_true(v.spins >= last);
		assert_true(v.spins <= 1024u * 1000000u);
		last = v.spins;
	}
	assert_int_equal(last, 1024u * 1000000u);
}

static void enter_counts_the_pause_down(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {.skip = 3};

	for (int i = 0; i < 3; i++)
		assert_false(policy_enter(&config, &lock));
	assert_true(policy_enter(&config, &lock));
	config.name = POLICY_NEVER;
	assert_false(policy_enter(&config, &lock));
	assert_int_equal(lock.skip, 0);
}

static const struct policy_try plain_failure = {.attempts = 6, .conflict = 6};
static const struct policy_try hopeless_failure = {.attempts = 3, .other = 3, .hopeless = 1};
static const struct policy_try success = {.attempts = 0};

/* Acquisitions that fail until the lock is paused. */
static unsigned int fail_until_paused(const struct policy_config *config, struct policy_lock *lock,
				      struct policy_window *window, const struct policy_try *try)
{
	unsigned int n = 1;

	while (!policy_done(config, lock, window, try, false))
		assert_true(n++ < 100000);
	return n;
}

static void pause_doubles_to_the_cap(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {0};
	struct policy_window window = {0};
	uint32_t expect = 256;

	/* A window of 64 with a limit of 50 %: the 32nd failure pauses. */
	assert_int_equal(fail_until_paused(&config, &lock, &window, &plain_failure), 32);
	/* What it was decided on stays to be told. */
	assert_int_equal(window.last_tries, 32);
	assert_int_equal(window.last_fails, 32);
	assert_int_equal(window.tries | window.fails, 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(lock.pause, expect);
		assert_int_equal(lock.skip, expect);
		lock.skip = 0;
		/* A probe is a window of 64 / 8, so its 4th failure ends it. */
		assert_int_equal(fail_until_paused(&config, &lock, &window, &plain_failure), 4);
		expect = expect * 2 < 1048576 ? expect * 2 : 1048576;
	}
	assert_int_equal(lock.pause, 1048576);
}

static void cap_need_not_be_a_doubling(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {.pause = 768};
	struct policy_window window = {0};

	config.pause_max = 1000;
	fail_until_paused(&config, &lock, &window, &plain_failure);
	assert_int_equal(lock.pause, 1000);
}

static void hopeless_aborts_pause_sooner(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {0};
	struct policy_window window = {0};

	assert_int_equal(fail_until_paused(&config, &lock, &window, &hopeless_failure), 4);
}

static void probe_that_passes_clears_the_record(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {.pause = 4096};
	struct policy_window window = {0};

	for (int i = 0; i < 7; i++)
		assert_false(policy_done(&config, &lock, &window, &success, true));
	assert_true(policy_done(&config, &lock, &window, &success, true));
	assert_int_equal(window.last_tries, 8);
	assert_int_equal(window.last_fails, 0);
	assert_int_equal(lock.pause, 0);
	assert_int_equal(window.tries, 0);
	fail_until_paused(&config, &lock, &window, &plain_failure);
	assert_int_equal(lock.pause, 256);
}

static void hpca_does_not_double(void **state)
{
	struct policy_config config = config_of(POLICY_HPCA);
	struct policy_lock lock = {0};
	struct policy_window window = {0};

	for (int i = 0; i < 3; i++) {
		assert_int_equal(fail_until_paused(&config, &lock, &window, &plain_failure), 32);
		assert_int_equal(lock.pause, 256);
		lock.skip = 0;
	}
}

static void a_lock_is_paused_once(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {.pause = 256, .skip = 200};
	struct policy_window window = {.tries = 3, .fails = 3};

	/* Another thread has paused it while this one was still trying. */
	assert_false(policy_done(&config, &lock, &window, &plain_failure, false));
	assert_int_equal(lock.pause, 256);
	assert_int_equal(lock.skip, 200);
	assert_int_equal(window.fails, 0);
}

/* Threads count @skip down without synchronisation: one decrement may be lost or done twice. */
static void a_lost_update_of_the_pause_heals(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {.pause = 256, .skip = 5};
	unsigned int n = 0;

	lock.skip += 1; /* lost */
	while (!policy_enter(&config, &lock))
		n++;
	assert_int_equal(n, 6);
	lock.skip = 0; /* a thread that read 1 stores 0 after another has stored it: still 0 */
	assert_true(policy_enter(&config, &lock));
}

static void fixed_policies_never_pause(void **state)
{
	static const enum policy_name names[] = {POLICY_FIXED, POLICY_GLIBC, POLICY_DAMON,
						 POLICY_NEVER};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct policy_config config = config_of(names[i]);
		struct policy_lock lock = {0};
		struct policy_window window = {0};

		for (int n = 0; n < 10000; n++)
			assert_false(policy_done(&config, &lock, &window, &hopeless_failure, false));
		assert_int_equal(lock.skip, 0);
	}
}

/* A whole acquisition of which every attempt aborts with @status; @aborts 0: commits at once. */
static unsigned int acquire(const struct policy_config *config, struct policy_lock *lock,
			    struct policy_window *window, bool hostile, unsigned int status)
{
	struct policy_try try = {0};

	if (!policy_enter(config, lock))
		return 0;
	while (hostile && policy_abort(config, lock, &try, status).action != POLICY_FALLBACK)
		;
	policy_done(config, lock, window, &try, !hostile);
	return hostile ? try.attempts : 1;
}

#define STREAM 1000000

static void hostile_lock_costs_few_attempts(void **state)
{
	static const unsigned int statuses[] = {0, RTM_CAPACITY, RTM_CONFLICT, XABORT(0xfe)};
	struct policy_config config = config_of(POLICY_ADAPTIVE);

	for (unsigned int i = 0; i < ARRAY_SIZE(statuses); i++) {
		struct policy_lock lock = {0};
		struct policy_window window = {0};
		unsigned long attempts = 0;

		for (int n = 0; n < STREAM; n++)
			attempts += acquire(&config, &lock, &window, true, statuses[i]);
		/* First window 32 * 6, then some 12 probes of 4 * 6 in a million: 0.05 %. */
		assert_in_range(attempts, 1, 500);
	}
}

static void friendly_lock_is_never_paused(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {0};
	struct policy_window window = {0};
	unsigned long elided = 0;

	/* Two in five acquisitions fail, which is below the limit. */
	for (int n = 0; n < STREAM; n++) {
		acquire(&config, &lock, &window, n % 5 < 2, RTM_CONFLICT);
		elided += n % 5 >= 2;
		assert_int_equal(lock.pause, 0);
	}
	assert_int_equal(elided, STREAM / 5 * 3);
}

static void lock_that_turns_friendly_is_elided_again(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {0};
	struct policy_window window = {0};
	unsigned long elided = 0;

	for (int n = 0; n < 10000; n++)
		acquire(&config, &lock, &window, true, 0);
	assert_true(lock.pause > 0);
	for (int n = 0; n < STREAM; n++)
		elided += acquire(&config, &lock, &window, false, 0);
	assert_int_equal(lock.pause, 0);
	/* No pause after 10,000 acquisitions is longer than 16384. */
	assert_in_range(elided, STREAM - 16384, STREAM);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cause_of_each_status),
		cmocka_unit_test(cause_of_each_own_code),
		cmocka_unit_test(reaction_of_each_policy),
		cmocka_unit_test(budgets_are_apart),
		cmocka_unit_test(no_budget_is_one_attempt),
		cmocka_unit_test(backoff_doubles_to_a_bound),
		cmocka_unit_test(enter_counts_the_pause_down),
		cmocka_unit_test(pause_doubles_to_the_cap),
		cmocka_unit_test(cap_need_not_be_a_doubling),
		cmocka_unit_test(hopeless_aborts_pause_sooner),
		cmocka_unit_test(probe_that_passes_clears_the_record),
		cmocka_unit_test(hpca_does_not_double),
		cmocka_unit_test(a_lock_is_paused_once),
		cmocka_unit_test(a_lost_update_of_the_pause_heals),
		cmocka_unit_test(fixed_policies_never_pause),
		cmocka_unit_test(hostile_lock_costs_few_attempts),
		cmocka_unit_test(friendly_lock_is_never_paused),
		cmocka_unit_test(lock_that_turns_friendly_is_elided_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
