/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unload.c - see unload.h. */
#include <stddef.h>

#include "../base/testpoint.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/settings.h"
#include "unload.h"

static void unloaded_global(void *arg)
{
	test_point(unload_entered);
	elide_modules_unloaded();
	test_point(unload_done);
}

void elide_unloaded(void)
{
	if (elide_process.running && !elide_modules_are_there() &&
	    !elide_global_try_run(unloaded_global, NULL))
		elide_modules_unloaded_later();
}
