/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* live-name.h - the name of a data file while its process runs. */
#ifndef ELIDE_LIVE_NAME_H
#define ELIDE_LIVE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What that name has before and after NAME. */
#define ELIDE_LIVE_BEFORE "."
#define ELIDE_LIVE_AFTER  ".live"

/* The part of a path after the last slash. */
static inline const char *elide_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/** elide_is_live_name() - is it such a name? */
static inline bool elide_is_live_name(const char *path)
{
	const char *base = elide_base_name(path);
	size_t len = strlen(base), before = strlen(ELIDE_LIVE_BEFORE), after = strlen(ELIDE_LIVE_AFTER);

	return len > before + after && !strncmp(base, ELIDE_LIVE_BEFORE, before) &&
	       !strcmp(base + len - after, ELIDE_LIVE_AFTER);
}

/**
 * elide_live_name() - the name of a file while its process runs.
 * @to: filled
 * @size: its size in bytes
 * @path: its final name
 *
 * Return: false if there is no room for it, or if @path is such a name itself.
 */
static inline bool elide_live_name(char *to, size_t size, const char *path)
{
	size_t len = strlen(path), dir = (size_t)(elide_base_name(path) - path);

	if (len + sizeof(ELIDE_LIVE_BEFORE ELIDE_LIVE_AFTER) > size || elide_is_live_name(path))
		return false;
	memcpy(to, path, dir);
	memcpy(to + dir, ELIDE_LIVE_BEFORE, strlen(ELIDE_LIVE_BEFORE));
	memcpy(to + dir + strlen(ELIDE_LIVE_BEFORE), path + dir, len - dir);
	memcpy(to + len + strlen(ELIDE_LIVE_BEFORE), ELIDE_LIVE_AFTER, sizeof(ELIDE_LIVE_AFTER));
	return true;
}

/** elide_final_name() - turn the name of a file while its process runs into its final name, in place. */
static inline void elide_final_name(char *path)
{
	char *base = path + (elide_base_name(path) - path);
	size_t len = strlen(base) - strlen(ELIDE_LIVE_BEFORE ELIDE_LIVE_AFTER);

	if (!elide_is_live_name(path))
		return;
	memmove(base, base + strlen(ELIDE_LIVE_BEFORE), len);
	base[len] = '\0';
}

#endif
