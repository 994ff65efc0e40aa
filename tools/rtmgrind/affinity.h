/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * affinity.h - on which of the simulated processors each thread may run; see affinity.c.
 *
 * Must never answer for a thread of another process.
 */
#ifndef RTMGRIND_AFFINITY_H
#define RTMGRIND_AFFINITY_H

#include "vthread.h"

Bool affinity_allows(const struct vthread *t, Int cpu);
void affinity_copy(struct vthread *to, const struct vthread *from);
SizeT affinity_list(HChar *text);
SizeT affinity_mask(HChar *text);
enum syscall_verdict affinity_get(VexGuestAMD64State *guest);
enum syscall_verdict affinity_set(VexGuestAMD64State *guest);

#endif
