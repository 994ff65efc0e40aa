/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* datafile-name.c - see datafile-name.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../live-name.h"
#include "datafile-name.h"
#include "datafile-older.h"
#include "first.h"
#include "log.h"
#include "syscalls.h"
#include "text.h"

/* Processes with one number, in pid namespaces of their own, that may share a directory. */
#define MAX_SAME_PID 1000

struct elide_data_name elide_data_name;

uint64_t elide_start_time(pid_t pid)
{
	char path[48] = "/proc/self/stat", text[1024], *p;
	ssize_t n;
	int fd;

	if (pid)
		elide_text(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name may hold anything, blanks too */
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

void elide_data_program(char *exe, size_t size)
{
	ssize_t n = sys_readlink("/proc/self/exe", exe, size - 1);

	exe[n > 0 ? n : 0] = '\0';
}

void elide_data_name_expand(char *name, size_t size, const char *pattern, const char *exe)
{
	const char *base = strrchr(exe, '/');
	size_t n = 0;

	base = base ? base + 1 : exe;
	for (; *pattern && n + 1 < size; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p')
			n += elide_text(name + n, size - n, "%d", (int)sys_getpid());
		else if (pattern[0] == '%' && pattern[1] == 'e')
			n += elide_text(name + n, size - n, "%s", base);
		else {
			name[n++] = *pattern;
			continue;
		}
		pattern++;
	}
	name[n < size ? n : size - 1] = '\0';
}

/*
 * A name that no other process of the pid namespace uses: NAME.PID. If a process of another namespace,
 * or an ended one of the same run, has that name: NAME.PID.2 and so on.
 */
static void own_name(char *to, const char *name, unsigned int nr)
{
	char number[16] = "";

	if (nr > 1)
		elide_text(number, sizeof(number), ".%u", nr);
	if (elide_text(to, ELIDE_NAME_ROOM, "%s.%d%s", name, (int)sys_getpid(), number) >= ELIDE_NAME_ROOM)
		*to = '\0'; /* no file has this name */
}

/* When the process of a data file ended, or was last known to run; CLOCK_REALTIME in ns. */
static uint64_t end_of(const struct elide_header *h)
{
	return h->start_realtime_ns + (h->end_ns > h->start_ns ? h->end_ns - h->start_ns : 0);
}

static bool has_counted(const struct elide_header *h)
{
	return h->nr_threads || h->size > ELIDE_HEADER_SIZE;
}

/*
 * How a process takes a name. @live: name of the file while the process runs; @own: the name has the
 * number of the process, so that data files of other runs make room for it
 */
struct wish {
	const char *name;
	uint64_t run;
	enum elide_data_who who;
	bool own;
	char live[ELIDE_NAME_ROOM];
};

/*
 * Is it the file of a process of this run? Without the launcher, of a process that started after the
 * one from which this one descends by forks.
 */
static bool is_of_this_run(const struct wish *w, const struct elide_header *h)
{
	if (w->run || h->run)
		return w->run == h->run;
	return elide_data_name.began && h->start_realtime_ns >= elide_data_name.began;
}

/*
 * May the data file of an ended process, with the header elide_older_header, make room? 0 or -EBUSY.
 * A file of this run stays. Under the launcher all others make room. Else the file of a process with
 * lock calls stays if this process has none, such as the command that stops a service, or if it began
 * before that one had ended.
 */
static int may_displace(const struct wish *w)
{
	const struct elide_header *h = &elide_older_header;

	if (w->own)
		return is_of_this_run(w, h) ? -EBUSY : 0;
	if (w->run && h->run == w->run)
		return -EBUSY;
	if (w->run || !has_counted(h))
		return 0;
	if (w->who == ELIDE_DATA_EXIT)
		return -EBUSY;
	/* The clock of an emulated machine is its own. */
	return elide_data_name.began && h->rtm != ELIDE_RTM_EMULATED &&
	       elide_data_name.began < end_of(h) ? -EBUSY : 0;
}

/*
 * Is the name free, or can it be made so? 0; -EBUSY: in use; -EEXIST: not a data file; -errno.
 * *@older: set to what file has the name
 */
static int final_is_free(const struct wish *w, enum elide_older *older)
{
	*older = elide_older(w->name);
	switch (*older) {
	case ELIDE_OLDER_NONE:
	case ELIDE_OLDER_EMPTY:
		return 0;
	case ELIDE_OLDER_FOREIGN:
	case ELIDE_OLDER_UNFINISHED:
		return -EEXIST;
	case ELIDE_OLDER_UNREADABLE:
		return -errno;
	case ELIDE_OLDER_DONE:
	case ELIDE_OLDER_ENDING:
		return may_displace(w);
	case ELIDE_OLDER_SELF:
		return w->own ? 0 : -EBUSY;
	default:
		return -EBUSY;
	}
}

/*
 * Is the name free that the file is to have while its process runs? A file that an ended process has left
 * there gets its final name first.
 */
static int live_is_free(const struct wish *w)
{
	switch (elide_older(w->live)) {
	case ELIDE_OLDER_NONE:
		return 0;
	case ELIDE_OLDER_FOREIGN:
		return -EEXIST;
	case ELIDE_OLDER_UNREADABLE:
		return errno == ENAMETOOLONG ? 0 : -errno;
	case ELIDE_OLDER_EMPTY:
	case ELIDE_OLDER_UNFINISHED:
		return elide_older_abandoned(w->live);
	case ELIDE_OLDER_DONE:
	case ELIDE_OLDER_SELF:
		return elide_older_finish(w->live, w->name);
	default:
		return -EBUSY;
	}
}

/* Create the file under its final name, which is too long for .NAME.live. */
static int take_long(const struct wish *w, const char **use)
{
	int fd = elide_older_create(w->name), err;

	*use = w->name;
	if (fd != -EEXIST)
		return fd;
	err = elide_older_move(use, elide_older(w->name));
	return err ? err : elide_older_create(w->name);
}

/*
 * Take a name, and move what is in the way. Return: a descriptor; -EBUSY if a process uses the name;
 * -EEXIST if *@use is not a data file; -errno. *@use is set to the name of the file, or of the one in
 * the way.
 */
static int take(struct wish *w, const char **use)
{
	enum elide_older older;
	int fd, err = 0;

	*use = w->live;
	if (elide_live_name(w->live, sizeof(w->live), w->name))
		err = live_is_free(w);
	if (err)
		return err;
	*use = w->name;
	err = final_is_free(w, &older);
	if (err)
		return err;
	fd = elide_older_create(w->live);
	if (fd == -ENAMETOOLONG)
		return take_long(w, use);
	if (fd < 0)
		return fd == -EEXIST ? -EBUSY : fd;
	/* Another process may have ended since, and its file may have got the name. */
	err = final_is_free(w, &older);
	if (!err)
		err = elide_older_move(use, older);
	if (!err) {
		*use = w->live;
		return fd;
	}
	sys_unlink(w->live);
	sys_close(fd);
	return err;
}

/* Take the first name of own_name() that is free or can be freed. Return: as take(). */
static int take_own(struct wish *w, const char **use)
{
	/* Static: this may run on a small thread stack. Callers are serialised. */
	static char own[ELIDE_NAME_ROOM];
	const char *name = w->name;
	int ret = -EBUSY;

	w->own = true;
	w->name = own;
	for (unsigned int nr = 1; nr <= MAX_SAME_PID && ret == -EBUSY; nr++) {
		own_name(own, name, nr);
		ret = take(w, use);
	}
	return ret;
}

/*
 * Find the path of the file, which stays right whatever the program does to its directory and to symbolic
 * links. A process that ends now does not need that. Return: 0, or -1 and errno.
 */
static int find_path(const char *use, enum elide_data_who who)
{
	if (who != ELIDE_DATA_EXIT || *use != '/')
		return sys_realpath(use, elide_data_name.path, sizeof(elide_data_name.path));
	elide_text(elide_data_name.path, sizeof(elide_data_name.path), "%s", use);
	return 0;
}

/* Fill elide_data_name from the names that the file has and is to have. Return: 0 or -errno. */
static int note(int fd, const char *use, enum elide_data_who who)
{
	struct stat st;

	if (sys_fstat(fd, &st) || find_path(use, who))
		return -errno;
	elide_data_name.dev = st.st_dev;
	elide_data_name.ino = st.st_ino;
	strcpy(elide_data_name.final, elide_data_name.path);
	elide_final_name(elide_data_name.final);
	return 0;
}

int elide_data_name_open(const char *name, uint64_t run, enum elide_data_who who)
{
	static struct wish w;
	const char *use = name;
	int fd = -EBUSY, err;

	w.name = name;
	w.run = run;
	w.who = who;
	w.own = false;
	if (who != ELIDE_DATA_CHILD)
		fd = take(&w, &use);
	if (fd == -EBUSY && who != ELIDE_DATA_CHILD && who != ELIDE_DATA_FIRST)
		return -EEXIST;
	/* A file of another user may have the name; then another name will do. */
	if (fd == -EBUSY || (fd < 0 && fd != -EEXIST && who == ELIDE_DATA_FIRST))
		fd = take_own(&w, &use);
	elide_data_name.own = w.own;
	err = fd < 0 ? fd : note(fd, use, who);
	if (!err)
		return fd;
	if (fd >= 0) {
		sys_unlink(use);
		sys_close(fd);
	}
	/* Forked children are counted: elide_data_tell_lost() writes their number. */
	if (who == ELIDE_DATA_CHILD || !elide_is_first(run, name))
		return err == -EEXIST ? -EPERM : err;
	if (err == -EEXIST)
		elide_log("%s exists and is not a data file: left alone, nothing is saved", use);
	else
		elide_log("cannot write %s: %s; nothing is saved", name, elide_text_error(-err));
	return err == -EEXIST ? -EPERM : err;
}

/* Is the file still found by its name? */
static bool is_there(void)
{
	struct stat st;

	return !sys_lstat(elide_data_name.path, &st) && st.st_dev == elide_data_name.dev &&
	       st.st_ino == elide_data_name.ino;
}

void elide_data_name_finish(void)
{
	static char own[ELIDE_NAME_ROOM];
	const char *to = elide_data_name.final;
	int err;

	if (!strcmp(elide_data_name.path, to) || !is_there())
		return;
	err = elide_older_rename(elide_data_name.path, to);
	if (err == -EEXIST || err == -EBUSY) {
		own_name(own, to, 1);
		to = own;
		if (err == -EEXIST)
			elide_log("%s exists and is not a data file: left alone, the data are in %s",
				  elide_data_name.final, own);
		err = elide_older_rename(elide_data_name.path, to);
	}
	if (err)
		return;
	strcpy(elide_data_name.path, to);
	if (to != elide_data_name.final)
		strcpy(elide_data_name.final, to);
}
