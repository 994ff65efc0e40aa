// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.c - prepares the start of a program with the library in it: options, inspection of the
 * program, the preloaded library, the emulator.
 *
 * Must never start the program, nor write to standard output unless an option asks for that.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/unseen.h"
#include "conf.h"
#include "models.h"
#include "run.h"

/*
 * Options from OPT_CORES on set a number of the emulated machine; -o and those from OPT_MODE on set the
 * tunable of the same name.
 */
enum {
	OPT_SET = 256,
	OPT_EMULATE,
	OPT_PMU,
	OPT_PCM,
	OPT_REPORT,
	OPT_HEAP,
	OPT_CONF,
	OPT_METRICS,
	OPT_EVERY,
	OPT_WATCHDOG,
	OPT_CORES,
	OPT_SMT,
	OPT_SOCKETS,
	OPT_QUANTUM,
	OPT_ABORT_RATE,
	OPT_PLACEMENT,
	OPT_HLE,
	OPT_MODE,
	OPT_POLICY,
	OPT_KINDS,
	OPT_LOCKS,
	OPT_SEED,
	OPT_COUNTERS,
	OPT_DEADLOCK,
	OPT_STACKS,
	OPT_LEARNED,
};

static OPTION_VALUES(placements, "compact", "spread")
static OPTION_VALUES(hle_words, "no", "yes", "model")

const struct option_desc run_options[] = {
	{OPT_MODE, "mode", "MODE", "auto, elide, profile or off"},
	{OPT_POLICY, "policy", "NAME", "when to elide, and how often to retry: NAME[:NUMBER=VALUE,...]"},
	{OPT_KINDS, "kinds", "LIST", "kinds of locks to elide: mutex,rwlock,spin"},
	{OPT_LOCKS, "locks", "RULES", "PATTERN=on|off|profile,... by lock or call site"},
	{'o', "output", "FILE", "data file (elide.data); %p process id, %e program"},
	{OPT_SET, "set", "NAME=VALUE", "any setting of elide tunables; may be given again"},
	{OPT_CONF, "conf", "FILE", "settings from a file, such as elide report suggests"},
	{OPT_STACKS, "stacks", "N", "keep the stack of one in N aborts and waits; 0 none"},
	{OPT_LEARNED, "learned", "FILE", "begin with what earlier runs have learnt, and add to it"},
	{OPT_REPORT, "report", "[FILE]", "print the report at the end, to stderr or a file"},
	{OPT_METRICS, "metrics", "FILE",
	 "write metrics for Prometheus to a file while the program runs"},
	{OPT_EVERY, "every", "TIME", "time between two files of --metrics: 10s (default), 1m, 1h"},
	{OPT_WATCHDOG, "watchdog", "TIME",
	 "write the stacks to FILE.stacks when a wait for a lock lasts longer: 10s, 500ms"},
	{OPT_PMU, "pmu", "[HOW]",
	 "stat: count transactions with the processor's counters too; abort: also sample aborts"},
	{OPT_PCM, "pcm", NULL, "run Intel's pcm-tsx beside the program, which needs root"},
	{OPT_HEAP, "heap", "[N]", "name heap data in conflict: where one in N (64) was allocated"},
	{OPT_EMULATE, "emulate", "[MODEL]",
	 "run on an emulated machine with RTM, MODEL[:NUMBER=VALUE,...]; list prints them"},
	{OPT_CORES, "cores", "N", "cores of the emulated machine, in all sockets"},
	{OPT_SMT, "smt", "N", "hardware threads of each emulated core, 1 or 2"},
	{OPT_SOCKETS, "sockets", "N", "its sockets"},
	{OPT_PLACEMENT, "placement", "HOW", "compact or spread: how threads are placed on emulated cores",
	 placements},
	{OPT_HLE, "hle", "HOW", "yes, no or model: whether XACQUIRE elides in the emulator", hle_words},
	{OPT_SEED, "seed", "N", "seed of the emulator's random choices"},
	{OPT_QUANTUM, "quantum", "N", "instructions that an emulated thread may run ahead"},
	{OPT_ABORT_RATE, "abort-rate", "PERCENT", "emulated transactions that abort at random"},
	{OPT_COUNTERS, "counters", "FILE", "file for the emulated performance counters; yes: stderr"},
	{OPT_DEADLOCK, "deadlock", "HOW", "exit or wait when all emulated threads wait for each other"},
	{'q', "quiet", NULL, "print only errors"},
	{'v', "verbose", NULL, "the library prints what it decides at the start"},
	OPTION_HELP,
};

