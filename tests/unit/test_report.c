// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_report.c - rows summed and sorted; verdicts are in test_verdict.c, the texts are compared in tests/tools.
 */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/model/advice.h"
#include "../../tools/model/unique-names.h"
#include "../../tools/model/attribute.h"
#include "../../tools/base/exit.h"
#include "../../tools/print/json-report.h"
#include "../../tools/model/rank.h"
#include "../tools/synth.h"

struct loaded {
	struct synth synth;
	struct data_file file;
	struct report report;
};

static void build(struct loaded *l, enum report_by by, const char *sort)
{
	char path[64], error[LOAD_ERROR_MAX];

	snprintf(path, sizeof(path), "/tmp/elide-test-report.%d", getpid());
	synth_seal(&l->synth);
	synth_write(&l->synth, path, l->synth.size);
	assert_int_equal(load(path, &l->file, error), 0);
	unlink(path);
	assert_int_equal(report_build(&l->report, &l->file, by, sort), 0);
}

static void make(struct loaded *l, enum synth_scenario scenario, enum report_by by,
		 const char *sort)
{
	synth_make(&l->synth, scenario, 0, 1);
	build(l, by, sort);
}

static void drop(struct loaded *l)
{
	report_free(&l->report);
	load_free(&l->file);
	synth_free(&l->synth);
}

static void sums(void **state)
{
	struct loaded l;
	const struct line *first;

	make(&l, SYNTH_ELIDE, BY_LOCK_AND_SITE, "cost");
	assert_int_equal(l.report.nr_lines, 4);
	first = &l.report.lines[0];
	assert_string_equal(first->lock, "subject_index_lock");
	assert_int_equal(first->acquired, 1500);
	assert_int_equal(first->aborts, 1100);
	assert_int_equal(first->by_column[COLUMN_CONFL], 750);
	assert_int_equal(first->by_column[COLUMN_SYSCALL], 200);
	assert_int_equal(first->by_column[COLUMN_OTHER], 100);
	assert_int_equal(first->sum.wait.count, 250);
	assert_int_equal(first->sum.wait.min, 50);
	assert_int_equal(first->sum.wait.max, 9000);
	assert_int_equal(first->nr_locks, 1);
	/* Most of its acquisitions were made while it was elided. */
	assert_int_equal(first->state, ELIDE_STATE_ELIDING);
	/* Wasted, waited, and 400 fallbacks of 24000/24 cycles. */
	assert_true(first->cost == 1000000 + 500000 + 400 * 1000);
	assert_int_equal(l.report.total.acquired, 21550);
	assert_int_equal(l.report.total.nr_locks, 100002);
	drop(&l);
}

static void add_thread(struct synth *s, uint32_t tid, const char *name)
{
	struct elide_thread_record thread = {.state = ELIDE_THREAD_ENDED, .block = 1, .tid = tid, .nr = 1};

	snprintf(thread.name, sizeof(thread.name), "%s", name);
	synth_add(s, ELIDE_CHUNK_THREADS, &thread, sizeof(thread));
}

