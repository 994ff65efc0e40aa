/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* array.c - see array.h. */
#include <errno.h>
#include <stddef.h>

#include "../base/reserve.h"
#include "array.h"
#include "symbol.h"

/* Data of all objects that are kept, at most: 160 KiB of table. */
#define MAX_ARRAYS 4096

/*
 * Least bytes of a lock: a spinlock is a word, semaphores and barriers have 32 bytes, and glibc's mutex is
 * the smallest of the others.
 */
#define WORD_SIZE  4
#define SEM_SIZE   32
#define MUTEX_SIZE 40

static struct elide_array *arrays;
static uint32_t nr_arrays;

int elide_array_start(void)
{
	arrays = elide_reserve(MAX_ARRAYS * sizeof(*arrays));
	nr_arrays = 0;
	return arrays ? 0 : -ENOMEM;
}

static uint64_t least_size(enum elide_kind kind)
{
	switch (kind) {
	case ELIDE_KIND_SPIN:
	case ELIDE_KIND_CUSTOM:
	case ELIDE_KIND_FUTEX:
	case ELIDE_KIND_LIBRARY:
		return WORD_SIZE;
	case ELIDE_KIND_SEM:
	case ELIDE_KIND_BARRIER:
		return SEM_SIZE;
	default:
		return MUTEX_SIZE;
	}
}

static void keep(void *arg, uint64_t value, uint64_t size)
{
	const struct elide_module *m = arg;

	if (nr_arrays == MAX_ARRAYS || size < ELIDE_ARRAY_LOCKS * WORD_SIZE)
		return;
	arrays[nr_arrays++] =
		(struct elide_array){.start = m->base + value, .size = size, .module = m};
}

bool elide_array_read(const struct elide_module *m)
{
	return !elide_symbol_objects(m->path, keep, (void *)m);
}

struct elide_array *elide_array_find(const struct elide_module *m, uint64_t address)
{
	for (uint32_t i = 0; i < nr_arrays; i++)
		if (arrays[i].module == m && address - arrays[i].start < arrays[i].size)
			return &arrays[i];
	return NULL;
}

/* Euclid's algorithm. */
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

bool elide_array_has(const struct elide_array *a, uint64_t address, enum elide_kind kind,
		     bool shared)
{
	uint64_t apart = address > a->first ? address - a->first : a->first - address;

	if (a->kind != kind || a->shared != shared || a->size < ELIDE_ARRAY_LOCKS * least_size(kind))
		return false;
	return common_divisor(a->size, apart) >= least_size(kind);
}
