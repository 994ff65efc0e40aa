/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file.c - see file.h. */
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <time.h>

#include "../adapt/clock.h"
#include "../adapt/learned.h"
#include "../base/log.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "../base/vdso.h"
#include "../emulator.h"
#include "../state/registry.h"
#include "../state/settings.h"
#include "../state/tunables.h"
#include "file.h"
#include "inspect.h"

/* When this process started, for the header of the file. */
static struct {
	uint64_t ns;
	uint64_t cycles;
	uint64_t realtime_ns;
} start;

uint64_t elide_file_begin(void)
{
	start.ns = elide_clock_ns(CLOCK_MONOTONIC);
	start.cycles = cycles_now();
	start.realtime_ns = elide_clock_ns(CLOCK_REALTIME);
	return start.realtime_ns;
}

/* The time at @cycles where the clock cannot be read, by the rate since the start. */
static uint64_t guess_ns(const struct elide_header *h, uint64_t cycles)
{
	double rate = h->end_cycles > h->start_cycles ?
			      (double)(h->end_ns - h->start_ns) / (h->end_cycles - h->start_cycles) :
			      0;

	return h->end_ns + (uint64_t)((cycles - h->end_cycles) * rate);
}

void elide_file_tell_end(void)
{
	uint64_t ns = elide_clock_ns(CLOCK_MONOTONIC), cycles = cycles_now();

	elide_data_tell_lost();
	if (ns == UINT64_MAX)
		ns = guess_ns(elide_data, cycles);
	/* The linker raises it with the first namespace of dlmopen(3), which has a C library of its own. */
	elide_data->dlmopen = _r_debug.r_version > 1;
	elide_data->end_ns = ns;
	elide_data->end_cycles = cycles;
	if (!adapt_clocked)
		adapt_clock(elide_data->end_cycles - start.cycles,
			    elide_data->end_ns - start.ns);
}

/* Cycles by which the end in the header may be too early: reading the clock costs more than the rest. */
#define END_CYCLES 50000

void elide_file_refresh_end(void)
{
	if (cycles_now() - elide_data->end_cycles >= END_CYCLES)
		elide_file_tell_end();
}

static void fill_machine(struct elide_header *h)
{
	struct rtmgrind_machine machine;

	h->cores = sys_processors_online();
	if (!rtmgrind_request(RTMGRIND_MACHINE, (unsigned long)&machine, sizeof(machine)))
		return;
	h->cores = machine.cores;
	h->smt = machine.smt;
	h->sockets = machine.sockets;
	h->mhz = machine.mhz;
	elide_text(h->model, sizeof(h->model), "%s", machine.model);
	elide_text(h->changes, sizeof(h->changes), "%s", machine.changes);
}

/* What there is before there is a header: its nr_joining and joined. */
static struct {
	uint64_t nr;
	uint64_t cycles;
} joins;

/* Counts the files of the process that an attachment has begun; 1 with the first. */
static uint32_t attachment = 1;

static void add_join(int change)
{
	struct elide_header *h = elide_data;
	uint64_t now = cycles_now();

	__atomic_fetch_add(h ? &h->nr_joining : &joins.nr, change, __ATOMIC_RELAXED);
	__atomic_fetch_add(h ? &h->joined : &joins.cycles, change > 0 ? -now : now, __ATOMIC_RELAXED);
}

uint32_t elide_file_join(void)
{
	/* A thread may have given up its time-stamp counter: PR_SET_TSC. */
	if (!elide_process.running)
		return 0;
	add_join(1);
	return READ_ONCE(attachment);
}

void elide_file_joined(uint32_t begun)
{
	if (elide_process.running && begun == READ_ONCE(attachment))
		add_join(-1);
}

void elide_file_forget(void)
{
	joins.nr = joins.cycles = 0;
	WRITE_ONCE(attachment, attachment + 1);
}

static void fill_header(void)
{
	struct elide_header *h = elide_data;

	__atomic_fetch_add(&h->nr_joining, joins.nr, __ATOMIC_RELAXED);
	__atomic_fetch_add(&h->joined, joins.cycles, __ATOMIC_RELAXED);
	joins.nr = joins.cycles = 0;
	h->mode = elide_process.mode;
	h->rtm = elide_process.rtm;
	h->rtm_off = elide_process.mode == ELIDE_RUN_ELIDE && !elide_enabled;
	h->start_ns = start.ns;
	h->start_cycles = start.cycles;
	h->start_realtime_ns = start.realtime_ns;
	fill_machine(h);
	h->sample_period = ELIDE_TIME_PERIOD;
	elide_text(h->why, sizeof(h->why), "%s", elide_process.why);
	elide_text(h->policy, sizeof(h->policy), "%s",
		 elide_process.mode >= ELIDE_RUN_ELIDE ? elide_process.policy : "");
	elide_inspect_fill(&h->inspect);
	elide_log_fill(h);
	adapt_learned_fill(h);
}

int elide_file_open(enum elide_data_who who)
{
	int err;

	/* The time that this takes depends on the file's name, and on whether it exists. */
	rtmgrind_time_stops();
	if (!elide_tunables.args)
		elide_data_leave_out_args();
	err = elide_data_open(elide_tunables.output, strtoull(elide_tunables.run, NULL, 16),
			      (size_t)elide_tunables.file_max << 20, who);
	rtmgrind_time_goes_on();
	if (err) {
		elide_process.running = false;
		return err;
	}
	fill_header();
	elide_registry_save();
	return 0;
}
