// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * footprint.c - a section writes more than the first-level cache holds. Repaired: a
 * sixteenth of it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

/* Bytes; a first-level cache has 32 or 48 KiB. */
#define TABLE (IS_REPAIRED ? 4096 : 65536)

static pthread_mutex_t table_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct table {
	char slots[TABLE];
} __attribute__((aligned(4096))) tables[PLANTED_THREADS];

/* A byte of each line. */
PLACE void clear_slots(struct table *table, char with)
{
	for (int i = 0; i < TABLE; i += 64)
		table->slots[i] = with;
}

PLACE void reset_table(struct table *table, char with)
{
	pthread_mutex_lock(&table_lock);
	clear_slots(table, with);
	pthread_mutex_unlock(&table_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		reset_table(&tables[w->thread], i);
		/* As long again, or they would queue in the repaired program. */
		planted_dwell(TABLE / 32);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work);

	return planted_end("last slot", tables[0].slots[TABLE - 64],
			   (char)(rounds / (argc == 4 ? atoi(argv[1]) : 1) - 1));
}
