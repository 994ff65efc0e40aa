/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls-probe.c - a seccomp filter that is there when the library starts: inherited over
 * execve(2), or installed before a dlopen(3).
 *
 * Only making a system call shows whether the filter kills for it. So a probe process makes all of them,
 * without effect, and notes in shared memory which one it is about to make. If it is killed, the next
 * probe begins after that call.
 *
 * clone(2) with CLONE_VFORK returns when the probe has ended, so wait4(2) is made only if it is allowed.
 * Without CLONE_VM the probe has a copy of the memory: before Linux 5.16 the core dump of one process
 * killed all that shared its memory.
 */
#include <linux/membarrier.h>
#include <linux/prctl.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../emulator.h"
#include "syscalls.h"

_Static_assert(SYS_PLACES <= 64, "sys_denied has a bit for each");

/*
 * Probes at most, some 100 us each: a filter that kills for more of the calls leaves too few to count with.
 * Chosen.
 */
#define PROBES 24

/* With a limit of 1 the kernel starts no core dump handler either: core(5). */
static const struct rlimit no_core = {1, 1};
static const uint64_t all_signals = ~0ull;

static const struct {
	long number;
	long arguments[6];
} calls[] = {
#define ELIDE_SYSCALL(name, call, a, b, c, d, e, f) {SYS_##call, {a, b, c, d, e, f}},
#include "syscalls.def"
#undef ELIDE_SYSCALL
};

static const char *const names[] = {
#define ELIDE_SYSCALL(name, call, a, b, c, d, e, f) #call,
#include "syscalls.def"
#undef ELIDE_SYSCALL
};

bool sys_is_filtered(void)
{
	static const char none[] = "\nSeccomp:\t0\n";
	char status[4096];
	ssize_t n;
	int fd;

	if (valgrind_runs())
		return false;
	fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true;
	n = sys_read(fd, status, sizeof(status) - 1);
	sys_close(fd);
	status[n > 0 ? n : 0] = '\0';
	return !strstr(status, none);
}

/* In the probe: make the first two calls, and those from @first to @end. @at: set to the one being made */
static void probe(volatile uint32_t *at, unsigned int first, unsigned int end)
{
	for (unsigned int i = 0; i < end; i++) {
		const long *a = calls[i].arguments;

		if (sys_denied >> i & 1 || (i < first && i > SYS_PLACE_rt_sigprocmask))
			continue;
		*at = i;
		sys_raw(calls[i].number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	*at = end;
	sys_raw(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

/* Return: number of probes, whose ids are in @pids; -1: there cannot be any. */
static int probe_all(volatile uint32_t *at, unsigned int end, pid_t *pids)
{
	int nr = 0;

	while (nr < PROBES && *at < end) {
		unsigned int first = *at;
		long pid = sys_raw(SYS_clone, CLONE_VFORK, 0, 0, 0, 0, 0);

		if (!pid)
			probe(at, first, end);
		if (pid < 0)
			return -1;
		pids[nr++] = pid;
		if (*at < end)
			sys_denied |= 1ull << *at;
	}
	/* The others are not known: deny them. */
	if (*at < end)
		sys_denied |= ~0ull << *at;
	return nr;
}

bool sys_learn(bool all)
{
	unsigned int end = all ? SYS_PLACES : SYS_PLACE_perf_event_open;
	pid_t pids[PROBES];
	uint32_t *at;
	int nr;

	at = sys_mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	if (at == MAP_FAILED)
		return false;
	nr = probe_all(at, end, pids);
	for (int i = 0; i < nr && sys_may(wait4); i++)
		sys_waitpid(pids[i], NULL, __WCLONE);
	sys_munmap(at, sizeof(*at));
	if (!all)
		sys_denied |= 1ull << SYS_PLACE_perf_event_open;
	return nr >= 0;
}

const char *sys_denied_first(unsigned int *nr)
{
	uint64_t denied = sys_denied & ~(1ull << SYS_PLACE_perf_event_open);

	*nr = __builtin_popcountll(denied);
	return denied ? names[__builtin_ctzll(denied)] : NULL;
}
