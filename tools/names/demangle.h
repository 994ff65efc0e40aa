/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle.h - the names of linkers as their source has them: C++, and Rust in both of its manglings.
 */
#ifndef ELIDE_DEMANGLE_H
#define ELIDE_DEMANGLE_H

/**
 * demangle() - the name as in the source: demangled, without its version, glibc's prefix for its
 * own functions, the compiler's suffix for a clone, and the hash that Rust adds.
 *
 * Return: to be freed; NULL without memory.
 */
char *demangle(const char *name);

/**
 * demangle_own() - the qualified name of a function, without the types of its parameters and without the
 * arguments of templates.
 *
 * Return: to be freed; NULL without memory.
 */
char *demangle_own(const char *name);

#endif
