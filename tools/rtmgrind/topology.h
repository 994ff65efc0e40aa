/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - how the simulated machine describes itself; see topology.c.
 *
 * Must never disagree with model.h.
 */
#ifndef RTMGRIND_TOPOLOGY_H
#define RTMGRIND_TOPOLOGY_H

#include "rtmgrind.h"

/* Bytes by which /proc/cpuinfo may be longer than the host's, for each processor. */
#define CPUINFO_ADDED 100

void topology_cpuid(VexGuestAMD64State *guest, UInt leaf, UInt subleaf, Int cpu);
SizeT topology_list(HChar *text, Bool (*has)(Int cpu, Long what), Long what);
SizeT topology_file(const HChar *name, Int cpu, HChar *text);
SizeT topology_cpuinfo(HChar *text, const HChar *host);

#endif
