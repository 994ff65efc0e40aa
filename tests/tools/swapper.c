// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * swapper.c - a process that exchanges the folder of its data file with a symbolic link, again and again:
 * swapper FOLDER LINK. It ends when its standard input does.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};

	/* Its data file is made here. */
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	if (argc != 3)
		return 2;
	puts("ready");
	fflush(stdout);
	while (!poll(&in, 1, 0))
		for (int i = 0; i < 1000; i++)
			if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE))
				return 1;
	return 0;
}
