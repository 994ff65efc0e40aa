/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_policy.c - the truth tables of lib/policy/policy.c and published.c.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/policy/policy.h"
#include "../../lib/policy/published.h"
#include "../../lib/rtm.h"

#define XABORT(code) (RTM_EXPLICIT | (unsigned int)(code) << 24)

static const struct policy_config base = {
	.budget = {.conflict = 5, .busy = 8, .capacity = 1, .other = 2, .patience = 1},
	.spin_busy = 1000, .backoff = 16,
};

static struct policy_config config_of(enum policy_name name)
{
	struct policy_config c = base;

	c.name = name;
	policy_arms(&c);
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

#define REAL  POLICY_ARM_real
#define KEEN  POLICY_ARM_keen
#define LEAN  POLICY_ARM_lean
#define PATIENT POLICY_ARM_patient

static struct policy_verdict aborted(const struct policy_config *config, struct policy_lock *lock,
				     struct policy_attempts *try, unsigned int status)
{
	return policy_abort(config, lock, try, status, policy_cause(status));
}

/* What happens after the abort number @nr + 1 of an acquisition, all with @status. */
struct reaction {
	enum policy_name name;
	enum policy_arm_name arm;
	unsigned int status;
	unsigned int nr;
	enum policy_action action;
	uint32_t spins;
	uint16_t persistent;
	uint32_t skip;
};

static const struct reaction reactions[] = {
	{POLICY_ADAPTIVE, KEEN, RTM_CONFLICT, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, RTM_CONFLICT | RTM_RETRY, 1, POLICY_BACKOFF, 16, 0, 0},
	{POLICY_ADAPTIVE, KEEN, RTM_CONFLICT, 4, POLICY_BACKOFF, 128, 0, 0},
	{POLICY_ADAPTIVE, KEEN, RTM_CONFLICT, 5, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xff), 7, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xff), 8, POLICY_FALLBACK, 0, 0, 0},
	/* An inner lock that is held goes by the same account. */
	{POLICY_ADAPTIVE, KEEN, XABORT(0xf8), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xf8), 7, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xf8), 8, POLICY_FALLBACK, 0, 0, 0},
	/* Capacity without the retry bit is still tried again. */
	{POLICY_ADAPTIVE, KEEN, RTM_CAPACITY, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, RTM_CAPACITY, 1, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, KEEN, 0, 1, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, 0, 2, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, KEEN, RTM_DEBUG, 2, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, KEEN, RTM_NESTED, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(7), 0, POLICY_WAIT, 1000, 0, 0},
	/* Codes of our own but for busy: only a locked section can do it. */
	{POLICY_ADAPTIVE, KEEN, XABORT(0xfe), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xfd), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xfc), 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, KEEN, XABORT(0xf9), 0, POLICY_FALLBACK, 0, 1, 0},
	/* The other arms. */
	{POLICY_ADAPTIVE, REAL, RTM_CONFLICT, 0, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_ADAPTIVE, LEAN, RTM_CONFLICT, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, LEAN, RTM_CONFLICT, 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_ADAPTIVE, LEAN, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_ADAPTIVE, LEAN, XABORT(0xff), 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_ADAPTIVE, LEAN, RTM_CAPACITY, 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, LEAN, 0, 0, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_ADAPTIVE, PATIENT, RTM_CONFLICT, 0, POLICY_BACKOFF, 512, 0, 0},
	{POLICY_ADAPTIVE, PATIENT, RTM_CONFLICT, 1, POLICY_BACKOFF, 1024, 0, 0},
	{POLICY_FIXED, REAL, RTM_CONFLICT, 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_FIXED, REAL, RTM_CONFLICT, 1, POLICY_BACKOFF, 16, 0, 0},
	{POLICY_FIXED, REAL, RTM_CAPACITY, 1, POLICY_FALLBACK, 0, 1, 0},
	{POLICY_HPCA, REAL, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_HPCA, REAL, XABORT(0xf8), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_HPCA, REAL, RTM_CONFLICT, 5, POLICY_FALLBACK, 0, 0, 0},
	/* glibc: three tries while the retry bit is set, else skip three. */
	{POLICY_GLIBC, REAL, RTM_CONFLICT | RTM_RETRY, 0, POLICY_RETRY, 0, 0, 0},
	{POLICY_GLIBC, REAL, RTM_RETRY, 1, POLICY_RETRY, 0, 0, 0},
	{POLICY_GLIBC, REAL, RTM_RETRY, 2, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_GLIBC, REAL, RTM_CONFLICT, 0, POLICY_FALLBACK, 0, 0, 3},
	{POLICY_GLIBC, REAL, XABORT(0xff), 0, POLICY_FALLBACK, 0, 0, 3},
	{POLICY_GLIBC, REAL, 0, 0, POLICY_FALLBACK, 0, 0, 3},
	/* DaMoN'15: two attempts. */
	{POLICY_DAMON, REAL, XABORT(0xff), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_DAMON, REAL, XABORT(0xf8), 0, POLICY_WAIT, 1000, 0, 0},
	{POLICY_DAMON, REAL, XABORT(0xff), 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, REAL, XABORT(0xf8), 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, REAL, RTM_CONFLICT, 0, POLICY_BACKOFF, 16, 0, 0},
	{POLICY_DAMON, REAL, RTM_CONFLICT | RTM_RETRY, 1, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, REAL, RTM_RETRY, 0, POLICY_BACKOFF, 1, 0, 0},
	{POLICY_DAMON, REAL, RTM_CAPACITY, 0, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_DAMON, REAL, 0, 0, POLICY_FALLBACK, 0, 0, 0},
	{POLICY_NEVER, REAL, RTM_CONFLICT | RTM_RETRY, 0, POLICY_FALLBACK, 0, 0, 0},
};

