/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - signals that ask a command to end, noted for later.
 *
 * Must never end the process.
 */
#ifndef ELIDE_SIGNALS_H
#define ELIDE_SIGNALS_H

#include <signal.h>

/* The last signal that was noted; 0 if there was none. */
extern volatile sig_atomic_t signal_noted;

/** signals_note() - note SIGINT, SIGTERM, SIGHUP and SIGQUIT, except those that are ignored. */
void signals_note(void);

#endif
