// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plugin.c - loads a library and has two threads work in it.
 *
 * plugin LIBRARY [shift] [fork]: with shift the library lies at another address; with fork a child
 * process does the work. Prints the address of the function.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than the gaps have that Valgrind leaves between libraries, 1 MiB. */
#define PAGES 1024

static void *work(void *function)
{
	((void (*)(void))function)();
	return NULL;
}

static bool given(int argc, char **argv, const char *word)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	void *library, *function;
	pthread_t thread;
	int status = 0;

	/* Each fills a gap, or what is left of one, between what is mapped already. */
	for (int i = 0; i < PAGES && given(argc, argv, "shift"); i++)
		mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	function = library ? dlsym(library, "plugin_work") : NULL;
	if (!function) {
		fprintf(stderr, "plugin: %s\n", argc > 1 ? dlerror() : "no library");
		return 1;
	}
	printf("%p\n", function);
	fflush(stdout);
	if (given(argc, argv, "fork") && fork())
		return wait(&status) < 0 || status;
	if (pthread_create(&thread, NULL, work, function))
		return 1;
	work(function);
	return pthread_join(thread, NULL);
}
