/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start.c - start and end of the engine in a process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../adapt/crowd.h"
#include "../adapt/trial.h"
#include "../adapt/learned.h"
#include "../base/log.h"
#include "../base/own-stack.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../base/vdso.h"
#include "../check/misuse.h"
#include "../check/order.h"
#include "../emulator.h"
#include "../evidence/decisions.h"
#include "../evidence/evidence.h"
#include "../evidence/holder.h"
#include "../evidence/pmu.h"
#include "../evidence/what-if.h"
#include "../state/ending.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/rules.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "../state/thread-record.h"
#include "../state/tunables.h"
#include "exit-report.h"
#include "file.h"
#include "fork.h"
#include "lock.h"
#include "start.h"
#include "threads.h"

static int make_ready(void)
{
	if (unlikely(!elide_gate_same_process()) && elide_child_start())
		return -EPERM;
	if (elide_data)
		return 0;
	/* ELIDE_FOLLOW=0: a program that another one of the run has started gets no file. */
	return elide_file_open(elide_tunables.follow ? ELIDE_DATA_FIRST : ELIDE_DATA_ALONE);
}

static int begin_global_path(void)
{
	int err = make_ready();

	if (err)
		return err;
	elide_registry_settle();
	elide_modules_settle();
	elide_file_refresh_end();
	return 0;
}

static __noinline void log_off(const char *why)
{
	elide_log("elision switched off: %s", why);
}

static void off_global(void *why)
{
	test_point(off_entered);
	test_point(off_publish);
	elide_data->rtm_off = 1;
	log_off(why);
	test_point(off_done);
}

__cold void elide_disable(const char *why)
{
	if (!__atomic_exchange_n(&elide_enabled, false, __ATOMIC_RELAXED))
		return;
	WRITE_ONCE(elide_adapts, false);
	/* Without a data file this is the start of the process. */
	if (!elide_data)
		return log_off(why);
	elide_evidence_event(ELIDE_EVENT_OFF, NULL, NULL, NULL, NULL);
	elide_global_run(off_global, (void *)why);
}

static bool is_set(const char *setting)
{
	for (char *const *e = environ; *e; e++)
		if (!strcmp(*e, setting))
			return true;
	return false;
}

/* Is there a filter already? Return: the library knows which system calls it may make. */
static bool learn_filter(bool secure)
{
	if (likely(!sys_is_filtered()))
		return true;
	if (!secure && !is_set("ELIDE_MODE=off") && sys_learn(is_set("ELIDE_PMU=abort")))
		return true;
	sys_forbidden = 1;
	return false;
}

static void tell_denied(void)
{
	unsigned int nr;
	const char *first = sys_denied_first(&nr);

	if (unlikely(first))
		elide_log("a seccomp filter kills for %u of the system calls that the library makes, as %s: "
			  "it does without them, see elide(7)", nr, first);
}

/* With a class of each kind for locks beyond the bounds. */
#define NR_CLASSES (ELIDE_MAX_CLASSES + ELIDE_NR_KINDS)

/* What the settings decide, before there are tables and after that. */
static void decide(void)
{
	elide_settings_decide();
	elide_rules_parse(elide_tunables.locks);
	elide_what_if_start(elide_tunables.what_if);
}

/* Make the tables. @began: CLOCK_REALTIME at the start of the process. Return: 0 or -ENOMEM. */
static int make_tables(uint64_t began)
{
	const uint32_t nr_classes = NR_CLASSES;

	elide_ending_start();
	decide();
	if (elide_gate_start(begin_global_path) || adapt_start(nr_classes) || crowd_start() ||
	    elide_registry_start(elide_tunables.max_locks, ELIDE_MAX_CLASSES)) {
		elide_log("no memory, or a kernel without MADV_WIPEONFORK: every call passes through");
		elide_enabled = elide_adapts = false;
		return -ENOMEM;
	}
	adapt_learned_start(nr_classes);
	elide_data_start(began, elide_tunables.max_files);
	elide_process.order = elide_tunables.order && !elide_order_start();
	elide_evidence_events_start();
	if (elide_tunables.stacks)
		elide_evidence_start(elide_thread_look);
	return 0;
}

/* The tables are there. */
static void run(void)
{
	elide_process.blames = elide_evidence && elide_process.config.elides &&
			       elide_process.mode == ELIDE_RUN_ELIDE;
	evidence_watch(false);
	/* Under rtmgrind the emulator itself tells more than samples do. */
	if (elide_tunables.pmu == ELIDE_PMU_ABORT && elide_enabled &&
	    elide_process.rtm == ELIDE_RTM_HARDWARE)
		elide_pmu_start(elide_tunables.stacks);
	if (!elide_process.order && elide_tunables.pmu != ELIDE_PMU_ABORT)
		elide_process.at_once = policy_at_once(&elide_process.config);
	if (elide_tunables.verbose)
		elide_log("%s: %s", elide_enabled ? "eliding" :
				    elide_adapts ? "restricting" : "profiling", elide_process.why);
	elide_process.running = true;
}

