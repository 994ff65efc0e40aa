// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kill-at.c - run a command, and kill it and its children at its Nth step: at the entry or the exit of a system
 * call by which it changes another process.
 *
 * kill-at N COMMAND...: exit code 0 if it was killed there; 1 if it had ended before. Must never kill a process
 * that the command has not started.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Processes of the command, at most. */
#define MOST 64

static pid_t processes[MOST];
static int nr;

static int is_step(pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return 0;
	return regs.orig_rax == SYS_ptrace || regs.orig_rax == SYS_pwrite64;
}

static void add(pid_t pid)
{
	for (int i = 0; i < nr; i++)
		if (processes[i] == pid)
			return;
	if (nr < MOST)
		processes[nr++] = pid;
}

static void kill_all(void)
{
	for (int i = nr; i--;)
		kill(processes[i], SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
}

int main(int argc, char **argv)
{
	long left = argc > 2 ? atol(argv[1]) : 0;
	pid_t first = fork(), pid;
	int status;

	if (!first) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	add(first);
	waitpid(first, &status, 0);
	ptrace(PTRACE_SETOPTIONS, first, 0,
	       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD |
		       PTRACE_O_EXITKILL);
	ptrace(PTRACE_SYSCALL, first, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int sig;

		if (!WIFSTOPPED(status)) {
			if (pid == first)
				return 1;
			continue;
		}
		add(pid);
		sig = WSTOPSIG(status);
		if (sig == (SIGTRAP | 0x80)) {
			if (is_step(pid) && !--left) {
				kill_all();
				return 0;
			}
			sig = 0;
		} else if (sig == SIGTRAP || sig == SIGSTOP) {
			sig = 0;
		}
		ptrace(PTRACE_SYSCALL, pid, 0, (long)sig);
	}
	return 1;
}
