// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pcm.c - Intel PCM's pcm-tsx beside a run.
 *
 * pcm-tsx can start a program and count until that ends. Here this program waits for
 * the end of a pipe, which this process closes after the run: so pcm-tsx counts from before the run
 * to after it, in one part. Must never end a process except the one it started.
 */
#include "pcm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/program.h"

/* Milliseconds; pcm-tsx examines all of the machine first, which takes seconds on a large one. */
#define START_MAX_MS 60000

/* Event0: RTM_RETIRED.START Number of times... */
static void parse_event(const char *line, struct elide_counter *counters, int *nr)
{
	char name[sizeof(counters->name)];
	int index;

	if (sscanf(line, "Event%d: %63s", &index, name) != 2 || index < 0 ||
	    index >= PCM_EVENTS_MAX || index > *nr)
		return;
	if (index == *nr)
		++*nr;
	counters[index].source = ELIDE_COUNTER_PCM;
	strcpy(counters[index].name, name);
}

/* *,123,456, Returns 0, or -EINVAL if a number is missing, without a change. */
static int parse_sum(const char *line, struct elide_counter *counters, int nr)
{
	uint64_t values[PCM_EVENTS_MAX];
	char *end = (char *)line + 1;

	for (int i = 0; i < nr; i++) {
		if (*end != ',' || end[1] < '0' || end[1] > '9')
			return -EINVAL;
		values[i] = strtoull(end + 1, &end, 10);
	}
	for (int i = 0; i < nr; i++)
		counters[i].value += values[i];
	return 0;
}

int pcm_parse(FILE *f, struct elide_counter *counters)
{
	int nr = 0, nr_parts = 0;
	uint64_t ms = 0, all_ms = 0;
	char line[1024];

	memset(counters, 0, PCM_EVENTS_MAX * sizeof(*counters));
	while (fgets(line, sizeof(line), f)) {
		/* A line without its newline is incomplete: the writer was killed. */
		if (!strchr(line, '\n'))
			continue;
		if (sscanf(line, "Time elapsed: %" SCNu64 " ms", &ms) == 1)
			continue;
		parse_event(line, counters, &nr);
		if (line[0] == '*' && nr && !parse_sum(line, counters, nr)) {
			nr_parts++;
			all_ms += ms;
		}
	}
	for (int i = 0; i < nr; i++)
		counters[i].enabled_ns = counters[i].running_ns = all_ms * 1000000;
	return nr_parts ? nr : -EINVAL;
}

/* Directories of programs for administrators may not be in PATH. */
static int find(const char *root, char *program)
{
	static const char *const places[] = {"/usr/sbin", "/usr/local/sbin", "/sbin"};

	if (!*root && !program_find("pcm-tsx", program))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (snprintf(program, PATH_MAX, "%s%s/pcm-tsx", root, places[i]) < PATH_MAX &&
		    !access(program, X_OK))
			return 0;
	}
	return -ENOENT;
}

int pcm_why_not(const char *root, int is_root, char *program, char *why, size_t size)
{
	char msr[PATH_MAX];

	if (find(root, program)) {
		snprintf(why, size, "pcm-tsx is not installed: package pcm");
		return -ENOENT;
	}
	if (!is_root) {
		snprintf(why, size, "pcm-tsx reads the processor's registers: only root may do so");
		return -EPERM;
	}
	snprintf(msr, sizeof(msr), "%s/dev/cpu/0/msr", root);
	if (access(msr, R_OK | W_OK)) {
		snprintf(why, size, "/dev/cpu/0/msr is missing: modprobe msr");
		return -ENODEV;
	}
	return 0;
}

/*
 * In the child: executes pcm-tsx with as many events as every processor has counters for. The input of
 * its program is one pipe, the output another.
 */
static void execute(const struct pcm *p, const char *program, int input, int output, int errors)
{
	char csv[PATH_MAX + 8];
	char *argv[] = {
		(char *)program, csv, "-e", "RTM_RETIRED.START", "-e", "RTM_RETIRED.COMMIT", "-e",
		"RTM_RETIRED.ABORTED", "--", "/bin/sh", "-c", "echo counting; exec cat >/dev/null",
		NULL,
	};

	snprintf(csv, sizeof(csv), "-csv=%s", p->csv);
	/* Signals of the terminal go to the program of the run, not to this one. */
	setpgid(0, 0);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	unsetenv("LD_PRELOAD");
	execv(program, argv);
	_exit(127);
}

/* The last line of a file that says anything. */
static void last_line(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[512];

	snprintf(to, size, "pcm-tsx said nothing");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")])
			snprintf(to, size, "pcm-tsx: %s", line);
	}
	if (f)
		fclose(f);
}

/* Waits for the first byte of the program that pcm-tsx starts once it counts. */
static int wait_until_counting(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char byte;
	int rc;

	do {
		rc = poll(&p, 1, START_MAX_MS);
	} while (rc < 0 && errno == EINTR);
	if (!rc)
		return -ETIMEDOUT;
	return read(fd, &byte, 1) == 1 ? 0 : -EIO;
}

int pcm_start(struct pcm *p, const char *program, const char *directory, char *why, size_t size)
{
	char log[PATH_MAX];
	int in[2] = {-1, -1}, out[2] = {-1, -1}, errors, rc = 0;

	snprintf(p->csv, sizeof(p->csv), "%.4000s/pcm.csv", directory);
	snprintf(log, sizeof(log), "%.4000s/pcm.log", directory);
	errors = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (errors < 0 || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
		rc = -errno;
		snprintf(why, size, "%s: %s", log, strerror(errno));
		goto close;
	}
	fflush(NULL);
	p->pid = fork();
	if (!p->pid)
		execute(p, program, in[0], out[1], errors);
	p->stop = in[1];
	in[1] = -1;
	close(out[1]);
	out[1] = -1;
	if (p->pid > 0)
		rc = wait_until_counting(out[0]);
	else
		rc = -errno;
	if (rc) {
		close(p->stop);
		if (p->pid > 0) {
			kill(p->pid, SIGTERM);
			waitpid(p->pid, NULL, 0);
		}
		last_line(log, why, size);
		unlink(p->csv);
	}
	unlink(log);
close:
	for (int i = 0; i < 2; i++) {
		if (in[i] >= 0)
			close(in[i]);
		if (out[i] >= 0)
			close(out[i]);
	}
	if (errors >= 0)
		close(errors);
	return rc;
}

int pcm_stop(struct pcm *p, struct elide_counter *counters)
{
	FILE *f;
	int nr;

	close(p->stop);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	f = fopen(p->csv, "re");
	if (!f)
		return -errno;
	nr = pcm_parse(f, counters);
	fclose(f);
	unlink(p->csv);
	return nr;
}
