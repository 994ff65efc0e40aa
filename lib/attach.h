/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.h - what elide attach and the library in the process that it attaches to agree on.
 *
 * Must have no pointers: two programs read it, which may be of different releases.
 */
#ifndef ELIDE_ATTACH_H
#define ELIDE_ATTACH_H

#include <stdint.h>

/* Raised with each incompatible change of this file. */
#define ELIDE_ATTACH_VERSION 1

/* Exported by the library: struct elide_attach_state, and the function. */
#define ELIDE_ATTACH_STATE "elide_attach_state"
#define ELIDE_ATTACH_CALL  "elide_attach_call"

/* Of the library in a process. */
enum elide_attached {
	ELIDE_ATTACHED_FROM_START, /* the process was started with it */
	ELIDE_ATTACHED_NOT,        /* loaded by attaching: does nothing */
	ELIDE_ATTACHED_NOW,        /* counts, until it is detached */
};

enum elide_attach_command {
	ELIDE_ATTACH,
	ELIDE_DETACH,
};

/**
 * struct elide_attach_state - of the library, for others to read.
 * @version: ELIDE_ATTACH_VERSION
 * @attached: enum elide_attached
 * @nr_done: commands that were carried out
 * @err: of the last one: 0, or an error of errno.h
 * @why: if not 0, what else is known
 * @path: of the data file of the last attachment, in the namespace of the process
 */
struct elide_attach_state {
	uint32_t version;
	uint32_t attached;
	uint32_t nr_done;
	int32_t err;
	char why[256];
	char path[4096];
};

#endif
