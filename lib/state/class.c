/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* class.c - see class.h. A small hash from (type, address, kind, shared) to an index. */
#include <errno.h>
#include <string.h>

#include "../base/datafile-writer.h"
#include "../base/reserve.h"
#include "../base/testpoint.h"
#include "array.h"
#include "class.h"
#include "modules.h"

/*
 * A class in memory. Any thread may write the counts in @info at any time, so what elided sections read is
 * not in here, but in classes.shared.
 */
struct class {
	struct elide_class info;
	const void *site; /* that registered its first lock, as it is recorded */
	struct elide_class *saved; /* copy in the data file, or NULL if that is full */
};

static struct {
	struct class *all;
	bool *shared; /* by index: process-shared; apart, as elided sections read it */
	uint32_t *buckets; /* class index + 1 */
	uint32_t nr_buckets, max_classes, nr_classes;
	uint32_t beyond[ELIDE_NR_KINDS]; /* by kind of a class: index + 1 */
	struct elide_chunk *chunk;
} classes;

/* By number of the module: were its symbols read, and do they name all data? */
static enum { UNREAD, STRIPPED, NAMED } symbols[ELIDE_MAX_MODULES];

/* Size of a page: objects' data is mapped by whole pages. */
#define PAGE 4096

/*
 * The class of the locks in one page that one call registers.
 * @page: number of the page, which no object has
 * @site: return address of the call; NULL: the structure is not valid
 * @how: how_of() the call
 * @index: index of the class
 * @changes: times that the structure was written; shows that a signal handler did so meanwhile
 */
struct last_class {
	uintptr_t page;
	const void *site;
	uint32_t how;
	uint32_t index;
	uint32_t changes;
};

uint64_t elide_inits[ELIDE_NR_INITS];

/* The last class found in a global-lock path, and the last that this thread found outside of them. */
static struct last_class last;
static __thread struct last_class own;

/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
static uint64_t class_hash(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 20;
}

int elide_class_start(uint32_t max_classes)
{
	/* With the classes of locks for which there is no room. */
	const uint32_t nr = max_classes + ELIDE_NR_KINDS;

	classes.max_classes = max_classes;
	classes.nr_buckets = 2 * elide_power_of_two(nr);
	classes.all = elide_reserve(nr * sizeof(*classes.all));
	classes.shared = elide_reserve(nr * sizeof(*classes.shared));
	classes.buckets = elide_reserve(classes.nr_buckets * sizeof(*classes.buckets));
	if (!classes.all || !classes.shared || !classes.buckets)
		return -ENOMEM;
	memset(symbols, 0, sizeof(symbols));
	memset(elide_inits, 0, sizeof(elide_inits));
	last.site = NULL;
	return elide_array_start();
}

static void drop(enum elide_dropped what)
{
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[what], 1, __ATOMIC_RELAXED);
}

/* Is there no room for a further class? */
static bool is_full(void)
{
	return READ_ONCE(classes.nr_classes) >= classes.max_classes;
}

void elide_class_refuse(void)
{
	drop(ELIDE_DROPPED_CLASSES);
}

bool elide_class_shared(uint32_t class_index)
{
	return classes.shared[class_index];
}

const struct elide_class *elide_class_info(uint32_t class_index)
{
	return &classes.all[class_index].info;
}

static void class_save(struct class *c)
{
	c->saved = elide_data_record(&classes.chunk, ELIDE_CHUNK_CLASSES, sizeof(c->info));
	if (!c->saved)
		return;
	*c->saved = c->info;
	elide_data_publish(classes.chunk);
}

/*
 * The bucket of a class, or an empty one if it has none yet. Lock-free: acquire pairs with the release in
 * class_find(), before which the class is whole.
 */
