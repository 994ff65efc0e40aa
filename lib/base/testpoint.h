/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * testpoint.h - the numbered points of points.def in the code.
 *
 * The installed library has none: only an object compiled with ELIDE_TEST_POINTS calls
 * elide_test_point(), which the test provides.
 */
#ifndef ELIDE_TESTPOINT_H
#define ELIDE_TESTPOINT_H

enum elide_point {
#define ELIDE_POINT(name, inside) ELIDE_POINT_##name,
#include "../points.def"
#undef ELIDE_POINT
	ELIDE_NR_POINTS
};

#ifdef ELIDE_TEST_POINTS
/** elide_test_point() - the thread is at that point. Must make no system call at a point inside a section. */
void elide_test_point(enum elide_point point);
#define test_point(name) elide_test_point(ELIDE_POINT_##name)
#else
#define test_point(name) ((void)0)
#endif

#endif
