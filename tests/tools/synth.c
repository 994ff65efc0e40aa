// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * synth.c - data files made up for tests.
 *
 * Must never share code with the reader it tests.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "synth.h"

const char *const synth_names[SYNTH_NR] = {
	[SYNTH_ELIDE] = "elide",
	[SYNTH_PROFILE] = "profile",
	[SYNTH_KILLED] = "killed",
	[SYNTH_IDLE] = "idle",
	[SYNTH_FULL] = "full",
	[SYNTH_LATER] = "later",
};

/* One cycle is half a nanosecond: 3 s in 6e9 cycles. */
#define START_NS     1000000000ull
#define START_CYCLES 5000000000ull
#define ELAPSED_NS   3000000000ull
/* How much later SYNTH_LATER is. */
#define LATER_NS     1000000000ull

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct elide_header *synth_header(struct synth *s)
{
	return (struct elide_header *)s->bytes;
}

struct elide_chunk *synth_chunk(struct synth *s, enum elide_chunk_type type)
{
	for (size_t at = ELIDE_HEADER_SIZE; at < s->size; at += ELIDE_CHUNK_SIZE) {
		struct elide_chunk *c = (struct elide_chunk *)(s->bytes + at);

		if (c->type == type)
			return c;
	}
	return NULL;
}

struct elide_row *synth_row(struct synth *s, size_t nr)
{
	for (size_t at = ELIDE_HEADER_SIZE; at < s->size; at += ELIDE_CHUNK_SIZE) {
		struct elide_chunk *c = (struct elide_chunk *)(s->bytes + at);

		if (c->type != ELIDE_CHUNK_ROWS)
			continue;
		if (nr < c->nr_records)
			return (struct elide_row *)(c + 1) + nr;
		nr -= c->nr_records;
	}
	return NULL;
}

void synth_add(struct synth *s, enum elide_chunk_type type, const void *record, size_t size)
{
	struct elide_chunk *c = NULL;

	for (size_t at = ELIDE_HEADER_SIZE; at < s->size; at += ELIDE_CHUNK_SIZE) {
		c = (struct elide_chunk *)(s->bytes + at);
		if (c->type == type && (c->nr_records + 1) * size <= ELIDE_CHUNK_SIZE - sizeof(*c))
			break;
		c = NULL;
	}
	if (!c) {
		s->bytes = must(realloc(s->bytes, s->size + ELIDE_CHUNK_SIZE));
		c = (struct elide_chunk *)(s->bytes + s->size);
		memset(c, 0, ELIDE_CHUNK_SIZE);
		s->size += ELIDE_CHUNK_SIZE;
		synth_header(s)->size = s->size;
		c->magic = ELIDE_CHUNK_MAGIC;
		c->type = type;
		c->record_size = size;
	}
	memcpy((char *)(c + 1) + c->nr_records++ * size, record, size);
	synth_seal(s);
}

void synth_seal(struct synth *s)
{
	struct elide_header *h = synth_header(s);

	memset(h->nr_chunks, 0, sizeof(h->nr_chunks));
	memset(h->nr_records, 0, sizeof(h->nr_records));
	for (size_t at = ELIDE_HEADER_SIZE; at + ELIDE_CHUNK_SIZE <= s->size; at += ELIDE_CHUNK_SIZE) {
		struct elide_chunk *c = (struct elide_chunk *)(s->bytes + at);
		const char *record = (char *)(c + 1), *end = s->bytes + at + ELIDE_CHUNK_SIZE;

		c->check = ELIDE_CHECK_START;
		if (!c->record_size || c->record_size < elide_record_fixed(c->type, c->record_size))
			continue;
		for (uint32_t i = 0; i < c->nr_records && record + c->record_size <= end; i++) {
			c->check = elide_record_check(c->check, c->type, record, c->record_size);
			record += c->record_size;
		}
		if (c->type >= ELIDE_MAX_CHUNK_TYPES)
			continue;
		c->nr = h->nr_chunks[c->type]++;
		h->nr_records[c->type] += c->nr_records;
	}
}

