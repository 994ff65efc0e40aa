// SPDX-License-Identifier: GPL-2.0-or-later
/* unseen-file.c - see unseen-file.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "../base/messages.h"
#include "../base/text.h"
#include "../base/unseen.h"
#include "../model/load.h"
#include "unseen-file.h"

/* Per cent of the thread time of the run: a process with less is left out. */
#define LEAST_PERCENT 1
/* Files of a run, at most: a script may start thousands of programs. */
#define MOST_FILES 16

/* Replaces %p and %e, as the library does. */
static void expand(char *to, size_t size, const char *pattern, const struct account_seen *s)
{
	const char *exe = *s->exe ? base_name(s->exe) : base_name(s->name);
	size_t n = 0;

	for (; *pattern && n + 1 < size; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p')
			n += (size_t)snprintf(to + n, size - n, "%d", (int)s->pid);
		else if (pattern[0] == '%' && pattern[1] == 'e')
			n += (size_t)snprintf(to + n, size - n, "%s", exe);
		else {
			to[n++] = *pattern;
			continue;
		}
		pattern++;
	}
	to[n < size ? n : size - 1] = '\0';
}

static void fill(struct elide_header *h, const struct account_seen *s, uint64_t run)
{
	uint64_t cycles = cycles_now(), now = now_ns();
	enum unseen why = unseen_in(s->unseen, UNSEEN_PROGRAM);
	struct utsname machine;
	struct timespec date;
	double rate;

	memset(h, 0, sizeof(*h));
	h->magic = ELIDE_DATA_MAGIC;
	h->version = ELIDE_DATA_VERSION;
	h->header_size = ELIDE_HEADER_SIZE;
	h->chunk_size = ELIDE_CHUNK_SIZE;
	h->size = ELIDE_HEADER_SIZE;
	h->state = ELIDE_FILE_CLOSED;
	h->pid = (uint32_t)s->pid;
	h->pid_start = s->pid_start;
	h->run = run;
	h->mode = ELIDE_RUN_OFF;
	h->exit_status = -1;
	h->cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	h->start_ns = s->start_ns;
	h->end_ns = s->end_ns;
	clock_gettime(CLOCK_REALTIME, &date);
	h->start_realtime_ns = (uint64_t)date.tv_sec * 1000000000 + (uint64_t)date.tv_nsec - (now - s->start_ns);
	/* No time is measured in cycles; the counter began near the start of the clock. */
	rate = now ? (double)cycles / (double)now : 1;
	h->start_cycles = (uint64_t)(rate * (double)s->start_ns);
	h->end_cycles = (uint64_t)(rate * (double)s->end_ns);
	snprintf(h->why, sizeof(h->why), "%s", unseen_text(why));
	snprintf(h->exe, sizeof(h->exe), "%s", s->exe);
	/* Of the arguments, the library's settings say whether they may be kept. */
	h->args_len = (uint32_t)snprintf(h->args, sizeof(h->args), "%s", s->name) + 1;
	h->args_left_out = 1;
	if (!uname(&machine))
		snprintf(h->host, sizeof(h->host), "%s", machine.nodename);
	h->account = s->total;
	h->unseen = s->unseen;
}

/* Gives the name of an older data file of another run to NAME.old. Return: 0 or -errno; -EEXIST: it stays. */
static int make_room(const char *name, uint64_t run)
{
	struct elide_header older;
	char old[PATH_MAX];
	struct stat st;

	if (lstat(name, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode) || load_header(name, &older) || older.run == run)
		return -EEXIST;
	if (snprintf(old, sizeof(old), "%s.old", name) >= (int)sizeof(old))
		return -ENAMETOOLONG;
	return rename(name, old) ? -errno : 0;
}

static int write_file(const char *name, const struct elide_header *h)
{
	static char page[ELIDE_HEADER_SIZE];
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	memcpy(page, h, sizeof(*h));
	if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
		err = errno ? -errno : -EIO;
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(name);
	return err;
}

/* Under its name, or NAME.PID if the run has a file of that name. Return: 0 or -errno. */
static int write_named(struct elide_header *h, char *name)
{
	char own[PATH_MAX];
	int err = make_room(name, h->run);

	if (err == -EEXIST) {
		if (snprintf(own, sizeof(own), "%s.%u", name, h->pid) >= (int)sizeof(own))
			return -ENAMETOOLONG;
		strcpy(name, own);
		err = make_room(name, h->run);
	}
	return err ? err : write_file(name, h);
}

static int by_time(const void *x, const void *y)
{
	const struct account_seen *a = x, *b = y;

	return (a->total.threads < b->total.threads) - (a->total.threads > b->total.threads);
}

/* Those to write files of, the longest first; @nr of them. Return: to be freed, or NULL. */
static struct account_seen *choose(const struct account *account, size_t *nr)
{
	struct account_seen *all = calloc(account->nr + 1, sizeof(*all));
	uint64_t time = account_threads(account);

	*nr = 0;
	for (size_t i = 0; all && i < account->nr; i++) {
		struct account_seen *s = &all[*nr];

		account_seen(account, i, s);
		if (unseen_in(s->unseen, UNSEEN_PROGRAM) != NR_UNSEEN && s->nr_threads > 1 && s->total.threads > 0 &&
		    100 * s->total.threads >= LEAST_PERCENT * time)
			++*nr;
	}
	if (*nr)
		qsort(all, *nr, sizeof(*all), by_time);
	return all;
}

static bool has_file(const struct paths *paths, pid_t pid)
{
	struct elide_header h;

	for (size_t i = 0; i < paths->nr; i++)
		if (!load_header(paths->path[i], &h) && h.pid == (uint32_t)pid)
			return true;
	return false;
}

void unseen_files_write(const struct account *account, struct paths *paths, const char *output, uint64_t run,
			pid_t pid, int status)
{
	struct elide_header h;
	struct account_seen *all;
	char name[PATH_MAX];
	size_t nr;

	all = choose(account, &nr);
	for (size_t i = 0; i < nr && i < MOST_FILES; i++) {
		int err;

		if (has_file(paths, all[i].pid))
			continue;
		fill(&h, &all[i], run);
		h.exit_status = all[i].pid == pid ? status : -1;
		expand(name, sizeof(name), output, &all[i]);
		err = write_named(&h, name);
		if (!err)
			paths_add(paths, name);
		else
			say("%s: %s", name, strerror(-err));
	}
	free(all);
}
