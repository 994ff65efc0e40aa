/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - the order in which threads get processors.
 */
#ifndef DEMO_TOPOLOGY_H
#define DEMO_TOPOLOGY_H

/* Processors that are told apart; more threads begin again with the first. */
#define TOPOLOGY_MAX 1024

unsigned int topology_order(unsigned int *cpus);

#endif
