// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbolize.c - addresses to names through elfutils.
 *
 * Every object gets a Dwfl of its own at bias 0, so that hostile ranges which
 * overlap cannot disturb each other. Must never trust an object whose build-id
 * is not the recorded one.
 */
#include <dwarf.h>
#include <errno.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "datatype.h"
#include "demangle.h"
#include "functions.h"
#include "member.h"
#include "symbolize.h"

/* A string that must live as long as the symbolizer. */
struct text {
	struct text *next;
	char s[];
};

/* An object, opened when the first of its addresses is resolved. */
struct object {
	const struct elide_module *module;
	const char *name;
	Dwfl *dwfl;
	Dwfl_Module *dwfl_module; /* NULL: no names from it */
	int opened;
};

/* An address that was resolved, and the functions around it. */
struct answer {
	uint64_t address;
	int exact;
	size_t nr;
	struct place *places; /* NULL: a free place in the table */
};

struct symbolizer {
	void (*warn)(const char *line);
	struct text *texts;
	struct answer *answers;
	size_t nr_answers;
	size_t room; /* of @answers, a power of two or 0 */
	const struct lock_site *locks;
	const char **lock_names; /* of a class, at its first site; "" if it has none, NULL: not known yet */
	size_t nr_locks;
	size_t nr_objects;
	struct object objects[];
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* A copy of @string that lives as long as @s; NULL if there is no memory. */
static const char *keep(struct symbolizer *s, const char *string)
{
	struct text *t = malloc(sizeof(*t) + strlen(string) + 1);

	if (!t)
		return NULL;
	strcpy(t->s, string);
	t->next = s->texts;
	s->texts = t;
	return t->s;
}

/* Its name in the source, kept as by keep(). */
static const char *plain_name(struct symbolizer *s, const char *name)
{
	char *plain = demangle(name);
	const char *kept = keep(s, plain ? plain : name);

	free(plain);
	return kept;
}

struct symbolizer *symbolizer_new(const struct elide_module *modules, size_t nr,
				  void (*warn)(const char *line))
{
	struct symbolizer *s = calloc(1, sizeof(*s) + nr * sizeof(s->objects[0]));

	if (!s)
		return NULL;
	s->warn = warn;
	s->nr_objects = nr;
	for (size_t i = 0; i < nr; i++) {
		const char *slash = strrchr(modules[i].path, '/');

		s->objects[i].module = &modules[i];
		s->objects[i].name = slash ? slash + 1 : modules[i].path;
	}
	return s;
}

static void warn_of(struct symbolizer *s, const struct object *o, const char *what)
{
	char line[sizeof(o->module->path) + 160];

	snprintf(line, sizeof(line), "%s %s: no names from it", o->module->path, what);
	if (s->warn)
		s->warn(line);
}

/* Is the file the object that ran? Objects without a build-id are taken on trust. */
static int same_build(int fd, const struct elide_module *m)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *id;
	ssize_t len;
	int same;

	if (!elf)
		return 0;
	len = dwelf_elf_gnu_build_id(elf, &id);
	same = !m->build_id_len || (len == m->build_id_len && !memcmp(id, m->build_id, len));
	elf_end(elf);
	return same;
}

static void open_object(struct symbolizer *s, struct object *o)
{
	struct stat st;
	int fd;

	o->opened = 1;
	if (o->module->path[0] != '/')
		return; /* the vDSO, or code made at run time */
	fd = open(o->module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		warn_of(s, o, "cannot be opened");
		goto close_fd;
	}
	elf_version(EV_CURRENT);
	if (!same_build(fd, o->module)) {
		warn_of(s, o, "is not the file the program ran (its build-id differs)");
		goto close_fd;
	}
	o->dwfl = dwfl_begin(&callbacks);
	if (!o->dwfl)
		goto close_fd;
	o->dwfl_module = dwfl_report_elf(o->dwfl, o->name, o->module->path, fd, 0, true);
	dwfl_report_end(o->dwfl, NULL, NULL);
	if (o->dwfl_module)
		return; /* the descriptor is the Dwfl's now */
	warn_of(s, o, "is not an ELF object");
close_fd:
	if (fd >= 0)
		close(fd);
}

