/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fill.c - the global-lock path of a look-up: registration of locks, rows and calls.
 *
 * Everything here runs outside transactions: fill() in a global-lock path, fill_own() with signals blocked.
 */
#include "../adapt/measure.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../check/order.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/rules.h"
#include "../state/settings.h"
#include "../state/thread-record.h"
#include "../state/tunables.h"
#include "../state/way.h"
#include "fill.h"
#include "threads.h"

static bool kind_wanted(enum elide_kind kind)
{
	switch (kind) {
	case ELIDE_KIND_MUTEX:
	case ELIDE_KIND_LIBRARY:
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
 * Is a lock still what it was registered as? C++ initialises and destroys a mutex or condition variable
 * without a call, so its memory may hold another object by now.
 */
static bool is_of_kind(uint32_t tag, enum elide_kind kind)
{
	uint32_t class_kind = elide_class_info(elide_tag_class(tag))->kind;

	/*
	 * A custom lock may have its word in a lock that it falls back to. A library may wait for its own lock in
	 * a futex call that is seen, as in GLib's wait for a condition variable.
	 */
	return class_kind == elide_class_kind(kind) ||
	       (class_kind == ELIDE_KIND_LIBRARY && elide_kind_is_futex(kind)) ||
	       (class_kind == ELIDE_KIND_CUSTOM && elide_kind_is_lock(kind)) ||
	       (kind == ELIDE_KIND_CUSTOM && elide_kind_is_lock(class_kind));
}

/* May locks of this class be elided from this site, and what does the report say? */
static enum elide_row_state row_state(uint32_t class_index, const void *site, enum elide_kind kind)
{
	enum elide_ruling ruling =
		elide_rules_match(elide_class_info(class_index), site);

	if (elide_class_shared(class_index) || ruling == ELIDE_RULING_OFF)
		return ELIDE_STATE_OFF;
	if (!elide_adapts || ruling == ELIDE_RULING_PROFILE || !elide_kind_is_lock(kind) ||
	    elide_class_info(class_index)->type == ELIDE_CLASS_BEYOND)
		return ELIDE_STATE_PROFILED;
	if (!kind_wanted(kind) && ruling != ELIDE_RULING_ON)
		return ELIDE_STATE_PROFILED;
	if (elide_process.mode == ELIDE_RUN_RESTRICT)
		return elide_process.config.measures ? ELIDE_STATE_LOCKING : ELIDE_STATE_RESTRICTED;
	return elide_process.config.elides ? ELIDE_STATE_ELIDING : ELIDE_STATE_OFF;
}

/* The calling thread's new row of a class and a site; NULL: there is no room in the file. */
static struct elide_row *row_make(struct elide_thread *t, uint32_t class_index, const void *site,
				  uint64_t recorded, enum elide_kind kind)
{
	struct elide_row *row = elide_data_record(&t->chunk, ELIDE_CHUNK_ROWS, sizeof(*row));

	if (!row)
		return NULL;
	row->class_index = class_index;
	row->kind = kind;
	row->site = recorded;
	row->state = row_state(class_index, site, kind);
	row->wait.min = row->hold.min = ~0ull;
	if (!elide_hold_period)
		row->hold_next = ~0ull;
	t->chunk->block = t->record ? t->record->block : 0;
	elide_thread_record_name(t);
	test_point(fill_publish);
	elide_data_publish(t->chunk);
	if (unlikely(elide_process.order))
		elide_order_site(class_index, recorded);
	return row;
}

/* The row of a call. A call of a lock with a state of its own counts in the row of the class. */
static struct elide_row *row_of(struct elide_thread *t, uint32_t tag, const void *site,
				uint64_t recorded, enum elide_kind kind)
{
	const struct elide_call *call = NULL;
	uint32_t class_index = elide_tag_class(tag);

	if (elide_tag_hot(tag))
		call = elide_call_known(t, class_index, recorded, kind);
	return call ? call->row : row_make(t, class_index, site, recorded, kind);
}

/* The call of a lock with that tag; a new one if the thread has none. */
static struct elide_call *call_get(struct elide_thread *t, uint32_t tag, const void *site,
				   uint64_t recorded, enum elide_kind kind)
{
	struct elide_call *call = elide_call_known(t, tag, recorded, kind);
	struct elide_row *row;

	if (call) {
		WRITE_ONCE(call->key, elide_call_key(site, kind));
		return call;
	}
	call = elide_call_add(t);
	row = call ? row_of(t, tag, site, recorded, kind) : NULL;
	if (!row) {
		t->full = true;
		return NULL;
	}
	*call = (struct elide_call){
		.elided = elide_state_is_chosen(row->state) &&
			  elide_process.config.name != POLICY_RESTRICT,
		.mark = elide_word(NULL, tag),
		.adapt = &t->no_adapt,
		.row = row,
		.key = elide_call_key(site, kind),
	};
	if (elide_process.config.measures && elide_kind_is_lock(kind))
		adapt_attach(t, call);
	elide_call_set_way(call, elide_way(t, row), adapt_arm_of(call));
	elide_call_publish(t, call);
	return call;
}

/* A look-up, and what was found. */
struct look_up {
	const void *lock;
	const void *site;
	enum elide_kind kind;
	struct elide_call *call;
};

/* The tag of the lock, which is registered if need be; without room the tag of all such locks. */
static uint32_t tag_of(const struct look_up *l)
{
	uint32_t tag = elide_registry_find(l->lock);

	if (unlikely(tag != ELIDE_NONE && !is_of_kind(tag, l->kind))) {
		elide_registry_remove(l->lock);
		tag = ELIDE_NONE;
	}
	if (tag == ELIDE_NONE)
		tag = elide_registry_add(l->lock, l->kind, l->site, false, false);
	return tag == ELIDE_NONE ? elide_class_make_beyond(l->kind) : tag;
}

static struct elide_call *fill(const struct look_up *l)
{
	struct elide_thread *t = elide_self;
	struct elide_call *call;
	uint32_t tag;

	if ((!t || !t->ready) && !(t = elide_thread_get()))
		return NULL;
	/* Notice an object at the addresses of an unloaded one, and forget the latter. */
	elide_module_of(l->lock);
	elide_module_of(l->site);
	tag = tag_of(l);
	call = tag == ELIDE_NONE ? NULL :
				   call_get(t, tag, l->site, elide_recorded(l->site), l->kind);
	if (call)
		elide_call_guess(t, call, l->lock);
	else if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_ROWS], 1, __ATOMIC_RELAXED);
	return call;
}

