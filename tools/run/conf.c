// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * conf.c - files of settings, read.
 *
 * Must never set anything itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/messages.h"
#include "../base/text.h"
#include "conf.h"

/* Bytes of a build-id that are compared; the longest that linkers make by themselves has 20. */
#define BUILD_ID_MAX 64

/* Find the build-id among the notes of a segment: its length, and its bytes at @id; 0 without. */
static size_t find_note(Elf *elf, const GElf_Phdr *segment, const void **id)
{
	Elf_Data *notes = elf_getdata_rawchunk(elf, segment->p_offset, segment->p_filesz,
					       segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, next, name, value;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, at, &note, &name, &value))) {
		const char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*id = bytes + value;
			return note.n_descsz;
		}
		at = next;
	}
	return 0;
}

/*
 * The build-id of a file as text: 0; -errno, -ENOEXEC if it has none. By libelf alone: libdw, which
 * has a function for it, would double the time in which `elide run` starts.
 */
static int build_id(const char *path, char *hex)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = -ENOEXEC;
	size_t nr = 0, len = 0;
	const void *id;
	struct stat st;
	GElf_Phdr ph;
	Elf *elf;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_getphdrnum(elf, &nr))
		nr = 0;
	for (size_t i = 0; i < nr && !len; i++) {
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_NOTE)
			len = find_note(elf, &ph, &id);
	}
	if (len > 0) {
		hex_text(hex, id, len < BUILD_ID_MAX ? len : BUILD_ID_MAX);
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

/* "OBJECT HEX": warn if the object has another build-id now. @own: set if it is the program. */
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