/* The lock of a misuse has the name that it has in the table of rows. */
static void misuse(void **state)
{
	static const struct {
		uint16_t class;
		const char *name;
	} table[] = {
		{1, "subject_index_lock"},
		{2, "made in subject_create subject.c:32"},
		{3, "subject_table+0x20"},
		{0, NULL},
		{4, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct elide_misuse *m;
		struct loaded l;

		synth_make(&l.synth, SYNTH_ELIDE, 0, 1);
		m = (struct elide_misuse *)(synth_chunk(&l.synth, ELIDE_CHUNK_MISUSE) + 1);
		m->class = table[i].class;
		m->tid = i ? 0 : 41;
		add_thread(&l.synth, 41, "writer");
		build(&l, BY_LOCK_AND_SITE, "cost");
		assert_int_equal(l.report.nr_misuse, 1);
		if (table[i].name)
			assert_string_equal(l.report.misuse[0].lock, table[i].name);
		else
			assert_null(l.report.misuse[0].lock);
		if (i)
			assert_null(l.report.misuse[0].owner);
		else
			assert_string_equal(l.report.misuse[0].owner, "writer");
		drop(&l);
	}
}

/* DESIGN's invariants hold of every row and of the totals. */
static void invariants(void **state)
{
	for (enum synth_scenario scenario = 0; scenario < SYNTH_NR; scenario++) {
		struct loaded l;

		make(&l, scenario, BY_LOCK_AND_SITE, "cost");
		for (size_t i = 0; i <= l.report.nr_lines; i++) {
			const struct line *line =
				i < l.report.nr_lines ? &l.report.lines[i] : &l.report.total;

			uint64_t causes = 0;

			for (int c = 0; c < ELIDE_NR_CAUSES; c++)
				causes += line->sum.causes[c];
			assert_int_equal(line->acquired, line->elided + line->sum.fallback +
								 line->sum.not_attempted);
			assert_int_equal(line->attempts, line->sum.commits + line->aborts);
			assert_int_equal(line->aborts, causes);
		}
		drop(&l);
	}
}

static void by_lock_and_by_site(void **state)
{
	struct loaded l;

	make(&l, SYNTH_ELIDE, BY_LOCK, "acquired");
	assert_int_equal(l.report.nr_lines, 4);
	assert_string_equal(l.report.lines[0].lock, "made in subject_create subject.c:32");
	drop(&l);
	make(&l, SYNTH_ELIDE, BY_SITE, "acquired");
	/* Site and kind: insert as mutex and as writer, lookup, inlined. */
	assert_int_equal(l.report.nr_lines, 4);
	assert_int_equal(l.report.lines[1].nr_classes, 1);
	drop(&l);
	/* The second site of a lock: summed by lock, apart by site. */
	synth_make(&l.synth, SYNTH_ELIDE, 0, 1);
	((struct elide_row *)(synth_chunk(&l.synth, ELIDE_CHUNK_ROWS) + 1))[1].site += 1;
	build(&l, BY_LOCK, "cost");
	assert_int_equal(l.report.nr_lines, 4);
	assert_int_equal(l.report.lines[0].nr_sites, 2);
	assert_string_equal(l.report.lines[0].site, "2 sites");
	drop(&l);
}

static void sorting(void **state)
{
	static const struct {
		const char *key;
		uint64_t acquired[4];
	} table[] = {
		{"cost", {1500, 40, 20000, 10}},   {"acquired", {20000, 1500, 40, 10}},
		{"elided", {20000, 10, 1500, 40}}, {"aborts", {1500, 20000, 40, 10}},
		{"lock", {20000, 10, 1500, 40}},   {"wait", {1500, 40, 20000, 10}},
		{"wasted", {1500, 20000, 40, 10}}, {"capacity", {20000, 1500, 40, 10}},
	};
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct loaded l;

		assert_true(report_sort_key(table[i].key, &nearest));
		make(&l, SYNTH_ELIDE, BY_LOCK_AND_SITE, table[i].key);
		for (size_t row = 0; row < 4; row++)
			assert_int_equal(l.report.lines[row].acquired, table[i].acquired[row]);
		drop(&l);
	}
	assert_false(report_sort_key("wastd", &nearest));
	assert_string_equal(nearest, "wasted");
}

static char *json_of(struct loaded *l)
{
	json_t *o = json_report(&l->report, 0);
	char *text = json_dumps(o, 0);

	json_decref(o);
	return text;
}

/* Rows in another order in the file, as threads happen to fill them, give the same bytes. */
static void order_of_rows(void **state)
{
	struct elide_row *from, *to, row;
	struct loaded a, b;
	char *one, *other;

	make(&a, SYNTH_ELIDE, BY_LOCK_AND_SITE, "cost");
	synth_make(&b.synth, SYNTH_ELIDE, 0, 1);
	for (int i = 0; i < 2; i++) {
		from = synth_row(&b.synth, i);
		to = synth_row(&b.synth, 4 - i);
		row = *from;
		*from = *to;
		*to = row;
	}
	build(&b, BY_LOCK_AND_SITE, "cost");
	one = json_of(&a);
	other = json_of(&b);
	assert_string_equal(one, other);
	free(one);
	free(other);
	drop(&a);
	drop(&b);
}

/* A lock that excludes others is not held for longer than the run; several locks may be. */
static void held_shares(void **state)
{
	struct report r = {.cycles = 1000};
	struct line l = {.kind = ELIDE_KIND_MUTEX, .nr_locks = 1, .held = 1029,
			 .sum = {.hold = {.count = 1}}};

	assert_true(line_held(&r, &l) == 100);
	l.nr_locks = 2;
	assert_true(fabs(line_held(&r, &l) - 102.9) < 1e-9);
	l.nr_locks = 1;
	l.kind = ELIDE_KIND_RWLOCK_READ;
	assert_true(fabs(line_held(&r, &l) - 102.9) < 1e-9);
	l.sum.hold.count = 0;
	assert_true(isnan(line_held(&r, &l)));
}

