// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * progress.c - shows the progress of a phase on stderr, and only on a terminal.
 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

/**
 * progress_show() - show the progress of a phase on a terminal
 * @what: name of the phase
 * @done: part of @all that is done
 * @all: size of the phase, at least 1
 */
void progress_show(const char *what, uint64_t done, uint64_t all)
{
	static const char bar[] = "########################################";
	int filled = (int)((double)done / (double)all * (double)(sizeof(bar) - 1));

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s [%-40.*s] %3d %%", what, filled, bar,
			(int)((double)done / (double)all * 100));
}

/** progress_clear() - clear the line of progress_show() at the end of a phase */
void progress_clear(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
