/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects.h - mappings of a process, the ELF objects among them, and its memory.
 *
 * Objects are read from the memory of the process, so that they are right even if their
 * files were replaced or are in another mount namespace. Must never write to the process.
 */
#ifndef ELIDE_OBJECTS_H
#define ELIDE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/datafile.h"

/**
 * struct mappings - the readable mappings of a process, by address.
 */
struct mappings {
	struct mapping {
		uint64_t start;
		uint64_t end;
	} *all;
	size_t nr;
};

/** mapping_end() - where the mapping ends that holds @address; 0 if there is none. */
uint64_t mapping_end(const struct mappings *maps, uint64_t address);

/** mapping_start() - where the mapping begins that holds @address; 0 if there is none. */
uint64_t mapping_start(const struct mappings *maps, uint64_t address);

struct memory;

/** memory_new() - a reader of the memory of a process, which caches pages. NULL: no memory. */
struct memory *memory_new(long pid);

/**
 * memory_read() - copy memory of the process.
 *
 * Return: could all of it be read?
 */
bool memory_read(struct memory *m, uint64_t address, void *to, size_t size);

/** memory_forget() - forget the pages that were read: the process may have changed them. */
void memory_forget(struct memory *m);

/** memory_free() - release what memory_new() took. */
void memory_free(struct memory *m);

/**
 * struct objects - the objects of a process.
 * @maps:    its mappings
 * @modules: @nr objects, for the symbolizer
 * @unwind:  of each, address of its table of unwind information (.eh_frame_hdr), 0 without
 */
struct objects {
	struct mappings maps;
	struct elide_module *modules;
	uint64_t *unwind;
	size_t nr;
};

/**
 * objects_read() - fill @o.
 *
 * Return: 0 or -errno; objects_free() releases it in any case.
 */
int objects_read(struct objects *o, long pid, struct memory *m);

/** objects_find() - index of the object around an address; @nr if there is none. */
size_t objects_find(const struct objects *o, uint64_t address);

/** objects_free() - release what objects_read() took, except @modules. */
void objects_free(struct objects *o);

#endif
