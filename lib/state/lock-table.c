/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock-table.c - see lock-table.h.
 *
 * A thread puts a word, by compare-and-swap, into the first never used place that the search for its lock
 * meets, and a place never gets another lock: so no lock is in a table twice.
 *
 * To make the table anew, a thread in a global-lock path (the mover) publishes the next table in @next of
 * the old one. It copies each word of the old one there, and then replaces it by ELIDE_MOVED, by a
 * compare-and-swap that fails if the word has changed. Other threads go on meanwhile. A thread that does
 * not find a lock in a table looks in the next one. A thread that stores a word stores it in the old table
 * and then in the next: so a word that is not yet moved is never older than its copy. @next of a table
 * stays for ever, so that a delayed thread comes from an old table to the one in use.
 *
 * A thread may find no next table, and make its plain store to the old one after the next is published,
 * perhaps over ELIDE_MOVED. It then looks again, and finds the next one. If it looked before that is
 * published, its store may still be in the processor's store buffer: the mover waits by membarrier(2)
 * until no such store is left. tests/model/table.pml is a model of it.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "../base/reserve.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "lock-table.h"

/* Words of the first table: 8 KiB. */
#define FIRST_WORDS 1024

/*
 * A table is made anew when two fifths of its words are in use, so that most locks are found at once. The new
 * one has room for twice the locks that are alive; a small one, which costs little, for four times as many.
 * Chosen here.
 */
#define FILL(nr) ((nr) / 5 * 2)
#define SMALL_WORDS (1u << 16)

/*
 * If a lock finds no place though the table has more than this number of words a lock, a larger table would
 * not help either, for such addresses. Chosen: with a random hash that happens once in 10^20 locks.
 */
#define CROWDED 64

/* Bytes; the smallest page of x86-64. */
#define PAGE 4096ul
#define HUGE 2097152ul

struct elide_locks elide_locks;

static struct {
	uint32_t max_locks;
	uint32_t nr_used;   /* words in use, atomic */
	uint32_t limit;     /* words in use at which the table is made anew */
	uint32_t patience;  /* locks to be refused before room is looked for again */
} table_now;

/* Bytes of a table, without its states. */
static size_t words_size(uint32_t nr)
{
	return (sizeof(struct elide_table) + nr * sizeof(uint64_t) + PAGE - 1) & ~(PAGE - 1);
}

static struct elide_table *table_make(uint32_t nr)
{
	size_t size = words_size(nr);
	struct elide_table *table;

	/* A hash has no more bits. */
	if (nr > 1u << (64 - ELIDE_HASH_SHIFT))
		return NULL;
	table = elide_reserve(size + (size >= HUGE ? HUGE : 0) + nr * sizeof(struct policy_lock));
	if (!table)
		return NULL;
	if (size >= HUGE) {
		/* Huge pages are aligned; the address space before them stays unused. */
		table = (struct elide_table *)(((uintptr_t)table + HUGE - 1) & ~(HUGE - 1));
		sys_madvise(table, size, MADV_HUGEPAGE);
	}
	table->nr = nr;
	table->states = (struct policy_lock *)((char *)table + size);
	return table;
}

static void set_limit(uint32_t nr)
{
	uint32_t fill = FILL(nr);

	WRITE_ONCE(table_now.limit, fill < table_now.max_locks ? fill : table_now.max_locks);
}

static uint64_t mask_of(const struct elide_table *table)
{
	return (table->nr - 1) * sizeof(uint64_t);
}

/* The order matters to elide_registry_is(): the table must be as large as the mask says. */
static void publish(struct elide_table *table)
{
	set_limit(table->nr);
	__atomic_store_n(&elide_locks.table, table, __ATOMIC_RELEASE);
	__atomic_store_n(&elide_locks.mask, mask_of(table), __ATOMIC_RELEASE);
}

int elide_table_start(uint32_t max_locks)
{
	struct elide_table *table = table_make(FIRST_WORDS);

	if (!table)
		return -ENOMEM;
	table_now.max_locks = max_locks;
	table_now.nr_used = table_now.patience = 0;
	publish(table);
	return 0;
}

