// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-merge.c - elide merge: the data files of many runs and hosts as one.
 *
 * Reads one file after the other, so there may be any number of them. Must never write to a data
 * file that a process writes, nor replace another kind of file.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/intern.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/paths.h"
#include "../base/progress.h"
#include "../base/replace.h"
#include "../base/sort.h"
#include "../base/text.h"
#include "../live/live.h"
#include "../model/file/faults.h"
#include "../model/join/clock.h"
#include "../model/join/join.h"
#include "../model/join/save.h"
#include "../model/run-files.h"
#include "cmd.h"

enum { OPT_NO_CHILDREN = 256, OPT_FILES };

static const struct option_desc options[] = {
	{'o', "output", "FILE", "data file to write; an older data file is replaced"},
	{OPT_FILES, "files-from", "FILE", "read names of data files from FILE, a line each (- stdin)"},
	{OPT_NO_CHILDREN, "no-children", NULL, "leave out FILE.PID of child processes"},
	{'q', "quiet", NULL, "print only errors"},
	OPTION_HELP,
};

/* What the command line asks for. */
struct request {
	const char *output;
	struct paths given;
	int children;
	int quiet;
};

/* A file to join, and what decides its place among the others. */
struct input {
	const char *path;
	uint64_t run;
	uint64_t start_ns;
	uint64_t run_start_ns;
};

