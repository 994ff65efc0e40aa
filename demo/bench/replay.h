/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - runs operation files on an index.
 */
#ifndef DEMO_REPLAY_H
#define DEMO_REPLAY_H

#include "options.h"

int replay(const struct options *opts, const struct index_ops *ops);

#endif