static void quantiles(void **state)
{
	uint64_t bins[ELIDE_NR_BINS] = {0};

	/* Each time is in the bin whose bounds it lies between. */
	assert_int_equal(elide_bin(0), 0);
	assert_int_equal(elide_bin(63), 0);
	assert_int_equal(elide_bin(64), 1);
	assert_int_equal(elide_bin(127), 1);
	assert_int_equal(elide_bin(1ull << 34), 29);
	assert_int_equal(elide_bin(1ull << 35), 30);
	assert_int_equal(elide_bin(~0ull), 30);
	assert_true(isnan(bins_quantile(bins, 40, 5000, 0.5)));
	bins[elide_bin(100)] = 50;
	bins[elide_bin(1000)] = 49;
	bins[elide_bin(5000)] = 1;
	assert_true(bins_quantile(bins, 40, 5000, 0) == 64);
	assert_true(bins_quantile(bins, 40, 5000, 0.5) == 128);
	assert_true(bins_quantile(bins, 40, 5000, 0.99) == 1024);
	/* The last bin ends at 8192, but nothing was longer than 5000. */
	assert_true(bins_quantile(bins, 40, 5000, 1) == 5000);
}

/* A report of many hosts. */
static void bins_of_many_rows(void **state)
{
	uint64_t row[ELIDE_NR_BINS] = {0};
	uint64_t bins[ELIDE_NR_BINS] = {0};

	row[elide_bin(100)] = UINT32_MAX;
	for (int i = 0; i < 3; i++)
		bins_add(bins, row);
	assert_true(bins[elide_bin(100)] == 3 * (uint64_t)UINT32_MAX);
	bins[elide_bin(1000)] = 2 * (uint64_t)UINT32_MAX;
	assert_true(bins_quantile(bins, 0, ~0ull, 0.6) == 128);
	/* Those of a part that is taken away. */
	row[elide_bin(100)] = (uint64_t)-5;
	bins_add(bins, row);
	assert_true(bins[elide_bin(100)] == 3 * (uint64_t)UINT32_MAX - 5);
}

/* The short names of rows that are not the same differ. */
static void names_differ(void **state)
{
	static const enum synth_scenario scenarios[] = {SYNTH_FULL, SYNTH_PROFILE};

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		struct loaded l;

		make(&l, scenarios[i], BY_LOCK_AND_SITE, "cost");
		/* As in a program whose functions are all called _M_run. */
		for (size_t j = 0; j < l.report.nr_built; j++) {
			strcpy(l.report.lines[j].short_lock, "_M_run");
			strcpy(l.report.lines[j].short_site, "_M_run");
		}
		assert_int_equal(names_make_unique(&l.report), 0);
		for (size_t j = 0; j < l.report.nr_built; j++)
			for (size_t k = 0; k < j; k++) {
				const struct line *a = &l.report.lines[j], *b = &l.report.lines[k];

				assert_int_equal(!strcmp(a->short_lock, b->short_lock),
						 !strcmp(a->class, b->class));
				assert_int_equal(!strcmp(a->short_site, b->short_site),
						 a->sum.site == b->sum.site);
			}
		drop(&l);
	}
}

/* The line of the worst rows at a lock and site; NULL if it is not among them. */
static const struct line *worst(const struct report *r, const char *lock, const char *site)
{
	for (size_t i = 0; i < r->nr_worst; i++)
		if (!strcmp(r->worst[i]->lock, lock) &&
		    !strcmp(r->worst[i]->site_place.elf_symbol, site))
			return r->worst[i];
	return NULL;
}