static int add_names(struct paths *to, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;

	if (!f) {
		rc = -errno;
		say("%s: %s", path, strerror(errno));
		return rc;
	}
	while (!rc && (len = getline(&line, &size, f)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			rc = paths_add(to, line);
	}
	free(line);
	if (f != stdin)
		fclose(f);
	return rc;
}

static int apply(int key, struct request *r)
{
	switch (key) {
	case 'o':
		r->output = optarg;
		return 0;
	case OPT_FILES:
		return add_names(&r->given, optarg);
	case OPT_NO_CHILDREN:
		r->children = 0;
		return 0;
	case 'q':
		r->quiet = 1;
		return 0;
	}
	return -EINVAL;
}

/* Leaves out children from @first on that are in the list already. */
static int leave_out_known(struct intern *known, struct paths *p, size_t first)
{
	for (size_t i = first; i < p->nr; i++) {
		size_t len = strlen(p->path[i]);

		if (intern_has(known, p->path[i], len))
			p->path[i][0] = '\0';
		else if (intern(known, p->path[i], len) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The files that are given, with those of their runs; those given twice are left out later. */
static int find_inputs(const struct request *r, struct paths *to)
{
	struct run_folder folder = {0};
	struct intern known = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < r->given.nr; i++)
		if (intern(&known, r->given.path[i], strlen(r->given.path[i])) < 0)
			rc = -ENOMEM;
	for (size_t i = 0; !rc && i < r->given.nr; i++) {
		struct elide_header h;
		size_t before = to->nr;

		rc = paths_add(to, r->given.path[i]);
		if (rc || !r->children || load_header(r->given.path[i], &h) || !h.run)
			continue;
		rc = run_files_in(&folder, to, r->given.path[i], h.run, run_files_is_child);
		rc = rc ? rc : leave_out_known(&known, to, before + 1);
	}
	run_folder_free(&folder);
	intern_free(&known);
	return rc;
}

static int by_run(const void *x, const void *y)
{
	const struct input *a = x, *b = y;
	int c = by_number(a->run, b->run);

	if (!c)
		c = by_number(a->start_ns, b->start_ns);
	return c ? c : strcmp(a->path, b->path);
}

static int by_start(const void *x, const void *y)
{
	const struct input *a = x, *b = y;
	int c = by_number(a->run_start_ns, b->run_start_ns);

	return c ? c : by_run(x, y);
}

/*
 * Sorts runs by their start, and keeps the files of a run together; damaged files may be anywhere.
 */
static struct input *sort_inputs(const struct paths *p, size_t *nr)
{
	struct input *inputs = calloc(p->nr + 1, sizeof(*inputs));
	struct elide_header h;

	*nr = 0;
	for (size_t i = 0; inputs && i < p->nr; i++) {
		struct input *in = &inputs[*nr];

		if (!p->path[i][0])
			continue;
		in->path = p->path[i];
		if (!load_header(p->path[i], &h)) {
			in->run = h.run;
			in->start_ns = h.start_realtime_ns;
		}
		++*nr;
	}
	if (!inputs)
		return NULL;
	qsort(inputs, *nr, sizeof(*inputs), by_run);
	for (size_t i = 0; i < *nr; i++)
		inputs[i].run_start_ns = i && inputs[i].run && inputs[i].run == inputs[i - 1].run ?
						 inputs[i - 1].run_start_ns : inputs[i].start_ns;
	qsort(inputs, *nr, sizeof(*inputs), by_start);
	return inputs;
}

/* Loads a file; a running process ends now. Return: 0, or -errno after one line. */
static int load_input(const char *path, struct data_file *f)
{
	char error[LOAD_ERROR_MAX];
	int rc = load(path, f, error);

	if (rc) {
		say("%s; left out", error);
		return rc;
	}
	if (live_runs(&f->header, f->header.pid))
		live_set_end(&f->header);
	rc = load_base(f);
	if (rc)
		load_free(f);
	return rc;
}

/* Begins with the first readable file, which determines the program. */
static struct join *begin(const struct paths *given)
{
	char error[LOAD_ERROR_MAX];
	struct data_file f;
	struct join *j;

	for (size_t i = 0; i < given->nr; i++) {
		if (load(given->path[i], &f, error))
			continue;
		j = join_new(&f);
		load_free(&f);
		return j;
	}
	return NULL;
}

/*
 * Sets *@damaged if a part of a file is missing. Return: number of files left out, each after one
 * line; or -ENOMEM.
 */
static int join_all(struct join *j, const struct input *inputs, size_t nr, bool *damaged)
{
	int left_out = 0;

	for (size_t i = 0; i < nr; i++) {
		struct data_file f;
		char why[512], faults[LOAD_ERROR_MAX];
		int rc;

		progress(i, nr);
		if (load_input(inputs[i].path, &f)) {
			left_out++;
			continue;
		}
		if (faults_of(&f, faults)) {
			say("%s; what is left is joined", faults);
			*damaged = true;
		}
		rc = join_add(j, &f, why, sizeof(why));
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			say("%s: %s; left out", inputs[i].path,
			    rc == -EINVAL ? why : strerror(-rc));
		left_out += rc != 0;
	}
	progress(nr, nr);
	return left_out;
}

static void say_line(const char *line)
{
	say("%s", line);
}

static bool is_data(const char *head, size_t len)
{
	const uint64_t magic = ELIDE_DATA_MAGIC;

	return len >= sizeof(magic) && !memcmp(head, &magic, sizeof(magic));
}

static void tell(const struct data_file *f, const struct join_told *t, const char *output)
{
	struct intern names = {0};
	size_t hosts;

	for (size_t i = 0; i < f->nr_sources; i++)
		intern(&names, f->sources[i].host, strlen(f->sources[i].host));
	hosts = names.nr;
	intern_free(&names);
	say("%s has %zu process%s of %zu host%s in %zu rows", output, f->nr_sources,
	    f->nr_sources == 1 ? "" : "es", hosts, plural(hosts), f->nr_rows);
	if (t->nr_builds > 1)
		say("they ran %zu builds of the program: %zu locks and call sites of the others "
		    "are those of the first by their names, %zu stay apart",
		    t->nr_builds, t->nr_same, t->nr_apart);
	if (t->fastest > t->slowest * (1 + CLOCK_SAME))
		say("their clocks have %.2f to %.2f GHz: times were converted", t->slowest,
		    t->fastest);
}

/* Return: 0, or EXIT_USAGE after one line. */
static int write_all(const struct request *r, struct data_file *f)
{
	struct replacement file;
	int rc;

	if (replace_begin(&file, r->output, "data file", stdout, is_data))
		return EXIT_USAGE;
	rc = save(f, file.out);
	return replace_end(&file, rc) ? EXIT_USAGE : 0;
}

static int merge(const struct request *r, const struct input *inputs, size_t nr)
{
	struct join *j = begin(&r->given);
	struct join_told told;
	struct data_file all;
	int left_out, code = EXIT_USAGE, rc;
	bool damaged = false;

	if (!j) {
		for (size_t i = 0; i < nr; i++)
			load_input(inputs[i].path, &all);
		say("there is nothing to join");
		return code;
	}
	left_out = join_all(j, inputs, nr, &damaged);
	rc = left_out < 0 ? left_out : join_end(j, &all, &told, say_line);
	if (rc)
		say("%s", rc == -ENODATA ? "there is nothing to join" : strerror(-rc));
	join_free(j);
	if (rc)
		return code;
	code = write_all(r, &all);
	if (!code && !r->quiet)
		tell(&all, &told, r->output);
	if (!code && (left_out || damaged))
		code = EXIT_CONDITION;
	join_free_file(&all);
	return code;
}

/* Is the file to replace in use? Says so. */
static bool is_in_use(const char *path)
{
	struct elide_header h;

	if (load_header(path, &h) || !live_runs(&h, h.pid))
		return false;
	say("%s is being written by process %u: it is left as it is", path, h.pid);
	return true;
}

/**
 * cmd_merge() - elide merge.
 */
int cmd_merge(int argc, char **argv)
{
	struct request r = {.children = 1};
	struct paths all = {0};
	struct input *inputs = NULL;
	int key, rc = 0, code = EXIT_USAGE;
	size_t nr = 0;

	while (!rc && (key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) !=
			      OPTIONS_END) {
		if (key == 'h') {
			options_help("merge -o FILE [OPTION...] FILE...",
				     "Joins data files of the same program, of many runs and hosts.",
				     options, ARRAY_SIZE(options));
			code = 0;
			goto free_paths;
		}
		rc = apply(key, &r);
	}
	while (!rc && optind < argc)
		rc = paths_add(&r.given, argv[optind++]);
	if (rc)
		goto free_paths;
	if (!r.output || !r.given.nr) {
		say("merge: needs data files, and -o with the name of a new one");
		goto free_paths;
	}
	if (is_in_use(r.output))
		goto free_paths;
	rc = find_inputs(&r, &all);
	if (!rc)
		inputs = sort_inputs(&all, &nr);
	if (inputs)
		code = merge(&r, inputs, nr);
	else
		say("%s", strerror(ENOMEM));
free_paths:
	free(inputs);
	paths_free(&r.given);
	paths_free(&all);
	return code;
}
