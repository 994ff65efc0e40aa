/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * what-if.h - the value of ELIDE_WHAT_IF, by which elide what-if tells the library which sections the
 * emulator makes faster:
 *
 *	PER_MILLE[,CLASS:SITE]...[,]...
 *
 * CLASS and SITE are keys of elide_place_key() in hexadecimal; SITE is 0 for all call sites of the class.
 */
#ifndef ELIDE_WHAT_IF_H
#define ELIDE_WHAT_IF_H

#include <stdint.h>

/* Pairs of CLASS and SITE, at most: with these the text is shorter than ELIDE_TUNABLE_TEXT. */
#define ELIDE_WHAT_IF_MAX 28

/* Bytes of the text without its NUL. Always as many, so that an emulated program finds its stack in place. */
#define ELIDE_WHAT_IF_TEXT (4 + ELIDE_WHAT_IF_MAX * 34)

/**
 * elide_place_key() - identify a place in all runs of a program: FNV-1a of its parts.
 * @type: enum elide_class_type of a class; 0 for a call site
 * @path: of the object
 * @offset: in the object
 *
 * Return: the key, not 0.
 */
static inline uint64_t elide_place_key(unsigned int type, const char *path, uint64_t offset)
{
	uint64_t key = 0xcbf29ce484222325ull;

	for (; *path; path++)
		key = (key ^ (unsigned char)*path) * 0x100000001b3ull;
	for (int shift = 0; shift < 64; shift += 8)
		key = (key ^ (offset >> shift & 0xff)) * 0x100000001b3ull;
	key = (key ^ type) * 0x100000001b3ull;
	return key ? key : 1;
}

#endif
