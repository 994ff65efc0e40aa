/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol.c - see symbol.h. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "symbol.h"
#include "syscalls.h"

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
		   uint64_t address, char *name, size_t size)
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
		snprintf(name, size, "%s", text + sym[i].st_name);
		return 0;
	}
	return -ENOENT;
}

static int find(const struct image *image, uint64_t address, char *name, size_t size)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const Elf64_Ehdr *e = at(image, 0, 1, sizeof(*e));
	const Elf64_Shdr *s;

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	s = at(image, e->e_shoff, e->e_shnum, sizeof(*s));
	for (unsigned int t = 0; s && t < 2; t++)
		for (unsigned int i = 0; i < e->e_shnum; i++)
			if (s[i].sh_type == types[t] && s[i].sh_link < e->e_shnum &&
			    !find_in(image, &s[i], &s[s[i].sh_link], address, name, size))
				return 0;
	return -ENOENT;
}

int elide_symbol_find(const char *path, uint64_t address, char *name, size_t size)
{
	struct image image;
	struct stat st;
	int fd, err = -ENOENT;
	void *map;

	name[0] = '\0';
	/* O_NONBLOCK: the name may be a FIFO's by now. */
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		goto close;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		goto close;
	image = (struct image){map, st.st_size};
	err = find(&image, address, name, size);
	munmap(map, st.st_size);
close:
	sys_close(fd);
	return err;
}
