/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fill.c - the slow path of a look-up: registration of locks, rows, calls and cache entries.
 *
 * Everything here runs outside transactions, and but for elide_cache_fill() in slow paths.
 */
#include "../adapt/epoch.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/rules.h"
#include "../state/settings.h"
#include "../state/thread-record.h"
#include "../state/tunables.h"
#include "fill.h"
#include "threads.h"

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

/*
 * Is a lock still what it was registered as? The memory of a mutex or condition variable of C++, whose
 * initialisation and end call nothing, is used for the next object without a word.
 */
static bool is_of_kind(uint32_t index, enum elide_kind kind)
{
	uint32_t class_kind = elide_class_info(elide_registry_class(index))->kind;

	return elide_class_kind(kind) == class_kind ||
	       (elide_kind_is_lock(kind) && elide_kind_is_lock(class_kind));
}

/* May locks of this class be elided from this site, and what does the report say? */
static enum elide_row_state row_state(uint32_t class_index, const void *site, enum elide_kind kind)
{
	enum elide_ruling ruling =
		elide_rules_match(elide_class_info(class_index), site);

	if (elide_class_shared(class_index) || ruling == ELIDE_RULING_OFF)
		return ELIDE_STATE_OFF;
	if (!elide_adapts || ruling == ELIDE_RULING_PROFILE || !elide_kind_is_lock(kind))
		return ELIDE_STATE_PROFILED;
	if (!kind_wanted(kind) && ruling != ELIDE_RULING_ON)
		return ELIDE_STATE_PROFILED;
	if (elide_process.mode == ELIDE_RUN_RESTRICT)
		return elide_process.config.measures ? ELIDE_STATE_LOCKING : ELIDE_STATE_RESTRICTED;
	return elide_process.config.elides ? ELIDE_STATE_ELIDING : ELIDE_STATE_OFF;
}

/* A new call, which counts in @row. */
static struct elide_call *call_make(struct elide_thread *t, struct elide_row *row, uint32_t hot)
{
	struct elide_call *call = &t->calls[t->nr_rows];

	*call = (struct elide_call){
		.elided = elide_state_is_chosen(row->state) &&
			  elide_process.config.name != POLICY_RESTRICT,
		.hot = hot,
		.adapt = &t->no_adapt,
		.row = row,
		.key = elide_cache_key(elide_at_run_time(row->site), row->kind),
	};
	if (elide_process.config.measures && elide_kind_is_lock(row->kind))
		adapt_attach(t, call);
	elide_call_set_way(call, elide_way(t, row), adapt_arm_of(call));
	/* Others look at the first calls of a thread in slow paths of their own. */
	__atomic_store_n(&t->nr_rows, t->nr_rows + 1, __ATOMIC_RELEASE);
	return call;
}

static struct elide_call *call_get(struct elide_thread *t, uint32_t class_index, const void *site,
				   uint64_t recorded, enum elide_kind kind)
{
	uint16_t *slot = elide_row_slot(t, class_index, (const void *)recorded, kind, 0);
	struct elide_call *call;
	struct elide_row *row;

	if (*slot)
		return &t->calls[*slot - 1];
	if (t->nr_rows >= ELIDE_MAX_ROWS)
		goto full;
	row = elide_data_record(&t->chunk, ELIDE_CHUNK_ROWS, sizeof(*row));
	if (!row)
		goto full;
	row->class_index = class_index;
	row->kind = kind;
	row->site = recorded;
	row->state = row_state(class_index, site, kind);
	row->wait.min = row->hold.min = ~0ull;
	t->chunk->block = t->record ? t->record->block : 0;
	elide_thread_record_name(t);
	test_point(fill_publish);
	elide_data_publish(t->chunk);
	call = call_make(t, row, 0);
	*slot = call - t->calls + 1;
	return call;
full:
	t->full = true;
	return NULL;
}

/* The call of a lock that has a state of its own; it counts in the row of its class. */
static struct elide_call *call_hot(struct elide_thread *t, struct elide_call *call, uint32_t hot)
{
	struct elide_row *row = call->row;
	uint16_t *slot;

	if (!hot)
		return call;
	slot = elide_row_slot(t, row->class_index, (const void *)row->site, row->kind, hot);
	if (!*slot) {
		if (t->nr_rows >= ELIDE_MAX_ROWS)
			return call;
		call = call_make(t, row, hot);
		*slot = call - t->calls + 1;
	}
	return &t->calls[*slot - 1];
}

static struct elide_cache *fill(const void *lock, const void *site, enum elide_kind kind)
{
	struct elide_thread *t;
	struct elide_call *call;
	uint32_t index, generation;

