/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.c - see registry.h.
 *
 * Classes: a small hash from (type, address, kind, shared) to an index. Longer than 500 lines,
 * because the lock-free paths and those under the engine's lock that they race with are read
 * together.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#include "../base/datafile-writer.h"
#include "../base/testpoint.h"
#include "array.h"
#include "modules.h"
#include "registry.h"

#define RELEASED 1ull

uint32_t elide_generations[ELIDE_NR_GENERATIONS];
struct elide_locks elide_locks;

/* A class in memory. The copy in the data file shares its first member. */
struct class {
	struct elide_class info;
	bool shared;
	const void *site; /* that registered its first lock */
	struct elide_class *saved; /* in the data file, or NULL if it is full */
};

static struct {
	/* By index of the lock; not in struct elide_lock_state, as look-ups do not need them. */
	uint64_t *holders; /* see elide_registry_holder() */
	uint32_t *users;   /* the thread that uses the lock; 0: none; ELIDE_NONE: several */
	uint32_t max_locks;
	uint32_t nr_locks; /* atomic */
	struct class *classes;
	uint32_t *buckets; /* class index + 1 */
	uint32_t nr_buckets, max_classes, nr_classes;
	struct elide_chunk *chunk;
} registry;

/* By number of the module: whether its symbols were read, and name its data. */
static enum { UNREAD, STRIPPED, NAMED } symbols[ELIDE_MAX_MODULES];

/* Size of a page: objects' data is mapped by whole pages. */
#define PAGE 4096

/*
 * The class of the locks in one page that one call registers.
 * @page: number of the page, in which no object's data lies
 * @site: return address of the call; NULL if nothing is known
 * @kind: enum elide_kind
 * @initialised, @shared: see elide_registry_add()
 * @index: index of the class
 * @changes: times that the structure was written; shows that a signal handler did so meanwhile
 */
struct last_class {
	uintptr_t page;
	const void *site;
	enum elide_kind kind;
	bool initialised;
	bool shared;
	uint32_t index;
	uint32_t changes;
};

/* The last class found in a slow path, and the last that this thread found outside of them. */
static struct last_class last;
static __thread struct last_class own;

/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
static uint64_t hash(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 20;
}

