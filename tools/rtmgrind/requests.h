/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.h - answers the client requests of lib/emulator.h; see requests.c.
 *
 * Must never abort a transaction.
 */
#ifndef RTMGRIND_REQUESTS_H
#define RTMGRIND_REQUESTS_H

#include "rtmgrind.h"

Bool request_handle(ThreadId tid, UWord *args, UWord *answer);

#endif
