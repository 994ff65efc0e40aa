/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lock.c - see lock.h. */
#include "../base/testpoint.h"
#include "../check/order.h"
#include "../evidence/wrapper.h"
#include "../state/gate.h"
#include "../state/registry.h"
#include "../state/settings.h"
#include "../state/thread.h"
#include "lock.h"

/* The lock at that address is gone: the calling thread does not hold it. */
static void order_forget(const void *lock)
{
	struct elide_thread *t = elide_self;

	if (unlikely(elide_process.order))
		elide_order_renew(lock);
	if (t && t->nr_acquired)
		elide_order_released(t, lock);
}

/* A lock that was initialised. */
struct new_lock {
	const void *lock;
	const void *site;
	enum elide_kind kind;
	bool shared;
};

static void new_global(void *arg)
{
	const struct new_lock *new = arg;

	test_point(new_entered);
	elide_registry_add(new->lock, new->kind, new->site, true, new->shared);
	test_point(new_done);
}

static void lock_new(const void *lock, enum elide_kind kind, const void *site, const void *stack,
		     bool shared)
{
	struct new_lock new = {lock, site, kind, shared};

	if (kind != ELIDE_KIND_CUSTOM)
		new.site = elide_wrapper_caller(site, stack);
	if (likely(elide_gate_same_process()) &&
	    elide_registry_add_known(lock, kind, new.site, true, shared) != ELIDE_NONE)
		return;
	if (likely(!elide_class_refused(lock, kind, shared))) {
		elide_global_run(new_global, &new);
		return;
	}
	/* It must not have the class of an earlier lock at its address. */
	elide_registry_remove(lock);
	if (shared)
		WRITE_ONCE(elide_locks.lost_shared, true);
	elide_class_refuse();
}

/* From this number of locks of a class on each thread counts up to ELIDE_MOST_NEW for itself. Chosen. */
#define FEW_LOCKS 256

void elide_lock_count(struct elide_thread *t)
{
	uint32_t nr = t->nr_new;

	t->nr_new = 0;
	if (nr)
		elide_class_count(t->new_class, nr);
}

void elide_lock_count_more(struct elide_thread *t, uint32_t class_index)
{
	if (!t || READ_ONCE(elide_class_info(class_index)->nr_locks) < FEW_LOCKS) {
		elide_class_count(class_index, 1);
		return;
	}
	elide_lock_count(t);
	t->new_class = class_index;
	t->nr_new = 1;
}

void elide_lock_new_from(const void *lock, enum elide_kind kind, const void *site,
			 const void *stack, bool shared)
{
	order_forget(lock);
	if (unlikely(!elide_process.running || elide_busy))
		return;
	test_point(new_begin);
	if (likely(!elide_self_fast->open) &&
	    elide_lock_renew(elide_self_fast, lock, kind, site, shared))
		return;
	/* If the table has an earlier lock at that address, its class may have to change. */
	if (unlikely(elide_registry_full()) && elide_gate_same_process() &&
	    elide_registry_find(lock) == ELIDE_NONE) {
		elide_registry_refuse(shared);
		return;
	}
	lock_new(lock, kind, site, stack, shared);
}

void elide_lock_gone(const void *lock)
{
	order_forget(lock);
	if (elide_process.running && !elide_busy)
		elide_registry_remove(lock);
}
