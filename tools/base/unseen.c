// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unseen.c - see unseen.h.
 *
 * Reads /proc and the program's file. Must never stop, trace or start the process.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "text.h"
#include "unseen.h"

static const struct {
	const char *id;
	enum unseen_scope scope;
	const char *name;
	const char *text;
	const char *use;
} reasons[] = {
#define ELIDE_UNSEEN(id, scope, name, text, use) {#id, UNSEEN_##scope, name, text, use},
#include "unseen.def"
#undef ELIDE_UNSEEN
};

const char *unseen_id(enum unseen u)
{
	return reasons[u].id;
}

const char *unseen_name(enum unseen u)
{
	return reasons[u].name;
}

const char *unseen_text(enum unseen u)
{
	return reasons[u].text;
}

const char *unseen_use(enum unseen u)
{
	return reasons[u].use;
}

enum unseen_scope unseen_scope(enum unseen u)
{
	return reasons[u].scope;
}

enum unseen unseen_in(uint32_t set, enum unseen_scope scope)
{
	unsigned int u = 0;

	while (u < NR_UNSEEN && !(set >> u & 1 && reasons[u].scope == scope))
		u++;
	return u;
}

uint32_t unseen_of_program(const struct program *p)
{
	if (!p->is_elf)
		return 0;
	if (p->is_32bit)
		return UNSEEN_BIT(bits32);
	if (!p->is_amd64)
		return UNSEEN_BIT(foreign);
	if (p->is_static)
		return p->is_go ? UNSEEN_BIT(go) : UNSEEN_BIT(linked);
	if (p->is_musl)
		return UNSEEN_BIT(musl);
	if (p->is_privileged)
		return UNSEEN_BIT(privileged);
	return p->is_go ? UNSEEN_BIT(cgo) : 0;
}

enum unseen unseen_obstacle(const struct program *p)
{
	return unseen_in(unseen_of_program(p), UNSEEN_PROGRAM);
}

uint32_t unseen_with_library(uint32_t set)
{
	for (unsigned int u = 0; u < NR_UNSEEN; u++)
		if (reasons[u].scope == UNSEEN_PROGRAM)
			set &= ~(1u << u);
	return set;
}

/* Beginnings of the names of libraries, without the version. */
static const struct {
	const char *name;
	enum unseen reason;
} libraries[] = {
	{"libgomp.so", UNSEEN_openmp},
	/* As it is in wheels of Python: libgomp-a34b3233.so.1.0.0. */
	{"libgomp-", UNSEEN_openmp},
	{"libjvm.so", UNSEEN_java},
};

uint32_t unseen_of_library(const char *name)
{
	uint32_t set = 0;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (!strncmp(name, libraries[i].name, strlen(libraries[i].name)))
			set |= 1u << libraries[i].reason;
	return set;
}

/* The reasons by the objects that the process has mapped. */
static uint32_t of_maps(pid_t pid)
{
	char path[64], *line = NULL;
	bool has_library = false;
	uint32_t set = 0;
	size_t size = 0, nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0) {
		const char *name = strrchr(line, '/');

		nr++;
		if (!name)
			continue;
		set |= unseen_of_library(name + 1);
		/* Also as installed, or linked in place of preloaded. */
		has_library |= !strncmp(name + 1, "libelide", strlen("libelide"));
	}
	free(line);
	if (f)
		fclose(f);
	return nr && !has_library ? set | UNSEEN_BIT(without) : set;
}

uint32_t unseen_of_process(pid_t pid, char *exe, size_t size)
{
	uint32_t set = 0;
	struct program p;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, size - 1);
	exe[n > 0 ? n : 0] = '\0';
	/* Only a program that has gained rights, or another user's, may not be read by its parent. */
	if (n < 0)
		return errno == EACCES ? UNSEEN_BIT(privileged) : 0;
	/* Privileges by the file may be those that this process has already: then the library is there. */
	if (!program_inspect(path, &p))
		set = unseen_of_program(&p) & ~UNSEEN_BIT(privileged);
	return unseen_in(set, UNSEEN_PROGRAM) == NR_UNSEEN ? set | of_maps(pid) : set;
}

/* Per cent of the time of all threads below which a share is not worth a sentence: of a reason found, of none. */
#define LEAST_PERCENT 1
#define LEAST_UNKNOWN 10

static void __attribute__((format(printf, 2, 3))) add(char *to, const char *format, ...)
{
	size_t len = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + len, UNSEEN_SENTENCE - len, format, args);
	va_end(args);
}

void unseen_sentence(uint32_t set, double percent, char *to)
{
	enum unseen program = unseen_in(set, UNSEEN_PROGRAM), waits = unseen_in(set, UNSEEN_WAITS);
	enum unseen runtime = unseen_in(set, UNSEEN_RUNTIME);

	*to = '\0';
	if (program != NR_UNSEEN) {
		add(to, "No lock of it is seen. It is %s; use %s.", unseen_text(program), unseen_use(program));
		return;
	}
	if (runtime != NR_UNSEEN)
		add(to, "%s; use %s.", unseen_text(runtime), unseen_use(runtime));
	/* Go's threads wait there for goroutines that can run. */
	if (runtime == UNSEEN_cgo && waits == NR_UNSEEN)
		return;
	if (isnan(percent) || percent < (waits == NR_UNSEEN ? LEAST_UNKNOWN : LEAST_PERCENT))
		return;
	add(to, "%sNot seen: %.0f%% of the threads' time, in futex(2) beyond the waits of the rows", *to ? " " : "",
	    percent);
	waits = waits == NR_UNSEEN ? UNSEEN_futex : waits;
	add(to, ": %s; use %s.", unseen_text(waits), unseen_use(waits));
}
