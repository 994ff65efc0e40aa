// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-what-if.c - elide what-if: what a program gains if the sections of a lock take less time.
 *
 * Must never start a program itself: run/measured.c does.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/json.h"
#include "../base/messages.h"
#include "../base/signals.h"
#include "../base/text.h"
#include "../run/measured.h"
#include "../run/what-if.h"
#include "cmd.h"

/* Version of the JSON output; counts up on any incompatible change. */
#define WHAT_IF_SCHEMA 1

/* Keys of the options that elide run does not have, above all of its keys. */
enum { OPT_LOCK = 1000, OPT_SITE, OPT_FASTER, OPT_SEED, OPT_JSON };

static const struct option_desc own_options[] = {
	{OPT_LOCK, "lock", "LOCK", "the lock, as elide report names it (the five that threads wait longest for)"},
	{OPT_SITE, "site", "SITE", "only sections that this call of --lock begins (all)"},
	{OPT_FASTER, "faster", "PERCENT,...", "by how much less time the sections take (25,50,100)"},
	{OPT_SEED, "seed", "N", "of the emulated machine (1)"},
	{OPT_JSON, "json", NULL, "the result as JSON"},
};

/* Options of elide run that concern one run, or elision. */
static const char *const left_out[] = {"output", "report", "metrics", "every", "watchdog", "counters", "seed",
				       "quiet", "verbose", "pmu", "pcm", "mode", "policy", "kinds", "locks",
				       "learned"};

struct asking {
	struct measured runs;
	struct what_if what_if;
	uint64_t seed;
	bool json;
	int rc; /* of what_if_choose() */
};

/* "25,50%": 0 or -EINVAL after one line. */
static int parse_faster(struct what_if *w, const char *text)
{
	const char *at = text;
	char *end;

	w->nr_ways = 0;
	do {
		double v = strtod(at, &end);

		if (*at < '0' || *at > '9' || !(v >= 0.1 && v <= 100))
			goto bad;
		end += *end == '%';
		if ((*end && *end != ',') || w->nr_ways == WHAT_IF_WAYS)
			goto bad;
		w->ways[w->nr_ways++] = v;
		at = end + 1;
	} while (*end);
	return 0;
bad:
	say("--faster=%s: not up to %d numbers from 0.1 to 100", text, WHAT_IF_WAYS);
	return -EINVAL;
}

static int apply(int key, struct asking *a, const char **emulator_option)
{
	double v;

	switch (key) {
	case OPT_LOCK:
		a->what_if.lock = optarg;
		return 0;
	case OPT_SITE:
		a->what_if.site = optarg;
		return 0;
	case OPT_FASTER:
		return parse_faster(&a->what_if, optarg);
	case OPT_SEED:
		if (option_number("seed", optarg, 0, UINT32_MAX, &v))
			return -EINVAL;
		a->seed = (uint64_t)v;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPTIONS_BAD:
		return -EINVAL;
	}
	return run_apply(key, &a->runs.request, emulator_option);
}

/* Return: 0; 1 after --help and the like; -EINVAL after one line. */
static int parse(int argc, char **argv, struct asking *a)
{
	struct option_desc options[OPTIONS_MAX];
	size_t nr = run_options_after(options, own_options, ARRAY_SIZE(own_options), left_out, ARRAY_SIZE(left_out));
	const char *emulator_option = NULL;
	int key, rc = 0;

	while (!rc && (key = options_next(argc, argv, options, nr, 1)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("what-if [OPTION...] [--] PROGRAM [ARGUMENT...]",
				     "Computes what a program gains if the sections of a lock take less "
				     "time: emulated.",
				     options, nr);
			return 1;
		}
		rc = apply(key, a, &emulator_option);
	}
	if (rc)
		return rc;
	a->runs.request.argv = argv + optind;
	a->runs.request.argc = argc - optind;
	a->runs.request.quiet = a->runs.request.emulate = 1;
	if (a->what_if.site && !a->what_if.lock) {
		say("--site needs --lock");
		return -EINVAL;
	}
	if (!a->runs.request.argc) {
		say("no program given: elide what-if [OPTION...] -- PROGRAM [ARGUMENT...]");
		return -EINVAL;
	}
	return 0;
}

static void choose(void *arg, const char *data)
{
	struct asking *a = arg;
	char error[LOAD_ERROR_MAX];
	struct data_file f;

	a->rc = load(data, &f, error);
	if (a->rc) {
		say("what-if: %s has taken no lock that elide can see", a->what_if.argv[0]);
		return;
	}
	a->rc = what_if_choose(&a->what_if, &f);
	load_free(&f);
}

/* Runs the program once; its time to *@ns. Return: as measured_once(). */
static int run(struct asking *a, const struct what_if_lock *l, double percent, struct run_result *result,
	       uint64_t *ns)
{
	char text[ELIDE_WHAT_IF_TEXT + 1];
	int rc;

	what_if_text(l, percent, text);
	setenv("ELIDE_WHAT_IF", text, 1);
	rc = measured_once(&a->runs, "profile", a->seed, false, l ? NULL : choose, a, result);
	*ns = (uint64_t)llround(result->elapsed_s * 1e9);
	return rc;
}

