// SPDX-License-Identifier: GPL-2.0-or-later
/* process.c - see process.h. */
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "process.h"

/* PF_KTHREAD of the kernel's include/linux/sched.h, in the flags of /proc/PID/stat. */
#define KERNEL_THREAD 0x00200000u

static FILE *open_proc(long pid, const char *file)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, file);
	return fopen(path, "re");
}

static void read_status(struct process *p)
{
	char line[512];
	FILE *f = open_proc(p->pid, "status");

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &p->state);
		sscanf(line, "Tgid: %ld", &p->tgid);
		sscanf(line, "TracerPid: %ld", &p->tracer);
		sscanf(line, "Uid: %u %u", &p->ruid, &p->euid);
	}
	if (f)
		fclose(f);
}

static bool is_of_kernel(long pid)
{
	char line[1024], *end;
	unsigned int flags = 0;
	FILE *f = open_proc(pid, "stat");

	if (f && fgets(line, sizeof(line), f) && (end = strrchr(line, ')')))
		sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags);
	if (f)
		fclose(f);
	return flags & KERNEL_THREAD;
}

/* Is the program other than 64-bit x86? If it cannot be read, no: the kernel will refuse it. */
static bool has_foreign_code(long pid)
{
	Elf64_Ehdr header;
	FILE *f = open_proc(pid, "exe");
	bool foreign;

	if (!f)
		return false;
	foreign = fread(&header, sizeof(header), 1, f) == 1 &&
		  (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64);
	fclose(f);
	return foreign;
}

void process_read(struct process *p, long pid)
{
	char path[64];
	struct stat st;

	*p = (struct process){.pid = pid};
	/* The directory itself keeps its owner. */
	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	if (stat(path, &st))
		return;
	p->owner = st.st_uid;
	read_status(p);
	p->kernel = is_of_kernel(pid);
	p->foreign_code = has_foreign_code(pid);
}

