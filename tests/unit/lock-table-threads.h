/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock-table-threads.h - for test_lock_churn.c: threads, and forks, while the table is made anew. */
#ifndef TESTS_UNIT_LOCK_TABLE_THREADS_H
#define TESTS_UNIT_LOCK_TABLE_THREADS_H

#define NR_THREADS 4
#define PER_THREAD 3000
#define NR_AGREE   4000

static pthread_barrier_t together;
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;

/* As in a global-lock path, of which there is one at a time. */
static bool put_slowly(const void *lock, uint32_t tag, bool initialised, uint64_t *word)
{
	bool new;

	*word = elide_table_put(elide_word(lock, tag), initialised, &new);
	if (!*word) {
		pthread_mutex_lock(&slow);
		*word = elide_table_put(elide_word(lock, tag), initialised, &new);
		if (!*word && elide_table_make_room(lock))
			*word = elide_table_put(elide_word(lock, tag), initialised, &new);
		pthread_mutex_unlock(&slow);
	}
	return *word;
}

static const char *const shared_locks = (const char *)0x7e1234560000;

static void *registers_all(void *of)
{
	uintptr_t me = (uintptr_t)of;
	uint32_t *tags = calloc(NR_AGREE, sizeof(*tags));

	check(tags);
	pthread_barrier_wait(&together);
	for (uint32_t i = 0; i < NR_AGREE; i++) {
		uint64_t word;

		check(put_slowly(shared_locks + i * 40, 1 + me, false, &word));
		tags[i] = elide_word_tag(word);
	}
	return tags;
}

/* Threads that register one lock at once agree on its tag, while the table grows. */
static void agree(void)
{
	pthread_t threads[NR_THREADS];
	uint32_t *tags[NR_THREADS];

	pthread_barrier_init(&together, NULL, NR_THREADS);
	for (uintptr_t t = 0; t < NR_THREADS; t++)
		check(!pthread_create(&threads[t], NULL, registers_all, (void *)t));
	for (uintptr_t t = 0; t < NR_THREADS; t++)
		check(!pthread_join(threads[t], (void **)&tags[t]));
	for (uint32_t i = 0; i < NR_AGREE; i++) {
		uint32_t tag = elide_registry_find(shared_locks + i * 40);

		check(tag >= 1 && tag <= NR_THREADS);
		for (uintptr_t t = 0; t < NR_THREADS; t++)
			check(tags[t][i] == tag);
	}
	check(elide_table_now()->nr > FIRST_WORDS);
}

static uint32_t seed;

static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Each thread has locks of its own, with whose words it does all that is done, and knows what they are. */
static void *churns(void *of)
{
	uintptr_t me = (uintptr_t)of;
	/* Neighbours of other threads' locks, so that they are in one another's way. */
	const char *mine = (const char *)0x7f1234560000 + me * 8;
	uint32_t *tags = malloc(PER_THREAD * sizeof(*tags)), state = seed + me * 7919, shared = 0;

	check(tags);
	for (uint32_t i = 0; i < PER_THREAD; i++)
		tags[i] = ELIDE_NONE;
	pthread_barrier_wait(&together);
	for (uint32_t step = 0; step < 20 * PER_THREAD; step++) {
		/* More locks from step to step. */
		uint32_t i = draw(&state) % (step / 20 + 1), tag = draw(&state) % 1000;
		const void *lock = mine + (uintptr_t)i * NR_THREADS * 8;
		uint64_t word;

		check(elide_registry_find(lock) == tags[i]);
		if (tags[i] != ELIDE_NONE)
			check(!is(lock, tags[i] + 1));
		else
			check(!is(lock, tag));
		switch (draw(&state) % 6) {
		case 0:
			elide_table_remove(lock);
			tags[i] = ELIDE_NONE;
			break;
		case 1:
			/* false: it is not known whether it was stored. */
			if (!elide_table_retire(lock))
				elide_table_remove(lock);
			tags[i] = ELIDE_NONE;
			break;
		case 2:
			/* Not initialised: what is there stays. */
			check(put_slowly(lock, tag, false, &word));
			check(word == elide_word(lock, tags[i] == ELIDE_NONE ? tag : tags[i]));
			tags[i] = elide_word_tag(word);
			break;
		case 3:
			if (tags[i] != ELIDE_NONE && tags[i] < ELIDE_TAG_HOT &&
			    elide_registry_split(lock, tags[i], 1 + me))
				tags[i] = ELIDE_TAG_HOT + 1 + me;
			break;
		case 4:
			if (!elide_table_renew(elide_word(lock, tag)))
				check(put_slowly(lock, tag, true, &word));
			tags[i] = tag;
			break;
		default:
			check(put_slowly(lock, tag, true, &word) && word == elide_word(lock, tag));
			tags[i] = tag;
			break;
		}
		if (elide_registry_find(lock) != tags[i]) {
			fprintf(stderr, "seed %u, step %u: %x, not %x\n", seed, step,
				elide_registry_find(lock), tags[i]);
			_exit(1);
		}
		/* Others' locks: whatever is found is a tag. */
		lock = (const char *)0x7f1234560000 + (uintptr_t)(draw(&state) % (NR_THREADS * PER_THREAD)) * 8;
		tag = elide_registry_find(lock);
		shared += tag != ELIDE_NONE;
		check(tag == ELIDE_NONE || tag < 1000 || elide_tag_hot(tag) <= NR_THREADS);
		if (step % 997 == 0) {
			/* As if there were as many more that are gone. */
			pthread_mutex_lock(&slow);
			table_now.nr_used = table_now.limit;
			check(elide_table_make_room(mine));
			pthread_mutex_unlock(&slow);
		}
	}
	check(shared);
	return tags;
}

