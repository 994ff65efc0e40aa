/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls.h - the library's own system calls.
 *
 * libc's functions do not do. Some end a thread whose cancellation is pending, as open() and
 * posix_fallocate(); a lock call must not, as the thread would end with the engine's lock held. Some
 * acquire locks of libc or allocate, as realpath(). And another preloaded library may wrap any of them
 * with a lock of its own, as libfaketime wraps clock_gettime(). So the library makes its system calls
 * itself. tests/preload/undefined.sh lists the functions of libc that it calls.
 *
 * A seccomp filter may kill the process for any system call that the program does not make itself.
 * sys_forbidden says that the process has installed one: then every function here but sys_futex()
 * fails with EPERM and makes no system call. If the process has begun with a filter, sys_learn() finds out
 * what it kills for: such calls fail with ENOSYS, as on a kernel without them.
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

/* Not 0: no system call but futex(2) may be made in this process; see life/filter.h. */
extern uint32_t sys_forbidden;

/* Return: the kernel's answer, from -4095 to -1 an error. */
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

/* The calls of syscalls.def: their places in that list, and their numbers. */
enum sys_place {
#define ELIDE_SYSCALL(name, call, a, b, c, d, e, f) SYS_PLACE_##name,
#include "syscalls.def"
#undef ELIDE_SYSCALL
	SYS_PLACES
};

enum sys_number {
#define ELIDE_SYSCALL(name, call, a, b, c, d, e, f) SYS_NUMBER_##name = SYS_##call,
#include "syscalls.def"
#undef ELIDE_SYSCALL
};

/* A bit for each place: the filter with which the process began kills for that call. */
extern uint64_t sys_denied;

/* May the call of that name in syscalls.def be made? */
#define sys_may(name) (likely(!(sys_denied >> SYS_PLACE_##name & 1)))

/* The kernel's answer, whatever sys_forbidden says; -ENOSYS if the call is denied. */
#define sys_ask(name, ...) (sys_may(name) ? sys_raw(SYS_NUMBER_##name, __VA_ARGS__) : -ENOSYS)

/* An answer of the kernel as libc gives it: -1 and errno. */
static inline long sys_answer(long ret)
{
	if ((unsigned long)ret < -4095ul)
		return ret;
	errno = -ret;
	return -1;
}

/* A system call of syscalls.def. */
#define sys_call(name, ...) \
	sys_answer(unlikely(READ_ONCE(sys_forbidden)) ? -EPERM : sys_ask(name, __VA_ARGS__))

/* The only call that is made under a filter, as the program's own lock calls make it. */
static inline long sys_futex(const void *word, int operation, uint32_t value,
			     const struct timespec *timeout)
{
	return sys_answer(sys_raw(SYS_futex, (long)word, operation, value, (long)timeout, 0, 0));
}

/*
 * Wait for @ns nanoseconds, or less. Not by nanosleep(2), which makes the kernel forget how long a system call
 * is still to wait that a stop of the thread has interrupted.
 */
static inline void sys_wait_ns(uint64_t ns)
{
	static const uint32_t word;
	const struct timespec pause = {.tv_nsec = (long)ns};

	sys_raw(SYS_futex, (long)&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, (long)&pause, 0, 0);
}

/*
 * Has the word, in memory that may not be mapped, this value? No if a filter denies this operation of
 * futex(2), which is not one of a lock call. Wakes nobody.
 */
static inline bool sys_word_is(const void *word, uint32_t value)
{
	static uint32_t nobody;

	return !sys_call(futex_requeue, (long)word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0,
			 (long)&nobody, value);
}

/**
 * sys_is_filtered() - has the process a seccomp filter? Yes if that cannot be known.
 *
 * Makes only calls that the loader has made to load the library. Under Valgrind no: it makes calls of
 * its own, and has no processes of the kind that sys_learn() needs.
 */
bool sys_is_filtered(void);

/**
 * sys_learn() - find out which system calls the filter kills for.
 * @all: perf_event_open(2) will be used, too
 *
 * Return: false if no process could be made to try them.
 */
bool sys_learn(bool all);

/** sys_denied_first() - a system call that is denied, as text; NULL: none. @nr: how many */
const char *sys_denied_first(unsigned int *nr);

/* Each as the function of libc of that name, errno included. */

