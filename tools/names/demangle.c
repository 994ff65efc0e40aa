// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * demangle.c - see demangle.h.
 *
 * Not in symbolize.c, because libiberty's header and lib/compiler.h define the same macros.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

char *demangle(const char *name)
{
	size_t prefix = strncmp(name, "__GI_", 5) ? 0 : 5;
	char *own = strndup(name + prefix, strcspn(name + prefix, "@"));
	char *plain = NULL, *clone;

	/* Only these: cplus_demangle() would also rewrite names of C that begin with _GLOBAL_. */
	if (own && (!strncmp(own, "_Z", 2) || !strncmp(own, "_R", 2)))
		plain = cplus_demangle(own, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
	if (!plain)
		return own;
	free(own);
	clone = strstr(plain, " [clone ");
	if (clone)
		*clone = '\0';
	return plain;
}
