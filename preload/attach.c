/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.c - start and end of the library in a process that was started without it.
 *
 * elide attach has a thread of the process load the library, and then call elide_attach_call(). Must never do
 * anything before that call.
 */
#include <errno.h>
#include <string.h>

#include "attach.h"
#include "base/datafile-writer.h"
#include "base/log.h"
#include "base/text.h"
#include "bind.h"
#include "compiler.h"
#include "find.h"
#include "init.h"
#include "life/start.h"
#include "real.h"
#include "state/settings.h"
#include "wrap.h"

/* More settings than there are. */
#define MOST_SETTINGS 64

/* Read by elide attach and elide detach. */
__export struct elide_attach_state elide_attach_state = {.version = ELIDE_ATTACH_VERSION};

/* See api.c. */
bool elide_waits(void);

bool elide_waits(void)
{
	if (!find_is_late())
		return false;
	elide_attach_state.attached = ELIDE_ATTACHED_NOT;
	return true;
}

/* @text: settings NAME=VALUE, each with a null byte, an empty one last. They have to stay. */
static int attach(char *text)
{
	struct elide_attach_state *s = &elide_attach_state;
	char *settings[MOST_SETTINGS + 1];
	size_t nr = 0;
	int err;

	for (; *text && nr < MOST_SETTINGS; text += strlen(text) + 1)
		settings[nr++] = text;
	settings[nr] = NULL;
	if (s->attached != ELIDE_ATTACHED_NOT)
		return EALREADY;
	find_locked(real_resolve);
	err = -elide_start_late(settings);
	if (err) {
		elide_text(s->why, sizeof(s->why), "%s",
			   err == ENOTSUP ? elide_process.why : elide_log_last());
		return err;
	}
	init_wrappers();
	elide_text(s->path, sizeof(s->path), "%s", elide_data_path());
	bind_wrappers();
	WRITE_ONCE(s->attached, ELIDE_ATTACHED_NOW);
	return 0;
}

static int detach(void)
{
	struct elide_attach_state *s = &elide_attach_state;

	if (s->attached != ELIDE_ATTACHED_NOW)
		return EALREADY;
	/*
	 * A thread in an elided section whose release is not the wrapper's never commits: the next
	 * interrupt at the latest aborts its transaction, and it locks. From here on it does so at once.
	 */
	elide_stop_eliding();
	bind_functions();
	elide_leave();
	elide_text(s->path, sizeof(s->path), "%s", elide_data_path_last());
	WRITE_ONCE(s->attached, ELIDE_ATTACHED_NOT);
	return 0;
}

__export void elide_attach_call(unsigned long command, char *settings);

__export void elide_attach_call(unsigned long command, char *settings)
{
	struct elide_attach_state *s = &elide_attach_state;
	/* elide attach calls it in one thread at a time, but it may be killed, and another started. */
	static uint32_t busy;

	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return;
	s->why[0] = '\0';
	s->err = command == ELIDE_ATTACH ? attach(settings) : command == ELIDE_DETACH ? detach() : ENOSYS;
	/* Release: whoever reads the number finds the rest. */
	__atomic_store_n(&s->nr_done, s->nr_done + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}
