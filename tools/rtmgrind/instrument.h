/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * instrument.h - rewrites each translated block of guest code; see instrument.c.
 *
 * Only Valgrind may call it.
 */
#ifndef RTMGRIND_INSTRUMENT_H
#define RTMGRIND_INSTRUMENT_H

#include "rtmgrind.h"

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word);

#endif
