// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-compare.c - elide compare: run a program plain and elided, in turn.
 *
 * Plain is without the library; on an emulated machine it is with the library
 * switched off, on the same machine. Must never leave a process or a file behind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cmd.h"
#include "compare.h"
#include "load.h"
#include "report.h"
#include "run.h"
#include "suggest.h"

#define PAIRS_MAX 10000
/* Pairs unless something else is asked for. Emulated runs are slow, and their time is exact. */
#define PAIRS_NATIVE   10
#define PAIRS_EMULATED 5

/* Keys of the options that elide run does not have: beyond all of its own. */
enum { OPT_FIRST = 1000, OPT_OUTPUT, OPT_FAIL_IF, OPT_CONFIDENCE, OPT_MARGIN, OPT_SEED, OPT_JSON };

static const struct option_desc own_options[] = {
	{'n', "runs", "N", "pairs of runs to measure (10; 5 if emulated)"},
	{OPT_SEED, "seed", "N", "of the order of runs; emulated, of the first pair's machine"},
	{OPT_FAIL_IF, "fail-if", "CONDITION",
	 "exit with 1 if it holds: 'slower > 2%', hurts; may be given again"},
	{OPT_CONFIDENCE, "confidence", "PERCENT", "how sure a verdict must be (95)"},
	{OPT_MARGIN, "margin", "PERCENT", "a difference not worth the name (1)"},
	{OPT_OUTPUT, "output", "HOW", "what the program prints: none (default), first run, all"},
	{OPT_JSON, "json", NULL, "the result as JSON"},
};

/* Options of elide run that make no sense here: these are about one run. */
static const char *const left_out[] = {"output", "report",  "counters", "seed",
					"quiet",  "verbose", "pmu",      "pcm"};

enum shown { SHOW_NONE, SHOW_FIRST, SHOW_ALL };

/* What the command line asks for, and what it takes to do it. */
struct comparing {
	struct run_request request;
	struct run_program program;
	struct comparison result;
	struct compare_condition *conditions;
	size_t nr_conditions;
	size_t nr_pairs;
	enum shown shown;
	bool json;
	char dir[64];
	char *mode; /* ELIDE_MODE as it was; NULL without */
	int null;
	int input;
};

/* A signal that came between two runs. */
static volatile sig_atomic_t stopped;

static void note_signal(int sig)
{
	stopped = sig;
}

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!strcmp(left_out[i], name))
			return true;
	return false;
}

/* Our options, then those of elide run, of which --help is the last. */
static size_t all_options(struct option_desc *to)
{
	size_t nr = ARRAY_SIZE(own_options);

	memcpy(to, own_options, sizeof(own_options));
	for (size_t i = 0; i < nr_run_options && nr < OPTIONS_MAX; i++)
		if (!is_left_out(run_options[i].name))
			to[nr++] = run_options[i];
	return nr;
}

static int parse_seed(const char *text, uint64_t *to)
{
	double v;

	if (option_number("seed", text, 0, UINT32_MAX - PAIRS_MAX, &v))
		return -EINVAL;
	*to = v;
	return 0;
}

static int parse_shown(const char *text, enum shown *to)
{
	static const char *const names[] = {"none", "first", "all"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i])) {
			*to = i;
			return 0;
		}
	say("--output=%s: nearest is %s", text, suggest(text, names, ARRAY_SIZE(names)));
	return -EINVAL;
}

static int add_condition(struct comparing *c, const char *text)
{
	struct compare_condition *grown =
		reallocarray(c->conditions, c->nr_conditions + 1, sizeof(*grown));
	char why[256];
	size_t bad;

	if (!grown)
		return -ENOMEM;
	c->conditions = grown;
	bad = compare_condition_parse(&grown[c->nr_conditions], text, why, sizeof(why));
	if (bad) {
		say("--fail-if='%s': %s at position %zu", text, why, bad);
		return -EINVAL;
	}
	c->nr_conditions++;
	return 0;
}

static int apply(int key, struct comparing *c, const char **emulator_option)
{
	double v;
	int rc;

	switch (key) {
	case 'n':
		rc = option_number("runs", optarg, 1, PAIRS_MAX, &v);
		c->nr_pairs = rc ? 0 : v;
		return rc;
	case OPT_SEED:
		return parse_seed(optarg, &c->result.seed);
	case OPT_FAIL_IF:
		return add_condition(c, optarg);
	case OPT_CONFIDENCE:
		rc = option_number("confidence", optarg, 50, 99.9, &v);
		c->result.confidence = v / 100;
		return rc;
	case OPT_MARGIN:
		rc = option_number("margin", optarg, 0, 100, &v);
		c->result.margin = v / 100;
		return rc;
	case OPT_OUTPUT:
		return parse_shown(optarg, &c->shown);
	case OPT_JSON:
		c->json = true;
		return 0;
	case OPTIONS_BAD:
		return -EINVAL;
	}
	return run_apply(key, &c->request, emulator_option);
}

