// SPDX-License-Identifier: GPL-2.0-or-later
/* objects.c - see objects.h. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "objects.h"
#include "process.h"

#define PAGE 4096ull

/* Pages that are cached, each in one place of a table, where a later one replaces it. 8 MiB. */
#define NR_PAGES 2048

/* Program headers and notes of an object to read, at most. */
#define MAX_HEADERS 64
#define MAX_NOTES   4096

struct memory {
	long pid;
	struct {
		uint64_t address; /* 1: none */
		uint8_t bytes[PAGE];
	} pages[NR_PAGES];
};

void memory_forget(struct memory *m)
{
	for (size_t i = 0; i < NR_PAGES; i++)
		m->pages[i].address = 1;
}

struct memory *memory_new(long pid)
{
	struct memory *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	m->pid = pid;
	memory_forget(m);
	return m;
}

void memory_free(struct memory *m)
{
	free(m);
}

static const uint8_t *page_at(struct memory *m, uint64_t address)
{
	size_t place = address / PAGE % NR_PAGES;
	struct iovec local = {m->pages[place].bytes, PAGE};
	struct iovec remote = {(void *)(uintptr_t)address, PAGE};

	if (m->pages[place].address == address)
		return m->pages[place].bytes;
	m->pages[place].address = 1;
	if (process_vm_readv(m->pid, &local, 1, &remote, 1, 0) != (ssize_t)PAGE)
		return NULL;
	m->pages[place].address = address;
	return m->pages[place].bytes;
}

bool memory_read(struct memory *m, uint64_t address, void *to, size_t size)
{
	while (size) {
		uint64_t offset = address % PAGE;
		size_t n = size < PAGE - offset ? size : PAGE - offset;
		const uint8_t *page = page_at(m, address - offset);

		if (!page)
			return false;
		memcpy(to, page + offset, n);
		to = (char *)to + n;
		address += n;
		size -= n;
	}
	return true;
}

