/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * valgrind.h - is rtmgrind installed, and does it work with this valgrind?
 *
 * Must never run a program in it but its self-test.
 */
#ifndef ELIDE_VALGRIND_H
#define ELIDE_VALGRIND_H

#include <limits.h>
#include <stddef.h>

/**
 * struct emulator - where rtmgrind is.
 * @lib:     directory of the tool, for VALGRIND_LIB
 * @launch:  program that starts it
 * @version: of the valgrind installed, empty if there is none
 */
struct emulator {
	char lib[PATH_MAX];
	char launch[PATH_MAX];
	char version[32];
};

/**
 * emulator_find() - fill @e.
 * @why: @size bytes, filled with the reason in words if it cannot be used
 *
 * Runs the emulator's self-test, which takes some seconds, if no pass is on record with the installed
 * valgrind: see emulator-check.h.
 *
 * Return: 0 or -errno.
 */
int emulator_find(struct emulator *e, char *why, size_t size);

#endif
