/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.h - the samples of a row, named: stacks, data, other sections.
 *
 * Must never show an address: addresses change from run to run.
 */
#ifndef ELIDE_EVIDENCE_H
#define ELIDE_EVIDENCE_H

#include "report.h"

/* Frames of a stack to show, at most; inlined functions count as frames. */
#define FRAMES_MAX 128

enum sharing { SHARING_UNKNOWN, SHARING_TRUE, SHARING_FALSE };

/**
 * struct data_name - what lies at the bytes of a line that two threads touched.
 * @type:   enum elide_data_type
 * @name:   its name in a report
 * @own:    if static data, the variable that the aborted thread touched
 * @other:  if static data, the variable that the other thread touched; empty if unknown
 * @block_size: size of the heap block, 0 if there is none
 * @offset, @other_offset: offset of the first byte that each touched, in variable or block
 * @own_bytes, @other_bytes: first and last byte that each touched; -1 if unknown
 */
struct data_name {
	unsigned int type;
	char name[512];
	struct place own;
	struct place other;
	uint64_t block_size;
	uint64_t offset;
	uint64_t other_offset;
	int own_bytes[2];
	int other_bytes[2];
	enum sharing sharing;
};

/**
 * evidence_build() - give the samples, details and blames of the file to the lines built.
 *
 * Return: 0 or -ENOMEM.
 */
int evidence_build(struct report *r);

/** evidence_free() - release what evidence_build() took. */
void evidence_free(struct report *r);

/**
 * evidence_data() - name the data that a detail is about.
 *
 * Return: 1, or 0 if the detail has no data.
 */
int evidence_data(const struct report *r, const struct elide_detail *d, struct data_name *name);

/**
 * evidence_frames() - the frames of a stack.
 * @stack: as in a record: index + 1, 0 for none
 * @frames: FRAMES_MAX, the innermost first; those of this project's own functions are left out
 *
 * Return: their number.
 */
size_t evidence_frames(const struct report *r, uint32_t stack, struct place *frames);

/** evidence_lock_bytes() - the bytes of a detail's cache line that belong to the lock, a bit each. */
uint64_t evidence_lock_bytes(const struct elide_detail *d);

/** evidence_own_code() - is an address in the code of elide's library? */
int evidence_own_code(const struct report *r, uint64_t pc);

/** evidence_sharing() - true or false sharing, by the bytes of a line. */
enum sharing evidence_sharing(const struct elide_detail *d);

/** evidence_event_order() - compare two decisions by their time, for qsort(3). */
int evidence_event_order(const void *x, const void *y);

const char *sharing_name(enum sharing s);

#endif
