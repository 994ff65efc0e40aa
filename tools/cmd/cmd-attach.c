// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-attach.c - elide attach and elide detach: profile a process that runs already.
 *
 * Must never leave the process stopped, nor end it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/datafile.h"
#include "../../lib/live-name.h"
#include "../base/clock.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/program.h"
#include "../base/settings.h"
#include "../live/attach.h"
#include "../live/live.h"
#include "../run/account.h"
#include "../run/run.h"
#include "cmd.h"

enum { OPT_FOR = 256, OPT_MODE };

/* Nanoseconds after which it is noticed at the latest that another command has detached. Chosen. */
#define LOOK_NS 20000000

/* Bytes of all settings. */
#define SETTINGS_SIZE 4096

static OPTION_VALUES(modes, "profile", "elide", NULL)

static const struct option_desc attach_options[] = {
	{OPT_FOR, "for", "TIME", "detach after that time, and print where the data are: 30s, 5m"},
	{'o', "output", "FILE", "data file (elide.data; in /tmp of a container)"},
	{OPT_MODE, "mode", "MODE", "profile (the default) or elide", modes},
	OPTION_HELP,
};

static const struct option_desc detach_options[] = {
	OPTION_HELP,
};

/* A request, as the command line has it. */
struct request {
	long pid;
	uint64_t for_ms;
	const char *output;
	const char *mode;
};

