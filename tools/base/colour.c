// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * colour.c - colours of text on a terminal, by the sequences of ECMA-48 (SGR).
 *
 * Must never colour what goes to a file or a pipe, unless that is asked for.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "colour.h"
#include "options.h"

static bool coloured;

void colour_set(enum colour_when when, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	bool dumb = !term || !strcmp(term, "dumb");

	coloured = when == COLOUR_ALWAYS ||
		   (when == COLOUR_AUTO && !(no && *no) && !dumb && isatty(fd));
}

const char *colour_on(enum colour colour)
{
	static const char *const sequences[] = {
		[COLOUR_NONE] = "",
		[COLOUR_HEAD] = "\033[1m",
		[COLOUR_BAD] = "\033[1;31m",
		[COLOUR_WARN] = "\033[33m",
		[COLOUR_GOOD] = "\033[32m",
		[COLOUR_DIM] = "\033[2m",
	};

	return coloured ? sequences[colour] : "";
}

const char *colour_off(enum colour colour)
{
	return coloured && colour != COLOUR_NONE ? "\033[0m" : "";
}

OPTION_VALUES(colour_words, "auto", "always", "never")

int colour_option(const char *when)
{
	size_t word;

	if (option_word("color", when, colour_words, &word))
		return -EINVAL;
	colour_set(COLOUR_AUTO + word, STDOUT_FILENO);
	return 0;
}
