/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules.c - see modules.h.
 *
 * Must never call a function that acquires the loader's lock.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "../base/datafile-writer.h"
#include "../base/testpoint.h"
#include "../base/text.h"
#include "../emulator.h"
#include "call.h"
#include "module-path.h"
#include "modules.h"
#include "registry.h"

static struct elide_module modules[ELIDE_MAX_MODULES];
static unsigned int nr_modules, nr_saved;
static struct elide_chunk *chunk;

/*
 * What is known of each object beside its record.
 * @name:  hash of the loader's name
 * @frame: address of its frame table, which also tells apart objects at the same addresses
 * @mark:  added to its addresses in the data file: its number << ELIDE_MARK_SHIFT if another object had
 *         some of these addresses before, else 0
 * @gone:  it was unloaded
 */
static struct {
	uint64_t name;
	const void *frame;
	uint64_t mark;
	bool gone;
} known[ELIDE_MAX_MODULES];

_Static_assert(ELIDE_MAX_MODULES <= 1 << 12, "a marked address and the kind of a call share a word");

static unsigned int nr_gone, nr_marked;

/*
 * Times that objects were unloaded while another thread was in a global-lock path. The next such path
 * forgets these objects.
 */
static uint32_t pending;
uint32_t elide_modules_epoch;

/* FNV-1a (Fowler, Noll and Vo). */
static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x100000001b3;
	return hash;
}

static bool has_range(unsigned int i, const struct dl_find_object *found)
{
	return modules[i].start == (uintptr_t)found->dlfo_map_start &&
	       modules[i].end == (uintptr_t)found->dlfo_map_end;
}

/*
 * Search @nr known modules, from number @i on, for the one that was found. Return: its number; @nr: none.
 * @gone: search those that were unloaded. Virtual time stands still, as the time depends on the length of
 * names.
 */
static unsigned int module_index(const struct dl_find_object *found, unsigned int i, unsigned int nr,
				 bool gone)
{
	uint64_t name;

	rtmgrind_time_stops();
	name = hash_name(found->dlfo_link_map->l_name);
	while (i < nr && !(has_range(i, found) && known[i].gone == gone && known[i].name == name))
		i++;
	rtmgrind_time_goes_on();
	return i;
}

/*
 * _dl_find_object() is lock-free. The lock of dl_iterate_phdr() may be held by the program while it calls
 * us, or by another thread during a fork.
 */
const struct elide_module *elide_module_known(const void *address, bool *in_object)
{
	unsigned int nr = __atomic_load_n(&nr_modules, __ATOMIC_ACQUIRE), i;
	struct dl_find_object found;

	*in_object = !_dl_find_object((void *)address, &found);
	if (!*in_object)
		return NULL;
	i = module_index(&found, 0, nr, false);
	return i < nr ? &modules[i] : NULL;
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

static void save_new(void)
{
	for (; elide_data && nr_saved < nr_modules; nr_saved++) {
		struct elide_module *m = elide_data_record(&chunk,
							   ELIDE_CHUNK_MODULES, sizeof(*m));

		if (!m)
			return;
		*m = modules[nr_saved];
		m->base += known[nr_saved].mark;
		m->start += known[nr_saved].mark;
		m->end += known[nr_saved].mark;
		elide_data_publish(chunk);
	}
}

/* The object was unloaded: forget all that was found out about its addresses. */
static void forget(unsigned int i)
{
	known[i].gone = true;
	nr_gone++;
	test_point(unload_publish);
	__atomic_add_fetch(&elide_modules_epoch, 1, __ATOMIC_RELAXED);
	elide_class_forget();
	elide_calls_forget(modules[i].start, modules[i].end);
	elide_registry_forget((const void *)modules[i].start, (const void *)modules[i].end);
}

/* Did other objects have addresses of @m? Forget them. */
static bool has_addresses_of_others(const struct elide_module *m)
{
	bool others = false;

	for (unsigned int i = 0; i < nr_modules; i++) {
		if (modules[i].start >= m->end || modules[i].end <= m->start)
			continue;
		if (!known[i].gone)
			forget(i);
		others = true;
	}
	return others;
}

/* Is it an unloaded object that is loaded again? Return: its number, or @nr_modules. */
static unsigned int module_again(const struct dl_find_object *found)
{
	struct elide_module m = {
		.base = found->dlfo_link_map->l_addr,
		.start = (uintptr_t)found->dlfo_map_start,
	};
	unsigned int i = 0;

	if (!nr_gone)
		return nr_modules;
	read_build_id(&m);
	for (; (i = module_index(found, i, nr_modules, true)) < nr_modules; i++) {
		if (modules[i].build_id_len == m.build_id_len &&
		    !memcmp(modules[i].build_id, m.build_id, m.build_id_len))
			break;
	}
	return i;
}

static struct elide_module *module_add(const struct dl_find_object *found)
{
	struct elide_module *m = &modules[nr_modules];

	if (nr_modules == ELIDE_MAX_MODULES) {
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_MODULES], 1, __ATOMIC_RELAXED);
		return NULL;
	}
	*m = (struct elide_module){
		.base = found->dlfo_link_map->l_addr,
		.start = (uintptr_t)found->dlfo_map_start,
		.end = (uintptr_t)found->dlfo_map_end,
	};
	rtmgrind_time_stops();
	elide_module_path(m->path, sizeof(m->path), found);
	known[nr_modules].name = hash_name(found->dlfo_link_map->l_name);
	rtmgrind_time_goes_on();
	known[nr_modules].frame = found->dlfo_eh_frame;
	read_build_id(m);
	if (has_addresses_of_others(m)) {
		known[nr_modules].mark = (uint64_t)nr_modules << ELIDE_MARK_SHIFT;
		WRITE_ONCE(nr_marked, nr_marked + 1);
	}
	__atomic_store_n(&nr_modules, nr_modules + 1, __ATOMIC_RELEASE); /* pairs with elide_module_known() */
	save_new();
	return m;
}

