/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stderr.c - a lock call of a process to whose standard error nothing may be written.
 *
 * stderr HOW: the process starts anew with a standard error that is: gone, a pipe without reader; full,
 * a pipe that nobody empties; socket, one whose peer has gone; stopped, a terminal that ^S has stopped;
 * limit FILE, a file at RLIMIT_FSIZE. Or it makes it so when it runs: own FILE, a file of its own.
 * cancel: a thread with a pending cancellation locks, where fallocate(2) is not supported.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *end_cancelled(void *locked)
{
	pthread_cancel(pthread_self());
	pthread_mutex_lock(&m);
	*(int *)locked = 1;
	pthread_mutex_unlock(&m);
	pthread_testcancel();
	return NULL;
}

static int cancel(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, f};
	static int locked;
	pthread_t t;

	/* By the instruction itself: the library is to go on as if there were no filter. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 1;
	register long r10 __asm__("r10") = 0;
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(SYS_seccomp), "D"(1L), "S"(0L), "d"(&program),
			 "r"(r10) : "rcx", "r11", "memory");
	if (ret || pthread_create(&t, NULL, end_cancelled, &locked) || pthread_join(t, NULL))
		return 1;
	return locked ? 0 : 3;
}

static void fill(int fd)
{
	static const char bytes[4096];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	while (write(fd, bytes, 1) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

/* Return: 0 if descriptor 2 is that. */
static int make(const char *how, const char *file)
{
	struct rlimit limit = {4, 4};
	int pair[2], terminal;

	if (!strcmp(how, "gone") || !strcmp(how, "full")) {
		if (pipe(pair) || dup2(pair[1], 2) < 0)
			return 1;
		return *how == 'g' ? close(pair[0]) | close(pair[1]) : (fill(2), 0);
	}
	if (!strcmp(how, "socket"))
		return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || dup2(pair[1], 2) < 0 ||
		       close(pair[0]) || close(pair[1]);
	if (!strcmp(how, "stopped")) {
		terminal = posix_openpt(O_RDWR | O_NOCTTY);
		if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
			return 1;
		pair[1] = open(ptsname(terminal), O_RDWR | O_NOCTTY);
		return pair[1] < 0 || dup2(pair[1], 2) < 0 || tcflow(2, TCOOFF);
	}
	close(2);
	if (open(file, O_RDWR | O_CREAT | O_TRUNC, 0600) != 2)
		return 1;
	if (write(2, "own\n", 4) != 4)
		return 1;
	return !strcmp(how, "limit") ? setrlimit(RLIMIT_FSIZE, &limit) : 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "cancel"))
		return cancel();
	if (!strcmp(argv[1], "own")) {
		if (make(argv[1], argv[2]))
			return 2;
	} else if (strcmp(argv[1], "started")) {
		if (make(argv[1], argv[2]))
			return 2;
		execl("/proc/self/exe", argv[0], "started", NULL);
		return 2;
	}
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	/* Not puts(): standard output may be a file, and longer than the limit. */
	if (write(STDOUT_FILENO, "live", 4) < 4)
		return 3;
	return 0;
}
