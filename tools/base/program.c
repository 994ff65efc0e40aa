// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * program.c - what a program's file says of it before it is started.
 *
 * Must never start the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "elf-file.h"
#include "program.h"
#include "text.h"

/* The directories that execvp(3) searches if PATH is not set. */
#define DEFAULT_PATH "/bin:/usr/bin"
/* Depth to which scripts whose interpreter is a script are followed, as in Linux. */
#define SCRIPT_DEPTH 4

static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int program_find(const char *name, char *path)
{
	const char *dirs = getenv("PATH");
	int rc = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		if (strlen(name) >= PATH_MAX)
			return -ENAMETOOLONG;
		strcpy(path, name);
		rc = runnable(path);
		return rc == -ENOTDIR ? -ENOENT : rc;
	}
	for (const char *d = dirs ? dirs : DEFAULT_PATH; d; d = strchr(d, ':')) {
		int len, found;

		d += *d == ':' && d != dirs;
		len = strcspn(d, ":");
		/* An empty element is the current directory. */
		if (snprintf(path, PATH_MAX, "%.*s%s%s", len, d, len ? "/" : "./", name) >=
		    PATH_MAX)
			continue;
		found = runnable(path);
		if (!found)
			return 0;
		if (found == -EACCES)
			rc = -EACCES;
	}
	return rc;
}

/*
 * An interpreter that env(1) finds: the first word of its arguments that is neither an option nor a
 * variable. @to does not change if that word is not in PATH, or if the interpreter is not env.
 */
static void run_by_env(const char *arguments, char *to)
{
	char word[PATH_MAX], path[PATH_MAX];
	const char *name = strrchr(to, '/');

	if (strcmp(name ? name + 1 : to, "env"))
		return;
	for (const char *at = arguments; *at;) {
		size_t len;

		at += strspn(at, " \t");
		len = strcspn(at, " \t");
		snprintf(word, sizeof(word), "%.*s", (int)len, at);
		at += len;
		if (!*word || *word == '-' || strchr(word, '='))
			continue;
		if (!program_find(word, path))
			strcpy(to, path);
		return;
	}
}

/* Interpreter of a script into @to: 1, or 0 if the file is no script. */
static int read_interpreter(const char *path, char *to)
{
	char line[PATH_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	const char *from;
	size_t len;

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	from = line + 2 + strspn(line + 2, " \t");
	len = strcspn(from, " \t");
	memcpy(to, from, len);
	to[len] = '\0';
	run_by_env(from + len, to);
	return *to != '\0';
}

/* Names of the runtimes of gcc and of clang, up to the version or the machine. */
static bool is_sanitizer(const char *name)
{
	static const char *const names[] = {"libasan.so.", "libtsan.so.", "libclang_rt.asan",
					    "libclang_rt.tsan"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Is the loader /lib/ld-musl-x86_64.so.1? */
static bool has_musl(const struct elf_file *f)
{
	char loader[PATH_MAX];

	elf_file_loader(f, loader, sizeof(loader));
	return !strncmp(base_name(loader), "ld-musl-", strlen("ld-musl-"));
}

/* Sections that Go's linker writes, of which strip(1) removes none. */
static bool is_of_go(const struct elf_file *f)
{
	return elf_file_has_section(f, ".go.buildinfo") || elf_file_has_section(f, ".note.go.buildid");
}

/* Will the kernel set AT_SECURE for the loader? Root gains nothing by capabilities. */
static int gains_privilege(const char *path, const struct stat *st)
{
	if ((st->st_mode & S_ISUID) && st->st_uid != getuid())
		return 1;
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getgid())
		return 1;
	return getuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

int program_inspect(const char *path, struct program *p)
{
	char next[PATH_MAX];
	struct stat st;
	struct elf_file elf;
	int fd;

	memset(p, 0, sizeof(*p));
	if (strlen(path) >= sizeof(p->path))
		return -ENAMETOOLONG;
	strcpy(p->path, path);
	strcpy(p->elf, path);
	for (int depth = 0; depth < SCRIPT_DEPTH && read_interpreter(p->elf, next); depth++) {
		p->is_script = 1;
		strcpy(p->elf, next);
	}
	fd = open(p->elf, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		int rc = -errno;

		if (fd >= 0)
			close(fd);
		return rc;
	}
	p->is_privileged = gains_privilege(p->elf, &st);
	if (!elf_file_begin(&elf, fd)) {
		p->is_elf = 1;
		p->is_32bit = elf.is_32bit;
		p->is_amd64 = elf.is_amd64;
		p->is_static = !elf_file_has(&elf, PT_INTERP);
		p->is_musl = has_musl(&elf);
		p->is_go = is_of_go(&elf);
		elf_file_needed(&elf, is_sanitizer, p->sanitizer, sizeof(p->sanitizer));
		elf_file_end(&elf);
	}
	close(fd);
	return 0;
}

int product_path(const char *relative, char *path)
{
	static const char inner[] = "/libexec/elide";
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t dir;

	if (len < 0)
		return -errno;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	dir = strlen(self);
	if (dir >= strlen(inner) && !strcmp(self + dir - strlen(inner), inner))
		self[dir - strlen(inner)] = '\0';
	else if (dir)
		*strrchr(self, '/') = '\0';
	if (snprintf(path, PATH_MAX, "%s/%s", self, relative) >= PATH_MAX)
		return -ENAMETOOLONG;
	return access(path, F_OK) ? -errno : 0;
}
