// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * no-memory.c - preloaded: the allocation with the number NO_MEMORY_AT fails, of all that the
 * program and the C library make, counted from 1. The file NO_MEMORY_FILE is made then, and only
 * then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own, which need no search for symbols. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static unsigned long at, nr;

static bool fails(void)
{
	const char *file;
	int fd;

	if (!at || __atomic_add_fetch(&nr, 1, __ATOMIC_RELAXED) != at)
		return false;
	file = getenv("NO_MEMORY_FILE");
	fd = file ? open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
	errno = ENOMEM;
	return true;
}

static void __attribute__((constructor)) begin(void)
{
	const char *text = getenv("NO_MEMORY_AT");

	at = text ? strtoul(text, NULL, 10) : 0;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}
