// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * conf.c - files of settings, written and read.
 *
 * Must never set anything itself.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/compiler.h"
#include "advice.h"
#include "cmd.h"
#include "conf.h"

/* Bytes of a build-id that are printed, and of a value: as the library's tunables. */
#define BUILD_ID_MAX 64
#define VALUE_MAX    1024

static void put_hex(char *to, const uint8_t *bytes, size_t nr)
{
	*to = '\0';
	for (size_t i = 0; i < nr && i < BUILD_ID_MAX; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
}

static int add_once(struct paths *p, const char *text)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->path[i], text))
			return 0;
	return paths_add(p, text);
}

static int add_rule(struct suggestion *s, const struct report *r, const struct line *l,
		    const struct finding *f)
{
	char pattern[256], reason[2048];
	size_t before = s->rules.nr;
	int rc;

	advice_pattern(r, l, pattern, sizeof(pattern));
	if (!pattern[0])
		return 0;
	rc = add_once(&s->rules, pattern);
	if (rc || s->rules.nr == before)
		return rc;
	snprintf(reason, sizeof(reason), "%s at %s: %s",
		 strlen(l->lock) > READABLE ? l->short_lock : l->lock,
		 strlen(l->site) > READABLE ? l->short_site : l->site, f->text);
	for (char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	return paths_add(&s->reasons, reason);
}

/*
 * A rule where eliding costs more than it brings, or brings nothing. What
 * could be mended in the program is in the comment.
 */
static int add_line(struct suggestion *s, const struct report *r, const struct line *l)
{
	struct finding found[FINDINGS_MAX];
	size_t nr = advise(r, l, found);
	char pattern[256];
	int unnamed = 0;

	for (size_t i = 0; i < nr; i++) {
		int quiet = !strcmp(found[i].cause, "none");

		if (!strncmp(found[i].setting, "LD_BIND_NOW", 11))
			s->bind_now = 1;
		else if (!quiet && l->verdict != VERDICT_HURTS)
			continue;
		else if (found[i].setting[0])
			return add_rule(s, r, l, &found[i]);
		else
			unnamed |= l->verdict != VERDICT_PAYS;
	}
	advice_pattern(r, l, pattern, sizeof(pattern));
	s->nr_unnamed += unnamed && !pattern[0];
	return 0;
}

int suggestion_add(struct suggestion *s, const struct report *r)
{
	const struct data_file *f = r->file;
	char line[1024], hex[2 * BUILD_ID_MAX + 1];
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr_built; i++)
		rc = add_line(s, r, &r->lines[i]);
	for (size_t i = 0; !rc && i < f->nr_modules; i++) {
		const struct elide_module *m = &f->modules[i];

		if (m->path[0] != '/' || !m->build_id_len || strchr(m->path, '\n'))
			continue;
		put_hex(hex, m->build_id, m->build_id_len);
		snprintf(line, sizeof(line), "build-id %s %s", m->path, hex);
		rc = add_once(&s->objects, line);
	}
	return rc;
}

void suggestion_print(struct suggestion *s, FILE *out)
{
	size_t length = 0, nr = 0;

	fputs("# Settings for elide run --conf, from what was measured.\n", out);
	for (size_t i = 0; i < s->objects.nr; i++)
		fprintf(out, "%s\n", s->objects.path[i]);
	for (size_t i = 0; i < s->reasons.nr; i++)
		fprintf(out, "# %s\n", s->reasons.path[i]);
	for (; nr < s->rules.nr && length + strlen(s->rules.path[nr]) + 5 < VALUE_MAX; nr++) {
		fprintf(out, "%s%s=off", nr ? "," : "LOCKS = ", s->rules.path[nr]);
		length += strlen(s->rules.path[nr]) + 5;
	}
	fputs(nr ? "\n" : s->nr_unnamed ? "" : "# Nothing to switch off.\n", out);
	if (s->nr_unnamed)
		fprintf(out,
			"# No rule for rows that gain nothing: %zu (no symbols, or others that it "
			"would hit pay).\n",
			s->nr_unnamed);
	if (nr < s->rules.nr)
		fprintf(out, "# %zu more rules have no room in LOCKS.\n", s->rules.nr - nr);
	if (s->bind_now)
		fputs("LD_BIND_NOW = 1\n", out);
	paths_free(&s->rules);
	paths_free(&s->reasons);
	paths_free(&s->objects);
}

/* The build-id of a file as text: 0; -errno, -ENOEXEC if it has none. */
static int build_id(const char *path, char *hex)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = -ENOEXEC;
	const void *id;
	struct stat st;
	ssize_t len;
	Elf *elf;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	len = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	if (len > 0) {
		put_hex(hex, id, len);
		rc = 0;
	}
	if (elf)
		elf_end(elf);
	close(fd);
	return rc;
}

static int same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* "OBJECT HEX": is it still that object? @own is set if it is the program. */
static void check_object(const char *path, const char *where, char *rest, const char *elf,
			 int quiet, int *own)
{
	char hex[2 * BUILD_ID_MAX + 1], *last = strrchr(rest, ' ');
	int rc;

	if (!last || !last[1] || rest[0] != '/') {
		say("%s: build-id takes the path of an object and its build-id, ignored", where);
		return;
	}
	*last = '\0';
	*own |= elf && same_file(rest, elf);
	rc = build_id(rest, hex);
	if (quiet || (!rc && !strcmp(hex, last + 1)))
		return;
	if (rc && rc != -ENOEXEC)
		say("%s was made for %s: %s", path, rest, strerror(-rc));
	else
		say("%s was made for another build of %s", path, rest);
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	return text;
}

int conf_read(const char *path, const char *elf, int quiet,
	      void (*set)(void *arg, const char *where, const char *name, const char *value),
	      void *arg)
{
	static const char object[] = "build-id ";
	char *line = NULL, where[PATH_MAX + 32];
	int own = 0, nr_objects = 0, rc = 0;
	size_t size = 0, number = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	errno = 0;
	while (getline(&line, &size, f) >= 0) {
		char *text = trim(line), *equal = strchr(text, '=');

		snprintf(where, sizeof(where), "%s:%zu", path, ++number);
		if (!*text || *text == '#')
			continue;
		if (!strncmp(text, object, strlen(object))) {
			check_object(path, where, trim(text + strlen(object)), elf, quiet, &own);
			nr_objects++;
		} else if (!equal || equal == text) {
			say("%s: \"%s\" is no setting NAME = VALUE, ignored", where, text);
		} else {
			*equal = '\0';
			set(arg, where, trim(text), trim(equal + 1));
		}
	}
	if (ferror(f))
		rc = errno ? -errno : -EIO;
	if (!rc && nr_objects && elf && !own && !quiet)
		say("%s was made for other programs than %s", path, elf);
	free(line);
	fclose(f);
	return rc;
}
