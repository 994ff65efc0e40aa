/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - counts transactions, as the processor's performance counters would; see counters.c.
 *
 * Must never be read to decide how the simulated machine behaves.
 */
#ifndef RTMGRIND_COUNTERS_H
#define RTMGRIND_COUNTERS_H

#include "rtmgrind.h"

enum counter {
	COUNTER_NONE,
#define COUNTER(id, name, help) COUNTER_##id,
#include "counters.def"
#undef COUNTER
	NR_COUNTERS,
};

void counters_init(void);
void counters_add(enum counter counter);
void counters_begin(Bool hle);
void counters_commit(Bool hle);
void counters_abort(Bool hle, enum rtmgrind_cause cause, Long cycles);
const HChar *counters_cause_name(enum rtmgrind_cause cause);
void counters_probe_done(void);
void counters_region(Bool was, Bool in);
void counters_option(const HChar *text);
void counters_print_totals(void);
void counters_write(void);

#endif