static void name_of(long pid, char *name, size_t size)
{
	FILE *f = open_proc(pid, "comm");

	*name = '\0';
	if (f && fgets(name, size, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

bool process_refuses(const struct process *p, char *why)
{
	char name[64];

	if (!p->tgid)
		snprintf(why, PROCESS_WHY, "is not there");
	else if (p->tgid != p->pid)
		snprintf(why, PROCESS_WHY, "is a thread of process %ld: elide stacks %ld", p->tgid,
			 p->tgid);
	else if (p->kernel)
		snprintf(why, PROCESS_WHY, "is a thread of the kernel");
	else if (p->state == 'Z' || p->state == 'X')
		snprintf(why, PROCESS_WHY,
			 "has ended and waits for its parent to notice (a zombie): it has no threads");
	else if (p->tracer && (name_of(p->tracer, name, sizeof(name)), true))
		snprintf(why, PROCESS_WHY,
			 "is traced already by process %ld (%s), and a process has one tracer at most",
			 p->tracer, name);
	else if (p->foreign_code)
		snprintf(why, PROCESS_WHY, "runs no 64-bit x86 program");
	else
		return false;
	return true;
}

/* Does this process see all users by their own numbers, as in the first user namespace? */
static bool sees_all_users(void)
{
	unsigned int inner, outer, nr;
	FILE *f = fopen("/proc/self/uid_map", "re");
	bool all;

	if (!f)
		return true;
	all = fscanf(f, "%u %u %u", &inner, &outer, &nr) == 3 && !inner && !outer && nr == UINT_MAX;
	fclose(f);
	return all;
}

static bool in_our_user_namespace(long pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/ns/user", pid);
	if (stat("/proc/self/ns/user", &ours))
		return true;
	/* The namespace of a process that may not be traced cannot be read. */
	if (stat(path, &theirs))
		return sees_all_users();
	return ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static int read_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = -1;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = -1;
	if (f)
		fclose(f);
	return scope;
}

/* A filter of system calls, as of many containers, may deny ptrace() itself. */
static bool may_trace_own_child(void)
{
	pid_t child = fork();
	bool may;

	if (child < 0)
		return true;
	if (!child) {
		pause();
		_exit(0);
	}
	may = !ptrace(PTRACE_SEIZE, child, 0, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	return may;
}

void denial_read(struct denial *d, const struct process *p)
{
	*d = (struct denial){
		.p = *p,
		.own_uid = geteuid(),
		.same_userns = in_our_user_namespace(p->pid),
		.scope = read_scope(),
		.own_child = may_trace_own_child(),
	};
}

static const char *scope_says(int scope)
{
	switch (scope) {
	case 1:
		return "only its parent may: run elide as root, or sysctl kernel.yama.ptrace_scope=0";
	case 2:
		return "only root may: run elide as root";
	default:
		return "nobody may until the next boot";
	}
}

static const char *user_name(uid_t uid, char *to, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(to, size, "%s", user->pw_name);
	else
		snprintf(to, size, "%u", uid);
	return to;
}

void denial_says(const struct denial *d, char *why)
{
	const struct process *p = &d->p;
	char user[64];

	if (!d->own_child)
		snprintf(why, PROCESS_WHY,
			 "cannot be stopped: ptrace(2) is denied here to all processes, by a filter of "
			 "system calls (a container: --cap-add=SYS_PTRACE)");
	else if (!d->same_userns)
		snprintf(why, PROCESS_WHY,
			 "is in another user namespace: run elide in that, or as root outside");
	else if (d->own_uid && p->ruid == d->own_uid && p->euid != p->ruid)
		snprintf(why, PROCESS_WHY,
			 "runs with the rights of user %s (setuid): run elide as root",
			 user_name(p->euid, user, sizeof(user)));
	else if (d->own_uid && p->euid != d->own_uid)
		snprintf(why, PROCESS_WHY, "belongs to user %s: run elide as that user or as root",
			 user_name(p->euid, user, sizeof(user)));
	else if (d->own_uid && p->owner != p->euid)
		snprintf(why, PROCESS_WHY,
			 "has or had more rights than its user (setuid, setgid, file capabilities, or "
			 "PR_SET_DUMPABLE): run elide as root");
	else if (d->scope > 0)
		snprintf(why, PROCESS_WHY,
			 "cannot be stopped: kernel.yama.ptrace_scope is %d, %s", d->scope,
			 scope_says(d->scope));
	else
		snprintf(why, PROCESS_WHY,
			 "cannot be stopped: the kernel denies it (a security module, or capabilities "
			 "that elide lacks)");
}

int process_threads(long pid, int **tids, size_t *nr)
{
	char path[64];
	struct dirent *entry;
	DIR *d;

	*tids = NULL;
	*nr = 0;
	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(d))) {
		int *more;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		more = reallocarray(*tids, *nr + 1, sizeof(*more));
		if (!more) {
			free(*tids);
			closedir(d);
			return -ENOMEM;
		}
		*tids = more;
		(*tids)[(*nr)++] = atoi(entry->d_name);
	}
	closedir(d);
	return *nr ? 0 : (free(*tids), -ESRCH);
}

int process_inner_tid(long pid, int tid)
{
	char file[64], line[512];
	int inner = tid;
	FILE *f;

	snprintf(file, sizeof(file), "task/%d/status", tid);
	f = open_proc(pid, file);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6)) /* outermost first */
			inner = atoi(strrchr(line, '\t') + 1);
	if (f)
		fclose(f);
	return inner;
}

long process_parent_with(long pid, int tid)
{
	char file[64], line[512];
	FILE *f = open_proc(pid, "status");
	long parent = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "PPid: %ld", &parent) == 1)
			break;
	if (f)
		fclose(f);
	snprintf(file, sizeof(file), "/proc/%ld/task/%d", parent, tid);
	return parent > 0 && !access(file, F_OK) ? parent : 0;
}

void process_thread_name(long pid, int tid, char *name, size_t size)
{
	char file[64];
	FILE *f;

	*name = '\0';
	snprintf(file, sizeof(file), "task/%d/comm", tid);
	f = open_proc(pid, file);
	if (f && fgets(name, size, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

bool process_has_own_root(long pid)
{
	struct stat ours, theirs;
	char path[64], root[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/root", pid);
	n = readlink(path, root, sizeof(root) - 1);
	if (n > 0 && !(n == 1 && *root == '/'))
		return true;
	snprintf(path, sizeof(path), "/proc/%ld/ns/mnt", pid);
	return !stat("/proc/self/ns/mnt", &ours) && !stat(path, &theirs) &&
	       ours.st_ino != theirs.st_ino;
}

bool process_waits_in_vfork(long pid)
{
	int *tids;
	size_t nr;
	bool waits = false;

	if (process_threads(pid, &tids, &nr))
		return false;
	for (size_t i = 0; i < nr && !waits; i++) {
		char file[64], line[128];
		long call = -1;
		FILE *f;

		snprintf(file, sizeof(file), "task/%d/syscall", tids[i]);
		f = open_proc(pid, file);
		if (f && fgets(line, sizeof(line), f) && sscanf(line, "%ld", &call) == 1)
			waits = call == SYS_vfork || call == SYS_clone || call == SYS_clone3;
		if (f)
			fclose(f);
	}
	free(tids);
	return waits;
}
