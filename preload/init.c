/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * init.c - start of the preloaded library.
 *
 * The engine starts by its own constructor (lib/api.c), which runs before
 * this one. Lock calls that come before it pass through: nothing is counted while elide_process.running is
 * false.
 */
#include "glibc-layout.h"
#include "process.h"
#include "real.h"

__attribute__((constructor)) static void start(void)
{
	real_resolve();
	glibc_layout_check();
	elide_process.short_way = glibc_layout.mutex && glibc_layout.rwlock && glibc_layout.spin;
}
