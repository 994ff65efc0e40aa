/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.c - the slow paths: blocks of threads, registration, forked children.
 *
 * Everything here runs outside transactions and under the engine's lock,
 * which is never held while calling anything that may take a lock of the
 * program or of the loader: only system calls and _dl_find_object().
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "detect.h"
#include "emulator.h"
#include "engine.h"
#include "log.h"
#include "process.h"
#include "rules.h"
#include "tunables.h"

__thread struct elide_thread *elide_self;

/* This thread is in a slow path: what it calls, and signal handlers, pass through. */
static __thread bool busy;
/* The thread that fork()ed us, as the parent knew it. */
static __thread uint32_t last_tid;

bool elide_enabled;
struct elide_process elide_process;

/* What a fork wipes: zero in the child tells that it is one, and frees the lock. */
static struct wiped {
	uint32_t lock;
	uint32_t same_process;
} *wiped;

static struct {
	struct elide_thread *free;
	uint32_t nr_threads;
	tss_t at_exit;
	bool has_at_exit;
	struct elide_chunk *misuse;
	uint64_t start_ns, start_cycles, start_realtime_ns;
} engine;

static void *reserve_wiped(size_t size)
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

static bool engine_enter(void)
{
	if (!elide_process.running || busy)
		return false;
	busy = true;
	while (__atomic_exchange_n(&wiped->lock, 1, __ATOMIC_ACQUIRE)) /* pairs with engine_leave() */
		sched_yield();
	return true;
}

static void engine_leave(void)
{
	__atomic_store_n(&wiped->lock, 0, __ATOMIC_RELEASE);
	busy = false;
}

/* A thread has ended: its block, with what it counted, goes to the next one. */
static void thread_end(void *block)
{
	struct elide_thread *t = block;

	if (!engine_enter())
		return;
	if (t->ready && elide_self == t) {
		elide_self = NULL;
		t->hold_lock = NULL;
		t->next_free = engine.free;
		engine.free = t;
	}
	engine_leave();
}

static void thread_init(struct elide_thread *t)
{
	t->tid = syscall(SYS_gettid);
	t->nr_held = t->nr_pending = 0;
	/* Any odd number: only the pauses of different threads must differ. */
	t->seed = t->tid * 2654435761u | 1;
	t->streak = 0;
	t->hold_lock = NULL;
	if (!t->ready) {
		t->time_countdown = 1;
		t->hold_countdown = elide_tunables.hold_period ? 1 : 0;
		t->ready = true;
	}
	elide_data->nr_threads++;
}

static struct elide_thread *thread_get(void)
{
	struct elide_thread *t = elide_self;

	if (t && !t->ready) {
		thread_init(t); /* wiped by a fork */
		engine.nr_threads++;
		return t;
	}
	t = engine.free;
	if (t) {
		engine.free = t->next_free;
	} else {
		if (engine.nr_threads >= elide_tunables.max_threads) {
			elide_data->dropped[ELIDE_DROPPED_THREADS]++;
			return NULL;
		}
		t = reserve_wiped(sizeof(*t));
		if (!t) {
			elide_data->dropped[ELIDE_DROPPED_THREADS]++;
			return NULL;
		}
		engine.nr_threads++;
	}
	thread_init(t);
	last_tid = t->tid;
	if (engine.has_at_exit)
		tss_set(engine.at_exit, t);
	elide_self = t;
	return t;
}

static void fill_header(void)
{
	struct elide_header *h = elide_data;

	h->mode = elide_process.mode;
	h->rtm = elide_process.rtm;
	h->start_ns = engine.start_ns;
	h->start_cycles = engine.start_cycles;
	h->start_realtime_ns = engine.start_realtime_ns;
	h->cores = sysconf(_SC_NPROCESSORS_ONLN);
	h->sample_period = ELIDE_TIME_PERIOD;
	snprintf(h->why, sizeof(h->why), "%s", elide_process.why);
	snprintf(h->policy, sizeof(h->policy), "%s",
		 elide_process.mode == ELIDE_RUN_ELIDE ? elide_process.policy : "");
}

static int data_open(enum elide_data_who who)
{
	uint64_t run = strtoull(elide_tunables.run, NULL, 16);
	int err = elide_data_open(elide_tunables.output, run,
				  (size_t)elide_tunables.file_max << 20, who);

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
	engine.free = NULL;
	engine.nr_threads = 0;
	engine.misuse = NULL;
	engine.start_ns = clock_ns(CLOCK_MONOTONIC);
	engine.start_realtime_ns = clock_ns(CLOCK_REALTIME);
	engine.start_cycles = cycles_now();
	wiped->same_process = 1;
	if (!elide_tunables.follow) {
		elide_process.running = false;
		elide_enabled = false;
		return -EPERM;
	}
	return had_file ? data_open(ELIDE_DATA_CHILD) : 0;
}

