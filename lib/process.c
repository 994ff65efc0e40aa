/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * process.c - start and end of the engine in a process, and in forked children.
 *
 * The slow paths of the engine run between elide_slow_enter() and
 * elide_slow_leave(), outside transactions. Their lock is never held while
 * anything is called that may take a lock of the program or of the loader:
 * only system calls and _dl_find_object().
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "detect.h"
#include "emulator.h"
#include "engine.h"
#include "evidence.h"
#include "exit-report.h"
#include "log.h"
#include "order.h"
#include "pace.h"
#include "pmu.h"
#include "process.h"
#include "rules.h"
#include "syscalls.h"
#include "tunables.h"

struct elide_process elide_process;
bool elide_enabled;
uint64_t elide_hold_mask = ~0ull;
uint64_t elide_short_mask = ~0ull;

__thread bool elide_busy;

/* What a fork wipes: zero in the child tells that it is one, and frees the lock. */
static struct wiped {
	uint32_t lock;
	uint32_t same_process;
} *wiped;

/* When this process started: it goes into the header once there is a file. */
static struct {
	uint64_t ns;
	uint64_t cycles;
	uint64_t realtime_ns;
} start;

void *elide_wiped_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Linux 4.14. Without it children would write into the parent's blocks: do without. */
	if (madvise(p, size, MADV_WIPEONFORK)) {
		munmap(p, size);
		return NULL;
	}
	return p;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void read_start(void)
{
	start.ns = clock_ns(CLOCK_MONOTONIC);
	start.cycles = cycles_now();
	start.realtime_ns = clock_ns(CLOCK_REALTIME);
}

static void tell_end(void)
{
	elide_data->end_ns = clock_ns(CLOCK_MONOTONIC);
	elide_data->end_cycles = cycles_now();
	if (!elide_pace_clocked)
		elide_pace_clock(elide_data->end_cycles - start.cycles,
				 elide_data->end_ns - start.ns);
}

/* Cycles by which it may be told too early then: to ask the clock costs more than the rest. */
#define END_CYCLES 50000

/* So that times can be told even if the process is killed after this. */
static void refresh_end(void)
{
	if (cycles_now() - elide_data->end_cycles >= END_CYCLES)
		tell_end();
}

static void fill_machine(struct elide_header *h)
{
	struct rtmgrind_machine machine;

	h->cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (!rtmgrind_request(RTMGRIND_MACHINE, (unsigned long)&machine, sizeof(machine)))
		return;
	h->cores = machine.cores;
	h->smt = machine.smt;
	h->sockets = machine.sockets;
	h->mhz = machine.mhz;
	snprintf(h->model, sizeof(h->model), "%s", machine.model);
	snprintf(h->changes, sizeof(h->changes), "%s", machine.changes);
}

static void fill_header(void)
{
	struct elide_header *h = elide_data;

	h->mode = elide_process.mode;
	h->rtm = elide_process.rtm;
	h->rtm_off = elide_process.mode == ELIDE_RUN_ELIDE && !elide_enabled;
	h->start_ns = start.ns;
	h->start_cycles = start.cycles;
	h->start_realtime_ns = start.realtime_ns;
	fill_machine(h);
	h->sample_period = ELIDE_TIME_PERIOD;
	snprintf(h->why, sizeof(h->why), "%s", elide_process.why);
	snprintf(h->policy, sizeof(h->policy), "%s",
		 elide_process.mode == ELIDE_RUN_ELIDE ? elide_process.policy : "");
}

static int data_open(enum elide_data_who who)
{
	static const uint64_t all = ~0ull;
	uint64_t signals;
	int err;

	/* A handler that forks would have the child go on making the parent's file. */
	sys_sigmask(&all, &signals);
	err = elide_data_open(elide_tunables.output, strtoull(elide_tunables.run, NULL, 16),
			      (size_t)elide_tunables.file_max << 20, who);
	sys_sigmask(&signals, NULL);
	if (err) {
		elide_process.running = false;
		return err;
	}
	fill_header();
	elide_registry_save();
	return 0;
}

/* First slow path of a forked child: nothing of the parent's file may be used. */
static int child_start(void)
{
	bool had_file = elide_data != NULL;

	elide_data_forget();
	elide_threads_forget();
	elide_misuse_forget();
	elide_evidence_forget();
	elide_evidence_events_forget();
	elide_pace_forget();
	read_start();
	wiped->same_process = 1;
	if (!elide_tunables.follow) {
		elide_process.running = false;
		elide_enabled = false;
		return -EPERM;
	}
	return had_file ? data_open(ELIDE_DATA_CHILD) : 0;
}

static int make_ready(void)
{
	if (unlikely(!wiped->same_process) && child_start())
		return -EPERM;
	if (elide_data)
		return 0;
	/* A program that another of the run has started is followed only if that is wanted. */
	return data_open(elide_tunables.follow ? ELIDE_DATA_FIRST : ELIDE_DATA_IDLE);
}

static bool lock_engine(void)
{
	if (!elide_process.running || elide_busy)
		return false;
	elide_busy = true;
	/* Acquire pairs with the release in elide_slow_leave(). */
	while (__atomic_exchange_n(&wiped->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	return true;
}

bool elide_slow_enter(struct elide_slow *slow)
{
	slow->saved_errno = errno;
	if (!lock_engine())
		return false;
	if (!make_ready()) {
		refresh_end();
		return true;
	}
	elide_slow_leave(slow);
	return false;
}

bool elide_slow_forked(void)
{
	return !READ_ONCE(wiped->same_process);
}

void elide_count_interrupted(void)
{
	/* In a child that has not begun yet the file is the parent's, and not mapped. */
	if (elide_busy && elide_data && wiped->same_process)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_SIGNALS], 1,
				   __ATOMIC_RELAXED);
}

