/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exit-held.c - locks that a thread held when it ended.
 *
 * Nothing is written down when a lock is acquired: the thread's look-up cache
 * has the locks it has used, and a mutex or a writer's rwlock has the thread id of
 * its holder. A lock's memory may be gone without destroy, so it must never
 * be read directly.
 */
#include <sys/uio.h>
#include <unistd.h>

#include "../state/cache.h"
#include "../state/settings.h"
#include "exit-held.h"
#include "misuse.h"

/* Locks whose words are read by one system call; each takes 2 * 16 bytes of the stack. */
#define BATCH 64

/*
 * Entries of the cache that are examined. Each takes 65 instructions and a sixty-fourth of a system
 * call, and whoever joins the thread waits for that. Of a thread that has used more locks, some
 * are not examined.
 */
#define MAX_LOOKS ELIDE_NR_CACHE

/* The word in which the kind of lock names its holder; false: it does not. */
static bool holder_word(struct elide_thread *t, const struct elide_cache *entry,
			struct iovec *word)
{
	const struct elide_row *row;
	uint32_t offset;

	if (!entry->lock)
		return false;
	row = READ_ONCE(elide_call_of(t, entry)->row);
	offset = row ? elide_process.holder[row->kind] : 0;
	*word = (struct iovec){(char *)entry->lock + offset, sizeof(uint32_t)};
	return offset;
}

/*
 * Is the entry's lock still registered, and of a kind that must not be left held? Many locks
 * share a generation counter, so a changed generation alone does not show that this lock is
 * gone: then the registry decides.
 */
static bool counts(const struct elide_cache *entry, const struct elide_row *row)
{
	uint32_t index = elide_registry_find(entry->lock);

	if (index == ELIDE_NONE || (entry->generation != READ_ONCE(*elide_generation(entry->lock)) &&
				    elide_registry_class(index) != row->class_index))
		return false;
	/* A robust mutex may be left held, as its next owner learns of it; its class is shared. */
	return !elide_class_shared(elide_registry_class(index));
}

/*
 * Read the words by the kernel, which stops at memory that is not mapped: continue after that. If
 * it refuses the call, as filters of containers do, all locks count as free.
 */
static void read_words(const struct iovec *words, uint32_t nr, uint32_t *values)
{
	uint32_t done = 0;

	while (done < nr) {
		struct iovec to = {values + done, (nr - done) * sizeof(*values)};
		ssize_t n = process_vm_readv(getpid(), &to, 1, words + done, nr - done, 0);

		if (n > 0)
			done += n / sizeof(*values);
		if (done < nr)
			values[done++] = 0;
	}
}

/*
 * Count the locks that the thread has left held. If it has locked one at several sites, the last of
 * them is not known: the first that is found is named.
 */
static void count_batch(struct elide_thread *t, struct elide_cache *const *entries,
			const struct iovec *words, uint32_t nr)
{
	uint32_t values[BATCH];

	read_words(words, nr, values);
	for (uint32_t i = 0; i < nr; i++) {
		struct elide_cache *e = entries[i];
		const struct elide_row *row = elide_call_row(elide_call_of(t, e));

		if (values[i] != t->tid || !counts(e, row))
			continue;
		for (uint32_t j = i + 1; j < nr; j++)
			if (entries[j]->lock == e->lock)
				values[j] = 0;
		elide_misuse_locked(ELIDE_MISUSE_EXIT_HELD, row->kind, (const void *)row->site,
				    e->lock);
	}
}

void elide_exit_held(struct elide_thread *t)
{
	struct elide_cache *entries[BATCH], *e;
	struct iovec words[BATCH];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < MAX_LOOKS && (e = elide_cache_used(t, i)); i++) {
		if (!holder_word(t, e, &words[nr]))
			continue;
		entries[nr++] = e;
		if (nr < BATCH)
			continue;
		count_batch(t, entries, words, nr);
		nr = 0;
	}
	if (nr)
		count_batch(t, entries, words, nr);
}
