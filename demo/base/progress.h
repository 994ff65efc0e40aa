/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - a line that shows the progress of a phase.
 */
#ifndef DEMO_PROGRESS_H
#define DEMO_PROGRESS_H

#include <stdint.h>

void progress_show(const char *what, uint64_t done, uint64_t all);
void progress_clear(void);

#endif
