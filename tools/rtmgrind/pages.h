/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - page faults; see pages.c.
 *
 * Must never touch a page.
 */
#ifndef RTMGRIND_PAGES_H
#define RTMGRIND_PAGES_H

#include "rtmgrind.h"

void pages_init(void);
void pages_forget(void);
Bool pages_present(Addr addr);
void pages_touch(Addr addr);

#endif