	t = elide_self;
	if ((!t || !t->ready) && !(t = elide_thread_get()))
		return NULL;
	/* If they are in an object at the addresses of another one, what is known of that is forgotten. */
	elide_module_of(lock);
	elide_module_of(site);
	generation = READ_ONCE(*elide_generation(lock));
	index = elide_registry_find(lock);
	if (unlikely(index != ELIDE_NONE && !is_of_kind(index, kind))) {
		elide_registry_remove(lock);
		index = ELIDE_NONE;
	}
	if (index == ELIDE_NONE) {
		index = elide_registry_add(lock, kind, site, false, false);
		if (index == ELIDE_NONE) {
			/* It is counted where there was no room. */
			elide_skip_more(t, site, elide_class_full() ? ELIDE_DROPPED_CLASSES :
								      ELIDE_DROPPED_LOCKS, 0);
			return NULL;
		}
		generation = READ_ONCE(*elide_generation(lock));
	}
	call = call_get(t, elide_registry_class(index), site, elide_recorded(site), kind);
	if (!call) {
		elide_skip_more(t, site, ELIDE_DROPPED_ROWS, 1);
		return NULL;
	}
	call = call_hot(t, call, elide_hot_of(index));
	return elide_cache_make(t, call, lock, index, generation);
}

/* A look-up, and what was found. */
struct look_up {
	const void *lock;
	const void *site;
	enum elide_kind kind;
	struct elide_cache *entry;
};

static void fill_slow(void *arg)
{
	struct look_up *l = arg;

	test_point(fill_entered);
	l->entry = fill(l->lock, l->site, l->kind);
	test_point(fill_done);
}

/* Is an address in an object that is known, or in none? What a slow path would find out otherwise. */
static bool module_is_known(const void *address)
{
	bool in_object;

	return elide_module_known(address, &in_object) || !in_object;
}

/* Is there a row of the thread's own that it can make? */
static bool has_row(const struct elide_thread *t)
{
	return t->chunk && t->nr_rows < ELIDE_MAX_ROWS &&
	       elide_data_has_room(t->chunk, sizeof(struct elide_row));
}

/*
 * As fill(), where all is known but that this thread makes the call: only what is its own changes. A hot
 * lock's call is measured by itself.
 */
static void fill_own(void *arg)
{
	struct look_up *l = arg;
	struct elide_thread *t = elide_self ? elide_self : elide_thread_own();
	uint32_t generation = __atomic_load_n(elide_generation(l->lock), __ATOMIC_ACQUIRE);
	uint32_t index = elide_registry_find(l->lock), class_index;
	struct elide_call *call;
	uint64_t recorded;

	if (!t || !has_row(t) || !module_is_known(l->lock) || !module_is_known(l->site) ||
	    !elide_recorded_call(l->site, &recorded))
		return;
	if (index == ELIDE_NONE) {
		index = elide_registry_add_known(l->lock, l->kind, l->site, false, false);
		generation = __atomic_load_n(elide_generation(l->lock), __ATOMIC_ACQUIRE);
	}
	if (index == ELIDE_NONE || !is_of_kind(index, l->kind) || elide_hot_of(index))
		return;
	class_index = elide_registry_class(index);
	if (elide_process.config.measures && elide_kind_is_lock(l->kind) &&
	    !adapt_knows(class_index, l->site, l->kind))
		return;
	call = call_get(t, class_index, l->site, recorded, l->kind);
	if (call)
		l->entry = elide_cache_make(t, call, l->lock, index, generation);
}

/* May a row of the calling thread, or its block, be all that is to be made? */
static bool needs_own_row(void)
{
	return (!elide_self || has_row(elide_self)) && !elide_rules_any() && elide_data &&
	       elide_gate_same_process();
}

/* Would a slow path, of 20,000 cycles, find no room for the call? Then it is counted. */
static bool no_room(struct elide_thread *t, const void *lock, const void *site)
{
	if (t->full)
		elide_skip_more(t, site, ELIDE_DROPPED_ROWS, 1);
	else if (elide_registry_full() && elide_registry_find(lock) == ELIDE_NONE)
		elide_skip_more(t, site, ELIDE_DROPPED_LOCKS, 1);
	else
		return false;
	return true;
}

__noinline struct elide_cache *elide_cache_fill(const void *lock, const void *site,
						enum elide_kind kind)
{
	struct look_up l = {lock, site, kind, NULL};
	struct elide_cache *entry;

	if (unlikely(!elide_process.running) || elide_passes())
		return NULL; /* as quick as can be */
	if (elide_self && elide_skips(elide_self, site))
		return NULL;
	entry = elide_self ? elide_cache_refill(elide_self, lock, site, kind) : NULL;
	if (likely(entry))
		return entry;
	if (elide_self && elide_self->ready && !elide_busy && no_room(elide_self, lock, site))
		return NULL;
	if (!elide_self && !elide_busy && elide_thread_refused())
		return NULL;
	if (needs_own_row() && elide_own_run(fill_own, &l) && l.entry) {
		elide_threads_ahead();
		return l.entry;
	}
	/* Under a filter nobody waits for another thread's slow path. */
	if (unlikely(!elide_slow_run(fill_slow, &l)) && READ_ONCE(sys_forbidden) &&
	    elide_process.running && !elide_busy && elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_FILTER], 1, __ATOMIC_RELAXED);
	return l.entry;
}
