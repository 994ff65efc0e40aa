/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth.h - data files made up for tests: every number in them is known.
 *
 * Their addresses are those of functions and variables of the program that
 * makes them (subject.c), so that names can be resolved and compared. Must
 * never share code with the reader it tests.
 */
#ifndef ELIDE_SYNTH_H
#define ELIDE_SYNTH_H

#include <stddef.h>

#include "../../lib/datafile.h"

/* Hold times of @nr acquisitions, all that are measured, with that sum, minimum and maximum, in cycles. */
#define SYNTH_HOLD(nr, sum, least, most) \
	{.count = (nr), .min = (least), .max = (most), .weight = (nr), .total = (sum)}

/* What is in the file. */
enum synth_scenario {
	SYNTH_ELIDE,   /* two threads that elided: three locks, four rows, a misuse, a cycle */
	SYNTH_PROFILE, /* the same locks and one more row, only profiled: long waits, failed tries */
	SYNTH_KILLED,  /* as SYNTH_ELIDE, of a process that did not end through exit() */
	SYNTH_IDLE,    /* a process that took no lock */
	SYNTH_FULL,    /* as SYNTH_ELIDE, with all that is sampled: see synth-full.c */
	SYNTH_LATER,   /* the process of SYNTH_ELIDE a second later: more in some rows, and one more */
	SYNTH_NR
};

extern const char *const synth_names[SYNTH_NR];

struct subject_sites;

/* A file being made. */
struct synth {
	char *bytes;
	size_t size;
};

/**
 * synth_make() - make a file in memory.
 * @run: header.run
 * @pid: header.pid
 */
void synth_make(struct synth *s, enum synth_scenario scenario, uint64_t run, uint32_t pid);

/** synth_full() - add what is sampled, and rows it belongs to. */
void synth_full(struct synth *s, const struct subject_sites *sites);

/** synth_header() - the header of a file in memory. */
struct elide_header *synth_header(struct synth *s);

/** synth_chunk() - the first chunk of a type, or NULL. */
struct elide_chunk *synth_chunk(struct synth *s, enum elide_chunk_type type);

/** synth_row() - row number @nr, from 0, of all chunks; NULL if there are no more. */
struct elide_row *synth_row(struct synth *s, size_t nr);

/** synth_add() - append a record, in a new chunk if the last of its type is full. */
void synth_add(struct synth *s, enum elide_chunk_type type, const void *record, size_t size);

/** synth_seal() - set the counts and checksums of a file whose records were changed. */
void synth_seal(struct synth *s);

/** synth_write() - write the first @size bytes to a file; ends the program if that fails. */
void synth_write(const struct synth *s, const char *path, size_t size);

/**
 * synth_large() - write a file of many rows: one of each of @nr_sites, which are spread over
 * @nr_classes, and of every fourth one more of another thread.
 */
void synth_large(const char *path, uint32_t nr_classes, uint32_t nr_sites);

/** synth_free() - release the memory. */
void synth_free(struct synth *s);

/* subject.c: a static lock, one inside a structure, and calls that return their return address. */
extern int subject_index_lock;
extern struct subject_table {
	long rows[4];
	int lock;
} subject_table;

extern int subject_quiet_lock;
/* Two variables of one line, and an instruction that cannot run in a transaction. */
extern long subject_reads;
extern long subject_writes;
extern const char subject_pause[];

/* Return addresses; the last two are instructions. */
struct subject_sites {
	uint64_t insert;
	uint64_t lookup;
	uint64_t create;
	uint64_t inlined;
	uint64_t count;
	uint64_t drain;
};

void subject_run(struct subject_sites *sites);

#endif