static const struct mapping *mapping_of(const struct mappings *maps, uint64_t address)
{
	size_t low = 0, high = maps->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (address >= maps->all[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->nr && address >= maps->all[low].start ? &maps->all[low] : NULL;
}

uint64_t mapping_end(const struct mappings *maps, uint64_t address)
{
	const struct mapping *m = mapping_of(maps, address);

	return m ? m->end : 0;
}

uint64_t mapping_start(const struct mappings *maps, uint64_t address)
{
	const struct mapping *m = mapping_of(maps, address);

	return m ? m->start : 0;
}

/* The build-id in notes, each of which is a name and a descriptor, padded to 4 bytes (gABI, ch. 5). */
static void find_build_id(const uint8_t *notes, size_t size, struct elide_module *module)
{
	size_t at = 0;

	while (at + sizeof(Elf64_Nhdr) <= size) {
		Elf64_Nhdr note;
		size_t name, bytes;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		bytes = name + ((size_t)note.n_namesz + 3) / 4 * 4;
		if (bytes > size || note.n_descsz > size - bytes)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && note.n_descsz <= sizeof(module->build_id)) {
			module->build_id_len = note.n_descsz;
			memcpy(module->build_id, notes + bytes, note.n_descsz);
			return;
		}
		at = bytes + ((size_t)note.n_descsz + 3) / 4 * 4;
	}
}

static void read_notes(struct memory *m, uint64_t address, uint64_t size,
		       struct elide_module *module)
{
	static uint8_t notes[MAX_NOTES];

	if (size <= sizeof(notes) && !module->build_id_len && memory_read(m, address, notes, size))
		find_build_id(notes, size, module);
}

/* Fill @module and *@unwind of the object whose first page is at @start. Return: is it an object? */
static bool read_object(struct memory *m, uint64_t start, struct elide_module *module,
			uint64_t *unwind)
{
	Elf64_Phdr headers[MAX_HEADERS];
	uint64_t low = UINT64_MAX, high = 0;
	Elf64_Ehdr elf;

	if (!memory_read(m, start, &elf, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(headers[0]) ||
	    !elf.e_phnum || elf.e_phnum > MAX_HEADERS ||
	    !memory_read(m, start + elf.e_phoff, headers, elf.e_phnum * sizeof(headers[0])))
		return false;
	for (int i = 0; i < elf.e_phnum; i++) {
		const Elf64_Phdr *h = &headers[i];

		if (h->p_type != PT_LOAD)
			continue;
		if (h->p_vaddr < low)
			low = h->p_vaddr;
		if (h->p_vaddr + h->p_memsz > high)
			high = h->p_vaddr + h->p_memsz;
	}
	if (low >= high)
		return false;
	module->base = start - low / PAGE * PAGE;
	module->start = start;
	module->end = module->base + high;
	for (int i = 0; i < elf.e_phnum; i++) {
		const Elf64_Phdr *h = &headers[i];

		if (h->p_type == PT_NOTE)
			read_notes(m, module->base + h->p_vaddr, h->p_filesz, module);
		if (h->p_type == PT_GNU_EH_FRAME)
			*unwind = module->base + h->p_vaddr;
	}
	return true;
}

static int add_mapping(struct mappings *maps, uint64_t start, uint64_t end)
{
	struct mapping *all;

	/* The parts of one stack may have different protection. */
	if (maps->nr && maps->all[maps->nr - 1].end == start) {
		maps->all[maps->nr - 1].end = end;
		return 0;
	}
	all = reallocarray(maps->all, maps->nr + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	maps->all = all;
	maps->all[maps->nr++] = (struct mapping){start, end};
	return 0;
}

static int add_object(struct objects *o, struct memory *m, uint64_t start, const char *root,
		      const char *path)
{
	struct elide_module *modules = reallocarray(o->modules, o->nr + 1, sizeof(*modules));
	uint64_t *unwind = reallocarray(o->unwind, o->nr + 1, sizeof(*unwind));

	if (modules)
		o->modules = modules;
	if (unwind)
		o->unwind = unwind;
	if (!modules || !unwind)
		return -ENOMEM;
	memset(&modules[o->nr], 0, sizeof(*modules));
	unwind[o->nr] = 0;
	if (!read_object(m, start, &modules[o->nr], &unwind[o->nr]))
		return 0;
	snprintf(modules[o->nr].path, sizeof(modules[o->nr].path), "%s%s",
		 *path == '/' ? root : "", path);
	o->nr++;
	return 0;
}

/* A line of /proc/PID/maps. */
static int add_line(struct objects *o, struct memory *m, char *line, const char *root)
{
	uint64_t start, end, offset;
	char rights[5], *path;
	int at = 0, err;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end, rights,
		   &offset, &at) < 4 || rights[0] != 'r')
		return 0;
	err = add_mapping(&o->maps, start, end);
	if (err || offset || !at)
		return err;
	path = line + at;
	path[strcspn(path, "\n")] = '\0';
	/* The kernel's own object is not in a file. */
	return *path == '/' || !strcmp(path, "[vdso]") ? add_object(o, m, start, root, path) : 0;
}

int objects_read(struct objects *o, long pid, struct memory *m)
{
	char path[64], root[64] = "", *line = NULL;
	size_t size = 0;
	int err = 0;
	FILE *f;

	*o = (struct objects){0};
	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (process_has_own_root(pid))
		snprintf(root, sizeof(root), "/proc/%ld/root", pid);
	while (!err && getline(&line, &size, f) > 0)
		err = add_line(o, m, line, root);
	free(line);
	fclose(f);
	return err;
}

size_t objects_find(const struct objects *o, uint64_t address)
{
	size_t i = 0;

	while (i < o->nr && (address < o->modules[i].start || address >= o->modules[i].end))
		i++;
	return i;
}

void objects_free(struct objects *o)
{
	free(o->maps.all);
	free(o->unwind);
}