static void find_build_id(struct elide_module *m, const char *notes, size_t size)
{
	for (const char *p = notes; p + sizeof(ElfW(Nhdr)) < notes + size;) {
		const ElfW(Nhdr) *n = (const void *)p;
		const char *name = p + sizeof(*n), *desc = name + ((n->n_namesz + 3) & ~3u);

		if (n->n_type == NT_GNU_BUILD_ID && n->n_descsz <= sizeof(m->build_id)) {
			m->build_id_len = n->n_descsz;
			memcpy(m->build_id, desc, n->n_descsz);
		}
		p = desc + ((n->n_descsz + 3) & ~3u);
	}
}

/* The first object dl_iterate_phdr() tells is the program itself. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct elide_module *m = arg;

	m->base = info->dlpi_addr;
	m->start = ~0ull;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = m->base + p->p_vaddr;

		if (p->p_type == PT_NOTE)
			find_build_id(m, (const char *)start, p->p_memsz);
		if (p->p_type != PT_LOAD)
			continue;
		if (start < m->start)
			m->start = start;
		if (start + p->p_memsz > m->end)
			m->end = start + p->p_memsz;
	}
	return 1;
}

static void make_header(struct synth *s, enum synth_scenario scenario, uint64_t run, uint32_t pid)
{
	struct elide_header *h;
	static const char args[] = "subject\0--threads\0002";

	s->size = ELIDE_HEADER_SIZE;
	s->bytes = must(calloc(1, s->size));
	h = synth_header(s);
	h->magic = ELIDE_DATA_MAGIC;
	h->version = ELIDE_DATA_VERSION;
	h->header_size = ELIDE_HEADER_SIZE;
	h->chunk_size = ELIDE_CHUNK_SIZE;
	h->state = scenario == SYNTH_KILLED ? ELIDE_FILE_LIVE : ELIDE_FILE_CLOSED;
	h->size = s->size;
	h->pid = pid;
	h->mode = scenario == SYNTH_PROFILE ? ELIDE_RUN_PROFILE : ELIDE_RUN_ELIDE;
	h->rtm = scenario == SYNTH_PROFILE ? ELIDE_RTM_NONE : ELIDE_RTM_HARDWARE;
	h->exit_status = scenario == SYNTH_KILLED ? -1 : 0;
	h->run = run;
	h->start_realtime_ns = 1700000000000000000ull; /* 2023-11-14T22:13:20Z */
	h->start_ns = START_NS;
	h->start_cycles = START_CYCLES;
	if (scenario != SYNTH_KILLED) {
		h->end_ns = START_NS + ELAPSED_NS;
		h->end_cycles = START_CYCLES + 2 * ELAPSED_NS;
	}
	if (scenario == SYNTH_LATER) {
		h->end_ns += LATER_NS;
		h->end_cycles += 2 * LATER_NS;
	}
	h->nr_threads = 2;
	h->cores = 4;
	h->sample_period = 16;
	h->args_len = sizeof(args);
	memcpy(h->args, args, sizeof(args));
	if (scenario == SYNTH_KILLED) {
		h->rtm = ELIDE_RTM_EMULATED;
		h->smt = 2;
		h->sockets = 2;
		h->mhz = 3400;
		strcpy(h->model, "haswell");
		strcpy(h->changes, "l1_ways=4,memory=300");
	}
	if (scenario == SYNTH_FULL || scenario == SYNTH_KILLED) {
		h->learned_state = scenario == SYNTH_FULL ? ELIDE_LEARNED_used : ELIDE_LEARNED_damaged;
		h->learned_classes = scenario == SYNTH_FULL ? 12 : 0;
		h->learned_sites = scenario == SYNTH_FULL ? 1 : 0;
		strcpy(h->learned, "/var/lib/subject.learned");
	}
	strcpy(h->policy, "adaptive");
	strcpy(h->exe, "/opt/subject");
	strcpy(h->why, scenario == SYNTH_PROFILE ? "this processor has no RTM" : "RTM commits");
}

