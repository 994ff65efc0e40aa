// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-ctl.c - elide ctl: elision off and on in a running process, snapshot, reset.
 *
 * Works through the data file that the process maps, so nothing is sent to it and
 * no handler runs in it. Must never write to that file except for its control word.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/live-name.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/suggest.h"
#include "../live/live.h"
#include "../model/load.h"
#include "cmd.h"

static const struct option_desc options[] = {
	{'o', "output", "FILE", "where the snapshot goes (NAME.snapshot)"},
	OPTION_HELP,
};

/* Reopens the file that live_find() has opened and checked: another file may have its name by now. */
static int open_again(const struct target *t, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	return open(path, flags | O_CLOEXEC);
}

static int set_control(const struct target *t, enum elide_control control)
{
	struct elide_header *h;
	int fd = open_again(t, O_RDWR);

	if (fd < 0)
		return -errno;
	h = mmap(NULL, ELIDE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (h == MAP_FAILED)
		return -errno;
	__atomic_store_n(&h->control, control, __ATOMIC_RELAXED);
	munmap(h, ELIDE_HEADER_SIZE);
	return 0;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= n;
	}
	return 0;
}

/*
 * Reads the size of a growing file again, after the counts of its chunks: a chunk that was added
 * meanwhile would be counted, but beyond the size.
 */
static void complete_header(int fd, struct elide_header *h)
{
	uint64_t size;

	if (pread(fd, &size, sizeof(size), offsetof(struct elide_header, size)) == sizeof(size))
		h->size = size;
	live_set_end(h);
}

/* Copy the present file, under another name first, so that the copy is complete or missing. */
static int copy_file(const struct target *t, const char *to)
{
	_Alignas(struct elide_header) char buffer[ELIDE_HEADER_SIZE];
	char temporary[PATH_MAX + 40];
	int in, out, err = 0;
	size_t at = 0;
	ssize_t n;

	snprintf(temporary, sizeof(temporary), "%s.%ld.new", to, (long)getpid());
	in = open_again(t, O_RDONLY);
	if (in < 0)
		return -errno;
	out = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0) {
		err = -errno;
		goto close_in;
	}
	while (!err && (n = read(in, buffer, sizeof(buffer))) > 0) {
		if (!at && n == sizeof(buffer))
			complete_header(in, (struct elide_header *)buffer);
		err = write_all(out, buffer, n);
		at += n;
	}
	if (!err && n < 0)
		err = -errno;
	if (close(out) && !err)
		err = -errno;
	if (!err && rename(temporary, to))
		err = -errno;
	if (err)
		unlink(temporary);
close_in:
	close(in);
	return err;
}

/* The actions: each changes or copies the data file and prints what it did. */
static int do_off(const struct target *t, const char *output)
{
	return set_control(t, ELIDE_CONTROL_OFF);
}

static int do_on(const struct target *t, const char *output)
{
	return set_control(t, ELIDE_CONTROL_NONE);
}

/* Path of a file beside the data file: the data file's final name with a suffix. */
static void beside(char name[PATH_MAX + 16], const struct target *t, const char *suffix)
{
	snprintf(name, PATH_MAX, "%s", t->path);
	elide_final_name(name);
	strcat(name, suffix);
}

static int do_snapshot(const struct target *t, const char *output)
{
	char to[PATH_MAX + 16], name[PATH_MAX + 16];
	int err;

	beside(to, t, ".snapshot");
	snprintf(name, sizeof(name), "%s.snapshot", t->name);
	err = copy_file(t, output ? output : to);
	if (!output)
		output = name;
	if (!err)
		say("snapshot in %s; next: elide report -i '%s'", output, output);
	return err;
}

static int do_reset(const struct target *t, const char *output)
{
	char name[PATH_MAX + 16];

	beside(name, t, LOAD_BASE_SUFFIX);
	return copy_file(t, name);
}

static const struct verb {
	const char *name;
	int (*run)(const struct target *t, const char *output);
} verbs[] = {
	{"off", do_off},
	{"on", do_on},
	{"snapshot", do_snapshot},
	{"reset", do_reset},
};

static const struct verb *find_verb(const char *name)
{
	const char *names[ARRAY_SIZE(verbs)];
	char nearest[SUGGEST_WORDS];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		names[i] = verbs[i].name;
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	}
	say("ctl: unknown verb %s%s", name,
	    suggest_words(name, "", names, ARRAY_SIZE(names), nearest, sizeof(nearest)));
	return NULL;
}

static int control(const char *pid_text, const struct verb *verb, const char *output)
{
	static struct target target;
	char *end;
	long pid;
	int err;

	errno = 0;
	pid = strtol(pid_text, &end, 10);
	if (*end || end == pid_text || errno || pid <= 0) {
		say("ctl: %s is not a process id", pid_text);
		return EXIT_USAGE;
	}
	err = live_find(pid, &target);
	if (err) {
		say("ctl: process %ld %s", pid, live_missing(pid, err));
		return EXIT_USAGE;
	}
	err = verb->run(&target, output);
	live_close(&target);
	if (err) {
		say("ctl: %s: %s", target.name, strerror(-err));
		return EXIT_USAGE;
	}
	return 0;
}

int cmd_ctl(int argc, char **argv)
{
	const char *output = NULL;
	const struct verb *verb;
	int key;

	while ((key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		switch (key) {
		case 'o':
			output = optarg;
			break;
		case 'h':
			options_help("ctl [OPTION...] PID off|on|snapshot|reset",
				     "Controls elision in a running process.", options,
				     ARRAY_SIZE(options));
			return 0;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 2) {
		say("ctl: needs a process id and one of off, on, snapshot, reset");
		return EXIT_USAGE;
	}
	verb = find_verb(argv[optind + 1]);
	if (!verb)
		return EXIT_USAGE;
	if (output && verb->run != do_snapshot) {
		say("ctl: --output goes with snapshot");
		return EXIT_USAGE;
	}
	return control(argv[optind], verb, output);
}
