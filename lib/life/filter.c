/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filter.c - see filter.h. */
#include "../base/datafile-writer.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../base/vdso.h"
#include "../state/gate.h"
#include "../state/settings.h"
#include "filter.h"
#include "start.h"
#include "threads.h"

/*
 * What is made ready: chunks of the data file, 1 MiB, of which each thread takes one for every 6 of its
 * call sites, and blocks of threads, 896 KiB. Chosen: a program that installs a filter has started most of
 * its threads, or starts one worker a processor.
 */
#define CHUNKS 256
#define THREADS 32

static void filter_global(void *change)
{
	test_point(filter_entered);
	test_point(filter_publish);
	((void (*)(void))change)();
	test_point(filter_done);
}

static void in_global_path(void (*change)(void))
{
	elide_global_run(filter_global, (void *)change);
}

static void make_ready(void)
{
	elide_vdso_settle();
	elide_threads_reserve(THREADS);
	elide_data_close_off(CHUNKS);
	elide_data->filter = 1;
}

/* No filter has come: allow again what was allowed. */
static void take_back(void)
{
	elide_data->filter = 0;
	elide_data_open_up();
}

/* The beginning of the global-lock path writes the file's time. */
static void nothing(void)
{
}

bool elide_filter_before(enum elide_filter what, struct elide_closed *was)
{
	/* The child of vfork() has a filter of its own, but its parent's memory. */
	if (!elide_process.running || elide_busy)
		return false;
	switch (what) {
	case ELIDE_FILTER_CALLS:
		/* If there is a filter already, all is ready. */
		if (!READ_ONCE(sys_forbidden))
			in_global_path(make_ready);
		elide_gate_close();
		break;
	case ELIDE_FILTER_TSC:
		in_global_path(elide_finish);
		elide_process.running = false;
		elide_thread_close(was);
		break;
	case ELIDE_FILTER_STRICT:
		in_global_path(nothing);
		elide_thread_close(was);
	}
	return true;
}

void elide_filter_after(enum elide_filter what, const struct elide_closed *was, bool came)
{
	if (came)
		return;
	switch (what) {
	case ELIDE_FILTER_CALLS:
		elide_gate_open();
		if (!READ_ONCE(sys_forbidden))
			in_global_path(take_back);
		break;
	case ELIDE_FILTER_TSC:
		elide_process.running = true;
		elide_unfinish();
		__attribute__((fallthrough));
	case ELIDE_FILTER_STRICT:
		elide_thread_reopen(was);
	}
}
