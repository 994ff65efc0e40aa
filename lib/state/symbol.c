/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol.c - see symbol.h. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../base/syscalls.h"
#include "../base/text.h"
#include "symbol.h"

struct image {
	const char *bytes;
	size_t size;
};

/* Alignment of the tables in an object, bytes: that of their widest member. */
#define TABLE_ALIGN 8

/*
 * @n records of @record bytes at @offset, or NULL if they are not inside the
 * file or not where their members would be aligned.
 */
static const void *at(const struct image *image, uint64_t offset, uint64_t n, size_t record)
{
	if (offset > image->size || n > (image->size - offset) / record)
		return NULL;
	if (record > 1 && offset % TABLE_ALIGN)
		return NULL;
	return image->bytes + offset;
}

static int find_in(const struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *strings,
		   uint64_t address, char *name, size_t size, struct elide_symbol *symbol)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *sym = at(image, table->sh_offset, n, sizeof(*sym));
	const char *text = at(image, strings->sh_offset, strings->sh_size, 1);

	if (!sym || !text || !strings->sh_size || text[strings->sh_size - 1])
		return -ENOENT;
	for (uint64_t i = 0; i < n; i++) {
		int type = ELF64_ST_TYPE(sym[i].st_info);

		if ((type != STT_FUNC && type != STT_OBJECT) || sym[i].st_shndx == SHN_UNDEF)
			continue;
		if (address < sym[i].st_value || address - sym[i].st_value >= sym[i].st_size)
			continue;
		if (sym[i].st_name >= strings->sh_size)
			continue;
		elide_text(name, size, "%s", text + sym[i].st_name);
		symbol->size = sym[i].st_size;
		symbol->local = ELF64_ST_BIND(sym[i].st_info) == STB_LOCAL;
		return 0;
	}
	return -ENOENT;
}

/* The sections of an object, NULL if it is none. */
static const Elf64_Shdr *sections(const struct image *image, unsigned int *nr)
{
	const Elf64_Ehdr *e = at(image, 0, 1, sizeof(*e));

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	*nr = e->e_shnum;
	return at(image, e->e_shoff, e->e_shnum, sizeof(Elf64_Shdr));
}

static int find(const struct image *image, uint64_t address, char *name, size_t size,
		struct elide_symbol *symbol)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	unsigned int nr = 0;
	const Elf64_Shdr *s = sections(image, &nr);

	for (unsigned int t = 0; s && t < 2; t++)
		for (unsigned int i = 0; i < nr; i++)
			if (s[i].sh_type == types[t] && s[i].sh_link < nr &&
			    !find_in(image, &s[i], &s[s[i].sh_link], address, name, size, symbol))
				return 0;
	return -ENOENT;
}

/* To be unmapped. */
static int map_image(const char *path, struct image *image)
{
	struct stat st;
	int fd, err = -ENOENT;
	void *map;

	/* O_NONBLOCK: the name may meanwhile be that of a FIFO. */
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return -ENOENT;
	if (sys_fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		goto close;
	map = sys_mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd);
	if (map == MAP_FAILED)
		goto close;
	*image = (struct image){map, st.st_size};
	err = 0;
close:
	sys_close(fd);
	return err;
}

int elide_symbol_find(const char *path, uint64_t address, char *name, size_t size)
{
	struct elide_symbol symbol;

	return elide_symbol_look(path, address, name, size, &symbol);
}

int elide_symbol_look(const char *path, uint64_t address, char *name, size_t size,
		      struct elide_symbol *symbol)
{
	struct image image;
	int err;

	name[0] = '\0';
	err = map_image(path, &image);
	if (err)
		return err;
	err = find(&image, address, name, size, symbol);
	sys_munmap((void *)image.bytes, image.size);
	return err;
}

static void tell_objects(const struct image *image, const Elf64_Shdr *table,
			 void (*found)(void *arg, uint64_t value, uint64_t size), void *arg)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *sym = at(image, table->sh_offset, n, sizeof(*sym));

	for (uint64_t i = 0; sym && i < n; i++)
		if (ELF64_ST_TYPE(sym[i].st_info) == STT_OBJECT && sym[i].st_shndx != SHN_UNDEF)
			found(arg, sym[i].st_value, sym[i].st_size);
}

int elide_symbol_objects(const char *path, void (*found)(void *arg, uint64_t value, uint64_t size),
			 void *arg)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const Elf64_Shdr *s;
	struct image image;
	unsigned int nr = 0, told = 0, t;

	if (map_image(path, &image))
		return -ENOENT;
	s = sections(&image, &nr);
	for (t = 0; s && t < 2 && !told; t++)
		for (unsigned int i = 0; i < nr && !told; i++)
			if (s[i].sh_type == types[t]) {
				tell_objects(&image, &s[i], found, arg);
				told = types[t];
			}
	sys_munmap((void *)image.bytes, image.size);
	return told == SHT_SYMTAB ? 0 : -ENOENT;
}
