/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dictionary.h - the values of a delta storage, in the order they came.
 *
 * After Karnagel et al., HPCA 2014, sections 2 and 5.2.1: an unsorted array at
 * whose end an insert puts a value and counts up its size, so that any two
 * inserts write the same word; or one array for each core, whose number is the
 * upper part of an ID, so that they do not. Appending must never move an entry.
 */
#ifndef DEMO_DICTIONARY_H
#define DEMO_DICTIONARY_H

#include "area.h"

#include <stdbool.h>
#include <string.h>

/* Most dictionaries and allocators; further threads share those of earlier ones. */
#define DELTA_CORES 64

/* Bits of an ID that are the position where there is a dictionary for each core. */
#define DELTA_POSITION_BITS 26

/* Bits of an ID. */
#define DELTA_ID_BITS 32

/* Bytes of a text, the rest of which is 0; with its payload an entry is half a line. */
#define DELTA_TEXT 24

/* A value of a column: a number or a text, as the whole delta storage has them. */
union delta_value {
	uint64_t number;
	char text[DELTA_TEXT];
};

/* The payload of an entry that was deleted. */
#define DELTA_DELETED UINT64_MAX

/**
 * struct delta_entry - an entry of a dictionary
 * @payload: 8 bytes that belong to the value, or DELTA_DELETED
 * @value: the value; an entry ends behind the number if values are numbers
 */
struct delta_entry {
	uint64_t payload;
	union delta_value value;
};

/**
 * struct dictionary - the words of a dictionary that are written
 * @size: entries; every insert of a new value counts it up
 * @promised: entries whose pages are present, see area_promise()
 */
struct dictionary {
	uint64_t size __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
};

/* The two ways to keep them, under names that a report of conflicts can give. */
extern struct dictionary delta_dictionary;
extern struct dictionary delta_core_dictionaries[DELTA_CORES];

/**
 * struct dictionaries - all entries of a delta storage
 * @area: where they are: each dictionary has @max of them in a row
 * @max: most entries of a dictionary
 * @array: the dictionaries
 * @nr: how many
 * @bits: of an ID that are the position
 * @texts: whether values are texts
 *
 * Read only once it is set up.
 */
struct dictionaries {
	struct area area;
	uint64_t max;
	struct dictionary *array;
	uint16_t nr;
	uint8_t bits;
	bool texts;
};

int dictionaries_init(struct dictionaries *dicts, unsigned int cores, bool texts, uint64_t max);
void dictionaries_destroy(struct dictionaries *dicts);
int dictionary_reserve(const struct dictionaries *dicts, unsigned int core, uint64_t *credit,
		       uint64_t nr);

/**
 * dictionary_of() - the dictionary that an ID is in
 * @dicts: the dictionaries
 * @id: the ID
 */
static inline unsigned int dictionary_of(const struct dictionaries *dicts, uint64_t id)
{
	return (unsigned int)(id >> dicts->bits);
}

/**
 * dictionary_position() - the place of an ID in its dictionary
 * @dicts: the dictionaries
 * @id: the ID
 */
static inline uint64_t dictionary_position(const struct dictionaries *dicts, uint64_t id)
{
	return id & ((1ull << dicts->bits) - 1);
}

/**
 * dictionary_entry() - look an ID up
 * @dicts: the dictionaries
 * @id: an ID that dictionary_append() returned
 */
static inline struct delta_entry *dictionary_entry(const struct dictionaries *dicts, uint64_t id)
{
	return area_at(&dicts->area, dictionary_of(dicts, id) * dicts->max +
				     dictionary_position(dicts, id));
}

/**
 * dictionary_append() - put a new value at the end
 * @dicts: the dictionaries
 * @core: the calling thread's
 * @credit: of dictionary_reserve(), at least 1
 * @value: the value
 * @payload: what belongs to it
 *
 * Return: its ID.
 */
static inline uint32_t dictionary_append(const struct dictionaries *dicts, unsigned int core,
					 uint64_t *credit, const union delta_value *value,
					 uint64_t payload)
{
	uint64_t which = core % dicts->nr;
	uint64_t id = which << dicts->bits | dicts->array[which].size;
	struct delta_entry *entry = dictionary_entry(dicts, id);

	entry->payload = payload;
	if (dicts->texts)
		memcpy(entry->value.text, value->text, DELTA_TEXT);
	else
		entry->value.number = value->number;
	dicts->array[which].size++;
	(*credit)--;
	return (uint32_t)id;
}

/**
 * delta_value_order() - the order of two values
 * @texts: whether they are texts
 * @a: a value
 * @b: a value
 *
 * Return: negative, 0 or positive.
 */
static __inline_always int delta_value_order(bool texts, const union delta_value *a,
					     const union delta_value *b)
{
	if (texts)
		return memcmp(a->text, b->text, DELTA_TEXT);
	return (a->number > b->number) - (a->number < b->number);
}

#endif