static struct elide_row *row_get(struct elide_thread *t, uint32_t class_index, const void *site,
				 enum elide_kind kind)
{
	uint64_t h = (class_index * 2654435761ull) ^ ((uintptr_t)site * 0x9e3779b97f4a7c15ull >> 40);
	struct elide_row *row;
	uint32_t *slot;

	for (uint32_t i = h;; i++) {
		slot = &t->rows[i % ELIDE_NR_ROWS];
		if (!*slot)
			break;
		row = (struct elide_row *)((char *)elide_data + (size_t)*slot * CACHE_LINE);
		if (row->class_index == class_index && row->site == (uintptr_t)site &&
		    row->kind == kind)
			return row;
	}
	/* Leave room, or a search for what is not there would never end. */
	if (t->nr_rows >= ELIDE_NR_ROWS * 3 / 4)
		goto full;
	row = elide_data_record(&t->chunk, ELIDE_CHUNK_ROWS, sizeof(*row));
	if (!row)
		goto full;
	elide_registry_module_of(site);
	row->class_index = class_index;
	row->kind = kind;
	row->site = (uintptr_t)site;
	row->wait.min = row->hold.min = ~0ull;
	elide_data_publish(t->chunk);
	*slot = ((char *)row - (char *)elide_data) / CACHE_LINE;
	t->nr_rows++;
	return row;
full:
	elide_data->dropped[ELIDE_DROPPED_ROWS]++;
	return NULL;
}

static bool kind_wanted(enum elide_kind kind)
{
	switch (kind) {
	case ELIDE_KIND_MUTEX:
		return elide_tunables.kinds & ELIDE_KINDS_MUTEX;
	case ELIDE_KIND_RWLOCK_READ:
	case ELIDE_KIND_RWLOCK_WRITE:
		return elide_tunables.kinds & ELIDE_KINDS_RWLOCK;
	case ELIDE_KIND_SPIN:
		return elide_tunables.kinds & ELIDE_KINDS_SPIN;
	default:
		return true;
	}
}

/* May locks of this class be elided from this site, and what does the report say? */
static enum elide_row_state row_state(uint32_t class_index, const void *site, enum elide_kind kind)
{
	enum elide_ruling ruling =
		elide_rules_match(elide_registry_class_info(class_index), site);

	if (elide_registry_class_shared(class_index) || ruling == ELIDE_RULING_OFF)
		return ELIDE_STATE_OFF;
	if (!elide_enabled || ruling == ELIDE_RULING_PROFILE)
		return ELIDE_STATE_PROFILED;
	if (!kind_wanted(kind) && ruling != ELIDE_RULING_ON)
		return ELIDE_STATE_PROFILED;
	return elide_process.config.name == POLICY_NEVER ? ELIDE_STATE_OFF : ELIDE_STATE_ELIDING;
}

static struct elide_cache *fill(const void *lock, const void *site, enum elide_kind kind)
{
	struct elide_thread *t;
	struct elide_cache *entry;
	struct elide_row *row;
	uint32_t index, generation, class_index;

	if (unlikely(!wiped->same_process) && child_start())
		return NULL;
	if (!elide_data && data_open(ELIDE_DATA_FIRST))
		return NULL;
	t = elide_self;
	if ((!t || !t->ready) && !(t = thread_get()))
		return NULL;
	generation = READ_ONCE(*elide_generation(lock));
	index = elide_registry_find(lock);
	if (index == ELIDE_NONE) {
		index = elide_registry_add(lock, kind, site, false, false);
		if (index == ELIDE_NONE)
			return NULL;
		generation = READ_ONCE(*elide_generation(lock));
	}
	class_index = elide_registry_class(index);
	row = row_get(t, class_index, site, kind);
	if (!row)
		return NULL;
	if (!row->acquired && !row->attempts)
		row->state = row_state(class_index, site, kind);
	entry = elide_cache_slot(t, lock, site);
	*entry = (struct elide_cache){
		.lock = lock,
		.key = elide_cache_key(site, kind),
		.lock_index = index,
		.generation = generation,
		.row = ((char *)row - (char *)elide_data) / CACHE_LINE,
		.flags = row->state == ELIDE_STATE_ELIDING || row->state == ELIDE_STATE_PAUSED ?
				 ELIDE_CACHE_ELIDE : 0,
	};
	return entry;
}

__cold struct elide_cache *elide_cache_fill(const void *lock, const void *site,
					    enum elide_kind kind)
{
	struct elide_cache *entry;
	int saved = errno;

	if (!engine_enter())
		return NULL;
	entry = fill(lock, site, kind);
	engine_leave();
	errno = saved;
	return entry;
}

