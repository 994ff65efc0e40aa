// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * limits.c - RLIMIT_AS limits the program's mappings, without those of the emulator.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define MIB (1UL << 20)
/* MiB that the limit leaves to the program. */
#define ROOM 20

/* Bytes that the program has mapped. Maps nothing itself. */
static size_t mapped(void)
{
	static FILE *file;
	static char buffer[256];
	unsigned long pages = 0;

	if (!file) {
		file = fopen("/proc/self/statm", "r");
		setvbuf(file, buffer, _IOFBF, sizeof(buffer));
		fclose(file);
	}
	file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%lu", &pages) != 1)
		abort();
	fclose(file);
	return pages * getpagesize();
}

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void limit_to(size_t size)
{
	struct rlimit limit = {size, RLIM_INFINITY}, now;

	check("setrlimit", setrlimit(RLIMIT_AS, &limit), 0);
	check("getrlimit", getrlimit(RLIMIT_AS, &now), 0);
	check("as it was set", now.rlim_cur, size);
}

static void *nothing(void *unused)
{
	return unused;
}

/* Uses all of the room with blocks of 1 MiB: the next mapping fails, and the program goes on. */
static void test_full(void)
{
	static char *blocks[ROOM + 1];
	pthread_mutex_t mutex;
	pthread_t thread;
	void *end;
	int i;

	limit_to(mapped() + ROOM * MIB);
	for (i = 0; i <= ROOM && (blocks[i] = map(MIB)) != MAP_FAILED; i++)
		memset(blocks[i], i, MIB);
	check("blocks", i, ROOM);
	check("and then", errno, ENOMEM);
	check("a block in place of another",
	      mmap(blocks[0], MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		      blocks[0], 1);
	check("malloc", malloc(MIB) == NULL, 1);
	end = sbrk(0);
	check("sbrk", sbrk(MIB) == (void *)-1, 1);
	check("the end stays", sbrk(0) == end, 1);
	check("mremap", mremap(blocks[1], MIB, 2 * MIB, MREMAP_MAYMOVE) == MAP_FAILED, 1);
	check("a thread's stack", pthread_create(&thread, NULL, nothing, NULL), EAGAIN);
	check("a mutex", pthread_mutex_init(&mutex, NULL), 0);
	check("is locked", pthread_mutex_lock(&mutex), 0);
	check("room again", munmap(blocks[2], MIB), 0);
	check("mremap, fits", mremap(blocks[1], MIB, 2 * MIB, MREMAP_MAYMOVE) != MAP_FAILED, 1);
}

/* A child process has its parent's limit, and so has a program that it executes on the host. */
static void test_children(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(map(MIB) != MAP_FAILED);
	waitpid(pid, &status, 0);
	check("a child", status, 0);
	limit_to(4096 * MIB);
	pid = fork();
	if (!pid)
		execl("/bin/sh", "sh", "-c", "test $(ulimit -v) = 4194304", (char *)NULL);
	waitpid(pid, &status, 0);
	check("another program", status, 0);
	limit_to(RLIM_INFINITY);
	check("no limit", map(100 * MIB) != MAP_FAILED, 1);
}

static void test_rules(void)
{
	struct rlimit limit = {2, 1};

	check("soft above hard", setrlimit(RLIMIT_AS, &limit) ? errno : 0, EINVAL);
	limit = (struct rlimit){4096 * MIB, 8192 * MIB};
	check("lower", setrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_max = RLIM_INFINITY;
	check("raise", setrlimit(RLIMIT_AS, &limit) ? errno : 0, geteuid() ? EPERM : 0);
}

int main(void)
{
	emu_require();
	test_full();
	test_children();
	test_rules();
	return emu_status();
}
