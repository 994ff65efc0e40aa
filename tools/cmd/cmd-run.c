// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-run.c - elide run: start a program with elide's library in it.
 *
 * The program runs, if necessary unelided, even if library, output or settings are wrong. Must never
 * write to standard output.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "../base/create.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/text.h"
#include "../base/unseen.h"
#include "../counters/pmu-run.h"
#include "../live/live.h"
#include "../model/load.h"
#include "../base/program.h"
#include "../model/run-files.h"
#include "../run/child.h"
#include "../run/run.h"
#include "../run/unseen-file.h"
#include "cmd.h"

static bool is_off(void)
{
	const char *mode = getenv("ELIDE_MODE");

	return mode && !strcmp(mode, "off");
}

/* Return: 0; 1 after --help and the like; after one line -EDOM of the machine, else -EINVAL. */
static int parse(int argc, char **argv, struct run_request *r)
{
	const char *emulator_option = NULL;
	int key, rc = 0;

	memset(r, 0, sizeof(*r));
	while (!rc && (key = options_next(argc, argv, run_options, nr_run_options, 1)) !=
			      OPTIONS_END) {
		if (key == 'h') {
			options_help("run [OPTION...] [--] PROGRAM [ARGUMENT...]",
				     "Runs a program with its locks elided, or profiled where RTM "
				     "is missing.",
				     run_options, nr_run_options);
			return 1;
		}
		rc = run_apply(key, r, &emulator_option);
	}
	if (rc)
		return rc;
	r->argv = argv + optind;
	r->argc = argc - optind;
	if (!r->argc) {
		say("no program given: elide run [OPTION...] -- PROGRAM [ARGUMENT...]");
		return -EINVAL;
	}
	if (r->metrics.every_ms && !r->metrics.file) {
		say("--every goes with --metrics only");
		return -EINVAL;
	}
	if (r->metrics.file && !strcmp(r->metrics.file, "-")) {
		say("--metrics=-: standard output is the program's");
		return -EINVAL;
	}
	if (r->watchdog.limit_ms && (r->emulate || is_off())) {
		say(r->emulate ? "--watchdog goes without --emulate only: the stacks would be the emulator's" :
				 "--watchdog goes without --mode=off only: no wait is known then");
		return -EINVAL;
	}
	if (emulator_option && !r->emulate && !r->quiet)
		say("--%s is a setting of the emulated machine: it does nothing without --emulate",
		    emulator_option);
	if (r->verbose)
		run_give(r, setting_find("VERBOSE"), "1");
	return 0;
}

static const char *output_name(void)
{
	const char *output = getenv("ELIDE_OUTPUT");

	return output && *output ? output : setting_find("OUTPUT")->def;
}

/* Warns if a file cannot be made, whose directory is known before the program runs. */
static void warn_of_file(const char *file, const char *lost)
{
	char dir[PATH_MAX];
	size_t len = base_name(file) - file;

	if (len >= sizeof(dir) || memchr(file, '%', len))
		return;
	snprintf(dir, sizeof(dir), "%.*s", (int)len, file);
	if (access(len ? dir : ".", W_OK | X_OK))
		say("%s cannot be written: %s; the program runs, what is %s is lost", file,
		    strerror(errno), lost);
}

/* Start `elide report` for the files, which prints to @out. Returns 0 or -errno. */
static int start_report(const struct paths *f, int out, pid_t *pid)
{
	char **argv = calloc(2 * f->nr + 4, sizeof(*argv)), path[PATH_MAX];
	posix_spawn_file_actions_t actions;
	size_t nr = 0;
	int err = argv ? product_path("libexec/elide/elide", path) : -ENOMEM;

	if (err)
		goto free_argv;
	argv[nr++] = "elide";
	argv[nr++] = "report";
	argv[nr++] = "--no-children";
	for (size_t i = 0; i < f->nr; i++) {
		argv[nr++] = "-i";
		argv[nr++] = f->path[i];
	}
	err = -posix_spawn_file_actions_init(&actions);
	if (err)
		goto free_argv;
	err = -posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!err)
		err = -posix_spawn(pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
free_argv:
	free(argv);
	return err;
}

