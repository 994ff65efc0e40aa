/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sli-point.h - the numbered points of speculative lock inheritance.
 *
 * Only an object compiled with SLI_POINTS calls sli_point(), which the test brings along to
 * delay a thread there.
 */
#ifndef DEMO_TATP_SLI_POINT_H
#define DEMO_TATP_SLI_POINT_H

enum sli_points {
	SLI_LEAVING,	  /* the owner has seen that nobody waits, and the request is granted */
	SLI_LEFT,	  /* the request is inactive, and the owner has not looked again */
	SLI_REUSING,	  /* before the owner's CAS for the next transaction */
	SLI_DISCARDING,	  /* before the owner's CAS for the release of an unused request */
	SLI_WAITING,	  /* a transaction counts as waiting and has not looked at the queue */
	SLI_INVALIDATING, /* before the CAS of a transaction that the request is in the way of */
	NR_SLI_POINTS,
};

#ifdef SLI_POINTS
void sli_point(enum sli_points point);
#else
static inline void sli_point(enum sli_points point)
{
}
#endif

#endif
