/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own-data.h - a data file of the test's own.
 *
 * To be called by a constructor of priority 101, which runs before the engine's own, or before elide_start().
 */
#ifndef TESTS_UNIT_OWN_DATA_H
#define TESTS_UNIT_OWN_DATA_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ELIDE_OUTPUT: elide_data_path() says where the file is. @mode: ELIDE_MODE; NULL: it stays as it is */
static inline void own_data(const char *mode)
{
	char path[128];

	snprintf(path, sizeof(path), "/tmp/elide-%s-%d", program_invocation_short_name, (int)getpid());
	setenv("ELIDE_OUTPUT", path, 1);
	if (mode)
		setenv("ELIDE_MODE", mode, 1);
}

#endif
