/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - can this machine run transactions, and if not, why not.
 *
 * Must never execute an RTM instruction in this process.
 */
#ifndef ELIDE_MACHINE_H
#define ELIDE_MACHINE_H

#include <stddef.h>

#include "../../lib/datafile.h"

/* Transactions of each kind that the probe begins. */
#define PROBE_ATTEMPTS 1000

/**
 * struct machine - what decides about RTM.
 * @vendor:        of the processor, as CPUID names it
 * @has_rtm:       CPUID leaf 7, EBX bit 11
 * @always_abort:  CPUID leaf 7, EDX bit 11 (RTM_ALWAYS_ABORT): microcode aborts every transaction
 * @hypervisor:    CPUID leaf 1, ECX bit 31
 * @taa:           what the kernel says of TSX Asynchronous Abort, empty if nothing
 * @tsx_parameter: the kernel's command-line parameter tsx=, empty without it
 * @probed:        1 if transactions were tried: in a child process
 * @probe_died:    1 if the child died of it
 * @empty_commits, @storing_commits: of PROBE_ATTEMPTS each
 * @perf_paranoid: /proc/sys/kernel/perf_event_paranoid, -100 if it is not there
 * @has_tx_events: the kernel offers the PMU's events of transactions
 * @has_pmu:       the kernel found a PMU of the cores
 * @one_processor: 1 if this process may use only one processor
 * @family, @model: of the processor, as CPUID has them; 0 if unknown
 */
struct machine {
	char vendor[16];
	int has_rtm;
	int always_abort;
	int hypervisor;
	char taa[128];
	char tsx_parameter[32];
	char kernel[96];
	int probed;
	int probe_died;
	unsigned int empty_commits;
	unsigned int storing_commits;
	int perf_paranoid;
	int has_tx_events;
	int has_pmu;
	int one_processor;
	unsigned int family;
	unsigned int model;
};

/**
 * machine_read() - fill @m.
 * @sysroot: NULL for this machine; else a directory with another machine's /proc and /sys:
 *           nothing is probed, and the processor is that of proc/cpuinfo
 *
 * Return: 0, or -errno if @sysroot has no proc/cpuinfo.
 */
int machine_read(struct machine *m, const char *sysroot);

/**
 * machine_mode() - the mode that "auto" chooses.
 * @why: @size bytes, filled with the reason in words
 */
enum elide_run_mode machine_mode(const struct machine *m, char *why, size_t size);

#endif
