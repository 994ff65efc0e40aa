// SPDX-License-Identifier: GPL-2.0-or-later
/* elf-file.c - see elf-file.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "elf-file.h"
#include "text.h"

/*
 * Bytes to read of the notes, of the dynamic section, or of the names of sections, at most. Those of node 20 have 68,
 * 592 and 402.
 */
#define SEGMENT_MAX 65536

/* Read @size bytes, or nothing. */
static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, size, at) == (ssize_t)size;
}

static void read_segments(struct elf_file *f, const Elf64_Ehdr *header)
{
	/* The number of more than 65,534 segments would be elsewhere; a program has 13. */
	size_t size = header->e_phnum * sizeof(*f->segments);

	if (!size || header->e_phentsize != sizeof(*f->segments))
		return;
	f->segments = malloc(size);
	if (f->segments && read_at(f->fd, f->segments, size, header->e_phoff))
		f->nr = header->e_phnum;
}

static void read_sections(struct elf_file *f, const Elf64_Ehdr *header)
{
	/* The number of more than 65,279 sections would be elsewhere; a program of Go has 25. */
	size_t size = header->e_shnum * sizeof(*f->sections);

	if (!size || header->e_shentsize != sizeof(*f->sections) || header->e_shstrndx >= header->e_shnum)
		return;
	f->sections = malloc(size);
	if (f->sections && read_at(f->fd, f->sections, size, header->e_shoff))
		f->nr_sections = header->e_shnum;
	f->names = header->e_shstrndx;
}

int elf_file_begin(struct elf_file *f, int fd)
{
	Elf64_Ehdr header = {0};
	/* The header of class 32 is shorter. */
	ssize_t n = pread(fd, &header, sizeof(header), 0);

	*f = (struct elf_file){.fd = fd};
	if (n < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    (header.e_ident[EI_CLASS] != ELFCLASS32 && header.e_ident[EI_CLASS] != ELFCLASS64))
		return -ENOEXEC;
	f->is_32bit = header.e_ident[EI_CLASS] == ELFCLASS32;
	if (f->is_32bit || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	f->is_amd64 = header.e_machine == EM_X86_64;
	if (n == sizeof(header)) {
		read_segments(f, &header);
		read_sections(f, &header);
	}
	return 0;
}

void elf_file_end(struct elf_file *f)
{
	free(f->segments);
	free(f->sections);
	f->segments = NULL;
	f->sections = NULL;
	f->nr = f->nr_sections = 0;
}

static const Elf64_Phdr *find_segment(const struct elf_file *f, Elf64_Word type)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->segments[i].p_type == type)
			return &f->segments[i];
	return NULL;
}

bool elf_file_has(const struct elf_file *f, Elf64_Word type)
{
	return find_segment(f, type) != NULL;
}

/* The bytes that a segment has in the file, allocated; NULL if they cannot be read. */
static void *read_segment(const struct elf_file *f, const Elf64_Phdr *segment, size_t *size)
{
	void *bytes;

	*size = segment->p_filesz < SEGMENT_MAX ? segment->p_filesz : SEGMENT_MAX;
	bytes = *size ? malloc(*size) : NULL;
	if (bytes && read_at(f->fd, bytes, *size, segment->p_offset))
		return bytes;
	free(bytes);
	return NULL;
}

/* Offset in the file of the byte that is loaded at an address; -1 if there is none. */
static uint64_t offset_of(const struct elf_file *f, uint64_t address)
{
	for (size_t i = 0; i < f->nr; i++) {
		const Elf64_Phdr *s = &f->segments[i];

		if (s->p_type == PT_LOAD && address - s->p_vaddr < s->p_filesz)
			return s->p_offset + (address - s->p_vaddr);
	}
	return UINT64_MAX;
}

/* A string of the file, cut to the room. Return: false if nothing is there. */
static bool read_string(const struct elf_file *f, uint64_t at, char *to, size_t size)
{
	ssize_t n = at > INT64_MAX ? -1 : pread(f->fd, to, size - 1, at);

	if (n <= 0)
		return false;
	to[n] = '\0';
	return true;
}

bool elf_file_has_section(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *names = f->nr_sections ? &f->sections[f->names] : NULL;
	size_t size = names && names->sh_size < SEGMENT_MAX ? names->sh_size : 0, len = strlen(name) + 1;
	char *text = size ? malloc(size) : NULL;
	bool found = false;

	if (text && read_at(f->fd, text, size, names->sh_offset))
		for (size_t i = 0; i < f->nr_sections && !found; i++) {
			size_t at = f->sections[i].sh_name;

			found = at < size && len <= size - at && !memcmp(text + at, name, len);
		}
	free(text);
	return found;
}

void elf_file_loader(const struct elf_file *f, char *name, size_t size)
{
	const Elf64_Phdr *segment = find_segment(f, PT_INTERP);

	if (!segment || !read_string(f, segment->p_offset, name, size))
		*name = '\0';
}

void elf_file_needed(const struct elf_file *f, bool (*wanted)(const char *name), char *name,
		     size_t size)
{
	const Elf64_Phdr *segment = find_segment(f, PT_DYNAMIC);
	uint64_t strings = UINT64_MAX;
	size_t bytes, nr;
	Elf64_Dyn *dyn;
	char text[256];

	dyn = segment ? read_segment(f, segment, &bytes) : NULL;
	nr = dyn ? bytes / sizeof(*dyn) : 0;
	for (size_t i = 0; i < nr; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			strings = offset_of(f, dyn[i].d_un.d_ptr);
	for (size_t i = 0; i < nr && strings != UINT64_MAX && dyn[i].d_tag != DT_NULL; i++) {
		if (dyn[i].d_tag != DT_NEEDED ||
		    !read_string(f, strings + dyn[i].d_un.d_val, text, sizeof(text)) ||
		    strlen(text) >= size || !wanted(text))
			continue;
		strcpy(name, text);
		break;
	}
	free(dyn);
}

/* Looks for the build-id in the notes of a segment. Return: its length, its bytes at @id; or 0. */
static size_t find_note(const char *notes, size_t size, size_t align, const uint8_t **id)
{
	Elf64_Nhdr note;

	for (size_t at = 0; at + sizeof(note) < size;) {
		size_t name = at + sizeof(note), value;

		memcpy(&note, notes + at, sizeof(note));
		value = (name + note.n_namesz + align - 1) & -align;
		if (value + note.n_descsz > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*id = (const uint8_t *)notes + value;
			return note.n_descsz;
		}
		at = (value + note.n_descsz + align - 1) & -align;
	}
	return 0;
}

int elf_file_build_id(int fd, char *hex, size_t size)
{
	struct elf_file f;
	size_t bytes, len = 0;
	const uint8_t *id;
	int rc = elf_file_begin(&f, fd);

	if (rc)
		return rc;
	for (size_t i = 0; i < f.nr && !len; i++) {
		const Elf64_Phdr *s = &f.segments[i];
		char *notes = s->p_type == PT_NOTE ? read_segment(&f, s, &bytes) : NULL;

		if (notes)
			len = find_note(notes, bytes, s->p_align == 8 ? 8 : 4, &id);
		if (len > 0)
			hex_text(hex, id, 2 * len < size ? len : (size - 1) / 2);
		free(notes);
	}
	elf_file_end(&f);
	return len ? 0 : -ENOEXEC;
}
