/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock-code.h - which call of the program waits, where the library of a lock makes a futex call.
 *
 * Must never be used inside a transaction.
 */
#ifndef ELIDE_LOCK_CODE_H
#define ELIDE_LOCK_CODE_H

#include <stddef.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* What threads wait for in a function: see lock-code.def. */
enum elide_lock_code {
	ELIDE_LOCK_CODE_OUTSIDE, /* a function of the program */
	ELIDE_LOCK_CODE_ANY,
	ELIDE_LOCK_CODE_LOCK,
	ELIDE_LOCK_CODE_OTHER,
	ELIDE_LOCK_CODE_NONE, /* as OUTSIDE, whatever other parts of the name are */
};

/**
 * elide_lock_code_name() - what a function is by its name, by lock-code.def; pure.
 * @symbol: as in the symbol table: C, C++ (Itanium C++ ABI, 5.1) or Rust (its legacy names, or RFC 2603)
 */
enum elide_lock_code elide_lock_code_name(const char *symbol);

/**
 * elide_lock_code_caller() - the call of the program behind a call in lock code.
 * @site: return address of the call, of syscall()
 * @stack: the stack pointer after it; NULL: not known
 * @code: set to what threads wait for
 *
 * A function is lock code if the name of its symbol matches a pattern of lock-code.def or of ELIDE_WRAPPERS. A
 * function of a library that has no symbol is lock code if it makes the futex call, or if it calls lock code of the
 * same library. As with elide_wrapper_caller() the stack is walked
 * for the first calls only, and names are read once for each call: both in a global-lock path.
 *
 * Return: its return address; @site if it is not in lock code, or if global-lock paths are refused.
 */
const void *elide_lock_code_caller(const void *site, const void *stack, enum elide_lock_code *code);

#pragma GCC visibility pop

#endif
