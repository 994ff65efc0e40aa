/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.c - see find.h.
 *
 * Must not call anything of libc that could take a lock or allocate.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "find.h"

/* What a look-up of a symbol needs of an object. */
struct object {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Half) *versions;
	const ElfW(Verdef) *definitions;
	ElfW(Addr) base;
};

static int read_dynamic(ElfW(Addr) base, const ElfW(Dyn) *d, struct object *o)
{
	*o = (struct object){.base = base};
	for (; d && d->d_tag != DT_NULL; d++) {
		const char *p = (const char *)d->d_un.d_ptr;

		/* The loader has relocated these pointers in place, but for DT_VERDEF. */
		if (d->d_un.d_ptr < base)
			p += base;
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const void *)p;
			break;
		case DT_STRTAB:
			o->strings = p;
			break;
		case DT_GNU_HASH:
			o->gnu_hash = (const void *)p;
			break;
		case DT_VERSYM:
			o->versions = (const void *)p;
			break;
		case DT_VERDEF:
			o->definitions = (const void *)p;
			break;
		}
	}
	return o->symbols && o->strings && o->gnu_hash;
}

static int read_object(const struct link_map *map, struct object *o)
{
	return read_dynamic(map->l_addr, map->l_ld, o);
}

/* Has symbol @i the version; with "" the default one? */
static int version_fits(const struct object *o, uint32_t i, const char *version)
{
	const ElfW(Verdef) *d = o->definitions;
	unsigned int index;

	if (!o->versions)
		return 1;
	index = o->versions[i];
	if (!*version)
		return !(index & 0x8000); /* the hidden bit: not the default */
	for (; d; d = d->vd_next ? (const void *)((const char *)d + d->vd_next) : NULL) {
		const ElfW(Verdaux) *aux = (const void *)((const char *)d + d->vd_aux);

		if (d->vd_ndx == (index & 0x7fff))
			return !strcmp(o->strings + aux->vda_name, version);
	}
	return index <= 1; /* unversioned: another preloaded library */
}

/* The GNU hash table: https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html */
static const ElfW(Sym) *symbol_in(const struct object *o, const char *name, const char *version)
{
	uint32_t nr_buckets = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2];
	const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(o->gnu_hash + 4) + words);
	const uint32_t *chain = buckets + nr_buckets;
	uint32_t hash = 5381, i;

	if (!nr_buckets)
		return NULL;
	for (const char *p = name; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	i = buckets[hash % nr_buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *s = &o->symbols[i];

		if ((chain[i - first] | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
		    !strcmp(o->strings + s->st_name, name) && version_fits(o, i, version))
			return s;
		if (chain[i - first] & 1)
			return NULL;
	}
}

static void *find_in(const struct object *o, const char *name, const char *version)
{
	const ElfW(Sym) *s = symbol_in(o, name, version);

	return s ? (void *)(o->base + s->st_value) : NULL;
}

void *find_in_object(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name, const char *version)
{
	struct object o;

	return read_dynamic(base, dynamic, &o) ? find_in(&o, name, version) : NULL;
}

/* Search the objects after @self, then those before it. */
static void *find(const struct link_map *self, const char *name, const char *version)
{
	struct object o;
	void *p;

	for (const struct link_map *m = self->l_next; m; m = m->l_next)
		if (read_object(m, &o) && (p = find_in(&o, name, version)))
			return p;
	for (const struct link_map *m = _r_debug.r_map; m && m != self; m = m->l_next)
		if (read_object(m, &o) && (p = find_in(&o, name, version)))
			return p;
	return NULL;
}

/* This library. */
static const struct link_map *own_object(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (m->l_ld == _DYNAMIC)
			return m;
	return _r_debug.r_map;
}

void *find_function(const char *name, const char *version)
{
	return find(own_object(), name, version);
}

ElfW(Sym) *find_own_symbol(const char *name, const char *version, uintptr_t *base)
{
	struct object o;

	if (!read_object(own_object(), &o))
		return NULL;
	*base = o.base;
	return (ElfW(Sym) *)symbol_in(&o, name, version);
}

bool find_is_late(void)
{
	const struct link_map *own = own_object();
	static const char libc[] = "/libc.so.6";

	for (const struct link_map *m = own->l_prev; m; m = m->l_prev) {
		size_t len = m->l_name ? strlen(m->l_name) : 0;

		if (len >= sizeof(libc) && !strcmp(m->l_name + len + 1 - sizeof(libc), libc))
			return true;
	}
	return false;
}

/* Called with the lock by which the loader guards its list of objects. */
static int call_body(struct dl_phdr_info *info, size_t size, void *body)
{
	(*(void (**)(void))body)();
	return 1;
}

void find_locked(void (*body)(void))
{
	dl_iterate_phdr(call_body, &body);
}