static int run_all(struct asking *a)
{
	struct what_if *w = &a->what_if;
	struct run_result first = {0}, result;
	int rc = run(a, NULL, 0, &first, &w->elapsed_ns);

	if (!rc)
		rc = a->rc;
	if (!rc && first.exit)
		say("what-if: the program ended with exit code %d", first.exit);
	for (size_t i = 0; !rc && i < w->nr; i++) {
		for (size_t way = 0; !rc && way < w->nr_ways; way++) {
			rc = run(a, &w->locks[i], w->ways[way], &result, &w->locks[i].elapsed_ns[way]);
			if (!rc && result.exit != first.exit)
				say("what-if: with faster sections of %s it ended with exit code %d, not %d",
				    w->locks[i].lock, result.exit, first.exit);
		}
	}
	return rc;
}

/* What stands for all call sites of a lock. */
static const char all_sites[] = "all";

static void widen(int *width, const char *text)
{
	int len = (int)strlen(text);

	if (len > *width)
		*width = len < CELL_MAX ? len : CELL_MAX;
}

static void print_table(const struct what_if *w, FILE *out)
{
	int lock_width = (int)strlen("as it is"), site_width = (int)strlen("SITE");
	char lock[CELL_MAX + 1], site[CELL_MAX + 1], time[32];

	for (size_t i = 0; i < w->nr; i++) {
		widen(&lock_width, w->locks[i].lock);
		widen(&site_width, w->locks[i].site ? w->locks[i].site : all_sites);
	}
	scale_ns(time, sizeof(time), (double)w->elapsed_ns);
	fprintf(out, "%-*s %-*s FASTER   TIME   GAIN\n", lock_width, "LOCK", site_width, "SITE");
	fprintf(out, "%-*s %-*s      - %6s      -\n", lock_width, "as it is", site_width, "-", time);
	for (size_t i = 0; i < w->nr; i++) {
		const struct what_if_lock *l = &w->locks[i];

		fit(lock, l->lock, lock_width);
		fit(site, l->site ? l->site : all_sites, site_width);
		text_clean(lock);
		text_clean(site);
		for (size_t way = 0; way < w->nr_ways; way++) {
			scale_ns(time, sizeof(time), (double)l->elapsed_ns[way]);
			fprintf(out, "%-*s %-*s %5g%% %6s %5.1f%%\n", lock_width, lock, site_width, site,
				w->ways[way], time, what_if_gain(w, l->elapsed_ns[way]));
		}
	}
}

static int print_json(const struct what_if *w, FILE *out)
{
	json_t *o = json_object(), *command = json_array(), *answers = json_array();

	for (char **arg = w->argv; *arg; arg++)
		json_array_append_new(command, json_text(*arg));
	for (size_t i = 0; i < w->nr; i++) {
		const struct what_if_lock *l = &w->locks[i];

		for (size_t way = 0; way < w->nr_ways; way++) {
			json_t *one = json_object();

			json_object_set_new(one, "lock", json_text(l->lock));
			json_object_set_new(one, "site", json_text(l->site));
			json_object_set_new(one, "faster_percent", json_real(w->ways[way]));
			json_object_set_new(one, "elapsed_ns", json_number(l->elapsed_ns[way]));
			json_object_set_new(one, "gain_percent",
					    json_real(what_if_gain(w, l->elapsed_ns[way])));
			json_array_append_new(answers, one);
		}
	}
	json_object_set_new(o, "schema", json_integer(WHAT_IF_SCHEMA));
	json_object_set_new(o, "command", command);
	json_object_set_new(o, "elapsed_ns", json_number(w->elapsed_ns));
	json_object_set_new(o, "what_if", answers);
	return json_print(o, out);
}

static int what_if(struct asking *a)
{
	int code = EXIT_USAGE, rc;

	if (run_prepare(&a->runs.request, &a->runs.program))
		return code;
	if (!a->runs.program.preload) {
		say("%s cannot be profiled: its locks are not known", a->runs.request.argv[0]);
		return code;
	}
	a->what_if.argv = a->runs.request.argv;
	rc = measured_begin(&a->runs);
	if (!rc)
		rc = run_all(a);
	measured_end(&a->runs);
	if (rc > 0)
		return 128 + signal_noted;
	if (rc)
		return code;
	if (!a->json)
		print_table(&a->what_if, stdout);
	else if (print_json(&a->what_if, stdout))
		return code;
	return 0;
}

/**
 * cmd_what_if() - elide what-if.
 */
int cmd_what_if(int argc, char **argv)
{
	static struct asking a = {
		.what_if = {.ways = {25, 50, 100}, .nr_ways = 3},
		.seed = 1,
	};
	int rc = parse(argc, argv, &a);
	int code = rc > 0 ? 0 : EXIT_USAGE;

	if (!rc)
		code = what_if(&a);
	what_if_free(&a.what_if);
	return code;
}
