// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locks.c - which locks a program uses, as far as its symbols tell.
 *
 * Libraries are searched as by ld.so(8). A library that is opened with dlopen(3) is seen if its name
 * is a constant. A function that was inlined without leaving a symbol is not seen. Must
 * never start the program or load a library.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "library.h"
#include "locks.h"

const char *const lock_feature_names[NR_IMPORTS] = {
	[IMPORTS_MUTEX] = "mutex",
	[IMPORTS_RWLOCK] = "rwlock",
	[IMPORTS_SPIN] = "spin",
	[IMPORTS_COND] = "cond",
	[IMPORTS_C11] = "c11",
};

/* Functions that an object imports. */
static const struct {
	enum lock_feature feature;
	const char *pattern;
} imports[] = {
	{IMPORTS_MUTEX, "pthread_mutex_*lock"},
	{IMPORTS_RWLOCK, "pthread_rwlock_*lock"},
	{IMPORTS_SPIN, "pthread_spin_*lock"},
	{IMPORTS_COND, "pthread_cond_*wait"},
	{IMPORTS_C11, "mtx_*lock"},
	{IMPORTS_C11, "cnd_*wait"},
};

/* Functions that an object defines; mangled names. */
static const struct {
	enum unseen reason;
	const char *pattern;
} defined_by[] = {
	{UNSEEN_rust, "*3std*5mutex*5futex*"},
	{UNSEEN_rust, "*3std*5futex*5Mutex*"},
	{UNSEEN_rust, "*3std*11futex_mutex*"},
	{UNSEEN_parking_lot, "*11parking_lot*"},
	{UNSEEN_abseil, "_ZN4absl*5Mutex*"},
	{UNSEEN_folly, "_ZN5folly*Lock*"},
	{UNSEEN_folly, "_ZN5folly*Mutex*"},
	{UNSEEN_tbb, "_ZN3tbb*mutex*"},
	{UNSEEN_spin, "*spin_lock*"},
	{UNSEEN_spin, "*spinlock*"},
};

/* Is it a library that defines the lock functions instead of using them? */
static int is_libc(const char *name)
{
	return !strcmp(name, "libc.so.6") || !strcmp(name, "libpthread.so.0") ||
	       !strncmp(name, "ld-linux", 8);
}

static void look_at_symbol(struct lock_object *o, const char *name, int defined)
{
	if (!defined && !strcmp(name, "syscall"))
		o->imports_syscall = true;
	if (!defined && (!strcmp(name, "dlopen") || !strcmp(name, "dlmopen")))
		o->imports_dlopen = true;
	for (size_t i = 0; !defined && i < ARRAY_SIZE(imports); i++)
		if (!fnmatch(imports[i].pattern, name, 0))
			o->features |= 1u << imports[i].feature;
	if (!defined || !fnmatch("*pthread_spin_*", name, 0))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(defined_by); i++)
		if (!fnmatch(defined_by[i].pattern, name, 0))
			o->unseen |= 1u << defined_by[i].reason;
}

static void look_at_symbols(struct lock_object *o, Elf *elf, Elf_Scn *section,
			    const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, header->sh_link, sym.st_name);

		if (name && *name)
			look_at_symbol(o, name, sym.st_shndx != SHN_UNDEF);
	}
}

/* Adds a library that object number @by needs, or, if it is found, opens by dlopen(). */
static void add_library(struct lock_uses *uses, size_t by, const char *name, const char *path)
{
	struct lock_object *o;

	for (size_t i = 0; i < uses->nr; i++)
		if (!strcmp(uses->objects[i].name, name))
			return;
	if (uses->nr == LOCKS_OBJECTS_MAX)
		return;
	o = &uses->objects[uses->nr];
	o->needs.by = &uses->objects[by].needs;
	o->missing = 0;
	if (path)
		snprintf(o->path, sizeof(o->path), "%s", path);
	else
		o->missing = !library_find(&uses->objects[by].needs, name, o->path);
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->by_name = path != NULL;
	o->unseen = unseen_of_library(name);
	library_origin(&o->needs, o->path);
	uses->nr++;
}

/* Adds the libraries of a .dynamic section: reads first the paths, then the names. */
static void add_needed(struct lock_uses *uses, size_t index, Elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header)
{
	struct library_needs *n = &uses->objects[index].needs;
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *value = elf_strptr(elf, header->sh_link, dyn.d_un.d_val);

		if (dyn.d_tag == DT_RPATH && value)
			snprintf(n->rpath, sizeof(n->rpath), "%s", value);
		if (dyn.d_tag == DT_RUNPATH && value)
			snprintf(n->runpath, sizeof(n->runpath), "%s", value);
	}
	if (*n->runpath)
		*n->rpath = '\0';
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *value = elf_strptr(elf, header->sh_link, dyn.d_un.d_val);

		if (dyn.d_tag == DT_NEEDED && value)
			add_library(uses, index, value, NULL);
	}
}

/*
 * Finds a library that an object may open by dlopen(): where the loader searches, in the object's
 * directory, or in one below that.
 */
