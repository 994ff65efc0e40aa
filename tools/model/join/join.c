// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * join.c - data files of many runs and hosts as one file: elide merge.
 *
 * Must never join files of different programs.
 */
#include "join.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../lib/compiler.h"
#include "../../../lib/row-sums.h"
#include "../../base/intern.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "../../names/names.h"
#include "../answer/thread-time.h"
#include "../file/faults.h"
#include "../merge.h"
#include "builds.h"
#include "clock.h"
#include "limit.h"
#include "table.h"
#include "unite.h"

/* Files to merge at once: each merge sorts all samples. */
#define BATCH 32

/* The files of one build of the program. @files: first the merged one, then those to merge. */
struct group {
	uint32_t build_id_len;
	uint8_t build_id[sizeof(((struct elide_module *)0)->build_id)];
	struct data_file files[BATCH];
	size_t nr;
};

/* The run of the files that are being added, in the clock and time of the joined file. */
struct run {
	uint64_t id;
	char host[sizeof(((struct elide_source *)0)->host)];
	uint64_t start_ns;
	uint64_t start_cycles;
	double length_ns;
};

/**
 * struct join - see join.h.
 * @header:  of the joined file, so far
 * @clock:   cycles in a nanosecond, 0 until a file determines it
 * @past_ns: length of all runs before @run
 * @notes:   faults of the files
 * @seen:    processes that were added: struct identity
 */
struct join {
	struct elide_header header;
	char exe[1024];
	struct group *groups;
	size_t nr_groups;
	double clock;
	double slowest;
	double fastest;
	double past_ns;
	struct run run;
	struct load_notes notes;
	size_t nr_files;
	struct intern seen;
};

/* Identifies a process. */
struct identity {
	char host[sizeof(((struct elide_source *)0)->host)];
	uint64_t run;
	uint64_t pid;
	uint64_t pid_start;
	uint64_t start_realtime_ns;
};

static const struct elide_module *program_of(const struct data_file *f)
{
	for (size_t i = 0; i < f->nr_modules; i++)
		if (!strcmp(f->modules[i].path, f->header.exe))
			return &f->modules[i];
	return NULL;
}

/*
 * The group of the file's build; NULL if there is none. Files without build-ids count as one build.
 */
static struct group *group_of(struct join *j, const struct data_file *f)
{
	const struct elide_module *m = program_of(f);

	for (size_t i = 0; i < j->nr_groups; i++) {
		struct group *g = &j->groups[i];

		if (g->build_id_len == (m ? m->build_id_len : 0) &&
		    (!m || !memcmp(g->build_id, m->build_id, m->build_id_len)))
			return g;
	}
	return NULL;
}

static struct group *make_group(struct join *j, const struct data_file *f)
{
	const struct elide_module *m = program_of(f);
	struct group *grown = reallocarray(j->groups, j->nr_groups + 1, sizeof(*grown)), *g;

	if (!grown)
		return NULL;
	j->groups = grown;
	g = &j->groups[j->nr_groups++];
	memset(g, 0, sizeof(*g));
	if (m) {
		g->build_id_len = m->build_id_len;
		memcpy(g->build_id, m->build_id, m->build_id_len);
	}
	return g;
}

struct join *join_new(const struct data_file *reference)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->header = reference->header;
	memset(j->header.dropped, 0, sizeof(j->header.dropped));
	j->header.nr_threads = j->header.nr_unsaid = 0;
	j->header.account = (struct elide_account){0};
	j->header.nr_joining = j->header.joined = 0;
	j->clock = clock_of(&reference->header);
	snprintf(j->exe, sizeof(j->exe), "%s", reference->header.exe);
	if (make_group(j, reference))
		return j;
	free(j);
	return NULL;
}

