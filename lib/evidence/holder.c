/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* holder.c - see holder.h. */
#include <string.h>

#include "../row-sums.h"
#include "../state/call.h"
#include "../state/modules.h"
#include "../state/random.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "holder.h"
#include "stack.h"
#include "table.h"
#include "what-if.h"

/* Threads, at most, whose rows are searched if the lock does not have its holder's thread id. */
#define MAX_SUSPECTS 16

/* Acquisitions of one thread that end a window. Each takes about 20 ns longer, all together 5 us. Chosen. */
#define WINDOW_ACQUISITIONS 256
/* Cycles after which an event ends a window: where most acquisitions are elided, few are counted. Chosen. */
#define WINDOW_CYCLES (1ull << 17)
/* The least pause after a window, in lengths of that: a 64th of all time is watched. Chosen. */
#define WINDOW_PAUSE 63
/* Cycles, the greatest pause, 0.1 s at 2.7 GHz: a window in which little was locked costs little. */
#define WINDOW_PAUSE_MAX (1ull << 28)
/* Samples of a call after which it opens no window: shares have a standard error of 6 %. Chosen. */
#define ENOUGH 64
/* Numbers of samples, by a hash of the call; calls that share one have enough earlier. A power of two. */
#define NR_EXPLAINED 4096
/* Notes, by a hash of the lock; a lock that shares one may lose its note. A power of two. */
#define NR_NOTES 1024

/* Which call has locked a lock last, in this window. Written without synchronisation: lock NULL, key, lock. */
struct note {
	const void *lock;
	uint64_t key;
};

static struct note notes[NR_NOTES];
static uint8_t explained[NR_EXPLAINED];
/* Time-stamp counter when the last window was opened and closed. */
static uint64_t window_opened, window_closed;
/* Number of the last window; struct elide_thread has that of the window in which the thread counts. */
static uint32_t window_nr;

uint8_t elide_contended_classes[ELIDE_TAG_HOT / 8];

void evidence_watch(bool watch)
{
	WRITE_ONCE(elide_process.watch_locked, watch || elide_process.order);
	WRITE_ONCE(elide_process.hold_mask, watch || elide_process.order || elide_what_if ? 0 : ~0ull);
}

static void close_window(void)
{
	window_closed = cycles_now();
	WRITE_ONCE(elide_process.window, false);
	WRITE_ONCE(elide_process.tell_section, false);
	evidence_watch(false);
	memset(elide_contended_classes, 0, sizeof(elide_contended_classes));
}

/* Open a window if none is. Return: false if the pause is not over. */
static bool open_window(void)
{
	uint64_t pause, now = cycles_now();

	if (READ_ONCE(elide_process.window)) {
		if (now - READ_ONCE(window_opened) < WINDOW_CYCLES)
			return true;
		close_window();
		return false;
	}
	pause = (window_closed - window_opened) * WINDOW_PAUSE;
	if (window_closed && now - window_closed < (pause < WINDOW_PAUSE_MAX ? pause : WINDOW_PAUSE_MAX))
		return false;
	memset(notes, 0, sizeof(notes));
	window_opened = now;
	WRITE_ONCE(window_nr, window_nr + 1);
	WRITE_ONCE(elide_process.window, true);
	evidence_watch(true);
	return true;
}

static uint8_t *explained_of(const struct elide_row *row, enum evidence_event event)
{
	uint64_t key = evidence_hash((uint64_t)row->class_index << 32 | row->kind << 8 | event, row->site);

	return &explained[key % NR_EXPLAINED];
}

void evidence_explained(const struct elide_row *row, enum evidence_event event)
{
	uint8_t *nr = explained_of(row, event);

	if (READ_ONCE(elide_process.window) && *nr < ENOUGH)
		WRITE_ONCE(*nr, *nr + 1);
}

static bool opens_window(const struct elide_row *row, enum evidence_event event)
{
	return elide_process.blames && READ_ONCE(*explained_of(row, event)) < ENOUGH && open_window();
}

void evidence_contended(const struct elide_row *row)
{
	if (opens_window(row, EVIDENCE_CONTENDED))
		__atomic_fetch_or(&elide_contended_classes[row->class_index / 8], 1 << row->class_index % 8,
				  __ATOMIC_RELAXED);
}

