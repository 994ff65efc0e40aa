/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize.h - addresses of a process that may have ended, as names.
 *
 * Must never give a doubtful name: a file other than the one that the process ran gives none.
 */
#ifndef ELIDE_SYMBOLIZE_H
#define ELIDE_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

#include "../../lib/datafile.h"

/**
 * struct place - an address resolved; unknown members are NULL.
 * @object:        file name of the object, without directory
 * @symbol:        function or variable, demangled; an inlined function
 * @symbol_offset: from the variable's start, or the function's where the line is unknown
 * @elf_symbol:    function or variable in the symbol table, not demangled
 * @inlined_into:  the function that holds the code, demangled, if @symbol was inlined into it
 * @file:          as the compiler wrote it
 * @line:          0 if unknown
 * @offset:        address in the object, 0 without @object
 *
 * The strings belong to the symbolizer.
 */
struct place {
	const char *object;
	const char *symbol;
	uint64_t symbol_offset;
	const char *elf_symbol;
	const char *inlined_into;
	const char *file;
	int line;
	uint64_t offset;
};

/**
 * struct lock_site - a call that locks locks which no call has initialised.
 * @site:    its return address
 * @address: of their class, which is the same for all calls of a class
 * @kind:    of their class
 * @class_index: number of their class in the data file
 */
struct lock_site {
	uint64_t site;
	uint64_t address;
	uint32_t kind;
	uint32_t class_index;
};

struct symbolizer;

/**
 * symbolizer_new() - resolver for the objects of one data file.
 * @modules: @nr objects, which must outlive the symbolizer
 * @warn: called with one line per object that cannot be trusted or read, if one of its
 *        addresses is resolved; may be NULL
 *
 * Return: NULL if there is no memory.
 */
struct symbolizer *symbolizer_new(const struct elide_module *modules, size_t nr,
				  void (*warn)(const char *line));

/**
 * symbolize_call() - the call with this return address, in the innermost function that is not
 * inlined from a header of the system: not in std::mutex::lock(), but in its caller.
 */
void symbolize_call(struct symbolizer *s, uint64_t return_address, struct place *place);

/**
 * symbolize_in_header() - does the code come from a header of the system?
 *
 * std::mutex, its guards and containers are inlined from there everywhere.
 */
int symbolize_in_header(const struct place *p);

/**
 * symbolize_is_own() - is the code this project's own, in an object of its own or linked statically?
 *
 * As a user cannot change it, reports name its caller.
 */
int symbolize_is_own(const struct place *p);

/**
 * symbolize_instruction() - the instruction at an address.
 */
void symbolize_instruction(struct symbolizer *s, uint64_t address, struct place *place);

/**
 * symbolize_frames() - the functions around a frame of a stack, inlined ones apart.
 * @address: of an instruction if @exact, else a return address
 * @places: set to them, the innermost first
 *
 * Return: their number, at least 1; 0 without memory.
 */
size_t symbolize_frames(struct symbolizer *s, uint64_t address, int exact,
			const struct place **places);

/**
 * symbolize_object() - object and offset only, without opening anything.
 */
void symbolize_object(struct symbolizer *s, uint64_t address, struct place *place);

/**
 * symbolize_bytes() - copy the bytes of an object at an address.
 *
 * Return: bytes copied, up to @size; 0 if they are in no file.
 */
size_t symbolize_bytes(struct symbolizer *s, uint64_t address, uint8_t *bytes, size_t size);

/* Addresses of a symbol in the process: from @start, before @end. */
struct symbol_range {
	uint64_t start;
	uint64_t end;
};

/**
 * symbolize_ranges() - the functions and variables whose names fit a pattern.
 * @object: file name of the objects to search, NULL for all
 * @fits: does the name of a symbol table fit?
 * @to: filled with up to @max of them
 *
 * Return: their number, which may be more than @max.
 */
size_t symbolize_ranges(struct symbolizer *s, const char *object,
			int (*fits)(const char *pattern, const char *name), const char *pattern,
			struct symbol_range *to, size_t max);

/**
 * symbolize_data() - the variable at an address.
 */
void symbolize_data(struct symbolizer *s, uint64_t address, struct place *place);

/**
 * symbolize_is_pointer() - does a variable hold a pointer at an address?
 * @code: address of an instruction that uses it, whose compilation unit has the type
 *
 * Return: 1; 0 if it holds something else, or that is not known.
 */
int symbolize_is_pointer(struct symbolizer *s, uint64_t address, uint64_t code);

/**
 * symbolizer_locks() - the calls by which symbolize_lock() names classes.
 * @sites: @nr, sorted by address, then kind; must outlive the symbolizer
 *
 * Return: 0 or -ENOMEM.
 */
int symbolizer_locks(struct symbolizer *s, const struct lock_site *sites, size_t nr);

/**
 * symbolize_lock() - the type and the member that the locks of a class are, "Queue::m".
 * @address: of the class
 * @kind: of the class
 *
 * Return: the name, which belongs to the symbolizer; NULL if it is not known.
 */
const char *symbolize_lock(struct symbolizer *s, uint64_t address, unsigned int kind);

/**
 * symbolizer_free() - release it and every string of its places.
 */
void symbolizer_free(struct symbolizer *s);

#endif
