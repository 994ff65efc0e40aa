/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_lock_table.c - the table of locks while it is made anew: at each point of the mover, as another
 * thread would, and by threads. Only addresses are used. Its model is tests/model/table.pml.
 */
#define ELIDE_TEST_POINTS
#include "../../lib/state/lock-table.c"

#include <pthread.h>

#include "unit.h"

#define THREADS 2
#define OWN     2048 /* locks of a thread */
#define MOVES   1000
#define LOCKS   200
#define CROWD   17 /* and those that have the same places in a small table: one more than there is room for */
#define FIRST   4  /* of them: in the table from the beginning */

/* Tag of a lock that is not registered, or gone. */
#define NONE ELIDE_TAG_GONE

struct lock {
	uintptr_t address;
	uint32_t tag;
};

static __thread uint64_t random_state;
static struct lock locks[LOCKS + CROWD];
static void (*at_point)(void);
static bool moves_end;
static unsigned long nr_wrong;

void elide_test_point(enum elide_point point)
{
	if ((point == ELIDE_POINT_table_copied || point == ELIDE_POINT_table_moved) && at_point)
		at_point();
}

/* xorshift64* (Vigna, 2016). */
static uint32_t random_below(uint32_t bound)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull >> 32) % bound;
}

static uint32_t find(uintptr_t address)
{
	struct elide_table *table = elide_table_now();
	uint64_t word;

	for (; table; table = elide_table_next(table))
		if (elide_table_find(table, (const void *)address, &word))
			return word & ELIDE_WORD_GONE ? NONE : elide_word_tag(word);
	return NONE;
}

static void put(struct lock *lock, uint32_t tag)
{
	uint64_t word = elide_word((const void *)lock->address, tag);
	bool new;

	if (elide_table_put(word, true, &new) != word || !new)
		__atomic_add_fetch(&nr_wrong, 1, __ATOMIC_RELAXED);
	lock->tag = tag;
}

/* What a thread may do with a lock of its own. */
static void use(struct lock *lock)
{
	const void *address = (const void *)lock->address;
	uint32_t tag = random_below(4);

	if (find(lock->address) != lock->tag)
		__atomic_add_fetch(&nr_wrong, 1, __ATOMIC_RELAXED);
	switch (random_below(4)) {
	case 0:
		if (!elide_table_retire(address))
			elide_table_remove(address);
		lock->tag = NONE;
		break;
	case 1:
		if (lock->tag != NONE && elide_table_change(elide_word(address, lock->tag), elide_word(address, tag)))
			lock->tag = tag;
		break;
	default:
		if (elide_table_renew(elide_word(address, tag)))
			lock->tag = tag;
		else
			put(lock, tag);
	}
	if (find(lock->address) != lock->tag)
		__atomic_add_fetch(&nr_wrong, 1, __ATOMIC_RELAXED);
}

static uint32_t nr_points;

static void use_some(void)
{
	/* The next table has no room then for the first of the crowd, which it has not yet. */
	for (int i = LOCKS + FIRST; !nr_points && i < LOCKS + CROWD; i++)
		put(&locks[i], 1);
	nr_points++;
	for (int i = 0; i < 3; i++) {
		uint32_t nr = random_below(LOCKS + CROWD - FIRST);

		use(&locks[nr < LOCKS ? nr : nr + FIRST]);
	}
}

/* Has an address the last places of a table of that number of words? */
static bool is_last(uintptr_t address, uint32_t nr)
{
	return (address * ELIDE_HASH_FACTOR >> ELIDE_HASH_SHIFT & (nr - 1)) >= nr - ELIDE_SLOTS;
}

/* The crowd has the last places of a table of 2,048 words, no others those of one of 1,024. */
static void choose_locks(void)
{
	uintptr_t address = 0x7f0000000000;

	for (int i = 0; i < LOCKS + CROWD; i++) {
		do
			address += 8;
		while (i < LOCKS ? is_last(address, FIRST_WORDS) : !is_last(address, 2 * FIRST_WORDS));
		locks[i] = (struct lock){address, NONE};
	}
}

