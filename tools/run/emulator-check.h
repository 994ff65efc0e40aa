/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emulator-check.h - has the emulator passed its self-test on this valgrind?
 *
 * rtmgrind reaches into valgrind's internals, so what it does depends on valgrind's version. A
 * self-test of a few seconds (libexec/elide/selftest, in the emulator) decides. Passes are
 * remembered by the build-ids of the tool, of the self-test, of the valgrind program and of its
 * library, a line each pass:
 *
 *   beside the tool, selftest.passed               from the build; a file of the package
 *   $XDG_CACHE_HOME/elide/selftest.passed          of a user; without the variable in ~/.cache
 *
 * Failures are not remembered. Must never run anything but the self-test, nor write beside the tool,
 * not even for root: a package's files stay as they were installed.
 */
#ifndef ELIDE_EMULATOR_CHECK_H
#define ELIDE_EMULATOR_CHECK_H

#include <stddef.h>

struct emulator;

/**
 * emulator_check() - see that the emulator has passed, or run its self-test.
 * @e: the emulator; its directory and launcher are known
 * @valgrind: path of the valgrind program
 * @why: @size bytes, filled if it has not passed: the test that failed, and why
 *
 * Return: 0, or -EPROTO if it has not passed.
 */
int emulator_check(const struct emulator *e, const char *valgrind, char *why, size_t size);

#endif
