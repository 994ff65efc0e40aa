/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * text.h - formatting without libc's snprintf(), which another library may wrap, and which takes 1,500 bytes
 * of a stack that may be small.
 */
#ifndef ELIDE_TEXT_H
#define ELIDE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "../compiler.h"

#pragma GCC visibility push(hidden)

/**
 * elide_text() - as snprintf(3), for what the library needs of it.
 * @to: receives the text, always ended by a NUL unless @size is 0
 * @size: its size in bytes
 * @format: %s %d %u %x %c %%, with l or z before the letter; %.Ns and %.*s cut a string
 *
 * Return: bytes that the whole text has, as snprintf(3).
 */
int elide_text(char *to, size_t size, const char *format, ...) __printf(3, 4);

/** elide_text_list() - elide_text() with a list of arguments, as vsnprintf(3). */
int elide_text_list(char *to, size_t size, const char *format, va_list args) __printf(3, 0);

/** elide_text_error() - the text of an errno, in English; never NULL. Does not allocate. */
const char *elide_text_error(int err);

#pragma GCC visibility pop

#endif
