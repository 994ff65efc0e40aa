// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_merge.c - the files of several processes as one, whose objects lie elsewhere and whose lock
 * classes have other numbers.
 */
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/model/merge.h"
#include "../../tools/model/report.h"
#include "../../tools/model/threads.h"
#include "../tools/synth.h"

static void load_synth(struct synth *s, struct data_file *f)
{
	char path[64], error[LOAD_ERROR_MAX];

	snprintf(path, sizeof(path), "/tmp/elide-test-merge.%d", getpid());
	synth_seal(s);
	synth_write(s, path, s->size);
	assert_int_equal(load(path, f, error), 0);
	unlink(path);
}

#define RECORDS(s, type, kind) ((type *)(synth_chunk(s, kind) + 1))
#define NR_RECORDS(s, kind)    (synth_chunk(s, kind)->nr_records)

/* The program lies @by bytes further on, and the first two classes have changed places. */
static void move(struct synth *s, uint64_t by)
{
	struct elide_module *m = RECORDS(s, struct elide_module, ELIDE_CHUNK_MODULES);
	struct elide_class *c = RECORDS(s, struct elide_class, ELIDE_CHUNK_CLASSES), first = c[0];
	struct elide_row *r;
	struct elide_blame *b = RECORDS(s, struct elide_blame, ELIDE_CHUNK_BLAME);
	struct elide_span *t = RECORDS(s, struct elide_span, ELIDE_CHUNK_SPANS);
	static const uint32_t places[] = {1, 0, 2};

	m->base += by;
	m->start += by;
	m->end += by;
	c[0] = c[1];
	c[1] = first;
	for (uint32_t i = 0; i < NR_RECORDS(s, ELIDE_CHUNK_CLASSES); i++)
		c[i].address += by;
	for (size_t i = 0; (r = synth_row(s, i)); i++) {
		r->site += by;
		r->class_index = places[r->class_index];
	}
	for (uint32_t i = 0; i < NR_RECORDS(s, ELIDE_CHUNK_BLAME); i++) {
		b[i].site += by;
		b[i].held_site += b[i].held_site ? by : 0;
		b[i].class_index = places[b[i].class_index];
		b[i].held_class = places[b[i].held_class];
	}
	for (uint32_t i = 0; i < NR_RECORDS(s, ELIDE_CHUNK_SPANS); i++) {
		t[i].site += by;
		t[i].class_index = places[t[i].class_index];
	}
}

static void same_rows_are_summed(void **state)
{
	struct report one, all;
	struct data_file files[2], merged;
	struct threads threads;
	struct synth s;

	synth_make(&s, SYNTH_PROFILE, 7, 1);
	load_synth(&s, &files[0]);
	move(&s, 0x10000000);
	load_synth(&s, &files[1]);
	synth_free(&s);
	assert_int_equal(merge_files(&merged, files, 2), 0);
	assert_int_equal(merged.nr_processes, 2);
	assert_int_equal(merged.nr_modules, 1);
	assert_int_equal(merged.nr_classes, files[0].nr_classes);
	assert_int_equal(report_build(&one, &files[0], BY_LOCK_AND_SITE, "cost"), 0);
	assert_int_equal(report_build(&all, &merged, BY_LOCK_AND_SITE, "cost"), 0);
	assert_int_equal(all.nr_lines, one.nr_lines);
	for (size_t i = 0; i < one.nr_lines; i++) {
		const struct line *l = &one.lines[i], *m = &all.lines[i];

		assert_string_equal(m->lock, l->lock);
		assert_string_equal(m->site, l->site);
		assert_string_equal(m->short_blocker, l->short_blocker);
		assert_int_equal(m->nr_locks, 2 * l->nr_locks);
		assert_int_equal(m->acquired, 2 * l->acquired);
		assert_int_equal(m->sum.contended, 2 * l->sum.contended);
		assert_int_equal(m->sum.failed, 2 * l->sum.failed);
		assert_int_equal(m->sum.wait.total, 2 * l->sum.wait.total);
		assert_int_equal(m->sum.wait.max, l->sum.wait.max);
		assert_int_equal(m->sum.hold.count, 2 * l->sum.hold.count);
		for (int bin = 0; bin < ELIDE_NR_BINS; bin++) {
			assert_int_equal(m->sum.wait_bins[bin], 2 * l->sum.wait_bins[bin]);
			assert_int_equal(m->sum.hold_bins[bin], 2 * l->sum.hold_bins[bin]);
		}
		assert_int_equal(m->nr_blames, l->nr_blames);
	}
	assert_int_equal(merged.nr_spans, 2 * files[0].nr_spans);
	/* A thread in each process; of ended ones one line for each name. */
	assert_int_equal(threads_build(&all, &threads), 0);
	assert_int_equal(threads.nr, 4);
	threads_free(&threads);
	report_free(&one);
	report_free(&all);
	merge_free(&merged);
	load_free(&files[0]);
	load_free(&files[1]);
}

