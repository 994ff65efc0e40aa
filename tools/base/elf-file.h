/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf-file.h - the few facts that are read of an ELF file before its program is started.
 *
 * Without libelf: `elide run` links nothing but the C library, statically, and starts in half the
 * time. The file may be hostile. Must never write to it.
 */
#ifndef ELIDE_ELF_FILE_H
#define ELIDE_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct elf_file - an ELF file of any machine.
 * @fd:        descriptor, which the caller closes
 * @is_32bit:  ELF class 32; such files and those of the other byte order have no @segments
 * @is_amd64:  64-bit code for x86-64
 * @segments:  the program headers, allocated
 * @nr:        their number
 * @sections:  the section headers, allocated; NULL without
 * @nr_sections: their number
 * @names:     the section with their names
 */
struct elf_file {
	int fd;
	bool is_32bit;
	bool is_amd64;
	Elf64_Phdr *segments;
	size_t nr;
	Elf64_Shdr *sections;
	size_t nr_sections;
	size_t names;
};

/**
 * elf_file_begin() - read the headers of the file at descriptor @fd.
 *
 * Return: 0; -ENOEXEC if it is no ELF file.
 */
int elf_file_begin(struct elf_file *f, int fd);

/** elf_file_end() - free what elf_file_begin() has allocated. */
void elf_file_end(struct elf_file *f);

/** elf_file_has() - is there a segment of the type, as PT_INTERP? */
bool elf_file_has(const struct elf_file *f, Elf64_Word type);

/** elf_file_has_section() - is there a section of the name? */
bool elf_file_has_section(const struct elf_file *f, const char *name);

/**
 * elf_file_loader() - the program that loads this one, as the file has it in PT_INTERP.
 * @name: at most @size - 1 bytes; empty: it has none, or it cannot be read
 */
void elf_file_loader(const struct elf_file *f, char *name, size_t size);

/**
 * elf_file_needed() - find a library among those that the file needs.
 * @wanted: is it the library of this name?
 * @name:   set to the name, at most @size - 1 bytes; left as it is if there is none
 */
void elf_file_needed(const struct elf_file *f, bool (*wanted)(const char *name), char *name,
		     size_t size);

/**
 * elf_file_build_id() - the build-id of the file at descriptor @fd, as text.
 * @hex:  the digits
 * @size: bytes at @hex; digits for which there is no room are left out
 *
 * Return: 0; -ENOEXEC if it has none.
 */
int elf_file_build_id(int fd, char *hex, size_t size);

#endif
