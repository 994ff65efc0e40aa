/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * settings.c - see settings.h.
 */
#include <string.h>

#include "../base/detect.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "settings.h"
#include "tunables.h"

/* Acquisitions: where the policy chooses, a measurement also wakes a dormant call. Chosen. */
#define HOLD_PERIOD_MOST 64

struct elide_process elide_process = {.hold_mask = ~0ull};
bool elide_enabled;
bool elide_adapts;
uint64_t elide_hold_period;
uint64_t elide_hold_contended;

/* Processors that may be used; on a machine with too many for the kernel's set, those that are online. */
static uint32_t count_processors(void)
{
	return sys_processors_usable() ?: sys_processors_online();
}

/* May threads be restricted without transactions? */
static bool may_restrict(void)
{
	return elide_tunables.policy == POLICY_RESTRICT ||
	       (elide_tunables.mode == ELIDE_MODE_ELIDE && elide_tunables.policy == POLICY_ADAPTIVE);
}

static void choose_mode(void)
{
	struct elide_process *p = &elide_process;
	struct elide_facts facts;

	elide_detect_facts(&facts, ELIDE_TAA_FILE);
	p->rtm = elide_detect_decide(&facts, elide_tunables.mode == ELIDE_MODE_ELIDE, p->why,
				     sizeof(p->why));
	if (elide_tunables.mode == ELIDE_MODE_PROFILE) {
		elide_text(p->why, sizeof(p->why), "ELIDE_MODE=profile");
		p->mode = ELIDE_RUN_PROFILE;
	} else if (p->rtm != ELIDE_RTM_NONE && elide_tunables.mode == ELIDE_MODE_AUTO &&
		   elide_tunables.policy == POLICY_ADAPTIVE && p->nr_processors == 1) {
		elide_text(p->why, sizeof(p->why),
			 "there is one processor: no two sections run at once; ELIDE_MODE=elide insists");
		p->mode = ELIDE_RUN_PROFILE;
	} else if (elide_tunables.policy == POLICY_RESTRICT || p->rtm == ELIDE_RTM_NONE) {
		p->mode = may_restrict() ? ELIDE_RUN_RESTRICT : ELIDE_RUN_PROFILE;
	} else {
		p->mode = ELIDE_RUN_ELIDE;
	}
	elide_enabled = p->mode == ELIDE_RUN_ELIDE;
	elide_adapts = elide_enabled || p->mode == ELIDE_RUN_RESTRICT;
	p->restricts = elide_adapts && (elide_tunables.policy == POLICY_ADAPTIVE ||
					elide_tunables.policy == POLICY_RESTRICT);
}

static void configure_policy(void)
{
	const struct elide_tunables *t = &elide_tunables;
	const uint32_t *numbers = t->policy_numbers;

	elide_tunables_word("POLICY", t->policy, elide_process.policy,
			    sizeof(elide_process.policy));
	elide_process.config = (struct policy_config){
		.name = t->policy,
		.budget = {numbers[ELIDE_POLICY_conflict], numbers[ELIDE_POLICY_busy],
			   numbers[ELIDE_POLICY_capacity], numbers[ELIDE_POLICY_other], 1},
		.spin_busy = t->spin_busy,
		.backoff = numbers[ELIDE_POLICY_backoff],
		.crowd = numbers[ELIDE_POLICY_crowd],
	};
	policy_flags(&elide_process.config);
	policy_arms(&elide_process.config);
}

/* The program may change its directory before the file is made. @file: ELIDE_TUNABLE_TEXT bytes. */
static void make_absolute(char *file)
{
	static char name[ELIDE_TUNABLE_TEXT];
	size_t len;

	if (*file == '/' || sys_getcwd(name, sizeof(name)))
		return;
	len = strlen(name);
	if (len + 1 + strlen(file) >= sizeof(name))
		return;
	name[len] = '/';
	strcpy(name + len + 1, file);
	strcpy(file, name);
}

void elide_settings_decide(void)
{
	make_absolute(elide_tunables.output);
	if (*elide_tunables.learned)
		make_absolute(elide_tunables.learned);
	elide_process.nr_processors = count_processors();
	choose_mode();
	configure_policy();
	elide_hold_period = elide_tunables.hold_period;
	if (elide_process.mode != ELIDE_RUN_PROFILE && elide_hold_period > HOLD_PERIOD_MOST)
		elide_hold_period = HOLD_PERIOD_MOST;
	/*
	 * Not where the policy chooses: sections of 2 to 4 us in convoys took 8 to 10 % longer (rows
	 * capacity, edge and log of tests/policy with 4 cores), which would change what it compares.
	 */
	if (elide_process.mode == ELIDE_RUN_PROFILE && elide_hold_period)
		elide_hold_contended = ~0ull;
}
