/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * adapters.c - see adapters.h.
 *
 * Must never call a function of a library that was not found by name in an object that is loaded.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "../find.h"
#include "adapters.h"
#include "section/engine.h"
#include "state/settings.h"

static void find(enum adapter_type type);

/* Before the library is found: find it, then call it. */
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) \
	static result first_##id parameters                                      \
	{                                                                        \
		find(ADAPTER_##type);                                            \
		return adapter_real.id arguments;                                \
	}
#include "symbols.def"
#undef ADAPTER_SYMBOL

const struct adapter_real adapter_firsts = {
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) .id = first_##id,
#include "symbols.def"
};

struct adapter_real adapter_real = {
#include "symbols.def"
#undef ADAPTER_SYMBOL
};

uint8_t adapter_hows[NR_ADAPTERS];

/* The thread tries functions of a library, which may call one another through the wrappers. */
static __thread bool checking;

static const struct function {
	const char *name, *version;
	enum adapter_type type;
	size_t at; /* in struct adapter_real */
} functions[] = {
#define ADAPTER_SYMBOL(type_, id, symbol, version_, result, parameters, arguments) \
	{.name = #symbol, .version = version_, .type = ADAPTER_##type_,                \
	 .at = offsetof(struct adapter_real, id)},
#include "symbols.def"
#undef ADAPTER_SYMBOL
};

static enum adapter_how (*const checks[NR_ADAPTERS])(const struct adapter_real *real) = {
#define ADAPTER_TYPE(type) [ADAPTER_##type] = adapter_check_##type,
#include "symbols.def"
#undef ADAPTER_TYPE
};

static void **place(struct adapter_real *real, const struct function *f)
{
	return (void **)((char *)real + f->at);
}

static void *value(const struct adapter_real *real, const struct function *f)
{
	return *(void *const *)((const char *)real + f->at);
}

/**
 * struct search - for the object of a type.
 * @type: the type
 * @behind: this library's own object was passed
 * @found: all functions were found
 * @real: the functions
 */
struct search {
	enum adapter_type type;
	bool behind;
	bool found;
	struct adapter_real real;
};

/* Has the object all functions of the type? */
static bool take_functions(struct search *s, uintptr_t base, const ElfW(Dyn) *dynamic)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const struct function *f = &functions[i];
		void *p;

		if (f->type != s->type)
			continue;
		p = find_in_object(base, dynamic, f->name, f->version);
		if (!p)
			return false;
		*place(&s->real, f) = p;
	}
	return true;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct search *s = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (dynamic == _DYNAMIC) {
		s->behind = true;
		return 0;
	}
	/* One before this library may be another preloaded one, which calls this one. */
	if ((s->found && !s->behind) || !dynamic || !take_functions(s, info->dlpi_addr, dynamic))
		return 0;
	s->found = true;
	return s->behind;
}

static bool search(struct search *s, enum adapter_type type)
{
	*s = (struct search){.type = type};
	dl_iterate_phdr(look_into, s);
	return s->found;
}

/* Point all functions of a type to those in @from. */
static void set(enum adapter_type type, const struct adapter_real *from)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (functions[i].type == type)
			__atomic_store_n(place(&adapter_real, &functions[i]), value(from, &functions[i]),
					 __ATOMIC_RELAXED);
}

/* Find what a call needs that is passed on. */
static void find(enum adapter_type type)
{
	struct search s;

	if (elide_inside(elide_self))
		rtm_abort(ELIDE_CODE_unelidable);
	if (!search(&s, type))
		__builtin_trap(); /* without this library the call would have had no function */
	set(type, &s.real);
}

enum adapter_how adapter_resolve(enum adapter_type type)
{
	enum adapter_how how;
	struct search s;

	if (elide_inside(elide_self))
		rtm_abort(ELIDE_CODE_unelidable);
	if (checking || !search(&s, type))
		return ADAPTER_ASIDE;
	set(type, &s.real);
	checking = true;
	how = checks[type](&s.real);
	checking = false;
	/* Pairs with adapter_how(). */
	__atomic_store_n(&adapter_hows[type], how, __ATOMIC_RELEASE);
	return how;
}

void adapter_find(void)
{
	struct search s;

	for (enum adapter_type type = 0; type < NR_ADAPTERS; type++)
		if (search(&s, type))
			set(type, &s.real);
}

/* Is a function still where it was found? */
static bool is_there(const struct function *f)
{
	struct dl_find_object found;
	void *at = value(&adapter_real, f);
	const struct link_map *m;

	if (_dl_find_object(at, &found))
		return false;
	m = found.dlfo_link_map;
	return m && find_in_object(m->l_addr, m->l_ld, f->name, f->version) == at;
}

void adapter_unloaded(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const struct function *f = &functions[i];

		if (value(&adapter_real, f) == value(&adapter_firsts, f) || is_there(f))
			continue;
		__atomic_store_n(&adapter_hows[f->type], ADAPTER_UNSEEN, __ATOMIC_RELAXED);
		set(f->type, &adapter_firsts);
	}
}