void elide_slow_leave(const struct elide_slow *slow)
{
	__atomic_store_n(&wiped->lock, 0, __ATOMIC_RELEASE);
	elide_busy = false;
	errno = slow->saved_errno;
}

__cold void elide_disable(const char *why)
{
	if (!__atomic_exchange_n(&elide_enabled, false, __ATOMIC_RELAXED))
		return;
	if (elide_data)
		elide_data->rtm_off = 1;
	if (elide_data)
		elide_evidence_event(ELIDE_EVENT_OFF, NULL, NULL, NULL, NULL);
	elide_log("elision switched off: %s", why);
}

/* No more than one processor may be used; more are not asked for than a set has room for. */
static bool has_one_processor(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) == 1;
}

static void choose_mode(void)
{
	struct elide_process *p = &elide_process;
	struct elide_facts facts;

	elide_detect_facts(&facts, ELIDE_TAA_FILE);
	p->rtm = elide_detect_decide(&facts, elide_tunables.mode == ELIDE_MODE_ELIDE, p->why,
				     sizeof(p->why));
	if (elide_tunables.mode == ELIDE_MODE_PROFILE) {
		snprintf(p->why, sizeof(p->why), "ELIDE_MODE=profile");
		p->mode = ELIDE_RUN_PROFILE;
	} else if (p->rtm != ELIDE_RTM_NONE && elide_tunables.mode == ELIDE_MODE_AUTO &&
		   elide_tunables.policy == POLICY_ADAPTIVE && has_one_processor()) {
		snprintf(p->why, sizeof(p->why),
			 "there is one processor: no two sections run at once; ELIDE_MODE=elide insists");
		p->mode = ELIDE_RUN_PROFILE;
	} else {
		p->mode = p->rtm == ELIDE_RTM_NONE ? ELIDE_RUN_PROFILE : ELIDE_RUN_ELIDE;
	}
	elide_enabled = p->mode == ELIDE_RUN_ELIDE;
}

static void configure_policy(void)
{
	const struct elide_tunables *t = &elide_tunables;

	elide_tunables_word("POLICY", t->policy, elide_process.policy,
			    sizeof(elide_process.policy));
	elide_process.config = (struct policy_config){
		.name = t->policy,
		.budget = {t->retry_conflict, t->retry_busy, t->retry_capacity, t->retry_other, 1,
			   POLICY_QUEUE_NOBODY},
		.spin_busy = t->spin_busy,
		.backoff = t->backoff,
		.window = t->window,
		.fail_percent = t->fail_percent,
		.pause_min = t->pause_min,
	};
	policy_arms(&elide_process.config);
}

/* A period rounded up to a power of two, less one; all ones for never. */
static uint64_t hold_mask(uint32_t period)
{
	uint64_t power = 1;

	while (power < period)
		power *= 2;
	return period ? power - 1 : ~0ull;
}

/* The program may change its directory before the file is made. */
static void make_output_absolute(void)
{
	static char name[ELIDE_TUNABLE_TEXT];
	char *output = elide_tunables.output;
	size_t len;

	if (*output == '/' || !getcwd(name, sizeof(name)))
		return;
	len = strlen(name);
	if (len + 1 + strlen(output) >= sizeof(name))
		return;
	name[len] = '/';
	strcpy(name + len + 1, output);
	strcpy(output, name);
}

void elide_start(bool secure)
{
	read_start();
	elide_tunables_read(secure ? NULL : environ);
	if (secure || elide_tunables.mode == ELIDE_MODE_OFF)
		return;
	make_output_absolute();
	choose_mode();
	configure_policy();
	elide_rules_parse(elide_tunables.locks);
	elide_hold_mask = hold_mask(elide_tunables.hold_period);
	wiped = elide_wiped_alloc(sizeof(*wiped));
	if (!wiped || elide_pace_start(elide_tunables.max_classes) ||
	    elide_registry_start(elide_tunables.max_locks, elide_tunables.max_classes)) {
		elide_log("no memory, or a kernel without MADV_WIPEONFORK: every call passes through");
		elide_enabled = false;
		return;
	}
	wiped->same_process = 1;
	elide_process.order = elide_tunables.order && !elide_order_start();
	elide_evidence_events_start();
	if (elide_tunables.stacks)
		elide_evidence_start();
	elide_process.watch_taken = elide_process.order ||
				    (elide_evidence && elide_process.mode == ELIDE_RUN_ELIDE);
	elide_short_mask = elide_process.watch_taken ? 0 : elide_hold_mask;
	elide_process.tell_section = elide_evidence && elide_process.rtm == ELIDE_RTM_EMULATED;
	elide_threads_start();
	/* Under rtmgrind the emulator itself tells more than samples do. */
	if (elide_tunables.pmu == ELIDE_PMU_ABORT && elide_enabled &&
	    elide_process.rtm == ELIDE_RTM_HARDWARE)
		elide_pmu_start(elide_tunables.stacks);
	if (elide_tunables.verbose)
		elide_log("%s: %s", elide_enabled ? "eliding" : "profiling", elide_process.why);
	elide_process.running = true;
}

void elide_stop(void)
{
	struct elide_slow slow = {.saved_errno = errno};
	bool own_file;

	if (!lock_engine())
		return;
	/* A child that took no lock has no file, and its parent's is not its own. */
	if (!elide_data && wiped->same_process)
		data_open(ELIDE_DATA_IDLE);
	own_file = elide_data && wiped->same_process;
	if (own_file) {
		tell_end();
		WRITE_ONCE(elide_data->state, ELIDE_FILE_CLOSED);
	}
	elide_slow_leave(&slow);
	if (own_file && *elide_tunables.report)
		elide_exit_report(elide_tunables.report);
}
