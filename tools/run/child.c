// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * child.c - run a program, and find the data files that it wrote.
 *
 * Must never change how the program behaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "../base/data-open.h"
#include "child.h"

/* Signals by which users stop or control a program, and which would end this process. */
static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Seconds after a signal until a bound program is killed. */
#define GRACE_S 1

/*
 * What is needed to start a program, besides struct child.
 * @preload: its variable LD_PRELOAD; NULL: as in this process
 */
struct start {
	const char *path;
	char **argv;
	char **environment;
	char *preload;
	struct sigaction chld;
	sigset_t signals;
};

/* Makes the environment of the program. Return: 0 or -ENOMEM. */
static int make_environment(struct start *s, const char *preload)
{
	static const char name[] = "LD_PRELOAD=";
	size_t nr = 0, at = 0;

	while (environ[nr])
		nr++;
	s->environment = calloc(nr + 2, sizeof(*s->environment));
	if (!s->environment)
		return -ENOMEM;
	memcpy(s->environment, environ, nr * sizeof(*environ));
	if (!preload)
		return 0;
	if (asprintf(&s->preload, "%s%s", name, preload) < 0) {
		s->preload = NULL;
		return -ENOMEM;
	}
	while (at < nr && strncmp(environ[at], name, strlen(name)))
		at++;
	s->environment[at] = s->preload;
	return 0;
}

/* Executes the file in the child, which shares the memory of this process. Return: an error. */
static int execute(const struct child *c, const struct start *s)
{
	sigaction(SIGCHLD, &s->chld, NULL);
	sigprocmask(SIG_SETMASK, &s->signals, NULL);
	if (c->in > STDERR_FILENO && dup2(c->in, STDIN_FILENO) < 0)
		return errno;
	if (c->out > STDERR_FILENO && dup2(c->out, STDOUT_FILENO) < 0)
		return errno;
	if (c->bound)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (c->traced)
		prctl(PR_SET_PTRACER, getppid());
	execve(s->path, s->argv, s->environment);
	return errno;
}

/*
 * Starts the program by vfork(2): copying the memory of this process first would take as long
 * as the program true does. Return: 0 or -errno.
 */
