/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.c - which system calls does a library make itself?
 *
 * record LIBRARY COMMAND...: traces COMMAND, whose output is lost, with its threads and children, and
 * prints the name in lib/base/syscalls.def of each call whose instruction lies in LIBRARY, once;
 * "number N" if it has none there. A wait or wake of futex(2) is left out, and what a child of
 * CLONE_VFORK does, which is the library's probe of a filter. Exits with 77 if it may not trace.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned int number;
} listed[] = {
#define ELIDE_SYSCALL(name, call, a, b, c, d, e, f) {#name, SYS_##call},
#include "../../lib/base/syscalls.def"
#undef ELIDE_SYSCALL
};

#define NR_LISTED (sizeof(listed) / sizeof(*listed))
#define NUMBERS 512

static char seen[NR_LISTED], unlisted[NUMBERS];

/* Where the library's instructions are, in a process with this id or its copy. */
static struct {
	pid_t pid;
	uint64_t start, end;
} known[64];
static unsigned int nr_known;

static pid_t probes[64];
static unsigned int nr_probes;

static int is_inside(pid_t pid, const char *library, uint64_t ip)
{
	char name[64], line[512];
	uint64_t start, end;
	int inside = 0;
	FILE *maps;

	for (unsigned int i = 0; i < nr_known; i++)
		if (known[i].pid == pid)
			return ip >= known[i].start && ip < known[i].end;
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return 0;
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, library) && strstr(line, " r-xp ") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2) {
			inside = ip >= start && ip < end;
			if (nr_known < sizeof(known) / sizeof(*known)) {
				known[nr_known].pid = pid;
				known[nr_known].start = start;
				known[nr_known++].end = end;
			}
		}
	fclose(maps);
	return inside;
}

static void forget(pid_t pid)
{
	for (unsigned int i = 0; i < nr_known; i++)
		if (known[i].pid == pid)
			known[i--] = known[--nr_known];
}

static const char *futex_name(uint64_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_CMP_REQUEUE:
		return "futex_requeue";
	case 13:
		return "futex_lock_pi2";
	case FUTEX_LOCK_PI:
		return "futex_lock_pi";
	case FUTEX_UNLOCK_PI:
		return "futex_unlock_pi";
	default:
		return NULL;
	}
}

static void note(uint64_t number, const char *name)
{
	for (size_t i = 0; i < NR_LISTED; i++)
		if (name ? !strcmp(listed[i].name, name) : listed[i].number == number) {
			seen[i] = 1;
			return;
		}
	if (number < NUMBERS)
		unlisted[number] = 1;
}

static void look(pid_t pid, const char *library)
{
	struct __ptrace_syscall_info info;
	const char *name = NULL;

	for (unsigned int i = 0; i < nr_probes; i++)
		if (probes[i] == pid)
			return;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	if (info.entry.nr == SYS_futex) {
		name = futex_name(info.entry.args[1]);
		if (!name)
			return;
	}
	if (is_inside(pid, library, info.instruction_pointer))
		note(info.entry.nr, name);
}

/* The child may have made a call already, if its stop came first: one that the library makes anyway. */
static void note_probe(pid_t pid)
{
	unsigned long child;

	if (!ptrace(PTRACE_GETEVENTMSG, pid, 0, &child) && nr_probes < sizeof(probes) / sizeof(*probes))
		probes[nr_probes++] = child;
}

static void trace(const char *library)
{
	int status, signal;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		signal = 0;
		if (!WIFSTOPPED(status)) {
			forget(pid);
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			look(pid, library);
		else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			forget(pid);
		else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_VFORK << 8))
			note_probe(pid);
		else if (!(status >> 16) && WSTOPSIG(status) != SIGSTOP)
			signal = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, pid, 0, signal);
	}
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(77);
		raise(SIGSTOP);
		if (!freopen("/dev/null", "w", stdout))
			_exit(2);
		execvp(argv[2], argv + 2);
		_exit(2);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 2;
	if (!WIFSTOPPED(status))
		return WEXITSTATUS(status);
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
		   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		return 77;
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	trace(argv[1]);
	for (size_t i = 0; i < NR_LISTED; i++)
		if (seen[i])
			puts(listed[i].name);
	for (int i = 0; i < NUMBERS; i++)
		if (unlisted[i])
			printf("number %d\n", i);
	return 0;
}
