// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * false_elements.c - one heap block with an element for each thread, several on a
 * line. Repaired: an element is a line.
 */
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

static pthread_mutex_t board_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct score {
	long points;
	long games;
} REPAIRED_APART *board;

PLACE struct score *new_board(int nr)
{
	struct score *scores = aligned_alloc(64, nr * sizeof(*scores));

	if (!scores)
		exit(2);
	for (int i = 0; i < nr; i++)
		scores[i] = (struct score){0, 0};
	return scores;
}

PLACE void add_points(struct score *score, long points)
{
	score->points += points;
	score->games++;
	planted_dwell(20);
}

PLACE void end_game(struct score *score, long points)
{
	pthread_mutex_lock(&board_lock);
	add_points(score, points);
	pthread_mutex_unlock(&board_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		end_game(&board[w->thread], planted_draw(w, 10));
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, games = 0;

	board = new_board(PLANTED_THREADS);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		games += board[i].games;
	return planted_end("games", games, rounds);
}
