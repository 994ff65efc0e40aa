/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.h - the commands of `elide`.
 *
 * Must never hold the work of a command.
 */
#ifndef ELIDE_CMD_H
#define ELIDE_CMD_H

#include <stddef.h>

/**
 * struct command - one of elide's commands.
 * @run: gets argv with the command's name first, returns the exit code
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_what_if(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_stacks(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_tunables(int argc, char **argv);

/** cmd_completion() - as the others, with the list of all @nr commands. */
int cmd_completion(const struct command *commands, size_t nr, int argc, char **argv);

#endif
