// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locks.c - which locks a program uses, as far as its symbols tell.
 *
 * Libraries are looked for as ld.so(8) does: RPATH or RUNPATH, LD_LIBRARY_PATH,
 * the directories of /etc/ld.so.conf, the standard ones. What is opened with
 * dlopen(3) is not seen, nor what was inlined without leaving a symbol. Must
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
#include "locks.h"

const char *const lock_feature_names[NR_LOCK_FEATURES] = {
	[IMPORTS_MUTEX] = "mutex",
	[IMPORTS_RWLOCK] = "rwlock",
	[IMPORTS_SPIN] = "spin",
	[IMPORTS_COND] = "cond",
	[IMPORTS_C11] = "c11",
	[HIDDEN_GO] = "Go runtime locks",
	[HIDDEN_RUST_STD] = "Rust std::sync (futex)",
	[HIDDEN_PARKING_LOT] = "Rust parking_lot",
	[HIDDEN_ABSEIL] = "absl::Mutex",
	[HIDDEN_FOLLY] = "folly locks",
	[HIDDEN_TBB] = "oneTBB mutexes",
	[HIDDEN_SPIN] = "spinlocks of its own",
	[HIDDEN_FUTEX] = "futex calls of its own",
	[HIDDEN_STATIC] = "pthread linked in statically",
};

/* Functions that an object imports or, for hidden locks, defines; mangled names. */
static const struct {
	enum lock_feature feature;
	const char *pattern;
} patterns[] = {
	{IMPORTS_MUTEX, "pthread_mutex_*lock"},
	{IMPORTS_RWLOCK, "pthread_rwlock_*lock"},
	{IMPORTS_SPIN, "pthread_spin_*lock"},
	{IMPORTS_COND, "pthread_cond_*wait"},
	{IMPORTS_C11, "mtx_*lock"},
	{IMPORTS_C11, "cnd_*wait"},
	{HIDDEN_GO, "runtime.lock2"},
	{HIDDEN_RUST_STD, "*3std*5mutex*5futex*"},
	{HIDDEN_RUST_STD, "*3std*11futex_mutex*"},
	{HIDDEN_PARKING_LOT, "*11parking_lot*"},
	{HIDDEN_ABSEIL, "_ZN4absl*5Mutex*"},
	{HIDDEN_FOLLY, "_ZN5folly*Lock*"},
	{HIDDEN_FOLLY, "_ZN5folly*Mutex*"},
	{HIDDEN_TBB, "_ZN3tbb*mutex*"},
	{HIDDEN_SPIN, "*spin_lock*"},
	{HIDDEN_SPIN, "*spinlock*"},
	{HIDDEN_STATIC, "pthread_mutex_lock"},
};

/* Is it a library that defines the lock functions, so that it does not use them? */
static int is_libc(const char *name)
{
	return !strcmp(name, "libc.so.6") || !strcmp(name, "libpthread.so.0") ||
	       !strncmp(name, "ld-linux", 8);
}

static void look_at_symbol(struct lock_object *o, const char *name, int defined)
{
	if (!defined && !strcmp(name, "syscall"))
		o->imports_syscall = true;
	if (defined && !fnmatch("*pthread_spin_*", name, 0))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if ((patterns[i].feature >= NR_IMPORTS) == defined &&
		    !fnmatch(patterns[i].pattern, name, 0))
			o->features |= 1u << patterns[i].feature;
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

/* The search of one library. */
struct search {
	struct lock_uses *uses;
	const char *origin; /* path of the object that needs it */
	char runpath[PATH_MAX];
};

static int is_ours(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	GElf_Ehdr ehdr;
	int same = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &ehdr))
		same = ehdr.e_ident[EI_CLASS] == ELFCLASS64 && ehdr.e_machine == EM_X86_64;
	elf_end(elf);
	close(fd);
	return same;
}

/* Looks in directories separated by colons; $ORIGIN is the directory of the one that needs it. */
static int try_dirs(const struct search *s, const char *dirs, const char *name, char *path)
{
	int origin = strrchr(s->origin, '/') ? strrchr(s->origin, '/') - s->origin : 0;

	while (*dirs) {
		int len = strcspn(dirs, ":"), skip = 0;

		if (!strncmp(dirs, "$ORIGIN", 7))
			skip = 7;
		else if (!strncmp(dirs, "${ORIGIN}", 9))
			skip = 9;
		snprintf(path, PATH_MAX, "%.*s%.*s/%s", skip ? origin : 0, s->origin, len - skip,
			 dirs + skip, name);
		if (is_ours(path))
			return 1;
		dirs += len + (dirs[len] == ':');
	}
	return 0;
}