static void other_objects_stay_apart(void **state)
{
	struct elide_module *m;
	struct data_file files[2], merged;
	struct report r, one;
	struct synth s;

	synth_make(&s, SYNTH_PROFILE, 7, 1);
	load_synth(&s, &files[0]);
	m = RECORDS(&s, struct elide_module, ELIDE_CHUNK_MODULES);
	/* The same build at another path is the same object. */
	strcpy(m->path, "/opt/another");
	assert_true(m->build_id_len > 0);
	load_synth(&s, &files[1]);
	assert_int_equal(merge_files(&merged, files, 2), 0);
	assert_int_equal(merged.nr_modules, 1);
	assert_int_equal(merged.nr_classes, files[0].nr_classes);
	merge_free(&merged);
	load_free(&files[1]);
	m->build_id[0] ^= 1;
	load_synth(&s, &files[1]);
	synth_free(&s);
	assert_int_equal(merge_files(&merged, files, 2), 0);
	assert_int_equal(merged.nr_modules, 2);
	assert_true(merged.modules[1].start >= merged.modules[0].end);
	assert_int_equal(merged.nr_classes, 2 * files[0].nr_classes);
	assert_int_equal(report_build(&r, &merged, BY_LOCK_AND_SITE, "cost"), 0);
	assert_int_equal(report_build(&one, &files[0], BY_LOCK_AND_SITE, "cost"), 0);
	assert_int_equal(r.nr_lines, 2 * one.nr_lines);
	assert_int_equal(r.total.acquired, 2 * one.total.acquired);
	report_free(&r);
	report_free(&one);
	merge_free(&merged);
	load_free(&files[0]);
	load_free(&files[1]);
}

/* The threads of a file have all that its rows have, no more. */
static void threads_are_exact(void **state)
{
	uint64_t acquired = 0, contended = 0;
	double wait = 0, held = 0;
	struct threads threads;
	struct data_file f;
	struct report r;
	struct synth s;

	synth_make(&s, SYNTH_PROFILE, 7, 1);
	load_synth(&s, &f);
	assert_int_equal(report_build(&r, &f, BY_LOCK_AND_SITE, "cost"), 0);
	assert_int_equal(threads_build(&r, &threads), 0);
	assert_true(threads.known);
	assert_int_equal(threads.nr, 3);
	assert_string_equal(threads.lines[0].name, "subject");
	assert_string_equal(threads.lines[1].name, "worker");
	assert_string_equal(threads.lines[1].tid_text, "3 ended");
	assert_string_equal(threads.lines[2].tid_text, "1 ended");
	for (size_t i = 0; i < threads.nr; i++) {
		acquired += threads.lines[i].acquired;
		contended += threads.lines[i].contended;
		wait += threads.lines[i].wait;
		held += threads.lines[i].held;
	}
	assert_int_equal(acquired, r.total.acquired);
	assert_int_equal(contended, r.total.sum.contended);
	assert_true(wait > 0.999 * (double)r.total.sum.wait.total);
	assert_true(wait < 1.001 * (double)r.total.sum.wait.total);
	assert_true(held > 0.999 * r.total.held && held < 1.001 * r.total.held);
	threads_free(&threads);
	report_free(&r);
	load_free(&f);
	/* A file may have none. */
	synth_make(&s, SYNTH_ELIDE, 7, 1);
	load_synth(&s, &f);
	assert_int_equal(report_build(&r, &f, BY_LOCK_AND_SITE, "cost"), 0);
	assert_int_equal(threads_build(&r, &threads), 0);
	assert_false(threads.known);
	threads_free(&threads);
	report_free(&r);
	load_free(&f);
	synth_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_rows_are_summed),
		cmocka_unit_test(other_objects_stay_apart),
		cmocka_unit_test(threads_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
