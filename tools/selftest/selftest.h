/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selftest.h - what the parts of the emulator's self-test share.
 *
 * Must never be included by another program.
 */
#ifndef ELIDE_SELFTEST_H
#define ELIDE_SELFTEST_H

/* The latencies of the simulated machine, cycles, if costs_given: see tools/run/emulator-check.c. */
extern int costs_given;
extern long cost_l2, cost_memory, cost_dirty;

/**
 * expect() - note the first fault of a test.
 * @what: name of the value that should be @want
 */
void expect(const char *what, long got, long want);

#define SELFTEST(name, text) void test_##name(void);
#include "tests.def"
#undef SELFTEST

/** second_image() - ends this process if the test of exec has started it. */
void second_image(int argc, char **argv);

#endif