const size_t nr_run_options = ARRAY_SIZE(run_options);

size_t run_options_after(struct option_desc to[OPTIONS_MAX], const struct option_desc *own, size_t nr,
			 const char *const *left_out, size_t nr_left_out)
{
	memcpy(to, own, nr * sizeof(*own));
	for (size_t i = 0; i < nr_run_options && nr < OPTIONS_MAX; i++) {
		size_t at = 0;

		while (at < nr_left_out && strcmp(left_out[at], run_options[i].name))
			at++;
		if (at == nr_left_out)
			to[nr++] = run_options[i];
	}
	return nr;
}

/* Sets the variable of a tunable; if the value is invalid, removes it, so that the default is used. */
static void set_tunable(const struct setting *s, const char *value)
{
	char variable[64], message[512];

	snprintf(variable, sizeof(variable), "ELIDE_%s", s->name);
	if (!setting_check(s, value, message, sizeof(message))) {
		setenv(variable, value, 1);
		return;
	}
	say("%s", message);
	unsetenv(variable);
}

int run_give(struct run_request *r, const struct setting *s, const char *value)
{
	char variable[64], message[512];

	if (setting_check(s, value, message, sizeof(message))) {
		/* Cuts the end of the message: no value is used instead here. */
		*strstr(message, ", using ") = '\0';
		say("%s", message);
		return -EINVAL;
	}
	if ((size_t)(s - settings) < SETTINGS_MAX)
		r->given[s - settings] = 1;
	snprintf(variable, sizeof(variable), "ELIDE_%s", s->name);
	setenv(variable, value, 1);
	return 0;
}

static int set_by_name(struct run_request *r, const char *assignment)
{
	char name[64], why[160];
	const struct setting *s;
	const char *equal = strchr(assignment, '=');

	if (!equal) {
		say("--set=%s: it takes NAME=VALUE, elide tunables lists the names", assignment);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equal - assignment), assignment);
	s = setting_find(name);
	if (s)
		return run_give(r, s, equal + 1);
	say("ELIDE_%s %s", name, setting_why_unknown(name, why, sizeof(why)));
	return -EINVAL;
}

static const struct option_desc *find_option(int key)
{
	const struct option_desc *o = run_options;

	while (o->key != key)
		o++;
	return o;
}

/* --emulate=list[:MODEL] */
static int print_models(const char *model)
{
	char why[512];

	if (!*model) {
		models_print(stdout);
		return 1;
	}
	if (!models_print_one(model + 1, stdout, why, sizeof(why)))
		return 1;
	say("--emulate: %s", why);
	return -EDOM;
}

static int set_emulate(struct run_request *r, const char *model)
{
	static const char list[] = "list";
	char why[512];

	r->emulate = 1;
	if (!model)
		return 0;
	if (!strncmp(model, list, strlen(list)) && (!model[4] || model[4] == ':'))
		return print_models(model + strlen(list));
	if (models_check(model, why, sizeof(why))) {
		say("--emulate: %s", why);
		return -EDOM;
	}
	return run_give(r, setting_find("MODEL"), model);
}

/*
 * Sets a number of the emulated machine by an option: --abort-rate is abort_rate. Refuses a machine that
 * cannot be emulated, because another one would give other results.
 */
