/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scenes.h - calls that take more of the stack than those of ../symbols. */
#ifndef TESTS_PRELOAD_STACK_SCENES_H
#define TESTS_PRELOAD_STACK_SCENES_H

#include "measure.h"

enum row_name {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) ROW_##id,
#define ELIDE_ALIAS(symbol, id)
#include "../../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) ROW_##id,
#include "../../../preload/adapters/symbols.def"
#undef ADAPTER_SYMBOL
#define HEAP_SYMBOL(name, result, parameters, arguments) ROW_##name,
#include "../../../preload/heap/symbols.def"
#undef HEAP_SYMBOL
	ROW_free,
	ROW_fork,
	ROW_exit,
	NR_ROWS
};

/** measured() - the function of that name; how deep it goes into the stack is measured. */
void *measured(enum row_name name);

/** scenes() - all of them. */
void scenes(void);

#endif
