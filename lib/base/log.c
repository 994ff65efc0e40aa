/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.c - see log.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "log.h"
#include "syscalls.h"

void elide_log(const char *format, ...)
{
	char line[512] = "elide: ";
	int saved = errno, len = 7, n;
	va_list args;

	va_start(args, format);
	n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	if (n > 0)
		len += n < (int)sizeof(line) - len - 1 ? n : (int)sizeof(line) - len - 2;
	line[len++] = '\n';
	if (sys_write(STDERR_FILENO, line, len) < 0)
		errno = saved; /* no other place for an error */
	errno = saved;
}