static int spawn(struct child *c, const struct start *s)
{
	volatile int error = 0;
	pid_t pid = vfork();

	if (!pid) {
		error = execute(c, s);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	c->pid = pid;
	if (error)
		waitpid(pid, NULL, 0);
	return -error;
}

/* As spawn(), but has the shell run a file without #!, as execvp(3) does. */
static int spawn_or_script(struct child *c, struct start *s)
{
	int rc = spawn(c, s);
	char **shell;
	size_t nr = 0;

	if (rc != -ENOEXEC)
		return rc;
	while (s->argv[nr])
		nr++;
	shell = calloc(nr + 2, sizeof(*shell));
	if (!shell)
		return -ENOMEM;
	shell[0] = "sh";
	shell[1] = (char *)s->path;
	if (nr > 1)
		memcpy(&shell[2], &s->argv[1], (nr - 1) * sizeof(*shell));
	s->path = "/bin/sh";
	s->argv = shell;
	rc = spawn(c, s);
	free(shell);
	return rc;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

/* Has the child ended? */
static bool has_ended(struct child *c)
{
	struct rusage usage = {0};
	siginfo_t info = {0};
	uint64_t children = 0;
	pid_t ended;

	/* While it is a zombie, /proc has its numbers. */
	if (c->account && !waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid == c->pid)
		children = account_children(c->account);
	ended = wait4(c->pid, &c->status, WNOHANG, &usage);
	if (ended != c->pid && (ended >= 0 || errno == EINTR))
		return false;
	c->cpu_ns = timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	if (c->account)
		account_end(c->account, c->cpu_ns > children ? c->cpu_ns - children : 0);
	return true;
}

/* Time left until @then, 0 if it has passed. */
static const struct timespec *time_to(uint64_t then, struct timespec *left)
{
	uint64_t now = now_ns(), ns = then > now ? then - now : 0;

	*left = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	return left;
}

/* Waits for the child's end; signals arrive here because they are blocked. */
static void wait_for(struct child *c, const sigset_t *set)
{
	static const struct timespec grace = {.tv_sec = GRACE_S};
	uint64_t next = c->tick ? now_ns() + c->tick_ms * 1000000 : UINT64_MAX;
	struct timespec left;
	siginfo_t info;

	for (;;) {
		uint64_t sample = c->account ? c->account->next_ns : UINT64_MAX;
		uint64_t first = next < sample ? next : sample;
		bool impatient = c->bound && c->signal;
		int sig = sigtimedwait(set, &info, impatient		? &grace :
						   first == UINT64_MAX ? NULL : time_to(first, &left));

		if (sig < 0 && errno == EAGAIN && !impatient && first == sample) {
			account_sample(c->account);
		} else if (sig < 0 && errno == EAGAIN && !impatient) {
			c->tick(c->arg, c->pid);
			next = now_ns() + c->tick_ms * 1000000;
		} else if (sig < 0 && errno == EAGAIN) {
			kill(c->pid, SIGKILL);
		} else if (sig == SIGCHLD) {
			if (has_ended(c))
				return;
		} else if (sig > 0) {
			if (sig != SIGUSR1 && sig != SIGUSR2)
				c->signal = sig;
			/* Sent by a process. A signal of the terminal, with si_code > 0, reaches both. */
			if (info.si_code <= 0)
				kill(c->pid, sig);
		}
	}
}

int child_measure(struct child *c)
{
	struct sigaction default_action = {.sa_handler = SIG_DFL};
	struct start s = {.path = c->path, .argv = c->argv};
	int rc = make_environment(&s, c->preload);
	sigset_t set;
	uint64_t start;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(handed_on); i++)
		sigaddset(&set, handed_on[i]);
	/* An ignored SIGCHLD would have the kernel reap the child. */
	sigaction(SIGCHLD, &default_action, &s.chld);
	sigprocmask(SIG_BLOCK, &set, &s.signals);
	fflush(NULL);
	c->signal = 0;
	start = now_ns();
	if (!rc)
		rc = spawn_or_script(c, &s);
	if (!rc && c->account)
		account_begin(c->account, c->pid);
	if (!rc) {
		wait_for(c, &set);
		c->elapsed_ns = now_ns() - start;
	}
	sigprocmask(SIG_SETMASK, &s.signals, NULL);
	sigaction(SIGCHLD, &s.chld, NULL);
	free(s.environment);
	free(s.preload);
	return rc;
}

/* Notes about the files that are found. */
struct notes {
	struct child_files *files;
	pid_t pid;
	char own[PATH_MAX]; /* path of the program's own file; empty: not found */
};

static void note(void *arg, const char *path, const struct elide_header *h)
{
	struct notes *n = arg;
	uint64_t lost = h->dropped[ELIDE_DROPPED_PROCESSES];

	if (!*n->own && h->pid == (uint32_t)n->pid)
		snprintf(n->own, sizeof(n->own), "%s", path);
	if (!lost)
		return;
	n->files->nr_lost += lost;
	n->files->lost_error = h->lost_error;
}

/* Moves the program's own file to the front; without one, the shortest name remains there. */
static void own_file_first(struct paths *p, const char *own)
{
	for (size_t i = 0; i < p->nr; i++) {
		char *path = p->path[i];

		if (strcmp(path, own))
			continue;
		memmove(p->path + 1, p->path, i * sizeof(*p->path));
		p->path[0] = path;
		return;
	}
}

int find_files(struct child_files *f, const char *output, uint64_t run, pid_t pid)
{
	struct notes notes = {.files = f, .pid = pid};
	char stem[PATH_MAX];
	int rc;

	snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(output, "%"), output);
	f->folder.found = note;
	f->folder.arg = &notes;
	rc = run_files_in(&f->folder, &f->paths, stem, run, NULL);
	f->folder.found = NULL;
	own_file_first(&f->paths, notes.own);
	return rc;
}

void find_files_free(struct child_files *f)
{
	paths_free(&f->paths);
	run_folder_free(&f->folder);
}

#define WRITE_MEMBER(fd, h, member) \
	(pwrite(fd, &(h)->member, sizeof((h)->member), offsetof(struct elide_header, member)) >= 0)

void end_data_file(const char *path, pid_t pid, int status, const struct account *account)
{
	struct elide_header h;
	struct stat st;
	uint64_t started;
	int fd = data_open(path, O_RDWR | O_NOFOLLOW);

	if (fd < 0)
		return;
	/* Writes to the file that was checked, as another one may have its name by now. */
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.magic != ELIDE_DATA_MAGIC ||
	    h.version != ELIDE_DATA_VERSION)
		goto close_fd;
	started = data_started(h.pid);
	if (started && started == h.pid_start)
		goto close_fd;
	if (h.pid == (uint32_t)pid)
		h.exit_status = status;
	/* A process that was killed has not noted the time of its end, which is now or earlier. */
	if (h.state == ELIDE_FILE_LIVE && h.rtm != ELIDE_RTM_EMULATED) {
		h.end_cycles = cycles_now();
		h.end_ns = now_ns();
	}
	if (!WRITE_MEMBER(fd, &h, exit_status) || !WRITE_MEMBER(fd, &h, end_ns) ||
	    !WRITE_MEMBER(fd, &h, end_cycles) || !account_write(account, fd, &h) ||
	    !account_write_threads(account, fd, &h))
		perror("elide: data file");
	if (!fstat(fd, &st) && h.size >= ELIDE_HEADER_SIZE && h.size < (uint64_t)st.st_size &&
	    ftruncate(fd, (off_t)h.size))
		perror("elide: data file");
close_fd:
	close(fd);
}
