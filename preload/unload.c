/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unload.c - dlclose(): after it another object may be loaded at the addresses of the unloaded one.
 */
#include <dlfcn.h>

#include "adapters/adapters.h"
#include "life/unload.h"
#include "wrap.h"

WRAPPER int dlclose(void *handle)
{
	int rc = real.dlclose(handle);

	if (!elide_inside(elide_self))
		elide_unloaded();
	adapter_unloaded();
	return rc;
}
