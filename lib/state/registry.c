/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* registry.c - see registry.h; lock-table.c makes the table anew. */
#include <errno.h>
#include <sys/single_threaded.h>

#include "../base/datafile-writer.h"
#include "../base/reserve.h"
#include "../base/testpoint.h"
#include "registry.h"
#include "lock-table.h"

/*
 * Locks that samples have seen, by a hash: address and the thread that uses it. A lock whose
 * place another one takes may be counted twice.
 */
#define NR_USERS 4096
static uint64_t users[NR_USERS];

/* In @users: several threads. */
#define SEVERAL 0xffffull

int elide_registry_start(uint32_t max_locks, uint32_t max_classes)
{
	int err = elide_table_start(max_locks);

	return err ? err : elide_class_start(max_classes);
}

uint32_t elide_registry_find(const void *lock)
{
	struct elide_table *table = elide_table_now();
	uint64_t word;
	uint32_t tag;

	/* A word that is not found may have been moved. */
	while (unlikely(!elide_table_find(table, lock, &word))) {
		table = elide_table_next(table);
		if (!table)
			return ELIDE_NONE;
	}
	tag = elide_word_tag(word);
	return tag < ELIDE_TAG_GONE ? tag : ELIDE_NONE;
}

uint32_t elide_registry_class(const void *lock)
{
	uint32_t tag = elide_registry_find(lock);

	return tag == ELIDE_NONE ? ELIDE_NONE : elide_tag_class(tag);
}

bool elide_registry_split(const void *lock, uint32_t class_index, uint32_t nr)
{
	if (nr > ELIDE_TAG_HOTS)
		return false;
	WRITE_ONCE(elide_locks.hot_classes[nr], class_index);
	return elide_table_change(elide_word(lock, class_index), elide_word(lock, ELIDE_TAG_HOT + nr));
}

struct policy_lock *elide_policy_of(const void *lock)
{
	static struct policy_lock nobody;
	struct policy_lock *state = elide_table_state(lock);

	return state ? state : &nobody;
}

/* A spinlock of which no initialisation is known may be a process-shared one that was refused. */
static bool may_be_shared(enum elide_kind kind, bool initialised)
{
	return unlikely(READ_ONCE(elide_locks.lost_shared)) && kind == ELIDE_KIND_SPIN && !initialised;
}

/* @tag: that of the class. Return: the tag of the lock now, ELIDE_NONE if there is no room. */
static uint32_t put(const void *lock, uint32_t tag, bool initialised)
{
	bool new;
	uint64_t word = elide_table_put(elide_word(lock, tag), initialised, &new);

	if (!word)
		return ELIDE_NONE;
	if (new)
		elide_class_count(tag, 1);
	return elide_word_tag(word);
}

uint32_t elide_registry_add(const void *lock, enum elide_kind kind, const void *site,
			    bool initialised, bool shared)
{
	uint32_t tag, class_index;

	if (!elide_table_has_room_for(lock))
		return ELIDE_NONE;
	tag = elide_registry_find(lock);
	if (tag != ELIDE_NONE && !initialised)
		return tag; /* another thread was first */
	class_index = elide_class_of(lock, kind, site, initialised,
				     shared || may_be_shared(kind, initialised));
	if (class_index == ELIDE_NONE) {
		elide_table_remove(lock); /* an older lock is gone all the same */
		if (shared)
			WRITE_ONCE(elide_locks.lost_shared, true);
		return ELIDE_NONE;
	}
	tag = put(lock, class_index, initialised);
	/* Other threads may have filled the new table while the words were moved. */
	while (tag == ELIDE_NONE && elide_table_make_room(lock))
		tag = put(lock, class_index, initialised);
	if (tag == ELIDE_NONE)
		elide_registry_refuse(shared);
	return tag;
}

uint32_t elide_registry_add_known(const void *lock, enum elide_kind kind, const void *site,
				  bool initialised, bool shared)
{
	uint32_t class_index;

	if (!elide_table_has_room_for(lock))
		return ELIDE_NONE;
	class_index = elide_class_of_known(lock, kind, site, initialised,
					   shared || may_be_shared(kind, initialised));
	return class_index == ELIDE_NONE ? ELIDE_NONE : put(lock, class_index, initialised);
}

void elide_registry_remove(const void *lock)
{
	elide_table_remove(lock);
}

void elide_registry_refuse(bool shared)
{
	elide_table_refused(1);
	if (shared)
		WRITE_ONCE(elide_locks.lost_shared, true);
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_LOCKS], 1, __ATOMIC_RELAXED);
}

bool elide_registry_full(void)
{
	return elide_table_full();
}

void elide_registry_used(const void *lock, uint32_t class_index, const void *user)
{
	uint64_t *seen = &users[(uintptr_t)lock * ELIDE_HASH_FACTOR >> ELIDE_HASH_SHIFT & (NR_USERS - 1)];
	uint64_t word = READ_ONCE(*seen);
	/* A block is aligned to a page. */
	uint64_t mine = (uintptr_t)user / 4096 % SEVERAL;

	if (likely(word == elide_word(lock, mine) || word == elide_word(lock, SEVERAL)))
		return;
	if (elide_word_lock(word) == lock) {
		if (elide_class_info(class_index)->nr_shared < ELIDE_SHARED_COUNTED)
			elide_class_count_shared(class_index);
		mine = SEVERAL;
	}
	WRITE_ONCE(*seen, elide_word(lock, mine));
}

void elide_registry_forget(const void *start, const void *end)
{
	elide_table_forget((uintptr_t)start, (uintptr_t)end);
}

void elide_registry_settle(void)
{
	elide_table_settle();
}

void elide_registry_save(void)
{
	/* In a forked child no thread has used a lock yet. */
	for (int i = 0; i < NR_USERS; i++)
		if (users[i])
			WRITE_ONCE(users[i], 0);
	elide_class_save();
}
