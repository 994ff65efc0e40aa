// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * library.c - where the loader finds a library: see library.h.
 *
 * Must never load one.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/elf-file.h"
#include "library.h"

/* What $LIB stands for, in Debian and where /lib64 has the libraries of x86-64. */
static const char *const libs[] = {"lib/x86_64-linux-gnu", "lib64"};

void library_origin(struct library_needs *n, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(n->origin, sizeof(n->origin), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
}

int library_is_ours(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file elf;
	int same;

	if (fd < 0)
		return 0;
	same = !elf_file_begin(&elf, fd) && elf.is_amd64;
	elf_file_end(&elf);
	close(fd);
	return same;
}

/* The subdirectories for this processor, the best first: "Tunables" of the x86-64 psABI, 3.1.1. */
static int try_hwcaps(const char *dir, const char *name, char *path)
{
	const int has[] = {
		__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"),
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
			__builtin_cpu_supports("fma"),
		__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") &&
			__builtin_cpu_supports("ssse3"),
	};

	for (int i = 0; i < 3; i++) {
		if (!has[i] || snprintf(path, PATH_MAX, "%s/glibc-hwcaps/x86-64-v%d/%s", dir, 4 - i,
					name) >= PATH_MAX)
			continue;
		if (library_is_ours(path))
			return 1;
	}
	return 0;
}

/* The length of the token $NAME or ${NAME} at the beginning of a text; 0 if it is not there. */
static size_t token(const char *text, const char *name)
{
	size_t len = strlen(name), brace = text[1] == '{';

	if (*text != '$' || strncmp(text + 1 + brace, name, len) || (brace && text[2 + len] != '}'))
		return 0;
	return 1 + len + 2 * brace;
}

/* Copies a directory of a list, which ends at @end, and replaces its tokens. */
static void expand(char *to, const char *dir, const char *end, const char *origin, const char *lib)
{
	size_t len = 0, n;

	*to = '\0';
	while (dir < end && len + 1 < PATH_MAX) {
		const char *value = NULL;

		if ((n = token(dir, "ORIGIN")))
			value = origin;
		else if ((n = token(dir, "LIB")))
			value = lib;
		else if ((n = token(dir, "PLATFORM")))
			value = "x86_64";
		if (value)
			len += snprintf(to + len, PATH_MAX - len, "%s", value);
		else
			to[len++] = *dir;
		dir += value ? n : 1;
	}
	to[len < PATH_MAX ? len : PATH_MAX - 1] = '\0';
}

/* Looks in directories separated by colons, in LD_LIBRARY_PATH by semicolons, too. */
static int try_dirs(const char *dirs, const char *separators, const char *origin, const char *name,
		    char *path)
{
	char dir[PATH_MAX];

	for (const char *end; *dirs; dirs = end + (*end != '\0')) {
		end = dirs + strcspn(dirs, separators);
		for (size_t i = 0; i < ARRAY_SIZE(libs); i++) {
			expand(dir, dirs, end, origin, libs[i]);
			/* An empty element is the current directory. */
			if (!*dir)
				strcpy(dir, ".");
			if (try_hwcaps(dir, name, path) ||
			    (snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX &&
			     library_is_ours(path)))
				return 1;
		}
	}
	return 0;
}

/* Looks in the directories of a file like /etc/ld.so.conf and of its includes. */
static int try_conf(const char *conf, const char *name, char *path, int depth)
{
	char line[PATH_MAX];
	FILE *f = fopen(conf, "re");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "#\n")] = '\0';
		if (!strncmp(line, "include ", 8) && depth < 4) {
			glob_t g;

			if (glob(line + 8, 0, NULL, &g))
				continue;
			for (size_t i = 0; i < g.gl_pathc && !found; i++)
				found = try_conf(g.gl_pathv[i], name, path, depth + 1);
			globfree(&g);
		} else if (line[0] == '/') {
			found = try_dirs(line, " \t:", "", name, path);
		}
	}
	if (f)
		fclose(f);
	return found;
}

int library_find(const struct library_needs *n, const char *name, char *path)
{
	static const char standard[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
				       "/lib64:/usr/lib64:/lib:/usr/lib";
	const char *user = getenv("LD_LIBRARY_PATH");

	if (strchr(name, '/')) {
		expand(path, name, name + strlen(name), n->origin, libs[0]);
		return library_is_ours(path);
	}
	for (const struct library_needs *o = n; o && !*n->runpath; o = o->by)
		if (try_dirs(o->rpath, ":", o->origin, name, path))
			return 1;
	return (user && try_dirs(user, ":;", n->origin, name, path)) ||
	       try_dirs(n->runpath, ":", n->origin, name, path) ||
	       try_conf("/etc/ld.so.conf", name, path, 0) || try_dirs(standard, ":", "", name, path);
}
