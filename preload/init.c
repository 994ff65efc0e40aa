/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * init.c - start of the preloaded library.
 *
 * The engine's constructor (lib/section/api.c) runs before this one. Earlier lock calls pass through,
 * uncounted, while elide_process.running is false.
 */
#include <stddef.h>

#include "bind.h"
#include "find.h"
#include "glibc-layout.h"
#include "init.h"
#include "life/fork.h"
#include "real.h"
#include "state/settings.h"

void init_wrappers(void)
{
	static bool watches_forks;

	if (!watches_forks)
		pthread_atfork(NULL, NULL, elide_forked);
	watches_forks = true;
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

__attribute__((constructor)) static void start(void)
{
	/* In a process that runs already: see attach.c. */
	if (find_is_late())
		return;
	real_resolve();
	if (!elide_process.running) {
		bind_functions_for_good();
		return;
	}
	init_wrappers();
}
