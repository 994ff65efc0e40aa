/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lock-code.c - see lock-code.h. No memory is allocated. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "../base/testpoint.h"
#include "../compiler.h"
#include "../state/gate.h"
#include "../state/rules.h"
#include "../state/settings.h"
#include "../state/symbol.h"
#include "../state/tunables.h"
#include "frames.h"
#include "known-calls.h"
#include "lock-code.h"
#include "wrapper.h"

/* Calls of lock code that are followed outwards from a futex call. Unoptimised, a semaphore of C++ has 9. */
#define DEEP 14

/* Bytes of a part of a name that are compared with the patterns; further ones are ignored. */
#define PART 96

/* What is known of calls: whether they are in lock code, and in which. */
static struct elide_known_calls known;
static uint8_t codes[ELIDE_NR_KNOWN];

static const struct {
	const char *pattern;
	enum elide_lock_code code;
} patterns[] = {
#define ELIDE_LOCK_CODE(pattern, type) {pattern, ELIDE_LOCK_CODE_##type},
#include "../lock-code.def"
#undef ELIDE_LOCK_CODE
};

/* Not those of <ctype.h>, which depend on the locale and call libc. */
static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* @part in small letters, with an underscore before each capital that follows a small letter. */
static void to_words(char *to, const char *part, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 2 < PART; i++) {
		if (is_upper(part[i]) && i &&
		    (is_lower(part[i - 1]) ||
		     (i + 1 < len && is_lower(part[i + 1]) && part[i - 1] != '_')))
			to[n++] = '_';
		to[n++] = is_upper(part[i]) ? (char)(part[i] + 'a' - 'A') : part[i];
	}
	to[n] = '\0';
}

/* Takes a further part of a name into account. */
static enum elide_lock_code with_part(enum elide_lock_code so_far, const char *part, size_t len)
{
	char words[PART];

	to_words(words, part, len);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (!elide_rules_glob(patterns[i].pattern, words))
			continue;
		if (so_far == ELIDE_LOCK_CODE_NONE ||
		    (patterns[i].code == ELIDE_LOCK_CODE_ANY && so_far != ELIDE_LOCK_CODE_OUTSIDE))
			return so_far;
		return patterns[i].code;
	}
	return so_far;
}

/* Reads a number; -1 if there is none, or if fewer characters than that follow. */
static int read_length(const char **p)
{
	int n = 0;

	if (!is_digit(**p))
		return -1;
	while (is_digit(**p) && n < 10000)
		n = 10 * n + *(*p)++ - '0';
	return strnlen(*p, (size_t)n) == (size_t)n ? n : -1;
}

/* The end of a substitution, such as St, S_ or S1_, or of a disambiguator or back reference of Rust. */
static const char *after_reference(const char *p)
{
	while (is_upper(*p) || is_lower(*p) || is_digit(*p))
		p++;
	return p + (*p == '_');
}

/*
 * The name of a C++ function: its parts, but those of template arguments and of the types of parameters. @p: after _Z
 */
static enum elide_lock_code cxx_name(const char *p)
{
	enum elide_lock_code code = ELIDE_LOCK_CODE_OUTSIDE;
	int depth = 0, arguments = 0, len;

	while (*p) {
		if (is_digit(*p)) {
			len = read_length(&p);
			if (len < 0)
				break;
			if (!arguments)
				code = with_part(code, p, (size_t)len);
			p += len;
			/* A name that is not nested ends here, but for its template arguments. */
			if (!depth)
				break;
		} else if (*p == 'S' && p[1] && !is_lower(p[1])) {
			p = after_reference(p + 1);
		} else if (*p == 'S' && p[1]) {
			p += 2;
		} else if (*p == 'E') {
			if (arguments)
				arguments--;
			else if (--depth <= 0)
				break;
			p++;
		} else if (arguments) {
			arguments += *p == 'N' || *p == 'I' || *p == 'J' || *p == 'F' || *p == 'X' ||
				     *p == 'L' || *p == 'Z';
			p++;
		} else {
			depth += *p == 'N' || *p == 'Z';
			arguments += *p == 'I';
			p++;
		}
	}
	return code;
}

/* The name of a Rust function, all its parts. @p: after _R */
static enum elide_lock_code rust_name(const char *p)
{
	enum elide_lock_code code = ELIDE_LOCK_CODE_OUTSIDE;
	int len;

	while (*p) {
		if (*p == 's' || *p == 'B') {
			p = after_reference(p + 1);
		} else if (is_digit(*p)) {
			len = read_length(&p);
			p += *p == '_';
			if (len < 0)
				break;
			code = with_part(code, p, (size_t)len);
			p += len;
		} else {
			p++;
		}
	}
	return code;
}

enum elide_lock_code elide_lock_code_name(const char *symbol)
{
	enum elide_lock_code code;

	if (!strncmp(symbol, "_Z", 2))
		code = cxx_name(symbol + 2);
	else if (!strncmp(symbol, "_R", 2))
		code = rust_name(symbol + 2);
	else
		/* gcc adds .constprop.0 and the like. */
		code = with_part(ELIDE_LOCK_CODE_OUTSIDE, symbol, strcspn(symbol, "."));
	return code == ELIDE_LOCK_CODE_NONE ? ELIDE_LOCK_CODE_OUTSIDE : code;
}

/* Where a call is: the object, and what its function is, if it has a name. */
struct where {
	const struct link_map *object;
	bool named;
	enum elide_lock_code code;
};

static bool is_own(const struct link_map *object)
{
	struct dl_find_object own;

	return !_dl_find_object((void *)(uintptr_t)is_own, &own) && own.dlfo_link_map == object;
}

