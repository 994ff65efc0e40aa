// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_symbolize_split.c - test_symbolize.c, built with -gsplit-dwarf: the object has lines, and the
 * functions, variables and types are in a file of their own.
 */
#include "../tools/subject.c"
#include "test_symbolize.c"
