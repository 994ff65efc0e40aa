// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dictionary.c - memory of the dictionaries of a delta storage.
 *
 * All functions of this file may make system calls, so none may be called inside a
 * critical section.
 */
#include "dictionary.h"

struct dictionary delta_dictionary;
struct dictionary delta_core_dictionaries[DELTA_CORES];

/**
 * dictionaries_init() - initialise empty dictionaries
 * @dicts: the dictionaries
 * @cores: number of dictionaries, 0 for one global dictionary
 * @texts: values are texts, else numbers
 * @max: maximum number of entries of a dictionary; the bits of an ID may lower it
 *
 * Return: 0, or -ENOMEM with no memory allocated.
 */
int dictionaries_init(struct dictionaries *dicts, unsigned int cores, bool texts, uint64_t max)
{
	size_t stride = offsetof(struct delta_entry, value) +
			(texts ? sizeof(union delta_value) : sizeof(uint64_t));

	if (cores > DELTA_CORES)
		cores = DELTA_CORES;
	dicts->bits = cores ? DELTA_POSITION_BITS : DELTA_ID_BITS;
	dicts->max = max > 1ull << dicts->bits ? 1ull << dicts->bits : max;
	dicts->array = cores ? delta_core_dictionaries : &delta_dictionary;
	dicts->nr = (uint16_t)(cores ? cores : 1);
	dicts->texts = texts;
	memset(dicts->array, 0, dicts->nr * sizeof(dicts->array[0]));
	return area_init(&dicts->area, stride, dicts->nr * dicts->max);
}

/**
 * dictionaries_destroy() - free the memory of the entries
 * @dicts: the dictionaries, also those for which dictionaries_init() failed
 */
void dictionaries_destroy(struct dictionaries *dicts)
{
	area_destroy(&dicts->area);
}

/**
 * dictionary_reserve() - reserve entries; called outside critical sections
 * @dicts: the dictionaries
 * @core: number of the calling thread's core
 * @credit: number of entries that the thread has reserved, updated
 * @nr: number of entries that the thread needs
 *
 * Return: 0 or -ENOMEM.
 */
int dictionary_reserve(const struct dictionaries *dicts, unsigned int core, uint64_t *credit,
		       uint64_t nr)
{
	unsigned int which = core % dicts->nr;

	return area_promise(&dicts->area, which * dicts->max, dicts->max,
			    &dicts->array[which].promised, credit, nr);
}