static bool swap(uint64_t *at, uint64_t from, uint64_t to)
{
	/* Release pairs with elide_table_find(). */
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/*
 * The place of a lock: its own, or the first that was never used. NULL: other locks have all of them.
 * *@old: the word there. *@moved: words on the way were moved, so the lock may be in the next table.
 */
static uint64_t *place_of(struct elide_table *table, uint64_t word, uint64_t *old, bool *moved)
{
	uint64_t home = elide_table_home(table, elide_word_lock(word));

	*moved = false;
	for (int i = 0; i < ELIDE_SLOTS; i++) {
		uint64_t *at = &table->words[home ^ i];

		*old = __atomic_load_n(at, __ATOMIC_ACQUIRE);
		if (!*old || elide_table_has(*old, word))
			return at;
		*moved |= *old == ELIDE_MOVED;
	}
	return NULL;
}

/* May one more place be taken? Always while the table is being made anew, as no room can be made then. */
static bool has_room(const struct elide_table *table)
{
	return READ_ONCE(table_now.nr_used) < READ_ONCE(table_now.limit) ||
	       elide_table_next(table) || table != elide_table_now();
}

static void forget_state(struct elide_table *table, const uint64_t *at)
{
	if (unlikely(READ_ONCE(elide_locks.has_states)))
		table->states[at - table->words] = (struct policy_lock){0};
}

/* Take a place that was never used. False: another thread has taken it. */
static bool claim(uint64_t *at, uint64_t word)
{
	uint64_t old = 0;

	test_point(new_publish);
	if (__libc_single_threaded) {
		/* Without the LOCK prefix: only a signal handler may have taken the place. */
		__asm__ volatile("cmpxchgq %2, %1"
				 : "+a"(old), "+m"(*at)
				 : "r"(word)
				 : "cc", "memory");
		if (old)
			return false;
		counter_add_32(table_now.nr_used, 1);
		return true;
	}
	if (!swap(at, 0, word))
		return false;
	__atomic_add_fetch(&table_now.nr_used, 1, __ATOMIC_RELAXED);
	return true;
}

/**
 * struct put - a lock to be registered.
 * @word: of the lock, with its tag
 * @initialised: an older lock at the address is gone
 * @plain: and the word may be changed by a plain store, as the lock's memory is this thread's
 * @new: set: the word was put there: the lock was not registered before, or was initialised
 * @refused: set: a place is free, but has_room() says no
 * @at: set: where the word was put
 */
struct put {
	uint64_t word;
	bool initialised;
	bool plain;
	bool new;
	bool refused;
	const uint64_t *at;
};

/* Put the word into one table. Return: the word there now; 0: there is no room, or the next table has it. */
static uint64_t put_in(struct elide_table *table, struct put *p)
{
	uint64_t *at, old;
	bool moved;

	for (;;) {
		p->at = at = place_of(table, p->word, &old, &moved);
		if (!at)
			return 0;
		if (moved && !old) {
			/* Keep a thread that has not met ELIDE_MOVED from putting the lock here. */
			if (swap(at, 0, ELIDE_MOVED))
				return 0;
			continue;
		}
		if (!old) {
			p->refused = !has_room(table);
			if (p->refused)
				return 0;
			if (!claim(at, p->word))
				continue;
			p->new = true;
			return p->word;
		}
		if (!p->initialised && !(old & ELIDE_WORD_GONE))
			return old; /* another thread was first */
		forget_state(table, at);
		/* Storing an unchanged word would abort transactions that have read it. */
		if (old != p->word && p->plain)
			/* Release pairs with elide_table_find(). */
			__atomic_store_n(at, p->word, __ATOMIC_RELEASE);
		else if (old != p->word && !swap(at, old, p->word))
			continue;
		p->new = true;
		return p->word;
	}
}

/* The next table, where a word that was stored in @table has to be stored, too. */
static struct elide_table *next_of(const struct elide_table *table)
{
	struct elide_table *next;

	/* wait_for_stores() makes sure that no thread is here that has stored and misses the next table. */
	barrier();
	next = elide_table_next(table);
	/*
	 * The plain store must be visible before the thread looks into the next table: else it may not find
	 * the lock there, and be done, before the mover copies the old word.
	 */
	if (unlikely(next))
		__asm__ volatile("mfence" ::: "memory");
	return next;
}

/* Has the table lost its words, as one that follows it is in use? */
static bool is_over(const struct elide_table *table)
{
	const struct elide_table *in_use = elide_table_now();

	if (likely(table == in_use))
		return false;
	while ((table = elide_table_next(table)))
		if (table == in_use)
			return true;
	return false;
}

uint64_t elide_table_put(uint64_t word, bool initialised, bool *new)
{
	struct elide_table *table = elide_table_now();
	struct put p = {
		.word = word,
		.initialised = initialised,
		.plain = initialised && !elide_table_next(table),
	};
	uint64_t is = 0, now;

	*new = false;
	do {
		p.refused = p.new = false;
		now = put_in(table, &p);
		p.plain = false;
		/*
		 * If there is a next table by now, there is room, here too: if the lock were only in the next
		 * one, a later call would put it into the free place here, with another word.
		 */
		if (unlikely(p.refused)) {
			if (elide_table_next(table))
				continue;
			return 0;
		}
		/*
		 * The word in the table in use counts: until it is moved, the next may have an older copy.
		 * A new word that is no longer there was moved before the table was over.
		 */
		if (likely(!is_over(table)) || (p.new && READ_ONCE(*p.at) != word)) {
			is = is ? is : now;
			*new |= p.new;
		}
		table = next_of(table);
	} while (unlikely(table) && (!is || *new));
	return is;
}

bool elide_table_change(uint64_t from, uint64_t to)
{
	const void *lock = elide_word_lock(from);
	uint64_t *at, is;
	bool changed = false;

	for (struct elide_table *table = elide_table_now(); table; table = elide_table_next(table)) {
		at = elide_table_find(table, lock, &is);
		changed |= at && swap(at, from, to);
	}
	return changed;
}

/* @plain: as in struct put */
static void remove_from(struct elide_table *table, const void *lock, bool plain)
{
	uint64_t *at, old;

	do {
		at = elide_table_find(table, lock, &old);
		if (!at || old & ELIDE_WORD_GONE)
			return;
		if (plain)
			WRITE_ONCE(*at, old | ELIDE_WORD_GONE);
	} while (!plain && !swap(at, old, old | ELIDE_WORD_GONE));
}

void elide_table_remove(const void *lock)
{
	struct elide_table *table = elide_table_now();
	bool plain = !elide_table_next(table);

	do {
		remove_from(table, lock, plain);
		plain = false;
		table = next_of(table);
	} while (unlikely(table));
}

static void forget_in(struct elide_table *table, uintptr_t start, uintptr_t end)
{
	for (uint64_t *at = table->words; at < &table->words[table->nr]; at++) {
		uint64_t word = READ_ONCE(*at);
		uintptr_t lock = (uintptr_t)elide_word_lock(word);

		if (lock >= start && lock < end && !(word & ELIDE_WORD_GONE) &&
		    !swap(at, word, word | ELIDE_WORD_GONE))
			at--; /* it has got a state of its own meanwhile */
	}
}

void elide_table_forget(uintptr_t start, uintptr_t end)
{
	/* In a global-lock path only a thread that a fork left behind may have begun to make a table anew. */
	elide_table_settle();
	forget_in(elide_table_now(), start, end);
}

struct policy_lock *elide_table_state(const void *lock)
{
	struct elide_table *table = elide_table_now();
	uint64_t is;
	const uint64_t *word = elide_table_find(table, lock, &is);

	if (!word)
		return NULL;
	if (unlikely(!READ_ONCE(elide_locks.has_states)))
		WRITE_ONCE(elide_locks.has_states, true);
	return &table->states[word - table->words];
}

bool elide_table_full(void)
{
	return READ_ONCE(table_now.patience);
}

void elide_table_refused(uint32_t nr)
{
	uint32_t left = READ_ONCE(table_now.patience);

	/* A lost update makes it take a little longer. */
	if (left)
		WRITE_ONCE(table_now.patience, left > nr ? left - nr : 0);
}

/* Locks in the table that are alive. */
static uint32_t count_live(struct elide_table *table)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < table->nr; i++) {
		uint64_t word = READ_ONCE(table->words[i]);

		nr += word > ELIDE_MOVED && !(word & ELIDE_WORD_GONE);
	}
	return nr;
}

