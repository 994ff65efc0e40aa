/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opfile.h - operation files: what --generate writes and --replay reads.
 *
 * The files of a folder are 0, 1, 2 and so on, NUMBER.ops in binary form or NUMBER.txt in
 * text form. File 0 has the inserts that load the index. The binary form is a header and
 * records of 24 bytes in the byte order of the machine. The text form has a line "I KEY
 * VALUE", "S KEY VALUE" or "D KEY VALUE" for each operation; lines that begin with # and
 * empty lines are comments. Keys are signed, values are unsigned numbers of 64 bits. A
 * search and a delete must find the value.
 *
 * A file is checked completely before any operation runs.
 */
#ifndef DEMO_OPFILE_H
#define DEMO_OPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The letters of operations. */
#define OPFILE_INSERT 'I'
#define OPFILE_SEARCH 'S'
#define OPFILE_DELETE 'D'

/**
 * struct record - an operation
 * @op: the letter
 * @key: the key
 * @value: the value to insert, or that must be found
 */
struct record {
	uint64_t op;
	int64_t key;
	uint64_t value;
};

_Static_assert(sizeof(struct record) == 24, "the records of the binary form");

/**
 * struct opfile - an operation file in memory
 * @records: the operations
 * @nr: number of operations
 * @nr_of: number of operations of each letter
 * @map: start of the mapping of a binary file, NULL if @records was allocated
 * @bytes: size of the mapping
 */
struct opfile {
	const struct record *records;
	uint64_t nr;
	uint64_t nr_of[128];
	void *map;
	size_t bytes;
};

/* Bytes of the name of a file in a folder. */
#define OPFILE_NAME_LEN 4096

int opfile_open(struct opfile *file, const char *folder, unsigned int number);
void opfile_close(struct opfile *file);
bool opfile_exists(const char *folder, unsigned int number);

struct opfile_writer;
struct opfile_writer *opfile_create(const char *folder, unsigned int number, uint64_t nr);
void opfile_add(struct opfile_writer *writer, char op, int64_t key, uint64_t value);
int opfile_finish(struct opfile_writer *writer);
void opfile_remove(const char *folder, unsigned int number);

#endif
