/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - the order in which --pin assigns processors to threads.
 */
#ifndef DEMO_TOPOLOGY_H
#define DEMO_TOPOLOGY_H

#include <stdint.h>

/* Maximum number of processors: as many as a cpu_set_t holds. */
#define TOPOLOGY_MAX 1024

unsigned int topology_order(unsigned int *cpus);
void topology_warn(const char *program, uint64_t threads);

#endif
