// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach.c - see attach.h.
 *
 * The process opens the library by its path. Where that path means another file for the process, or the
 * user of the process may not read it, a copy is put into a folder of the process for that moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../lib/attach.h"
#include "../../lib/compiler.h"
#include "attach.h"
#include "live.h"
#include "process.h"
#include "symbols.h"

/* Folders of the process for a copy of the library. */
static const char *const folders[] = {"/tmp", "/dev/shm", "/var/tmp", "/run"};

/* The library in a process. @entry: its function; @state_at, @state: its state */
struct loaded {
	bool is_there;
	bool is_known;
	uint64_t entry;
	uint64_t state_at;
	struct elide_attach_state state;
};

static int refuse(char *why, int err, const char *text)
{
	snprintf(why, ATTACH_WHY, "%s", text);
	return err;
}

/* Reads a line of /proc/PID/status. Return: its value, -1 without it. */
static long status_number(long pid, const char *name)
{
	char path[64], line[256];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtol(line + strlen(name) + 1, NULL, 10);
	if (f)
		fclose(f);
	return value;
}

static bool status_has(long pid, const char *name, const char *word)
{
	char path[64], line[256];
	bool has = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		has |= !strncmp(line, name, strlen(name)) && strstr(line, word);
	if (f)
		fclose(f);
	return has;
}

/* Does a process have the memory of its parent, as the child of vfork(2) has? */
static bool shares_memory(long pid, long *parent)
{
	char a[64], b[64], line_a[512] = "", line_b[512] = "";
	bool same = true;
	size_t nr = 0;
	FILE *f, *g;

	*parent = status_number(pid, "PPid");
	snprintf(a, sizeof(a), "/proc/%ld/maps", pid);
	snprintf(b, sizeof(b), "/proc/%ld/maps", *parent);
	f = fopen(a, "re");
	g = *parent > 0 ? fopen(b, "re") : NULL;
	/* A fork has the same addresses, but its parent would not wait in vfork(). */
	while (f && g && same && fgets(line_a, sizeof(line_a), f) && ++nr)
		same = fgets(line_b, sizeof(line_b), g) && !strcmp(line_a, line_b);
	if (f)
		fclose(f);
	if (!g)
		return false;
	fclose(g);
	return same && nr && process_waits_in_vfork(*parent);
}

/* Reasons that /proc tells. */
static int check(long pid, struct process *p, char *why)
{
	long parent;

	process_read(p, pid);
	if (process_refuses(p, why))
		return -EINVAL;
	if (p->state == 'T')
		return refuse(why, -EINVAL, "is stopped: kill -CONT lets it go on, and then elide can attach to it");
	if (status_number(pid, "Seccomp") > 0)
		return refuse(why, -EINVAL,
			      "has a seccomp filter, which may kill it for a system call of the library: "
			      "start it under elide run, which learns what the filter allows");
	if (status_has(pid, "x86_Thread_features:", "shstk"))
		return refuse(why, -EINVAL, "uses a shadow stack, on which no thread can be sent elsewhere");
	if (shares_memory(pid, &parent)) {
		snprintf(why, ATTACH_WHY, "has the memory of its parent, process %ld, until it executes a program",
			 parent);
		return -EINVAL;
	}
	return 0;
}

static bool read_state(struct injector *i, struct loaded *l)
{
	memory_forget(i->memory);
	return memory_read(i->memory, l->state_at, &l->state, sizeof(l->state));
}

/* Find the library in the process. */
static void find_loaded(struct injector *i, struct loaded *l)
{
	*l = (struct loaded){0};
	for (size_t n = 0; n < i->objects.nr; n++) {
		const char *path = i->objects.modules[n].path;
		const struct symbols *s = &i->symbols[n];
		uint64_t size = 0;

		if (!strstr(path, "/libelide") && !strstr(path, "/.libelide"))
			continue;
		/* A library for locks that are not pthread's wraps none. */
		if (!symbols_find(s, "pthread_mutex_lock", NULL))
			continue;
		l->is_there = true;
		l->state_at = symbols_find(s, ELIDE_ATTACH_STATE, &size);
		l->entry = symbols_find(s, ELIDE_ATTACH_CALL, NULL);
		l->is_known = l->state_at && l->entry && size == sizeof(l->state) && read_state(i, l) &&
			      l->state.version == ELIDE_ATTACH_VERSION;
		return;
	}
}