static void churn_of_threads(void)
{
	pthread_t threads[NR_THREADS];
	uint32_t *tags, live = 0;

	seed = getpid();
	print_message("seed %u\n", seed);
	pthread_barrier_init(&together, NULL, NR_THREADS);
	for (uintptr_t t = 0; t < NR_THREADS; t++)
		check(!pthread_create(&threads[t], NULL, churns, (void *)t));
	for (uintptr_t t = 0; t < NR_THREADS; t++) {
		check(!pthread_join(threads[t], (void **)&tags));
		for (uint32_t i = 0; i < PER_THREAD; i++) {
			const void *lock = (const char *)0x7f1234560000 + (i * NR_THREADS + t) * 8;

			check(elide_registry_find(lock) == tags[i]);
			live += tags[i] != ELIDE_NONE;
		}
	}
	/* And none is there twice. */
	check(count_live(elide_table_now()) == live);
}

static const char *const base = (const char *)0x7f1234560040;
static unsigned int points, lock_nr;

/* What another thread may do at a point of a move, of locks that are moved already or not yet. */
static void interfere(const char *point)
{
	void (*saved)(const char *point) = on_point;
	uint64_t word;
	bool new;

	if (strncmp(point, "table_", 6))
		return;
	on_point = NULL;
	points++;
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int nr = (lock_nr += 37) % 400;

		check(elide_registry_find(base + nr * 40) == nr);
		word = elide_table_put(elide_word(base + nr * 40, nr + 1000), nr % 2, &new);
		check(word == elide_word(base + nr * 40, nr % 2 ? nr + 1000 : nr));
		check(elide_registry_find(base + nr * 40) == (nr % 2 ? nr + 1000 : nr));
		elide_table_remove(base + nr * 40);
		check(elide_registry_find(base + nr * 40) == ELIDE_NONE);
		word = elide_table_put(elide_word(base + nr * 40, nr), nr % 3, &new);
		check(word == elide_word(base + nr * 40, nr) && new);
	}
	/* A lock that was not there. */
	if (points % 8 == 0)
		check(elide_table_put(elide_word(base + (400 + points / 8) * 40, 7), points % 16, &new));
	on_point = saved;
}

static void point_in_a_move(void)
{
	for (unsigned int i = 0; i < 400; i++)
		check(put_lock(base + i * 40, i, true));
	on_point = interfere;
	check(elide_table_make_room(base));
	on_point = NULL;
	check(points > 400 && !elide_table_next(elide_table_now()));
	for (unsigned int i = 0; i < 400; i++)
		check(elide_registry_find(base + i * 40) == i);
	for (unsigned int i = 1; i <= points / 8; i++)
		check(elide_registry_find(base + (400 + i) * 40) == 7);
	check(count_live(elide_table_now()) == 400 + points / 8);
}

static unsigned int fork_at;

/* The child has the table as it is in the middle of a move, and none that goes on with it. */
static void forks(const char *point)
{
	int status;
	pid_t pid;

	if (strncmp(point, "table_", 6) || points++ != fork_at)
		return;
	on_point = NULL;
	pid = fork();
	check(pid >= 0);
	if (!pid) {
		for (unsigned int i = 0; i < 400; i++)
			check(elide_registry_find(base + i * 40) == i);
		elide_table_remove(base);
		check(put_lock(base + 40, 1001, true));
		elide_table_settle();
		check(!elide_table_next(elide_table_now()));
		check(elide_registry_find(base) == ELIDE_NONE && elide_registry_find(base + 40) == 1001);
		for (unsigned int i = 2; i < 400; i++)
			check(elide_registry_find(base + i * 40) == i);
		/* And it goes on as any. */
		for (unsigned int i = 400; i < 4000; i++)
			check(put_lock(base + i * 40, i % 1000, i % 2));
		for (unsigned int i = 2; i < 4000; i++)
			check(elide_registry_find(base + i * 40) == i % 1000);
		check(count_live(elide_table_now()) == 3999);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status);
	on_point = forks;
}

static void fork_in_a_move(void)
{
	static const unsigned int at[] = {0, 1, 300, 1023, 1024};

	for (unsigned int i = 0; i < 400; i++)
		check(put_lock(base + i * 40, i, true));
	check(elide_table_now()->nr == FIRST_WORDS);
	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
		uint32_t nr = elide_table_now()->nr;

		/* The last one is after all words. */
		fork_at = at[i] == 1024 ? nr : at[i];
		points = 0;
		on_point = forks;
		/* As if as many had come and gone. */
		table_now.nr_used = table_now.limit;
		check(elide_table_make_room(base));
		on_point = NULL;
		check(points == nr + 1);
	}
}

#endif
