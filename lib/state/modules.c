/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules.c - see modules.h.
 *
 * Must never call what acquires the loader's lock.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "../base/datafile-writer.h"
#include "../base/testpoint.h"
#include "../emulator.h"
#include "modules.h"

static struct elide_module modules[ELIDE_MAX_MODULES];
static unsigned int nr_modules, nr_saved;
static struct elide_chunk *chunk;

/* The loader knows the program itself only as "". */
static const char *module_name(const struct dl_find_object *found)
{
	const char *name = found->dlfo_link_map->l_name;

	/* Before the first slow path there is no data file, and no module is known. */
	return *name || !elide_data ? name : elide_data->exe;
}

/*
 * Of @nr modules that are known the one that was found; @nr if it is none of them. Virtual time
 * stands still meanwhile, as the length of names decides how long it takes.
 */
static unsigned int module_index(const struct dl_find_object *found, unsigned int nr)
{
	const char *name = module_name(found);
	unsigned int i = 0;

	rtmgrind_time_stops();
	while (i < nr && !(modules[i].start == (uintptr_t)found->dlfo_map_start &&
			   modules[i].end == (uintptr_t)found->dlfo_map_end &&
			   !strncmp(modules[i].path, name, sizeof(modules[i].path) - 1)))
		i++;
	rtmgrind_time_goes_on();
	return i;
}

/*
 * _dl_find_object() is lock-free, unlike dl_iterate_phdr(), whose lock a program may hold
 * while it calls us, and which another thread may hold during a fork.
 */
const struct elide_module *elide_module_known(const void *address, bool *in_object)
{
	unsigned int nr = __atomic_load_n(&nr_modules, __ATOMIC_ACQUIRE), i;
	struct dl_find_object found;

	*in_object = !_dl_find_object((void *)address, &found);
	if (!*in_object)
		return NULL;
	i = module_index(&found, nr);
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
		elide_data_publish(chunk);
	}
}

const struct elide_module *elide_module_of(const void *address)
{
	struct dl_find_object found;
	struct elide_module m;
	const char *name;
	unsigned int i;

	if (_dl_find_object((void *)address, &found))
		return NULL;
	test_point(slow_module);
	i = module_index(&found, nr_modules);
	if (i < nr_modules)
		return &modules[i];
	if (nr_modules == ELIDE_MAX_MODULES) {
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_MODULES], 1, __ATOMIC_RELAXED);
		return NULL;
	}
	name = module_name(&found);
	m = (struct elide_module){
		.base = found.dlfo_link_map->l_addr,
		.start = (uintptr_t)found.dlfo_map_start,
		.end = (uintptr_t)found.dlfo_map_end,
	};
	rtmgrind_time_stops();
	snprintf(m.path, sizeof(m.path), "%.*s", (int)sizeof(m.path) - 1, name);
	rtmgrind_time_goes_on();
	read_build_id(&m);
	modules[nr_modules] = m;
	__atomic_store_n(&nr_modules, nr_modules + 1, __ATOMIC_RELEASE); /* pairs with elide_module_known() */
	save_new();
	return &modules[nr_modules - 1];
}

const struct elide_module *elide_module_of_past(const void *site)
{
	for (unsigned int i = nr_modules; i--;)
		if ((uintptr_t)site - modules[i].start < modules[i].end - modules[i].start)
			return &modules[i];
	return elide_module_of(site);
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
