// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-compare.c - elide compare: run a program plain and elided, in turn.
 *
 * Must never start a program itself: run/pairs.c does.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/signals.h"
#include "../print/compare-print.h"
#include "../run/pairs.h"
#include "cmd.h"

/*
 * Pairs without --runs: with 12 the ranks decide although one run was disturbed. Emulated runs are slow, and
 * their time is exact: fewer are enough.
 */
#define PAIRS_NATIVE   12
#define PAIRS_EMULATED 5

/* Keys of the options that elide run does not have, above all of its keys. */
enum { OPT_FIRST = 1000, OPT_OUTPUT, OPT_FAIL_IF, OPT_CONFIDENCE, OPT_MARGIN, OPT_SEED, OPT_JSON };

static OPTION_VALUES(shown_words, "none", "first", "all")

static const struct option_desc own_options[] = {
	{'n', "runs", "N", "pairs of runs to measure (12; 5 if emulated)"},
	{OPT_SEED, "seed", "N", "of the order of runs; emulated, of the first pair's machine"},
	{OPT_FAIL_IF, "fail-if", "CONDITION",
	 "exit with 1 if it holds: 'slower > 2%', hurts; may be given again"},
	{OPT_CONFIDENCE, "confidence", "PERCENT", "how sure a verdict must be (95)"},
	{OPT_MARGIN, "margin", "PERCENT", "a difference up to this counts as none (1)"},
	{OPT_OUTPUT, "output", "HOW", "whose output is shown: none (default), first run, all",
	 shown_words},
	{OPT_JSON, "json", NULL, "the result as JSON"},
};

/* Options of elide run that elide compare does not have, because they concern one run. */
static const char *const left_out[] = {"output", "report", "metrics", "every", "watchdog", "counters",
					"seed", "quiet", "verbose", "pmu", "pcm"};

/* What the command line asks for, and the state of the runs. */
struct comparing {
	struct pairs pairs;
	struct comparison result;
	struct compare_condition *conditions;
	size_t nr_conditions;
	bool json;
};

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
	size_t word;

	if (option_word("output", text, shown_words, &word))
		return -EINVAL;
	*to = word;
	return 0;
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
		c->pairs.nr = rc ? 0 : v;
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
		return parse_shown(optarg, &c->pairs.shown);
	case OPT_JSON:
		c->json = true;
		return 0;
	case OPTIONS_BAD:
		return -EINVAL;
	}
	return run_apply(key, &c->pairs.runs.request, emulator_option);
}

/* Return: 0; 1 after --help and the like; -EINVAL after one line. */
static int parse(int argc, char **argv, struct comparing *c)
{
	struct option_desc options[OPTIONS_MAX];
	size_t nr = run_options_after(options, own_options, ARRAY_SIZE(own_options), left_out, ARRAY_SIZE(left_out));
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
	c->pairs.runs.request.argv = argv + optind;
	c->pairs.runs.request.argc = argc - optind;
	c->pairs.runs.request.quiet = 1;
	if (!c->pairs.runs.request.argc) {
		say("no program given: elide compare [OPTION...] -- PROGRAM [ARGUMENT...]");
		return -EINVAL;
	}
	if (emulator_option && !c->pairs.runs.request.emulate) {
		say("--%s is a setting of the emulated machine: it needs --emulate", emulator_option);
		return -EINVAL;
	}
	return 0;
}

/* Prints the result. Return: the exit code. */
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
		say("failed: the program has another exit status when it is elided");
	else if (c->result.nr_failed)
		say("failed: the program failed in %zu of %zu pairs", c->result.nr_failed, c->result.nr);
	code = nr || c->result.nr_failed ? EXIT_CONDITION : 0;
	free(failed);
	return code;
}

static int compare(struct comparing *c)
{
	struct pairs *p = &c->pairs;
	int code = EXIT_USAGE, rc;

	if (run_prepare(&p->runs.request, &p->runs.program))
		return code;
	if (!p->runs.program.preload) {
		say("%s cannot be elided: there is nothing to compare", p->runs.request.argv[0]);
		return code;
	}
	if (!p->nr)
		p->nr = p->runs.request.emulate ? PAIRS_EMULATED : PAIRS_NATIVE;
	c->result.argv = p->runs.request.argv;
	c->result.emulated = p->runs.request.emulate;
	c->result.pairs = calloc(p->nr, sizeof(*c->result.pairs));
	if (!c->result.pairs)
		return code;
	rc = pairs_run(p, &c->result);
	if (rc > 0)
		code = 128 + signal_noted;
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
	};
	int rc = parse(argc, argv, &c);
	int code = rc > 0 ? 0 : EXIT_USAGE;

	if (!rc)
		code = compare(&c);
	free(c.result.pairs);
	free(c.conditions);
	return code;
}
