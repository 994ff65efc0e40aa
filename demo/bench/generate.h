/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate.h - writes operation files.
 */
#ifndef DEMO_GENERATE_H
#define DEMO_GENERATE_H

#include "options.h"

int generate(const struct options *opts);

#endif
