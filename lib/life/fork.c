/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fork.c - see fork.h. */
#include <errno.h>

#include "../adapt/trial.h"
#include "../adapt/learned.h"
#include "../base/syscalls.h"
#include "../check/misuse.h"
#include "../evidence/pmu.h"
#include "../state/gate.h"
#include "../state/settings.h"
#include "../state/tunables.h"
#include "file.h"
#include "fork.h"
#include "threads.h"

int elide_child_start(void)
{
	bool had_file = elide_data != NULL;

	if (READ_ONCE(sys_forbidden)) {
		elide_data_none(EPERM);
		elide_process.running = elide_enabled = elide_adapts = false;
		return -EPERM;
	}
	elide_data_forget();
	elide_pmu_detach();
	elide_threads_forget();
	elide_file_forget();
	elide_misuse_forget();
	adapt_forget();
	adapt_learned_forget();
	elide_file_begin();
	elide_gate_adopt();
	if (!elide_tunables.follow) {
		elide_process.running = false;
		elide_enabled = elide_adapts = false;
		return -EPERM;
	}
	return had_file ? elide_file_open(ELIDE_DATA_CHILD) : 0;
}

void elide_forked(void)
{
	if (!elide_process.running || elide_gate_same_process())
		return;
	elide_data_detach();
	elide_pmu_detach();
}
