// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * demangle.c - see demangle.h.
 *
 * Not in symbolize.c, because libiberty's header and lib/compiler.h define the same macros.
 */
#include "demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

static char *demangle_with(const char *name, int options)
{
	size_t prefix = strncmp(name, "__GI_", 5) ? 0 : 5;
	char *own = strndup(name + prefix, strcspn(name + prefix, "@"));
	char *plain = NULL, *clone;

	/* Only these: cplus_demangle() would also rewrite names of C that begin with _GLOBAL_. */
	if (own && (!strncmp(own, "_Z", 2) || !strncmp(own, "_R", 2)))
		plain = cplus_demangle(own, DMGL_AUTO | DMGL_ANSI | options);
	if (!plain)
		return own;
	free(own);
	clone = strstr(plain, " [clone ");
	if (clone)
		*clone = '\0';
	return plain;
}

char *demangle(const char *name)
{
	return demangle_with(name, DMGL_PARAMS);
}

char *demangle_own(const char *name)
{
	char *own = demangle_with(name, DMGL_NO_OPTS), *to = own;
	int depth = 0;

	/* Arguments follow a name, or "::" in Rust, where the name of a method may begin with <its type>. */
	for (const char *at = own; at && *at; at++) {
		if (*at == '<' && (depth || (at > own && (isalnum((unsigned char)at[-1]) || strchr("_:", at[-1])))))
			depth++;
		else if (*at == '>' && depth)
			depth -= at[-1] != '-';
		else if (!depth)
			*to++ = *at;
	}
	if (to)
		*to = '\0';
	return own;
}