static void add_module(struct synth *s)
{
	struct elide_module m = {0};
	ssize_t len;

	dl_iterate_phdr(find_program, &m);
	len = readlink("/proc/self/exe", m.path, sizeof(m.path) - 1);
	if (len < 0)
		abort();
	synth_add(s, ELIDE_CHUNK_MODULES, &m, sizeof(m));
}

static void add_classes(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_class classes[] = {
		{ELIDE_CLASS_STATIC, ELIDE_KIND_MUTEX, (uint64_t)&subject_index_lock, 1, 0, 1},
		{ELIDE_CLASS_INIT, ELIDE_KIND_RWLOCK_READ, sites->create, 100000, 0, 100000},
		{ELIDE_CLASS_STATIC, ELIDE_KIND_MUTEX, (uint64_t)&subject_table.lock, 1, 0, 1},
	};

	for (size_t i = 0; i < 3; i++)
		synth_add(s, ELIDE_CHUNK_CLASSES, &classes[i], sizeof(classes[i]));
}

static void add_rows(struct synth *s, enum synth_scenario scenario,
		     const struct subject_sites *sites)
{
	struct elide_row rows[5] = {
		/* One lock and site in two threads: summed in the report. */
		{.class_index = 0, .kind = ELIDE_KIND_MUTEX, .state = ELIDE_STATE_ELIDING,
		 .site = sites->insert, .not_attempted = 100, .fallback = 300, .commits = 600,
		 .contended = 200, .wasted_cycles = 900000, .wait = {200, 400000, 100, 9000},
		 .hold = SYNTH_HOLD(16, 16000, 500, 2000)},
		{.class_index = 0, .kind = ELIDE_KIND_MUTEX, .state = ELIDE_STATE_PAUSED,
		 .site = sites->insert, .not_attempted = 300, .fallback = 100, .commits = 100,
		 .contended = 50, .wasted_cycles = 100000, .wait = {50, 100000, 50, 4000},
		 .hold = SYNTH_HOLD(8, 8000, 400, 3000)},
		{.class_index = 1, .kind = ELIDE_KIND_RWLOCK_READ, .state = ELIDE_STATE_ELIDING,
		 .site = sites->lookup, .commits = 15000, .nested = 5000, .wasted_cycles = 5000,
		 .hold = SYNTH_HOLD(100, 40000, 100, 1000)},
		{.class_index = 1, .kind = ELIDE_KIND_RWLOCK_WRITE, .state = ELIDE_STATE_ELIDING,
		 .site = sites->insert, .commits = 10},
		{.class_index = 2, .kind = ELIDE_KIND_MUTEX, .state = ELIDE_STATE_OFF,
		 .site = sites->inlined, .not_attempted = 40, .contended = 4,
		 .wait = {4, 8000, 1000, 3000}},
	};

	rows[0].causes[ELIDE_CAUSE_conflict] = 600;
	rows[0].causes[ELIDE_CAUSE_syscall] = 200;
	rows[0].causes[ELIDE_CAUSE_other] = 100;
	rows[1].causes[ELIDE_CAUSE_conflict] = 150;
	rows[1].causes[ELIDE_CAUSE_busy] = 50;
	rows[2].causes[ELIDE_CAUSE_capacity] = 100;
	for (size_t i = 0; i < 5; i++) {
		struct elide_row *row = &rows[i];

		if (scenario == SYNTH_PROFILE)
			*row = (struct elide_row){
				.class_index = row->class_index, .kind = row->kind,
				.state = ELIDE_STATE_PROFILED, .site = row->site,
				.not_attempted = row->commits + row->nested + row->fallback +
						 row->not_attempted,
				.contended = row->contended, .wait = row->wait, .hold = row->hold,
			};
		if (scenario == SYNTH_PROFILE && !i)
			row->wait = (struct elide_times){200, 1200000000, 1000, 40000000};
		/* 2^9 to 2^10 cycles, 2^22 to 2^23, 2^25 to 2^26. */
		if (scenario == SYNTH_PROFILE && !i) {
			row->wait_bins[9 - ELIDE_BIN_SHIFT] = 50;
			row->wait_bins[22 - ELIDE_BIN_SHIFT] = 140;
			row->wait_bins[25 - ELIDE_BIN_SHIFT] = 10;
		}
		if (scenario == SYNTH_PROFILE && i == 4)
			row->failed = 12;
		synth_add(s, ELIDE_CHUNK_ROWS, row, sizeof(*row));
	}
}

