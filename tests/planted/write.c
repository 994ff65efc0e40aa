// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - the log is written with the lock held. Repaired: the line is made with
 * the lock held, and written after the release.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "planted.h"

struct line {
	char text[48];
	long nr;
} APART;

static pthread_mutex_t log_lock APART = PTHREAD_MUTEX_INITIALIZER;
static int log_file;
static struct line lines[PLANTED_THREADS];

PLACE void write_out(const struct line *line)
{
	if (write(log_file, line->text, sizeof(line->text)) != sizeof(line->text))
		exit(2);
}

PLACE void log_line(struct line *line, char what)
{
	pthread_mutex_lock(&log_lock);
	for (unsigned long i = 0; i < sizeof(line->text); i++)
		line->text[i] = what;
	line->nr++;
	if (!IS_REPAIRED)
		write_out(line);
	pthread_mutex_unlock(&log_lock);
	if (IS_REPAIRED)
		write_out(line);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		log_line(&lines[w->thread], 'a' + planted_draw(w, 26));
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, nr = 0;

	log_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += lines[i].nr;
	return planted_end("lines", nr, rounds);
}