static void reaction_of_each_policy(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(reactions); i++) {
		const struct reaction *r = &reactions[i];
		struct policy_config config = config_of(r->name);
		struct policy_lock lock = {0};
		struct policy_attempts try = {.arm = r->arm};
		struct policy_verdict v = {0};

		for (unsigned int n = 0; n <= r->nr; n++)
			v = aborted(&config, &lock, &try, r->status);
		if (v.action != r->action || v.spins != r->spins || try.persistent != r->persistent ||
		    lock.skip != r->skip || try.attempts != r->nr + 1)
			fail_msg("row %u: action %d spins %u hopeless %d skip %u", i, v.action,
				 v.spins, try.persistent, lock.skip);
	}
}

static void budgets_are_apart(void **state)
{
	struct policy_config config = config_of(POLICY_FIXED);
	struct policy_lock lock = {0};
	struct policy_attempts try = {0};

	/* A conflict does not use up the tries for a held lock, and the reverse. */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(aborted(&config, &lock, &try, RTM_CONFLICT).action,
				 i ? POLICY_BACKOFF : POLICY_WAIT);
		assert_int_equal(aborted(&config, &lock, &try, XABORT(0xff)).action,
				 POLICY_WAIT);
	}
	assert_int_equal(aborted(&config, &lock, &try, RTM_CAPACITY).action, POLICY_WAIT);
	assert_int_equal(aborted(&config, &lock, &try, RTM_CONFLICT).action, POLICY_FALLBACK);
}

/*
 * Who has taken the lock is waited for and uses no budget, so often that not all take it in turn: 64
 * times, and after a conflict of other data twice.
 */
static void the_lock_was_locked(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);

	for (int others = 0; others < 4; others++) {
		struct policy_attempts try = {.arm = KEEN};
		struct policy_lock lock = {0};
		int held = 0, used = others;

		for (int n = 0; n < others; n++)
			assert_int_not_equal(aborted(&config, &lock, &try, RTM_CONFLICT).action,
					     POLICY_FALLBACK);
		for (try.held = true; used < 5; held++) {
			int conflicts = try.conflict;

			assert_int_not_equal(aborted(&config, &lock, &try, RTM_CONFLICT).action,
					     POLICY_FALLBACK);
			used += try.conflict - conflicts;
		}
		assert_int_equal(held, others ? 2 + 5 - others : 64 + 5);
		assert_int_equal(aborted(&config, &lock, &try, RTM_CONFLICT).action, POLICY_FALLBACK);
		assert_false(try.persistent);
	}
}

static void chance_is_one_attempt_more(void **state)
{
	struct policy_config config = config_of(POLICY_ADAPTIVE);
	struct policy_lock lock = {0};
	struct policy_attempts try = {.arm = LEAN, .again = true};

	assert_int_equal(aborted(&config, &lock, &try, 0).action, POLICY_WAIT);
	assert_int_equal(aborted(&config, &lock, &try, 0).action, POLICY_FALLBACK);
	assert_true(try.persistent);
}

