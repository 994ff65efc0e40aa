/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call.c - see call.h. */
#include "../base/syscalls.h"
#include "call.h"
#include "gate.h"
#include "lock-table.h"
#include "random.h"
#include "thread-list.h"
#include "way.h"
#include "wiped.h"

struct elide_row elide_no_row;

static struct adapt_thread nobody;
struct elide_call elide_no_call = {
	.arm = &elide_way_arms[ELIDE_WAY_LONG],
	.adapt = &nobody,
	.row = &elide_no_row,
};

/* Calls that are searched one by one; with more, all further ones are in a hash. Most threads have fewer. */
#define FEW_CALLS 12

static bool is_call(const struct elide_call *call, uint64_t key, uint32_t tag)
{
	return call->key == key && call->mark == elide_word(NULL, tag);
}

/* The guessed call, if the guess is right; NULL. */
static __always_inline_fn struct elide_call *guessed(struct elide_thread *t, uint64_t key,
						      uint32_t tag)
{
	struct elide_call *call = elide_guessed(t, elide_key_site(key));

	if (is_call(call, key, tag))
		return call;
	/* Most threads do not touch the page of the other guesses. */
	if (t->nr_calls <= FEW_CALLS)
		return NULL;
	call = elide_guess_call(t, READ_ONCE(*elide_tag_guess(t, tag, key)));
	return is_call(call, key, tag) ? call : NULL;
}

/* The tag of a lock; if there was no room for it, the tag of all such locks. */
static uint32_t tag_of(const void *lock, enum elide_kind kind)
{
	uint32_t tag = elide_registry_find(lock);

	return unlikely(tag == ELIDE_NONE) && elide_registry_full() ? elide_class_beyond(kind) :
								      tag;
}

/* One in 16 of the calls that find no room for their lock is counted, as 16. Chosen here. */
#define REFUSED_SAMPLE 16

/*
 * tag_of() outside of transactions. Counts one call in REFUSED_SAMPLE, so that room is looked for again
 * some time.
 */
static uint32_t tag_looked_up(struct elide_thread *t, const void *lock, enum elide_kind kind)
{
	uint32_t tag = elide_registry_find(lock);

	if (likely(tag != ELIDE_NONE) || !elide_registry_full())
		return tag;
	if (elide_random(t) % REFUSED_SAMPLE == 0)
		elide_table_refused(REFUSED_SAMPLE);
	return elide_class_beyond(kind);
}

/*
 * Register a lock if there is room and its class is known. Return: its tag.
 */
static uint32_t register_known(const void *lock, const void *site, enum elide_kind kind)
{
	uint32_t tag = elide_registry_add_known(lock, kind, site, false, false);

	if (tag == ELIDE_NONE && (!elide_table_has_room_for(lock) ||
				  elide_class_refused(lock, kind, false)))
		return elide_class_beyond(kind);
	return tag;
}

static bool has(const struct elide_call *call, uint32_t tag, uint64_t recorded,
		enum elide_kind kind)
{
	const struct elide_row *row = READ_ONCE(call->row);

	return call->mark == elide_word(NULL, tag) && row && row->site == recorded && row->kind == kind;
}

static uint32_t hash_of(uint32_t tag, uint64_t recorded)
{
	return tag * 2654435761u ^ (uint32_t)(recorded * 0x9e3779b97f4a7c15ull >> 40);
}

struct elide_call *elide_call_known(struct elide_thread *t, uint32_t tag, uint64_t recorded,
				    enum elide_kind kind)
{
	uint32_t nr_calls = t->nr_calls, hash = hash_of(tag, recorded), nr;
	struct elide_call *call;

	for (nr = 1; nr <= nr_calls && nr <= FEW_CALLS; nr++)
		if (has(&t->calls[nr], tag, recorded, kind))
			return &t->calls[nr];
	if (nr_calls <= FEW_CALLS)
		return NULL;
	/* A quarter of the hash is empty, so every search ends. */
	for (; (nr = t->hash[hash % ELIDE_NR_HASH]); hash++) {
		call = elide_call_at(t, nr);
		if (has(call, tag, recorded, kind))
			return call;
		if (unlikely(!READ_ONCE(call->row)))
			break; /* wiped */
	}
	return NULL;
}

/* Has the call that key, and the lock's word, found at once, its tag? */
static __always_inline_fn bool is_guess(const struct elide_call *call, uint64_t key, const void *lock)
{
	return call->key == key && elide_registry_is(lock, call->mark);
}

struct elide_call *elide_call_find(struct elide_thread *t, const void *lock, const void *site,
				   enum elide_kind kind)
{
	uint64_t key = elide_call_key(site, kind), recorded;
	struct elide_call *call;
	uint32_t tag;