static int find_opened(const struct library_needs *n, const char *name, char *path)
{
	char pattern[PATH_MAX];
	glob_t g;
	int found = library_find(n, name, path);

	if (!found && snprintf(path, PATH_MAX, "%s/%s", n->origin, name) < PATH_MAX)
		found = library_is_ours(path);
	if (found || snprintf(pattern, sizeof(pattern), "%s/*/%s", n->origin, name) >= PATH_MAX ||
	    glob(pattern, 0, NULL, &g))
		return found;
	found = snprintf(path, PATH_MAX, "%s", g.gl_pathv[0]) < PATH_MAX && library_is_ours(path);
	globfree(&g);
	return found;
}

/* Is a constant the name or path of a library? The path may have parts that are filled in. */
static const char *library_name(const char *text)
{
	const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
	const char *so = strstr(name, ".so");

	if (!so || strncmp(name, "lib", 3) || strspn(so + 3, ".0123456789") != strlen(so + 3) ||
	    strchr(name, '%') || strlen(name) >= sizeof(((struct lock_object *)0)->name))
		return NULL;
	return name;
}

/* Adds the libraries whose names are among the constants of an object that calls dlopen(). */
static void add_opened(struct lock_uses *uses, size_t index, Elf *elf)
{
	Elf_Scn *section = NULL;
	char path[PATH_MAX];

	while ((section = elf_nextscn(elf, section))) {
		const char *text, *end;
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)) != SHF_ALLOC)
			continue;
		data = elf_rawdata(section, NULL);
		text = data ? data->d_buf : NULL;
		end = text ? text + data->d_size : NULL;
		/* Strings end with a zero; bytes after the last zero of the section are no string. */
		for (const char *zero; text && (zero = memchr(text, 0, end - text)); text = zero + 1) {
			const char *name = zero - text < PATH_MAX ? library_name(text) : NULL;

			if (name && find_opened(&uses->objects[index].needs, name, path))
				add_library(uses, index, name, path);
		}
	}
}

/* Number of futex(2) on x86-64. */
#define SYS_FUTEX 202
/* Bytes from the number of a system call to the instruction SYSCALL, at most. */
#define SYSCALL_WITHIN 64

/*
 * Does code call futex(2) itself? It puts the number of the call into a register: EDI for
 * syscall(3), if the object imports that, or EAX for the instruction SYSCALL soon after. Return: set of
 * enum unseen.
 */
static uint32_t calls_futex(const unsigned char *code, size_t size, bool imports_syscall)
{
	static const unsigned char edi[] = {0xbf, SYS_FUTEX, 0, 0, 0};
	static const unsigned char eax[] = {0xb8, SYS_FUTEX, 0, 0, 0};
	const unsigned char *at = code, *end = code + size;
	uint32_t set = 0;

	while ((at = memmem(at, end - at, edi + 1, sizeof(edi) - 1))) {
		const unsigned char *before = at++ - 1;
		size_t left = end - at;

		if (before < code)
			continue;
		if (imports_syscall && *before == edi[0])
			set |= UNSEEN_BIT(syscall);
		if (*before == eax[0] &&
		    memmem(at, left < SYSCALL_WITHIN ? left : SYSCALL_WITHIN, "\x0f\x05", 2))
			set |= UNSEEN_BIT(futex);
	}
	return set;
}

/* Searches the code of an object. */
static void look_at_code(struct lock_object *o, Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			o->unseen |= calls_futex(data->d_buf, data->d_size, o->imports_syscall);
	}
}

static int look_at_object(struct lock_uses *uses, size_t index)
{
	struct lock_object *o = &uses->objects[index];
	int fd = open(o->path, O_RDONLY | O_CLOEXEC), rc = 0;
	Elf_Scn *section = NULL;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		rc = -ENOEXEC;
		goto close_elf;
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNAMIC && library_is_ours(o->path))
			add_needed(uses, index, elf, section, &header);
		if ((header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) &&
		    !is_libc(o->name))
			look_at_symbols(o, elf, section, &header);
	}
	if (!is_libc(o->name)) {
		/* What calls it there has a better name already. */
		if (!o->unseen)
			look_at_code(o, elf);
		if (o->imports_dlopen)
			add_opened(uses, index, elf);
	}
close_elf:
	elf_end(elf);
	close(fd);
	return rc;
}

int locks_find(const char *elf, struct lock_uses *uses)
{
	const char *slash = strrchr(elf, '/');
	char real[PATH_MAX];
	int rc;

	uses->objects = calloc(LOCKS_OBJECTS_MAX, sizeof(*uses->objects));
	if (!uses->objects)
		return -ENOMEM;
	uses->nr = 1;
	snprintf(uses->objects[0].name, sizeof(uses->objects[0].name), "%s",
		 slash ? slash + 1 : elf);
	snprintf(uses->objects[0].path, sizeof(uses->objects[0].path), "%s", elf);
	/* The loader learns the path from the kernel, which follows symbolic links. */
	library_origin(&uses->objects[0].needs, realpath(elf, real) ? real : elf);
	rc = look_at_object(uses, 0);
	if (rc) {
		locks_free(uses);
		return rc;
	}
	/* The list grows during the walk: breadth first, as in the loader. */
	for (size_t i = 1; i < uses->nr; i++)
		if (!uses->objects[i].missing && look_at_object(uses, i))
			uses->objects[i].missing = 1;
	return 0;
}

void locks_free(struct lock_uses *uses)
{
	free(uses->objects);
	uses->objects = NULL;
	uses->nr = 0;
}
