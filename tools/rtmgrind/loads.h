/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loads.h - the loads of a block, also those whose values are not used; see loads.c.
 *
 * Must never be asked for stores, which VEX keeps.
 */
#ifndef RTMGRIND_LOADS_H
#define RTMGRIND_LOADS_H

#include "rtmgrind.h"

Int loads_read(const IRStmt *stmt, const IRExpr **noted, IRExpr **addr);
Bool loads_is_note(const IRStmt *stmt);

#endif
