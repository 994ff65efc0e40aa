/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.h - checks in a forked child, where cmocka's would jump out of the wrong process. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <stdio.h>
#include <unistd.h>

/* Names the line and ends the child. */
#define check(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

#endif
