/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.h - client requests, and the region of interest; see requests.c.
 *
 * Must never abort a transaction.
 */
#ifndef RTMGRIND_REQUESTS_H
#define RTMGRIND_REQUESTS_H

#include "rtmgrind.h"

/* The cost model is on: False outside the region of interest. */
extern Bool in_region;

Long region_cycles(void);
Bool request_handle(ThreadId tid, UWord *args, UWord *answer);

#endif
