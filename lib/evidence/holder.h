/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * holder.h - which call holds a lock that made others wait, or aborted a transaction?
 *
 * Each thread remembers the lock that each of its calls has locked last. What that does not tell is noted in
 * windows: while one is open, no call that locks takes the short way, and each notes itself. A window is
 * opened by an event of a call that has too little evidence yet, and ends after a number of acquisitions or
 * of cycles; the pause after it is WINDOW_PAUSE times as long.
 *
 * In global-lock paths, but for evidence_contended(), evidence_conflict() and elide_evidence_locked().
 */
#ifndef ELIDE_HOLDER_H
#define ELIDE_HOLDER_H

#include "../emulator.h"
#include "../state/call.h"
#include "../state/registry.h"
#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/* What opens windows. A call has enough samples of each one by itself. */
enum evidence_event { EVIDENCE_CONTENDED, EVIDENCE_CONFLICT };

/**
 * struct evidence_holder - the call that held a lock, or that ended a wait.
 * @class_index: class of the lock
 * @kind: enum elide_kind; ELIDE_KIND_NONE if only the class is known
 * @site: of the call; 0 if only the class is known
 * @peer, @waker: as in struct elide_blame
 */
struct evidence_holder {
	uint32_t class_index;
	uint32_t kind;
	uint64_t site;
	bool peer;
	uint32_t waker;
};

/**
 * evidence_noted_holder() - the call that locked the lock last, if it did so in the window that is open.
 *
 * Of several readers that may be one that has released it. Return: false if the call is not known.
 */
bool evidence_noted_holder(const void *lock, struct evidence_holder *holder);

/**
 * evidence_find_holder() - evidence_noted_holder(), or else one of the calls that may have locked the lock.
 * @t: the calling thread
 * @row: counters of its call
 * @tid: thread id in the lock; 0: none, as with readers of a rwlock
 *
 * The call is drawn from those by which threads have locked this lock last; if there is none, from all of
 * the class. The probability of each is its share of the time that they held locks, so that the expected
 * sums are right.
 *
 * Return: the holder; only its class if no thread has such a call.
 */
struct evidence_holder evidence_find_holder(struct elide_thread *t, const struct elide_row *row,
					    const void *lock, uint32_t tid);

/** evidence_tid_in() - the thread id in a lock of the row's kind; 0: none. */
uint32_t evidence_tid_in(const struct elide_row *row, const void *lock);

/** evidence_own_row() - the row of the thread's call that has locked a lock; NULL: not known. */
const struct elide_row *evidence_own_row(struct elide_thread *t, const void *lock,
					 enum elide_kind kind);

/**
 * evidence_find_inner() - the call that held a lock which a section of the thread acquires inside.
 * @d: the emulator's record of the abort; NULL: there is none
 *
 * The emulator's stack says which call of the section found the inner lock held. The lock is the static lock
 * of that call's class, if the class is one; else the lock that this thread has locked last by the call. If
 * no holder is known, only the class is set.
 */
void evidence_find_inner(struct elide_thread *t, const struct rtmgrind_abort *d,
			 struct evidence_holder *holder);

/**
 * evidence_name_killer() - the call of the thread that aborted the section by locking the lock.
 * @d: the emulator's record of the abort, which has that thread's stack
 * @holder: from evidence_find_holder(): by now another thread may have locked the lock last
 */
void evidence_name_killer(const struct rtmgrind_abort *d, struct evidence_holder *holder);

/**
 * evidence_contended() - a call has waited for a lock of its class, or an attempt of it was aborted by one.
 * @row: counters of the call
 *
 * Opens a window for the class, unless the call has enough samples or the pause is not over.
 */
void evidence_contended(const struct elide_row *row);

/**
 * evidence_conflict() - an attempt of the call was aborted by an access of another thread.
 *
 * Under the emulator it opens a window in which threads tell it their sections. Telling takes no virtual time.
 */
void evidence_conflict(const struct elide_row *row);

/** evidence_explained() - a sample of such an event of the call has found what it looked for. */
void evidence_explained(const struct elide_row *row, enum evidence_event event);

/** evidence_watch() - from now on watch each acquisition that locks, or only with ELIDE_ORDER=1. */
void evidence_watch(bool watch);

/** evidence_watched() - a lock was locked: ends the window, if one is open and that was the thread's last. */
void evidence_watched(struct elide_thread *t);

/** evidence_note_holder() - the part of elide_evidence_locked() for contended classes. */
void evidence_note_holder(const struct elide_row *row, const void *lock);

/* Bits by class: while a window is open, the calls that lock its locks note themselves. */
extern uint8_t elide_contended_classes[ELIDE_TAG_HOT / 8];

/**
 * elide_evidence_locked() - note by which call a lock was locked, while a window is open.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock
 */
static inline void elide_evidence_locked(struct elide_thread *t, const struct elide_row *row, const void *lock)
{
	if (unlikely(READ_ONCE(elide_contended_classes[row->class_index / 8]) >> row->class_index % 8 & 1))
		evidence_note_holder(row, lock);
	evidence_watched(t);
}

#pragma GCC visibility pop

#endif
