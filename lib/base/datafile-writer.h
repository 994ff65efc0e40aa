/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-writer.h - the writing side of the data file.
 *
 * One file per process. Must never be called inside a transaction: it makes system calls and touches the
 * file's mapping. Callers serialise themselves by the engine's lock, but for elide_data_publish() and
 * for elide_data_record() as elide_data_has_room() allows.
 */
#ifndef ELIDE_DATAFILE_WRITER_H
#define ELIDE_DATAFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

enum elide_data_who {
	ELIDE_DATA_FIRST, /* a program: the name of ELIDE_OUTPUT, unless it is in use */
	ELIDE_DATA_CHILD, /* a forked child: always NAME.PID */
	ELIDE_DATA_ALONE, /* a program: no file if the name is in use */
	ELIDE_DATA_EXIT,  /* ELIDE_DATA_ALONE at the end of a process without a lock call */
};

/**
 * elide_data_open() - create and map the data file of this process.
 * @pattern: its name, in which %p and %e are replaced
 * @run: identifier of the elide run, 0 for none
 * @max: bytes it may grow to
 * @who: the process that opens it
 *
 * If the file cannot be created, anonymous memory takes its place and one line on standard error
 * says so.
 *
 * Return: 0; -EEXIST if no file is needed; -errno if there is not even memory.
 */
int elide_data_open(const char *pattern, uint64_t run, size_t max, enum elide_data_who who);

/** elide_data_leave_out_args() - files opened from now on have no arguments but the program's name. */
void elide_data_leave_out_args(void);

/**
 * elide_data_close() - at the end of the process: complete the file, and give it its name.
 *
 * Writes the file of a process without a lock call (ELIDE_DATA_EXIT), to which nothing may be added.
 */
void elide_data_close(void);

/* The header, and with it the mapping; NULL before elide_data_open(). */
extern struct elide_header *elide_data;

/**
 * elide_data_chunk() - append a chunk.
 * @type: of its records
 * @record_size: bytes of a record
 *
 * Return: the chunk, zeroed but for its header; NULL when the file is full.
 */
struct elide_chunk *elide_data_chunk(enum elide_chunk_type type, unsigned int record_size);

/**
 * elide_data_record() - room for one more record.
 * @chunk: chunk that is being filled, NULL at first; replaced when it is full
 * @type: of the records
 * @record_size: bytes of a record
 *
 * The record counts once elide_data_publish() is called on *@chunk.
 *
 * Return: the record, zeroed; NULL when the file is full.
 */
void *elide_data_record(struct elide_chunk **chunk, enum elide_chunk_type type,
			unsigned int record_size);

/**
 * elide_data_has_room() - has a chunk room for one more record?
 *
 * If so, the only thread that fills it may call elide_data_record() for it without the engine's lock.
 */
bool elide_data_has_room(const struct elide_chunk *chunk, unsigned int record_size);

/** elide_data_publish() - count the record that elide_data_record() gave last. */
void elide_data_publish(struct elide_chunk *chunk);

/** elide_data_path() - path of the data file as it is now, NULL if nothing is saved. */
const char *elide_data_path(void);

/** elide_data_path_last() - path of the data file, also after elide_data_leave(); "" if there was none. */
const char *elide_data_path_last(void);

/**
 * elide_data_start() - prepare to count the descendants of this process that have no data file.
 * @began_ns: CLOCK_REALTIME at its start
 * @max_files: files of child processes that may be there
 */
void elide_data_start(uint64_t began_ns, unsigned int max_files);

/** elide_data_tell_lost() - write into the header what is known of descendants without a file. */
void elide_data_tell_lost(void);

/**
 * elide_data_keep() - keep the data file open, as it may not be possible to open it again.
 *
 * The descriptor has a high number and is closed by exec. If the program closes it or reuses its number,
 * the data file no longer grows.
 */
void elide_data_keep(void);

/**
 * elide_data_detach() - in a forked child that has no file yet: put memory where the parent's was mapped.
 *
 * The child has not got that mapping. If a signal handler forked, the child may return into a lock call
 * that is about to count in it. A second call does nothing.
 */
void elide_data_detach(void);

/**
 * elide_data_close_off() - a filter comes, under which the file cannot grow.
 * @chunks: room to be made in it before
 *
 * A forked child keeps the mapping, as elide_data_detach() cannot put memory there.
 */
void elide_data_close_off(unsigned int chunks);

/** elide_data_open_up() - the filter has not come: a forked child has no mapping of the file. */
void elide_data_open_up(void);

/**
 * elide_data_none() - a forked child can have no data file: its ancestors count that.
 * @err: why
 */
void elide_data_none(int err);

/**
 * elide_data_leave() - the file is closed: put memory with the same content where it is mapped.
 *
 * For a process that goes on and may open another file. A thread that was in a lock call when the file was
 * closed counts in that memory, which therefore stays mapped.
 *
 * Return: 0; -errno: then the file stays mapped.
 */
int elide_data_leave(void);

/** elide_data_forget() - in a forked child: detach it from the parent's file; it has none yet. */
void elide_data_forget(void);

#pragma GCC visibility pop

#endif
