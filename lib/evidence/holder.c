/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* holder.c - see holder.h. */
#include "../row-sums.h"
#include "../state/call.h"
#include "../state/modules.h"
#include "../state/random.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "holder.h"
#include "stack.h"

/* Threads, at most, whose rows are searched if the lock does not have its holder's thread id. */
#define MAX_SUSPECTS 16

uint8_t elide_contended_classes[ELIDE_TAG_HOT / 8];

void evidence_watch_locked(void)
{
	if (READ_ONCE(elide_process.watch_locked))
		return;
	WRITE_ONCE(elide_process.watch_locked, true);
	WRITE_ONCE(elide_hold_mask, 0);
}

void evidence_contended(uint32_t class_index)
{
	uint8_t *bits = &elide_contended_classes[class_index / 8];

	if (!elide_process.blames)
		return;
	if (!(READ_ONCE(*bits) >> class_index % 8 & 1))
		__atomic_fetch_or(bits, 1 << class_index % 8, __ATOMIC_RELAXED);
	evidence_watch_locked();
}

/*
 * A thread does not note by which of its calls it has locked a lock, as that would cost each acquisition.
 * So one of the rows is drawn, with its share of the time that the rows held locks as probability: then the
 * expected sums are right. With one row, as usual, there is no choice.
 */
struct choice {
	uint64_t total;
	const struct elide_row *row;
};

/* Cycles that a row's locks were held, by their mean hold time; if that is not known, acquisitions. */
static uint64_t time_held(const struct elide_row *row)
{
	return 1 + (row->hold.count ? (uint64_t)elide_row_held(row) : row->not_attempted + row->fallback);
}

/* What is known of the holder to be found. */
struct suspect {
	const void *lock;
	uint32_t class_index;
	enum elide_kind kind;
};

/*
 * Draw one of the rows of @holder that may have locked the lock: of those whose call locked it last, or, if
 * there is none, of all of the class.
 */
static void choose(struct elide_thread *t, struct elide_thread *holder, const struct suspect *s,
		   struct choice *choice)
{
	for (int exact = 1; exact >= 0 && !choice->total; exact--) {
		for (uint32_t nr = 1; nr <= holder->nr_calls; nr++) {
			const struct elide_call *call = elide_call_at(holder, nr);
			const struct elide_row *row = READ_ONCE(call->row);
			uint64_t weight;

			if (!row || row->class_index != s->class_index || row->kind != s->kind)
				continue;
			if (exact && READ_ONCE(call->lock) != s->lock)
				continue;
			weight = time_held(row);
			choice->total += weight;
			if (elide_random_sample(t) % choice->total < weight)
				choice->row = row;
		}
	}
}

const struct elide_row *evidence_own_row(struct elide_thread *t, const void *lock,
					 enum elide_kind kind)
{
	struct suspect self = {.lock = lock, .kind = kind};
	struct choice choice = {0};

	self.class_index = elide_registry_class(lock);
	if (self.class_index != ELIDE_NONE)
		choose(t, t, &self, &choice);
	return choice.row;
}

bool evidence_known_holder(const void *lock, struct evidence_holder *holder)
{
	uint64_t key = elide_registry_holder(lock);

	if (!key)
		return false;
	holder->class_index = elide_registry_class(lock);
	holder->kind = elide_key_kind(key);
	holder->site = (uintptr_t)elide_key_site(key);
	return true;
}

/* @tid: thread id in the lock. A writer of a rwlock leaves its own, readers leave none. */
static enum elide_kind holder_kind(const struct elide_row *row, uint32_t tid)
{
	if (row->kind == ELIDE_KIND_REACQUIRE)
		return ELIDE_KIND_MUTEX;
	if (row->kind != ELIDE_KIND_RWLOCK_READ && row->kind != ELIDE_KIND_RWLOCK_WRITE)
		return row->kind;
	return tid ? ELIDE_KIND_RWLOCK_WRITE : ELIDE_KIND_RWLOCK_READ;
}

struct evidence_holder evidence_find_holder(struct elide_thread *t, const struct elide_row *row,
					    const void *lock, uint32_t tid)
{
	const struct suspect suspect = {lock, row->class_index, holder_kind(row, tid)};
	struct evidence_holder holder = {.class_index = row->class_index};
	struct elide_thread *other = elide_threads_all();
	struct choice choice = {0};

	if (evidence_known_holder(lock, &holder))
		return holder;
	for (uint32_t i = 0; other && (tid || i < MAX_SUSPECTS); other = other->next, i++)
		if (tid ? other->tid == tid : other != t && other->tid)
			choose(t, other, &suspect, &choice);
	if (choice.row) {
		holder.kind = choice.row->kind;
		holder.site = choice.row->site;
	}
	return holder;
}

/*
 * The lock call of a stack: its site is the first frame outside of this library, its class that of a row of
 * any thread for that site.
 */
static bool find_by_stack(const unsigned long long *stack, unsigned int nr,
			  struct evidence_holder *holder)
{
	uint64_t frames[ELIDE_STACK_FRAMES];

	if (!elide_stack_emulated(frames, stack, nr, true))
		return false;
	*holder = (struct evidence_holder){
		.class_index = ELIDE_NONE,
		.site = elide_recorded_known((const void *)frames[0]),
	};
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
			const struct elide_row *row = READ_ONCE(elide_call_at(t, nr)->row);

			if (!row || row->site != holder->site)
				continue;
			holder->class_index = row->class_index;
			holder->kind = row->kind;
			return true;
		}
	return false;
}

void evidence_find_inner(struct elide_thread *t, const struct rtmgrind_abort *d,
			 struct evidence_holder *holder)
{
	struct evidence_holder call = {.class_index = ELIDE_NONE};
	const struct elide_class *class;

	*holder = call;
	if (!d || !find_by_stack(d->own_frames, d->nr_own, &call))
		return;
	holder->class_index = call.class_index;
	class = elide_class_info(call.class_index);
	if (class->type == ELIDE_CLASS_STATIC && !class->array) {
		evidence_known_holder(elide_at_run_time(class->address), holder);
		return;
	}
	for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
		const struct elide_call *own = elide_call_at(t, nr);

		if (own->lock && elide_call_row(own)->site == call.site &&
		    evidence_known_holder(own->lock, holder))
			return;
	}
}

void evidence_name_killer(const struct rtmgrind_abort *d, struct evidence_holder *holder)
{
	struct evidence_holder killer;

	if (find_by_stack(d->other_frames, d->nr_other, &killer) &&
	    killer.class_index == holder->class_index)
		*holder = killer;
}
