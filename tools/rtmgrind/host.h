/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - system calls of the emulator itself.
 *
 * They bypass Valgrind's wrappers. Must never be made on the guest's behalf for things that Valgrind
 * keeps a record of: mappings, signal handlers and threads.
 */
#ifndef RTMGRIND_HOST_H
#define RTMGRIND_HOST_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Results below 0 are -errno. */
static inline Long host_syscall(Long nr, Long a, Long b, Long c, Long d, Long e, Long f)
{
	Long result;
	register Long r10 __asm__("r10") = d;
	register Long r8 __asm__("r8") = e;
	register Long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline void host_yield(void)
{
	host_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Sleeps while *@word == @value, for at most @timeout_ns, 0 without limit. */
static inline void host_futex_wait(volatile Int *word, Int value, Long timeout_ns)
{
	struct vki_timespec ts = {timeout_ns / 1000000000, timeout_ns % 1000000000};

	host_syscall(__NR_futex, (Long)word, 0 | 128, value, timeout_ns ? (Long)&ts : 0, 0, 0);
}

static inline void host_futex_wake(volatile Int *word)
{
	host_syscall(__NR_futex, (Long)word, 1 | 128, 1, 0, 0, 0);
}

/*
 * Lets the calling host thread take the signals of its own faults, and blocks all others. A new
 * host thread, and one in a signal handler, blocks these signals, too. Valgrind unblocks them on
 * behalf of the guest thread, but another host thread may execute that by then.
 */
static inline void host_let_faults_through(void)
{
	ULong blocked = ~(1ULL << (VKI_SIGSEGV - 1) | 1ULL << (VKI_SIGBUS - 1) |
			  1ULL << (VKI_SIGFPE - 1) | 1ULL << (VKI_SIGILL - 1) |
			  1ULL << (VKI_SIGTRAP - 1));

	host_syscall(__NR_rt_sigprocmask, VKI_SIG_SETMASK, (Long)&blocked, 0, sizeof(blocked), 0,
		     0);
}

/*
 * Reads the beginning of a file, such as one of /proc, with a single read(). @text, which has @size
 * bytes, receives a string; it is empty if the file cannot be read. Returns the string's length.
 */
static inline SizeT host_read_file(const HChar *name, HChar *text, SizeT size)
{
	Long fd = host_syscall(__NR_open, (Long)name, 0, 0, 0, 0, 0);
	Long length = 0;

	if (fd >= 0) {
		length = host_syscall(__NR_read, fd, (Long)text, size - 1, 0, 0, 0);
		host_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
	}
	if (length < 0)
		length = 0;
	text[length] = 0;
	return length;
}

/* Real time, ns. */
static inline Long host_now(void)
{
	struct vki_timespec ts;

	host_syscall(__NR_clock_gettime, 1, (Long)&ts, 0, 0, 0, 0);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* A futex word that futex_waitv(2) waits on (include/uapi/linux/futex.h). */
struct host_waitv {
	ULong value;
	ULong word;
	UInt flags;
	UInt reserved;
};
#define HOST_NR_FUTEX_WAITV 449
#define HOST_WAITV_MAX 128
/* Flags: a word of 32 bits, in memory shared with other processes or not. */
#define HOST_WAITV_SHARED 2
#define HOST_WAITV_PRIVATE (2 | 128)
/* Longest sleep with a kernel before 5.16, which has no futex_waitv(2), ns. Chosen. */
#define HOST_WAITV_MISSING_NS 1000000LL

/*
 * Sleeps while all @nr words have their values, for at most @timeout_ns. The first one is filled in
 * here: *@own and @value. Returns the index of a word that was woken, or -errno.
 */
static inline Long host_futex_waitv(struct host_waitv *words, UInt nr, volatile Int *own, Int value,
				    Long timeout_ns)
{
	Long until = host_now() + timeout_ns, result;
	struct vki_timespec ts = {until / 1000000000, until % 1000000000};

	words[0] = (struct host_waitv){(UInt)value, (Addr)own, HOST_WAITV_PRIVATE, 0};
	result = host_syscall(HOST_NR_FUTEX_WAITV, (Long)words, nr, 0, (Long)&ts, 1, 0);
	/* The kernel does not have the call, or a word is not readable any more. */
	if (result == -VKI_ENOSYS || result == -VKI_EFAULT || result == -VKI_EINVAL)
		host_futex_wait(own, value,
				timeout_ns < HOST_WAITV_MISSING_NS ? timeout_ns :
								     HOST_WAITV_MISSING_NS);
	return result;
}

static inline Long host_poll(struct vki_pollfd *fds, UInt nr, Long timeout_ns)
{
	struct vki_timespec ts = {timeout_ns / 1000000000, timeout_ns % 1000000000};

	return host_syscall(__NR_ppoll, (Long)fds, nr, (Long)&ts, 0, 8, 0);
}

#endif
