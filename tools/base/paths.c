// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paths.c - a growing list of paths, or of other texts.
 *
 * Must never open a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "paths.h"

int paths_add(struct paths *p, const char *path)
{
	char **grown = reallocarray(p->path, p->nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->path = grown;
	grown[p->nr] = strdup(path);
	if (!grown[p->nr])
		return -ENOMEM;
	p->nr++;
	return 0;
}

void paths_free(struct paths *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->path[i]);
	free(p->path);
	memset(p, 0, sizeof(*p));
}
