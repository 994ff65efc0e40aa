/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - loads an index before the measured part.
 */
#ifndef DEMO_LOAD_H
#define DEMO_LOAD_H

#include "../index/index.h"

int load(struct index *index, struct index_thread *share, uint64_t preload, unsigned int fill);

#endif
