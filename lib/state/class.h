/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * class.h - lock classes: which one a lock is of, and how many locks each has.
 *
 * If a lock lies in an object's data, its class is its own symbol, or that of the array which it
 * lies in; else its class is the site that initialised it, or, where no call did, the site that
 * first locked it. Look-ups are lock-free; classes and modules are made in slow paths.
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
 * Add to a counter that other threads add to at the same time. Without other threads no locked
 * instruction is needed, which would cost about 20 cycles (A. Fog, "Instruction tables"). Release:
 * see raise_generation() in registry.c.
 */
#define elide_add_shared(counter, n)                                              \
	do {                                                         \
		if (__libc_single_threaded)                          \
			WRITE_ONCE(*(counter), *(counter) + (n));    \
		else                                                 \
			__atomic_add_fetch(counter, n, __ATOMIC_RELEASE); \
	} while (0)

/** elide_class_kind() - the kind of a class, by that of a call: see struct elide_class. */
static inline uint32_t elide_class_kind(enum elide_kind kind)
{
	switch (kind) {
	case ELIDE_KIND_RWLOCK_WRITE:
		return ELIDE_KIND_RWLOCK_READ;
	case ELIDE_KIND_REACQUIRE:
		return ELIDE_KIND_MUTEX;
	default:
		return kind;
	}
}

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
 * In a slow path.
 *
 * Return: index of the class; ELIDE_NONE if there is no room (counted).
 */
uint32_t elide_class_of(const void *lock, enum elide_kind kind, const void *site, bool initialised,
			bool shared);

/**
 * elide_class_of_known() - the class that elide_class_of() would find without a change to anything.
 *
 * Lock-free, async-signal-safe.
 */
uint32_t elide_class_of_known(const void *lock, enum elide_kind kind, const void *site,
			      bool initialised, bool shared);

/** elide_class_count() - the class has one more lock. Lock-free. */
void elide_class_count(uint32_t class_index);

/**
 * elide_class_count_again() - one more lock that the call initialises which did so last in this thread.
 * @lock: address
 * @kind: enum elide_kind of the call
 * @site: return address of the call
 * @shared: it is process-shared
 *
 * Lock-free, async-signal-safe.
 *
 * Return: index of the class, which has counted it; ELIDE_NONE if it is another call, or the lock lies in another page.
 */
uint32_t elide_class_count_again(const void *lock, enum elide_kind kind, const void *site,
				 bool shared);

/** elide_class_count_shared() - one more of its locks is used by a second thread. Lock-free. */
void elide_class_count_shared(uint32_t class_index);

/** elide_class_full() - is there no room for a further class? Lock-free. */
bool elide_class_full(void);

/**
 * elide_class_refused() - would a slow path find no room for the class of a lock, which is not known?
 *
 * Lock-free. If so the lock is counted as dropped.
 */
bool elide_class_refused(const void *lock);

/** elide_class_shared() - are locks of the class process-shared? */
bool elide_class_shared(uint32_t class_index);

/** elide_class_info() - a class as it stands in the data file. */
const struct elide_class *elide_class_info(uint32_t class_index);

/** elide_class_save() - write all classes to a new data file; no thread has used a lock yet. */
void elide_class_save(void);

#pragma GCC visibility pop

#endif
