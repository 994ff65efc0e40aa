/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscalls.c - see syscalls.h. */
#include <string.h>
#include <sys/uio.h>

#include "syscalls.h"
#include "text.h"

uint32_t sys_forbidden;
uint64_t sys_denied;

/* Bytes of zeroes that are written at once without fallocate(2). */
#define ZEROES 4096

static int write_zeroes(int fd, size_t from, size_t to)
{
	static const char zeroes[ZEROES];

	while (from < to) {
		ssize_t n = sys_pwrite(fd, zeroes, to - from < ZEROES ? to - from : ZEROES, from);

		if (n < 0 && errno != EINTR)
			return errno;
		from += n > 0 ? n : 0;
	}
	return 0;
}

int sys_extend(int fd, size_t from, size_t to)
{
	int err;

	do /* a signal, of a profiler's timer for instance, interrupts it */
		err = sys_call(fallocate, fd, 0, from, to - from, 0, 0) ? errno : 0;
	while (err == EINTR);
	return err == EOPNOTSUPP || err == ENOSYS || err == EPERM ? write_zeroes(fd, from, to) : err;
}

/* Pages that are written by one system call, at most: as many as a file grows by. */
#define FILL_PAGES 64

void sys_fill(int fd, size_t from, size_t to)
{
	static const char page[ZEROES];
	struct iovec pages[FILL_PAGES];
	size_t nr = 0;

	if (to - from > sizeof(page) * FILL_PAGES)
		return;
	for (size_t at = from; at < to; at += sizeof(page), nr++)
		pages[nr] = (struct iovec){
			.iov_base = (void *)page,
			.iov_len = to - at < sizeof(page) ? to - at : sizeof(page),
		};
	sys_call(pwritev, fd, (long)pages, nr, from, 0, 0);
}

int sys_getcwd(char *path, size_t size)
{
	/* "(unreachable)/..." after chroot(). */
	return sys_call(getcwd, (long)path, size, 0, 0, 0, 0) < 0 || *path != '/' ? -1 : 0;
}

/* @path as an absolute one, with its symbolic links. */
static int absolute(const char *path, char *real, size_t size)
{
	size_t len = 0;

	*real = '\0';
	if (*path != '/' && sys_getcwd(real, size))
		return -1;
	len = strlen(real);
	if (len + 1 + strlen(path) >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	elide_text(real + len, size - len, "%s%s", *path == '/' ? "" : "/", path);
	return 0;
}

int sys_realpath(const char *path, char *real, size_t size)
{
	char link[32];
	ssize_t n;
	int fd = sys_open(path, O_PATH | O_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	elide_text(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = sys_readlink(link, real, size - 1);
	sys_close(fd);
	if (n <= 0 || *real != '/')
		return absolute(path, real, size);
	real[n] = '\0';
	return 0;
}

/* Count the numbers in a list of the kernel, as "0-3,6". */
static unsigned int count_list(const char *p)
{
	unsigned int nr = 0, first, last;

	while (*p >= '0' && *p <= '9') {
		for (first = 0; *p >= '0' && *p <= '9'; p++)
			first = first * 10 + (*p - '0');
		last = first;
		if (*p == '-')
			for (p++, last = 0; *p >= '0' && *p <= '9'; p++)
				last = last * 10 + (*p - '0');
		nr += last - first + 1;
		p += *p == ',';
	}
	return nr;
}

unsigned int sys_processors_online(void)
{
	int fd = sys_open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC, 0);
	char list[256];
	ssize_t n = 0;

	if (fd >= 0) {
		n = sys_read(fd, list, sizeof(list) - 1);
		sys_close(fd);
	}
	list[n > 0 ? n : 0] = '\0';
	return count_list(list) ?: sys_processors_usable() ?: 1;
}

unsigned int sys_processors_usable(void)
{
	/* Linux can be built for 8,192 processors at most. */
	uint64_t set[8192 / 64] = {0};
	unsigned int nr = 0;
	long n = sys_call(sched_getaffinity, 0, sizeof(set), (long)set, 0, 0, 0);

	for (long i = 0; i < n / (long)sizeof(*set); i++)
		nr += __builtin_popcountll(set[i]);
	return nr;
}
