/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emulator-check.h - has the emulator passed its self-test on this valgrind?
 *
 * rtmgrind reaches into valgrind's internals, so what it does depends on valgrind's version. A
 * self-test of a few seconds (libexec/elide/selftest, in the emulator) decides. A pass is recorded as a line
 * with the build-ids of the tool, of the self-test, of the valgrind program and of its library:
 *
 *   beside the tool, selftest.passed               by the build; a file of the package
 *   $XDG_CACHE_HOME/elide/selftest.passed          by a user; without the variable in ~/.cache
 *
 * Failures are not recorded. Must never run anything but the self-test, nor write beside the tool,
 * not even as root: a package's files remain as they were installed.
 */
#ifndef ELIDE_EMULATOR_CHECK_H
#define ELIDE_EMULATOR_CHECK_H

#include <stddef.h>

struct emulator;

/**
 * emulator_check() - look for a pass of the emulator, or run its self-test.
 * @e: the emulator; its directory and launcher are known
 * @valgrind: path of the valgrind program
 * @why: @size bytes, filled if it has not passed: the test that failed, and why
 *
 * Return: 0, or -EPROTO if it has not passed.
 */
int emulator_check(const struct emulator *e, const char *valgrind, char *why, size_t size);

#endif
