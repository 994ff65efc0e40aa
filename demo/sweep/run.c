// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.c - runs the program once and reads its throughput and its check from what it prints for --csv.
 *
 * Must never count a run whose check is not right, and never leave a file or a process behind.
 */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The running program, 0 if there is none; the signal that ends the sweep. */
static volatile sig_atomic_t running, noted;

static void note(int signal)
{
	noted = signal;
	if (running)
		kill(running, signal);
}

/** run_catch_signals() - SIGINT and SIGTERM end the running program, and then the sweep */
void run_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM};

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old, action = {.sa_handler = note};

		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/** run_interrupted() - has a signal ended the sweep? */
bool run_interrupted(void)
{
	return noted;
}

/**
 * run_find() - find a program: beside this one, else where the shell would
 * @name: as on the command line
 *
 * Return: its path, to be freed, or the name as it is; NULL without memory.
 */
char *run_find(const char *name)
{
	char self[4096], *path;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (strchr(name, '/') || len < 0)
		return strdup(name);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	if (asprintf(&path, "%s/%s", self, name) < 0)
		return NULL;
	if (!access(path, X_OK))
		return path;
	free(path);
	return strdup(name);
}

/* The content of a file in memory, to be freed; its descriptor is closed. */
static char *take(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = size < 0 ? NULL : malloc((size_t)size + 1);
	ssize_t nr = text ? pread(fd, text, (size_t)size, 0) : -1;

	close(fd);
	if (nr >= 0)
		text[nr] = '\0';
	else if (text)
		*text = '\0';
	return text;
}

/* Move the last line of a text to its beginning, without its end. */
static void keep_last_line(char *text)
{
	size_t len = strlen(text);
	char *before;

	if (len && text[len - 1] == '\n')
		text[--len] = '\0';
	before = strrchr(text, '\n');
	if (before)
		memmove(text, before + 1, strlen(before));
}

