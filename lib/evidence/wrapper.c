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
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/rules.h"
#include "../state/settings.h"
#include "../state/symbol.h"
#include "../state/tunables.h"
#include "frames.h"
#include "wrapper.h"

/* Wrappers that call each other, at most. */
#define WRAPPERS_DEEP 4

/*
 * Bytes. A function that initialises a lock and does little else makes that call within THIN bytes and
 * has THIN_SIZE at most. Measured in Debian 12, as return address and size: librocksdb's Mutex::Mutex() 40
 * of 225, and RWMutex() 28 of 149; libcrypto's CRYPTO_THREAD_lock_new() 44 of 92; nginx's
 * ngx_thread_mutex_create() 78 of 269, the largest; libuv's uv_mutex_init() 6 of 18, and
 * uv_mutex_init_recursive() 73 of 128; mariadbd's rw_pr_init() 14 of 50; libjvm's PlatformMutex() 7 of 12;
 * kyotocabinet's Mutex(Type) 100 of 187, the latest call. Of 61 functions in mariadbd that initialise
 * locks in the midst of other work 39 are larger or call later; their names do not speak of locks but for one.
 */
#define THIN      128
#define THIN_SIZE 320

/*
 * A function of C that only its own file can call has few callers, so that its own name tells its locks
 * apart: it counts only if it does nothing but pass the lock on. Those of the list above that are so have
 * 18 and 21 bytes; btree_mutex_create() of index_bench, which makes a tree, has 116.
 */
#define THIN_LOCAL 64

/* Calls that are remembered, each in one place of a table; further ones take their places. */
#define NR_KNOWN 1024

/* Return address << 1 | 1 for a call in a wrapper; 0 for an empty place. */
static uint64_t known[NR_KNOWN];

static const char *const words[] = {
#define ELIDE_WRAPPER_WORD(word) word,
#include "../wrappers.def"
#undef ELIDE_WRAPPER_WORD
};

/* From GCC's unwind-dw2-fde.h, whose function the unwinder itself uses. */
struct dwarf_eh_bases {
	void *tbase;
	void *dbase;
	void *func;
};

extern const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

/* The patterns of ELIDE_WRAPPERS, one after another. False: there is none left. */
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

/* Is the call near the beginning of its function? */
static bool is_thin(const void *site)
{
	struct dwarf_eh_bases bases = {0};

	return _Unwind_Find_FDE((char *)site - 1, &bases) &&
	       (uintptr_t)site - (uintptr_t)bases.func <= THIN;
}

static bool is_wrapper_name(const char *name, bool thin)
{
	const char *list = elide_tunables.wrappers;
	char pattern[256];

	while (next_pattern(&list, pattern, sizeof(pattern)))
		if (!strcmp(pattern, "auto") ? thin && speaks_of_locks(name) :
					       elide_rules_glob(pattern, name))
			return true;
	return false;
}

/* Can a function of that size be a wrapper? One of C++ may be local because it is hidden. */
static bool is_small(const char *name, const struct elide_symbol *symbol)
{
	bool one_file = symbol->local && strncmp(name, "_Z", 2);

	return symbol->size <= (one_file ? THIN_LOCAL : THIN_SIZE);
}

static bool find_out(const void *site)
{
	struct dl_find_object found;
	struct elide_symbol symbol;
	const char *path;
	char name[256];

	/* Without patterns, a symbol is searched for calls that may be in a wrapper only. */
	if (!strcmp(elide_tunables.wrappers, "auto") && !is_thin(site))
		return false;
	if (_dl_find_object((char *)site - 1, &found) || !found.dlfo_link_map)
		return false;
	path = *found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "/proc/self/exe";
	if (elide_symbol_look(path, (uintptr_t)site - 1 - found.dlfo_link_map->l_addr, name,
			      sizeof(name), &symbol))
		return false;
	return is_wrapper_name(name, is_thin(site) && is_small(name, &symbol));
}

/* Objects were unloaded: others may have their addresses. */
static void forget_unloaded(void)
{
	static uint32_t epoch;
	uint32_t now = READ_ONCE(elide_modules_epoch);

	if (likely(READ_ONCE(epoch) == now))
		return;
	for (unsigned int i = 0; i < NR_KNOWN; i++)
		WRITE_ONCE(known[i], 0);
	WRITE_ONCE(epoch, now);
}

/* Where it is remembered whether a call is in a wrapper. */
static uint64_t *place_of(const void *site)
{
	/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
	return &known[((uintptr_t)site * 0x9e3779b97f4a7c15ull >> 32) % NR_KNOWN];
}

static bool is_wrapper(const void *site)
{
	uint64_t *place = place_of(site), value = READ_ONCE(*place);
	bool wraps;

	if (likely(value >> 1 == (uintptr_t)site))
		return value & 1;
	wraps = find_out(site);
	test_point(wrapper_publish);
	WRITE_ONCE(*place, (uint64_t)(uintptr_t)site << 1 | wraps);
	return wraps;
}

/* @arg: the call; it is replaced by the one that the lock is named after */
static void wrapper_slow(void *arg)
{
	const void **site = arg;
	uint64_t frames[WRAPPERS_DEEP + 1];
	unsigned int nr, i = 0;

	test_point(wrapper_entered);
	if (is_wrapper(*site)) {
		nr = elide_walk_some(frames, ARRAY_SIZE(frames), *site,
				     elide_process.rtm == ELIDE_RTM_EMULATED);
		while (i + 1 < nr && is_wrapper((const void *)frames[i]))
			i++;
		*site = (const void *)frames[i];
	}
	test_point(wrapper_done);
}

const void *elide_wrapper_caller(const void *site)
{
	forget_unloaded();
	/* Mostly it is known that the call is in none. */
	if (READ_ONCE(*place_of(site)) != (uint64_t)(uintptr_t)site << 1 &&
	    strcmp(elide_tunables.wrappers, "no"))
		elide_slow_run(wrapper_slow, &site);
	return site;
}