/* Return: 0; 1 after --help and the like; -EINVAL after one line. */
static int parse(int argc, char **argv, struct comparing *c)
{
	struct option_desc options[OPTIONS_MAX];
	size_t nr = all_options(options);
	const char *emulator_option = NULL;
	int key, rc = 0;

	while (!rc && (key = options_next(argc, argv, options, nr, 1)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("compare [OPTION...] [--] PROGRAM [ARGUMENT...]",
				     "Runs a program plain and elided, in turn: does elision pay?",
				     options, nr);
			return 1;
		}
		rc = apply(key, c, &emulator_option);
	}
	if (rc)
		return rc;
	c->request.argv = argv + optind;
	c->request.argc = argc - optind;
	c->request.quiet = 1;
	if (!c->request.argc) {
		say("no program given: elide compare [OPTION...] -- PROGRAM [ARGUMENT...]");
		return -EINVAL;
	}
	if (emulator_option && !c->request.emulate) {
		say("%s is a setting of the emulated machine: it needs --emulate", emulator_option);
		return -EINVAL;
	}
	return 0;
}

/* What a run left in our directory; the directory too if it is the last. */
static void clear_directory(const struct comparing *c, bool last)
{
	DIR *d = opendir(c->dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	if (last)
		rmdir(c->dir);
}

/* Ends what a run has left running: we are the parent of what lost its own. */
static void end_leftovers(void)
{
	char path[64];
	int pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	for (;;) {
		f = fopen(path, "re");
		if (!f)
			return;
		if (fscanf(f, "%d", &pid) != 1)
			pid = 0;
		fclose(f);
		if (!pid)
			return;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Environment of a run: the same names each time, and values as long, for the emulated stack. */
static void set_environment(const struct comparing *c, int side, uint64_t seed)
{
	char text[128];

	run_mark();
	snprintf(text, sizeof(text), "%s/data", c->dir);
	setenv("ELIDE_OUTPUT", text, 1);
	if (side == PLAIN)
		setenv("ELIDE_MODE", "off", 1);
	else if (c->mode)
		setenv("ELIDE_MODE", c->mode, 1);
	else
		setenv("ELIDE_MODE", "auto", 1);
	if (!c->request.emulate)
		return;
	snprintf(text, sizeof(text), "%s/counters.%%p", c->dir);
	setenv("ELIDE_COUNTERS", text, 1);
	snprintf(text, sizeof(text), "%010llu", (unsigned long long)seed);
	setenv("ELIDE_SEED", text, 1);
}

/* Times of a process on the emulated machine: of its own end, and of its processor time. */
static int read_counters(const char *path, uint64_t *elapsed_ns, uint64_t *cpu_ns)
{
	FILE *f = fopen(path, "re");
	unsigned long long v;
	char name[128];
	int found = 0;

	if (!f)
		return -errno;
	while (fscanf(f, "%127s %llu", name, &v) == 2) {
		if (!strcmp(name, "time.elapsed_ns")) {
			*elapsed_ns = v;
			found++;
		} else if (!strcmp(name, "time.cpu_ns")) {
			*cpu_ns = v;
			found++;
		}
	}
	fclose(f);
	return found == 2 ? 0 : -ENODATA;
}

/* The longest of the run's processes, each of which has a clock of its own; CPU time of all. */
static int read_virtual_times(const struct comparing *c, struct run_result *r)
{
	DIR *d = opendir(c->dir);
	struct dirent *entry;
	int err = -ENOENT;

	*r = (struct run_result){.exit = r->exit};
	while (d && (entry = readdir(d))) {
		char path[sizeof(c->dir) + sizeof(entry->d_name) + 1];
		uint64_t elapsed = 0, cpu = 0;

		snprintf(path, sizeof(path), "%s/%s", c->dir, entry->d_name);
		if (strncmp(entry->d_name, "counters.", 9) || read_counters(path, &elapsed, &cpu))
			continue;
		if ((double)elapsed / 1e9 > r->elapsed_s)
			r->elapsed_s = (double)elapsed / 1e9;
		r->cpu_s += (double)cpu / 1e9;
		err = 0;
	}
	if (d)
		closedir(d);
	return err;
}

/* What the data file of an elided run says, that of the program before those of its children. */
static void read_elision(const struct comparing *c, pid_t pid, struct elision *e)
{
	char path[sizeof(c->dir) + 8], error[LOAD_ERROR_MAX];
	struct elide_header header;
	struct data_file f;
	struct report r;

	*e = (struct elision){0};
	snprintf(path, sizeof(path), "%s/data", c->dir);
	if (load_header(path, &header) || load(path, &f, error))
		return;
	e->known = true;
	e->mode = header.mode;
	e->rtm = header.rtm;
	snprintf(e->why, sizeof(e->why), "%s", header.why);
	if (!report_build(&r, &f, BY_LOCK, "cost")) {
		e->acquired = r.total.acquired;
		e->elided = r.total.elided;
		report_free(&r);
	}
	load_free(&f);
}

/* The file behind our input is read from its start each time; anything else could be read once. */
static int run_input(const struct comparing *c)
{
	if (c->input == STDIN_FILENO && lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
		return STDIN_FILENO;
	return c->null;
}

/* Return: 0; 1 if a signal ends it all; -errno after one line. */
static int run_once(struct comparing *c, int side, uint64_t seed, bool show, struct run_result *r)
{
	struct child child = {.in = run_input(c), .out = show ? 0 : c->null, .bound = true};
	int rc;

	set_environment(c, side, seed);
	child.argv = run_command(&c->request, &c->program, &child.path);
	if (!child.argv)
		return -ENOMEM;
	if (side == ELIDED || c->request.emulate)
		child.preload = c->program.preload;
	rc = child_measure(&child);
	end_leftovers();
	if (rc) {
		say("%s: %s", c->request.argv[0], strerror(-rc));
		return rc;
	}
	if (child.signal || stopped) {
		stopped = child.signal ? child.signal : stopped;
		return 1;
	}
	*r = (struct run_result){child.elapsed_ns / 1e9, child.cpu_ns / 1e9,
				 exit_code(child.status)};
	if (side == ELIDED)
		read_elision(c, child.pid, &c->result.elision);
	if (c->request.emulate && read_virtual_times(c, r)) {
		say("the emulator told no time of %s: exit code %d", c->request.argv[0], r->exit);
		rc = -ENODATA;
	}
	clear_directory(c, false);
	return rc;
}

/* Knuth's MMIX constants. */
static unsigned int draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static int run_pairs(struct comparing *c)
{
	/* The first runs fill caches; on an emulated machine there is nothing that they warm. */
	size_t warm_up = c->request.emulate ? 0 : 1;
	uint64_t state = c->result.seed, seed = c->result.seed;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->nr_pairs + warm_up; i++) {
		struct run_pair pair = {.first = draw(&state) >> 30};

		for (int turn = 0; !rc && turn < NR_SIDES; turn++) {
			int side = turn ^ pair.first;
			bool show = c->shown == SHOW_ALL || (c->shown == SHOW_FIRST && !i && !turn);

			rc = run_once(c, side, seed, show, &pair.run[side]);
		}
		if (rc || i < warm_up)
			continue;
		c->result.pairs[c->result.nr++] = pair;
		seed++;
	}
	return rc;
}

static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction old, action = {.sa_handler = note_signal};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/* Prints the result: the exit code. */
static int finish(struct comparing *c)
{
	const struct compare_condition **failed = calloc(c->nr_conditions + 1, sizeof(*failed));
	size_t nr = 0;
	int code;

	if (!failed || compare_judge(&c->result)) {
		free(failed);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < c->nr_conditions; i++)
		if (compare_holds(&c->result, &c->conditions[i]))
			failed[nr++] = &c->conditions[i];
	if (c->json)
		compare_print_json(&c->result, failed, nr, stdout);
	else
		compare_print(&c->result, stdout);
	fflush(stdout);
	for (size_t i = 0; i < nr; i++)
		say("failed: %s", failed[i]->text);
	if (c->result.exits_differ)
		say("failed: the program ends otherwise when it is elided");
	code = nr || c->result.exits_differ ? EXIT_CONDITION : 0;
	free(failed);
	return code;
}

/* Where the runs' files go; open files that stand for their input and output. */
static int prepare(struct comparing *c)
{
	const char *parent = getenv("TMPDIR"), *mode = getenv("ELIDE_MODE");

	if (!parent || strlen(parent) > sizeof(c->dir) - 32)
		parent = "/tmp";
	snprintf(c->dir, sizeof(c->dir), "%s/elide-compare.XXXXXX", parent);
	c->mode = mode ? strdup(mode) : NULL;
	c->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (c->null < 0 || !mkdtemp(c->dir)) {
		say("%s: %s", c->dir, strerror(errno));
		return -EIO;
	}
	return 0;
}

static int compare(struct comparing *c)
{
	int code = EXIT_USAGE, rc;

	if (run_prepare(&c->request, &c->program))
		return code;
	if (!c->program.preload) {
		say("%s cannot be elided: there is nothing to compare", c->request.argv[0]);
		return code;
	}
	if (!c->nr_pairs)
		c->nr_pairs = c->request.emulate ? PAIRS_EMULATED : PAIRS_NATIVE;
	c->result.argv = c->request.argv;
	c->result.emulated = c->request.emulate;
	c->result.pairs = calloc(c->nr_pairs, sizeof(*c->result.pairs));
	if (!c->result.pairs || prepare(c))
		return code;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	catch_signals();
	rc = run_pairs(c);
	clear_directory(c, true);
	if (rc > 0)
		code = 128 + stopped;
	else if (!rc)
		code = finish(c);
	return code;
}

/**
 * cmd_compare() - elide compare.
 */
int cmd_compare(int argc, char **argv)
{
	static struct comparing c = {
		.result = {.seed = 1, .confidence = 0.95, .margin = 0.01},
		.input = STDIN_FILENO,
	};
	int rc = parse(argc, argv, &c);
	int code = rc > 0 ? 0 : EXIT_USAGE;

	if (!rc)
		code = compare(&c);
	free(c.result.pairs);
	free(c.conditions);
	free(c.mode);
	return code;
}
