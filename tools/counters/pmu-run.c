// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmu-run.c - the hardware counters of a run.
 *
 * Must never prevent the program from running.
 */
#include "pmu-run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/messages.h"
#include "pmu-file.h"

static int make_directory(struct counting *c)
{
	const char *tmp = getenv("TMPDIR");

	if (c->directory[0])
		return 0;
	if (snprintf(c->directory, sizeof(c->directory), "%s/elide-XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") < (int)sizeof(c->directory) &&
	    mkdtemp(c->directory))
		return 0;
	c->directory[0] = '\0';
	return -1;
}

/* The emulator counts by itself; ELIDE_COUNTERS names the file that it writes. */
static void start_emulated(struct counting *c)
{
	const char *asked = getenv("ELIDE_COUNTERS");

	if (asked && !strcmp(asked, "yes")) {
		say("--pmu: the emulator's counters go to standard error, as --counters=yes says, "
		    "and not to the data file");
		return;
	}
	if (asked && *asked && strcmp(asked, "no")) {
		snprintf(c->emulated, sizeof(c->emulated), "%s", asked);
		return;
	}
	if (make_directory(c)) {
		say("--pmu: no directory for the emulator's counters in %s: %s",
		    getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(errno));
		return;
	}
	snprintf(c->emulated, sizeof(c->emulated), "%s/counters.%%p", c->directory);
	setenv("ELIDE_COUNTERS", c->emulated, 1);
}

static void start_pmu(struct counting *c)
{
	struct pmu_event events[PMU_EVENTS_MAX];
	struct machine m;
	char why[512];
	int rc;

	machine_read(&m, NULL);
	if (pmu_why_not(&m, pmu_open, why, sizeof(why))) {
		say("--pmu: %s", why);
		return;
	}
	rc = pmu_stat_open(&c->stat, events, pmu_events(&m, events), pmu_open);
	if (rc)
		say("--pmu: perf_event_open: %s", strerror(-rc));
	else if (c->stat.nr_refused)
		say("--pmu: %zu of %zu events cannot be counted here", c->stat.nr_refused,
		    c->stat.nr_refused + c->stat.nr);
}

static void start_pcm(struct counting *c, int emulate)
{
	char program[PATH_MAX], why[640];

	if (emulate) {
		say("--pcm: the processor does not see an emulated machine's transactions");
		return;
	}
	if (pcm_why_not("", !geteuid(), program, why, sizeof(why))) {
		say("--pcm: %s", why);
		return;
	}
	if (make_directory(c)) {
		say("--pcm: no directory for its file: %s", strerror(errno));
		return;
	}
	if (pcm_start(&c->pcm, program, c->directory, why, sizeof(why)))
		say("--pcm: %s", why);
	else
		c->has_pcm = 1;
}

void counting_start(struct counting *c, int emulate, const char *pmu, int pcm)
{
	int wanted = pmu && (!strcmp(pmu, "stat") || !strcmp(pmu, "abort"));

	memset(c, 0, sizeof(*c));
	/* Before the counters are opened, as they would count it. */
	if (pcm)
		start_pcm(c, emulate);
	if (wanted && emulate)
		start_emulated(c);
	else if (wanted)
		start_pmu(c);
}

/* Reads the emulator's file of process @pid. */
static size_t end_emulated(struct counting *c, pid_t pid, struct elide_counter *counters)
{
	char path[PATH_MAX + 16], *p = strstr(c->emulated, "%p");
	size_t nr = 0;
	FILE *f;

	if (p)
		snprintf(path, sizeof(path), "%.*s%d%s", (int)(p - c->emulated), c->emulated,
			 (int)pid, p + 2);
	else
		snprintf(path, sizeof(path), "%s", c->emulated);
	f = fopen(path, "re");
	if (f) {
		nr = pmu_read_emulated(f, counters, PMU_EVENTS_MAX);
		fclose(f);
	}
	return nr;
}

/* Children of the program have left their files there, too. */
static void remove_directory(const struct counting *c)
{
	struct dirent *entry;
	DIR *d;

	if (!c->directory[0])
		return;
	d = opendir(c->directory);
	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0); /* "." and ".." are directories */
	if (d)
		closedir(d);
	rmdir(c->directory);
}

void counting_end(struct counting *c, const char *path, pid_t pid)
{
	struct elide_counter counters[2 * PMU_EVENTS_MAX];
	size_t nr = 0;
	int rc = 0;

	if (c->emulated[0])
		nr = end_emulated(c, pid, counters);
	if (c->stat.nr)
		nr = pmu_stat_close(&c->stat, counters);
	if (c->has_pcm) {
		rc = pcm_stop(&c->pcm, counters + nr);
		if (rc < 0)
			say("--pcm: pcm-tsx has left no counts: %s", strerror(-rc));
		else
			nr += rc;
	}
	remove_directory(c);
	if (nr && path)
		rc = pmu_append(path, pid, counters, nr);
	if (nr && rc < 0 && rc != -ESRCH)
		say("%s: counters are not saved: %s", path, strerror(-rc));
	else if (nr && (!path || rc == -ESRCH))
		say("counters are not saved: the program has no data file");
}