static void *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint32_t power_of_two_above(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static size_t nr_slots(void)
{
	return elide_locks.mask + ELIDE_SLOTS;
}

int elide_registry_start(uint32_t max_locks, uint32_t max_classes)
{
	registry.max_locks = max_locks;
	registry.max_classes = max_classes;
	/* At most half full, so that a neighbourhood seldom is. */
	elide_locks.mask = 2 * power_of_two_above(max_locks) - 1;
	registry.nr_buckets = 2 * power_of_two_above(max_classes);
	elide_locks.state = reserve(nr_slots() * sizeof(*elide_locks.state));
	registry.holders = reserve(nr_slots() * sizeof(*registry.holders));
	registry.users = reserve(nr_slots() * sizeof(*registry.users));
	registry.classes = reserve(max_classes * sizeof(*registry.classes));
	registry.buckets = reserve(registry.nr_buckets * sizeof(*registry.buckets));
	if (!elide_locks.state || !registry.holders || !registry.users || !registry.classes ||
	    !registry.buckets)
		return -ENOMEM;
	memset(symbols, 0, sizeof(symbols));
	last.site = NULL;
	return elide_array_start();
}

uint64_t elide_registry_holder(uint32_t index)
{
	return READ_ONCE(registry.holders[index]);
}

void elide_registry_set_holder(uint32_t index, const void *site, enum elide_kind kind)
{
	WRITE_ONCE(registry.holders[index], (uintptr_t)site * (ELIDE_HOLDER_KIND + 1) | kind);
}

void elide_registry_use(uint32_t index, uint32_t class_index, uint32_t user)
{
	uint32_t *users = &registry.users[index], old = READ_ONCE(*users);
	struct class *c = &registry.classes[class_index];

	if (likely(old == user || old == ELIDE_NONE))
		return;
	/* Relaxed: nothing else is read that depends on it. */
	if (!old && __atomic_compare_exchange_n(users, &old, user, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
		return;
	if (old == user || __atomic_exchange_n(users, ELIDE_NONE, __ATOMIC_RELAXED) == ELIDE_NONE)
		return;
	__atomic_add_fetch(&c->info.nr_shared, 1, __ATOMIC_RELAXED);
	if (c->saved)
		__atomic_add_fetch(&c->saved->nr_shared, 1, __ATOMIC_RELAXED);
}

bool elide_registry_class_shared(uint32_t class_index)
{
	return registry.classes[class_index].shared;
}

const struct elide_class *elide_registry_class_info(uint32_t class_index)
{
	return &registry.classes[class_index].info;
}

static void drop(enum elide_dropped what)
{
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[what], 1, __ATOMIC_RELAXED);
}

static void class_save(struct class *c)
{
	c->saved = elide_data_record(&registry.chunk, ELIDE_CHUNK_CLASSES, sizeof(c->info));
	if (!c->saved)
		return;
	*c->saved = c->info;
	elide_data_publish(registry.chunk);
}

/*
 * The bucket of a class: its own or, where it has none yet, an empty one. Lock-free: acquire
 * pairs with the release in class_make(), after which the class is whole.
 */
static uint32_t *class_bucket(const struct elide_class *wanted, bool shared)
{
	uint64_t h = hash(wanted->address ^ (uint64_t)wanted->type << 56 ^
			  (uint64_t)wanted->kind << 60 ^ shared);
	uint32_t mask = registry.nr_buckets - 1, number;

	for (uint32_t i = h & mask;; i = (i + 1) & mask) {
		const struct class *c;

		number = __atomic_load_n(&registry.buckets[i], __ATOMIC_ACQUIRE);
		c = &registry.classes[number - 1];
		if (!number ||
		    (c->info.address == wanted->address && c->info.type == wanted->type &&
		     c->info.kind == wanted->kind && c->shared == shared))
			return &registry.buckets[i];
	}
}

/* Lock-free. */
static uint32_t class_known(const struct elide_class *wanted, bool shared)
{
	uint32_t number = READ_ONCE(*class_bucket(wanted, shared));

	return number ? number - 1 : ELIDE_NONE;
}

static uint32_t class_find(const struct elide_class *wanted, bool shared)
{
	uint32_t *bucket = class_bucket(wanted, shared);
	struct class *c;

	if (*bucket)
		return *bucket - 1;
	if (registry.nr_classes == registry.max_classes) {
		drop(ELIDE_DROPPED_CLASSES);
		return ELIDE_NONE;
	}
	elide_module_of((const void *)wanted->address);
	c = &registry.classes[registry.nr_classes];
	c->info = *wanted;
	c->shared = shared;
	class_save(c);
	registry.nr_classes++;
	__atomic_store_n(bucket, registry.nr_classes, __ATOMIC_RELEASE); /* pairs with class_bucket() */
	return registry.nr_classes - 1;
}

/* The data that contains the lock and may be an array of locks; NULL if there is none. */
static struct elide_array *array_of(const struct elide_module *m, const void *lock)
{
	if (symbols[elide_module_number(m)] == UNREAD)
		/* Pairs with static_class_known(). */
		__atomic_store_n(&symbols[elide_module_number(m)], elide_array_read(m) ? NAMED : STRIPPED,
				 __ATOMIC_RELEASE);
	return elide_array_find(m, (uintptr_t)lock);
}

/* A second lock was found in the data: it is an array, and the class is that of all its locks. */
static void become_array(const struct elide_array *a)
{
	struct class *c = &registry.classes[a->class_index];
	uint32_t size = a->size < UINT32_MAX ? a->size : UINT32_MAX;

	c->info.address = a->start;
	c->info.array = size;
	if (c->saved) {
		c->saved->address = a->start;
		c->saved->array = size;
	}
}

/* Are ELIDE_ARRAY_LOCKS static locks without names known that were first locked at @site? */
static bool is_crowd(const struct elide_module *m, const void *site, uint32_t kind)
{
	uint32_t nr = 0;

	if (symbols[elide_module_number(m)] != STRIPPED)
		return false;
	for (uint32_t i = 0; i < registry.nr_classes && nr < ELIDE_ARRAY_LOCKS; i++) {
		const struct class *c = &registry.classes[i];

		nr += c->info.type == ELIDE_CLASS_STATIC && c->site == site &&
		      c->info.kind == kind && c->info.address - m->start < m->end - m->start;
	}
	return nr == ELIDE_ARRAY_LOCKS;
}

/*
 * A lock in an object's data has a name of its own, however it was initialised. In an
 * array all locks have one name, and a class. In an object without symbols arrays are not
 * known: there the first ELIDE_ARRAY_LOCKS locks that are met at a call are a class each, and
 * further ones are of the call's.
 */
static uint32_t static_class(const struct elide_module *m, const void *lock,
			     struct elide_class *wanted, bool shared)
{
	const void *site = (const void *)wanted->address;
	struct elide_array *a = array_of(m, lock);
	uint32_t index;

	if (a && a->first && elide_array_has(a, (uintptr_t)lock, wanted->kind, shared)) {
		if (a->first != (uintptr_t)lock)
			become_array(a);
		return a->class_index;
	}
	if (!a && is_crowd(m, site, wanted->kind))
		return class_find(wanted, shared);
	wanted->type = ELIDE_CLASS_STATIC;
	wanted->address = (uintptr_t)lock;
	index = class_find(wanted, shared);
	if (index == ELIDE_NONE)
		return ELIDE_NONE;
	registry.classes[index].site = site;
	if (a && !a->first) {
		a->class_index = index;
		a->kind = wanted->kind;
		a->shared = shared;
		/* Pairs with static_class_known(). */
		__atomic_store_n(&a->first, (uintptr_t)lock, __ATOMIC_RELEASE);
	}
	return index;
}

/* The class that static_class() would find without a change to anything. Lock-free. */
static uint32_t static_class_known(const struct elide_module *m, const void *lock,
				   const struct elide_class *wanted, bool shared)
{
	struct elide_class named = *wanted;
	const struct elide_array *a;

	if (__atomic_load_n(&symbols[elide_module_number(m)], __ATOMIC_ACQUIRE) == UNREAD)
		return ELIDE_NONE;
	named.type = ELIDE_CLASS_STATIC;
	named.address = (uintptr_t)lock;
	a = elide_array_find(m, (uintptr_t)lock);
	if (!a)
		return class_known(&named, shared);
	/* Pairs with static_class(): acquire. */
	if (!__atomic_load_n(&a->first, __ATOMIC_ACQUIRE) ||
	    !elide_array_has(a, (uintptr_t)lock, wanted->kind, shared))
		return ELIDE_NONE;
	return a->first == (uintptr_t)lock || registry.classes[a->class_index].info.array ?
		       a->class_index :
		       ELIDE_NONE;
}

/* What decides the class of a lock: the call, and the page that the lock lies in. */
static struct last_class key_of(const void *lock, enum elide_kind kind, const void *site,
				bool initialised, bool shared)
{
	return (struct last_class){
		.page = (uintptr_t)lock / PAGE,
		.site = site,
		.kind = kind,
		.initialised = initialised,
		.shared = shared,
	};
}

/* So a call that initialises thousands of locks in a row searches the objects once for a page. */
static bool is_last(const struct last_class *l, const struct last_class *key)
{
	return l->page == key->page && l->site == key->site && l->kind == key->kind &&
	       l->initialised == key->initialised && l->shared == key->shared;
}

/*
 * The class of @index has the locks of @key. A signal handler may leave this function by a jump, or
 * call it: @site is set only if all other fields were written by one caller.
 */
static void remember(struct last_class *l, const struct last_class *key,
		     uint32_t index)
{
	uint32_t change = ++l->changes;

	WRITE_ONCE(l->site, NULL);
	barrier();
	l->page = key->page;
	l->kind = key->kind;
	l->initialised = key->initialised;
	l->shared = key->shared;
	l->index = index;
	test_point(known_publish);
	barrier();
	WRITE_ONCE(l->site, key->site);
	barrier();
	if (READ_ONCE(l->changes) != change)
		WRITE_ONCE(l->site, NULL);
}

static struct elide_class class_wanted(const struct last_class *key)
{
	return (struct elide_class){
		.type = key->initialised ? ELIDE_CLASS_INIT : ELIDE_CLASS_FIRST,
		.kind = key->kind == ELIDE_KIND_RWLOCK_WRITE ? ELIDE_KIND_RWLOCK_READ : key->kind,
		.address = (uintptr_t)key->site,
	};
}

static uint32_t class_of(const void *lock, const struct last_class *key)
{
	const struct elide_module *m;
	struct elide_class wanted;
	uint32_t index;

	if (is_last(&last, key))
		return last.index;
	m = elide_module_of(lock);
	wanted = class_wanted(key);
	if (m)
		return static_class(m, lock, &wanted, key->shared);
	index = class_find(&wanted, key->shared);
	if (index != ELIDE_NONE)
		remember(&last, key, index);
	return index;
}

/* The class that class_of() would find without a change to anything. Lock-free. */
static uint32_t class_of_known(const void *lock, const struct last_class *key)
{
	const struct elide_module *m;
	struct elide_class wanted;
	uint32_t index;
	bool in_object;

	if (is_last(&own, key))
		return own.index;
	m = elide_module_known(lock, &in_object);
	if (in_object && !m)
		return ELIDE_NONE;
	wanted = class_wanted(key);
	if (m)
		return static_class_known(m, lock, &wanted, key->shared);
	index = class_known(&wanted, key->shared);
	if (index != ELIDE_NONE)
		remember(&own, key, index);
	return index;
}

/*
 * Add to a counter that other threads add to at the same time. Without other threads no locked
 * instruction is needed, which would cost about 20 cycles (A. Fog, "Instruction tables"). Release:
 * see raise_generation().
 */
#define add(counter, n)                                              \
	do {                                                         \
		if (__libc_single_threaded)                          \
			WRITE_ONCE(*(counter), *(counter) + (n));    \
		else                                                 \
			__atomic_add_fetch(counter, n, __ATOMIC_RELEASE); \
	} while (0)

static void raise_generation(const void *lock)
{
	/* Release; pairs with the acquire in cache.c before the look-up of the lock. */
	add(elide_generation(lock), 1);
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

/* Count one more lock of its class. */
static void class_count(uint32_t class_index)
{
	struct class *c = &registry.classes[class_index];

	add(&c->info.nr_locks, 1);
	if (c->saved)
		add(&c->saved->nr_locks, 1);
}

/*
 * Give the lock a slot. Lock-free: other threads may do so at the same time, in a slow path or not.
 * Return: its index; ELIDE_NONE if there is no room.
 */
static uint32_t slot_take(const void *lock, uint32_t class_index, bool initialised)
{
	uint64_t key = (uint64_t)(uintptr_t)lock << ELIDE_CLASS_BITS | class_index, old = 0;
	uint32_t index;
	bool fresh;

	do {
		index = slot_for(lock, &old);
		if (index == ELIDE_NONE)
			return ELIDE_NONE;
		fresh = !key_is_of(old, lock);
		if (!fresh && !initialised)
			return index; /* another thread found it first */
		if (fresh && READ_ONCE(registry.nr_locks) >= registry.max_locks)
			return ELIDE_NONE;
		elide_locks.state[index].policy = (struct policy_lock){0};
		WRITE_ONCE(registry.holders[index], 0);
		WRITE_ONCE(registry.users[index], 0);
		test_point(new_publish);
	} while (!change_key(index, old, key));
	if (fresh && drop_twins(lock, &index, key))
		return index;
	class_count(class_index);
	if (fresh)
		add(&registry.nr_locks, 1);
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
	struct last_class key = key_of(lock, kind, site, initialised, shared);
	uint32_t index, class_index;

	if (!has_room_for(lock))
		return ELIDE_NONE;
	index = elide_registry_find(lock);
	if (index != ELIDE_NONE && !initialised)
		return index; /* another thread found it first */
	class_index = class_of(lock, &key);
	if (class_index == ELIDE_NONE)
		return ELIDE_NONE;
	index = slot_take(lock, class_index, initialised);
	if (index == ELIDE_NONE)
		drop(ELIDE_DROPPED_LOCKS);
	return index;
}

uint32_t elide_registry_add_known(const void *lock, enum elide_kind kind, const void *site,
				  bool initialised, bool shared)
{
	struct last_class key = key_of(lock, kind, site, initialised, shared);
	uint32_t class_index;

	if (!has_room_for(lock))
		return ELIDE_NONE;
	class_index = class_of_known(lock, &key);
	return class_index == ELIDE_NONE ? ELIDE_NONE : slot_take(lock, class_index, initialised);
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
	add(&registry.nr_locks, -1);
}

void elide_registry_save(void)
{
	registry.chunk = NULL;
	/* In a forked child no thread has used a lock yet. */
	madvise(registry.users, nr_slots() * sizeof(*registry.users), MADV_DONTNEED);
	elide_modules_save();
	for (uint32_t i = 0; i < registry.nr_classes; i++) {
		registry.classes[i].info.nr_shared = 0;
		class_save(&registry.classes[i]);
	}
}
