// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - see symbols.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "symbols.h"

/* Symbols and bytes of names of an object, at most; more is no object of a working process. */
#define MOST_SYMBOLS (1u << 20)
#define MOST_NAMES   (64u << 20)

static int read_segments(struct symbols *s, struct memory *m, const struct elide_module *module)
{
	Elf64_Ehdr elf;

	if (!memory_read(m, module->start, &elf, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_phentsize != sizeof(*s->segments) || elf.e_phnum > ARRAY_SIZE(s->segments) ||
	    !memory_read(m, module->start + elf.e_phoff, s->segments, elf.e_phnum * sizeof(*s->segments)))
		return -ENOEXEC;
	s->nr_segments = elf.e_phnum;
	s->bias = module->base;
	return 0;
}

/* The number of symbols, from the GNU hash table: the last one of the longest chain ends them. */
static size_t count(struct memory *m, uint64_t hash)
{
	uint32_t head[4], bucket, last = 0, link;
	uint64_t buckets;

	if (!memory_read(m, hash, head, sizeof(head)) || head[0] > MOST_SYMBOLS || head[2] > MOST_SYMBOLS)
		return 0;
	buckets = hash + sizeof(head) + head[2] * sizeof(uint64_t);
	for (uint32_t i = 0; i < head[0]; i++) {
		if (!memory_read(m, buckets + i * sizeof(bucket), &bucket, sizeof(bucket)))
			return 0;
		last = bucket > last ? bucket : last;
	}
	if (last < head[1])
		return head[1];
	do
		if (last > MOST_SYMBOLS ||
		    !memory_read(m, buckets + (head[0] + (uint64_t)last - head[1]) * sizeof(link), &link,
				 sizeof(link)))
			return 0;
	while (last++, !(link & 1));
	return last;
}

static int read_tables(struct symbols *s, struct memory *m, uint64_t symbols, uint64_t names, uint64_t hash)
{
	s->nr = count(m, hash);
	if (!s->nr || s->nr > MOST_SYMBOLS || !s->names_size || s->names_size > MOST_NAMES)
		return -ENOEXEC;
	s->all = malloc(s->nr * sizeof(*s->all));
	s->names = malloc(s->names_size);
	if (!s->all || !s->names)
		return -ENOMEM;
	if (!memory_read(m, symbols, s->all, s->nr * sizeof(*s->all)) ||
	    !memory_read(m, names, s->names, s->names_size))
		return -ENOEXEC;
	s->names[s->names_size - 1] = '\0';
	return 0;
}

int symbols_read(struct symbols *s, struct memory *m, const struct elide_module *module)
{
	uint64_t symbols = 0, names = 0, hash = 0, at = 0;
	Elf64_Dyn d;
	int err;

	*s = (struct symbols){0};
	err = read_segments(s, m, module);
	if (err)
		return err;
	for (size_t i = 0; i < s->nr_segments; i++)
		if (s->segments[i].p_type == PT_DYNAMIC)
			at = s->bias + s->segments[i].p_vaddr;
	for (; at && memory_read(m, at, &d, sizeof(d)) && d.d_tag != DT_NULL; at += sizeof(d)) {
		uint64_t address = d.d_un.d_ptr;

		/* The loader relocates these in place. */
		if (address < s->bias)
			address += s->bias;
		if (d.d_tag == DT_SYMTAB)
			symbols = address;
		else if (d.d_tag == DT_STRTAB)
			names = address;
		else if (d.d_tag == DT_GNU_HASH)
			hash = address;
		else if (d.d_tag == DT_STRSZ)
			s->names_size = d.d_un.d_val;
	}
	return symbols && names && hash ? read_tables(s, m, symbols, names, hash) : -ENOEXEC;
}

static const char *name_of(const struct symbols *s, const Elf64_Sym *symbol)
{
	return symbol->st_name < s->names_size ? s->names + symbol->st_name : "";
}

uint64_t symbols_find(const struct symbols *s, const char *name, uint64_t *size)
{
	for (size_t i = 0; i < s->nr; i++) {
		const Elf64_Sym *symbol = &s->all[i];

		if (symbol->st_shndx == SHN_UNDEF || strcmp(name_of(s, symbol), name))
			continue;
		if (size)
			*size = symbol->st_size;
		return s->bias + symbol->st_value;
	}
	return 0;
}

const char *symbols_at(const struct symbols *s, uint64_t address)
{
	for (size_t i = 0; i < s->nr; i++) {
		const Elf64_Sym *symbol = &s->all[i];

		if (symbol->st_shndx != SHN_UNDEF && address - s->bias - symbol->st_value < symbol->st_size)
			return name_of(s, symbol);
	}
	return NULL;
}

void symbols_free(struct symbols *s)
{
	free(s->all);
	free(s->names);
	*s = (struct symbols){0};
}
