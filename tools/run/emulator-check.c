// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * emulator-check.c - has the emulator passed its self-test on this valgrind?
 *
 * Must never run anything but the self-test, and never for longer than LIMIT_S.
 */
#include "emulator-check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/elf-file.h"
#include "valgrind.h"

#define RECORD "selftest.passed"
/* Latest passes that a record keeps. Chosen: a host has few valgrinds. */
#define PASSES_MAX 16
#define PASS_SIZE 256
/* Bytes of output of the self-test to read; it prints 1 KiB. */
#define OUTPUT_MAX 8192
/* Time limit of a run of the self-test, seconds; it takes 3 on an idle processor. */
#define LIMIT_S 300

/*
 * The machines that the self-test runs on: one without caches, and one with latencies that are far
 * apart. Its arguments are latencies in cycles: of a second-level hit, memory, a line of another core.
 */
static const char caches[] = "--model=haswell:cores=4,l2=100,llc=400,memory=1600,l2_kib=64,"
			     "llc_kib=512,dirty_domain=220,dirty_die=220,dirty_quadrant=220,"
			     "dirty_socket=220,faults=0";
static const struct {
	const char *model;
	const char *args[3];
} machines[] = {
	{"--model=flat", {NULL}},
	{caches, {"100", "1600", "220"}},
};

/* A file's build-id; without one, the size and a hash (FNV-1a) of its contents. */
static int identify(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t hash = 0xcbf29ce484222325, total = 0;
	unsigned char bytes[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (elf_file_build_id(fd, to, size)) {
		for (; (n = read(fd, bytes, sizeof(bytes))) > 0; total += n)
			for (ssize_t i = 0; i < n; i++)
				hash = (hash ^ bytes[i]) * 0x100000001b3;
		snprintf(to, size, "%llx-%016llx", (unsigned long long)total,
			 (unsigned long long)hash);
	}
	close(fd);
	return 0;
}

/* The line of a record that says that these files have passed. */
static int make_pass(const struct emulator *e, const char *valgrind, char *pass, size_t size)
{
	const char *const files[] = {"rtmgrind-amd64-linux", "selftest",
				     "vgpreload_core-amd64-linux.so"};
	char path[PATH_MAX + 64], id[64];
	size_t len = 0;
	int rc;

	/* Debian's valgrind is a script that starts this. */
	snprintf(path, sizeof(path), "%s.bin", valgrind);
	rc = identify(access(path, R_OK) ? valgrind : path, id, sizeof(id));
	if (rc)
		return rc;
	len = snprintf(pass, size, "valgrind %s", id);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", e->lib, files[i]);
		rc = identify(path, id, sizeof(id));
		if (rc)
			return rc;
		len += snprintf(pass + len, size - len, " %.*s %s",
				(int)strcspn(files[i], "-."), files[i], id);
		if (len >= size)
			return -ENAMETOOLONG;
	}
	return 0;
}

/* Reads a record. Return: the number of its lines, of which the last PASSES_MAX are in @passes. */
static size_t read_record(const char *path, char (*passes)[PASS_SIZE])
{
	FILE *f = fopen(path, "re");
	char line[PASS_SIZE];
	size_t nr = 0;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		strcpy(passes[nr++ % PASSES_MAX], line);
	}
	if (f)
		fclose(f);
	return nr;
}

static int is_in_record(const char *path, const char *pass)
{
	char passes[PASSES_MAX][PASS_SIZE];
	size_t nr = read_record(path, passes);

	for (size_t i = 0; i < nr && i < PASSES_MAX; i++)
		if (!strcmp(passes[i], pass))
			return 1;
	return 0;
}

/* Adds a line to a record; a concurrent reader sees the old record or the new one. */
static int add_to_record(const char *path, const char *pass)
{
	char passes[PASSES_MAX][PASS_SIZE], new[PATH_MAX + 16];
	size_t nr = read_record(path, passes);
	FILE *f;
	int rc;

	snprintf(new, sizeof(new), "%s.%d", path, getpid());
	f = fopen(new, "we");
	if (!f)
		return -errno;
	for (size_t i = nr >= PASSES_MAX ? nr - PASSES_MAX + 1 : 0; i < nr; i++)
		fprintf(f, "%s\n", passes[i % PASSES_MAX]);
	fprintf(f, "%s\n", pass);
	rc = ferror(f) ? -EIO : 0;
	if (fclose(f) && !rc)
		rc = -errno;
	if (!rc && rename(new, path))
		rc = -errno;
	if (rc)
		unlink(new);
	return rc;
}