/* A row that others wait for, and who waited for whom: 80 per cent of the time for that row. */
static void add_blockers(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_row row = {
		.class_index = 0, .kind = ELIDE_KIND_MUTEX, .state = ELIDE_STATE_PROFILED,
		.site = sites->lookup, .not_attempted = 5000, .hold = SYNTH_HOLD(50, 10000000, 9000, 900000),
	};
	const struct elide_blame blames[] = {
		{.class_index = 0, .kind = ELIDE_KIND_MUTEX, .type = ELIDE_BLAME_WAIT,
		 .site = sites->insert, .held_class = 0, .held_kind = ELIDE_KIND_MUTEX,
		 .held_site = sites->lookup, .samples = 4, .count = 70, .cycles = 800000000},
		{.class_index = 0, .kind = ELIDE_KIND_MUTEX, .type = ELIDE_BLAME_WAIT,
		 .site = sites->insert, .held_class = 0, .held_kind = ELIDE_KIND_MUTEX,
		 .held_site = sites->insert, .samples = 9, .count = 180, .cycles = 200000000},
		{.class_index = 2, .kind = ELIDE_KIND_MUTEX, .type = ELIDE_BLAME_WAIT,
		 .site = sites->inlined, .held_class = 2, .held_kind = ELIDE_KIND_NONE,
		 .samples = 4, .count = 4, .cycles = 8000},
	};

	synth_add(s, ELIDE_CHUNK_ROWS, &row, sizeof(row));
	for (size_t i = 0; i < 3; i++)
		synth_add(s, ELIDE_CHUNK_BLAME, &blames[i], sizeof(blames[i]));
}

/*
 * Who did it, and when: the first thread of the block has counted what the rows have, but for what
 * three past threads have; waits in the first half second, and holds all the time.
 */
static void add_times(struct synth *s, const struct subject_sites *sites)
{
	struct elide_thread_record threads[] = {
		{.state = ELIDE_THREAD_RUNS, .block = 1, .tid = 4242, .nr = 1, .name = "subject",
		 .acquired = 10000, .contended = 154, .wait = 400000000, .held = 3000000},
		{.state = ELIDE_THREAD_PAST, .nr = 3, .name = "worker", .acquired = 10000,
		 .contended = 154, .wait = 400000000, .held = 3000000},
		{.state = ELIDE_THREAD_ENDED, .block = 2, .tid = 4250, .nr = 1, .name = "idle"},
	};

	for (size_t at = ELIDE_HEADER_SIZE; at < s->size; at += ELIDE_CHUNK_SIZE) {
		struct elide_chunk *c = (struct elide_chunk *)(s->bytes + at);

		if (c->type == ELIDE_CHUNK_ROWS)
			c->block = 1;
	}
	for (size_t i = 0; i < 3; i++)
		synth_add(s, ELIDE_CHUNK_THREADS, &threads[i], sizeof(threads[i]));
	for (int i = 0; i < 60; i++) {
		struct elide_span m = {
			.class_index = 0, .kind = ELIDE_KIND_MUTEX, .block = 1, .tid = 4242,
			.type = i % 2 ? ELIDE_SPAN_WAIT : ELIDE_SPAN_HOLD,
			.site = i % 2 ? sites->insert : sites->lookup,
			.time = START_CYCLES + (i % 2 ? 15000000ull : 100000000ull) * (i + 1),
			.cycles = 10000000, .weight = 20000000,
		};

		/* Records that are not in use, and one without a row. */
		if (i >= 56)
			m.type = ELIDE_SPAN_NONE;
		else if (i == 55)
			m.class_index = 2;
		synth_add(s, ELIDE_CHUNK_SPANS, &m, sizeof(m));
	}
}

