/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.c - see registry.h.
 *
 * Classes: a small hash from (type, address, kind, shared) to an index.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "array.h"
#include "datafile-writer.h"
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
	uint64_t *holders; /* of the lock in the slot of that index; apart, for look-ups do not need them */
	uint32_t max_locks, nr_locks;
	struct class *classes;
	uint32_t *buckets; /* class index + 1 */
	uint32_t nr_buckets, max_classes, nr_classes;
	struct elide_chunk *chunk, *module_chunk;
} registry;

#define MAX_MODULES 512
static struct elide_module modules[MAX_MODULES];
static enum { UNREAD, STRIPPED, NAMED } symbols[MAX_MODULES]; /* of their data */
static unsigned int nr_modules, nr_modules_saved;

/* Bytes in which there is an object's data everywhere or nowhere. */
#define PAGE 4096

/* The class of the last lock that lay in no object, and what made it that. */
static struct last_class {
	uintptr_t page;
	const void *site;
	enum elide_kind kind;
	bool initialised, shared;
	uint32_t index;
} last;

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

int elide_registry_start(uint32_t max_locks, uint32_t max_classes)
{
	size_t nr_slots;

	registry.max_locks = max_locks;
	registry.max_classes = max_classes;
	/* At most half full: a neighbourhood overflows only by rare chance. */
	elide_locks.mask = 2 * power_of_two_above(max_locks) - 1;
	nr_slots = elide_locks.mask + ELIDE_SLOTS;
	registry.nr_buckets = 2 * power_of_two_above(max_classes);
	elide_locks.state = reserve(nr_slots * sizeof(*elide_locks.state));
	registry.holders = reserve(nr_slots * sizeof(*registry.holders));
	registry.classes = reserve(max_classes * sizeof(*registry.classes));
	registry.buckets = reserve(registry.nr_buckets * sizeof(*registry.buckets));
	if (!elide_locks.state || !registry.holders || !registry.classes || !registry.buckets)
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
		elide_data->dropped[what]++;
}

static void class_save(struct class *c)
{
	c->saved = elide_data_record(&registry.chunk, ELIDE_CHUNK_CLASSES, sizeof(c->info));
	if (!c->saved)
		return;
	*c->saved = c->info;
	elide_data_publish(registry.chunk);
}

static uint32_t class_find(const struct elide_class *wanted, bool shared)
{
	uint64_t h = hash(wanted->address ^ (uint64_t)wanted->type << 56 ^
			  (uint64_t)wanted->kind << 60 ^ shared);
	uint32_t i = h & (registry.nr_buckets - 1);
	struct class *c;

	for (; registry.buckets[i]; i = (i + 1) & (registry.nr_buckets - 1)) {
		c = &registry.classes[registry.buckets[i] - 1];
		if (c->info.address == wanted->address && c->info.type == wanted->type &&
		    c->info.kind == wanted->kind && c->shared == shared)
			return registry.buckets[i] - 1;
	}
	if (registry.nr_classes == registry.max_classes) {
		drop(ELIDE_DROPPED_CLASSES);
		return ELIDE_NONE;
	}
	elide_registry_module_of((const void *)wanted->address);
	c = &registry.classes[registry.nr_classes];
	c->info = *wanted;
	c->shared = shared;
	class_save(c);
	registry.buckets[i] = ++registry.nr_classes;
	return registry.nr_classes - 1;
}

/* The data that may be an array and has the lock; NULL if there is none. */
static struct elide_array *array_of(const struct elide_module *m, const void *lock)
{
	if (symbols[m - modules] == UNREAD)
		symbols[m - modules] = elide_array_read(m) ? NAMED : STRIPPED;
	return elide_array_find(m, (uintptr_t)lock);
}

/* A second lock was found in it: the class is that of all of them. */
static void become_array(const struct elide_array *a)
{
	struct class *c = &registry.classes[a->class_index];

	c->info.address = a->start;
	c->info.array = a->size;
	if (c->saved) {
		c->saved->address = a->start;
		c->saved->array = a->size;
	}
}

/* Have so many static locks that have no names been first met at the site that they are alike? */
static bool is_crowd(const struct elide_module *m, const void *site, uint32_t kind)
{
	uint32_t nr = 0;

	if (symbols[m - modules] != STRIPPED)
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
		a->first = (uintptr_t)lock;
		a->class_index = index;
		a->kind = wanted->kind;
		a->shared = shared;
	}
	return index;
}

static uint32_t class_of(const void *lock, enum elide_kind kind, const void *site,
			 bool initialised, bool shared)
{
	uintptr_t page = (uintptr_t)lock / PAGE;
	const struct elide_module *m;
	struct elide_class wanted;
	uint32_t index;

	/* Thousands of locks are made in a row by one call: the loader is asked once for a page. */
	if (page == last.page && site == last.site && kind == last.kind &&
	    initialised == last.initialised && shared == last.shared)
		return last.index;
	m = elide_registry_module_of(lock);
	wanted = (struct elide_class){
		.type = initialised ? ELIDE_CLASS_INIT : ELIDE_CLASS_FIRST,
		.kind = kind == ELIDE_KIND_RWLOCK_WRITE ? ELIDE_KIND_RWLOCK_READ : kind,
		.address = (uintptr_t)site,
	};
	if (m)
		return static_class(m, lock, &wanted, shared);
	index = class_find(&wanted, shared);
	if (index != ELIDE_NONE)
		last = (struct last_class){page, site, kind, initialised, shared, index};
	return index;
}

