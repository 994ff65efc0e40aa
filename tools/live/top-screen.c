// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top-screen.c - a text on the terminal, and keys from it, with ncurses.
 *
 * Must never know what the text is about.
 */
#include "top-screen.h"

#include <curses.h>
#include <poll.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

static SCREEN *screen;

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

void screen_show(const char *text, int reverse)
{
	erase();
	for (int line = 0; *text && line < LINES; line++) {
		int len = strcspn(text, "\n");

		if (line == reverse)
			attron(A_REVERSE);
		/* A character in the last place of the last line would scroll the screen. */
		mvaddnstr(line, 0, text, len < COLS ? len : COLS - (line == LINES - 1));
		if (line == reverse) {
			for (int x = len; x < COLS; x++)
				addch(' ');
			attroff(A_REVERSE);
		}
		text += len + (text[len] == '\n');
	}
	refresh();
}

/* Is the terminal gone? getch() returns the same for that as for a timeout. */
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