static uint32_t *class_bucket(const struct elide_class *wanted, bool shared)
{
	uint64_t h = class_hash(wanted->address ^ (uint64_t)wanted->type << 56 ^
			  (uint64_t)wanted->kind << 60 ^ shared);
	uint32_t mask = classes.nr_buckets - 1, number;

	for (uint32_t i = h & mask;; i = (i + 1) & mask) {
		const struct class *c;

		number = __atomic_load_n(&classes.buckets[i], __ATOMIC_ACQUIRE);
		c = &classes.all[number - 1];
		if (!number ||
		    (c->info.address == wanted->address && c->info.type == wanted->type &&
		     c->info.kind == wanted->kind && classes.shared[number - 1] == shared))
			return &classes.buckets[i];
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
	if (is_full() && wanted->type != ELIDE_CLASS_BEYOND) {
		drop(ELIDE_DROPPED_CLASSES);
		return ELIDE_NONE;
	}
	if (wanted->address)
		elide_module_of_past(wanted->address);
	c = &classes.all[classes.nr_classes];
	c->info = *wanted;
	classes.shared[classes.nr_classes] = shared;
	class_save(c);
	classes.nr_classes++;
	__atomic_store_n(bucket, classes.nr_classes, __ATOMIC_RELEASE); /* pairs with class_bucket() */
	return classes.nr_classes - 1;
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

/* A second lock was found in the data: it is an array, and all its locks have one class. */
static void become_array(const struct elide_array *a)
{
	struct class *c = &classes.all[a->class_index];
	uint32_t size = a->size < UINT32_MAX ? a->size : UINT32_MAX;

	c->info.address = a->start | elide_module_mark(a->module);
	c->info.array = size;
	if (c->saved) {
		c->saved->address = c->info.address;
		c->saved->array = size;
	}
}

/* Are ELIDE_ARRAY_LOCKS nameless static locks known that were first locked at @site? */
static bool is_crowd(const struct elide_module *m, const void *site, uint32_t kind)
{
	uint32_t nr = 0;

	if (symbols[elide_module_number(m)] != STRIPPED)
		return false;
	for (uint32_t i = 0; i < classes.nr_classes && nr < ELIDE_ARRAY_LOCKS; i++) {
		const struct class *c = &classes.all[i];

		nr += c->info.type == ELIDE_CLASS_STATIC && c->site == site &&
		      c->info.kind == kind &&
		      c->info.address - elide_module_mark(m) - m->start < m->end - m->start;
	}
	return nr == ELIDE_ARRAY_LOCKS;
}

/*
 * A lock in an object's data has a name and class of its own, however it was initialised. All locks of an
 * array have one name and class. In an object without symbols arrays are not known: there the first
 * ELIDE_ARRAY_LOCKS locks that a call meets are a class each, and further ones have the class of the call.
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
	wanted->address = (uintptr_t)lock | elide_module_mark(m);
	index = class_find(wanted, shared);
	if (index == ELIDE_NONE)
		return ELIDE_NONE;
	classes.all[index].site = site;
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
static __noinline uint32_t static_class_known(const struct elide_module *m, const void *lock,
					      enum elide_kind kind, bool shared)
{
	const struct elide_class wanted = {
		.type = ELIDE_CLASS_STATIC,
		.kind = elide_class_kind(kind),
		.address = (uintptr_t)lock | elide_module_mark(m),
	};
	const struct elide_array *a;

	if (__atomic_load_n(&symbols[elide_module_number(m)], __ATOMIC_ACQUIRE) == UNREAD)
		return ELIDE_NONE;
	a = elide_array_find(m, (uintptr_t)lock);
	if (!a)
		return class_known(&wanted, shared);
	/* Pairs with static_class(): acquire. */
	if (!__atomic_load_n(&a->first, __ATOMIC_ACQUIRE) ||
	    !elide_array_has(a, (uintptr_t)lock, wanted.kind, shared))
		return ELIDE_NONE;
	return a->first == (uintptr_t)lock || classes.all[a->class_index].info.array ?
		       a->class_index :
		       ELIDE_NONE;
}

/* Would static_class() find no room for sure? */
static bool static_class_refused(const struct elide_module *m, const void *lock, uint32_t kind,
				 bool shared)
{
	uint32_t read = __atomic_load_n(&symbols[elide_module_number(m)], __ATOMIC_ACQUIRE);
	const struct elide_array *a = read == UNREAD ? NULL : elide_array_find(m, (uintptr_t)lock);

	if (!a)
		return read == NAMED;
	/* A second lock makes it an array. */
	return !__atomic_load_n(&a->first, __ATOMIC_ACQUIRE) ||
	       !elide_array_has(a, (uintptr_t)lock, kind, shared);
}

bool elide_class_refused(const void *lock, enum elide_kind kind, bool shared)
{
	const struct elide_module *m;
	bool in_object;

	if (likely(!is_full()))
		return false;
	m = elide_module_known(lock, &in_object);
	return m ? static_class_refused(m, lock, elide_class_kind(kind), shared) : !in_object;
}

/* What else the class depends on, as one number. */
static __always_inline_fn uint32_t how_of(enum elide_kind kind, bool initialised, bool shared)
{
	return READ_ONCE(elide_modules_epoch) << 8 | kind << 2 | initialised << 1 | shared;
}

/* What decides the class of a lock: the call, and the page that the lock lies in. */
static struct last_class key_of(const void *lock, enum elide_kind kind, const void *site,
				bool initialised, bool shared)
{
	return (struct last_class){
		.page = (uintptr_t)lock / PAGE,
		.site = site,
		.how = how_of(kind, initialised, shared),
	};
}

/* Saves a call that initialises thousands of locks in a row the search of the objects, but for one a page. */
static __always_inline_fn bool is_last(const struct last_class *l, const void *lock,
				       enum elide_kind kind, const void *site, bool initialised,
				       bool shared)
{
	return l->page == (uintptr_t)lock / PAGE && l->site == site &&
	       l->how == how_of(kind, initialised, shared);
}

/*
 * The locks of @key have the class @index. A signal handler may leave this function by longjmp(), or call
 * it: @site is set only if one caller has written all other fields.
 */
static void remember(struct last_class *l, const struct last_class *key,
		     uint32_t index)
{
	uint32_t change = ++l->changes;

	WRITE_ONCE(l->site, NULL);
	barrier();
	l->page = key->page;
	l->how = key->how;
	l->index = index;
	test_point(known_publish);
	barrier();
	WRITE_ONCE(l->site, key->site);
	barrier();
	if (READ_ONCE(l->changes) != change)
		WRITE_ONCE(l->site, NULL);
}

/* Locks that the call initialises have that class; see elide_class_by_site(). */
static void remember_init(enum elide_kind kind, const void *site, bool shared, uint32_t index)
{
	if (!((uintptr_t)site >> 48))
		WRITE_ONCE(elide_inits[(uintptr_t)site % ELIDE_NR_INITS],
			   elide_init_word(kind, site, shared) | index);
}

/* @site: as it is recorded. */
static struct elide_class class_wanted(enum elide_kind kind, uint64_t site, bool initialised)
{
	return (struct elide_class){
		.type = initialised ? ELIDE_CLASS_INIT : ELIDE_CLASS_FIRST,
		.kind = elide_class_kind(kind),
		.address = site,
	};
}

uint32_t elide_class_of(const void *lock, enum elide_kind kind, const void *site, bool initialised,
			bool shared)
{
	const struct last_class key = key_of(lock, kind, site, initialised, shared);
	const struct elide_module *m;
	struct elide_class wanted;
	uint32_t index;

	if (is_last(&last, lock, kind, site, initialised, shared))
		return last.index;
	m = elide_module_of(lock);
	wanted = class_wanted(kind, elide_recorded(site), initialised);
	if (m)
		return static_class(m, lock, &wanted, shared);
	index = class_find(&wanted, shared);
	if (index != ELIDE_NONE)
		remember(&last, &key, index);
	return index;
}

/* The class of a lock that is not in an object's data, for elide_class_of_known(). @key: made before all else */
static __noinline uint32_t class_of_call_known(const struct last_class *key, enum elide_kind kind,
					       uint64_t recorded, bool initialised, bool shared)
{
	const struct elide_class wanted = class_wanted(kind, recorded, initialised);
	uint32_t index = class_known(&wanted, shared);

	if (index != ELIDE_NONE)
		remember(&own, key, index);
	if (index != ELIDE_NONE && initialised)
		remember_init(kind, key->site, shared, index);
	return index;
}

/* Its parts are not inlined: what they have on the stack would be part of each thread's first call. */
uint32_t elide_class_of_known(const void *lock, enum elide_kind kind, const void *site,
			      bool initialised, bool shared)
{
	const struct last_class key = key_of(lock, kind, site, initialised, shared);
	const struct elide_module *m;
	uint64_t recorded;
	bool in_object;

	if (is_last(&own, lock, kind, site, initialised, shared))
		return own.index;
	m = elide_module_known(lock, &in_object);
	if (in_object && !m)
		return ELIDE_NONE;
	if (!elide_recorded_call(site, &recorded))
		return ELIDE_NONE;
	return m ? static_class_known(m, lock, kind, shared) :
		   class_of_call_known(&key, kind, recorded, initialised, shared);
}

void elide_class_forget(void)
{
	for (int i = 0; i < ELIDE_NR_INITS; i++)
		WRITE_ONCE(elide_inits[i], 0);
}

void elide_class_count(uint32_t class_index, uint32_t nr)
{
	struct class *c = &classes.all[class_index];

	elide_add_shared(&c->info.nr_locks, nr);
	if (likely(c->saved))
		elide_add_shared(&c->saved->nr_locks, nr);
}

uint32_t elide_class_beyond(enum elide_kind kind)
{
	/* Pairs with elide_class_make_beyond(). */
	uint32_t number = __atomic_load_n(&classes.beyond[elide_class_kind(kind)], __ATOMIC_ACQUIRE);

	return number ? number - 1 : ELIDE_NONE;
}

uint32_t elide_class_make_beyond(enum elide_kind kind)
{
	const struct elide_class wanted = {
		.type = ELIDE_CLASS_BEYOND,
		.kind = elide_class_kind(kind),
	};

	if (!classes.beyond[wanted.kind])
		__atomic_store_n(&classes.beyond[wanted.kind], class_find(&wanted, false) + 1,
				 __ATOMIC_RELEASE);
	return elide_class_beyond(kind);
}

void elide_class_count_shared(uint32_t class_index)
{
	struct class *c = &classes.all[class_index];

	__atomic_add_fetch(&c->info.nr_shared, 1, __ATOMIC_RELAXED);
	if (c->saved)
		__atomic_add_fetch(&c->saved->nr_shared, 1, __ATOMIC_RELAXED);
}

void elide_class_save(void)
{
	classes.chunk = NULL;
	elide_modules_save();
	for (uint32_t i = 0; i < classes.nr_classes; i++) {
		classes.all[i].info.nr_shared = 0;
		class_save(&classes.all[i]);
	}
}