static void no_budget_is_one_attempt(void **state)
{
	static const unsigned int statuses[] = {RTM_CONFLICT, XABORT(0xff), RTM_CAPACITY, 0};
	struct policy_config config = config_of(POLICY_FIXED);
	struct policy_lock lock = {0};

	config.budget = (struct policy_budget){0};
	for (unsigned int i = 0; i < ARRAY_SIZE(statuses); i++) {
		struct policy_attempts try = {0};

		assert_int_equal(aborted(&config, &lock, &try, statuses[i]).action,
				 POLICY_FALLBACK);
	}
}

static void backoff_doubles_to_a_bound(void **state)
{
	struct policy_config config = config_of(POLICY_FIXED);
	struct policy_lock lock = {0};
	struct policy_attempts try = {0};
	uint32_t last = 0;

	config.budget.conflict = 1001;
	config.backoff = 1000000; /* the maximum of policy.def must not overflow */
	assert_int_equal(aborted(&config, &lock, &try, RTM_CONFLICT).action, POLICY_WAIT);
	for (unsigned int i = 0; i < 1000; i++) {
		struct policy_verdict v = aborted(&config, &lock, &try, RTM_CONFLICT);

		assert_int_equal(v.action, POLICY_BACKOFF);
		assert_true(v.spins >= last);
		assert_true(v.spins <= 1u << 24);
		last = v.spins;
	}
	assert_int_equal(last, 1u << 24);
}

static void enter_counts_the_pause_down(void **state)
{
	struct policy_config config = config_of(POLICY_HPCA);
	struct policy_lock lock = {.skip = 3};

	for (int i = 0; i < 3; i++)
		assert_false(policy_lock_enter(&config, &lock));
	assert_true(policy_lock_enter(&config, &lock));
	config.name = POLICY_NEVER;
	assert_false(policy_lock_enter(&config, &lock));
	assert_int_equal(lock.skip, 0);
}

static const struct policy_attempts plain_failure = {.attempts = 6, .conflict = 6};
static const struct policy_attempts persistent_failure = {.attempts = 3, .other = 3, .persistent = 1};

/* Acquisitions that fail until the lock is paused. */
static unsigned int fail_until_paused(const struct policy_config *config, struct policy_lock *lock,
				      struct policy_window *window, const struct policy_attempts *try)
{
	unsigned int n = 1;

	while (!policy_hpca_done(config, lock, window, try, false))
		assert_true(n++ < 100000);
	return n;
}

static void persistent_aborts_pause_sooner(void **state)
{
	struct policy_config config = config_of(POLICY_HPCA);
	struct policy_lock lock = {0};
	struct policy_window window = {0};

	assert_int_equal(fail_until_paused(&config, &lock, &window, &persistent_failure), 4);
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
	struct policy_config config = config_of(POLICY_HPCA);
	struct policy_lock lock = {.pause = 256, .skip = 200};
	struct policy_window window = {.tries = 31, .fails = 31};

	/* Another thread has paused it while this one was still trying. */
	assert_false(policy_hpca_done(&config, &lock, &window, &plain_failure, false));
	assert_int_equal(lock.pause, 256);
	assert_int_equal(lock.skip, 200);
	assert_int_equal(window.fails, 0);
}

/* Threads count @skip down without synchronisation: one decrement may be lost or done twice. */
static void a_lost_update_of_the_pause_heals(void **state)
{
	struct policy_config config = config_of(POLICY_HPCA);
	struct policy_lock lock = {.pause = 256, .skip = 5};
	unsigned int n = 0;

	lock.skip += 1; /* lost */
	while (!policy_lock_enter(&config, &lock))
		n++;
	assert_int_equal(n, 6);
	lock.skip = 0; /* a thread that read 1 stores 0 after another has stored it: still 0 */
	assert_true(policy_lock_enter(&config, &lock));
}

/* What the engine has to do for each policy. */
static void flags_of_each_policy(void **state)
{
	static const struct policy_config flags[POLICY_NR] = {
		[POLICY_ADAPTIVE] = {.elides = 1, .measures = 1, .looks_first = 1},
		[POLICY_FIXED] = {.elides = 1, .looks_first = 1},
		[POLICY_GLIBC] = {.elides = 1, .counts_skips = 1},
		[POLICY_DAMON] = {.elides = 1},
		[POLICY_HPCA] = {.elides = 1, .looks_first = 1, .keeps_window = 1},
		[POLICY_NEVER] = {.looks_first = 1},
		[POLICY_RESTRICT] = {.looks_first = 1},
	};

	for (uint32_t name = 0; name < POLICY_NR; name++) {
		const struct policy_config *want = &flags[name];
		struct policy_config config = {.name = name};

		policy_flags(&config);
		assert_int_equal(config.elides, want->elides);
		assert_int_equal(config.measures, want->measures);
		assert_int_equal(config.looks_first, want->looks_first);
		assert_int_equal(config.counts_skips, want->counts_skips);
		assert_int_equal(config.keeps_window, want->keeps_window);
	}
}

