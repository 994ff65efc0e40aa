/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measured.h - runs a program several times, natively or emulated, and measures its time.
 *
 * A native run without elision is without the library; on an emulated machine it is with the library switched
 * off, on the same machine. Must never leave a process or a file behind.
 */
#ifndef ELIDE_MEASURED_H
#define ELIDE_MEASURED_H

#include "../model/compare.h"
#include "run.h"

/**
 * struct measured - what is run.
 * @request, @program: filled by run_prepare()
 * @dir:  directory for the files of a run
 * @null: /dev/null, open
 *
 * The caller fills the first two.
 */
struct measured {
	struct run_request request;
	struct run_program program;
	char dir[64];
	int null;
};

/**
 * measured_begin() - prepare, and note signals from now on, see signals.h.
 *
 * Return: 0, or -errno after one line. measured_end() must follow.
 */
int measured_begin(struct measured *m);

/**
 * measured_once() - run the program.
 * @mode: ELIDE_MODE
 * @seed: of the emulated machine
 * @show: let its standard output through
 * @look: called with @arg and the path of the data file, which there may be none of, after the run; or NULL
 * @r: set; on an emulated machine the times are simulated ones
 *
 * Return: 0; 1 if a signal ends the command; -errno after one line.
 */
int measured_once(struct measured *m, const char *mode, uint64_t seed, bool show,
		  void (*look)(void *arg, const char *data), void *arg, struct run_result *r);

/** measured_end() - remove what is left of the runs. */
void measured_end(const struct measured *m);

#endif