/* Is the file at @path the same for the process? */
static bool is_visible(long pid, const char *path)
{
	char theirs[PATH_MAX + 64];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%ld/root%s", pid, path);
	return !stat(path, &a) && !stat(theirs, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int copy_to(int in, const char *to)
{
	char buffer[1 << 16];
	ssize_t n;
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755), err = 0;

	if (out < 0)
		return -errno;
	while (!err && (n = read(in, buffer, sizeof(buffer))) > 0)
		err = write(out, buffer, (size_t)n) == n ? 0 : -EIO;
	if (!err && n < 0)
		err = -errno;
	/* The user of the process has to read it, whatever our umask is. */
	if (!err && fchmod(out, 0755))
		err = -errno;
	close(out);
	if (err)
		unlink(to);
	return err;
}

/*
 * Copy the library into folder number @nr of the process. @here: set to its path for this process, and
 * @there for that one. Return: 0 or -errno.
 */
static int copy_library(long pid, const char *library, size_t nr, char here[PATH_MAX], char there[PATH_MAX])
{
	int in = open(library, O_RDONLY | O_CLOEXEC), err;

	if (in < 0)
		return -errno;
	snprintf(there, PATH_MAX, "%s/.libelide-preload-%ld-%ld.so", folders[nr], pid, (long)getpid());
	snprintf(here, PATH_MAX, "/proc/%ld/root%s/.libelide-preload-%ld-%ld.so", pid, folders[nr], pid,
		 (long)getpid());
	err = copy_to(in, here);
	close(in);
	return err;
}

static int run_call(struct injector *i, struct inject_call *call, struct attach_result *result, char *why)
{
	int err = inject_run(i, call, why);

	result->stop_ns = call->stop_ns;
	result->tid = call->tid;
	return err;
}

/* The process loads the library by its path, or else from a copy. */
static int load_and_call(struct injector *i, struct inject_call *call, const struct attach_request *request,
			 struct attach_result *result, char *why)
{
	char here[PATH_MAX], there[PATH_MAX], first[INJECT_WHY] = "";
	int err = -ENOENT;

	if (is_visible(i->pid, request->object)) {
		call->path = request->object;
		err = run_call(i, call, result, why);
		if (err != -ENOENT)
			return err;
		snprintf(first, sizeof(first), "%s", why);
	}
	for (size_t n = 0; n < ARRAY_SIZE(folders) && err == -ENOENT; n++) {
		int cannot = copy_library(i->pid, request->object, n, here, there);

		if (cannot) {
			if (!*first)
				snprintf(first, sizeof(first), "%s: %s", folders[n], strerror(-cannot));
			continue;
		}
		call->path = there;
		err = run_call(i, call, result, why);
		if (err == -ENOENT)
			snprintf(first, sizeof(first), "%s", why);
		/* It stays mapped. */
		unlink(here);
	}
	if (err == -ENOENT)
		snprintf(why, ATTACH_WHY, "cannot load the library: %s", first);
	return err;
}

static void describe(long pid, struct attach_result *result)
{
	int *tids;

	process_thread_name(pid, (int)pid, result->name, sizeof(result->name));
	if (!process_threads(pid, &tids, &result->nr_threads))
		free(tids);
	if (process_has_own_root(pid))
		snprintf(result->root, sizeof(result->root), "/proc/%ld/root", pid);
}

/* The library's answer to a command. */
static int explain_answer(const struct process *p, const struct elide_attach_state *s, const char *output,
			  char *why)
{
	if (!s->err)
		return 0;
	if (s->err == ENOTSUP)
		snprintf(why, ATTACH_WHY, "cannot elide: %s", s->why);
	else if (s->err == EALREADY)
		snprintf(why, ATTACH_WHY, "is attached to, or detached, by another elide at this moment");
	else
		snprintf(why, ATTACH_WHY, "cannot write %s with the rights of user %u: %s%s; name a file with -o",
			 output, p->euid, *s->why ? s->why : "", *s->why ? "" : strerror(s->err));
	return -s->err;
}

static int refuse_loaded(const struct loaded *l, long pid, char *why)
{
	static struct target target;

	if (!l->is_known)
		return refuse(why, -EINVAL, "has loaded the library of another release of elide");
	if (l->state.attached == ELIDE_ATTACHED_NOW) {
		snprintf(why, ATTACH_WHY, "is attached to already: elide top %ld shows it, elide detach %ld ends it",
			 pid, pid);
		return -EINVAL;
	}
	if (!live_find(pid, &target)) {
		snprintf(why, ATTACH_WHY, "was started under elide, and is profiled already: elide report -i '%s', "
			 "or elide top %ld", target.name, pid);
		live_close(&target);
	} else {
		snprintf(why, ATTACH_WHY, "was started under elide: it %s", live_missing(pid, -ENOENT));
	}
	return -EINVAL;
}

int attach_begin(long pid, const struct attach_request *request, struct attach_result *result, char *why)
{
	char *settings = malloc(request->settings_size + PATH_MAX + 32);
	const char *output = request->output ? request->output : "/tmp/elide.data";
	struct inject_call call = {.command = ELIDE_ATTACH, .path = "", .name = ELIDE_ATTACH_CALL};
	struct injector i = {0};
	struct process p;
	struct loaded l;
	uint32_t before;
	int err;

	*result = (struct attach_result){0};
	if (!settings)
		return refuse(why, -ENOMEM, "cannot be attached to: no memory");
	memcpy(settings, request->settings, request->settings_size);
	call.settings = settings;
	call.settings_size = request->settings_size +
			     (size_t)snprintf(settings + request->settings_size, PATH_MAX + 31,
					      "ELIDE_OUTPUT=%s", output) + 2;
	settings[call.settings_size - 1] = '\0';
	err = check(pid, &p, why);
	if (!err)
		err = inject_open(&i, pid, why);
	if (err)
		goto close;
	find_loaded(&i, &l);
	if (l.is_there && (!l.is_known || l.state.attached != ELIDE_ATTACHED_NOT)) {
		err = refuse_loaded(&l, pid, why);
		goto close;
	}
	describe(pid, result);
	before = l.is_there ? l.state.nr_done : 0;
	call.entry = l.entry;
	err = l.is_there ? run_call(&i, &call, result, why) : load_and_call(&i, &call, request, result, why);
	if (err)
		goto close;
	if (!l.is_there) {
		inject_close(&i);
		err = inject_open(&i, pid, why);
		if (err)
			goto close;
		find_loaded(&i, &l);
	} else {
		read_state(&i, &l);
	}
	if (!l.is_known)
		err = refuse(why, -EINVAL, "has loaded another library instead of elide's");
	else if (l.state.nr_done == before)
		err = refuse(why, -EALREADY, "is attached to, or detached, by another elide at this moment");
	else
		err = explain_answer(&p, &l.state, output, why);
	if (!err)
		snprintf(result->path, sizeof(result->path), "%s", l.state.path);
close:
	inject_close(&i);
	free(settings);
	return err;
}

int attach_end(long pid, struct attach_result *result, char *why)
{
	struct inject_call call = {
		.command = ELIDE_DETACH, .path = "", .name = "", .settings = "", .settings_size = 1};
	struct injector i = {0};
	struct process p;
	struct loaded l;
	int err;

	*result = (struct attach_result){0};
	process_read(&p, pid);
	if (process_refuses(&p, why))
		return -EINVAL;
	if (p.state == 'T')
		return refuse(why, -EINVAL, "is stopped: kill -CONT lets it go on, and then elide can detach from it");
	err = inject_open(&i, pid, why);
	if (err)
		goto close;
	find_loaded(&i, &l);
	if (!l.is_there || (l.is_known && l.state.attached == ELIDE_ATTACHED_NOT)) {
		err = refuse(why, -EINVAL, "is not attached to");
	} else if (!l.is_known || l.state.attached == ELIDE_ATTACHED_FROM_START) {
		err = refuse(why, -EINVAL, l.is_known ? "was started under elide: it is profiled to its end" :
							"has loaded the library of another release of elide");
	} else {
		describe(pid, result);
		call.entry = l.entry;
		err = run_call(&i, &call, result, why);
		read_state(&i, &l);
		if (!err)
			err = explain_answer(&p, &l.state, "", why);
		if (!err)
			snprintf(result->path, sizeof(result->path), "%s", l.state.path);
	}
close:
	inject_close(&i);
	return err;
}