static void the_others_never_pause(void **state)
{
	static const enum policy_name names[] = {POLICY_FIXED, POLICY_GLIBC, POLICY_DAMON,
						 POLICY_NEVER, POLICY_ADAPTIVE};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct policy_config config = config_of(names[i]);
		struct policy_lock lock = {0};
		struct policy_window window = {0};

		for (int n = 0; n < 10000; n++)
			assert_false(policy_hpca_done(&config, &lock, &window, &persistent_failure, false));
		assert_int_equal(lock.skip, 0);
	}
}

/* A pause and a window of failures, over and over: hpca, whatever is tried. */
static void hpca_costs_what_it_says(void **state)
{
	struct policy_config config = config_of(POLICY_HPCA);
	struct policy_lock lock = {0};
	struct policy_window window = {0};
	unsigned int tried = 0;

	for (int n = 0; n < 288 * 1000; n++) {
		if (!policy_lock_enter(&config, &lock))
			continue;
		tried++;
		policy_hpca_done(&config, &lock, &window, &plain_failure, false);
	}
	assert_int_equal(tried, 32 * 1000);
}

static void arms_follow_the_budget(void **state)
{
	struct policy_config config = base;

	config.budget = (struct policy_budget){.conflict = 7, .busy = 3, .capacity = 4,
						.other = 9, .patience = 1};
	policy_arms(&config);
	assert_memory_equal(&config.arms[KEEN], &config.budget, sizeof(config.budget));
	assert_int_equal(config.arms[REAL].conflict, 0);
	assert_int_equal(config.arms[LEAN].conflict, 1);
}

/* What section/retry.c does by itself is what policy_abort() says. */
static void conflicts_are_answered_at_once_as_the_policy_says(void **state)
{
	for (uint32_t name = 0; name < POLICY_NR; name++) {
		struct policy_config config = config_of(name);
		uint32_t arms = policy_at_once(&config);

		if (name != POLICY_ADAPTIVE && name != POLICY_FIXED) {
			assert_int_equal(arms, 0);
			continue;
		}
		assert_int_equal(arms, 1u << POLICY_ARM_keen | 1u << POLICY_ARM_lean |
					       1u << POLICY_ARM_probe);
		for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++) {
			struct policy_attempts try = {.arm = arm};
			struct policy_lock lock = {0};

			if (!(arms >> arm & 1))
				continue;
			for (unsigned int n = 1; n <= config.arms[arm].conflict; n++) {
				struct policy_verdict v = policy_abort(
					&config, &lock, &try, RTM_CONFLICT | RTM_RETRY,
					ELIDE_CAUSE_conflict);

				assert_int_equal(v.action, n == 1 ? POLICY_WAIT : POLICY_BACKOFF);
				if (n > 1)
					assert_int_equal(v.spins, policy_pause(&config,
								  &config.arms[arm], n - 1));
			}
			if (name == POLICY_FIXED && arm != POLICY_ARM_keen)
				continue; /* its budget is that of "keen" */
			assert_int_equal(policy_abort(&config, &lock, &try, RTM_CONFLICT | RTM_RETRY,
						      ELIDE_CAUSE_conflict).action,
					 POLICY_FALLBACK);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cause_of_each_status),
		cmocka_unit_test(cause_of_each_own_code),
		cmocka_unit_test(reaction_of_each_policy),
		cmocka_unit_test(budgets_are_apart),
		cmocka_unit_test(the_lock_was_locked),
		cmocka_unit_test(chance_is_one_attempt_more),
		cmocka_unit_test(no_budget_is_one_attempt),
		cmocka_unit_test(backoff_doubles_to_a_bound),
		cmocka_unit_test(enter_counts_the_pause_down),
		cmocka_unit_test(persistent_aborts_pause_sooner),
		cmocka_unit_test(conflicts_are_answered_at_once_as_the_policy_says),
		cmocka_unit_test(hpca_does_not_double),
		cmocka_unit_test(a_lock_is_paused_once),
		cmocka_unit_test(a_lost_update_of_the_pause_heals),
		cmocka_unit_test(flags_of_each_policy),
		cmocka_unit_test(the_others_never_pause),
		cmocka_unit_test(hpca_costs_what_it_says),
		cmocka_unit_test(arms_follow_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
