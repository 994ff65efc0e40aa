/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls.h - file access that is no cancellation point, and signals.
 *
 * glibc's open(), read(), write(), close(), fcntl() and waitpid() end a thread whose
 * cancellation is pending. A lock call must not: the thread would go with
 * the engine's lock in hand. So these take the place of them in lib/.
 */
#ifndef ELIDE_SYSCALLS_H
#define ELIDE_SYSCALLS_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Each as the function of libc of that name, errno included. */

static inline int sys_open(const char *path, int flags, mode_t mode)
{
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static inline ssize_t sys_read(int fd, void *buffer, size_t size)
{
	return syscall(SYS_read, fd, buffer, size);
}

static inline ssize_t sys_write(int fd, const void *buffer, size_t size)
{
	return syscall(SYS_write, fd, buffer, size);
}

static inline int sys_close(int fd)
{
	return syscall(SYS_close, fd);
}

static inline int sys_fcntl(int fd, int command, void *argument)
{
	return syscall(SYS_fcntl, fd, command, argument);
}

static inline int sys_unlink(const char *path)
{
	return syscall(SYS_unlink, path);
}

static inline int sys_link(const char *from, const char *to)
{
	return syscall(SYS_link, from, to);
}

static inline int sys_rename(const char *from, const char *to)
{
	return syscall(SYS_rename, from, to);
}

static inline int sys_rename_flags(const char *from, const char *to, unsigned int flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static inline int sys_ftruncate(int fd, size_t size)
{
	return syscall(SYS_ftruncate, fd, size);
}

static inline int sys_fstat(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st);
}

static inline int sys_lstat(const char *path, struct stat *st)
{
	return syscall(SYS_lstat, path, st);
}

/*
 * May a file of the process have @size bytes? To write or allocate beyond the limit raises SIGXFSZ,
 * which would kill the host.
 */
static inline bool sys_size_allowed(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur;
}

/* Bytes of the kernel's signal set, which glibc's is larger than. */
#define SYS_SIGSET 8

/* All signals, those that glibc keeps to itself too, which its function leaves out. */
static inline int sys_sigmask(const uint64_t *set, uint64_t *old)
{
	return syscall(SYS_rt_sigprocmask, SIG_SETMASK, set, old, SYS_SIGSET);
}

static inline pid_t sys_waitpid(pid_t pid, int *status, int options)
{
	return syscall(SYS_wait4, pid, status, options, NULL);
}

#endif