static struct object *find_object(struct symbolizer *s, uint64_t address)
{
	for (size_t i = 0; i < s->nr_objects; i++) {
		struct object *o = &s->objects[i];

		if (address < o->module->start || address >= o->module->end)
			continue;
		if (!o->opened)
			open_object(s, o);
		return o;
	}
	return NULL;
}

/* The linkage name of a function, inlined or not, if it has any, else its plain name. */
static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return name ? name : dwarf_diename(die);
}

/* File and line of an address of a unit; line 0 if unknown. */
static const char *source_line(Dwarf_Die *unit, uint64_t address, int *number)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;

	if (!file || dwarf_lineno(line, number))
		*number = 0;
	return file;
}

/* Symbols of the linker, which mark places and name no variable. */
static int is_linkers(const char *name)
{
	static const char *const names[] = {
		"_GLOBAL_OFFSET_TABLE_", "_DYNAMIC", "_PROCEDURE_LINKAGE_TABLE_", "__bss_start",
		"_edata", "_end", "__data_start", "data_start", "__dso_handle", "__TMC_END__",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* glibc has one function for both names: take the usual one. */
static const char *usual_name(const char *name)
{
	return strcmp(name, "pthread_spin_init") ? name : "pthread_spin_unlock";
}

/* The symbol that covers an address, as the table has it; NULL if none does. */
static const char *covering_symbol(Dwfl_Module *m, uint64_t address, uint64_t *offset)
{
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(m, address, offset, &sym, NULL, NULL, NULL);

	/* If no symbol covers the address, elfutils returns the one before it. */
	if (!name || (sym.st_size && *offset >= sym.st_size) || is_linkers(name))
		return NULL;
	return usual_name(name);
}

/* Is an ELF symbol the function, or a clone the compiler made of it (name.isra.0)? */
static int is_clone(const char *elf_symbol, const char *function)
{
	size_t len = strlen(function);

	return !strncmp(elf_symbol, function, len) && (!elf_symbol[len] || elf_symbol[len] == '.');
}

/* The most functions inlined into each other that are resolved. */
#define INLINED_MAX 32

/*
 * The functions that an inlined one was inlined into, outwards from the second:
 * each is at the line that the one before it was called from.
 */
static size_t outer_functions(struct symbolizer *s, Dwarf_Die *unit, Dwarf_Die *functions,
			      size_t nr, struct place *places)
{
	Dwarf_Files *files = NULL;
	Dwarf_Attribute attr;
	Dwarf_Word file, line;

	dwarf_getsrcfiles(unit, &files, NULL);
	for (size_t i = 1; i < nr; i++) {
		const char *name = die_name(&functions[i]);

		places[i] = places[i - 1];
		/* The outermost is named as the symbol table has it, with its namespace. */
		if (i == nr - 1)
			places[i].symbol = places[0].inlined_into;
		else if (name)
			places[i].symbol = plain_name(s, name);
		if (dwarf_formudata(dwarf_attr(&functions[i - 1], DW_AT_call_line, &attr), &line) ||
		    dwarf_formudata(dwarf_attr(&functions[i - 1], DW_AT_call_file, &attr), &file) ||
		    !files || !dwarf_filesrc(files, file, NULL, NULL))
			continue;
		places[i].line = line;
		places[i].file = keep(s, dwarf_filesrc(files, file, NULL, NULL));
	}
	return nr;
}

/* Fills the places of an address: their number. */
static size_t name_code(struct symbolizer *s, Dwfl_Module *m, uint64_t address,
			struct place *places)
{
	const char *inner = NULL, *outer, *file = NULL;
	Dwarf_Die functions[INLINED_MAX];
	struct place *place = &places[0];
	Dwarf_Addr bias;
	Dwarf_Die *unit = functions_unit(m, address, &bias);
	uint64_t offset;
	size_t nr = 0;

	outer = covering_symbol(m, address, &offset);
	if (unit) {
		nr = functions_around(unit, address - bias, functions, INLINED_MAX);
		inner = nr ? die_name(&functions[0]) : NULL;
		file = source_line(unit, address - bias, &place->line);
	}
	if (outer)
		place->elf_symbol = keep(s, outer);
	if (file)
		place->file = keep(s, file);
	else if (outer)
		place->symbol_offset = offset;
	if (nr > 1 && inner && outer && !is_clone(outer, inner)) {
		place->symbol = plain_name(s, inner);
		place->inlined_into = plain_name(s, outer);
		outer_functions(s, unit, functions, nr, places);
		/* The last is the function that all were inlined into. */
		places[nr - 1].inlined_into = NULL;
		return nr;
	}
	/* DWARF may have another name of the function, or one without its namespace. */
	if (outer && !(inner && is_clone(outer, inner)))
		inner = outer;
	if (inner)
		place->symbol = plain_name(s, inner);
	return 1;
}

/* Finds the object around an address and the address in it; NULL if that has no usable names. */
static Dwfl_Module *locate(struct symbolizer *s, uint64_t address, struct place *place)
{
	struct object *o = find_object(s, address);

	memset(place, 0, sizeof(*place));
	if (!o)
		return NULL;
	place->object = o->name;
	place->offset = address - o->module->base;
	return o->dwfl_module;
}

void symbolize_object(struct symbolizer *s, uint64_t address, struct place *place)
{
	memset(place, 0, sizeof(*place));
	for (size_t i = 0; i < s->nr_objects; i++) {
		const struct object *o = &s->objects[i];

		if (address < o->module->start || address >= o->module->end)
			continue;
		place->object = o->name;
		place->offset = address - o->module->base;
		return;
	}
}

/*
 * Is it where handlers return to, which asks the kernel to end the signal? In a C library without
 * symbols that is known by its code: mov $SYS_rt_sigreturn, %rax; syscall.
 */
static int is_sigreturn(struct symbolizer *s, uint64_t address)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t bytes[sizeof(code)];

	return symbolize_bytes(s, address, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       !memcmp(bytes, code, sizeof(code));
}

static size_t ask(struct symbolizer *s, uint64_t address, int exact, struct answer *to)
{
	struct place places[INLINED_MAX] = {0};
	/* The last byte of the call: its return address may be in another function. */
	Dwfl_Module *m = locate(s, exact ? address : address - 1, &places[0]);
	size_t nr = m ? name_code(s, m, places[0].offset, places) : 1;

	/* gdb and perf have glibc's name for it. */
	if (!exact && m && !places[0].symbol && is_sigreturn(s, address - 1))
		places[0].symbol = "__restore_rt";
	to->places = malloc(nr * sizeof(*places));
	if (!to->places)
		return 0;
	memcpy(to->places, places, nr * sizeof(*places));
	to->address = address;
	to->exact = exact;
	to->nr = nr;
	return nr;
}

static struct answer *answer_at(struct answer *answers, size_t room, uint64_t address, int exact)
{
	/* 2^64 / golden ratio spreads neighbours. */
	size_t at = (address * 0x9e3779b97f4a7c15ull >> 32 ^ exact) & (room - 1);

	while (answers[at].places &&
	       (answers[at].address != address || answers[at].exact != exact))
		at = (at + 1) & (room - 1);
	return &answers[at];
}

static int grow_answers(struct symbolizer *s)
{
	size_t room = s->room ? 2 * s->room : 256;
	struct answer *answers = calloc(room, sizeof(*answers));

	if (!answers)
		return -1;
	for (size_t i = 0; i < s->room; i++)
		if (s->answers[i].places)
			*answer_at(answers, room, s->answers[i].address, s->answers[i].exact) =
				s->answers[i];
	free(s->answers);
	s->answers = answers;
	s->room = room;
	return 0;
}

size_t symbolize_frames(struct symbolizer *s, uint64_t address, int exact,
			const struct place **places)
{
	struct answer *answer;

	if (2 * s->nr_answers >= s->room && grow_answers(s))
		return 0;
	answer = answer_at(s->answers, s->room, address, exact);
	if (!answer->places) {
		if (!ask(s, address, exact, answer))
			return 0;
		s->nr_answers++;
	}
	*places = answer->places;
	return answer->nr;
}

int symbolize_in_header(const struct place *p)
{
	return p->file && member_in_header(p->file);
}

int symbolize_is_own(const struct place *p)
{
	const char *names[] = {p->symbol, p->inlined_into, p->elf_symbol};

	if (p->object && !strncmp(p->object, "libelide", 8))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i] && !strncmp(names[i], "elide_", 6))
			return 1;
	/* A function of the engine that is not exported is known by its file. */
	return p->file && (!strncmp(p->file, "lib/section/", 12) || strstr(p->file, "/lib/section/"));
}