/* Is the file of the same program, on the same kind of machine? Return: 0, or -EINVAL and @why. */
static int check(struct join *j, const struct data_file *f, char *why, size_t size)
{
	const struct elide_header *h = &f->header, *first = &j->header;

	if (group_of(j, f) != &j->groups[0] && strcmp(base_name(h->exe), base_name(j->exe)))
		snprintf(why, size, "of another program, %.200s, not %.200s", h->exe, j->exe);
	else if ((h->rtm == ELIDE_RTM_EMULATED) != (first->rtm == ELIDE_RTM_EMULATED))
		snprintf(why, size, "of %s machine, the others are not",
			 h->rtm == ELIDE_RTM_EMULATED ? "an emulated" : "a real");
	else if (h->rtm == ELIDE_RTM_EMULATED &&
		 (strcmp(h->model, first->model) || strcmp(h->changes, first->changes) ||
		  h->cores != first->cores || h->smt != first->smt || h->sockets != first->sockets ||
		  h->mhz != first->mhz))
		snprintf(why, size,
			 "of another emulated machine, %.40s with %u cores, not %.40s with %u",
			 h->model, h->cores, first->model, first->cores);
	else
		return 0;
	return -EINVAL;
}

static struct elide_source source_of(const struct data_file *f)
{
	const struct elide_header *h = &f->header;
	const struct elide_module *m = program_of(f);
	struct elide_source s = {
		.start_realtime_ns = h->start_realtime_ns,
		.elapsed_ns = h->end_ns > h->start_ns ? h->end_ns - h->start_ns : 0,
		.run = h->run,
		.pid_start = h->pid_start,
		.pid = h->pid,
		.nr_threads = h->nr_threads,
		.exit_status = h->exit_status,
		.state = h->state,
	};

	snprintf(s.host, sizeof(s.host), "%s", h->host);
	snprintf(s.name, sizeof(s.name), "%.*s", (int)sizeof(s.name) - 1, program_title(h));
	for (size_t i = 0; i < table_nr(f->table); i++) {
		const struct elide_row *row = table_row(f->table, i);

		if (elide_kind_is_lock(row->kind))
			s.acquired += elide_row_acquired(row);
		if (elide_kind_waits_for_lock(row->kind))
			s.wait += row->wait.total;
	}
	if (m) {
		s.build_id_len = m->build_id_len;
		memcpy(s.build_id, m->build_id, m->build_id_len);
	}
	return s;
}

/* Gives the file of a process one source; a joined file has its sources already. */
static int make_sources(struct data_file *f)
{
	if (f->nr_sources)
		return 0;
	f->sources = malloc(sizeof(*f->sources));
	if (!f->sources)
		return -ENOMEM;
	f->sources[0] = source_of(f);
	f->nr_sources = 1;
	return 0;
}

