/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loads.h - the loads of a block, including those with unused values; see loads.c.
 *
 * Stores need no notes, as VEX keeps them.
 */
#ifndef RTMGRIND_LOADS_H
#define RTMGRIND_LOADS_H

#include "rtmgrind.h"

Int loads_read(const IRStmt *stmt, const IRExpr **noted, IRExpr **addr);
Bool loads_is_note(const IRStmt *stmt);

#endif