static struct where where_is(const void *site)
{
	struct where w = {0};
	struct dl_find_object found;
	const char *path;
	char name[1024];

	if (_dl_find_object((char *)site - 1, &found) || !found.dlfo_link_map)
		return w;
	w.object = found.dlfo_link_map;
	path = *w.object->l_name ? w.object->l_name : "/proc/self/exe";
	if (elide_symbol_find(path, (uintptr_t)site - 1 - w.object->l_addr, name, sizeof(name)))
		return w;
	w.named = true;
	w.code = elide_lock_code_name(name);
	/* A wrapper of a library's unlock function is passed where that wakes a thread by a futex call. */
	if (w.code == ELIDE_LOCK_CODE_OUTSIDE && (is_own(w.object) || elide_wrapper_matches(name)))
		w.code = ELIDE_LOCK_CODE_ANY;
	return w;
}

static void note(const void *site, enum elide_lock_code code)
{
	WRITE_ONCE(codes[elide_known_place(site)], code);
	elide_known_note(&known, site, code != ELIDE_LOCK_CODE_OUTSIDE);
}

static bool is_in_libc(const void *site)
{
	struct dl_find_object found, libc;

	return !_dl_find_object((char *)site - 1, &found) && !_dl_find_object((void *)(uintptr_t)__errno_location, &libc) &&
	       found.dlfo_link_map == libc.dlfo_link_map;
}

/* Is a call in a library, in a function without a name? */
static bool is_nameless(const struct where *w)
{
	return !w->named && w->object && *w->object->l_name;
}

/*
 * How many of the innermost calls of a stack are in lock code. One in a nameless function is, if the next one with a
 * name is, in the same library, or if all inner ones are nameless, too: what makes the futex call of a library whose
 * local symbols were removed. @all: filled with where each of them and the next one is
 */
static unsigned int lock_code(const uint64_t *frames, unsigned int nr, struct where *all)
{
	unsigned int inner = 0;
	bool nameless = true;

	for (unsigned int i = 0; i < nr; i++) {
		all[i] = where_is((const void *)frames[i]);
		nameless &= is_nameless(&all[i]) && all[i].object == all[0].object;
		if (nameless || all[i].code != ELIDE_LOCK_CODE_OUTSIDE)
			inner = i + 1;
		else if (!is_nameless(&all[i]) || all[i].object != all[inner].object)
			break;
	}
	/* The start function of a thread belongs to the program, even if its name matches a pattern. */
	if (inner && (inner == nr || is_in_libc((const void *)frames[inner])))
		inner--;
	return inner;
}

/* What the outermost of those calls says for which threads wait. */
static enum elide_lock_code outermost(const uint64_t *passed, unsigned int nr)
{
	enum elide_lock_code code = ELIDE_LOCK_CODE_OUTSIDE, one;

	for (unsigned int i = 0; i < nr; i++) {
		one = READ_ONCE(codes[elide_known_place((const void *)passed[i])]);
		if (one != ELIDE_LOCK_CODE_ANY || code == ELIDE_LOCK_CODE_OUTSIDE)
			code = one;
	}
	return code;
}

/* A call, replaced by the one outside of lock code. */
struct caller {
	const void *site;
	enum elide_lock_code code;
};

/* Finds out for the innermost calls of a stack whether they are in lock code. Return: how many are. */
static unsigned int learn(const uint64_t *frames, unsigned int nr)
{
	struct where all[DEEP + 1];
	unsigned int inner = lock_code(frames, nr, all);

	test_point(lock_code_publish);
	for (unsigned int i = 0; i < inner; i++)
		note((const void *)frames[i],
		     all[i].code == ELIDE_LOCK_CODE_OUTSIDE ? ELIDE_LOCK_CODE_ANY : all[i].code);
	note((const void *)frames[inner], ELIDE_LOCK_CODE_OUTSIDE);
	return inner;
}

static void walk_global(void *arg)
{
	const bool emulated = elide_process.rtm == ELIDE_RTM_EMULATED;
	uint64_t frames[DEEP + 1], stacks[DEEP + 1];
	struct caller *c = arg;
	unsigned int nr, inner = 0;
	bool known_all, passes = true;

	test_point(lock_code_entered);
	nr = elide_walk_some(frames, stacks, ARRAY_SIZE(frames), c->site, emulated);
	do
		known_all = elide_known_call(&known, (const void *)frames[inner], &passes);
	while (known_all && passes && ++inner < nr);
	/* If all is known, the place of a return address on the stack is not. */
	if (!known_all || passes)
		inner = learn(frames, nr);
	for (unsigned int i = 0; i < inner; i++)
		elide_known_walked(&known, (const void *)frames[i], stacks[i], stacks[i + 1]);
	c->code = outermost(frames, inner);
	c->site = (const void *)frames[inner];
	test_point(lock_code_done);
}

const void *elide_lock_code_caller(const void *site, const void *stack, enum elide_lock_code *code)
{
	struct caller c = {site, ELIDE_LOCK_CODE_OUTSIDE};
	uint64_t passed[DEEP];
	const void *caller;
	unsigned int nr;

	*code = ELIDE_LOCK_CODE_OUTSIDE;
	if (!strcmp(elide_tunables.wrappers, "no"))
		return site;
	elide_known_settle(&known);
	caller = elide_known_caller(&known, site, stack, passed, DEEP, &nr);
	if (likely(caller)) {
		*code = outermost(passed, nr);
		return caller;
	}
	elide_global_run(walk_global, &c);
	*code = c.code;
	return c.site;
}
