/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls.h - the library's own system calls.
 *
 * libc's functions do not do. Some end a thread whose cancellation is pending, as open() and
 * posix_fallocate(); a lock call must not, as the thread would go with the engine's lock in hand.
 * Some acquire locks of libc or allocate, as realpath(). And another preloaded library may stand in
 * front of any of them with a lock of its own, as libfaketime does before clock_gettime(). So the
 * library asks the kernel itself. tests/preload/undefined.sh has the functions
 * of libc that it calls.
 *
 * A seccomp filter may kill the process for any system call that the program does not make itself.
 * sys_forbidden says that there is one: then every function here but sys_futex() fails with EPERM
 * and asks the kernel nothing.
 */
#ifndef ELIDE_SYSCALLS_H
#define ELIDE_SYSCALLS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../compiler.h"

#pragma GCC visibility push(hidden)

/* Not 0: no system call but futex(2) may be made in this process; see state/filter.h. */
extern uint32_t sys_forbidden;

/* The instruction itself. Return: the kernel's answer, from -4095 to -1 an error. */
static __always_inline_fn long sys_raw(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* An answer of the kernel as libc gives it: -1 and errno. */
static inline long sys_answer(long ret)
{
	if ((unsigned long)ret < -4095ul)
		return ret;
	errno = -ret;
	return -1;
}

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
	return sys_answer(unlikely(READ_ONCE(sys_forbidden)) ? -EPERM :
							       sys_raw(number, a, b, c, d, e, f));
}

/* The only one that is made under a filter, as the program's own lock calls make it. */
static inline long sys_futex(const void *word, int operation, uint32_t value,
			     const struct timespec *timeout)
{
	return sys_answer(sys_raw(SYS_futex, (long)word, operation, value, (long)timeout, 0, 0));
}

/*
 * Has the word, in memory that may not be mapped, this value? No, if that cannot be asked: a filter
 * may look at futex's operation, and this one is not of a lock call. Wakes nobody.
 */
static inline bool sys_word_is(const void *word, uint32_t value)
{
	static uint32_t nobody;

	return !sys_call(SYS_futex, (long)word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0,
			 (long)&nobody, value);
}

/* Each as the function of libc of that name, errno included. */

static inline int sys_open(const char *path, int flags, mode_t mode)
{
	return sys_call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

static inline ssize_t sys_read(int fd, void *buffer, size_t size)
{
	return sys_call(SYS_read, fd, (long)buffer, size, 0, 0, 0);
}

static inline ssize_t sys_write(int fd, const void *buffer, size_t size)
{
	return sys_call(SYS_write, fd, (long)buffer, size, 0, 0, 0);
}

static inline ssize_t sys_pwrite(int fd, const void *buffer, size_t size, off_t at)
{
	return sys_call(SYS_pwrite64, fd, (long)buffer, size, at, 0, 0);
}

static inline int sys_close(int fd)
{
	return sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline int sys_fcntl(int fd, int command, void *argument)
{
	return sys_call(SYS_fcntl, fd, command, (long)argument, 0, 0, 0);
}

static inline int sys_flock(int fd, int operation)
{
	return sys_call(SYS_flock, fd, operation, 0, 0, 0, 0);
}

static inline int sys_fstat(int fd, struct stat *st)
{
	return sys_call(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
}

static inline int sys_lstat(const char *path, struct stat *st)
{
	return sys_call(SYS_lstat, (long)path, (long)st, 0, 0, 0, 0);
}

static inline int sys_ftruncate(int fd, size_t size)
{
	return sys_call(SYS_ftruncate, fd, size, 0, 0, 0, 0);
}

static inline int sys_access(const char *path, int mode)
{
	return sys_call(SYS_access, (long)path, mode, 0, 0, 0, 0);
}

static inline ssize_t sys_readlink(const char *path, char *buffer, size_t size)
{
	return sys_call(SYS_readlink, (long)path, (long)buffer, size, 0, 0, 0);
}

static inline int sys_link(const char *from, const char *to)
{
	return sys_call(SYS_link, (long)from, (long)to, 0, 0, 0, 0);
}

static inline int sys_unlink(const char *path)
{
	return sys_call(SYS_unlink, (long)path, 0, 0, 0, 0, 0);
}

static inline int sys_rename(const char *from, const char *to)
{
	return sys_call(SYS_rename, (long)from, (long)to, 0, 0, 0, 0);
}

/* renameat2(2) relative to the current directory. */
static inline int sys_rename_flags(const char *from, const char *to, unsigned int flags)
{
	return sys_call(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, flags, 0);
}

static inline void *sys_mmap(void *address, size_t size, int protection, int flags, int fd)
{
	return (void *)sys_call(SYS_mmap, (long)address, size, protection, flags, fd, 0);
}

static inline int sys_munmap(void *address, size_t size)
{
	return sys_call(SYS_munmap, (long)address, size, 0, 0, 0, 0);
}

static inline int sys_madvise(void *address, size_t size, int advice)
{
	return sys_call(SYS_madvise, (long)address, size, advice, 0, 0, 0);
}

static inline int sys_mprotect(void *address, size_t size, int protection)
{
	return sys_call(SYS_mprotect, (long)address, size, protection, 0, 0, 0);
}

static inline pid_t sys_getpid(void)
{
	return sys_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline pid_t sys_gettid(void)
{
	return sys_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline pid_t sys_waitpid(pid_t pid, int *status, int options)
{
	return sys_call(SYS_wait4, pid, (long)status, options, 0, 0, 0);
}

/* A pause relative to CLOCK_MONOTONIC; a signal ends it. */
static inline void sys_pause(const struct timespec *pause)
{
	sys_call(SYS_nanosleep, (long)pause, 0, 0, 0, 0, 0);
}

/*
 * May a file of the process have @size bytes? To write or allocate beyond the limit raises SIGXFSZ,
 * which would kill the host.
 */
static inline bool sys_size_allowed(size_t size)
{
	struct rlimit limit;

	return sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) ||
	       limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Bytes of the kernel's signal set, which glibc's is larger than. */
#define SYS_SIGSET 8

/* All signals, those that glibc keeps to itself too, which its function leaves out. */
static inline int sys_sigmask(const uint64_t *set, uint64_t *old)
{
	return sys_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)set, (long)old, SYS_SIGSET, 0, 0);
}

/**
 * sys_extend() - back the bytes of a file from @from to @to, which it does not have yet.
 * @fd: of the file
 *
 * As posix_fallocate(3), but no cancellation point: on a file system without fallocate(2), as ext2
 * and NFSv3, that function writes by pwrite(3). Here zeroes are written by the system call.
 *
 * Return: 0 or an error.
 */
int sys_extend(int fd, size_t from, size_t to);

/**
 * sys_realpath() - the absolute path of a file that exists, without symbolic links.
 * @path: of the file
 * @real: receives it
 * @size: its size in bytes, PATH_MAX or more
 *
 * The kernel says it by /proc/self/fd. Without /proc symbolic links stay in the path.
 *
 * Return: 0, or -1 and errno.
 */
int sys_realpath(const char *path, char *real, size_t size);

/** sys_getcwd() - the current directory. Return: 0; -1 where it cannot be named from the root. */
int sys_getcwd(char *path, size_t size);

/** sys_processors_online() - number of processors that are online, at least 1. */
unsigned int sys_processors_online(void);

/** sys_processors_usable() - number of processors that the thread may use; 0: not known. */
unsigned int sys_processors_usable(void);

#pragma GCC visibility pop

#endif