void symbolize_call(struct symbolizer *s, uint64_t return_address, struct place *place)
{
	const struct place *places;
	size_t nr = symbolize_frames(s, return_address, 0, &places), i = 0;

	memset(place, 0, sizeof(*place));
	while (i + 1 < nr && symbolize_in_header(&places[i]))
		i++;
	if (nr)
		*place = places[i];
}

void symbolize_instruction(struct symbolizer *s, uint64_t address, struct place *place)
{
	const struct place *places;

	memset(place, 0, sizeof(*place));
	if (symbolize_frames(s, address, 1, &places))
		*place = places[0];
}

size_t symbolize_bytes(struct symbolizer *s, uint64_t address, uint8_t *bytes, size_t size)
{
	struct place place;
	Dwfl_Module *m = locate(s, address, &place);
	GElf_Addr bias;
	Elf *elf = m ? dwfl_module_getelf(m, &bias) : NULL;
	size_t nr = 0;
	GElf_Phdr p;

	if (!elf || elf_getphdrnum(elf, &nr))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t at;
		size_t there;
		const char *file = elf_rawfile(elf, &there);

		if (!file || !gelf_getphdr(elf, i, &p) || p.p_type != PT_LOAD ||
		    place.offset < p.p_vaddr || place.offset - p.p_vaddr >= p.p_filesz)
			continue;
		at = place.offset - p.p_vaddr;
		if (size > p.p_filesz - at)
			size = p.p_filesz - at;
		if (p.p_offset > there || at > there - p.p_offset ||
		    size > there - p.p_offset - at)
			return 0;
		memcpy(bytes, file + p.p_offset + at, size);
		return size;
	}
	return 0;
}