static void at_each_point(void **state)
{
	uint32_t seed = getenv("SEED") ? atoi(getenv("SEED")) : 1;

	random_state = seed;
	print_message("SEED=%u\n", seed);
	for (int round = 0; round < 20; round++) {
		assert_int_equal(elide_table_start(1 << 20), 0);
		choose_locks();
		nr_points = 0;
		for (int i = 0; i < LOCKS + FIRST; i++)
			put(&locks[i], 2);
		at_point = use_some;
		/* From 1,024 words to 2,048, where the crowd finds no room. */
		assert_true(elide_table_make_room(NULL));
		at_point = NULL;
		assert_true(elide_table_now()->nr > 2 * FIRST_WORDS);
		for (int i = 0; i < LOCKS + CROWD; i++)
			assert_int_equal(find(locks[i].address), locks[i].tag);
	}
	assert_int_equal(nr_wrong, 0);
}

static void *owner(void *arg)
{
	uintptr_t nr = (uintptr_t)arg;
	struct lock *own = calloc(OWN, sizeof(*own));
	uint32_t ended = 0;

	random_state = nr + 1;
	/* Its locks are between those of the others. */
	for (uintptr_t i = 0; i < OWN; i++)
		own[i] = (struct lock){0x7f0000000000 + 8 * (i * THREADS + nr), NONE};
	while (!ended) {
		ended = READ_ONCE(moves_end);
		for (int i = 0; i < OWN; i++)
			use(&own[random_below(64 + OWN / 4 * random_below(4))]);
	}
	for (int i = 0; i < OWN; i++)
		if (find(own[i].address) != own[i].tag)
			__atomic_add_fetch(&nr_wrong, 1, __ATOMIC_RELAXED);
	free(own);
	return NULL;
}

/* With room for the locks of all threads, which do not make it themselves. */
static void make_anew(void)
{
	struct elide_table *table = elide_table_now(), *next = table_make(OWN * THREADS * 4);

	assert_non_null(next);
	__atomic_store_n(&table->next, next, __ATOMIC_SEQ_CST);
	move_all(table);
}

static void by_threads(void **state)
{
	pthread_t threads[THREADS];

	at_point = NULL;
	nr_wrong = 0;
	assert_int_equal(elide_table_start(1 << 20), 0);
	make_anew();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, owner, (void *)i), 0);
	for (int i = 0; i < MOVES; i++)
		make_anew();
	WRITE_ONCE(moves_end, true);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(nr_wrong, 0);
}

/* As a forked child finds it: the mover of its parent has moved some of the words, also to a larger table. */
static void settled(void **state)
{
	struct elide_table *first, *last;

	at_point = NULL;
	nr_wrong = 0;
	for (uint32_t moved = 0; moved < FIRST_WORDS; moved += 100) {
		assert_int_equal(elide_table_start(1 << 20), 0);
		choose_locks();
		for (int i = 0; i < LOCKS; i++)
			put(&locks[i], 2);
		first = elide_table_now();
		first->next = last = table_make(FIRST_WORDS);
		for (uint32_t i = 0; i < moved; i++)
			move_word(first, i, &last);
		first->next->next = last = table_make(2 * FIRST_WORDS);
		for (uint32_t i = 0; i < FIRST_WORDS - moved; i++)
			move_word(first->next, i, &last);
		for (int i = 0; i < LOCKS / 2; i++)
			use(&locks[i]);
		elide_table_settle();
		assert_ptr_equal(elide_table_now(), last);
		assert_null(last->next);
		for (int i = 0; i < LOCKS; i++)
			assert_int_equal(find(locks[i].address), locks[i].tag);
		/* Or the table is published, and its mask not yet. */
		WRITE_ONCE(elide_locks.mask, 0);
		elide_table_settle();
		assert_ptr_equal(elide_table_now(), last);
		assert_int_equal(elide_locks.mask, mask_of(last));
	}
	assert_int_equal(nr_wrong, 0);
}

/* A lock at an address that has no room in a word is not that of the lower bits. */
static void high_address(void **state)
{
	struct lock lock = {0x7f0000000000, NONE};
	const void *high = (const void *)(lock.address | 1ull << ELIDE_TAG_SHIFT);

	assert_int_equal(elide_table_start(1 << 20), 0);
	put(&lock, 1);
	if (!elide_table_retire(high))
		elide_table_remove(high);
	assert_int_equal(find(lock.address), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_each_point),
		cmocka_unit_test(by_threads),
		cmocka_unit_test(settled),
		cmocka_unit_test(high_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
