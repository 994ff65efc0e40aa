/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - prepares the start of a program with the library in it: options, inspection of the
 * program, the preloaded library, the emulator.
 *
 * Must never start the program.
 */
#ifndef ELIDE_RUN_H
#define ELIDE_RUN_H

#include <stdint.h>

#include "../base/options.h"
#include "../base/program.h"
#include "../base/settings.h"
#include "metrics.h"
#include "valgrind.h"
#include "watchdog.h"

/* More settings than there are. */
#define SETTINGS_MAX 64

/**
 * struct run_request - what the command line asks for.
 * @report: NULL: none; "stderr" or a file
 * @metrics: file to rewrite, and how often; its @every_ms is 0 if that is not given
 * @watchdog: its @limit_ms is 0 if no hang is to be reported
 * @numbers: numbers of the emulated machine by --cores and the like: NUMBER=VALUE,...; NULL for none
 * @conf:   a file of settings, NULL for none
 * @given:  by number of the setting: the command line has it, with precedence over the file
 */
struct run_request {
	int emulate;
	int pcm;
	int quiet;
	int verbose;
	const char *report;
	struct metrics metrics;
	struct watchdog watchdog;
	char *numbers;
	const char *conf;
	unsigned char given[SETTINGS_MAX];
	char **argv;
	int argc;
};

/**
 * struct run_program - the program, and how to start it.
 * @emulator: filled if it is wanted
 * @preload:  value of its LD_PRELOAD, NULL if the library cannot be in it
 */
struct run_program {
	struct program program;
	struct emulator emulator;
	char *preload;
};

/* The options of elide run; --help is among them. */
extern const struct option_desc run_options[];
extern const size_t nr_run_options;

/**
 * run_options_after() - a command's own options, then those of elide run, of which --help is the last.
 * @to:       filled
 * @own:      @nr of them
 * @left_out: names of those of elide run that it does not take, @nr_left_out
 *
 * Return: their number.
 */
size_t run_options_after(struct option_desc to[OPTIONS_MAX], const struct option_desc *own, size_t nr,
			 const char *const *left_out, size_t nr_left_out);

/**
 * run_apply() - apply an option, whose argument is in optarg; many set a variable of the
 * environment.
 * @emulator_option: set to its name if it is a setting of the emulated machine
 *
 * Return: 0; 1 if the option was a list to print; after one line -EDOM for an impossible machine,
 * else -EINVAL.
 */
int run_apply(int key, struct run_request *r, const char **emulator_option);

/**
 * run_give() - set the variable of a setting of the command line; if the value is invalid, the default is
 * used.
 */
int run_give(struct run_request *r, const struct setting *s, const char *value);

/**
 * run_prepare() - find program, library and emulator, read the file of settings, report obstacles.
 *
 * Return: 0, or the exit code after one line.
 */
int run_prepare(struct run_request *r, struct run_program *p);

/**
 * run_command() - the command line, with the emulator's settings of the environment.
 * @path: set to the file to execute
 *
 * Return: NULL without memory.
 */
char **run_command(const struct run_request *r, const struct run_program *p, const char **path);

/** run_mark() - an identifier that no other run on this machine has: nanoseconds and process id. */
uint64_t run_mark(void);

#endif
