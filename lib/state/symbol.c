/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol.c - see symbol.h. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../base/reserve.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "modules.h"
#include "symbol.h"

struct image {
	const char *bytes;
	size_t size;
};

/* Alignment of the tables in an object, bytes: of their widest member. */
#define TABLE_ALIGN 8

/*
 * @n records of @record bytes at @offset, or NULL if they are not inside the file, or not aligned.
 */
static const void *at(const struct image *image, uint64_t offset, uint64_t n, size_t record)
{
	if (offset > image->size || n > (image->size - offset) / record)
		return NULL;
	if (record > 1 && offset % TABLE_ALIGN)
		return NULL;
	return image->bytes + offset;
}

static void describe(struct elide_symbol *symbol, const Elf64_Sym *sym)
{
	symbol->value = sym->st_value;
	symbol->size = sym->st_size;
	symbol->local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
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
		describe(symbol, &sym[i]);
		return 0;
	}
	return -ENOENT;
}

/* The sections of an object, NULL if the file is not one. */
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

/* The caller unmaps the image. */
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

/*
 * The small functions of the object in which one was last looked up.
 * @path: of the object
 * @epoch: elide_modules_epoch at that time
 * @symbols, @strings: sections of its file
 * @slots: symbol numbers + 1, by the functions' first addresses; NULL: there is no table yet
 * @mask: number of slots - 1, a power of two - 1
 */
static struct {
	char path[1024];
	uint32_t epoch;
	Elf64_Shdr symbols, strings;
	uint32_t *slots;
	uint32_t mask;
} functions;

static bool is_small_function(const Elf64_Sym *sym, uint64_t max)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
	       sym->st_size && sym->st_size <= max;
}

/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
static uint32_t slot_of(uint64_t start)
{
	return start * 0x9e3779b97f4a7c15ull >> 32 & functions.mask;
}

/* Enter the symbols of a table. Of several at one address the first is found first. */
static void enter(const Elf64_Sym *sym, uint64_t n, uint64_t max)
{
	for (uint64_t i = 0; i < n; i++) {
		uint32_t slot = slot_of(sym[i].st_value);

		if (!is_small_function(&sym[i], max))
			continue;
		while (functions.slots[slot])
			slot = (slot + 1) & functions.mask;
		functions.slots[slot] = i + 1;
	}
}

/* Make the table of the functions in a section of symbols. Return: 0 or -ENOENT. */
static int make_table(const struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *strings,
		      uint64_t max)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym), nr = 0;
	const Elf64_Sym *sym = at(image, table->sh_offset, n, sizeof(*sym));
	void *slots;

	if (!sym || n >= UINT32_MAX / 4)
		return -ENOENT;
	for (uint64_t i = 0; i < n; i++)
		nr += is_small_function(&sym[i], max);
	functions.mask = elide_power_of_two(2 * nr + 1) - 1;
	slots = sys_mmap(NULL, (functions.mask + 1ul) * sizeof(*functions.slots),
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (slots == MAP_FAILED)
		return -ENOENT;
	functions.slots = slots;
	functions.symbols = *table;
	functions.strings = *strings;
	enter(sym, n, max);
	return 0;
}

/* Make the table from .symtab, else from .dynsym. */
static int make_functions(const char *path, uint64_t max)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const Elf64_Shdr *s;
	struct image image;
	unsigned int nr = 0;
	int err = -ENOENT;

	if (map_image(path, &image))
		return -ENOENT;
	s = sections(&image, &nr);
	for (unsigned int t = 0; s && t < 2 && err; t++)
		for (unsigned int i = 0; i < nr && err; i++)
			if (s[i].sh_type == types[t] && s[i].sh_link < nr)
				err = make_table(&image, &s[i], &s[s[i].sh_link], max);
	sys_munmap((void *)image.bytes, image.size);
	return err;
}

static ssize_t read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return sys_call(lseek, fd, offset, SEEK_SET, 0, 0, 0) < 0 ? -1 : sys_read(fd, to, size);
}

/* Read a symbol of the table, if it is still that function. */
static int read_function(int fd, uint32_t number, uint64_t start, uint64_t max, char *name,
			 size_t size, struct elide_symbol *symbol)
{
	Elf64_Sym sym;
	ssize_t n;

	if (read_at(fd, &sym, sizeof(sym), functions.symbols.sh_offset + number * sizeof(sym)) !=
		    sizeof(sym) ||
	    sym.st_value != start || !is_small_function(&sym, max) ||
	    sym.st_name >= functions.strings.sh_size)
		return -ENOENT;
	n = read_at(fd, name, size - 1, functions.strings.sh_offset + sym.st_name);
	name[n > 0 ? n : 0] = '\0';
	describe(symbol, &sym);
	return 0;
}

static int find_function(uint64_t start, uint64_t max, char *name, size_t size,
			 struct elide_symbol *symbol)
{
	uint32_t slot = slot_of(start);
	int fd, err = -ENOENT;

	/* Mostly the function is larger, and has no entry. */
	if (!functions.slots[slot])
		return -ENOENT;
	fd = sys_open(functions.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return -ENOENT;
	for (; functions.slots[slot] && err; slot = (slot + 1) & functions.mask)
		err = read_function(fd, functions.slots[slot] - 1, start, max, name, size, symbol);
	sys_close(fd);
	return err;
}

static void forget_functions(void)
{
	if (functions.slots)
		sys_munmap(functions.slots, (functions.mask + 1ul) * sizeof(*functions.slots));
	functions.slots = NULL;
}

int elide_symbol_function(const char *path, uint64_t start, uint64_t max, char *name, size_t size,
			  struct elide_symbol *symbol)
{
	bool again = !strcmp(functions.path, path) && functions.epoch == elide_modules_epoch;
	int err;

	name[0] = '\0';
	if (!again) {
		forget_functions();
		functions.epoch = elide_modules_epoch;
		elide_text(functions.path, sizeof(functions.path), "%s", path);
	}
	if (again && !functions.slots)
		again = !make_functions(path, max);
	if (again)
		return find_function(start, max, name, size, symbol);
	err = elide_symbol_look(path, start, name, size, symbol);
	if (!err && symbol->value == start && symbol->size <= max)
		return 0;
	name[0] = '\0';
	return -ENOENT;
}