/* Start the program, with its output into files. Returns 0 or an error. */
static int start(char *const *argv, int out, int err, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/**
 * run_output() - run a program to its end
 * @argv: its path and its arguments
 * @status: receives its exit status, as a shell has it; 127 if it cannot be started
 * @error: receives the last line of its standard error, as warnings come before an error, or why it cannot be
 *	   started; to be freed
 *
 * Return: its standard output, to be freed; NULL without memory.
 */
char *run_output(char *const *argv, int *status, char **error)
{
	int out = memfd_create("stdout", MFD_CLOEXEC), err = memfd_create("stderr", MFD_CLOEXEC);
	char *text;
	pid_t pid;
	int rc = start(argv, out, err, &pid), how = 0;

	*status = 127;
	if (!rc) {
		running = pid;
		while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
			;
		running = 0;
		*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	}
	text = take(out);
	*error = take(err);
	if (*error && !rc)
		keep_last_line(*error);
	if (rc) {
		free(*error);
		*error = strdup(strerror(rc));
	}
	return text;
}

/* The next field of a line of comma-separated values, without its quotes; NULL at the end. */
static char *csv_field(char **at)
{
	char *begin = *at, *end;

	if (!begin)
		return NULL;
	if (*begin == '"' && (end = strchr(begin + 1, '"'))) {
		*end++ = '\0';
		*at = *end == ',' ? end + 1 : NULL;
		return begin + 1;
	}
	return strsep(at, ",");
}

/*
 * Read the throughput and the check. Returns 0, or -ENODATA if the output is not one line of names, among
 * them "throughput..." and "check", and one of values.
 */
static int read_result(struct sweep *s, char *text, double *rate, char **check)
{
	char *names = strsep(&text, "\n"), *values = strsep(&text, "\n"), *name, *value;

	*rate = 0;
	*check = NULL;
	if (!values || !text || *text)
		return -ENODATA;
	while ((name = csv_field(&names)) && (value = csv_field(&values))) {
		if (!strncmp(name, "throughput", 10)) {
			snprintf(s->column, sizeof(s->column), "%s", name);
			*rate = strtod(value, NULL);
		} else if (!strcmp(name, "check")) {
			*check = value;
		}
	}
	return *rate > 0 && *check ? 0 : -ENODATA;
}

/* The arguments of a run. */
struct line {
	char **argv;
	unsigned int nr;
	bool failed;
};

/* Append a text, which it frees at the end. */
static void append(struct line *l, char *text)
{
	char **longer = reallocarray(l->argv, l->nr + 2, sizeof(*longer));

	l->failed |= !longer || !text;
	if (!longer) {
		free(text);
		return;
	}
	l->argv = longer;
	longer[l->nr++] = text;
	longer[l->nr] = NULL;
}

static void append_format(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append_format(struct line *l, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	append(l, vasprintf(&text, format, args) < 0 ? NULL : text);
	va_end(args);
}

/* [elide run ... --] PROGRAM ARGUMENT... --NAME=VALUE... [--threads=N] --seed=N --csv */
static void command(const struct sweep *s, const struct cell *cell, unsigned int threads, unsigned int round,
		    struct line *l)
{
	uint64_t seed = s->seed + round;

	if (s->emulate || cell->variant->elide) {
		append(l, strdup(s->launcher));
		append_format(l, "run");
		append_format(l, "-q");
		append_format(l, "--mode=%s", cell->variant->elide ? "elide" : "off");
		append_format(l, "--output=%s/data", s->scratch);
		if (s->emulate) {
			append_format(l, "--emulate=%s", s->emulate);
			append_format(l, "--seed=%" PRIu64, seed);
		}
		append_format(l, "--");
	}
	append(l, strdup(s->program));
	for (char **arg = s->command + 1; *arg; arg++)
		append(l, strdup(*arg));
	for (unsigned int i = 0; i < cell->variant->nr_added; i++)
		append(l, strdup(cell->variant->added[i]));
	if (threads)
		append_format(l, "--threads=%u", threads);
	append_format(l, "--seed=%" PRIu64, seed);
	append_format(l, "--csv");
}

/* Remove the files that a run has left, and with @last their directory. */
static void clear_scratch(const struct sweep *s, bool last)
{
	DIR *dir = *s->scratch ? opendir(s->scratch) : NULL;

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (dir && last)
		rmdir(s->scratch);
}

static void leave(struct cell *cell, enum cell_status status, const char *why)
{
	cell->status = status;
	cell->why = strdup(why);
}

/**
 * run_cell() - run a variant once
 * @s: the sweep
 * @cell: receives the throughput of the round; or it is ranked no longer, and has the reason
 * @threads: number of threads, 0 if the program's arguments have it
 * @round: number of the round
 */
void run_cell(struct sweep *s, struct cell *cell, unsigned int threads, unsigned int round)
{
	struct line l = {.argv = NULL};
	char *text = NULL, *error = NULL, *check = NULL, why[64];
	double rate = 0;
	int status = 1, bad = -ENODATA;

	command(s, cell, threads, round, &l);
	if (!l.failed)
		text = run_output(l.argv, &status, &error);
	if (text)
		bad = read_result(s, text, &rate, &check);
	snprintf(why, sizeof(why), "exit status %d", status);
	if (run_interrupted())
		;
	/* 2 and 125 to 127: usage, of the program, of elide, and a program that cannot be started. */
	else if (!round && (status == 2 || (status >= 125 && status <= 127)))
		leave(cell, CELL_REFUSED, error && *error ? error : why);
	else if (!bad && (strcmp(check, "ok") && strcmp(check, "off")))
		leave(cell, CELL_FAILED, check);
	else if (status)
		leave(cell, CELL_FAILED, error && *error ? error : why);
	else if (bad)
		leave(cell, CELL_FAILED, "its output has not one line with throughput and check");
	else
		cell->rate[round] = rate;
	for (unsigned int i = 0; i < l.nr; i++)
		free(l.argv[i]);
	free(l.argv);
	free(text);
	free(error);
	clear_scratch(s, false);
}

/**
 * run_begin() - make the directory for the files of runs with elide
 *
 * Return: 0, or -errno after one line on stderr.
 */
int run_begin(struct sweep *s)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || strlen(parent) > sizeof(s->scratch) - 32)
		parent = "/tmp";
	snprintf(s->scratch, sizeof(s->scratch), "%s/bench-sweep.XXXXXX", parent);
	if (mkdtemp(s->scratch))
		return 0;
	fprintf(stderr, PROGRAM ": %s: %s\n", s->scratch, strerror(errno));
	*s->scratch = '\0';
	return -EIO;
}

/** run_end() - remove it */
void run_end(struct sweep *s)
{
	clear_scratch(s, true);
}