static inline int sys_open(const char *path, int flags, mode_t mode)
{
	return sys_call(openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

static inline ssize_t sys_read(int fd, void *buffer, size_t size)
{
	return sys_call(read, fd, (long)buffer, size, 0, 0, 0);
}

static inline ssize_t sys_write(int fd, const void *buffer, size_t size)
{
	return sys_call(write, fd, (long)buffer, size, 0, 0, 0);
}

static inline ssize_t sys_pwrite(int fd, const void *buffer, size_t size, off_t at)
{
	return sys_call(pwrite64, fd, (long)buffer, size, at, 0, 0);
}

static inline int sys_close(int fd)
{
	return sys_call(close, fd, 0, 0, 0, 0, 0);
}

static inline int sys_fcntl(int fd, int command, void *argument)
{
	return sys_call(fcntl, fd, command, (long)argument, 0, 0, 0);
}

static inline int sys_flock(int fd, int operation)
{
	return sys_call(flock, fd, operation, 0, 0, 0, 0);
}

/* By the call of the loader, which strict filters allow, too. */
static inline int sys_fstat(int fd, struct stat *st)
{
	return sys_call(newfstatat, fd, (long)"", (long)st, AT_EMPTY_PATH, 0, 0);
}

static inline int sys_lstat(const char *path, struct stat *st)
{
	return sys_call(newfstatat, AT_FDCWD, (long)path, (long)st, AT_SYMLINK_NOFOLLOW, 0, 0);
}

static inline int sys_ftruncate(int fd, size_t size)
{
	return sys_call(ftruncate, fd, size, 0, 0, 0, 0);
}

static inline int sys_access(const char *path, int mode)
{
	return sys_call(access, (long)path, mode, 0, 0, 0, 0);
}

static inline ssize_t sys_readlink(const char *path, char *buffer, size_t size)
{
	return sys_call(readlink, (long)path, (long)buffer, size, 0, 0, 0);
}

static inline int sys_link(const char *from, const char *to)
{
	return sys_call(link, (long)from, (long)to, 0, 0, 0, 0);
}

static inline int sys_unlink(const char *path)
{
	return sys_call(unlink, (long)path, 0, 0, 0, 0, 0);
}

static inline int sys_rename(const char *from, const char *to)
{
	return sys_call(rename, (long)from, (long)to, 0, 0, 0, 0);
}

/* renameat2(2) relative to the current directory. */
static inline int sys_rename_flags(const char *from, const char *to, unsigned int flags)
{
	return sys_call(renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, flags, 0);
}

static inline void *sys_mmap(void *address, size_t size, int protection, int flags, int fd)
{
	return (void *)sys_call(mmap, (long)address, size, protection, flags, fd, 0);
}

static inline int sys_munmap(void *address, size_t size)
{
	return sys_call(munmap, (long)address, size, 0, 0, 0, 0);
}

static inline int sys_madvise(void *address, size_t size, int advice)
{
	return sys_call(madvise, (long)address, size, advice, 0, 0, 0);
}

static inline int sys_mprotect(void *address, size_t size, int protection)
{
	return sys_call(mprotect, (long)address, size, protection, 0, 0, 0);
}

static inline pid_t sys_getpid(void)
{
	return sys_call(getpid, 0, 0, 0, 0, 0, 0);
}

static inline pid_t sys_gettid(void)
{
	return sys_call(gettid, 0, 0, 0, 0, 0, 0);
}

static inline pid_t sys_waitpid(pid_t pid, int *status, int options)
{
	return sys_call(wait4, pid, (long)status, options, 0, 0, 0);
}

/* A pause relative to CLOCK_MONOTONIC; a signal ends it. */
static inline void sys_pause(const struct timespec *pause)
{
	sys_call(nanosleep, (long)pause, 0, 0, 0, 0, 0);
}

/*
 * May a file of the process have @size bytes? Writing or allocating beyond the limit raises SIGXFSZ, which
 * would kill the host.
 */
static inline bool sys_size_allowed(size_t size)
{
	struct rlimit limit;

	return sys_call(prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) ||
	       limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Bytes of the kernel's signal set; glibc's is larger. */
#define SYS_SIGSET 8

/* Also for the signals that glibc reserves, which its own function leaves out. */
static inline int sys_sigmask(const uint64_t *set, uint64_t *old)
{
	return sys_call(rt_sigprocmask, SIG_SETMASK, (long)set, (long)old, SYS_SIGSET, 0, 0);
}

/**
 * sys_extend() - extend a file by the bytes from @from to @to, and have the disk back them.
 * @fd: of the file
 *
 * As posix_fallocate(3), but no cancellation point: on a file system without fallocate(2), as ext2 and
 * NFSv3, this writes zeroes by the system call, not by pwrite(3).
 *
 * Return: 0 or an error.
 */
int sys_extend(int fd, size_t from, size_t to);

/**
 * sys_fill() - have the pages of a file from @from to @to in memory, by writing zeroes to these zeroes.
 * @fd: of the file
 *
 * The kernel takes 0.7 us a page for that, and 2 to 4 us for each page fault otherwise (measured on ext4,
 * Linux 6.18). Fails silently.
 */
void sys_fill(int fd, size_t from, size_t to);

/**
 * sys_realpath() - the absolute path of a file that exists, without symbolic links.
 * @path: of the file
 * @real: receives it
 * @size: its size in bytes, PATH_MAX or more
 *
 * From /proc/self/fd. Without /proc symbolic links stay in the path.
 *
 * Return: 0, or -1 and errno.
 */
int sys_realpath(const char *path, char *real, size_t size);

/** sys_getcwd() - the current directory. Return: 0; -1 if it cannot be reached from the root. */
int sys_getcwd(char *path, size_t size);

/** sys_processors_online() - number of processors that are online, at least 1. */
unsigned int sys_processors_online(void);

/** sys_processors_usable() - number of processors that the thread may use; 0: not known. */
unsigned int sys_processors_usable(void);

#pragma GCC visibility pop

#endif
