/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top-screen.h - a text on the terminal, and keys from it.
 *
 * Must never know what the text is about.
 */
#ifndef ELIDE_TOP_SCREEN_H
#define ELIDE_TOP_SCREEN_H

#include <stddef.h>

/* Keys other than characters. */
enum { SCREEN_NOTHING = -1, SCREEN_RESIZED = 1000, SCREEN_UP, SCREEN_DOWN, SCREEN_PAGE_UP,
       SCREEN_PAGE_DOWN, SCREEN_HOME, SCREEN_ENDED };

/**
 * screen_open() - take the terminal.
 *
 * Return: NULL, or why it cannot be.
 */
const char *screen_open(void);

/** screen_close() - restore the terminal; does nothing if screen_open() was not called. */
void screen_close(void);

/** screen_size() - its height and width. */
void screen_size(int *height, int *width);

/**
 * screen_show() - show a text from the top, cut to the screen. Its colours are those of colour_on().
 * @reverse: number of the line to highlight, from 0; negative for none
 * @footer: the last line of the screen, which is highlighted, too
 */
void screen_show(const char *text, int reverse, const char *footer);

/**
 * screen_key() - wait for a key.
 * @timeout_ms: for this time at most
 *
 * Return: a character, SCREEN_NOTHING, another of the above; SCREEN_ENDED if there is no more
 * terminal.
 */
int screen_key(int timeout_ms);

#endif
