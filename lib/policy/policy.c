/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy.c - the policies adaptive and fixed, and which policy answers an abort.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "../compiler.h"
#include "../rtm.h"
#include "policy.h"
#include "published.h"

static const struct {
	enum elide_cause cause;
	unsigned int code;
} code_table[] = {
#define ELIDE_CAUSE(id, code, column, help, advice) {ELIDE_CAUSE_##id, code},
#include "../aborts.def"
#undef ELIDE_CAUSE
};

enum elide_cause policy_cause(unsigned int status)
{
	if (status & RTM_EXPLICIT) {
		for (unsigned int i = 0; i < ARRAY_SIZE(code_table); i++)
			if (code_table[i].code && code_table[i].code == RTM_CODE(status))
				return code_table[i].cause;
		return ELIDE_CAUSE_explicit;
	}
	if (status & RTM_CAPACITY)
		return ELIDE_CAUSE_capacity;
	if (status & RTM_CONFLICT)
		return ELIDE_CAUSE_conflict;
	if (status & RTM_DEBUG)
		return ELIDE_CAUSE_debug;
	if (status & RTM_NESTED)
		return ELIDE_CAUSE_nested;
	return ELIDE_CAUSE_other;
}

void policy_flags(struct policy_config *config)
{
	uint32_t name = config->name;

	config->elides = name != POLICY_NEVER && name != POLICY_RESTRICT;
	config->measures = name == POLICY_ADAPTIVE;
	config->looks_first = name != POLICY_GLIBC && name != POLICY_DAMON;
	config->counts_skips = name == POLICY_GLIBC;
	config->keeps_window = name == POLICY_HPCA;
}

void policy_arms(struct policy_config *config)
{
	const struct policy_budget tuned = config->budget;
	const struct policy_budget arms[POLICY_NR_ARMS] = {
#define TUNED_OR(number, tuned) ((number) < 0 ? (tuned) : (number))
#define TUNED (-1)
#define ELIDE_ARM(id, n_conflict, n_busy, n_capacity, n_other, times, help) \
	[POLICY_ARM_##id] = {                                                 \
		.conflict = TUNED_OR(n_conflict, tuned.conflict),             \
		.busy = TUNED_OR(n_busy, tuned.busy),                         \
		.capacity = TUNED_OR(n_capacity, tuned.capacity),             \
		.other = TUNED_OR(n_other, tuned.other),                      \
		.patience = times,                                            \
	},
#include "../arms.def"
#undef ELIDE_ARM
#undef TUNED
#undef TUNED_OR
	};

	for (unsigned int i = 0; i < POLICY_NR_ARMS; i++)
		config->arms[i] = arms[i];
}

uint32_t policy_at_once(const struct policy_config *config)
{
	uint32_t arms = 0;

	for (unsigned int i = POLICY_ARM_keen; i < POLICY_NR_ARMS; i++)
		if (config->arms[i].conflict && config->arms[i].patience == 1)
			arms |= 1u << i;
	return config->name == POLICY_ADAPTIVE || config->name == POLICY_FIXED ? arms : 0;
}

/*
 * A thread that locks aborts all attempts at once. If these aborts used up the budgets, the aborted
 * threads would lock one after the other, for good: each aborts the attempts of the others (the
 * lemming effect). So they wait until the lock is free and use no budget, HELD_CONFLICTS_MAX times. After
 * a conflict of other data HELD_CONFLICTS_AFTER times: where these are frequent, as in the workload
 * "queue", further attempts by many threads meet again, and it is better that some lock.
 */
static struct policy_verdict abort_conflict(const struct policy_config *config,
					    const struct policy_budget *budget,
					    struct policy_attempts *try)
{
	unsigned int most = try->conflict ? HELD_CONFLICTS_AFTER : HELD_CONFLICTS_MAX, conflicts;

	if (try->held && ++try->held_conflicts <= most)
		return policy_verdict(POLICY_WAIT, config->spin_busy);
	conflicts = ++try->conflict;
	if (conflicts > budget->conflict)
		return policy_fallback(try, false);
	/* By the next attempt the thread that caused the first conflict is mostly done: notes.md. */
	if (budget->patience == 1 && !--conflicts)
		return policy_verdict(POLICY_WAIT, config->spin_busy);
	return policy_verdict(POLICY_BACKOFF, policy_pause(config, budget, conflicts));
}

static struct policy_verdict abort_budgets(const struct policy_config *config,
					   const struct policy_budget *budget,
					   struct policy_attempts *try, enum elide_cause cause)
{
	if (likely(cause == ELIDE_CAUSE_conflict))
		return abort_conflict(config, budget, try);
	switch (cause) {
	case ELIDE_CAUSE_busy:
	case ELIDE_CAUSE_inner_busy:
		if (++try->busy > budget->busy)
			return policy_fallback(try, false);
		return policy_verdict(POLICY_WAIT, config->spin_busy);
	case ELIDE_CAUSE_capacity:
		if (++try->capacity > budget->capacity)
			return policy_fallback(try, true);
		return policy_verdict(POLICY_WAIT, config->spin_busy);
	case ELIDE_CAUSE_explicit:
	case ELIDE_CAUSE_debug:
	case ELIDE_CAUSE_nested:
	case ELIDE_CAUSE_other:
		if (++try->other > budget->other + try->again)
			return policy_fallback(try, true);
		return policy_verdict(POLICY_WAIT, config->spin_busy);
	default:
		/* Codes of our own: the section does what only a thread that has locked can do. */
		return policy_fallback(try, true);
	}
}

struct policy_verdict policy_abort(const struct policy_config *config, struct policy_lock *lock,
				   struct policy_attempts *try, unsigned int status,
				   enum elide_cause cause)
{
	const struct policy_budget *budget = &config->budget;

	try->attempts++;
	if (likely(config->name == POLICY_ADAPTIVE))
		budget = &config->arms[try->arm];
	else if (config->name == POLICY_GLIBC)
		return policy_glibc_abort(lock, try, status);
	else if (config->name == POLICY_DAMON)
		return policy_damon_abort(config, try, cause, status);
	else if (config->name == POLICY_NEVER)
		return policy_fallback(try, false);
	return abort_budgets(config, budget, try, cause);
}