	if (unlikely(!t))
		return NULL;
	call = elide_guessed(t, site);
	if (likely(is_guess(call, key, lock)))
		return call;
	if (t->has_second) {
		call = elide_guess_call(t, READ_ONCE(*elide_second_guess(t, lock, key)));
		if (likely(is_guess(call, key, lock)))
			return call;
	}
	tag = tag_of(lock, kind);
	if (tag == ELIDE_NONE)
		return NULL;
	call = guessed(t, key, tag);
	if (likely(call))
		return call;
	call = elide_recorded_call(site, &recorded) ? elide_call_known(t, tag, recorded, kind) : NULL;
	/* A call in an object that was unloaded has no key. */
	return call && call->key == key ? call : NULL;
}

struct elide_more *elide_more(struct elide_thread *t)
{
	if (!t->more)
		t->more = elide_wiped_alloc(sizeof(*t->more));
	return t->more;
}

struct elide_call *elide_call_add(struct elide_thread *t)
{
	uint32_t nr = t->nr_calls + 1;

	if (nr > ELIDE_MAX_CALLS || (nr >= ELIDE_FIRST_CALLS && !elide_more(t)))
		return NULL;
	return elide_call_at(t, nr);
}

void elide_call_publish(struct elide_thread *t, struct elide_call *call)
{
	uint32_t nr = t->nr_calls + 1, hash = hash_of(elide_call_tag(call), call->row->site);

	if (nr > FEW_CALLS) {
		while (t->hash[hash % ELIDE_NR_HASH])
			hash++;
		t->hash[hash % ELIDE_NR_HASH] = nr;
	}
	/* Release: other threads read the calls of this one in their global-lock paths. */
	__atomic_store_n(&t->nr_calls, nr, __ATOMIC_RELEASE);
}

static void guess_second(struct elide_thread *t, uint16_t *second, size_t at)
{
	if (unlikely(!t->has_second))
		t->has_second = true;
	WRITE_ONCE(*second, at);
}

void elide_call_guess(struct elide_thread *t, struct elide_call *call, const void *lock)
{
	size_t at = (const char *)call - (const char *)t;
	const struct elide_call *first;
	uint16_t *guess;

	/* Calls in the further part of the block are searched. */
	if (at >= sizeof(*t))
		return;
	guess = &t->guesses[elide_guess(elide_key_site(call->key))];
	first = elide_guess_call(t, *guess);
	/* The first class of a site keeps the guess for now, and so does the first of two sites. */
	if (!*guess || !first->key || first == call)
		WRITE_ONCE(*guess, at);
	else
		guess_second(t, elide_second_guess(t, lock, call->key), at);
	if (t->nr_calls > FEW_CALLS)
		WRITE_ONCE(*elide_tag_guess(t, elide_call_tag(call), call->key), at);
}

struct elide_call *elide_call_look(struct elide_thread *t, const void *lock, const void *site,
				   enum elide_kind kind)
{
	uint64_t key = elide_call_key(site, kind), recorded;
	uint16_t *second = elide_second_guess(t, lock, key);
	struct elide_call *call;
	uint32_t tag;

	tag = tag_looked_up(t, lock, kind);
	if (likely(tag != ELIDE_NONE)) {
		call = guessed(t, key, tag);
		if (likely(call)) {
			if (call != elide_guessed(t, site))
				guess_second(t, second, (char *)call - (char *)t);
			return call;
		}
	}
	if (!t->ready || elide_busy || !elide_recorded_call(site, &recorded))
		return NULL;
	if (tag == ELIDE_NONE)
		tag = register_known(lock, site, kind);
	if (tag == ELIDE_NONE)
		return NULL;
	call = elide_call_known(t, tag, recorded, kind);
	if (!call)
		return NULL;
	/* The call lost its key when an object was unloaded. */
	WRITE_ONCE(call->key, key);
	elide_call_guess(t, call, lock);
	return call;
}

void elide_calls_forget(uintptr_t start, uintptr_t end)
{
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		uint32_t nr_calls = __atomic_load_n(&t->nr_calls, __ATOMIC_ACQUIRE);

		for (uint32_t nr = 1; nr <= nr_calls; nr++) {
			struct elide_call *call = elide_call_at(t, nr);
			uintptr_t site = (uintptr_t)elide_key_site(call->key);

			if (site >= start && site < end && call != &elide_no_call)
				WRITE_ONCE(call->key, 0);
		}
	}
}

struct policy_window *elide_window(struct elide_thread *t, const void *lock,
				   const struct elide_call *call)
{
	static struct policy_window nobody;
	struct elide_more *more = elide_more(t);
	struct elide_judged *judged;

	if (!more)
		return &nobody;
	judged = &more->judged[((uintptr_t)lock + call->key) * ELIDE_HASH_FACTOR >>
			       ELIDE_HASH_SHIFT & (ELIDE_NR_JUDGED - 1)];
	if (judged->lock != lock || judged->call != call)
		*judged = (struct elide_judged){.lock = lock, .call = call};
	return &judged->window;
}