/* What the process of SYNTH_ELIDE did in the second after it. */
static void add_later(struct synth *s, const struct subject_sites *sites)
{
	struct elide_row *first = synth_row(s, 0), *third = synth_row(s, 2);
	const struct elide_row row = {
		.class_index = 2, .kind = ELIDE_KIND_MUTEX, .state = ELIDE_STATE_ELIDING,
		.site = sites->lookup, .commits = 500, .hold = SYNTH_HOLD(10, 4000, 100, 900),
	};

	first->commits += 1400;
	first->fallback += 100;
	first->causes[ELIDE_CAUSE_conflict] += 300;
	first->causes[ELIDE_CAUSE_busy] += 100;
	first->wasted_cycles += 200000;
	first->contended += 10;
	first->wait.count += 10;
	first->wait.total += 2000000;
	third->commits += 3000;
	synth_add(s, ELIDE_CHUNK_ROWS, &row, sizeof(row));
}

static void add_order(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_order order = {
		.nr_edges = 2,
		.edges = {
			{.class_index = 0, .tid = 41, .held_kind = ELIDE_KIND_MUTEX,
			 .taken_kind = ELIDE_KIND_RWLOCK_READ, .held_site = sites->insert,
			 .taken_site = sites->lookup},
			{.class_index = 1, .tid = 42, .held_kind = ELIDE_KIND_RWLOCK_WRITE,
			 .taken_kind = ELIDE_KIND_MUTEX, .held_site = sites->insert,
			 .taken_site = sites->inlined},
		},
	};

	synth_add(s, ELIDE_CHUNK_ORDER, &order, sizeof(order));
}

void synth_make(struct synth *s, enum synth_scenario scenario, uint64_t run, uint32_t pid)
{
	struct elide_misuse misuse = {.type = ELIDE_MISUSE_UNLOCK_FREE, .kind = ELIDE_KIND_MUTEX,
				      .class = 1, .lock = (uint64_t)&subject_index_lock,
				      .count = 3};
	struct subject_sites sites;

	subject_run(&sites);
	make_header(s, scenario, run, pid);
	add_module(s);
	if (scenario == SYNTH_IDLE)
		return;
	add_classes(s, &sites);
	add_rows(s, scenario, &sites);
	misuse.site = sites.lookup;
	synth_add(s, ELIDE_CHUNK_MISUSE, &misuse, sizeof(misuse));
	if (scenario == SYNTH_PROFILE) {
		add_blockers(s, &sites);
		add_times(s, &sites);
	}
	if (scenario == SYNTH_FULL)
		synth_full(s, &sites);
	if (scenario == SYNTH_LATER)
		add_later(s, &sites);
	if (scenario == SYNTH_ELIDE) {
		synth_header(s)->dropped[ELIDE_DROPPED_LOCKS] = 7;
		add_order(s, &sites);
	}
	synth_seal(s);
}

void synth_write(const struct synth *s, const char *path, size_t size)
{
	FILE *f = must(fopen(path, "w"));

	if (fwrite(s->bytes, 1, size, f) != size || fclose(f))
		abort();
}

void synth_free(struct synth *s)
{
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}