/* The only argument. Return: 0 or -EINVAL after one line. */
static int parse_pid(const char *command, int argc, char **argv, long *pid)
{
	char *end;

	if (argc - optind != 1) {
		say("%s: needs a process id", command);
		return -EINVAL;
	}
	errno = 0;
	*pid = strtol(argv[optind], &end, 10);
	if (*end || end == argv[optind] || errno || *pid <= 0) {
		say("%s: %s is not a process id", command, argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/* Add a setting. */
static int add(char *settings, size_t *used, const char *text)
{
	size_t size = strlen(text) + 1;

	if (size > SETTINGS_SIZE - *used)
		return -E2BIG;
	memcpy(settings + *used, text, size);
	*used += size;
	return 0;
}

/* Those of our environment, but for those that are chosen here, or that print. Return: 0 or -E2BIG. */
static int add_environment(char *settings, size_t *used)
{
	static const char *const left_out[] = {"OUTPUT=", "MODE=", "RUN=", "REPORT=", "DEPS="};
	int err = 0;

	for (char **e = environ; !err && *e; e++) {
		bool passes = !strncmp(*e, "ELIDE_", 6);

		for (size_t i = 0; passes && i < ARRAY_SIZE(left_out); i++)
			passes = strncmp(*e + 6, left_out[i], strlen(left_out[i])) != 0;
		if (passes)
			err = add(settings, used, *e);
	}
	return err;
}

/* The output for the process. Return: false if it is left to attach_begin(). */
static bool absolute_output(long pid, const char *output, char *to)
{
	char folder[PATH_MAX];
	int n;

	if (*output == '/') {
		snprintf(to, PATH_MAX, "%s", output);
		return true;
	}
	/* Our working directory means nothing there. */
	if (process_has_own_root(pid))
		return false;
	if (!getcwd(folder, sizeof(folder)))
		return false;
	n = snprintf(to, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", output);
	return n > 0 && n < PATH_MAX;
}

/* Copies the account into the file of the process, which may be in another pid namespace. */
static void write_account(const struct account *a, long pid, int fd, bool all)
{
	struct elide_header h;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h))
		return;
	h.pid = (uint32_t)pid;
	account_write(a, fd, &h);
	if (all)
		account_write_threads(a, fd, &h);
}

/* Is the file closed, or the process gone? */
static bool is_over(long pid, int fd)
{
	uint32_t state;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%ld", pid);
	return access(path, F_OK) ||
	       (pread(fd, &state, sizeof(state), offsetof(struct elide_header, state)) == sizeof(state) &&
		state != ELIDE_FILE_LIVE);
}

/*
 * Take samples of the threads until @until, or until a signal of @set. Return: the signal, 0 at @until; -1: it
 * is over.
 */
static int sample(struct account *a, long pid, int fd, uint64_t until, const sigset_t *set)
{
	while (!is_over(pid, fd)) {
		uint64_t now = now_ns(), next = a->next_ns < until ? a->next_ns : until;
		uint64_t left = next > now ? next - now : 0;
		struct timespec ts = {.tv_nsec = (long)(left < LOOK_NS ? left : LOOK_NS)};
		int sig = sigtimedwait(set, NULL, &ts);

		if (sig > 0)
			return sig;
		now = now_ns();
		if (now >= a->next_ns) {
			account_sample(a);
			write_account(a, pid, fd, false);
		}
		if (now >= until)
			return 0;
	}
	return -1;
}

/* The file of the process, open for writing; -1. */
static int open_file(const struct attach_result *r)
{
	char path[PATH_MAX + sizeof(r->root)];

	snprintf(path, sizeof(path), "%s%s", r->root, r->path);
	return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
}

/* A child that goes on after this command. */
static void sample_in_background(struct account *a, long pid, int fd)
{
	int null;
	sigset_t none;

	if (fork())
		return;
	setsid();
	/* Whoever waits for the end of our output need not wait for the child. */
	null = open("/dev/null", O_RDWR);
	for (int n = 0; n <= STDERR_FILENO; n++)
		dup2(null, n);
	if (chdir("/"))
		_exit(1);
	sigemptyset(&none);
	sample(a, pid, fd, UINT64_MAX, &none);
	account_sample(a);
	write_account(a, pid, fd, true);
	_exit(0);
}

static void final_name(const struct attach_result *r, char to[PATH_MAX + 64])
{
	snprintf(to, PATH_MAX + 64, "%s%s", r->root, r->path);
	elide_final_name(to);
}

static int end(long pid, const char *command)
{
	static struct attach_result result;
	static char why[ATTACH_WHY], file[PATH_MAX + 64];

	if (attach_end(pid, &result, why)) {
		say("%s: process %ld %s", command, pid, why);
		return EXIT_USAGE;
	}
	final_name(&result, file);
	say("detached from process %ld (%s), one thread of which did so for %.1f ms; counted in %s; "
	    "next: elide report -i '%s'", pid, result.name, result.stop_ns / 1e6, file, file);
	return 0;
}

/* Wait, and detach. */
static int wait_and_end(struct account *a, const struct request *q, int fd, const sigset_t *set)
{
	int code, sig = sample(a, q->pid, fd, now_ns() + q->for_ms * 1000000, set);

	if (sig >= 0) {
		account_sample(a);
		code = end(q->pid, "attach");
	} else {
		say("process %ld has ended, or was detached from, meanwhile", q->pid);
		code = 0;
	}
	write_account(a, q->pid, fd, true);
	return code;
}

static int begin(const struct request *q)
{
	static char settings[SETTINGS_SIZE], library[PATH_MAX], output[PATH_MAX + 64], why[ATTACH_WHY], text[64];
	static struct attach_result result;
	struct attach_request request = {.object = library, .settings = settings};
	struct account account = {0};
	sigset_t set;
	int fd, code = 0;

	if (product_path("lib/libelide-preload.so", library)) {
		say("attach: libelide-preload.so is not where it is installed");
		return EXIT_USAGE;
	}
	if (absolute_output(q->pid, q->output, output))
		request.output = output;
	snprintf(text, sizeof(text), "ELIDE_MODE=%s", q->mode);
	if (add(settings, &request.settings_size, text) || run_mark() == 0)
		return EXIT_USAGE;
	snprintf(text, sizeof(text), "ELIDE_RUN=%s", getenv("ELIDE_RUN"));
	if (add(settings, &request.settings_size, text) || add_environment(settings, &request.settings_size)) {
		say("attach: the settings of the environment are longer than %d bytes", SETTINGS_SIZE);
		return EXIT_USAGE;
	}
	/* From here on they end the wait, so that the process is detached from. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (q->for_ms)
		sigprocmask(SIG_BLOCK, &set, NULL);
	if (attach_begin(q->pid, &request, &result, why)) {
		say("attach: process %ld %s", q->pid, why);
		return EXIT_USAGE;
	}
	fd = open_file(&result);
	account_begin_late(&account, (pid_t)q->pid);
	final_name(&result, output);
	say("attached to process %ld (%s), %zu thread%s, one of which did so for %.1f ms; counts in %s%s", q->pid,
	    result.name, result.nr_threads, result.nr_threads == 1 ? "" : "s", result.stop_ns / 1e6, output,
	    q->for_ms ? "" : "; elide detach ends it");
	if (q->for_ms)
		code = wait_and_end(&account, q, fd, &set);
	else
		sample_in_background(&account, q->pid, fd);
	account_free(&account);
	if (fd >= 0)
		close(fd);
	return code;
}

/**
 * cmd_attach() - elide attach.
 */
int cmd_attach(int argc, char **argv)
{
	const char *output = getenv("ELIDE_OUTPUT");
	struct request q = {.output = output && *output ? output : setting_find("OUTPUT")->def, .mode = "profile"};
	size_t word;
	int key;

	while ((key = options_next(argc, argv, attach_options, ARRAY_SIZE(attach_options), 0)) != OPTIONS_END) {
		switch (key) {
		case OPT_FOR:
			if (option_time("for", optarg, "1ms to 1000h", 1, 3.6e9, &q.for_ms))
				return EXIT_USAGE;
			break;
		case 'o':
			q.output = optarg;
			break;
		case OPT_MODE:
			if (option_word("mode", optarg, modes, &word))
				return EXIT_USAGE;
			q.mode = modes(word);
			break;
		case 'h':
			options_help("attach [OPTION...] PID", "Profiles the locks of a process that runs already.",
				     attach_options, ARRAY_SIZE(attach_options));
			return 0;
		default:
			return EXIT_USAGE;
		}
	}
	if (parse_pid("attach", argc, argv, &q.pid))
		return EXIT_USAGE;
	return begin(&q);
}

/**
 * cmd_detach() - elide detach.
 */
int cmd_detach(int argc, char **argv)
{
	long pid;
	int key;

	while ((key = options_next(argc, argv, detach_options, ARRAY_SIZE(detach_options), 0)) != OPTIONS_END) {
		switch (key) {
		case 'h':
			options_help("detach PID", "Ends what elide attach has begun.", detach_options,
				     ARRAY_SIZE(detach_options));
			return 0;
		default:
			return EXIT_USAGE;
		}
	}
	if (parse_pid("detach", argc, argv, &pid))
		return EXIT_USAGE;
	return end(pid, "detach");
}
