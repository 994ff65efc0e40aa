/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* real.c - see real.h. */
#include <errno.h>

#include "compiler.h"
#include "find.h"
#include "real.h"

/* The first call of a function: resolve all, then call it. */
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	static result first_##id parameters                              \
	{                                                                \
		real_resolve();                                          \
		return real.id arguments;                                \
	}
#define ELIDE_ALIAS(symbol, id)
#include "symbols.def"
#undef ELIDE_SYMBOL

struct real real = {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) .id = first_##id,
#include "symbols.def"
#undef ELIDE_SYMBOL
};

static int missing(void)
{
	return ENOSYS;
}

static void resolve(void **pointer, void *function)
{
	__atomic_store_n(pointer, function ? function : (void *)missing, __ATOMIC_RELAXED);
}

void real_resolve(void)
{
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	resolve((void **)&real.id, find_function(#symbol, version));
#include "symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
}
