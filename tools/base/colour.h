/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * colour.h - colours of text on a terminal.
 *
 * Must never colour what goes to a file or a pipe, unless that is asked for.
 */
#ifndef ELIDE_COLOUR_H
#define ELIDE_COLOUR_H

#include <stddef.h>

enum colour { COLOUR_NONE, COLOUR_HEAD, COLOUR_BAD, COLOUR_WARN, COLOUR_GOOD, COLOUR_DIM };

/* When text is coloured: on a terminal unless NO_COLOR is set, always, or never. */
enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/**
 * colour_set() - decide whether text for @fd is coloured from now on; initially it is not.
 *
 * COLOUR_AUTO follows the NO_COLOR convention (no-color.org): a variable of that name that is not
 * empty means no colour.
 */
void colour_set(enum colour_when when, int fd);

/** colour_words() - the arguments of --color. */
const char *colour_words(size_t nth);

/**
 * colour_option() - do as the argument of --color says, for standard output.
 *
 * Return: 0, or -EINVAL after one line.
 */
int colour_option(const char *when);

/** colour_on() - the text that begins a colour; empty if text is not coloured. */
const char *colour_on(enum colour colour);

/** colour_off() - the text that ends @colour. */
const char *colour_off(enum colour colour);

#endif
