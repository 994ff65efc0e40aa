/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups.h - which threads wait for which, in groups of threads that do the same.
 *
 * Must never say that one group waits for another if no sample does.
 */
#ifndef ELIDE_GROUPS_H
#define ELIDE_GROUPS_H

#include "../report.h"

/* Index of no group, and of no sum. */
#define GROUP_NONE ((uint32_t)~0)

/**
 * struct group - threads of one name, or of one function in which they began.
 * @name:    "main" for the first thread; else the name that the program gave them, without a number at its
 *           end, or the outermost function of their stacks that is not of the C or C++ library
 * @nr:      threads
 * @is_main: the first thread of the process
 * @known:   the launcher has measured @lived, @ran and @late
 * @lived, @ran, @late: nanoseconds for which they existed, were on a processor, and were ready without one
 * @locks, @others: nanoseconds of waiting, see struct thread_time
 * @edge:    index of its longest edge; GROUP_NONE: it has none
 */
struct group {
	char name[SHORT_NAME];
	unsigned int nr;
	int is_main;
	int known;
	double lived;
	double ran;
	double late;
	double locks;
	double others;
	uint32_t edge;
};

/**
 * struct group_edge - the threads of a group wait in one call until another call ends that.
 * @from, @to: groups; @to is GROUP_NONE if it is not known
 * @sum:    the row of the call that waits, an index of the report's sums; GROUP_NONE: pthread_join()
 * @blame:  the call that held the lock or ended the wait; NULL: not known
 * @ns:     time waited
 */
struct group_edge {
	uint32_t from;
	uint32_t to;
	uint32_t sum;
	const struct elide_blame *blame;
	double ns;
};

/**
 * struct groups - all groups of a report, and their edges.
 * @group: the first thread is the first
 * @edge:  by group, the longest of each first
 */
struct groups {
	struct group *group;
	size_t nr;
	struct group_edge *edge;
	size_t nr_edges;
};

/**
 * groups_build() - find the groups of a report's process.
 *
 * A file without records of threads, or with counts subtracted, has none. Return: 0 or -ENOMEM.
 */
int groups_build(const struct report *r, struct groups *g);

/**
 * groups_chain() - from the first thread, or the group that waits longest, along the longest edges.
 * @edges: filled with up to @max of them, each of which explains more than half of the waiting of its group
 * @loop:  set to the place in @edges to which the last one leads back; @max: to none
 *
 * Return: their number.
 */
size_t groups_chain(const struct groups *g, uint32_t *edges, size_t max, size_t *loop);

/** groups_free() - release what groups_build() took. */
void groups_free(struct groups *g);

#endif
