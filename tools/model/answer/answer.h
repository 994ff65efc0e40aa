/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer.h - where the threads' time goes, and why: what a report says first.
 *
 * Must never give a verdict on a lock for time in which nobody held it.
 */
#ifndef ELIDE_ANSWER_H
#define ELIDE_ANSWER_H

#include "groups.h"
#include "thread-time.h"

/* Findings of a report, at most. */
#define ANSWERS_MAX 3

/* What to do about a finding. */
enum answer_advice {
#define ELIDE_ANSWER(id, when, text) ANSWER_##id,
#include "answer.def"
#undef ELIDE_ANSWER
};

/**
 * struct answer - a finding: threads wait in calls for the locks of one class, or for a processor.
 * @line:    the row that waited longest, with its names; if @advice is ANSWER_processors, empty
 * @ns:      time waited at the class, in nanoseconds
 * @percent: of the time of all threads; NAN if that is not known
 * @threads: threads that wait there on average
 * @open:    threads that waited there when the file's time ended
 * @advice:  enum answer_advice
 * @hold_ns: mean hold time of the section that threads waited for; 0 if it is not known
 * @share:   of the time waited, the part for that section, or until that call
 * @off:     the least part of the hold times in which the holder was not on a processor; 0: not known
 * @from:    the group that waited longest; NULL: not known
 * @to:      the group that it waited for; NULL: not known
 * @cause:   the finding of which this one is a consequence, from 1; 0: of none
 */
struct answer {
	struct line line;
	double ns;
	double percent;
	double threads;
	unsigned int open;
	enum answer_advice advice;
	double hold_ns;
	double share;
	double off;
	const struct group *from;
	const struct group *to;
	size_t cause;
};

/**
 * struct answers - the findings of a report.
 * @time:   the account of its threads
 * @groups: of its threads
 * @all:    @nr of them, that with the most time waited first
 */
struct answers {
	struct thread_time time;
	struct groups groups;
	struct answer all[ANSWERS_MAX + 1];
	size_t nr;
};

/** answers_find() - find out what a report says first. Return: 0 or -ENOMEM. */
int answers_find(const struct report *r, struct answers *a);

/** answer_id() - the name of an advice, as in JSON and the manual. */
const char *answer_id(enum answer_advice advice);

/** answer_text() - what to do. */
const char *answer_text(enum answer_advice advice);

/** answers_free() - release what answers_find() took. */
void answers_free(struct answers *a);

#endif