static int set_number(struct run_request *r, const struct option_desc *o, const char *value)
{
	char name[32], why[512], *numbers = r->numbers;
	size_t word;

	snprintf(name, sizeof(name), "%s", o->key == OPT_PLACEMENT ? "spread" : o->name);
	if (strchr(name, '-'))
		*strchr(name, '-') = '_';
	if (o->values) {
		if (option_word(o->name, value, o->values, &word))
			return -EINVAL;
		if (o->values == hle_words && word == 2)
			return 0;
		value = word ? "1" : "0";
	}
	if (models_check_number(name, value, why, sizeof(why))) {
		say("--emulate: %s", why);
		return -EDOM;
	}
	if (asprintf(&r->numbers, "%s%s%s=%s", numbers ? numbers : "", numbers ? "," : "", name, value) < 0)
		return -ENOMEM;
	free(numbers);
	return 0;
}

int run_apply(int key, struct run_request *r, const char **emulator_option)
{
	const struct option_desc *o;
	const struct setting *s;

	switch (key) {
	case 'q':
		r->quiet = 1;
		return 0;
	case 'v':
		r->verbose = 1;
		return 0;
	case OPT_SET:
		return set_by_name(r, optarg);
	case OPT_EMULATE:
		return set_emulate(r, optarg);
	case OPT_PMU:
		return run_give(r, setting_find("PMU"), optarg ? optarg : "abort");
	case OPT_PCM:
		r->pcm = 1;
		return 0;
	case OPT_HEAP:
		return run_give(r, setting_find("HEAP"), optarg ? optarg : "64");
	case OPT_REPORT:
		r->report = optarg ? optarg : "stderr";
		return 0;
	case OPT_CONF:
		r->conf = optarg;
		return 0;
	case OPT_METRICS:
		r->metrics.file = optarg;
		return 0;
	case OPT_EVERY:
		return option_time("every", optarg, "1s to 24h", 1e3, 86400e3, &r->metrics.every_ms);
	case OPT_WATCHDOG:
		return option_time("watchdog", optarg, "10ms to 24h", 10, 86400e3, &r->watchdog.limit_ms);
	case OPTIONS_BAD:
		return -EINVAL;
	}
	o = find_option(key);
	s = setting_find(o->name);
	if (!s || s->scope == SETTING_EMU)
		*emulator_option = o->name;
	return s ? run_give(r, s, optarg) : set_number(r, o, optarg);
}

/* A setting of the file of settings. */
static void set_from_file(void *arg, const char *where, const char *name, const char *value)
{
	const struct setting *s = setting_find(name);
	struct run_request *r = arg;
	char why[160];

	if (!strcmp(name, "LD_BIND_NOW")) {
		setenv(name, value, 1);
		return;
	}
	if (s && s->scope == SETTING_RUN) {
		say("%s: %s is set by the launcher alone, ignored", where, s->name);
		return;
	}
	if (!s) {
		say("%s: %s %s, ignored", where, name, setting_why_unknown(name, why, sizeof(why)));
		return;
	}
	if ((size_t)(s - settings) < SETTINGS_MAX && r->given[s - settings])
		return;
	if (s->scope == SETTING_EMU && !r->emulate && !r->quiet)
		say("%s: %s is a setting of the emulated machine: it does nothing without --emulate",
		    where, s->name);
	set_tunable(s, value);
}

/* 0, or EXIT_LAUNCHER after one line. */
static int read_conf(struct run_request *r, const struct program *p)
{
	int rc = r->conf ? conf_read(r->conf, p->elf[0] ? p->elf : NULL, r->quiet, set_from_file, r) :
			   0;

	if (!rc)
		return 0;
	say("--conf=%s: %s", r->conf, strerror(-rc));
	return EXIT_LAUNCHER;
}

/* Finds and inspects the program. Return: 0, or the exit code after one line. */
static int check_program(const struct run_request *r, struct program *p)
{
	char path[PATH_MAX];
	const char *name = r->argv[0];
	int rc = program_find(name, path);

	if (rc == -EACCES) {
		say("%s: not executable", name);
		return EXIT_NOT_RUNNABLE;
	}
	if (rc) {
		say("%s: %s", name, rc == -ENOENT ? "not found" : strerror(-rc));
		return EXIT_NOT_FOUND;
	}
	rc = program_inspect(path, p);
	if (rc == -ENOENT && p->is_script) {
		say("%s: its interpreter %s is not there", name, p->elf);
		return EXIT_NOT_FOUND;
	}
	/* An executable that may not be read can still be run. */
	return 0;
}

