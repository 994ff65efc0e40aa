// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * messages.c - what the tools say on standard error.
 *
 * Must never write to standard output: that is for results.
 */
#include "messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "text.h"

void say(const char *format, ...)
{
	char line[2048];
	va_list args;
	size_t len;

	va_start(args, format);
	len = snprintf(line, sizeof(line), "elide: ");
	vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	text_clean(line);
	len = strlen(line);
	line[len++] = '\n';
	/* One write, so that a line stays whole among those of the program. */
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}
