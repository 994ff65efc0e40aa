/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wrap.h - the beginning of every wrapper, and the rules for all of them.
 *
 * A wrapper must return what glibc returns, leave errno alone, and print
 * nothing. It keeps the rule of transactions in lib/state/thread.h.
 */
#ifndef ELIDE_WRAP_H
#define ELIDE_WRAP_H

#include "compiler.h"
#include "real.h"
#include "section/engine.h"
#include "state/settings.h"
#include "state/thread.h"

#define WRAPPER __export

/* The call site: the return address into the program. */
#define CALL_SITE() __builtin_return_address(0)

/*
 * Pass a call on if the engine does not run: before the constructor, with ELIDE_MODE=off, in a child that is
 * not followed.
 */
#define PASS(id, ...)                                  \
	do {                                           \
		if (unlikely(!elide_process.running))  \
			return real.id(__VA_ARGS__);   \
	} while (0)

/* PASS() for an acquisition, which also passes through if the thread has no block... */
#define PASS_ACQUIRE(id, ...)                                              \
	do {                                                               \
		if (unlikely(!elide_process.running) || elide_passes())    \
			return real.id(__VA_ARGS__);                       \
	} while (0)

/* ...and of a release. */
#define PASS_RELEASE(id, ...)                                              \
	do {                                                               \
		if (unlikely(!elide_process.running) || elide_is_refused()) \
			return real.id(__VA_ARGS__);                       \
	} while (0)

/* A further name of a wrapper, from symbols.def. */
#define WRAPPER_ALIAS(name, target) \
	extern __typeof__(target) name                   \
		__attribute__((nothrow, leaf, alias(#target), visibility("default")))

#endif
