/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrapper.c - see wrapper.h. No memory is allocated. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/testpoint.h"
#include "../base/text.h"
#include "../compiler.h"
#include "../emulator.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/rules.h"
#include "../state/settings.h"
#include "../state/symbol.h"
#include "../state/tunables.h"
#include "evidence.h"
#include "frames.h"
#include "known-calls.h"
#include "records.h"
#include "stack.h"
#include "table.h"
#include "wrapper.h"

/* Wrappers that call one another, at most. */
#define WRAPPERS_DEEP 4

/*
 * Bytes. A function that does little but initialise a lock does so within THIN bytes, and has THIN_SIZE at
 * most. Measured in Debian 12, return address and size: librocksdb's Mutex::Mutex() 40 of 225, and
 * RWMutex() 28 of 149; libcrypto's CRYPTO_THREAD_lock_new() 44 of 92; nginx's ngx_thread_mutex_create() 78
 * of 269, the largest; libuv's uv_mutex_init() 6 of 18, and uv_mutex_init_recursive() 73 of 128; mariadbd's
 * rw_pr_init() 14 of 50; libjvm's PlatformMutex() 7 of 12; kyotocabinet's Mutex(Type) 100 of 187;
 * apr_thread_mutex_create() 138, the latest call. Of 61 functions in mariadbd that initialise locks in the
 * midst of other work, 39 are larger or call later, and only one has the name of a lock.
 */
#define THIN      160
#define THIN_SIZE 320

/*
 * A C function that only its own file can call has few callers, so its own name tells its locks apart. It
 * counts only if it does nothing but pass the lock on: such functions among those above have 18 and 21
 * bytes; btree_mutex_create() of index_bench, which makes a tree, has 116.
 */
#define THIN_LOCAL 64

/* What is known of calls: whether they are in wrappers. */
static struct elide_known_calls known;

static const char *const words[] = {
#define ELIDE_WRAPPER_WORD(word) word,
#define ELIDE_WRAPPER_CONSTRUCTOR(word) word,
#define ELIDE_WRAPPER_INIT(word) word,
#include "../wrappers.def"
#undef ELIDE_WRAPPER_INIT
#undef ELIDE_WRAPPER_CONSTRUCTOR
#undef ELIDE_WRAPPER_WORD
};

/* From GCC's unwind-dw2-fde.h. The unwinder itself uses the function. */
struct dwarf_eh_bases {
	void *tbase;
	void *dbase;
	void *func;
};

extern const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

/* Get the next pattern of ELIDE_WRAPPERS. False: none is left. */
static bool next_pattern(const char **list, char *to, size_t size)
{
	size_t len = strcspn(*list, ",");

	if (!**list)
		return false;
	elide_text(to, size, "%.*s", (int)len, *list);
	*list += len + ((*list)[len] == ',');
	return true;
}

static bool contains(const char *name, const char *word)
{
	for (; *name; name++)
		if (!strncasecmp(name, word, strlen(word)))
			return true;
	return false;
}

static bool speaks_of_locks(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (contains(name, words[i]))
			return true;
	return false;
}

/* The function that makes the call, if it does so near its beginning; else NULL. */
static const char *thin_function(const void *site)
{
	struct dwarf_eh_bases bases = {0};

	return _Unwind_Find_FDE((char *)site - 1, &bases) &&
			       (uintptr_t)site - (uintptr_t)bases.func <= THIN ?
		       bases.func :
		       NULL;
}

bool elide_wrapper_matches(const char *name)
{
	const char *list = elide_tunables.wrappers;
	char pattern[256];

	while (next_pattern(&list, pattern, sizeof(pattern)))
		if (strcmp(pattern, "auto") && elide_rules_glob(pattern, name))
			return true;
	return false;
}

static bool is_auto(void)
{
	const char *list = elide_tunables.wrappers;
	char pattern[256];

	while (next_pattern(&list, pattern, sizeof(pattern)))
		if (!strcmp(pattern, "auto"))
			return true;
	return false;
}

static bool is_wrapper_name(const char *name, bool thin)
{
	return elide_wrapper_matches(name) || (thin && is_auto() && speaks_of_locks(name));
}

/* Can a function of that size be a wrapper? A C++ function may be local only because it is hidden. */
static bool is_small(const char *name, const struct elide_symbol *symbol)
{
	bool one_file = symbol->local && strncmp(name, "_Z", 2);

	return symbol->size <= (one_file ? THIN_LOCAL : THIN_SIZE);
}

/* The file of the object that makes the call; NULL: it is in none. */
static const char *object_of(const void *site, struct dl_find_object *found)
{
	if (_dl_find_object((char *)site - 1, found) || !found->dlfo_link_map)
		return NULL;
	return *found->dlfo_link_map->l_name ? found->dlfo_link_map->l_name : "/proc/self/exe";
}