static void findings(void **state)
{
	static const struct {
		const char *lock, *site, *cause, *advice, *setting;
	} table[] = {
		{"subject_index_lock", "subject_insert", "misuse", "misuse", ""},
		{"subject_index_lock", "subject_insert", "conflict", "pad_variables", ""},
		{"subject_index_lock", "subject_insert", "syscall", "move_syscall",
		 "ELIDE_LOCKS='subject_index_lock=off'"},
		{"subject_index_lock", "subject_lookup", "instruction", "no_pause",
		 "ELIDE_LOCKS='subject_index_lock=off'"},
		{"subject_table+0x20", "subject_lookup", "busy", "lemming", ""},
		{"subject_table+0x20", "subject_create", "capacity", "aliasing",
		 "ELIDE_LOCKS='test_report!subject_create=off'"},
		{"subject_table+0x20", "subject_insert", "conflict", "pad_blocks", ""},
		{"subject_table+0x20", "subject_insert", "inner_busy", "inner_lock", ""},
		{"subject_quiet_lock", "subject_create", "none", "uncontended",
		 "ELIDE_LOCKS='subject_quiet_lock=off'"},
	};
	struct finding found[FINDINGS_MAX];
	struct loaded l;

	/* The worst rows are found however the table is sorted and cut. */
	make(&l, SYNTH_FULL, BY_LOCK_AND_SITE, "lock");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct line *line = worst(&l.report, table[i].lock, table[i].site);
		size_t nr, j = 0;

		assert_non_null(line);
		nr = advise(&l.report, line, found);
		while (j < nr && strcmp(found[j].cause, table[i].cause))
			j++;
		assert_int_not_equal(j, nr);
		assert_string_equal(found[j].advice, table[i].advice);
		assert_string_equal(found[j].setting, table[i].setting);
		assert_null(strchr(found[j].text, '{'));
	}
	drop(&l);
	make(&l, SYNTH_PROFILE, BY_LOCK_AND_SITE, "cost");
	assert_string_equal(l.report.worst[0]->lock, "subject_index_lock");
	drop(&l);
	make(&l, SYNTH_IDLE, BY_LOCK_AND_SITE, "cost");
	assert_int_equal(l.report.nr_worst, 0);
	drop(&l);
}

/* Conflicts with a thread that has locked the lock come first only if less than a quarter are others. */
static void locking_and_others(void **state)
{
	static const struct {
		uint64_t locking, others;
		const char *advice;
	} table[] = {
		{300, 100, "pad_variables"},
		{301, 100, "lemming"},
		{100, 0, "lemming"},
	};
	struct finding found[FINDINGS_MAX];
	struct elide_detail locking, other;
	const struct elide_detail *details[] = {&locking, &other};
	struct loaded l;
	struct line line;
	size_t i = 0;

	make(&l, SYNTH_FULL, BY_LOCK_AND_SITE, "lock");
	line = *worst(&l.report, "subject_index_lock", "subject_insert");
	while (line.details[i]->cause != ELIDE_CAUSE_conflict)
		assert_true(++i < line.nr_details);
	locking = other = *line.details[i];
	locking.lock = locking.line;
	locking.own_bytes = locking.other_bytes = locking.other_written = 0xf;
	line.details = details;
	line.nr_details = ARRAY_SIZE(details);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		size_t nr, j = 0;

		locking.count = table[i].locking;
		other.count = table[i].others;
		nr = advise(&l.report, &line, found);
		while (j < nr && strcmp(found[j].cause, "conflict"))
			j++;
		assert_int_not_equal(j, nr);
		assert_string_equal(found[j].advice, table[i].advice);
	}
	drop(&l);
}

/* As it was left after @event about its site, with the state of its rows: of the first row. */
static struct line after(struct elide_event event, enum elide_row_state state)
{
	struct loaded l;
	struct line line;
	struct elide_chunk *chunk;
	struct elide_row *rows;

	synth_make(&l.synth, SYNTH_FULL, 0, 1);
	chunk = synth_chunk(&l.synth, ELIDE_CHUNK_ROWS);
	rows = (struct elide_row *)(chunk + 1);
	for (uint32_t i = 0; i < chunk->nr_records; i++)
		rows[i].state = state;
	event.class_index = rows[0].class_index;
	event.kind = rows[0].kind;
	event.site = rows[0].site;
	synth_add(&l.synth, ELIDE_CHUNK_TIMELINE, &event, sizeof(event));
	build(&l, BY_LOCK_AND_SITE, "cost");
	line = *report_line(&l.report, event.class_index, event.site, event.kind);
	drop(&l);
	return line;
}