/* The user's record, whose folders are made with @make. Return: 0, or -errno if there is none. */
static int own_record(char *path, size_t size, int make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	size_t len;

	/* XDG Base Directory Specification: a relative path is to be ignored. */
	if (cache && *cache == '/')
		len = snprintf(path, size, "%s", cache);
	else if (home && *home == '/')
		len = snprintf(path, size, "%s/.cache", home);
	else
		return -ENOENT;
	if (len + sizeof("/elide/" RECORD) > size)
		return -ENAMETOOLONG;
	if (make)
		mkdir(path, 0700);
	strcpy(path + len, "/elide");
	if (make)
		mkdir(path, 0700);
	strcat(path, "/" RECORD);
	return 0;
}

/* In the child: executes the self-test in the emulator, on a machine. */
static void become_selftest(const struct emulator *e, size_t machine, int output)
{
	char program[PATH_MAX + 16], *args[] = {
		(char *)e->launch, "--tool=rtmgrind", "--command-line-only=yes", "-q",
		"--trace-children=yes", "--seed=1", (char *)machines[machine].model, program,
		(char *)machines[machine].args[0], (char *)machines[machine].args[1],
		(char *)machines[machine].args[2], NULL};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	snprintf(program, sizeof(program), "%s/selftest", e->lib);
	setpgid(0, 0);
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	unsetenv("LD_PRELOAD");
	setenv("VALGRIND_LIB", e->lib, 1);
	execv(e->launch, args);
	_exit(127);
}

/* Reads until the other end is closed. Return: 0, or -ETIMEDOUT. */
static int read_output(int fd, char *to, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	time_t end = time(NULL) + LIMIT_S;
	char rest[256];
	size_t len = 0;
	ssize_t n;

	do {
		int ready = poll(&p, 1, 1000);

		n = 1;
		if (ready > 0) {
			size_t room = size - 1 - len;

			n = read(fd, room ? to + len : rest, room ? room : sizeof(rest));
			len += room && n > 0 ? (size_t)n : 0;
		}
		to[len] = '\0';
	} while (n > 0 && time(NULL) < end);
	return n > 0 ? -ETIMEDOUT : 0;
}

/* Says which test failed, from the lines that the self-test printed. */
static void explain(char *output, const char *end, char *why, size_t size)
{
	const char *test = NULL, *last = "it prints nothing";

	for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
		last = line;
		if (!strncmp(line, "not ok ", 7)) {
			snprintf(why, size, "its self-test fails: %s", line + 7);
			return;
		}
		if (!strncmp(line, "run ", 4))
			test = line + 4;
	}
	if (test)
		snprintf(why, size, "its self-test fails: %s: %s", test, end);
	else
		snprintf(why, size, "its self-test does not start: %s", last);
}

/* Runs the self-test on a machine. Return: 0 if it passes, else -errno. */
static int run_selftest(const struct emulator *e, size_t machine, char *why, size_t size)
{
	static const char all_passed[] = "all passed\n";
	char output[OUTPUT_MAX], end[64];
	int pipes[2], status = 0, rc;
	size_t len;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		become_selftest(e, machine, pipes[1]);
	close(pipes[1]);
	rc = pid < 0 ? -errno : read_output(pipes[0], output, sizeof(output));
	close(pipes[0]);
	if (pid < 0)
		return rc;
	/* A group, so that processes that it leaves over can be killed, too. */
	setpgid(pid, pid);
	kill(-pid, SIGKILL);
	if (rc)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	len = strlen(output);
	if (!rc && len >= sizeof(all_passed) - 1 &&
	    !strcmp(output + len - (sizeof(all_passed) - 1), all_passed))
		return 0;
	if (rc)
		snprintf(end, sizeof(end), "it does not end in %d s", LIMIT_S);
	else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		snprintf(end, sizeof(end), "signal %d ends the emulator", WTERMSIG(status));
	else
		snprintf(end, sizeof(end), "the emulator ends in it");
	explain(output, end, why, size);
	return -EPROTO;
}

int emulator_check(const struct emulator *e, const char *valgrind, char *why, size_t size)
{
	char beside[PATH_MAX + 32], own[PATH_MAX], pass[PASS_SIZE];
	int rc = make_pass(e, valgrind, pass, sizeof(pass));

	if (rc) {
		snprintf(why, size, "its files cannot be identified: %s", strerror(-rc));
		return -EPROTO;
	}
	snprintf(beside, sizeof(beside), "%s/" RECORD, e->lib);
	if (is_in_record(beside, pass))
		return 0;
	if (!own_record(own, sizeof(own), 0) && is_in_record(own, pass))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		snprintf(why, size, "its self-test cannot be started");
		if (run_selftest(e, i, why, size))
			return -EPROTO;
	}
	/* If no record can be written, the next run repeats the test. */
	if (!own_record(own, sizeof(own), 1))
		add_to_record(own, pass);
	return 0;
}
