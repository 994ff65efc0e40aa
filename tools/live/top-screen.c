// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top-screen.c - a text on the terminal, and keys from it, with ncurses.
 *
 * Must never know what the text is about.
 */
#include "top-screen.h"

#include <curses.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

static SCREEN *screen;
static bool has_colours;

const char *screen_open(void)
{
	static const char cannot[] = "this terminal cannot move its cursor";
	const char *cup;
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "input and output are not a terminal";
	/* newterm() would end the process or print on a terminal that it does not know. */
	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return "the terminal is not known, or TERM is not set";
	cup = tigetstr("cup");
	if (!cup || cup == (char *)-1)
		return cannot;
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return cannot;
	has_colours = start_color() == OK && has_colors() && use_default_colors() == OK;
	for (int colour = 0; has_colours && colour < 8; colour++)
		init_pair(colour + 1, colour, -1);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	/* The Escape key alone has no meaning here: wait 25 ms for the rest of a key's sequence. */
	set_escdelay(25);
	return NULL;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void screen_size(int *height, int *width)
{
	*height = LINES;
	*width = COLS;
}

/* Attributes of the sequence of colour_on() or colour_off() that @text begins with: its length, or 0. */
static int sequence(const char *text, attr_t *attributes)
{
	const char *p = text + 2;

	if (strncmp(text, "\033[", 2))
		return 0;
	*attributes = A_NORMAL;
	for (; *p && *p != 'm'; p += *p == ';') {
		int number = strtol(p, (char **)&p, 10);

		if (number == 1)
			*attributes |= A_BOLD;
		else if (number == 2)
			*attributes |= A_DIM;
		else if (number >= 30 && number <= 37 && has_colours)
			*attributes |= COLOR_PAIR(number - 30 + 1);
		else if (number)
			break;
	}
	return *p == 'm' ? (int)(p + 1 - text) : 0;
}

/* Shows a line of @len bytes, which stands out if @reverse. */
static void show_line(int line, const char *text, int len, bool reverse)
{
	/* Leave the last column of the last line free: a character there would scroll the screen. */
	int room = COLS - (line == LINES - 1), x = 0, length;
	attr_t attributes = A_NORMAL;

	move(line, 0);
	attrset(reverse ? A_REVERSE : A_NORMAL);
	for (int at = 0; at < len && x < room; at += length) {
		length = sequence(text + at, &attributes);
		if (length) {
			attrset(attributes | (reverse ? A_REVERSE : 0));
			continue;
		}
		length = (int)strcspn(text + at, "\033\n");
		length = length > len - at ? len - at : length;
		length = length > room - x ? room - x : length;
		/* A control character outside of a sequence is not printed. */
		if (!length)
			break;
		addnstr(text + at, length);
		x += length;
	}
	while (reverse && x++ < room)
		addch(' ');
	attrset(A_NORMAL);
}

void screen_show(const char *text, int reverse, const char *footer)
{
	erase();
	for (int line = 0; *text && line < LINES - 1; line++) {
		int len = strcspn(text, "\n");

		show_line(line, text, len, line == reverse);
		text += len + (text[len] == '\n');
	}
	show_line(LINES - 1, footer, strlen(footer), true);
	refresh();
}

/* Is the terminal gone? getch() does not distinguish that from a timeout. */
static int is_gone(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int screen_key(int timeout_ms)
{
	int key;

	timeout(timeout_ms);
	key = getch();
	switch (key) {
	case ERR:
		return is_gone() ? SCREEN_ENDED : SCREEN_NOTHING;
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	}
	return key < 256 ? key : SCREEN_NOTHING;
}
