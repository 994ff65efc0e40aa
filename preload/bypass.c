/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bypass.c - see bypass.h.
 *
 * A wrapper that only passes a call on costs two jumps: a fifth of an uncontended lock and unlock, and all
 * that the library would cost when it is switched off. Objects call one another's functions through words
 * that the loader fills in (System V ABI, AMD64 supplement, 4.4 and 5.2). Must never change any other word.
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapters/adapters.h"
#include "base/syscalls.h"
#include "bypass.h"
#include "compiler.h"
#include "find.h"
#include "real.h"

/* Bytes of a page on x86-64. */
#define PAGE_BYTES 4096

/* A wrapper and its real function. */
struct pair {
	const char *name, *version;
	const void *real;  /* the member of struct real, or struct adapter_real, with the function's address */
	const void *first; /* of another library than libc: that member while the function is not found; else NULL */
	ElfW(Sym) *symbol;
	uintptr_t wrapper;
	uintptr_t function;
};

static struct pair pairs[] = {
#define ELIDE_SYMBOL(id, symbol, version_, result, parameters, arguments) \
	{.name = #symbol, .version = version_, .real = &real.id},
#define ELIDE_ALIAS(symbol, id) {.name = #symbol, .version = "", .real = &real.id},
#include "symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version_, result, parameters, arguments) \
	{.name = #symbol, .version = version_, .real = &adapter_real.id, .first = &adapter_firsts.id},
#include "adapters/symbols.def"
#undef ADAPTER_SYMBOL
};

/* An object's relocations, and the range that the loader has made read-only (PT_GNU_RELRO). */
struct object {
	uintptr_t base;
	const ElfW(Rela) *tables[2];
	size_t sizes[2];
	uintptr_t read_only, read_only_end;
};

static uintptr_t page_of(uintptr_t address)
{
	return address & -(uintptr_t)PAGE_BYTES;
}

/* Change @word. Its page stays readable and, with @writable, writable. */
static void change(uintptr_t *word, uintptr_t value, bool writable)
{
	void *page = (void *)page_of((uintptr_t)word);
	size_t size = (uintptr_t)(word + 1) - (uintptr_t)page;

	if (!writable && sys_mprotect(page, size, PROT_READ | PROT_WRITE))
		return;
	WRITE_ONCE(*word, value);
	if (!writable)
		sys_mprotect(page, size, PROT_READ);
}

static const struct pair *pair_of(uintptr_t wrapper)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].symbol && pairs[i].wrapper == wrapper)
			return &pairs[i];
	return NULL;
}

/* Rebind the words of one table of relocations. */
static void rebind(const struct object *o, const ElfW(Rela) *table, size_t size)
{
	for (const ElfW(Rela) *r = table; size >= sizeof(*r); r++, size -= sizeof(*r)) {
		uintptr_t *word = (uintptr_t *)(o->base + r->r_offset);
		const struct pair *pair;

		switch (ELF64_R_TYPE(r->r_info)) {
		case R_X86_64_JUMP_SLOT:
		case R_X86_64_GLOB_DAT:
		case R_X86_64_64:
			pair = pair_of(READ_ONCE(*word));
			if (pair)
				change(word, pair->function,
				       (uintptr_t)word - o->read_only >=
					       o->read_only_end - o->read_only);
		}
	}
}

static void read_dynamic(struct object *o, const ElfW(Dyn) *d)
{
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t address = d->d_un.d_ptr;

		/* The loader has relocated most of these in place. */
		if (address < o->base)
			address += o->base;
		switch (d->d_tag) {
		case DT_RELA:
			o->tables[0] = (const ElfW(Rela) *)address;
			break;
		case DT_RELASZ:
			o->sizes[0] = d->d_un.d_val;
			break;
		case DT_JMPREL:
			o->tables[1] = (const ElfW(Rela) *)address;
			break;
		case DT_PLTRELSZ:
			o->sizes[1] = d->d_un.d_val;
			break;
		}
	}
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *own)
{
	struct object o = {.base = info->dlpi_addr};

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_RELRO) {
			o.read_only = o.base + p->p_vaddr;
			o.read_only_end = page_of(o.read_only + p->p_memsz);
			o.read_only = page_of(o.read_only);
		} else if (p->p_type == PT_DYNAMIC) {
			const ElfW(Dyn) *d = (const ElfW(Dyn) *)(o.base + p->p_vaddr);

			if (d == own)
				return 0;
			read_dynamic(&o, d);
		}
	}
	for (int i = 0; i < 2; i++)
		if (o.tables[i])
			rebind(&o, o.tables[i], o.sizes[i]);
	return 0;
}

/*
 * Rebind what the loader will bind later, by adding the base to a symbol's value. All symbols are in a few
 * pages, which are made writable together: two system calls, not two for each name.
 */
static void rebind_symbols(uintptr_t base)
{
	uintptr_t first = UINTPTR_MAX, end = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		uintptr_t word = (uintptr_t)&pairs[i].symbol->st_value;

		if (!pairs[i].symbol)
			continue;
		if (word < first)
			first = word;
		if (word + sizeof(word) > end)
			end = word + sizeof(word);
	}
	if (!end)
		return;
	first = page_of(first);
	if (sys_mprotect((void *)first, end - first, PROT_READ | PROT_WRITE))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].symbol)
			WRITE_ONCE(pairs[i].symbol->st_value, pairs[i].function - base);
	sys_mprotect((void *)first, end - first, PROT_READ);
}

void bypass_wrappers(void)
{
	uintptr_t base = 0;

	adapter_find();
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct pair *p = &pairs[i];

		p->function = *(const uintptr_t *)p->real;
		/* A library that is loaded later may be unloaded: its calls go through the wrappers. */
		if (p->first && p->function == *(const uintptr_t *)p->first)
			continue;
		p->symbol = find_own_symbol(p->name, p->version, &base);
		if (p->symbol)
			p->wrapper = base + p->symbol->st_value;
	}
	dl_iterate_phdr(rebind_object, _DYNAMIC);
	rebind_symbols(base);
}
