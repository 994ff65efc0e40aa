// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * drops.c - a server whose workers have no rights, for the test of their data files.
 *
 * drops WHEN HOW [ROOT]: two workers are forked. WHEN: before or after the fork rights are given up. HOW:
 * the call that does so, or chroot, whose new root is ROOT. Each worker locks 64 locks in each of THREADS threads:
 * more rows than a new data file has room for.
 */
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY  65534
#define WORKERS 2
#define THREADS 40

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;

/* Eight locks, each of which is a class of its own. */
#define LOCK_8(n)                                                                            \
	{                                                                                    \
		static pthread_mutex_t a##n, b##n, c##n, d##n, e##n, f##n, g##n, h##n;       \
		pthread_mutex_t *all[] = {&a##n, &b##n, &c##n, &d##n, &e##n, &f##n, &g##n, &h##n}; \
                                                                                             \
		for (int i = 0; i < 8; i++) {                                                \
			pthread_mutex_lock(all[i]);                                          \
			pthread_mutex_unlock(all[i]);                                        \
		}                                                                            \
	}

static void *lock_all(void *arg)
{
	LOCK_8(0) LOCK_8(1) LOCK_8(2) LOCK_8(3) LOCK_8(4) LOCK_8(5) LOCK_8(6) LOCK_8(7)
	return NULL;
}

static int give_up(const char *how, const char *root)
{
	if (!strcmp(how, "chroot"))
		return chroot(root) || chdir("/");
	if (setgroups(0, NULL) || setgid(NOBODY))
		return -1;
	if (!strcmp(how, "setreuid"))
		return setreuid(NOBODY, NOBODY);
	if (!strcmp(how, "setresuid"))
		return setresuid(NOBODY, NOBODY, NOBODY);
	if (!strcmp(how, "seteuid"))
		return seteuid(NOBODY);
	return setuid(NOBODY);
}

static int work(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, lock_all, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *root = argc > 3 ? argv[3] : "/";
	int status, failed = 0;

	if (argc < 3)
		return 2;
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	if (!strcmp(argv[1], "before") && give_up(argv[2], root))
		return 3;
	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (!strcmp(argv[1], "after") && give_up(argv[2], root))
				_exit(3);
			_exit(work());
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