void symbolize_data(struct symbolizer *s, uint64_t address, struct place *place)
{
	Dwfl_Module *m = locate(s, address, place);
	const char *name = m ? covering_symbol(m, place->offset, &place->symbol_offset) : NULL;

	if (!name)
		return;
	place->symbol = plain_name(s, name);
	place->elf_symbol = keep(s, name);
}

int symbolize_is_pointer(struct symbolizer *s, uint64_t address, uint64_t code)
{
	struct place data, own;
	Dwfl_Module *m = locate(s, code, &own);
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = m ? functions_unit(m, own.offset, &bias) : NULL;
	Dwarf_Die whole;

	symbolize_data(s, address, &data);
	if (!unit || !data.elf_symbol)
		return 0;
	return datatype_is_pointer(functions_whole_unit(unit, &whole),
				   data.offset - data.symbol_offset - bias, data.elf_symbol,
				   data.symbol_offset);
}

size_t symbolize_ranges(struct symbolizer *s, const char *object,
			int (*fits)(const char *pattern, const char *name), const char *pattern,
			struct symbol_range *to, size_t max)
{
	size_t found = 0;

	for (size_t i = 0; i < s->nr_objects; i++) {
		struct object *o = find_object(s, s->objects[i].module->start);
		int nr = o && o->dwfl_module && (!object || !strcmp(o->name, object)) ?
				 dwfl_module_getsymtab(o->dwfl_module) : 0;

		for (int j = 1; j < nr; j++) {
			GElf_Sym sym;
			const char *name = dwfl_module_getsym(o->dwfl_module, j, &sym, NULL);
			int type = GELF_ST_TYPE(sym.st_info);

			if (!name || sym.st_shndx == SHN_UNDEF ||
			    (type != STT_FUNC && type != STT_OBJECT) || !fits(pattern, name))
				continue;
			if (found < max)
				to[found] = (struct symbol_range){
					o->module->base + sym.st_value,
					o->module->base + sym.st_value + sym.st_size};
			found++;
		}
	}
	return found;
}

