/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* holds.c - see holds.h. */
#include "holds.h"
#include "settings.h"

uint32_t elide_holds[ELIDE_NR_HOLDS];
uint32_t elide_nr_active;

void elide_hold_seen(uint32_t class_index, uint64_t cycles)
{
	uint32_t *hold = &elide_holds[class_index % ELIDE_NR_HOLDS];
	uint32_t known = READ_ONCE(*hold), now = policy_hold(known, cycles);

	if (now != known)
		WRITE_ONCE(*hold, now);
}

bool elide_crowded(void)
{
	return READ_ONCE(elide_nr_active) > elide_process.nr_processors;
}
