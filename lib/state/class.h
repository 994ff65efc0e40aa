/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * class.h - lock classes: which one a lock has, and how many locks each has.
 *
 * The class of a lock in an object's data is its own symbol, or that of its array. The class of any other
 * lock is the site that initialised it, or, if no call did, the site that first locked it. Look-ups are
 * lock-free; classes and modules are made in global-lock paths.
 */
#ifndef ELIDE_CLASS_H
#define ELIDE_CLASS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "../compiler.h"
#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* Index of no lock and of no class. */
#define ELIDE_NONE 0xffffffffu

/*
 * Add to a counter that threads share. A process with one thread saves the locked instruction, about 20
 * cycles (A. Fog, "Instruction tables").
 */
#define elide_add_shared(counter, n)                                              \
	do {                                                         \
		if (__libc_single_threaded)                          \
			WRITE_ONCE(*(counter), *(counter) + (n));    \
		else                                                 \
			__atomic_add_fetch(counter, n, __ATOMIC_RELAXED); \
	} while (0)

/** elide_class_kind() - the kind of a class, from that of a call: see struct elide_class. */
static inline uint32_t elide_class_kind(enum elide_kind kind)
{
	switch (kind) {
	case ELIDE_KIND_RWLOCK_WRITE:
		return ELIDE_KIND_RWLOCK_READ;
	case ELIDE_KIND_REACQUIRE:
		return ELIDE_KIND_MUTEX;
	case ELIDE_KIND_FUTEX_LOCK:
		return ELIDE_KIND_FUTEX;
	default:
		return kind;
	}
}

/*
 * Lock classes, at most. Acquisitions of locks beyond that are counted by call site alone, and not elided.
 * Chosen: a class is mostly a place that initialises locks, of which large programs have hundreds.
 */
#define ELIDE_MAX_CLASSES 4096

/**
 * elide_class_start() - allocate the tables.
 * @max_classes: bound
 *
 * Return: 0 or -ENOMEM.
 */
int elide_class_start(uint32_t max_classes);

/**
 * elide_class_of() - the class of a lock; made if there is none yet.
 * @lock: address
 * @kind: enum elide_kind of the call
 * @site: return address of the call
 * @initialised: the call initialised it
 * @shared: it is process-shared
 *
 * In a global-lock path.
 *
 * Return: index of the class; ELIDE_NONE if there is no room (counted).
 */
uint32_t elide_class_of(const void *lock, enum elide_kind kind, const void *site, bool initialised,
			bool shared);

/**
 * elide_class_of_known() - elide_class_of() if that would change nothing; else ELIDE_NONE.
 *
 * Lock-free, async-signal-safe.
 */
uint32_t elide_class_of_known(const void *lock, enum elide_kind kind, const void *site,
			      bool initialised, bool shared);

/*
 * Calls that have initialised locks outside of objects' data, by the low byte of their return address. One
 * word, so that no two calls are mixed up: the rest of the address, kind and process-shared, and the class
 * in 16 bits. The number is chosen here.
 */
#define ELIDE_NR_INITS   256
#define ELIDE_INIT_CLASS 0xffffu
extern uint64_t elide_inits[ELIDE_NR_INITS];

/* The word of a call, with class 0. */
static __always_inline_fn uint64_t elide_init_word(enum elide_kind kind, const void *site, bool shared)
{
	return (uintptr_t)site / ELIDE_NR_INITS << 24 | (uint64_t)(elide_class_kind(kind) << 1 | shared) << 16;
}

/**
 * elide_class_by_site() - the class of the locks outside of objects' data that a call has initialised.
 *
 * Parameters are those of elide_class_of(). Lock-free, async-signal-safe.
 *
 * Return: its index; more than ELIDE_INIT_CLASS: the call was not seen, or not lately.
 */
static __always_inline_fn uint64_t elide_class_by_site(enum elide_kind kind, const void *site, bool shared)
{
	return READ_ONCE(elide_inits[(uintptr_t)site % ELIDE_NR_INITS]) ^
	       elide_init_word(kind, site, shared);
}

/** elide_class_count() - the class has @nr more locks. Lock-free. */
void elide_class_count(uint32_t class_index, uint32_t nr);

/** elide_class_count_shared() - one more of its locks is used by a second thread. Lock-free. */
void elide_class_count_shared(uint32_t class_index);

/**
 * elide_class_beyond() - the class of the locks of a kind for which the registry has no room.
 * @kind: enum elide_kind of the call
 *
 * Lock-free. Return: its index; ELIDE_NONE: it was not made yet.
 */
uint32_t elide_class_beyond(enum elide_kind kind);

/** elide_class_make_beyond() - elide_class_beyond(), made if need be. In a global-lock path. */
uint32_t elide_class_make_beyond(enum elide_kind kind);

/**
 * elide_class_refused() - would a global-lock path find no room for the class of a lock?
 *
 * The class is not known. Parameters are those of elide_class_of(). Lock-free, async-signal-safe.
 */
bool elide_class_refused(const void *lock, enum elide_kind kind, bool shared);

/** elide_class_refuse() - count a lock as dropped, as its class found no room. Lock-free. */
void elide_class_refuse(void);

/** elide_class_shared() - are locks of the class process-shared? */
bool elide_class_shared(uint32_t class_index);

/** elide_class_info() - a class as it stands in the data file. */
const struct elide_class *elide_class_info(uint32_t class_index);

/** elide_class_forget() - an object was unloaded: calls that initialise locks are looked up anew. */
void elide_class_forget(void);

/** elide_class_save() - write modules and classes to a new data file; no thread has used a lock yet. */
void elide_class_save(void);

#pragma GCC visibility pop

#endif