/* Looks in the directories that an ld.so.conf(5)-like file and its includes name. */
static int try_conf(const struct search *s, const char *conf, const char *name, char *path,
		    int depth)
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
				found = try_conf(s, g.gl_pathv[i], name, path, depth + 1);
			globfree(&g);
		} else if (line[0] == '/') {
			found = try_dirs(s, line, name, path);
		}
	}
	if (f)
		fclose(f);
	return found;
}

static int find_library(const struct search *s, const char *name, char *path)
{
	static const char standard[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
				       "/lib64:/usr/lib64:/lib:/usr/lib";
	const char *user = getenv("LD_LIBRARY_PATH");

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_ours(path);
	return try_dirs(s, s->runpath, name, path) || (user && try_dirs(s, user, name, path)) ||
	       try_conf(s, "/etc/ld.so.conf", name, path, 0) || try_dirs(s, standard, name, path);
}

static void add_library(struct search *s, const char *name)
{
	struct lock_object *o;

	for (size_t i = 0; i < s->uses->nr; i++)
		if (!strcmp(s->uses->objects[i].name, name))
			return;
	if (s->uses->nr == LOCKS_OBJECTS_MAX)
		return;
	o = &s->uses->objects[s->uses->nr++];
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->missing = !find_library(s, name, o->path);
}

/* Adds the libraries of a .dynamic section; first it is read for the paths, then for the names. */
static void add_needed(struct search *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *value = elf_strptr(elf, header->sh_link, dyn.d_un.d_val);

		if ((dyn.d_tag == DT_RPATH || dyn.d_tag == DT_RUNPATH) && value)
			snprintf(s->runpath, sizeof(s->runpath), "%s", value);
	}
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *value = elf_strptr(elf, header->sh_link, dyn.d_un.d_val);

		if (dyn.d_tag == DT_NEEDED && value)
			add_library(s, value);
	}
}

/* Number of futex(2) on x86-64. */
#define SYS_FUTEX 202
/* Bytes from the number of a system call to the instruction SYSCALL, at most. */
#define SYSCALL_WITHIN 64

/*
 * Does code call futex(2) itself? It puts the number of the call into a register: EDI for
 * syscall(3), if the object imports that, or EAX for the instruction SYSCALL soon after.
 */
static bool calls_futex(const unsigned char *code, size_t size, bool imports_syscall)
{
	static const unsigned char edi[] = {0xbf, SYS_FUTEX, 0, 0, 0};
	static const unsigned char eax[] = {0xb8, SYS_FUTEX, 0, 0, 0};
	const unsigned char *at = code, *end = code + size;

	while ((at = memmem(at, end - at, edi + 1, sizeof(edi) - 1))) {
		const unsigned char *before = at++ - 1;
		size_t left = end - at;

		if (before < code)
			continue;
		if (imports_syscall && *before == edi[0])
			return true;
		if (*before == eax[0] &&
		    memmem(at, left < SYSCALL_WITHIN ? left : SYSCALL_WITHIN, "\x0f\x05", 2))
			return true;
	}
	return false;
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
		if (data && data->d_buf && calls_futex(data->d_buf, data->d_size, o->imports_syscall))
			o->features |= 1u << HIDDEN_FUTEX;
	}
}

static int look_at_object(struct lock_uses *uses, size_t index)
{
	struct lock_object *o = &uses->objects[index];
	struct search s = {.uses = uses, .origin = o->path};
	int fd = open(o->path, O_RDONLY | O_CLOEXEC), rc = 0;
	Elf_Scn *section = NULL;
	size_t names;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names)) {
		rc = -ENOEXEC;
		goto close_elf;
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".go.buildinfo"))
			o->features |= 1u << HIDDEN_GO;
		if (header.sh_type == SHT_DYNAMIC)
			add_needed(&s, elf, section, &header);
		if ((header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) &&
		    !is_libc(o->name))
			look_at_symbols(o, elf, section, &header);
	}
	if (!is_libc(o->name))
		look_at_code(o, elf);
close_elf:
	elf_end(elf);
	close(fd);
	return rc;
}

int locks_find(const char *elf, struct lock_uses *uses)
{
	const char *slash = strrchr(elf, '/');
	int rc;

	uses->objects = calloc(LOCKS_OBJECTS_MAX, sizeof(*uses->objects));
	if (!uses->objects)
		return -ENOMEM;
	uses->nr = 1;
	snprintf(uses->objects[0].name, sizeof(uses->objects[0].name), "%s",
		 slash ? slash + 1 : elf);
	snprintf(uses->objects[0].path, sizeof(uses->objects[0].path), "%s", elf);
	rc = look_at_object(uses, 0);
	if (rc) {
		locks_free(uses);
		return rc;
	}
	/* The list grows while it is walked: breadth first, as the loader does. */
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