void elide_lock_new(const void *lock, enum elide_kind kind, const void *site, bool shared)
{
	int saved = errno;

	if (!engine_enter())
		return;
	if ((wiped->same_process || !child_start()) && (elide_data || !data_open(ELIDE_DATA_FIRST)))
		elide_registry_add(lock, kind, site, true, shared);
	engine_leave();
	errno = saved;
}

void elide_lock_gone(const void *lock)
{
	int saved = errno;

	if (!engine_enter())
		return;
	elide_registry_remove(lock);
	engine_leave();
	errno = saved;
}

bool elide_tid_is_own(uint32_t tid)
{
	return tid == (uint32_t)syscall(SYS_gettid) || tid == last_tid;
}

static void misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
		   const void *lock)
{
	const struct elide_chunk *c = engine.misuse;
	struct elide_misuse *m;

	if ((!wiped->same_process && child_start()) || (!elide_data && data_open(ELIDE_DATA_FIRST)))
		return;
	elide_registry_module_of(site);
	m = c ? (struct elide_misuse *)(c + 1) : NULL;
	for (uint32_t i = 0; c && i < c->nr_records; i++, m++) {
		if (m->type == type && m->site == (uintptr_t)site) {
			m->count++;
			return;
		}
	}
	m = elide_data_record(&engine.misuse, ELIDE_CHUNK_MISUSE, sizeof(*m));
	if (!m)
		return;
	*m = (struct elide_misuse){.type = type, .kind = kind, .site = (uintptr_t)site,
				   .lock = (uintptr_t)lock, .count = 1};
	elide_data_publish(engine.misuse);
}

__cold void elide_misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			 const void *lock)
{
	int saved = errno;

	if (!engine_enter())
		return;
	misuse(type, kind, site, lock);
	engine_leave();
	errno = saved;
}

__cold void elide_disable(const char *why)
{
	if (!__atomic_exchange_n(&elide_enabled, false, __ATOMIC_RELAXED))
		return;
	if (elide_data)
		elide_data->rtm_off = 1;
	elide_log("elision switched off: %s", why);
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
	} else {
		p->mode = p->rtm == ELIDE_RTM_NONE ? ELIDE_RUN_PROFILE : ELIDE_RUN_ELIDE;
	}
	elide_enabled = p->mode == ELIDE_RUN_ELIDE;
}

static void configure_policy(void)
{
	elide_tunables_word("POLICY", elide_tunables.policy, elide_process.policy,
			    sizeof(elide_process.policy));
	elide_process.config = (struct policy_config){
		.name = elide_tunables.policy,
		.retry_conflict = elide_tunables.retry_conflict,
		.retry_busy = elide_tunables.retry_busy,
		.retry_capacity = elide_tunables.retry_capacity,
		.retry_other = elide_tunables.retry_other,
		.spin_busy = elide_tunables.spin_busy,
		.backoff = elide_tunables.backoff,
		.window = elide_tunables.window,
		.fail_percent = elide_tunables.fail_percent,
		.pause_min = elide_tunables.pause_min,
		.pause_max = elide_tunables.pause_max < elide_tunables.pause_min ?
				     elide_tunables.pause_min : elide_tunables.pause_max,
	};
}

void elide_start(bool secure)
{
	engine.start_ns = clock_ns(CLOCK_MONOTONIC);
	engine.start_realtime_ns = clock_ns(CLOCK_REALTIME);
	engine.start_cycles = cycles_now();
	elide_tunables_read(secure ? NULL : environ);
	if (secure || elide_tunables.mode == ELIDE_MODE_OFF)
		return;
	choose_mode();
	configure_policy();
	elide_rules_parse(elide_tunables.locks);
	wiped = reserve_wiped(sizeof(*wiped));
	if (!wiped || elide_registry_start(elide_tunables.max_locks, elide_tunables.max_classes)) {
		elide_log("no memory, or a kernel without MADV_WIPEONFORK: every call passes through");
		elide_enabled = false;
		return;
	}
	wiped->same_process = 1;
	engine.has_at_exit = tss_create(&engine.at_exit, thread_end) == thrd_success;
	if (elide_tunables.verbose)
		elide_log("%s: %s", elide_enabled ? "eliding" : "profiling", elide_process.why);
	elide_process.running = true;
}

void elide_stop(void)
{
	if (!engine_enter())
		return;
	if (!elide_data && wiped->same_process)
		data_open(ELIDE_DATA_IDLE);
	if (elide_data && wiped->same_process) {
		elide_data->end_ns = clock_ns(CLOCK_MONOTONIC);
		elide_data->end_cycles = cycles_now();
		WRITE_ONCE(elide_data->state, ELIDE_FILE_CLOSED);
	}
	engine_leave();
}
