// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * aliasing.c - a section writes a column of a matrix whose rows are 4096 bytes
 * apart: all in one set of the first-level cache, which is soon full though the
 * cache is not. Repaired: rows are a line longer.
 */
#include <pthread.h>

#include "planted.h"

#define ROWS 16
/* Numbers of 8 bytes in a line and in a row. */
#define LINE   8
#define LENGTH (512 + (IS_REPAIRED ? LINE : 0))

static pthread_mutex_t matrix_lock APART = PTHREAD_MUTEX_INITIALIZER;
static double matrix[ROWS][LENGTH] __attribute__((aligned(4096)));

PLACE void add_column(int column)
{
	for (int i = 0; i < ROWS; i++)
		matrix[i][column] += 1;
}

PLACE void update_column(int column)
{
	pthread_mutex_lock(&matrix_lock);
	add_column(column);
	pthread_mutex_unlock(&matrix_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		/* Columns of one thread share no line with those of another. */
		update_column((w->thread * 2 + 1) * LINE);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work);
	double sum = 0;

	for (int i = 0; i < LENGTH; i++)
		sum += matrix[ROWS - 1][i];
	return planted_end("updates", sum, rounds);
}
