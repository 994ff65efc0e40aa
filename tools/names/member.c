// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * member.c - see member.h.
 *
 * Must end on broken DWARF.
 */
#include <dwarf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/datafile.h"
#include "member.h"

/* The deepest nesting of types, and of scopes, that is followed: a std::unique_ptr has 15. */
#define DEPTH_MAX 128

/* Pointers and references that are followed, and types that are entered, from one function. Chosen. */
#define POINTERS_MAX 3
#define TYPES_MAX    4096

/* Types of the C library by kind of the class. */
static const struct {
	unsigned int kind;
	const char *name;
} lock_types[] = {
	{ELIDE_KIND_MUTEX, "pthread_mutex_t"}, {ELIDE_KIND_MUTEX, "mtx_t"},
	{ELIDE_KIND_RWLOCK_READ, "pthread_rwlock_t"}, {ELIDE_KIND_SPIN, "pthread_spinlock_t"},
	{ELIDE_KIND_COND, "pthread_cond_t"}, {ELIDE_KIND_COND, "cnd_t"},
	{ELIDE_KIND_SEM, "sem_t"}, {ELIDE_KIND_BARRIER, "pthread_barrier_t"},
	{ELIDE_KIND_LIBRARY, "GMutex"}, {ELIDE_KIND_LIBRARY, "omp_lock_t"},
	{ELIDE_KIND_LIBRARY, "omp_nest_lock_t"},
};

/**
 * struct at - how a type was reached.
 * @owner:   the structure that has it as a member; without an address: none has
 * @type:    name of that structure
 * @member:  name of that member; NULL: a type that the structure is derived from
 * @array:   it is an array
 * @wrapped: inside of a type of the standard library, or of one that has nothing else
 * @guarded: through a pointer in such a type: a guard has a pointer to the lock that it holds
 */
struct at {
	Dwarf_Die owner;
	const char *type;
	const char *member;
	bool array;
	bool wrapped;
	bool guarded;
};

/**
 * struct search - of the types that a function knows.
 * @found: members that are locks, @nr; more than MEMBERS_MAX: too many
 * @lone: a lock that is no member, and that no guard holds, is known
 * @pointers: how many are followed
 * @nr_types: number of types visited, at most TYPES_MAX
 */
struct search {
	unsigned int kind;
	struct at found[MEMBERS_MAX];
	size_t nr;
	bool lone;
	int pointers;
	int nr_types;
};

static void visit(struct search *s, Dwarf_Die *type, const struct at *at, int pointers, int depth);

bool member_in_header(const char *file)
{
	static const char *const parts[] = {"/include/c++/", "/library/std/src/", "/library/core/src/",
					    "/library/alloc/src/", "/parking_lot", "/lock_api"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return !strncmp(file, "/usr/include/", 13);
}

static bool target(Dwarf_Die *die, Dwarf_Die *to)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), to);
}

static void hit(struct search *s, const struct at *at)
{
	if (!at->owner.addr) {
		s->lone |= !at->guarded;
		return;
	}
	for (size_t i = 0; i < s->nr && i < MEMBERS_MAX; i++)
		if (s->found[i].owner.addr == at->owner.addr && s->found[i].member == at->member)
			return;
	if (s->nr < MEMBERS_MAX)
		s->found[s->nr] = *at;
	s->nr++;
}

static bool is_lock(const struct search *s, const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(lock_types); i++)
		if (lock_types[i].kind == s->kind && !strcmp(lock_types[i].name, name))
			return true;
	return false;
}

/* Is it a part of a structure's bytes, which a static member is not? */
static bool is_part(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member && !dwarf_hasattr(die, DW_AT_external) &&
		!dwarf_hasattr(die, DW_AT_declaration)) || tag == DW_TAG_inheritance;
}

/* Has the structure but one part? */
static bool is_single(Dwarf_Die *type)
{
	Dwarf_Die die;
	int nr = 0;

	if (!dwarf_child(type, &die))
		do
			nr += is_part(&die);
		while (nr < 2 && !dwarf_siblingof(&die, &die));
	return nr == 1;
}

/* Is it declared in a header of the system? dwarf_decl_file() aborts where the unit is in a .dwo. */
static bool is_of_system(Dwarf_Die *type)
{
	Dwarf_Files *files;
	Dwarf_Attribute attr;
	Dwarf_Word number;
	const char *file;
	Dwarf_Die unit;
	size_t nr;

	if (dwarf_formudata(dwarf_attr_integrate(type, DW_AT_decl_file, &attr), &number) ||
	    !dwarf_diecu(type, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &nr) || number >= nr)
		return false;
	file = dwarf_filesrc(files, number, NULL, NULL);
	return file && member_in_header(file);
}