/* 0, or EXIT_LAUNCHER if the emulator cannot run it. *@preload is cleared if it is of no use. */
static int warn_of_program(const struct run_request *r, const struct program *p, int *preload)
{
	enum unseen obstacle = unseen_obstacle(p);
	int foreign = p->is_elf && !p->is_amd64;

	if (obstacle == NR_UNSEEN)
		return 0;
	if (r->emulate && (foreign || p->is_privileged)) {
		say("%s is %s; the emulator cannot run it", p->elf, unseen_text(obstacle));
		return EXIT_LAUNCHER;
	}
	/* musl's loader starts no program with a library that needs glibc. */
	*preload = !foreign && obstacle != UNSEEN_musl;
	if (!r->quiet)
		say("%s is %s; it runs without elision", p->elf, unseen_text(obstacle));
	return 0;
}

/* Finds a library: beside this executable in the build tree, or in the installed tree. */
static int find_library(const char *name, char *path)
{
	static const char *const places[] = {"lib/", "lib/x86_64-linux-gnu/"};
	char place[PATH_MAX];

	if (access("/proc/self/exe", F_OK)) {
		say("%s is not found: /proc is not mounted, and it says where this elide is", name);
		return -ENOENT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(place, sizeof(place), "%s%s", places[i], name);
		if (!product_path(place, path))
			return 0;
	}
	say("%s is not installed beside this elide", name);
	return -ENOENT;
}

/* Is a number in the environment other than 0? @def if it is no number. */
static bool is_set(const char *variable, bool def)
{
	const char *value = getenv(variable);
	char *end;
	unsigned long long number = value ? strtoull(value, &end, 10) : 0;

	return !value || end == value || *end ? def : number;
}

/*
 * Value of LD_PRELOAD: the runtime of a sanitizer, which has to be the first object, the library, with
 * ELIDE_HEAP that for the heap, and the previous value. Return: NULL after one line.
 */
static char *preload_value(const struct program *p)
{
	const char *runtime = p->sanitizer;
	const char *existing = getenv("LD_PRELOAD");
	char library[PATH_MAX], heap[PATH_MAX];
	char *value;

	*heap = '\0';
	if (find_library("libelide-preload.so", library) ||
	    (is_set("ELIDE_HEAP", false) && find_library("libelide-heap.so", heap)))
		return NULL;
	/* ld.so(8): names are separated by spaces or colons, neither can be quoted. */
	if (strpbrk(library, " :")) {
		say("%s cannot be preloaded: there is a space or colon in its path", library);
		return NULL;
	}
	if (asprintf(&value, "%s%s%s%s%s%s%s", runtime, *runtime ? ":" : "", library, *heap ? ":" : "", heap,
		     existing && *existing ? ":" : "", existing ? existing : "") < 0)
		return NULL;
	return value;
}

/*
 * Value of a setting of the emulator, NULL if it is the default.
 */
static const char *emulator_value(const struct setting *s)
{
	char variable[64], message[512];
	const char *value;

	snprintf(variable, sizeof(variable), "ELIDE_%s", s->name);
	value = getenv(variable);
	/* The library warns of a bad value in the environment. */
	if (s->scope != SETTING_EMU || !value ||
	    setting_check(s, value, message, sizeof(message)))
		return NULL;
	if (s->type == SETTING_UINT && strtoull(value, NULL, 10) == strtoull(s->def, NULL, 10))
		return NULL;
	return strcmp(value, s->def) ? value : NULL;
}

/*
 * The emulator's command line: its options, those of our settings, the program. Numbers of the
 * machine with options of their own come last in the model, so that they have precedence.
 */