static void fill_global(void *arg)
{
	struct look_up *l = arg;

	test_point(fill_entered);
	l->call = fill(l);
	test_point(fill_done);
}

/* Is an address in a known object, or in none? Else a global-lock path has to find out. */
static bool module_is_known(const void *address)
{
	bool in_object;

	return elide_module_known(address, &in_object) || !in_object;
}

/* Has the thread room for a row and a call without a global-lock path? */
static bool has_row(const struct elide_thread *t)
{
	return t->chunk && !t->full && t->nr_calls + 1 < ELIDE_FIRST_CALLS &&
	       elide_data_has_room(t->chunk, sizeof(struct elide_row));
}

/*
 * As fill(), where only row and call are missing, which are the thread's own. Not for a lock with a state
 * of its own, whose calls are measured apart.
 */
static void fill_own(void *arg)
{
	struct look_up *l = arg;
	struct elide_thread *t = elide_self ? elide_self : elide_thread_own();
	uint32_t tag;
	uint64_t recorded;

	if (!t || !has_row(t) || !module_is_known(l->lock) || !module_is_known(l->site) ||
	    !elide_recorded_call(l->site, &recorded))
		return;
	tag = elide_registry_find(l->lock);
	if (tag == ELIDE_NONE)
		tag = elide_registry_add_known(l->lock, l->kind, l->site, false, false);
	if (tag == ELIDE_NONE || !is_of_kind(tag, l->kind) || elide_tag_hot(tag))
		return;
	if (elide_process.config.measures && elide_kind_is_lock(l->kind) &&
	    !adapt_knows(tag, l->site, l->kind))
		return;
	l->call = call_get(t, tag, l->site, recorded, l->kind);
	if (l->call)
		elide_call_guess(t, l->call, l->lock);
}

/* May the calling thread's row and block be all that is missing? */
static bool needs_own_row(void)
{
	return (!elide_self || has_row(elide_self)) && !elide_rules_any() && !elide_process.order &&
	       elide_data && elide_gate_same_process();
}

/* Count a call as dropped if a global-lock path, of 20,000 cycles, would find no room for it. */
static bool no_room(const struct elide_thread *t)
{
	if (!t->full)
		return false;
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_ROWS], 1, __ATOMIC_RELAXED);
	return true;
}

__noinline struct elide_call *elide_call_get(const void *lock, const void *site,
					     enum elide_kind kind)
{
	struct look_up l = {lock, site, kind, NULL};
	struct elide_call *call;

	if (unlikely(!elide_process.running) || elide_passes())
		return NULL;
	call = elide_self ? elide_call_look(elide_self, lock, site, kind) : NULL;
	if (likely(call))
		return call;
	if (elide_self && elide_self->ready && !elide_busy && no_room(elide_self))
		return NULL;
	if (!elide_self && !elide_busy && elide_thread_refused())
		return NULL;
	if (needs_own_row() && elide_own_run(fill_own, &l) && l.call) {
		elide_threads_ahead();
		return l.call;
	}
	/* Under a filter a thread does not wait for another one's global-lock path. */
	if (unlikely(!elide_global_run(fill_global, &l)) && READ_ONCE(sys_forbidden) &&
	    elide_process.running && !elide_busy && elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_FILTER], 1, __ATOMIC_RELAXED);
	return l.call;
}