void evidence_conflict(const struct elide_row *row)
{
	if (elide_process.rtm == ELIDE_RTM_EMULATED && opens_window(row, EVIDENCE_CONFLICT))
		WRITE_ONCE(elide_process.tell_section, true);
}

void evidence_watched(struct elide_thread *t)
{
	if (unlikely(!READ_ONCE(elide_process.window)))
		return;
	if (t->window != window_nr) {
		t->window = window_nr;
		t->window_left = WINDOW_ACQUISITIONS;
	}
	if (unlikely(!--t->window_left))
		close_window();
}

static struct note *note_of(const void *lock)
{
	return &notes[evidence_hash(0, (uintptr_t)lock) % NR_NOTES];
}

void evidence_note_holder(const struct elide_row *row, const void *lock)
{
	uint64_t key = elide_call_key((const void *)row->site, row->kind);
	struct note *note = note_of(lock);

	if (!row->kind || (READ_ONCE(note->lock) == lock && READ_ONCE(note->key) == key))
		return;
	WRITE_ONCE(note->lock, NULL);
	barrier();
	WRITE_ONCE(note->key, key);
	barrier();
	WRITE_ONCE(note->lock, lock);
}

bool evidence_noted_holder(const void *lock, struct evidence_holder *holder)
{
	const struct note *note = note_of(lock);
	uint64_t key = READ_ONCE(note->key);

	barrier();
	if (!READ_ONCE(elide_process.window) || READ_ONCE(note->lock) != lock || !key)
		return false;
	holder->class_index = elide_registry_class(lock);
	holder->kind = elide_key_kind(key);
	holder->site = (uintptr_t)elide_key_site(key);
	return true;
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
 * Draw one of the rows of @holder that may have locked the lock.
 * @exact: only of those by whose call the thread has locked this lock last; else of all of the class
 */
static void choose(struct elide_thread *t, struct elide_thread *holder, const struct suspect *s, bool exact,
		   struct choice *choice)
{
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

const struct elide_row *evidence_own_row(struct elide_thread *t, const void *lock,
					 enum elide_kind kind)
{
	struct suspect self = {.lock = lock, .kind = kind};
	struct choice choice = {0};

	self.class_index = elide_registry_class(lock);
	if (self.class_index == ELIDE_NONE)
		return NULL;
	choose(t, t, &self, true, &choice);
	if (!choice.row)
		choose(t, t, &self, false, &choice);
	return choice.row;
}

uint32_t evidence_tid_in(const struct elide_row *row, const void *lock)
{
	uint32_t offset = elide_process.holder[row->kind];

	return offset ? READ_ONCE(*(const uint32_t *)((const char *)lock + offset)) : 0;
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
	struct choice choice = {0};

	if (evidence_noted_holder(lock, &holder))
		return holder;
	for (int exact = 1; exact >= 0 && !choice.row; exact--) {
		struct elide_thread *other = elide_threads_all();

		for (uint32_t i = 0; other && (tid || i < MAX_SUSPECTS); other = other->next, i++)
			if (tid ? other->tid == tid : other != t && other->tid)
				choose(t, other, &suspect, exact, &choice);
	}
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

/* evidence_find_holder() of a lock that the call acquires. */
static struct evidence_holder holder_of(struct elide_thread *t, const struct evidence_holder *call,
					const void *lock)
{
	const struct elide_row row = {.class_index = call->class_index, .kind = (uint16_t)call->kind};

	return evidence_find_holder(t, &row, lock, evidence_tid_in(&row, lock));
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
		*holder = holder_of(t, &call, elide_at_run_time(class->address));
		return;
	}
	for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
		const struct elide_call *own = elide_call_at(t, nr);

		if (own->lock && elide_call_row(own)->site == call.site) {
			*holder = holder_of(t, &call, own->lock);
			return;
		}
	}
}

void evidence_name_killer(const struct rtmgrind_abort *d, struct evidence_holder *holder)
{
	struct evidence_holder killer;

	if (find_by_stack(d->other_frames, d->nr_other, &killer) &&
	    killer.class_index == holder->class_index)
		*holder = killer;
}
