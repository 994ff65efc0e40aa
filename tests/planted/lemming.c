// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lemming.c - one thread locks again and again, as it writes to a file with the lock
 * held, and each time aborts all threads that elide the lock. Repaired: it copies with
 * the lock held, and writes after the release.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "planted.h"

static pthread_mutex_t index_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct entry {
	long value;
} APART entries[PLANTED_THREADS];
static struct {
	long version;
	char text[56];
} APART head;
static int checkpoint_file;

PLACE void change(struct entry *entry)
{
	entry->value++;
	planted_dwell(100);
}

PLACE void update(struct entry *entry)
{
	pthread_mutex_lock(&index_lock);
	change(entry);
	pthread_mutex_unlock(&index_lock);
}

PLACE void write_out(const void *text)
{
	if (write(checkpoint_file, text, sizeof(head.text)) < 0)
		exit(2);
}

PLACE void checkpoint(void)
{
	char copy[sizeof(head.text)];

	pthread_mutex_lock(&index_lock);
	head.version++;
	memcpy(copy, head.text, sizeof(copy));
	if (!IS_REPAIRED)
		write_out(copy);
	pthread_mutex_unlock(&index_lock);
	if (IS_REPAIRED)
		write_out(copy);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			update(&entries[w->thread]);
		else
			checkpoint();
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, done;

	checkpoint_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	rounds = planted_run(argc, argv, work);
	done = head.version;
	for (int i = 0; i < PLANTED_THREADS; i++)
		done += entries[i].value;
	return planted_end("updates", done, rounds);
}