void elide_start(bool secure)
{
	bool known = learn_filter(secure);
	uint64_t began;

	elide_log_start();
	elide_vdso_start(getauxval(AT_SYSINFO_EHDR));
	began = elide_file_begin();
	elide_tunables_read(secure ? NULL : environ);
	if (!known || secure || elide_tunables.mode == ELIDE_MODE_OFF)
		return;
	tell_denied();
	if (!make_tables(began))
		run();
}

/**
 * struct late - a start in a process that runs already.
 * @again: there are tables of an earlier data file
 * @child: they are those of the parent, as the process was forked since
 * @err: set
 */
struct late {
	bool again;
	bool child;
	int err;
};

/* Nothing in the tables refers to the earlier file any more. */
static void restart(bool child)
{
	if (child) {
		elide_threads_forget();
		elide_gate_adopt();
	} else {
		elide_threads_restart();
	}
	elide_file_forget();
	elide_misuse_forget();
	adapt_forget();
	adapt_learned_forget();
	elide_evidence_restart();
	elide_evidence_events_restart();
	if (elide_process.order)
		elide_order_restart();
}

static void late_global(void *arg)
{
	struct late *late = arg;

	test_point(late_entered);
	if (late->again)
		restart(late->child);
	test_point(late_publish);
	/* Another thread may have been the first in a global-lock path. */
	late->err = elide_data_path() ? 0 : elide_file_open(ELIDE_DATA_FIRST);
	/* The file is memory. */
	if (!late->err && !elide_data_path())
		late->err = -EACCES;
	test_point(late_done);
}

int elide_start_late(char *const *settings)
{
	static bool made;
	struct late late = {.again = made, .child = made && !elide_gate_same_process(), .err = -EPERM};
	uint64_t began;

	elide_log_keep();
	if (!made && !learn_filter(false))
		return -EPERM;
	elide_vdso_start(getauxval(AT_SYSINFO_EHDR));
	began = elide_file_begin();
	elide_tunables_read(settings);
	if (made)
		decide();
	else
		made = !make_tables(began);
	if (!made)
		return -ENOMEM;
	if (elide_tunables.mode == ELIDE_MODE_ELIDE && elide_process.rtm == ELIDE_RTM_NONE)
		return -ENOTSUP;
	run();
	elide_global_run_unready(late_global, &late);
	if (late.err)
		elide_leave();
	return late.err;
}

void elide_stop_eliding(void)
{
	WRITE_ONCE(elide_enabled, false);
	WRITE_ONCE(elide_adapts, false);
}

void elide_leave(void)
{
	elide_stop_eliding();
	elide_stop();
	WRITE_ONCE(elide_process.running, false);
	/* Whoever is in a global-lock path ends it. */
	elide_gate_close();
	elide_gate_open();
	elide_data_leave();
}

static void keep_global(void *arg)
{
	test_point(keep_entered);
	test_point(keep_publish);
	elide_data_keep();
	test_point(keep_done);
}

/* Write all that is known of the threads and of the time. */
static void tell_all(void)
{
	elide_threads_end();
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		elide_lock_count(t);
	elide_thread_records_end();
	elide_file_tell_end();
}

void elide_finish(void)
{
	tell_all();
	WRITE_ONCE(elide_data->state, ELIDE_FILE_CLOSED);
}

void elide_unfinish(void)
{
	if (elide_data)
		WRITE_ONCE(elide_data->state, ELIDE_FILE_LIVE);
}

void elide_keep_file(void)
{
	elide_global_run(keep_global, NULL);
}

/* @own_file: is set if the process has a data file of its own */
static void stop_global(void *own_file)
{
	bool *own = own_file;

	test_point(stop_entered);
	/* A child that took no lock has no file, and its parent's is not its own. */
	if (!elide_data && elide_gate_same_process()) {
		elide_file_open(ELIDE_DATA_EXIT);
		/* A lock call in a later destructor is not counted. */
		elide_process.running = false;
	}
	*own = elide_data && elide_gate_same_process();
	if (*own) {
		tell_all();
		adapt_learned_gather();
		test_point(stop_publish);
		elide_data_close();
	}
	test_point(stop_done);
}

/* Not in a global-lock path, as it writes files and waits for a child. */
static void write_last(void *unused)
{
	adapt_learned_write();
	unsigned int denied;

	if (*elide_tunables.report && !READ_ONCE(sys_forbidden) && !sys_denied_first(&denied))
		elide_exit_report(elide_tunables.report);
}

void elide_stop(void)
{
	bool own_file = false;

	/* The time that this takes depends on the names of the data file and of the report. */
	rtmgrind_time_stops();
	elide_global_run_unready(stop_global, &own_file);
	if (own_file && (*elide_tunables.report || adapt_learned_gathered()))
		elide_on_new_stack(write_last, NULL);
	rtmgrind_time_goes_on();
}
