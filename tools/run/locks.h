/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.h - which locks a program uses, as far as its symbols tell.
 *
 * Must never start the program or load a library.
 */
#ifndef ELIDE_LOCKS_H
#define ELIDE_LOCKS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "../base/unseen.h"
#include "library.h"

/* The most objects that are examined: the program and the libraries that it needs. */
#define LOCKS_OBJECTS_MAX 256

/* Lock functions that an object imports, which preloading sees. */
enum lock_feature {
	IMPORTS_MUTEX,
	IMPORTS_RWLOCK,
	IMPORTS_SPIN,
	IMPORTS_COND,
	IMPORTS_C11,
	NR_IMPORTS
};

extern const char *const lock_feature_names[NR_IMPORTS];

/**
 * struct lock_object - what one ELF object uses.
 * @features: bit per enum lock_feature
 * @unseen:   set of enum unseen: locks of its own, as far as its symbols and its name tell
 * @imports_syscall: it imports syscall(3)
 * @imports_dlopen: it imports dlopen(3)
 * @by_name:  no object needs it; the name is a constant of one that imports dlopen(3)
 * @needs:    where its libraries are searched
 * @missing:  the object was not found where the loader would look
 */
struct lock_object {
	char name[256];
	char path[PATH_MAX];
	unsigned int features;
	uint32_t unseen;
	bool imports_syscall;
	bool imports_dlopen;
	bool by_name;
	struct library_needs needs;
	int missing;
};

/**
 * struct lock_uses - of a program and its libraries, in the loader's order.
 */
struct lock_uses {
	struct lock_object *objects;
	size_t nr;
};

/**
 * locks_find() - examine an ELF file and the libraries it needs.
 *
 * Return: 0 or -errno.
 */
int locks_find(const char *elf, struct lock_uses *uses);

/** locks_free() - release what locks_find() took. */
void locks_free(struct lock_uses *uses);

#endif