/* Is a structure with one part, by its name, a kind of lock, and not an object that has one? */
static bool is_called_lock(const char *name)
{
	static const char *const words[] = {"lock", "mutex", "mtx", "latch", "guard", "cond", "sema", "barrier",
					    "monitor", "critical", "event"};

	for (size_t i = 0; name && i < ARRAY_SIZE(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return !name;
}

static void visit_structure(struct search *s, Dwarf_Die *type, const char *name, const struct at *at,
			    int pointers, int depth)
{
	bool wraps = (is_single(type) && is_called_lock(name)) || is_of_system(type);
	Dwarf_Die part, of;

	if (++s->nr_types > TYPES_MAX)
		s->nr = MEMBERS_MAX + 1;
	if (s->nr > MEMBERS_MAX || dwarf_child(type, &part))
		return;
	do {
		struct at inner = *at;

		if (!is_part(&part) || !target(&part, &of))
			continue;
		inner.wrapped |= wraps;
		/* The members of a structure without a name are those of the one around it. */
		if (!wraps && name)
			inner = (struct at){.owner = *type, .type = name, .guarded = at->guarded};
		if (inner.owner.addr && !inner.member && !wraps && dwarf_tag(&part) == DW_TAG_member)
			inner.member = dwarf_diename(&part);
		visit(s, &of, &inner, pointers, depth + 1);
	} while (!dwarf_siblingof(&part, &part));
}

/* @pointers: more of them to be followed */
static void visit(struct search *s, Dwarf_Die *type, const struct at *at, int pointers, int depth)
{
	const char *name = NULL;
	struct at to = *at;
	Dwarf_Die t = *type;

	while (depth++ < DEPTH_MAX) {
		switch (dwarf_tag(&t)) {
		case DW_TAG_typedef:
			name = dwarf_diename(&t);
			if (is_lock(s, name)) {
				hit(s, &to);
				return;
			}
			break;
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
			if (!pointers--)
				return;
			to = (struct at){.guarded = to.guarded || to.wrapped};
			name = NULL;
			break;
		case DW_TAG_array_type:
			to.array = true;
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			visit_structure(s, &t, dwarf_diename(&t) ?: name, &to, pointers, depth);
			return;
		default:
			return;
		}
		if (!target(&t, &t))
			return;
	}
}

/* The parameters and variables of a scope, and of blocks in it. */
static void visit_scope(struct search *s, Dwarf_Die *scope, int depth)
{
	const struct at nowhere = {.guarded = false};
	Dwarf_Die die, type;

	if (depth == DEPTH_MAX || dwarf_child(scope, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_formal_parameter:
		case DW_TAG_variable:
			if (target(&die, &type))
				visit(s, &type, &nowhere, s->pointers, 0);
			break;
		case DW_TAG_lexical_block:
			visit_scope(s, &die, depth + 1);
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* Writes the namespaces and types around a type: each with "::". */
static void put_scopes(FILE *out, Dwarf_Die *type)
{
	Dwarf_Die *scopes = NULL;
	int nr = dwarf_getscopes_die(type, &scopes);

	for (int i = nr; i-- > 1;) {
		const char *name = dwarf_diename(&scopes[i]);

		switch (dwarf_tag(&scopes[i])) {
		case DW_TAG_namespace:
			fprintf(out, "%s::", name ?: "(anonymous namespace)");
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			if (name)
				fprintf(out, "%s::", name);
		}
	}
	if (nr > 0)
		free(scopes);
}

static char *name_of(struct at *at)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_scopes(out, &at->owner);
	fprintf(out, "%s%s%s%s", at->type, at->member ? "::" : "", at->member ?: "", at->array ? "[]" : "");
	fclose(out);
	return text;
}

/* Leaves those members that were found, too. */
static void leave(struct members *members, struct search *s)
{
	char *names[MEMBERS_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++)
		names[i] = name_of(&s->found[i]);
	for (size_t i = 0; i < members->nr; i++) {
		bool has = false;

		for (size_t j = 0; j < s->nr; j++)
			has |= names[j] && !strcmp(names[j], members->names[i]);
		if (has)
			members->names[kept++] = members->names[i];
		else
			free(members->names[i]);
	}
	for (size_t i = 0; i < s->nr; i++) {
		if (!members->known && names[i])
			members->names[kept++] = names[i];
		else
			free(names[i]);
	}
	members->nr = kept;
	members->known = true;
}

bool members_of_function(Dwarf_Die *function, unsigned int kind, struct members *members)
{
	struct search s = {.kind = kind};
	Dwarf_Die whole = *function;
	Dwarf_Attribute attr;

	/* An instance of an inlined function may lack what was optimised away. */
	if (dwarf_attr(function, DW_AT_abstract_origin, &attr) && !dwarf_formref_die(&attr, &whole))
		return false;
	for (s.pointers = 1; !s.nr && !s.lone && s.pointers <= POINTERS_MAX; s.pointers += POINTERS_MAX - 1) {
		s.nr_types = 0;
		visit_scope(&s, &whole, 0);
	}
	if (!s.nr || s.nr > MEMBERS_MAX || s.lone)
		return s.nr;
	leave(members, &s);
	return true;
}

void members_take(struct members *members, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < members->nr; i++) {
		if (strcmp(members->names[i], name))
			members->names[kept++] = members->names[i];
		else
			free(members->names[i]);
	}
	members->nr = kept;
}

void members_free(struct members *members)
{
	for (size_t i = 0; i < members->nr; i++)
		free(members->names[i]);
	memset(members, 0, sizeof(*members));
}
