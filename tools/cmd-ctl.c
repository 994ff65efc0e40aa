// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-ctl.c - elide ctl: elision off and on in a running process, snapshot, reset.
 *
 * Through the data file that the process maps, so nothing is sent to it and
 * no handler runs in it. Must never write to that file but to its control word.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "load.h"
#include "suggest.h"

static const struct option_desc options[] = {
	{'o', "output", "FILE", "where the snapshot goes (NAME.snapshot)"},
	OPTION_HELP,
};

/*
 * Is @name, as /proc shows a mapping, the data file of @pid? The file was made
 * as NAME.PID.new, with seven digits, and got the name NAME then: it shows as deleted.
 */
static int is_file_of(long pid, char *name, struct elide_header *header)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(name), cut = sizeof(deleted) - 1;
	char suffix[24];

	if (len > cut && !strcmp(name + len - cut, deleted)) {
		name[len -= cut] = '\0';
		cut = snprintf(suffix, sizeof(suffix), ".%07ld.new", pid);
		if (len > cut && !strcmp(name + len - cut, suffix))
			name[len - cut] = '\0';
	}
	return !load_header(name, header) && header->pid == (uint32_t)pid &&
	       header->state == ELIDE_FILE_LIVE;
}

/* The data file that process @pid maps and writes. */
static int find_file(long pid, char *path, size_t size, struct elide_header *header)
{
	char maps[64], line[PATH_MAX + 128];
	int err = -ENOENT;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%ld/maps", pid);
	f = fopen(maps, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, '/');

		if (!name || !strstr(line, " rw-s "))
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (!is_file_of(pid, name, header))
			continue;
		snprintf(path, size, "%s", name);
		err = 0;
	}
	fclose(f);
	return err;
}

static int set_control(const char *path, enum elide_control control)
{
	struct elide_header *h;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

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

/* A process that runs may not have said for long what time it is. */
static void set_end(struct elide_header *h)
{
	struct timespec ts;

	if (h->rtm == ELIDE_RTM_EMULATED || h->state != ELIDE_FILE_LIVE)
		return; /* its clock is not ours */
	clock_gettime(CLOCK_MONOTONIC, &ts);
	h->end_cycles = cycles_now();
	h->end_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
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

/* Copies the file as it stands: under a name of its own first, so that it is whole or not there. */
static int copy_file(const char *path, const char *to)
{
	char buffer[ELIDE_HEADER_SIZE], temporary[PATH_MAX + 40];
	int in, out, err = 0;
	size_t at = 0;
	ssize_t n;

	snprintf(temporary, sizeof(temporary), "%s.%ld.new", to, (long)getpid());
	in = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return -errno;
	out = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0) {
		err = -errno;
		goto close_in;
	}
	while (!err && (n = read(in, buffer, sizeof(buffer))) > 0) {
		if (!at && n == sizeof(buffer))
			set_end((struct elide_header *)buffer);
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

/* What to do; each takes the data file and says what it did. */
static int do_off(const char *path, const char *output)
{
	return set_control(path, ELIDE_CONTROL_OFF);
}

static int do_on(const char *path, const char *output)
{
	return set_control(path, ELIDE_CONTROL_NONE);
}

static int do_snapshot(const char *path, const char *output)
{
	char name[PATH_MAX + 16];
	int err;

	if (!output) {
		snprintf(name, sizeof(name), "%s.snapshot", path);
		output = name;
	}
	err = copy_file(path, output);
	if (!err)
		say("snapshot in %s; next: elide report -i '%s'", output, output);
	return err;
}

static int do_reset(const char *path, const char *output)
{
	char name[PATH_MAX + 16];

	snprintf(name, sizeof(name), "%s" LOAD_BASE_SUFFIX, path);
	return copy_file(path, name);
}

static const struct verb {
	const char *name;
	int (*run)(const char *path, const char *output);
} verbs[] = {
	{"off", do_off},
	{"on", do_on},
	{"snapshot", do_snapshot},
	{"reset", do_reset},
};

static const struct verb *find_verb(const char *name)
{
	const char *names[ARRAY_SIZE(verbs)];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		names[i] = verbs[i].name;
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	}
	say("ctl: unknown verb %s, nearest is %s", name, suggest(name, names, ARRAY_SIZE(names)));
	return NULL;
}

static int control(const char *pid_text, const struct verb *verb, const char *output)
{
	struct elide_header header;
	char path[PATH_MAX], *end;
	long pid;
	int err;

	errno = 0;
	pid = strtol(pid_text, &end, 10);
	if (*end || end == pid_text || errno || pid <= 0) {
		say("ctl: %s is not a process id", pid_text);
		return EXIT_USAGE;
	}
	err = find_file(pid, path, sizeof(path), &header);
	if (err) {
		say("ctl: process %ld %s", pid,
		    err == -ENOENT ? "is not there, or writes no data file" : strerror(-err));
		return EXIT_USAGE;
	}
	err = verb->run(path, output);
	if (err) {
		say("ctl: %s: %s", path, strerror(-err));
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
