/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * holder.h - which call holds a lock that made others wait, or aborted a transaction?
 *
 * In global-lock paths, but for evidence_contended(), evidence_watch_locked() and elide_evidence_locked().
 */
#ifndef ELIDE_HOLDER_H
#define ELIDE_HOLDER_H

#include "../emulator.h"
#include "../state/call.h"
#include "../state/registry.h"
#include "../state/thread.h"

#pragma GCC visibility push(hidden)

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
 * evidence_known_holder() - the call that locked the lock last, as elide_evidence_locked() has noted it.
 *
 * Of several readers that may be one that has released it. Return: false if the call is not known.
 */
bool evidence_known_holder(const void *lock, struct evidence_holder *holder);

/**
 * evidence_find_holder() - evidence_known_holder(), or else one of the calls that may have locked the lock.
 * @t: the calling thread
 * @row: counters of its call
 * @tid: thread id in the lock; 0: none, as with readers of a rwlock
 *
 * Return: the holder; only its class if no thread has such a call.
 */
struct evidence_holder evidence_find_holder(struct elide_thread *t, const struct elide_row *row,
					    const void *lock, uint32_t tid);

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
 * @holder: from evidence_known_holder(): by now another thread may have locked the lock last
 */
void evidence_name_killer(const struct rtmgrind_abort *d, struct evidence_holder *holder);

/** evidence_contended() - from now on note which calls lock the locks of the class. */
void evidence_contended(uint32_t class_index);

/**
 * evidence_watch_locked() - from now on watch each acquisition that locks.
 *
 * Transactions read the line that is written here, so this is done once.
 */
void evidence_watch_locked(void);

/* Bits by class: threads have waited for its locks, or transactions were aborted at them. */
extern uint8_t elide_contended_classes[ELIDE_TAG_HOT / 8];

/**
 * elide_evidence_locked() - note by which call a lock was locked, in a process that elides.
 * @row: counters of the call
 * @lock: the lock
 *
 * Only for contended classes, as finding the lock may be a cache miss. So the holders at the first wait or
 * abort of a class are not known.
 */
static inline void elide_evidence_locked(const struct elide_row *row, const void *lock)
{
	if (likely(!(READ_ONCE(elide_contended_classes[row->class_index / 8]) >>
		     row->class_index % 8 & 1)))
		return;
	if (row->kind)
		elide_registry_set_holder(lock, elide_call_key((const void *)row->site, row->kind));
}

#pragma GCC visibility pop

#endif
