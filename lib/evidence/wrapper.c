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

/* Calls that are remembered, each in one place of a table; a later call may replace an earlier one. */
#define NR_KNOWN 1024

/*
 * What is known of a call, one word; 0 for an empty place:
 *   bit 0       the call is in a wrapper
 *   bits 1-47   its return address
 *   bits 48-59  of a wrapper: words on the stack from the stack pointer after the call to the stack pointer
 *               after the call of the wrapper, below which is the return address of that; 0: not known
 *   bits 60-63  walks of the stack that have all found this number of words, at most ALL_WALKS
 */
static uint64_t known[NR_KNOWN];

#define SITE_END  48
#define WORDS_END 60
#define WORDS_MAX ((1u << (WORDS_END - SITE_END)) - 1)

/*
 * Walks that have to find the same number of words before the stack is read without a walk. A function with
 * an array of variable size on its stack has another number sooner or later: 0 words and ALL_WALKS say that
 * the stack is always walked. Chosen.
 */
#define ALL_WALKS 15

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

/* Can a function of that size be a wrapper? A C++ function may be local only because it is hidden. */
static bool is_small(const char *name, const struct elide_symbol *symbol)
{
	bool one_file = symbol->local && strncmp(name, "_Z", 2);

	return symbol->size <= (one_file ? THIN_LOCAL : THIN_SIZE);
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
	if (_dl_find_object((char *)site - 1, &found) || !found.dlfo_link_map)
		return false;
	path = *found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "/proc/self/exe";
	if (!strcmp(elide_tunables.wrappers, "auto"))
		err = elide_symbol_function(path, (uintptr_t)function - found.dlfo_link_map->l_addr,
					    THIN_SIZE, name, sizeof(name), &symbol);
	else
		err = elide_symbol_look(path, (uintptr_t)site - 1 - found.dlfo_link_map->l_addr,
					name, sizeof(name), &symbol);
	return !err && is_wrapper_name(name, function && is_small(name, &symbol));
}

/* If objects were unloaded, forget all calls, as other objects may have their addresses. */
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

/* The place of a call in the table. */
static uint64_t *place_of(const void *site)
{
	/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
	return &known[((uintptr_t)site * 0x9e3779b97f4a7c15ull >> 32) % NR_KNOWN];
}

/* What is known of a call; 0: nothing. Lock-free. */
static uint64_t known_of(const void *site)
{
	uint64_t value = READ_ONCE(*place_of(site));

	return (value & ((1ull << SITE_END) - 1)) >> 1 == (uintptr_t)site ? value : 0;
}

static uint64_t words_of(uint64_t value)
{
	return value >> SITE_END & WORDS_MAX;
}

static bool is_wrapper(const void *site)
{
	uint64_t value = known_of(site);

	if (unlikely(!value)) {
		value = (uint64_t)(uintptr_t)site << 1 | find_out(site);
		test_point(wrapper_publish);
		WRITE_ONCE(*place_of(site), value);
	}
	return value & 1;
}

/*
 * A walk has found the return address of a wrapper's call.
 * @stack, @outer: the stack pointers after the call, and after that of the wrapper; 0: not known
 */
static void learn_words(const void *site, uint64_t stack, uint64_t outer)
{
	uint64_t value = known_of(site), walks = value >> WORDS_END, words = words_of(value);
	uint64_t found = (outer - stack) / sizeof(uint64_t);

	if (!stack || (walks == ALL_WALKS && (!words || found == words)))
		return;
	if (found > WORDS_MAX || (walks && found != words)) {
		words = 0;
		walks = ALL_WALKS;
	} else {
		words = found;
		walks++;
	}
	WRITE_ONCE(*place_of(site), walks << WORDS_END | words << SITE_END |
					    (uint64_t)(uintptr_t)site << 1 | 1);
}

/*
 * The call after which a lock is named, without a global-lock path; NULL: something is not known yet. A word
 * on the stack counts as a return address only if it is the known one of a call.
 */
static const void *known_caller(const void *site, const void *stack)
{
	const uint64_t *word = stack;

	if (!stack || word[-1] != (uintptr_t)site)
		return NULL;
	for (int i = 0;; i++) {
		uint64_t value = known_of(site);

		if (!value)
			return NULL;
		if (!(value & 1) || i == WRAPPERS_DEEP)
			return site;
		if (!words_of(value) || value >> WORDS_END != ALL_WALKS)
			return NULL;
		word += words_of(value);
		site = (const void *)word[-1];
	}
}

/* @arg: the call; replaced by the one after which the lock is named */
static void wrapper_global(void *arg)
{
	const bool emulated = elide_process.rtm == ELIDE_RTM_EMULATED;
	const void **site = arg;
	uint64_t frames[WRAPPERS_DEEP + 1], stacks[WRAPPERS_DEEP + 1];
	unsigned int nr, i = 0;

	test_point(wrapper_entered);
	if (is_wrapper(*site)) {
		nr = elide_walk_some(frames, stacks, ARRAY_SIZE(frames), *site, emulated);
		for (; i + 1 < nr && is_wrapper((const void *)frames[i]); i++)
			learn_words((const void *)frames[i], stacks[i], stacks[i + 1]);
		/* Remember that the last one is in none, for the next time. */
		is_wrapper((const void *)frames[i]);
		*site = (const void *)frames[i];
	}
	test_point(wrapper_done);
}

const void *elide_wrapper_caller(const void *site, const void *stack)
{
	const void *caller;

	forget_unloaded();
	/* Mostly the call is known to be in no wrapper. */
	if (READ_ONCE(*place_of(site)) == (uint64_t)(uintptr_t)site << 1 ||
	    !strcmp(elide_tunables.wrappers, "no"))
		return site;
	caller = known_caller(site, stack);
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
	uint64_t value;

	forget_unloaded();
	value = known_of(e.site);
	if (elide_process.mode == ELIDE_RUN_PROFILE && elide_evidence && row->kind && e.site &&
	    (!value || value & 1) && strcmp(elide_tunables.wrappers, "no") &&
	    !elide_global_try_run(acquired_global, &e))
		return;
	row->stacked = e.wrapped ? nr : ~0ull;
}