/* A slot for @lock: its own, else a released one, else an empty one. */
static uint32_t slot_for(const void *lock)
{
	uint32_t first = elide_registry_home(lock), reuse = ELIDE_NONE;

	for (uint32_t i = first; i < first + ELIDE_SLOTS; i++) {
		uint64_t key = elide_locks.state[i].key;

		if (key >> ELIDE_CLASS_BITS == (uintptr_t)lock)
			return i;
		if (key == RELEASED && reuse == ELIDE_NONE)
			reuse = i;
		if (!key)
			return reuse != ELIDE_NONE ? reuse : i;
	}
	return reuse;
}

/* Under the engine's lock, so that an addition needs not be atomic. */
static void raise_generation(const void *lock)
{
	uint32_t *generation = elide_generation(lock);

	__atomic_store_n(generation, *generation + 1, __ATOMIC_RELEASE);
}

uint32_t elide_registry_add(const void *lock, enum elide_kind kind, const void *site,
			    bool initialised, bool shared)
{
	uint32_t index, class_index;
	bool fresh;

	if ((uintptr_t)lock >> (64 - ELIDE_CLASS_BITS))
		return ELIDE_NONE;
	index = slot_for(lock);
	if (index == ELIDE_NONE)
		goto full;
	fresh = elide_locks.state[index].key >> ELIDE_CLASS_BITS != (uintptr_t)lock;
	if (!fresh && !initialised)
		return index; /* another thread found it first */
	if (fresh && registry.nr_locks >= registry.max_locks)
		goto full;
	class_index = class_of(lock, kind, site, initialised, shared);
	if (class_index == ELIDE_NONE)
		return ELIDE_NONE;
	if (registry.classes[class_index].saved)
		registry.classes[class_index].saved->nr_locks++;
	registry.classes[class_index].info.nr_locks++;
	elide_locks.state[index].policy = (struct policy_lock){0};
	WRITE_ONCE(registry.holders[index], 0);
	/* Pairs with elide_registry_find(). */
	__atomic_store_n(&elide_locks.state[index].key,
			 (uint64_t)(uintptr_t)lock << ELIDE_CLASS_BITS | class_index,
			 __ATOMIC_RELEASE);
	registry.nr_locks += fresh;
	raise_generation(lock);
	return index;
full:
	drop(ELIDE_DROPPED_LOCKS);
	return ELIDE_NONE;
}

void elide_registry_remove(const void *lock)
{
	uint32_t index = elide_registry_find(lock);

	if (index == ELIDE_NONE)
		return;
	__atomic_store_n(&elide_locks.state[index].key, RELEASED, __ATOMIC_RELEASE);
	raise_generation(lock);
	registry.nr_locks--;
}

/* Build-id of an object whose file header is mapped at its start. */
static void read_build_id(struct elide_module *m)
{
	const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)m->start;
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)(m->start + e->e_phoff);

	if (memcmp(e->e_ident, ELFMAG, SELFMAG))
		return;
	for (int i = 0; i < e->e_phnum; i++, p++) {
		const char *n = (const char *)m->base + p->p_vaddr, *end = n + p->p_filesz;

		while (p->p_type == PT_NOTE && n + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)n;
			const char *text = n + sizeof(*note) + ((note->n_namesz + 3) & ~3u);

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    note->n_descsz <= sizeof(m->build_id)) {
				m->build_id_len = note->n_descsz;
				memcpy(m->build_id, text, note->n_descsz);
			}
			n = text + ((note->n_descsz + 3) & ~3u);
		}
	}
}

static void modules_save(void)
{
	for (; elide_data && nr_modules_saved < nr_modules; nr_modules_saved++) {
		struct elide_module *m = elide_data_record(&registry.module_chunk,
							   ELIDE_CHUNK_MODULES, sizeof(*m));

		if (!m)
			return;
		*m = modules[nr_modules_saved];
		elide_data_publish(registry.module_chunk);
	}
}

const struct elide_module *elide_registry_module_of(const void *address)
{
	struct dl_find_object found;
	struct elide_module m;
	const char *name;

	/*
	 * Lock-free, unlike dl_iterate_phdr(), whose lock a program may hold
	 * while it calls us, and which another thread may hold during a fork.
	 */
	if (_dl_find_object((void *)address, &found))
		return NULL;
	/* The loader knows the program itself only as "". */
	name = found.dlfo_link_map->l_name;
	if (!*name)
		name = elide_data->exe;
	for (unsigned int i = 0; i < nr_modules; i++)
		if (modules[i].start == (uintptr_t)found.dlfo_map_start &&
		    modules[i].end == (uintptr_t)found.dlfo_map_end &&
		    !strncmp(modules[i].path, name, sizeof(m.path) - 1))
			return &modules[i];
	if (nr_modules == MAX_MODULES) {
		drop(ELIDE_DROPPED_MODULES);
		return NULL;
	}
	m = (struct elide_module){
		.base = found.dlfo_link_map->l_addr,
		.start = (uintptr_t)found.dlfo_map_start,
		.end = (uintptr_t)found.dlfo_map_end,
	};
	snprintf(m.path, sizeof(m.path), "%.*s", (int)sizeof(m.path) - 1, name);
	read_build_id(&m);
	modules[nr_modules++] = m;
	modules_save();
	return &modules[nr_modules - 1];
}

void elide_registry_save(void)
{
	nr_modules_saved = 0;
	registry.chunk = NULL;
	registry.module_chunk = NULL;
	modules_save();
	for (uint32_t i = 0; i < registry.nr_classes; i++)
		class_save(&registry.classes[i]);
}
