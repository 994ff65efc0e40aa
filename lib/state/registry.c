/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* registry.c - see registry.h. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#include "../base/datafile-writer.h"
#include "../base/reserve.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "registry.h"

#define RELEASED 1ull

uint32_t elide_generations[ELIDE_NR_GENERATIONS];
struct elide_locks elide_locks;

static struct {
	uint32_t max_locks;
	uint32_t nr_locks; /* atomic */
} registry;

static size_t nr_slots(void)
{
	return elide_locks.mask + ELIDE_SLOTS;
}

int elide_registry_start(uint32_t max_locks, uint32_t max_classes)
{
	registry.max_locks = max_locks;
	/* At most half full, so that a neighbourhood seldom is. */
	elide_locks.mask = 2 * elide_power_of_two(max_locks) - 1;
	elide_locks.state = elide_reserve(nr_slots() * sizeof(*elide_locks.state));
	elide_locks.holders = elide_reserve(nr_slots() * sizeof(*elide_locks.holders));
	elide_locks.users = elide_reserve(nr_slots() * sizeof(*elide_locks.users));
	if (!elide_locks.state || !elide_locks.holders || !elide_locks.users)
		return -ENOMEM;
	return elide_class_start(max_classes);
}

void elide_registry_use(uint32_t index, uint32_t class_index, uint32_t user)
{
	uint32_t *users = &elide_locks.users[index], old;

	if (likely(elide_class_info(class_index)->nr_shared >= ELIDE_SHARED_COUNTED))
		return;
	old = READ_ONCE(*users);
	if (old == user || old == ELIDE_NONE)
		return;
	/* Relaxed: nothing else is read that depends on it. */
	if (!old && __atomic_compare_exchange_n(users, &old, user, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
		return;
	if (old == user || __atomic_exchange_n(users, ELIDE_NONE, __ATOMIC_RELAXED) == ELIDE_NONE)
		return;
	elide_class_count_shared(class_index);
}

static void raise_generation(const void *lock)
{
	/* Release; pairs with the acquire in cache.c before the look-up of the lock. */
	elide_add_shared(elide_generation(lock), 1);
}

static uint64_t key_of(const void *lock, uint32_t class_index)
{
	return (uint64_t)(uintptr_t)lock << ELIDE_CLASS_BITS | class_index;
}

static bool key_is_of(uint64_t key, const void *lock)
{
	return key >> ELIDE_CLASS_BITS == (uintptr_t)lock;
}

static bool change_key(uint32_t index, uint64_t from, uint64_t to)
{
	if (__libc_single_threaded && READ_ONCE(elide_locks.state[index].key) == from) {
		WRITE_ONCE(elide_locks.state[index].key, to);
		return true;
	}
	/* Release pairs with elide_registry_find(); sequentially consistent for drop_twins(). */
	return __atomic_compare_exchange_n(&elide_locks.state[index].key, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* A slot for @lock: its own, else the first released or empty one. *@key: the key in it now. */
static uint32_t slot_for(const void *lock, uint64_t *key)
{
	uint32_t first = elide_registry_home(lock), found = ELIDE_NONE;

	for (uint32_t i = first; i < first + ELIDE_SLOTS; i++) {
		uint64_t k = READ_ONCE(elide_locks.state[i].key);

		if (key_is_of(k, lock)) {
			*key = k;
			return i;
		}
		if (found == ELIDE_NONE && (!k || k == RELEASED)) {
			found = i;
			*key = k;
		}
		if (!k)
			break;
	}
	return found;
}

/*
 * Two threads may have registered the lock in two slots at once. The lower slot stays. Each thread
 * has written its own key before it searches for the other's, so at least one of them finds both.
 * *@mine: the slot of the caller; set to the one that stays. Return: this call has released one.
 */
static bool drop_twins(const void *lock, uint32_t *mine, uint64_t own_key)
{
	uint32_t first = elide_registry_home(lock);
	bool dropped = false;

	for (uint32_t i = first; i < first + ELIDE_SLOTS; i++) {
		uint64_t key = __atomic_load_n(&elide_locks.state[i].key, __ATOMIC_SEQ_CST);

		if (!key)
			break;
		if (i == *mine || !key_is_of(key, lock))
			continue;
		if (i > *mine)
			return change_key(i, key, RELEASED) || dropped;
		dropped = change_key(*mine, own_key, RELEASED);
		*mine = i;
		return dropped;
	}
	return dropped;
}

bool elide_registry_full(void)
{
	return READ_ONCE(registry.nr_locks) >= registry.max_locks;
}

/*
 * Give the lock a slot. Lock-free: other threads may do so at the same time, in a slow path or not.
 * Return: its index; ELIDE_NONE if there is no room.
 */
static uint32_t slot_take(const void *lock, uint32_t class_index, bool initialised)
{
	uint64_t key = key_of(lock, class_index), old = 0;
	uint32_t index;
	bool fresh;

	do {
		index = slot_for(lock, &old);
		if (index == ELIDE_NONE)
			return ELIDE_NONE;
		fresh = !key_is_of(old, lock);
		if (!fresh && !initialised)
			return index; /* another thread found it first */
		if (fresh && elide_registry_full())
			return ELIDE_NONE;
		/* Of a slot that was never used nothing is set, and its lines need not be touched. */
		if (old) {
			elide_locks.state[index].policy = (struct policy_lock){0};
			WRITE_ONCE(elide_locks.holders[index], 0);
			WRITE_ONCE(elide_locks.users[index], 0);
		}
		test_point(new_publish);
	} while (!change_key(index, old, key));
	if (fresh && drop_twins(lock, &index, key))
		return index;
	elide_class_count(class_index);
	if (fresh)
		elide_add_shared(&registry.nr_locks, 1);
	raise_generation(lock);
	return index;
}

/* A key has room for an address of 48 bits. */
static bool has_room_for(const void *lock)
{
	return !((uintptr_t)lock >> (64 - ELIDE_CLASS_BITS));
}

uint32_t elide_registry_add(const void *lock, enum elide_kind kind, const void *site,
			    bool initialised, bool shared)
{
	uint32_t index, class_index;

	if (!has_room_for(lock))
		return ELIDE_NONE;
	index = elide_registry_find(lock);
	if (index != ELIDE_NONE && !initialised)
		return index; /* another thread found it first */
	class_index = elide_class_of(lock, kind, site, initialised, shared);
	if (class_index == ELIDE_NONE)
		return ELIDE_NONE;
	index = slot_take(lock, class_index, initialised);
	if (index == ELIDE_NONE && elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_LOCKS], 1, __ATOMIC_RELAXED);
	return index;
}

uint32_t elide_registry_add_known(const void *lock, enum elide_kind kind, const void *site,
				  bool initialised, bool shared)
{
	uint32_t class_index;

	if (!has_room_for(lock))
		return ELIDE_NONE;
	class_index = elide_class_of_known(lock, kind, site, initialised, shared);
	return class_index == ELIDE_NONE ? ELIDE_NONE : slot_take(lock, class_index, initialised);
}

bool elide_registry_add_again(const void *lock, enum elide_kind kind, const void *site,
			      bool shared)
{
	uint64_t *key = &elide_locks.state[elide_registry_home(lock)].key;
	uint32_t class_index;

	if (unlikely(!__libc_single_threaded || *key || elide_registry_full()))
		return false;
	class_index = elide_class_count_again(lock, kind, site, shared);
	if (unlikely(class_index == ELIDE_NONE))
		return false;
	WRITE_ONCE(*key, key_of(lock, class_index));
	registry.nr_locks++;
	raise_generation(lock);
	return true;
}

void elide_registry_remove(const void *lock)
{
	uint32_t index = elide_registry_find(lock);
	uint64_t key;

	if (index == ELIDE_NONE)
		return;
	key = READ_ONCE(elide_locks.state[index].key);
	if (!key_is_of(key, lock) || !change_key(index, key, RELEASED))
		return;
	raise_generation(lock);
	elide_add_shared(&registry.nr_locks, -1);
}

void elide_registry_forget(const void *start, const void *end)
{
	for (size_t i = 0; i < nr_slots(); i++) {
		uintptr_t lock = READ_ONCE(elide_locks.state[i].key) >> ELIDE_CLASS_BITS;

		if (lock >= (uintptr_t)start && lock < (uintptr_t)end)
			elide_registry_remove((const void *)lock);
	}
	elide_registry_distrust();
}

void elide_registry_distrust(void)
{
	for (uint32_t i = 0; i < ELIDE_NR_GENERATIONS; i++)
		elide_add_shared(&elide_generations[i], 1);
}

void elide_registry_save(void)
{
	/* In a forked child no thread has used a lock yet. */
	sys_madvise(elide_locks.users, nr_slots() * sizeof(*elide_locks.users), MADV_DONTNEED);
	elide_class_save();
}

struct policy_lock *elide_policy_of(const void *lock)
{
	static struct policy_lock nobody;
	uint32_t index = elide_registry_find(lock);

	return index == ELIDE_NONE ? &nobody : &elide_registry_state(index)->policy;
}