static void print_report(const struct run_request *r, const struct paths *f)
{
	bool to_file = strcmp(r->report, "stderr");
	int out = STDERR_FILENO, err;
	pid_t pid;

	if (to_file)
		out = create_file(r->report);
	if (out < 0) {
		say("%s: %s", r->report,
		    out == -ELOOP ? "is a symbolic link, which is not followed" : strerror(-out));
		return;
	}
	err = start_report(f, out, &pid);
	if (to_file)
		close(out);
	if (err)
		say("no report: %s", strerror(-err));
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

/* Data files that the last line names; further ones are only counted. */
#define NAMED_MAX 4

/* The first visible process of the run that still runs; 0 if there is none. */
static long find_background(void)
{
	char wanted[64], path[PATH_MAX], *name = NULL;
	struct dirent *entry;
	size_t size = 0;
	DIR *proc = opendir("/proc");
	long found = 0;

	snprintf(wanted, sizeof(wanted), "ELIDE_RUN=%s", getenv("ELIDE_RUN"));
	while (proc && !found && (entry = readdir(proc))) {
		long pid = strtol(entry->d_name, NULL, 10);
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
		f = pid > 0 && pid != getpid() ? fopen(path, "re") : NULL;
		while (f && !found && getdelim(&name, &size, '\0', f) > 0)
			found = strcmp(name, wanted) ? 0 : pid;
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	free(name);
	return found;
}

/* Does a line of a script start programs without what LD_PRELOAD has? */
static bool replaces_preload(const char *line)
{
	const char *name = strstr(line, "LD_PRELOAD");

	if (line[strspn(line, " \t")] == '#')
		return false;
	return strstr(line, "env -i ") ||
	       (name && !strstr(line, "$LD_PRELOAD") && !strstr(line, "${LD_PRELOAD") &&
		(name[strlen("LD_PRELOAD")] == '=' || strstr(line, "unset ") || strstr(line, "env -u")));
}

/* The first line of a script that replaces LD_PRELOAD, 0 if none does or the file is no script. */
static size_t find_replacing(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, nr = 0, found = 0;

	while (f && !found && getline(&line, &size, f) > 0) {
		if (!nr++ && strncmp(line, "#!", 2))
			break;
		if (replaces_preload(line))
			found = nr;
	}
	if (f)
		fclose(f);
	free(line);
	return found;
}

/* Why there is no data file of the run, as far as the launcher knows. */
static const char *why_none(const struct run_request *r, const struct program *p, const char *output)
{
	static char why[PATH_MAX + 192];
	const char *script = p->is_script ? p->path : r->argc > 1 ? r->argv[1] : NULL;
	size_t line;
	struct statvfs fs;
	char dir[PATH_MAX];
	long pid;
	size_t len = base_name(output) - output;

	if (unseen_obstacle(p) != NR_UNSEEN) {
		snprintf(why, sizeof(why), "the program is %s", unseen_text(unseen_obstacle(p)));
		return why;
	}
	if (len < sizeof(dir) && !memchr(output, '%', len)) {
		snprintf(dir, sizeof(dir), "%.*s", (int)len, output);
		if (access(len ? dir : ".", W_OK | X_OK)) {
			snprintf(why, sizeof(why), "%s: %s", len ? dir : ".", strerror(errno));
			return why;
		}
		if (!statvfs(len ? dir : ".", &fs) && !fs.f_bavail)
			return "no space is left on the device";
	}
	/* A script that starts the program, or is an argument of its shell. */
	line = script ? find_replacing(script) : 0;
	if (line) {
		snprintf(why, sizeof(why), "line %zu of %s replaces LD_PRELOAD, so the library was not loaded; "
			 "it should add to it: LD_PRELOAD=...:$LD_PRELOAD", line, script);
		return why;
	}
	/* A daemon writes its file once it takes a lock. */
	pid = find_background();
	if (pid) {
		snprintf(why, sizeof(why), "process %ld of the run goes on in the background and has taken "
			 "no lock yet; see elide top %ld", pid, pid);
		return why;
	}
	return "no lock was taken, or the library was not loaded";
}

/* @nr_counted: of the files, those of processes in which the library was */
static void say_next(const struct run_request *r, const struct program *p, const struct paths *f,
		     size_t nr_counted, const char *output, int code)
{
	char list[2048] = "", what[PATH_MAX + 256] = "counted";
	const char *first = NULL;
	size_t len = 0;

	if (!f->nr && is_off())
		return;
	/* rtmgrind has said why it refuses the machine. */
	if (!f->nr && r->emulate && code == EXIT_MACHINE)
		return;
	if (!f->nr) {
		say("no data file was written: %s", why_none(r, p, output));
		return;
	}
	if (!nr_counted)
		snprintf(what, sizeof(what), "no lock was seen: %s; the time of threads is", why_none(r, p, output));
	/* Without %p the report finds the children's files itself. */
	if (!strcmp(output, setting_find("OUTPUT")->def)) {
		say("%s in %s; next: elide report", what, output);
		return;
	}
	/* The child that took the first lock of the run may have that name. */
	for (size_t i = 0; i < f->nr && !strchr(output, '%'); i++)
		if (!strcmp(f->path[i], output))
			first = output;
	for (size_t i = 0; i < f->nr && i < NAMED_MAX && len < sizeof(list); i++) {
		if (first) {
			snprintf(list, sizeof(list), " -i '%s'", first);
			break;
		}
		len += snprintf(list + len, sizeof(list) - len, " -i '%s'", f->path[i]);
	}
	say("%s in %s%s; next: elide report%s", what, first ? first : f->path[0],
	    f->nr > 1 ? " and files of its children" : "", list);
}

/*
 * Removes files FILE.PID that no report includes any more, those of processes that began before the
 * run of FILE.old. A file of a run that overlaps with this one began later.
 */
static void remove_orphans(struct run_folder *folder, const char *output, uint64_t run)
{
	struct elide_header old, h;
	struct paths others = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.old", output);
	if (!strchr(output, '%'))
		run_files_other_in(folder, &others, output, run, run_files_is_child);
	for (size_t i = 0; i < others.nr; i++) {
		if (!i && load_header(path, &old))
			break;
		if (!load_header(others.path[i], &h) && h.run && h.run != old.run &&
		    h.start_realtime_ns < old.start_realtime_ns && !live_runs(&h, h.pid))
			unlink(others.path[i]);
	}
	paths_free(&others);
}

/* Reports processes that gave up their rights before they had a file. */
static void say_lost(const struct child_files *f)
{
	if (f->nr_lost)
		say("%llu process%s of the run could not write a data file: %s; what %s counted is lost. "
		    "They were forked by one that had given up its rights or changed its root: name a "
		    "file with -o where they may write",
		    (unsigned long long)f->nr_lost, f->nr_lost == 1 ? "" : "es",
		    strerror(f->lost_error), f->nr_lost == 1 ? "it" : "they");
}

static void finish(struct run_request *r, const struct program *p, struct counting *c,
		   const char *output, uint64_t run, const struct child *child)
{
	struct child_files files = {0};
	struct paths *f = &files.paths;
	size_t nr_counted;

	if (find_files(&files, output, run, child->pid))
		say("out of memory while looking for data files");
	remove_orphans(&files.folder, output, run);
	nr_counted = f->nr;
	if (child->account && !is_off())
		unseen_files_write(child->account, f, output, run, child->pid, child->status);
	for (size_t i = 0; i < nr_counted; i++)
		end_data_file(f->path[i], child->pid, child->status, child->account);
	counting_end(c, nr_counted ? f->path[0] : NULL, child->pid);
	metrics_end(&r->metrics, f);
	if (!r->quiet)
		say_lost(&files);
	if (r->report && f->nr)
		print_report(r, f);
	else if (!r->quiet)
		say_next(r, p, f, nr_counted, output, exit_code(child->status));
	find_files_free(&files);
}

/* What is done while the program runs. */
static void tick(void *arg, pid_t pid)
{
	struct run_request *r = arg;

	if (r->watchdog.limit_ms)
		watchdog_tick(&r->watchdog, pid);
	if (r->metrics.file && now_ns() >= r->metrics.next_ns) {
		metrics_tick(&r->metrics, pid);
		r->metrics.next_ns = now_ns() + r->metrics.every_ms * 1000000;
	}
}

/* Runs the program, rewrites its metrics and watches it meanwhile. Return: 0 or -errno. */
static int run_child(struct run_request *r, struct child *c, const char *output, uint64_t run)
{
	int rc;

	c->arg = r;
	if (r->metrics.file && c->preload) {
		if (!r->metrics.every_ms)
			r->metrics.every_ms = METRICS_EVERY * 1000;
		r->metrics.output = output;
		r->metrics.run = run;
		c->tick = tick;
		c->tick_ms = r->metrics.every_ms;
		r->metrics.next_ns = now_ns() + c->tick_ms * 1000000;
	}
	if (r->watchdog.limit_ms && c->preload) {
		r->watchdog.output = output;
		r->watchdog.run = run;
		r->watchdog.quiet = r->quiet;
		c->tick = tick;
		c->tick_ms = watchdog_every_ms(&r->watchdog);
		c->traced = true;
	}
	rc = child_measure(c);
	watchdog_end(&r->watchdog);
	return rc;
}

/**
 * cmd_run() - elide run.
 */
int cmd_run(int argc, char **argv)
{
	const char *output, *learned;
	struct run_request r;
	struct run_program p;
	struct counting counting;
	struct account account = {0};
	struct child c = {.account = &account};
	uint64_t run;
	int rc;

	rc = parse(argc, argv, &r);
	if (rc)
		return rc > 0 ? 0 : rc == -EDOM ? EXIT_MACHINE : EXIT_LAUNCHER;
	rc = run_prepare(&r, &p);
	if (rc)
		return rc;
	output = output_name();
	learned = getenv("ELIDE_LEARNED");
	if (p.preload) {
		warn_of_file(output, "counted");
		if (learned && *learned)
			warn_of_file(learned, "learnt");
	}
	run = run_mark();
	counting_start(&counting, r.emulate, getenv("ELIDE_PMU"), r.pcm);
	c.argv = run_command(&r, &p, &c.path);
	c.preload = p.preload;
	/* Virtual time is not that of /proc. */
	if (r.emulate)
		c.account = NULL;
	else if (!strchr(output, '%'))
		account.file = output;
	rc = c.argv ? run_child(&r, &c, output, run) : -ENOMEM;
	if (rc || (!p.preload && !c.account))
		counting_end(&counting, NULL, c.pid);
	else
		finish(&r, &p.program, &counting, output, run, &c);
	account_free(&account);
	free(p.preload);
	if (!rc)
		return exit_code(c.status);
	if (!c.argv)
		return EXIT_LAUNCHER;
	say("%s: %s", r.argv[0], strerror(-rc));
	return rc == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}
