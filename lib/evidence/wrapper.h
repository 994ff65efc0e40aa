/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wrapper.h - functions that only wrap the initialisation of a lock, and who calls them.
 *
 * Must never be used inside a transaction.
 */
#ifndef ELIDE_WRAPPER_H
#define ELIDE_WRAPPER_H

#pragma GCC visibility push(hidden)

/**
 * elide_wrapper_caller() - the call that a lock is named after.
 * @site: return address of the call that initialised it
 * @stack: the caller's stack pointer once that call has returned; NULL if it is not known
 *
 * A program with a class of its own for mutexes initialises all of them in one constructor. So a
 * call in a wrapper is replaced by the call of the wrapper, up to WRAPPERS_DEEP of them. A function
 * is a wrapper if its name fits a pattern of ELIDE_WRAPPERS; with "auto" there, also if its name
 * speaks of a lock, the call is within the first THIN bytes of its code, and it is small.
 *
 * Whether a call is in a wrapper is found out once for each call, from the symbols of its object:
 * a call in an object without symbols is in none. The stack is walked only for calls in wrappers,
 * and 15 times for each: then it is known where on the stack its return address is.
 * Both are global-lock paths.
 *
 * Return: @site, or the return address of the call of the outermost wrapper; @site also
 * where global-lock paths are refused.
 */
const void *elide_wrapper_caller(const void *site, const void *stack);

#pragma GCC visibility pop

#endif
