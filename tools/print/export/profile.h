/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - a profile in the format of pprof: profile.proto, compressed by gzip.
 *
 * Source: github.com/google/pprof, proto/profile.proto. Must never know what is profiled.
 */
#ifndef ELIDE_PROFILE_H
#define ELIDE_PROFILE_H

#include <stdint.h>
#include <stdio.h>

#include "../../model/report.h"
#include "../../base/intern.h"
#include "proto.h"

/* Values of a sample. */
enum profile_value {
	PROFILE_CONTENTIONS,
	PROFILE_DELAY,
	PROFILE_HOLD,
	PROFILE_ABORTS,
	PROFILE_WASTED,
	PROFILE_NR_VALUES
};

/* The text in the head of the file by which it is recognised. */
#define PROFILE_MARK "elide report --pprof"

/**
 * struct profile_label - a label of a sample.
 * @text: NULL for a number
 */
struct profile_label {
	const char *key;
	const char *text;
	uint64_t number;
};

/**
 * struct profile - a profile being made.
 * @body: complete samples, locations, functions
 * @scratch, @inner: messages being made
 * @seen: by module: 1 a location is in it, 2 and some of its locations have names
 * @failed: there was no memory
 */
struct profile {
	const struct report *r;
	struct proto body;
	struct proto scratch;
	struct proto inner;
	struct intern strings;
	struct intern functions;
	struct intern locations;
	unsigned char *seen;
	bool failed;
};

/** profile_begin() - an empty profile of a report's file. Return: 0 or -ENOMEM. */
int profile_begin(struct profile *p, const struct report *r);

/**
 * profile_location() - the location of an address.
 * @exact: it is the address of an instruction; else a return address
 *
 * Return: its number; 0 for code of this project, which profiles leave out.
 */
uint64_t profile_location(struct profile *p, uint64_t address, int exact);

/** profile_named() - a location with a name but no address. Return: as profile_location(). */
uint64_t profile_named(struct profile *p, const char *name);

/**
 * profile_sample() - add a sample, unless all its values are 0.
 * @locations: of @nr, the innermost first
 * @values: by enum profile_value
 * @labels: of @nr_labels
 */
void profile_sample(struct profile *p, const uint64_t *locations, size_t nr,
		    const uint64_t *values, const struct profile_label *labels, size_t nr_labels);

/**
 * profile_end() - write the profile.
 * @comments: of @nr_comments; pprof -comments prints them
 *
 * Return: 0, or -errno.
 */
int profile_end(struct profile *p, FILE *out, const char *const *comments, size_t nr_comments);

/** profile_free() - release the profile. */
void profile_free(struct profile *p);

#endif
