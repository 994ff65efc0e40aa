/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filter.c - prctl() and syscall(): see before that a process installs a seccomp filter, or gives up the
 * time-stamp counter (life/filter.h), and its futex calls (futex.h).
 *
 * libseccomp, and most programs, use one of the two. A SYSCALL instruction of the program is not seen.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "futex.h"
#include "life/filter.h"
#include "wrap.h"

/* The arguments of elide_filter_after(). */
struct watch {
	bool is_on;
	enum elide_filter what;
	struct elide_closed closed;
};

static void watch_begin(struct watch *w, enum elide_filter what)
{
	*w = (struct watch){.what = what};
	/* Inside a section the system call aborts the section, and then comes again. */
	if (elide_process.running && !elide_inside(elide_self))
		w->is_on = elide_filter_before(what, &w->closed);
}

/* Return: @ret, below 0 an error; with SECCOMP_FILTER_FLAG_TSYNC a thread id if it fails. */
static long watch_end(const struct watch *w, long ret)
{
	int saved = errno;

	if (w->is_on)
		elide_filter_after(w->what, &w->closed, ret >= 0);
	errno = saved;
	return ret;
}

/* Does prctl() with these arguments change what the library may do? */
static bool prctl_filters(int option, unsigned long a, enum elide_filter *what)
{
	switch (option) {
	case PR_SET_SECCOMP:
		*what = a == SECCOMP_MODE_STRICT ? ELIDE_FILTER_STRICT : ELIDE_FILTER_CALLS;
		return a == SECCOMP_MODE_STRICT || a == SECCOMP_MODE_FILTER;
	case PR_SET_TSC:
		*what = ELIDE_FILTER_TSC;
		return a == PR_TSC_SIGSEGV;
	default:
		return false;
	}
}

/* prctl(int option, ...) in <sys/prctl.h>: all arguments are in registers. */
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

WRAPPER int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	enum elide_filter what;
	struct watch w;

	if (likely(!prctl_filters(option, a, &what)))
		return real.prctl(option, a, b, c, d);
	watch_begin(&w, what);
	return watch_end(&w, real.prctl(option, a, b, c, d));
}

__attribute__((used, visibility("hidden"))) long
syscall_watched(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d,
		unsigned long e, unsigned long f);

/* syscall() with SYS_seccomp or SYS_prctl. */
long syscall_watched(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d,
		     unsigned long e, unsigned long f)
{
	enum elide_filter what;
	struct watch w;
	bool filters;

	if (number == SYS_prctl) {
		filters = prctl_filters(a, b, &what);
	} else {
		what = a == SECCOMP_SET_MODE_STRICT ? ELIDE_FILTER_STRICT : ELIDE_FILTER_CALLS;
		filters = a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER;
	}
	if (!filters)
		return real.syscall(number, a, b, c, d, e, f);
	watch_begin(&w, what);
	return watch_end(&w, real.syscall(number, a, b, c, d, e, f));
}

/*
 * In assembly, because a call may return twice (SYS_vfork), on another stack (SYS_clone) or never, and
 * because every register is an argument. All other numbers jump to libc's function with all registers as they were,
 * but for R11, which no call keeps. 157 is SYS_prctl, 202 SYS_futex, 317 SYS_seccomp; from 449 on there are 8 numbers
 * with SYS_futex_waitv and SYS_futex_wake to SYS_futex_requeue.
 */
__attribute__((used)) static void offsets(void)
{
	__asm__(".set real_syscall, %c0" : : "i"(offsetof(struct real, syscall)));
}

_Static_assert(SYS_prctl == 157 && SYS_futex == 202 && SYS_seccomp == 317, "as below");
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	".cfi_startproc\n"
	"	cmp	$202, %rdi\n"
	"	je	syscall_futex\n"
	"	lea	-449(%rdi), %r11\n"
	"	cmp	$8, %r11\n"
	"	jb	syscall_futex\n"
	"	cmp	$157, %rdi\n"
	"	je	syscall_watched\n"
	"	cmp	$317, %rdi\n"
	"	je	syscall_watched\n"
	"	jmp	*real+real_syscall(%rip)\n"
	".cfi_endproc\n"
	".size syscall, . - syscall\n");
