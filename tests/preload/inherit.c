/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inherit.c - run a program under a seccomp filter that is there before it starts.
 *
 * inherit ACTION LIST PROGRAM...: ACTION is kill, errno, trap or allow, done for each system call that LIST
 * does not allow. LIST: needs, what the C library needs to start a program, and threads in it; all, that
 * and the library's own; alone, needs without processes of their own (clone(2) without CLONE_THREAD
 * fails); but:NAME, every call but that one of the library's; nowait, all but wait4(2).
 * "inherit names" prints those of the library.
 */
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int needs[] = {
	SYS_execve, SYS_brk, SYS_arch_prctl, SYS_mmap, SYS_access, SYS_openat, SYS_read, SYS_pread64,
	SYS_newfstatat, SYS_close, SYS_mprotect, SYS_munmap, SYS_set_tid_address, SYS_set_robust_list,
	SYS_rseq, SYS_prlimit64, SYS_getrandom, SYS_futex, SYS_clone3, SYS_rt_sigprocmask,
	SYS_rt_sigaction, SYS_rt_sigreturn, SYS_madvise, SYS_write, SYS_exit, SYS_exit_group,
};

static const struct {
	const char *name;
	int number;
} library[] = {
#define ELIDE_SYSCALL(name, call, a, b, c, d, e, f) {#name, SYS_##call},
#include "../../lib/base/syscalls.def"
#undef ELIDE_SYSCALL
};

#define NR_NEEDS (sizeof(needs) / sizeof(*needs))
#define NR_LIBRARY (sizeof(library) / sizeof(*library))

static struct sock_filter code[256];
static unsigned int nr;

static void add(struct sock_filter f)
{
	code[nr++] = f;
}

static void load(size_t at)
{
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
}

static void end(unsigned int action)
{
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void if_number(int number, unsigned int action)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
	end(action);
}

/* glibc falls back to clone() where clone3(), whose flags no filter can see, is not there. */
static void clone_of_threads(unsigned int otherwise)
{
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
	load(offsetof(struct seccomp_data, args[0]));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
	end(otherwise);
	end(SECCOMP_RET_ALLOW);
}

/* The operations of futex(2) that are a place of their own in the library's list. */
static int operation(const char *name)
{
	static const struct {
		const char *name;
		int operation;
	} all[] = {
		{"futex_requeue", FUTEX_CMP_REQUEUE},
		{"futex_lock_pi2", 13},
		{"futex_lock_pi", FUTEX_LOCK_PI},
		{"futex_unlock_pi", FUTEX_UNLOCK_PI},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, name))
			return all[i].operation | FUTEX_PRIVATE_FLAG;
	return -1;
}

static int forbid_one(const char *name, unsigned int action)
{
	for (size_t i = 0; i < NR_LIBRARY; i++) {
		if (strcmp(library[i].name, name))
			continue;
		if (operation(name) < 0) {
			if_number(library[i].number, action);
		} else {
			add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 3));
			load(offsetof(struct seccomp_data, args[1]));
			if_number(operation(name), action);
		}
		end(SECCOMP_RET_ALLOW);
		return 0;
	}
	return -1;
}

static int make(const char *list, unsigned int action)
{
	int alone = !strcmp(list, "alone"), no_wait = !strcmp(list, "nowait");

	load(offsetof(struct seccomp_data, nr));
	if (!strncmp(list, "but:", 4))
		return forbid_one(list + 4, action);
	if (alone)
		if_number(SYS_clone3, SECCOMP_RET_ERRNO | 38);
	for (size_t i = 0; i < NR_NEEDS; i++)
		if_number(needs[i], SECCOMP_RET_ALLOW);
	if (!strcmp(list, "all") || no_wait)
		for (size_t i = 0; i < NR_LIBRARY; i++)
			if (!no_wait || library[i].number != SYS_wait4)
				if_number(library[i].number, SECCOMP_RET_ALLOW);
	if (alone)
		clone_of_threads(SECCOMP_RET_ERRNO | 1);
	else
		if_number(SYS_clone, SECCOMP_RET_ALLOW);
	end(action);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned int action;
	} actions[] = {
		{"kill", SECCOMP_RET_KILL_PROCESS}, {"errno", SECCOMP_RET_ERRNO | 1},
		{"trap", SECCOMP_RET_TRAP}, {"allow", SECCOMP_RET_ALLOW},
	};
	struct sock_fprog program = {.filter = code};
	unsigned int action = 0;

	if (argc == 2 && !strcmp(argv[1], "names")) {
		for (size_t i = 0; i < NR_LIBRARY; i++)
			puts(library[i].name);
		return 0;
	}
	if (argc < 4)
		return 2;
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].name, argv[1]))
			action = actions[i].action;
	if (!action || make(argv[2], action))
		return 2;
	/* Not for this program. */
	if (getenv("INHERIT_PRELOAD"))
		setenv("LD_PRELOAD", getenv("INHERIT_PRELOAD"), 1);
	program.len = nr;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 3;
	execv(argv[3], argv + 3);
	return 4;
}