/* Cycles in which a store leaves the store buffer even if other processors want its line. Chosen. */
#define STORE_CYCLES 1000000

/* After that no store is pending of a thread that has not seen the next table. */
static void wait_for_stores(void)
{
	unsigned long long start;

	if (__libc_single_threaded || valgrind_runs())
		return;
	if (!sys_call(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0))
		return;
	if (!sys_call(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) &&
	    !sys_call(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0))
		return;
	/* Linux before 4.14, or a filter, which may forbid sleeping, too. */
	start = cycles_now();
	while (cycles_now() - start < STORE_CYCLES)
		cpu_relax();
}

static bool make_larger(struct elide_table **to);

/*
 * Copy a word to the last table, *@to; a larger one replaces that if it has no place for the word. Without
 * memory for that the lock is lost, and may be a spinlock that only its class knows to be shared.
 */
static void copy(struct elide_table **to, uint64_t word, const struct policy_lock *state)
{
	uint64_t *at, old;
	bool moved;

	do {
		at = place_of(*to, word, &old, &moved);
		if (!at && !make_larger(to)) {
			elide_locks.lost_shared = true;
			return;
		}
	} while (!at || !swap(at, old, word));
	if (state)
		(*to)->states[at - (*to)->words] = *state;
}

static void move_word(struct elide_table *from, uint32_t i, struct elide_table **to)
{
	uint64_t *at = &from->words[i], word, is;

	do {
		word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
		if (word == ELIDE_MOVED)
			return;
		/* A destroyed lock is only copied if it was copied when it was alive. */
		if (word && (!(word & ELIDE_WORD_GONE) ||
			     elide_table_find(*to, elide_word_lock(word),
					      &is)))
			copy(to, word, READ_ONCE(elide_locks.has_states) ? &from->states[i] : NULL);
		test_point(table_copied);
	} while (!swap(at, word, ELIDE_MOVED));
}