static char **emulator_argv(const struct emulator *e, const struct run_request *r)
{
	char **argv = calloc(nr_settings + r->argc + 6, sizeof(*argv)), *option;
	int n = 0;

	if (!argv)
		return NULL;
	argv[n++] = (char *)e->launch;
	argv[n++] = "--tool=rtmgrind";
	argv[n++] = "-q";
	argv[n++] = "--trace-children=yes";
	for (const struct setting *s = settings; s < settings + nr_settings; s++) {
		const char *value = emulator_value(s);
		const char *numbers = s == setting_find("MODEL") && r->numbers ? r->numbers : "";

		if (!value && !*numbers)
			continue;
		if (!value)
			value = s->def;
		if (asprintf(&option, "--%s=%s%s%s", s->name, value,
			     !*numbers ? "" : strchr(value, ':') ? "," : ":", numbers) < 0)
			continue;
		for (char *c = option; *c != '='; c++)
			*c = *c == '_' ? '-' : tolower((unsigned char)*c);
		argv[n++] = option;
	}
	/* With ELIDE_STACKS=0 the library needs no frames from the emulator. */
	if (is_set("ELIDE_STACKS", true))
		argv[n++] = "--stacks=yes";
	memcpy(argv + n, r->argv, r->argc * sizeof(*argv));
	return argv;
}

/* Finds the emulator if --emulate is given. Return: 0, or EXIT_MACHINE after one line. */
static int prepare_emulator(const struct run_request *r, struct emulator *e)
{
	const char *model = getenv("ELIDE_MODEL");
	char why[512];

	if (!r->emulate)
		return 0;
	if (model && models_check(model, why, sizeof(why))) {
		say("ELIDE_MODEL: %s; using %s", why, setting_find("MODEL")->def);
		unsetenv("ELIDE_MODEL");
	}
	if (emulator_find(e, why, sizeof(why))) {
		say("--emulate: %s", why);
		return EXIT_MACHINE;
	}
	setenv("VALGRIND_LIB", e->lib, 1);
	return 0;
}

/*
 * ThreadSanitizer has wrappers of its own, which call the library's. The library is not
 * instrumented, so the threads that it synchronises would seem to race.
 */
static void prepare_thread_sanitizer(const struct run_request *r, const char *runtime)
{
	const char *before = getenv("TSAN_OPTIONS");
	char *options;

	if (asprintf(&options, "%s%signore_noninstrumented_modules=1", before ? before : "",
		     before && *before ? ":" : "") < 0)
		return;
	setenv("TSAN_OPTIONS", options, 1);
	free(options);
	if (!r->quiet)
		say("%s is loaded first: all lock calls come from its wrappers, which are their call "
		    "sites", runtime);
}

int run_prepare(struct run_request *r, struct run_program *p)
{
	int use_preload = 1, rc;

	p->preload = NULL;
	rc = check_program(r, &p->program);
	if (!rc)
		rc = read_conf(r, &p->program);
	if (!rc)
		rc = warn_of_program(r, &p->program, &use_preload);
	if (!rc)
		rc = prepare_emulator(r, &p->emulator);
	if (rc || !use_preload)
		return rc;
	if (strstr(p->program.sanitizer, "tsan"))
		prepare_thread_sanitizer(r, p->program.sanitizer);
	p->preload = preload_value(&p->program);
	return p->preload ? 0 : EXIT_LAUNCHER;
}

char **run_command(const struct run_request *r, const struct run_program *p, const char **path)
{
	*path = r->emulate ? p->emulator.launch : p->program.path;
	return r->emulate ? emulator_argv(&p->emulator, r) : r->argv;
}

/*
 * A fixed number of decimal digits, the first not 0, read as hexadecimal: the text has the same length
 * in each run, so an emulated program that copies its environment takes the same time.
 */
uint64_t run_mark(void)
{
	struct timespec now;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "1%08ld%07d", now.tv_nsec / 10, getpid() % 10000000);
	setenv("ELIDE_RUN", text, 1);
	return strtoull(text, NULL, 16);
}