/* Remembers the processes of a file. Return: 0; -EINVAL and @why if one is there already. */
static int check_twice(struct join *j, const struct data_file *f, char *why, size_t size)
{
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < f->nr_sources; i++) {
			const struct elide_source *s = &f->sources[i];
			struct identity id;
			size_t before = j->seen.nr;

			memset(&id, 0, sizeof(id));
			memcpy(id.host, s->host, sizeof(id.host));
			id.run = s->run;
			id.pid = s->pid;
			id.pid_start = s->pid_start;
			id.start_realtime_ns = s->start_realtime_ns;
			if (!round && intern_has(&j->seen, &id, sizeof(id))) {
				snprintf(why, size, "process %u%s%.64s is in another one of the files",
					 s->pid, s->host[0] ? " of " : "", s->host);
				return -EINVAL;
			}
			if (round && intern(&j->seen, &id, sizeof(id)) < 0 && j->seen.nr == before)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Takes the arrays of a merged file, and its rows as a table. */
static int take(struct data_file *to, struct data_file *merged)
{
	int rc;

	*to = *merged;
	to->table = table_new();
	rc = to->table ? table_add_file(to->table, merged) : -ENOMEM;
	to->merged_rows = table_rows;
	to->merged = NULL;
	to->nr_rows = to->table ? table_nr(to->table) : 0;
	/* merge_free() releases the rest. */
	*merged = (struct data_file){.fd = -1, .merged = merged->merged};
	merge_free(merged);
	unite_records(to);
	return rc ? rc : limit_records(to);
}

void join_free_file(struct data_file *f)
{
	table_free(f->table);
	f->table = NULL;
	load_free(f);
}

static int flush(struct group *g)
{
	struct data_file merged, all;
	int rc;

	if (g->nr < 2)
		return 0;
	rc = merge_files(&merged, g->files, g->nr);
	if (!rc)
		rc = take(&all, &merged);
	for (size_t i = 0; i < g->nr; i++)
		join_free_file(&g->files[i]);
	g->nr = 0;
	if (!rc)
		g->files[g->nr++] = all;
	return rc;
}

/* Reads the rows of a file into memory, so that it can be closed. */
static int read_rows(struct data_file *f)
{
	int rc;

	f->table = table_new();
	rc = f->table ? table_add_file(f->table, f) : -ENOMEM;
	if (!rc)
		rc = unite_end_threads(f);
	if (f->base)
		load_free(f->base);
	free(f->base);
	f->base = NULL;
	f->negates = 0;
	f->merged_rows = table_rows;
	close(f->fd);
	f->fd = -1;
	return rc;
}

/* Begins the run of a file, unless it has begun. */
static void begin_run(struct join *j, const struct data_file *f)
{
	const struct elide_header *h = &f->header;
	struct run *r = &j->run;

	/* Clocks of emulated machines, and of hosts, differ. */
	if (j->nr_files && h->run && r->id == h->run && !strcmp(r->host, h->host) &&
	    h->rtm != ELIDE_RTM_EMULATED)
		return;
	j->past_ns += r->length_ns;
	*r = (struct run){.id = h->run, .start_ns = h->start_ns, .start_cycles = h->start_cycles};
	memcpy(r->host, h->host, sizeof(h->host));
}

static uint64_t time_of(const struct join *j, uint64_t time, double ratio)
{
	double since = ((double)time - (double)j->run.start_cycles) * ratio + j->past_ns * j->clock;

	return since > 0 ? (uint64_t)since : 0;
}

/* Moves the times of a file after those of the earlier runs, in the clock of the first file. */
static void set_times(struct join *j, struct data_file *f)
{
	const struct elide_header *h = &f->header;
	/* An unknown clock counts as that of the others. */
	double clock = j->clock && clock_is_short(h) ? 0 : clock_of(h), ratio = 1, end;

	if (!j->clock)
		j->clock = clock;
	if (clock && j->clock)
		ratio = j->clock / clock;
	if (clock && (!j->slowest || clock < j->slowest))
		j->slowest = clock;
	if (clock > j->fastest)
		j->fastest = clock;
	begin_run(j, f);
	for (size_t i = 0; i < f->nr_events; i++)
		f->events[i].time = time_of(j, f->events[i].time, ratio);
	for (size_t i = 0; i < f->nr_spans; i++) {
		f->spans[i].time = time_of(j, f->spans[i].time, ratio);
		f->spans[i].block = 0;
	}
	for (size_t i = 0; i < f->nr_aborts; i++)
		f->aborts[i].time = time_of(j, f->aborts[i].time, ratio);
	if (fabs(ratio - 1) > CLOCK_SAME)
		clock_convert(f, ratio);
	end = h->end_ns > j->run.start_ns ? (double)(h->end_ns - j->run.start_ns) : 0;
	if (end > j->run.length_ns)
		j->run.length_ns = end;
}

/* Keeps the fields in which all files agree. */
static void add_header(struct join *j, const struct elide_header *h)
{
	struct elide_header *to = &j->header;

	merge_numbers(to, h);
	if (h->start_realtime_ns && h->start_realtime_ns < to->start_realtime_ns)
		to->start_realtime_ns = h->start_realtime_ns;
	if (h->mode > to->mode)
		to->mode = h->mode;
	if (h->rtm > to->rtm)
		to->rtm = h->rtm;
	to->rtm_off &= h->rtm_off;
	if (h->exit_status != to->exit_status)
		to->exit_status = -1;
	if (strcmp(h->why, to->why))
		to->why[0] = '\0';
	if (strcmp(h->policy, to->policy))
		snprintf(to->policy, sizeof(to->policy), "(several)");
	if (strcmp(h->host, to->host))
		to->host[0] = '\0';
	if (h->args_len != to->args_len || memcmp(h->args, to->args, h->args_len))
		to->args_len = to->args_len ? strnlen(to->args, to->args_len - 1) + 1 : 0;
	if (h->cores != to->cores || h->smt != to->smt || h->sockets != to->sockets) {
		to->cores = h->cores > to->cores ? h->cores : to->cores;
		to->smt = to->sockets = 0;
	}
}

int join_add(struct join *j, struct data_file *f, char *why, size_t size)
{
	struct group *g;
	int rc = check(j, f, why, size);

	if (!rc)
		rc = read_rows(f);
	if (!rc)
		rc = make_sources(f);
	if (!rc)
		rc = check_twice(j, f, why, size);
	g = rc ? NULL : group_of(j, f);
	if (!rc && !g)
		g = make_group(j, f);
	if (!rc && !g)
		rc = -ENOMEM;
	if (!rc && g->nr == BATCH)
		rc = flush(g);
	if (rc) {
		join_free_file(f);
		return rc;
	}
	/* The clocks of the files differ. */
	f->header.joined = thread_time_joined(&f->header);
	f->header.nr_joining = 0;
	set_times(j, f);
	add_header(j, &f->header);
	faults_add(&j->notes, &f->notes);
	/* Their sum is in the header of the joined file. */
	memset(f->header.dropped, 0, sizeof(f->header.dropped));
	f->nr_processes = f->nr_sources;
	g->files[g->nr++] = *f;
	j->nr_files++;
	return 0;
}

/* Adds a further build to the first one. */
static int add_build(struct data_file *to, struct data_file *from, struct join_told *told,
		     void (*warn)(const char *line))
{
	struct data_file parts[2] = {*to, *from}, merged, all;
	struct builds b;
	int rc = builds_match(&b, to, from, warn);

	if (rc)
		return rc;
	told->nr_same += b.nr;
	told->nr_apart += b.nr_apart;
	rc = merge_as(&merged, parts, 2, b.aliases, b.nr);
	if (!rc)
		rc = take(&all, &merged);
	builds_free(&b);
	if (rc)
		return rc;
	join_free_file(to);
	*to = all;
	return 0;
}

static void finish_header(struct join *j, struct data_file *to)
{
	uint64_t dropped[ELIDE_MAX_DROPPED];
	struct elide_header *h = &to->header;

	/* limit_records() has counted what it left out. */
	memcpy(dropped, h->dropped, sizeof(dropped));
	*h = j->header;
	for (int i = 0; i < ELIDE_MAX_DROPPED; i++)
		h->dropped[i] += dropped[i];
	h->version = ELIDE_DATA_VERSION;
	h->chunk_size = ELIDE_CHUNK_SIZE;
	h->state = ELIDE_FILE_CLOSED;
	h->run = 0;
	h->pid_start = 0;
	h->control = ELIDE_CONTROL_NONE;
	memset(&h->inspect, 0, sizeof(h->inspect));
	h->start_ns = h->start_cycles = 0;
	h->end_ns = (uint64_t)(j->past_ns + j->run.length_ns);
	h->end_cycles = (uint64_t)((j->past_ns + j->run.length_ns) * j->clock);
}

int join_end(struct join *j, struct data_file *to, struct join_told *told,
	     void (*warn)(const char *line))
{
	struct data_file *first = NULL;
	int rc = j->nr_files ? 0 : -ENODATA;

	*told = (struct join_told){.slowest = j->slowest, .fastest = j->fastest};
	for (size_t i = 0; !rc && i < j->nr_groups; i++) {
		struct group *g = &j->groups[i];

		if (!g->nr)
			continue;
		told->nr_builds++;
		rc = flush(g);
		if (!rc && !first)
			first = &g->files[0];
		else if (!rc)
			rc = add_build(first, &g->files[0], told, warn);
	}
	if (rc)
		return rc;
	unite_records(first);
	*to = *first;
	memset(first, 0, sizeof(*first));
	finish_header(j, to);
	to->notes = j->notes;
	return limit_records(to);
}

void join_free(struct join *j)
{
	for (size_t i = 0; i < j->nr_groups; i++)
		for (size_t k = 0; k < j->groups[i].nr; k++)
			join_free_file(&j->groups[i].files[k]);
	free(j->groups);
	intern_free(&j->seen);
	free(j);
}
