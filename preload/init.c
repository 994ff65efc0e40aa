/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * init.c - start of the preloaded library.
 *
 * The engine's constructor (lib/section/api.c) runs before this one. Earlier lock calls pass through,
 * uncounted, while elide_process.running is false.
 */
#include <stddef.h>

#include "bypass.h"
#include "glibc-layout.h"
#include "life/fork.h"
#include "real.h"
#include "state/settings.h"

__attribute__((constructor)) static void start(void)
{
	real_resolve();
	if (!elide_process.running) {
		bypass_wrappers();
		return;
	}
	pthread_atfork(NULL, NULL, elide_forked);
	glibc_layout_check();
	elide_process.tid_at = glibc_tid_at();
	elide_process.short_way = glibc_layout.mutex && glibc_layout.rwlock && glibc_layout.spin;
	if (glibc_layout.mutex)
		elide_process.holder[ELIDE_KIND_MUTEX] =
			offsetof(pthread_mutex_t, __data.__owner);
	if (glibc_layout.rwlock)
		elide_process.holder[ELIDE_KIND_RWLOCK_WRITE] =
			offsetof(pthread_rwlock_t, __data.__cur_writer);
}