const struct elide_module *elide_module_of(const void *address)
{
	struct dl_find_object found;
	unsigned int i;

	if (_dl_find_object((void *)address, &found))
		return NULL;
	test_point(global_module);
	i = module_index(&found, 0, nr_modules, false);
	if (i < nr_modules)
		return &modules[i];
	i = module_again(&found);
	if (i == nr_modules)
		return module_add(&found);
	has_addresses_of_others(&modules[i]);
	known[i].gone = false;
	nr_gone--;
	return &modules[i];
}

static bool lies_in(uint64_t address, unsigned int i)
{
	return address - modules[i].start < modules[i].end - modules[i].start;
}

const struct elide_module *elide_module_of_past(uint64_t recorded)
{
	if (recorded >> ELIDE_MARK_SHIFT)
		return &modules[(recorded >> ELIDE_MARK_SHIFT) % ELIDE_MAX_MODULES];
	for (unsigned int i = nr_modules; i--;)
		if (!known[i].mark && lies_in(recorded, i))
			return &modules[i];
	return elide_module_of((const void *)recorded);
}

uint64_t elide_module_mark(const struct elide_module *m)
{
	return known[m - modules].mark;
}

uint64_t elide_recorded(const void *address)
{
	const struct elide_module *m;

	if (likely(!nr_gone && !nr_marked))
		return (uintptr_t)address;
	m = elide_module_of(address);
	return (uintptr_t)address | (m ? elide_module_mark(m) : 0);
}

bool elide_recorded_call(const void *site, uint64_t *recorded)
{
	const struct elide_module *m;
	bool in_object;

	*recorded = (uintptr_t)site;
	if (likely(!READ_ONCE(nr_gone) && !READ_ONCE(nr_marked) && !READ_ONCE(pending)))
		return true;
	if (READ_ONCE(pending))
		return false;
	m = elide_module_known(site, &in_object);
	*recorded |= m ? elide_module_mark(m) : 0;
	return m || !in_object;
}

uint64_t elide_recorded_known(const void *address)
{
	if (unlikely(READ_ONCE(nr_marked)))
		for (unsigned int i = __atomic_load_n(&nr_modules, __ATOMIC_ACQUIRE); i--;)
			if (!known[i].gone && lies_in((uintptr_t)address, i))
				return (uintptr_t)address | known[i].mark;
	return (uintptr_t)address;
}

/* Is the object still loaded? Does not read its link map, as another thread may be unloading it. */
static bool is_there(unsigned int i)
{
	struct dl_find_object found;

	return !_dl_find_object((void *)(uintptr_t)modules[i].start, &found) && has_range(i, &found) &&
	       found.dlfo_eh_frame == known[i].frame;
}

bool elide_modules_are_there(void)
{
	for (unsigned int i = __atomic_load_n(&nr_modules, __ATOMIC_ACQUIRE); i--;)
		if (!known[i].gone && !is_there(i))
			return false;
	return true;
}

void elide_modules_unloaded_later(void)
{
	/* Release pairs with the acquire in elide_modules_unloaded(): the object is no longer there. */
	__atomic_add_fetch(&pending, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&elide_modules_epoch, 1, __ATOMIC_RELEASE);
	elide_class_forget();
	elide_calls_forget(0, UINTPTR_MAX);
}

void elide_modules_settle(void)
{
	if (unlikely(READ_ONCE(pending)))
		elide_modules_unloaded();
}

void elide_modules_unloaded(void)
{
	uint32_t due = __atomic_load_n(&pending, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; i < nr_modules; i++)
		if (!known[i].gone && !is_there(i))
			forget(i);
	/* Not before: a look-up that finds nothing pending trusts what it finds. */
	__atomic_sub_fetch(&pending, due, __ATOMIC_RELEASE);
}

unsigned int elide_module_number(const struct elide_module *m)
{
	return m - modules;
}

void elide_modules_save(void)
{
	nr_saved = 0;
	chunk = NULL;
	save_new();
}
