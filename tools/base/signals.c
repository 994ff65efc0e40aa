// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signals.c - signals that ask a command to end, noted for later.
 *
 * Must never end the process.
 */
#include "signals.h"

#include <stddef.h>

#include "../../lib/compiler.h"

volatile sig_atomic_t signal_noted;

static void note_signal(int sig)
{
	signal_noted = sig;
}

void signals_note(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction old, action = {.sa_handler = note_signal};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}