/* After that no thread finds a lock in @from. */
static void move_words(struct elide_table *from, struct elide_table **to)
{
	for (uint32_t i = 0; i < from->nr; i++)
		move_word(from, i, to);
}

/* Give memory back. A delayed thread may still read the table, its head above all, and store there. */
static void let_go(struct elide_table *table)
{
	sys_madvise((char *)table + PAGE, words_size(table->nr) - PAGE +
			  table->nr * sizeof(*table->states), MADV_DONTNEED);
}

/*
 * Move the words of the last table, which is not in use yet, to a larger one that follows it, as other
 * threads may store in both. There is no plain store to wait for.
 */
static bool make_larger(struct elide_table **to)
{
	struct elide_table *from = *to, *larger = table_make(2 * from->nr);

	if (!larger)
		return false;
	*to = larger;
	__atomic_store_n(&from->next, larger, __ATOMIC_SEQ_CST);
	move_words(from, to);
	return true;
}

/* Move all words to the next table, or to one that follows it, which is then the one in use. */
static void move_all(struct elide_table *from)
{
	struct elide_table *to = elide_table_next(from), *last;
	uint32_t used = 0;

	wait_for_stores();
	/* In a forked child a thread of the parent may have left more than one. */
	while ((last = elide_table_next(to))) {
		move_words(to, &last);
		to = last;
	}
	move_words(from, &to);
	test_point(table_moved);
	for (uint32_t i = 0; i < to->nr; i++)
		used += READ_ONCE(to->words[i]) != 0;
	__atomic_store_n(&table_now.nr_used, used, __ATOMIC_RELAXED);
	publish(to);
	for (; from != to; from = elide_table_next(from))
		let_go(from);
}

void elide_table_settle(void)
{
	struct elide_table *table = elide_table_now();

	if (unlikely(elide_table_next(table)))
		move_all(table);
	else if (unlikely(READ_ONCE(elide_locks.mask) != mask_of(table)))
		publish(table);
}

/* Words of a table for @live locks, with room for as many more. */
static uint32_t words_for(uint32_t nr_now, uint32_t live)
{
	uint32_t nr = nr_now;

	while (FILL(nr) / 2 < live && nr < 1u << 30)
		nr *= 2;
	return nr > nr_now && nr < SMALL_WORDS ? 2 * nr : nr;
}

bool elide_table_make_room(const void *lock)
{
	struct elide_table *table, *next;
	uint32_t live, nr, used = READ_ONCE(table_now.nr_used);

	elide_table_settle();
	table = elide_table_now();
	live = count_live(table);
	if (live >= table_now.max_locks) {
		WRITE_ONCE(table_now.patience, 1 + table->nr / 8);
		return false;
	}
	/* Near the limit a large table must not be made anew for each lock that takes the room of another. */
	WRITE_ONCE(table_now.patience, table->nr > SMALL_WORDS && used - live < table->nr / 64 &&
				       used >= table_now.max_locks ? table->nr / 64 : 0);
	nr = words_for(table->nr, live);
	/* The lock has no place, as others have all of them, and most of these are alive. */
	if (used < table_now.limit && nr == table->nr && used < live + live / 8) {
		if (nr / CROWDED > live)
			return false;
		nr *= 2;
	}
	next = table_make(nr);
	if (!next)
		return false;
	__atomic_store_n(&table->next, next, __ATOMIC_SEQ_CST);
	move_all(table);
	return true;
}