static bool find_out(const void *site)
{
	const char *function = thin_function(site);
	struct dl_find_object found;
	struct elide_symbol symbol;
	const char *path;
	char name[256];
	int err;

	/* Without patterns, search a symbol only if the call may be in a wrapper. */
	if (!strcmp(elide_tunables.wrappers, "auto") && !function)
		return false;
	path = object_of(site, &found);
	if (!path)
		return false;
	if (!strcmp(elide_tunables.wrappers, "auto"))
		err = elide_symbol_function(path, (uintptr_t)function - found.dlfo_link_map->l_addr,
					    THIN_SIZE, name, sizeof(name), &symbol);
	else
		err = elide_symbol_look(path, (uintptr_t)site - 1 - found.dlfo_link_map->l_addr,
					name, sizeof(name), &symbol);
	return !err && is_wrapper_name(name, function && is_small(name, &symbol));
}

static bool is_wrapper(const void *site)
{
	bool passes;

	if (likely(elide_known_call(&known, site, &passes)))
		return passes;
	passes = find_out(site);
	test_point(wrapper_publish);
	elide_known_note(&known, site, passes);
	return passes;
}

/* Is the call in a thin function without a symbol, as a static one of a stripped library? */
static bool is_nameless(const void *site)
{
	struct dl_find_object found;
	struct elide_symbol symbol;
	const char *path;
	char name[256];

	if (!is_auto() || !thin_function(site))
		return false;
	path = object_of(site, &found);
	return path && elide_symbol_look(path, (uintptr_t)site - 1 - found.dlfo_link_map->l_addr, name,
					 sizeof(name), &symbol);
}

/* @arg: the call; replaced by the one after which the lock is named */
static void wrapper_global(void *arg)
{
	const bool emulated = elide_process.rtm == ELIDE_RTM_EMULATED;
	const void **site = arg;
	uint64_t frames[WRAPPERS_DEEP + 1], stacks[WRAPPERS_DEEP + 1];
	unsigned int nr, i = 0;
	bool nameless, passes;

	test_point(wrapper_entered);
	nameless = !elide_known_call(&known, *site, &passes) && !is_wrapper(*site) && is_nameless(*site);
	if (nameless || is_wrapper(*site)) {
		nr = elide_walk_some(frames, stacks, ARRAY_SIZE(frames), *site, emulated);
		/* It is a wrapper if one calls it: GLib makes its rwlocks and recursive mutexes in such functions. */
		if (nameless && nr > 1 && is_wrapper((const void *)frames[1]))
			elide_known_note(&known, *site, true);
		for (; i + 1 < nr && is_wrapper((const void *)frames[i]); i++)
			elide_known_walked(&known, (const void *)frames[i], stacks[i], stacks[i + 1]);
		/* Remember that the last one is in none, for the next time. */
		is_wrapper((const void *)frames[i]);
		*site = (const void *)frames[i];
	}
	test_point(wrapper_done);
}

const void *elide_wrapper_caller(const void *site, const void *stack)
{
	uint64_t passed[WRAPPERS_DEEP];
	const void *caller;
	unsigned int nr;
	bool passes;

	elide_known_settle(&known);
	/* Mostly the call is known to be in no wrapper. */
	if ((elide_known_call(&known, site, &passes) && !passes) || !strcmp(elide_tunables.wrappers, "no"))
		return site;
	caller = elide_known_caller(&known, site, stack, passed, WRAPPERS_DEEP, &nr);
	if (caller)
		return caller;
	elide_global_run(wrapper_global, &site);
	return site;
}

/**
 * struct acquired - an acquisition whose stack may be recorded.
 * @row: counters of the call
 * @site: of the call
 * @weight: acquisitions for which it counts
 * @wrapped: set: the call is in a wrapper
 */
struct acquired {
	const struct elide_row *row;
	const void *site;
	uint64_t weight;
	bool wrapped;
};

static void acquired_global(void *arg)
{
	const bool emulated = elide_process.rtm == ELIDE_RTM_EMULATED;
	uint64_t frames[WRAPPERS_DEEP + 2];
	struct acquired *e = arg;
	unsigned int nr;

	test_point(acquired_entered);
	e->wrapped = is_wrapper(e->site);
	test_point(acquired_publish);
	if (e->wrapped) {
		nr = elide_walk_some(frames, NULL, ARRAY_SIZE(frames), e->site, emulated);
		evidence_add_to_sample(evidence_sample_record(e->row, ELIDE_SAMPLE_ACQUIRE,
							      elide_stack_save(frames, nr, false)),
				       e->weight, 0);
	}
	test_point(acquired_done);
}

__cold void elide_wrapper_acquired(struct elide_row *row, uint64_t nr)
{
	struct acquired e = {.row = row, .site = elide_at_run_time(row->site), .weight = nr - row->stacked};
	bool passes, is_known;
	RTMGRIND_STILL;

	elide_known_settle(&known);
	is_known = elide_known_call(&known, e.site, &passes);
	if (elide_process.mode == ELIDE_RUN_PROFILE && elide_evidence && row->kind && e.site &&
	    (!is_known || passes) && strcmp(elide_tunables.wrappers, "no") &&
	    !elide_global_try_run(acquired_global, &e))
		return;
	row->stacked = e.wrapped ? nr : ~0ull;
}
