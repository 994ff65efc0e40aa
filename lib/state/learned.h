/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learned.h - the file of ELIDE_LEARNED: what the adaptive policy has learnt, from one process to the
 * next.
 *
 * A header, and three tables: names of arms, objects, classes. Addresses in memory differ between
 * processes, so the file names a class or a call site by the build-id of its object and the address in
 * it. learned_open() checks the whole file before anything in it is trusted.
 *
 * No system calls: small-file.h reads and writes the bytes. In a global-lock path, or by one thread alone.
 */
#ifndef ELIDE_STATE_LEARNED_H
#define ELIDE_STATE_LEARNED_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"
#include "../policy/learn.h"

#pragma GCC visibility push(hidden)

#define LEARNED_MAGIC   0x4e5241454c444c45ull /* "ELDLEARN" */
#define LEARNED_VERSION 2

/* Bytes of a file, and entries of its tables, at most. */
#define LEARNED_MAX     (1u << 20)
#define LEARNED_ARMS    64
#define LEARNED_OBJECTS 256

/* Sites of a class in the file: those of struct learn_class. */
#define LEARNED_SITES 8

/* No such object, class or arm. */
#define LEARNED_NONE 0xffffffffu

/**
 * struct learned_header - the header of the file; little-endian, as everything in it.
 * @magic: LEARNED_MAGIC
 * @version: LEARNED_VERSION
 * @header_size: bytes of the header
 * @size: bytes of the file
 * @checksum: learned_checksum() of the file, in which this member counts as 0
 * @nr_arms, @nr_objects, @nr_classes: entries of the tables, which follow in this order
 * @machine: the machine on which it was learnt, in words; ended by a NUL
 */
struct learned_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint64_t checksum;
	uint32_t size;
	uint32_t nr_arms;
	uint32_t nr_objects;
	uint32_t nr_classes;
	char machine[472];
};

_Static_assert(sizeof(struct learned_header) == 512, "fixed layout");

/** struct learned_arm - an arm of arms.def, of the library that wrote the file. @name: ends by a NUL */
struct learned_arm {
	char name[16];
};

/**
 * struct learned_object - a program or library.
 * @build_id_len: bytes of @build_id, at least 1
 * @build_id: GNU build-id; the rest is 0
 * @path: end of the path of its file; ended by a NUL
 */
struct learned_object {
	uint32_t build_id_len;
	uint8_t build_id[36];
	char path[216];
};

_Static_assert(sizeof(struct learned_object) == 256, "fixed layout");

/**
 * struct learned_site - a call site whose sections cannot be elided.
 * @object: index in the table of objects
 * @kind: enum elide_kind of the call
 * @reserved: 0
 * @offset: return address of the call in the object
 */
struct learned_site {
	uint32_t object;
	uint16_t kind;
	uint16_t reserved;
	uint64_t offset;
};

/**
 * struct learned_class - what is kept of a class of locks.
 * @object: index in the table of objects
 * @type: enum elide_class_type
 * @kind: as in struct elide_class
 * @offset: address of struct elide_class, in the object
 * @array: bytes of the array, or 0
 * @shared: 1: its locks are process-shared
 * @nr_sites: entries of @sites in use; the others are 0
 * @arm: index in the table of arms: incumbent of the class
 * @asked: challenges of the first round that are over; LEARN_ASKED_ALL: all
 * @period_us: time between challenges, us
 * @confidence: probability that the arm is on the right side of eliding and locking, in 1/1000; 0:
 *       they were not compared
 * @reserved, @reserved2: 0
 * @due_us: time of use of the class until the next challenge, us
 * @aborts: aborts by other threads in 1000 sections, while something was elided
 * @waits: acquisitions that found the lock held in 1000 sections, while nothing was elided
 * @sites: the call sites whose sections cannot be elided
 *
 * Classes are sorted by object, type, kind, shared and offset; no two agree in all of these.
 */
struct learned_class {
	uint32_t object;
	uint16_t type;
	uint16_t kind;
	uint64_t offset;
	uint32_t array;
	uint8_t shared;
	uint8_t nr_sites;
	uint8_t arm;
	uint8_t asked;
	uint32_t period_us;
	uint16_t confidence;
	uint16_t reserved;
	uint32_t due_us;
	uint32_t aborts;
	uint32_t waits;
	uint32_t reserved2;
	struct learned_site sites[LEARNED_SITES];
};

_Static_assert(sizeof(struct learned_class) == 48 + 16 * LEARNED_SITES, "fixed layout");
_Static_assert(LEARNED_SITES == LEARN_SITES, "another number needs another LEARNED_VERSION");