/* What is not attempted for want of hope costs as what falls back; not what was compared. */
static void given_up(void **state)
{
	const struct elide_event none = {.type = ELIDE_EVENT_CHOSE, .arm = 1},
		gave_up = {.type = ELIDE_EVENT_PAUSED, .before = 1},
		compared = {.type = ELIDE_EVENT_PAUSED, .before = 1, .pairs = 3, .ratio = 400,
			    .confidence = 990},
		hpca = {.type = ELIDE_EVENT_PAUSED, .a = 256, .tries = 64, .fails = 40};
	double wasted, hold;
	struct line before = after(none, ELIDE_STATE_PAUSED), now = after(gave_up, ELIDE_STATE_PAUSED);

	assert_true(before.sum.not_attempted && before.sum.hold.count);
	assert_int_equal(before.given_up, 0);
	assert_int_equal(now.given_up, now.sum.not_attempted);
	/* As much of each as of those that were attempted. */
	wasted = (double)now.sum.wasted_cycles / (now.acquired - now.sum.not_attempted);
	hold = now.held / (double)(now.sum.not_attempted + now.sum.fallback);
	assert_true(fabs(now.cost - before.cost - now.given_up * (wasted + hold)) < 1);
	assert_true(now.sum.wasted_cycles > 0);
	assert_int_equal(now.verdict, VERDICT_HURTS);
	assert_int_equal(after(gave_up, ELIDE_STATE_ELIDING).given_up, 0);
	assert_int_equal(after(compared, ELIDE_STATE_PAUSED).given_up, 0);
	assert_int_equal(after(hpca, ELIDE_STATE_PAUSED).given_up, 0);
	assert_int_equal(after(compared, ELIDE_STATE_PAUSED).verdict, VERDICT_HURTS);
}

/* Cut to the first rows, the same rows come first; the totals are of all. */
static void top(void **state)
{
	struct loaded l;
	struct report r;

	make(&l, SYNTH_FULL, BY_LOCK_AND_SITE, "acquired");
	assert_int_equal(report_build_top(&r, &l.file, BY_LOCK_AND_SITE, "acquired", 3), 0);
	assert_int_equal(r.nr_lines, 3);
	assert_int_equal(r.nr_all, l.report.nr_lines);
	assert_int_equal(r.total.acquired, l.report.total.acquired);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(r.lines[i].lock, l.report.lines[i].lock);
		assert_string_equal(r.lines[i].site, l.report.lines[i].site);
		assert_int_equal(r.lines[i].acquired, l.report.lines[i].acquired);
		assert_int_equal(r.lines[i].sum.hold.max, l.report.lines[i].sum.hold.max);
	}
	report_free(&r);
	drop(&l);
}

static void nanoseconds(void **state)
{
	struct report r = {.ns = 3, .cycles = 6};
	uint64_t ns;

	assert_int_equal(to_ns(&r, 7, &ns), 0);
	assert_int_equal(ns, 3);
	/* No overflow on the way. */
	r = (struct report){.ns = 1ull << 62, .cycles = 1ull << 62};
	assert_int_equal(to_ns(&r, ~0ull, &ns), 0);
	assert_true(ns == ~0ull);
	r.cycles = 0;
	assert_int_equal(to_ns(&r, 7, &ns), -ENODATA);
}

static void json_numbers_and_text(void **state)
{
	json_t *v = json_number(~0ull);

	assert_true(json_integer_value(v) == INT64_MAX);
	json_decref(v);
	v = json_text("caf\xc3\xa9");
	assert_string_equal(json_string_value(v), "caf\xc3\xa9");
	json_decref(v);
	v = json_text("caf\xe9");
	assert_string_equal(json_string_value(v), "caf?");
	json_decref(v);
	v = json_text(NULL);
	assert_true(json_is_null(v));
}

static void exit_codes(void **state)
{
	char words[EXIT_WORDS];

	assert_int_equal(exit_code(-1), -1);
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(exit_code(3 << 8), 3);
	assert_int_equal(exit_code(9), 137);
	assert_int_equal(exit_code(11 | 0x80), 139);
	assert_string_equal(exit_words(-1, words), "");
	assert_string_equal(exit_words(3 << 8, words), "exit code 3");
	assert_string_equal(exit_words(143 << 8, words), "exit code 143");
	assert_string_equal(exit_words(15, words), "killed by SIGTERM");
	assert_string_equal(exit_words(11 | 0x80, words), "killed by SIGSEGV");
	assert_string_equal(exit_words(34, words), "killed by signal 34");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(invariants),
		cmocka_unit_test(by_lock_and_by_site),
		cmocka_unit_test(sorting),
		cmocka_unit_test(order_of_rows),
		cmocka_unit_test(held_shares),
		cmocka_unit_test(quantiles),
		cmocka_unit_test(bins_of_many_rows),
		cmocka_unit_test(names_differ),
		cmocka_unit_test(findings),
		cmocka_unit_test(locking_and_others),
		cmocka_unit_test(given_up),
		cmocka_unit_test(misuse),
		cmocka_unit_test(top),
		cmocka_unit_test(nanoseconds),
		cmocka_unit_test(json_numbers_and_text),
		cmocka_unit_test(exit_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
