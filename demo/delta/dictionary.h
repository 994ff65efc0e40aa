/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dictionary.h - the values of a delta storage, in the order of their insertion.
 *
 * The dictionary follows Karnagel et al., HPCA 2014, sections 2 and 5.2.1. It is an
 * unsorted array. An insert appends a value and increments the size, so any two
 * inserts write the same word. With a dictionary for each core, whose number is in
 * the upper bits of an ID, inserts of different cores write different words.
 * To append must never move an entry.
 */
#ifndef DEMO_DICTIONARY_H
#define DEMO_DICTIONARY_H

#include "../mem/area.h"

#include <stdbool.h>
#include <string.h>

/*
 * Maximum number of dictionaries and of allocators: the 2^6 that the upper bits of an
 * ID can number. Thread n uses the dictionary n modulo this number.
 */
#define DELTA_CORES 64

/* Bits of an ID that are the position, with a dictionary for each core. */
#define DELTA_POSITION_BITS 26

/* Bits of an ID. */
#define DELTA_ID_BITS 32

/* Bytes of a text, padded with 0. An entry of 8 bytes payload and a text is half a line. */
#define DELTA_TEXT 24

/* union delta_value - a value of a column; all values of a storage are of one type */
union delta_value {
	uint64_t number;
	char text[DELTA_TEXT];
};

/* The payload of a deleted entry. */
#define DELTA_DELETED UINT64_MAX

/**
 * struct delta_entry - an entry of a dictionary
 * @payload: 8 bytes stored with the value, or DELTA_DELETED
 * @value: the value; if values are numbers, an entry ends after the number
 */
struct delta_entry {
	uint64_t payload;
	union delta_value value;
};

/**
 * struct dictionary - the words of a dictionary that operations write
 * @size: number of entries; each insert of a new value increments it
 * @promised: number of entries promised to threads, see area_promise()
 */
struct dictionary {
	uint64_t size __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
};

/* These variables are global so that a report of conflicts shows their names. */
extern struct dictionary delta_dictionary;
extern struct dictionary delta_core_dictionaries[DELTA_CORES];

/**
 * struct dictionaries - the dictionaries of a delta storage
 * @area: memory of the entries; each dictionary has @max consecutive entries
 * @max: maximum number of entries of a dictionary
 * @array: sizes of the dictionaries
 * @nr: number of dictionaries
 * @bits: number of bits of an ID that are the position
 * @texts: values are texts, else numbers
 *
 * Nothing writes the struct after dictionaries_init().
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
 * dictionary_of() - the number of the dictionary of an ID
 * @dicts: the dictionaries
 * @id: the ID
 */
static inline unsigned int dictionary_of(const struct dictionaries *dicts, uint64_t id)
{
	return (unsigned int)(id >> dicts->bits);
}

/**
 * dictionary_position() - the position of an ID in its dictionary
 * @dicts: the dictionaries
 * @id: the ID
 */
static inline uint64_t dictionary_position(const struct dictionaries *dicts, uint64_t id)
{
	return id & ((1ull << dicts->bits) - 1);
}

/**
 * dictionary_entry() - the entry of an ID
 * @dicts: the dictionaries
 * @id: an ID that dictionary_append() returned
 */
static inline struct delta_entry *dictionary_entry(const struct dictionaries *dicts, uint64_t id)
{
	return area_at(&dicts->area, dictionary_of(dicts, id) * dicts->max +
				     dictionary_position(dicts, id));
}

/**
 * dictionary_append() - append a new value
 * @dicts: the dictionaries
 * @core: number of the calling thread's core
 * @credit: entries that dictionary_reserve() has reserved, at least 1
 * @value: the value
 * @payload: 8 bytes to store with the value
 *
 * Return: the ID of the value.
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
 * delta_value_order() - compare two values
 * @texts: the values are texts, else numbers
 * @a: the first value
 * @b: the second value
 *
 * Return: negative if @a is below @b, 0 if they are equal, else positive.
 */
static __inline_always int delta_value_order(bool texts, const union delta_value *a,
					     const union delta_value *b)
{
	if (texts)
		return memcmp(a->text, b->text, DELTA_TEXT);
	return (a->number > b->number) - (a->number < b->number);
}

#endif