/* Classes for which a file has room, whatever else is in it. */
#define LEARNED_CLASSES                                                                    \
	((LEARNED_MAX - sizeof(struct learned_header) - LEARNED_ARMS * sizeof(struct learned_arm) - \
	  LEARNED_OBJECTS * sizeof(struct learned_object)) / sizeof(struct learned_class))

/**
 * struct learned_file - a file in memory.
 * @header: NULL: there is none
 * @arms, @objects, @classes: its tables
 * @arm: by index in @arms: enum policy_arm_name; LEARNED_NONE: this library has no such arm, or never as
 *       an incumbent
 * @same_arms: this library has the arms of the one that wrote the file, so numbers of challenges mean the
 *       same
 */
struct learned_file {
	const struct learned_header *header;
	const struct learned_arm *arms;
	const struct learned_object *objects;
	const struct learned_class *classes;
	uint32_t arm[LEARNED_ARMS];
	bool same_arms;
};

/**
 * struct learned_image - a file that is being made. About 1 MiB; only what is used is touched.
 * @nr_objects, @nr_classes: entries in use
 * @left_out: classes for which there was no room
 * @waited_us: by class: not 0: nothing was decided about the class, which was used for this time; what
 *            another file has of it stays, but for @due_us
 * @objects, @classes: the tables; those of the arms are arms.def
 */
struct learned_image {
	uint32_t nr_objects;
	uint32_t nr_classes;
	uint32_t left_out;
	struct learned_object objects[LEARNED_OBJECTS];
	struct learned_class classes[LEARNED_CLASSES];
	uint32_t waited_us[LEARNED_CLASSES];
};

/** learned_checksum() - checksum of a whole file of @size bytes, a multiple of 8, at least a header. */
uint64_t learned_checksum(const void *bytes, size_t size);

/**
 * learned_open() - check whether the bytes are a file that can be used.
 * @f: filled; without tables unless the result is ELIDE_LEARNED_used
 * @bytes: aligned to 8; must stay as they are while @f is used
 * @size: their number
 * @machine: this machine, see learned_header.machine
 *
 * Return: ELIDE_LEARNED_used; _new if there are no bytes; _foreign, _version, _damaged, _machine.
 */
enum elide_learned learned_open(struct learned_file *f, const void *bytes, size_t size,
				const char *machine);

/**
 * learned_object() - index of the object with a build-id; LEARNED_NONE if the file has none.
 * @f: the file
 * @m: the object, in this process
 * @other_build: set: the file has not got the object, but another build of the same path
 */
uint32_t learned_object(const struct learned_file *f, const struct elide_module *m,
			bool *other_build);

/**
 * learned_class() - what the file has of a class.
 * @f: the file
 * @wanted: object, type, kind, offset and shared
 *
 * A static lock is also found by the array that it lies in.
 *
 * Return: the class, NULL if it has none, or one with an arm that this library does not have.
 */
const struct learned_class *learned_class(const struct learned_file *f,
					  const struct learned_class *wanted);

/** learned_site() - the unelidable site of a class with @object, @offset and @kind of @wanted; or NULL. */
const struct learned_site *learned_site(const struct learned_file *f, const struct learned_class *c,
					const struct learned_site *wanted);

/** learned_image_object() - index of @m in a new file; LEARNED_NONE if it has no build-id or no room. */
uint32_t learned_image_object(struct learned_image *image, const struct elide_module *m);

/**
 * learned_image_class() - add a class, whose @arm is an enum policy_arm_name.
 * @image: the new file
 * @c: the class; if nothing was decided about it, only its key is of use
 * @waited_us: of struct learned_image
 */
void learned_image_class(struct learned_image *image, const struct learned_class *c,
			 uint32_t waited_us);

/**
 * learned_image_merge() - add the classes of another file about which nothing was decided here.
 * @image: the new file
 * @f: the other one
 *
 * Leaves out classes of an object of which the new file has another build, and classes with arms that this
 * library has not got.
 */
void learned_image_merge(struct learned_image *image, const struct learned_file *f);

/**
 * learned_image_write() - the new file as bytes.
 * @image: the new file, sorted by this
 * @machine: see learned_header.machine
 * @bytes: room for LEARNED_MAX bytes, aligned to 8
 *
 * Return: their number.
 */
size_t learned_image_write(struct learned_image *image, const char *machine, void *bytes);

#pragma GCC visibility pop

#endif