int symbolizer_locks(struct symbolizer *s, const struct lock_site *sites, size_t nr)
{
	s->lock_names = calloc(nr + 1, sizeof(*s->lock_names));
	if (!s->lock_names)
		return -ENOMEM;
	s->locks = sites;
	s->nr_locks = nr;
	return 0;
}

/* Index of the first site of a class, or of what would come after it. */
static size_t first_lock(const struct symbolizer *s, uint64_t address, unsigned int kind)
{
	size_t low = 0, high = s->nr_locks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct lock_site *l = &s->locks[middle];

		if (l->address < address || (l->address == address && l->kind < kind))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Leaves what the lock may be by the innermost function around a call that says something. */
static void ask_members(struct symbolizer *s, const struct lock_site *l, struct members *members)
{
	struct place place;
	Dwfl_Module *m = locate(s, l->site - 1, &place);
	Dwarf_Die functions[INLINED_MAX];
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = m ? functions_unit(m, place.offset, &bias) : NULL;
	size_t nr = unit ? functions_around(unit, place.offset - bias, functions, INLINED_MAX) : 0;

	for (size_t i = 0; i < nr; i++)
		if (members_of_function(&functions[i], l->kind, members))
			return;
}

/* Is it a site of the class of another one? */
static bool same_lock(const struct lock_site *a, const struct lock_site *b)
{
	return a->address == b->address && a->kind == b->kind;
}

/* What the class whose first site is @first may be, by all of its sites. */
static void find_members(struct symbolizer *s, size_t first, struct members *members)
{
	for (size_t i = first; i < s->nr_locks && same_lock(&s->locks[i], &s->locks[first]); i++)
		ask_members(s, &s->locks[i], members);
}

/*
 * For one class the members of at most 64 other classes are looked up, as each look-up reads debugging information.
 * Chosen.
 */
#define ASKED_MAX 64

/*
 * Of several members a lock is the one that is left without those that are other classes' only ones: if it
 * were one of these, the calls that lock it would connect the two classes.
 */
static void leave_own(struct symbolizer *s, size_t first, struct members *members)
{
	size_t asked = 0;

	for (size_t i = 0; members->nr > 1 && i < s->nr_locks && asked < ASKED_MAX; i++) {
		struct members other = {0};

		if (s->locks[i].kind != s->locks[first].kind || same_lock(&s->locks[i], &s->locks[first]) ||
		    (i && same_lock(&s->locks[i], &s->locks[i - 1])))
			continue;
		asked++;
		find_members(s, i, &other);
		if (other.nr == 1)
			members_take(members, other.names[0]);
		members_free(&other);
	}
}

const char *symbolize_lock(struct symbolizer *s, uint64_t address, unsigned int kind)
{
	const struct lock_site asked = {.address = address, .kind = kind};
	size_t first = first_lock(s, address, kind);
	struct members members = {0};

	if (first == s->nr_locks || !same_lock(&s->locks[first], &asked))
		return NULL;
	if (!s->lock_names[first]) {
		find_members(s, first, &members);
		leave_own(s, first, &members);
		s->lock_names[first] = members.nr == 1 ? keep(s, members.names[0]) : "";
		members_free(&members);
	}
	return s->lock_names[first] && *s->lock_names[first] ? s->lock_names[first] : NULL;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	free(s->lock_names);
	for (size_t i = 0; i < s->nr_objects; i++)
		dwfl_end(s->objects[i].dwfl);
	for (size_t i = 0; i < s->room; i++)
		free(s->answers[i].places);
	free(s->answers);
	while (s->texts) {
		struct text *next = s->texts->next;

		free(s->texts);
		s->texts = next;
	}
	free(s);
}
