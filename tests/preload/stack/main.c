/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - prints a line "NAME BYTES" for each function that the libraries stand in front of: how deep
 * its calls go into the stack of their thread. tests/preload/stack.sh compares.
 *
 * Each symbol of preload/symbols.def and preload/adapters/symbols.def is called by its test in ../symbols, for new locks, and in
 * scenes.c where it has to wait, aborts, reports, or misuses a lock. One without a test stops the build.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../symbols/symbols.h"
#include "scenes.h"

static uint32_t deepest[NR_ROWS];

/* What a child measures. Not for calls in transactions, which the emulator aborts if they write here. */
static struct shared {
	uint32_t deepest[NR_ROWS];
	char stack[MEASURE_STACK] __attribute__((aligned(64)));
} *shared;

static const struct row {
	const char *name, *symbol, *version;
	const char *(*run)(void *f);
} rows[NR_ROWS] = {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	[ROW_##id] = {#id, #symbol, version, (const char *(*)(void *))(void *)test_##id},
#define ELIDE_ALIAS(symbol, id)
#include "../../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) \
	[ROW_##id] = {#id, #symbol, version, (const char *(*)(void *))(void *)test_##id},
#include "../../../preload/adapters/symbols.def"
#undef ADAPTER_SYMBOL
#define HEAP_SYMBOL(name, result, parameters, arguments) [ROW_##name] = {#name, #name, "", NULL},
#include "../../../preload/heap/symbols.def"
#undef HEAP_SYMBOL
	[ROW_free] = {"free", "free", "", NULL},
	[ROW_fork] = {"fork", "fork", "", NULL},
	[ROW_exit] = {"exit", "exit", "", NULL},
};

void *measured(enum row_name name)
{
	const struct row *row = &rows[name];

	measure_set(*row->version ? dlvsym(RTLD_DEFAULT, row->symbol, row->version) :
				    dlsym(RTLD_DEFAULT, row->symbol), &deepest[name]);
	return (void *)measure_call;
}

/* The first lock call of a forked child, and of one that ends. */
static void children(void)
{
	pthread_mutex_t *m = new_mutex();
	void (*call_exit)(int status);
	pid_t (*call_fork)(void);
	pid_t pid;

	call_fork = (pid_t(*)(void))measured(ROW_fork);
	pid = call_fork();
	if (!pid) {
		((mutex_lock_fn)measured(ROW_mutex_lock))(m);
		((mutex_unlock_fn)measured(ROW_mutex_unlock))(m);
		memcpy(shared->deepest, deepest, sizeof(deepest));
		call_exit = (void (*)(int))measured(ROW_exit);
		measure_on(shared->stack);
		call_exit(0);
	}
	waitpid(pid, NULL, 0);
	memcpy(deepest, shared->deepest, sizeof(deepest));
	deepest[ROW_exit] = measure_depth(shared->stack);
}

int main(void)
{
	int failed = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	for (int i = 0; i < NR_ROWS; i++) {
		const char *wrong = rows[i].run ? rows[i].run(measured(i)) : NULL;

		if (wrong) {
			fprintf(stderr, "%s: %s\n", rows[i].name, wrong);
			failed = 1;
		}
	}
	scenes();
	children();
	for (int i = 0; i < NR_ROWS; i++)
		printf("%s %u\n", rows[i].name, deepest[i]);
	return failed;
}
