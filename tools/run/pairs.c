// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pairs.c - runs a program plain and elided, in pairs, and measures its time.
 */
#include "pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/messages.h"
#include "../model/file/faults.h"
#include "../model/report.h"

/* Reads the elision of a run from the program's data file, not from those of its children. */
static void read_elision(void *arg, const char *path)
{
	struct elision *e = arg;
	char error[LOAD_ERROR_MAX];
	struct elide_header header;
	struct data_file f;
	struct report r;

	*e = (struct elision){0};
	if (load_header(path, &header) || load(path, &f, error))
		return;
	e->known = true;
	e->mode = header.mode;
	e->rtm = header.rtm;
	snprintf(e->why, sizeof(e->why), "%s", header.why);
	if (!report_build(&r, &f, BY_LOCK, "cost")) {
		e->acquired = r.total.acquired;
		e->elided = r.total.elided;
		report_free(&r);
	}
	if (faults_of(&f, error))
		say("%s", error);
	load_free(&f);
}

/* A linear congruential generator with the constants of Knuth's MMIX. */
static unsigned int draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static int run_all(struct pairs *p, struct comparison *c)
{
	/* The first runs warm caches; on an emulated machine there are none to warm. */
	size_t warm_up = p->runs.request.emulate ? 0 : 1;
	uint64_t state = c->seed, seed = c->seed;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->nr + warm_up; i++) {
		struct run_pair pair = {.first = draw(&state) >> 30};

		for (int turn = 0; !rc && turn < NR_SIDES; turn++) {
			int side = turn ^ pair.first;
			bool show = p->shown == SHOW_ALL || (p->shown == SHOW_FIRST && !i && !turn);

			rc = measured_once(&p->runs, side == PLAIN ? "off" : p->mode, seed, show,
					   side == PLAIN ? NULL : read_elision, &c->elision,
					   &pair.run[side]);
		}
		if (rc || i < warm_up)
			continue;
		c->pairs[c->nr++] = pair;
		seed++;
	}
	return rc;
}

int pairs_run(struct pairs *p, struct comparison *c)
{
	const char *mode = getenv("ELIDE_MODE");
	int rc = measured_begin(&p->runs);

	p->mode = strdup(mode ? mode : "auto");
	if (!p->mode)
		rc = -ENOMEM;
	if (!rc)
		rc = run_all(p, c);
	measured_end(&p->runs);
	free(p->mode);
	return rc;
}
