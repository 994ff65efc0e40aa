/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit.h - what each unit test includes: cmocka, with what its header needs, and libc's most common
 * headers.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif /* TESTS_UNIT_UNIT_H */
