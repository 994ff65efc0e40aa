/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - the dynamic symbols and the segments of an object, from the memory of its process.
 *
 * Must never read the object's file, which may be another one by now.
 */
#ifndef ELIDE_SYMBOLS_H
#define ELIDE_SYMBOLS_H

#include <elf.h>

#include "objects.h"

/**
 * struct symbols - of one object.
 * @all: its defined symbols, @nr
 * @names: its names, @names_size bytes, the last of which is 0
 * @bias: to be added to a value
 * @segments: @nr_segments program headers
 */
struct symbols {
	Elf64_Sym *all;
	size_t nr;
	char *names;
	size_t names_size;
	uint64_t bias;
	Elf64_Phdr segments[32];
	size_t nr_segments;
};

/**
 * symbols_read() - fill @s for the object @module.
 *
 * Return: 0, -ENOEXEC if its tables are not as expected, or -ENOMEM; symbols_free() releases it in any case.
 */
int symbols_read(struct symbols *s, struct memory *m, const struct elide_module *module);

/** symbols_find() - address of a symbol, 0: it has none. @size: set to its size, unless NULL */
uint64_t symbols_find(const struct symbols *s, const char *name, uint64_t *size);

/** symbols_at() - name of the function around an address, NULL: none is known. */
const char *symbols_at(const struct symbols *s, uint64_t address);

/** symbols_free() - release what symbols_read() took. */
void symbols_free(struct symbols *s);

#endif
