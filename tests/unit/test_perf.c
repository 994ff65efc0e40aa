// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_perf.c - the output of perf script, read and joined with a report's rows.
 *
 * The texts are laid out as perf 6.1 prints them.
 */
#include <linux/perf_event.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/names/names.h"
#include "../../tools/print/perf-join.h"
#include "../tools/synth.h"

static struct perf_samples parse(const char *text)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	struct perf_samples s;

	assert_int_equal(perf_parse(f, &s), 0);
	fclose(f);
	return s;
}

static void text_is(const char *got, const char *want)
{
	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

/* A line each, of one sample each. */
static void forms(void **state)
{
	static const struct {
		const char *text;
		long pid;
		const char *event;
		int has_weight;
		uint64_t weight, ip, offset;
		const char *symbol, *object;
	} table[] = {
		{"              pf 31425   966.474824:     250000 cpu-clock:  ffffffff815d2e68 "
		 "vma_insert+0x38 ([kernel.kallsyms])\n",
		 -1, "cpu-clock", 0, 0, 0xffffffff815d2e68, 0x38, "vma_insert",
		 "[kernel.kallsyms]"},
		{"pf 31425/31426 [003]   966.475072:  1 cpu/tx-abort/pp:             1234     "
		 "5585538d3178 work+0x1f (/tmp/pf)\n",
		 31425, "cpu/tx-abort/pp", 1, 1234, 0x5585538d3178, 0x1f, "work", "pf"},
		{"pf 31425/31425   966.474824: cpu-clock:                0 ffffffff815d2e68 vma\n",
		 31425, "cpu-clock", 1, 0, 0xffffffff815d2e68, 0, "vma", NULL},
		/* A command of several words, a symbol that looks like a number, one of C++. */
		{"my 2nd 7 prog 12/13 1.5: ev:     5585538d3178 add\n", 12, "ev", 0, 0,
		 0x5585538d3178, 0, "add", NULL},
		{"p 12/13 1.5: ev:     5585538d3178 std::f<a, b>(int, char)+0x2 "
		"(/x/y)\n", 12, "ev", 0,
		 0, 0x5585538d3178, 2, "std::f<a, b>(int, char)", "y"},
		{"p 12/13 1.5: ev:     5585538d3178 (anonymous "
		"namespace)::g(int)\n", 12, "ev", 0, 0,
		 0x5585538d3178, 0, "(anonymous namespace)::g(int)", NULL},
		{"p 12/13 1.5: ev:     5585538d3178 [unknown] ([unknown])\n", 12, "ev", 0, 0,
		 0x5585538d3178, 0, NULL, NULL},
		{"p 12/13 1.5: ev:     5585538d3178 f (/x/y (deleted))\n", 12, "ev", 0, 0,
		 0x5585538d3178, 0, "f", "y"},
		/* Without a time, and without a thread. */
		{"p    12/13       10 ev:     5585538d3178 f\n", 12, "ev", 0, 0, 0x5585538d3178, 0,
		 "f", NULL},
		{"cycles:u:     5585538d3178 "
		"f\n", -1, "cycles:u", 0, 0, 0x5585538d3178, 0, "f", NULL},
		{"     5585538d3178 f\n", -1, "", 0, 0, 0x5585538d3178, 0, "f", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_samples s = parse(table[i].text);

		assert_int_equal(s.nr, 1);
		assert_int_equal(s.nr_strange, 0);
		assert_int_equal(s.samples[0].pid, table[i].pid);
		assert_string_equal(s.samples[0].event, table[i].event);
		assert_int_equal(s.samples[0].has_weight, table[i].has_weight);
		assert_int_equal(s.samples[0].weight, table[i].weight);
		assert_int_equal(s.samples[0].nr_frames, 1);
		assert_int_equal(s.samples[0].frames[0].ip, table[i].ip);
		assert_int_equal(s.samples[0].frames[0].offset, table[i].offset);
		text_is(s.samples[0].frames[0].symbol, table[i].symbol);
		text_is(s.samples[0].frames[0].object, table[i].object);
		perf_free(&s);
	}
}

static void callchains(void **state)
{
	struct perf_samples s = parse(
		"# captured on    : today\n"
		"lk 12/13   8.837427: cpu-clock:u:               77 \n"
		"\t            1190 section+0x17 (/tmp/lk)\n"
		"\t            11d5 f+0x14 (/tmp/lk)\n"
		"\t           891f5 [unknown] (/usr/lib/libc.so.6)\n"
		"\n"
		"lk 12/13   8.837428: cpu-clock:u: \n"
		"\n"
		"lk 12/13   8.837429: cpu-clock:u: \n"
		"\t            1191 section+0x18 (/tmp/lk)\n");

	assert_int_equal(s.nr, 2);
	assert_int_equal(s.nr_no_place, 1);
	assert_int_equal(s.nr_strange, 0);
	assert_int_equal(s.samples[0].nr_frames, 3);
	assert_int_equal(s.samples[0].weight, 77);
	assert_int_equal(s.samples[0].has_weight, 1);
	assert_string_equal(s.samples[0].frames[1].symbol, "f");
	assert_null(s.samples[0].frames[2].symbol);
	assert_int_equal(s.samples[1].nr_frames, 1);
	assert_int_equal(s.samples[1].has_weight, 0);
	perf_free(&s);
}

#define DUMP_HEAD                                                                       \
	"966474824602 0x468 [0x38]: PERF_RECORD_SAMPLE(IP, 0x1): 31425/31425: 0xfff "   \
	"period: 250000 addr: 0\n"

static void dumps(void **state)
{
	struct perf_samples s = parse(
		"0x468@p2.data [0x38]: event: 9\n.\n. ... raw event: size 56 bytes\n"
		".  0000:  09 00 00 00  ......8.\n\n" DUMP_HEAD
		"... weight: 321,0x0,0x0\n... transaction: ff00000006\n ... thread: pf:31425\n"
		" ...... dso: /tmp/pf\n"
		"   pf 31425   966.474824:  1 tx-abort:  5585538d3178 work+0x38 "
		"(/tmp/pf)\n\n" DUMP_HEAD
		" ... thread: pf:31425\n"
		"   pf 31425   966.474825:  1 tx-abort:  5585538d3178 work+0x38 (/tmp/pf)\n\n"
		"Aggregated stats:\n           TOTAL events:       2003\n"
		"          SAMPLE events:        993  (49.6%)\n");

	assert_int_equal(s.nr, 2);
	assert_int_equal(s.samples[0].weight, 321);
	assert_int_equal(s.samples[0].has_transaction, 1);
	assert_int_equal(s.samples[0].transaction, 0xff00000006);
	assert_int_equal(s.samples[1].has_transaction, 0);
	assert_int_equal(s.samples[1].has_weight, 0);
	assert_int_equal(s.nr_strange, 3);
	perf_free(&s);
}

/* Whatever it is, it is read to its end; what is no sample is counted. */
static void nonsense(void **state)
{
	char text[4096];
	struct perf_samples s = parse("hello world\n:\n: :\n\t\n)\n(((\n12/ 1.5:\n");

	assert_int_equal(s.nr, 0);
	assert_int_equal(s.nr_strange, 6);
	perf_free(&s);
	for (unsigned int seed = 1; seed <= 300; seed++) {
		static const char set[] = "a1f:/.() \t\n+0x[]";
		unsigned int v = seed;

		for (size_t i = 0; i < sizeof(text) - 1; i++) {
			v = v * 1103515245 + 12345;
			text[i] = set[(v >> 16) % (sizeof(set) - 1)];
		}
		text[sizeof(text) - 1] = '\0';
		s = parse(text);
		perf_free(&s);
	}
}

/* More frames than are kept. */
static void deep_chain(void **state)
{
	char *text = malloc(1 << 16), *at = text;
	struct perf_samples s;

	at += sprintf(at, "p 1/1 1.5: ev: \n");
	for (int i = 0; i < 1000; i++)
		at += sprintf(at, "\t            1190 f%d\n", i);
	s = parse(text);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.samples[0].nr_frames, PERF_FRAMES_MAX);
	perf_free(&s);
	free(text);
}

static char *printed(const struct report *r, const char *text)
{
	struct perf_samples s = parse(text);
	char *to = NULL;
	size_t size;
	FILE *out = open_memstream(&to, &size);

	perf_print(r, &s, out, 0);
	fclose(out);
	perf_free(&s);
	return to;
}

static void has(const char *text, const char *want)
{
	if (text && strstr(text, want))
		return;
	fail_msg("\"%s\" is not in:\n%s", want, text ? text : "");
}

/* A row whose call site and function no other row shares. */
static const struct line *lone_row(const struct report *r)
{
	for (size_t i = 0; i < r->nr_lines; i++) {
		const struct place *a = &r->lines[i].site_place;
		size_t alike = 0;

		for (size_t j = 0; a->symbol && j < r->nr_lines; j++)
			alike += r->lines[j].site_place.symbol &&
				 !strcmp(a->symbol, r->lines[j].site_place.symbol);
		if (alike == 1)
			return &r->lines[i];
	}
	return NULL;
}

static void joins(void **state)
{
	char path[64], error[LOAD_ERROR_MAX], text[2048], want[256], *out;
	const struct line *l;
	struct data_file f;
	struct report r;
	struct synth s;

	snprintf(path, sizeof(path), "/tmp/elide-test-perf.%d", getpid());
	synth_make(&s, SYNTH_ELIDE, 1, 4711);
	synth_write(&s, path, s.size);
	assert_int_equal(load(path, &f, error), 0);
	assert_int_equal(report_build(&r, &f, BY_LOCK_AND_SITE, "cost"), 0);
	l = lone_row(&r);
	assert_non_null(l);

	/* The return address of the lock call among the callers, a conflict, weights. */
	snprintf(text, sizeof(text),
		 DUMP_HEAD "... weight: 100\n... transaction: 2a\n"
		 "p 4711/4712 1.5: tx-abort: \n\t 5000 deep+0x1 (/lib/x.so)\n\t %llx any "
		 "(/b/%s)\n\n"
		 DUMP_HEAD "... weight: 300\n... transaction: 2a\n"
		 "p 4711/4712 1.6: tx-abort: \n\t 5000 deep+0x1 (/lib/x.so)\n\t %llx any "
		 "(/b/%s)\n\n",
		 (unsigned long long)l->site_place.offset + 1, l->site_place.object,
		 (unsigned long long)l->site_place.offset + 1, l->site_place.object);
	out = printed(&r, text);
	snprintf(want, sizeof(want),
		 "        2  100.0%%        200  conflict         deep+0x1 in x.so | %s (%s) at "
		 "%s\n",
		 l->lock, kind_name(l->kind), l->site);
	has(out, want);
	has(out, "by the lock call: 2, by an abort at the instruction: 0, by its function "
		"alone: 0; unknown: 0, and as several rows fit: 0");
	free(out);

	/* Of another process: the same address says nothing, the function does. */
	snprintf(text, sizeof(text),
		 "p 9/9 1.5: ev: \n\t 5000 deep (/lib/x.so)\n\t %llx none (/b/%s)\n\n"
		 "p 9/9 1.5: ev: \n\t 5000 deep (/lib/x.so)\n\t 77 %s (/b/%s)\n\n"
		 "p 9/9 1.5: ev: \n\t 5000 deep (/lib/x.so)\n\t 77 %s (/b/other)\n\n",
		 (unsigned long long)l->site_place.offset + 1, l->site_place.object,
		 l->site_place.symbol, l->site_place.object, l->site_place.symbol);
	out = printed(&r, text);
	has(out, "by the lock call: 0, by an abort at the instruction: 0, by its function "
		"alone: 1; unknown: 2, and as several rows fit: 0");
	has(out, "of process ids other than this one's: 3");
	has(out, "2   66.7%          -  -                deep in x.so | unknown\n");
	free(out);
	report_free(&r);
	load_free(&f);
	synth_free(&s);
	unlink(path);
}

/* An instruction that the data file knows from an abort of one row. */
static void joins_by_instruction(void **state)
{
	const struct elide_detail *d = NULL;
	char path[64], error[LOAD_ERROR_MAX], text[512], want[256], *out;
	const struct line *l = NULL;
	struct data_file f;
	struct report r;
	struct synth s;

	snprintf(path, sizeof(path), "/tmp/elide-test-perf.%d", getpid());
	synth_make(&s, SYNTH_FULL, 1, 4711);
	synth_write(&s, path, s.size);
	assert_int_equal(load(path, &f, error), 0);
	assert_int_equal(report_build(&r, &f, BY_LOCK_AND_SITE, "cost"), 0);
	for (size_t i = 0; i < r.nr_lines; i++)
		for (size_t j = 0; j < r.lines[i].nr_details; j++)
			if (r.lines[i].details[j]->own_pc == (uintptr_t)subject_pause) {
				l = &r.lines[i];
				d = l->details[j];
			}
	assert_non_null(d);
	snprintf(text, sizeof(text), "p 4711/4712 1.5: ev:  %llx somewhere\n\np 4711/4712 1.6: "
		"ev:  %llx none\n",
		 (unsigned long long)d->own_pc, (unsigned long long)d->own_pc + 1);
	out = printed(&r, text);
	snprintf(want, sizeof(want), "  -                somewhere | %s (%s) at %s\n", l->lock,
		 kind_name(l->kind), l->site);
	has(out, want);
	has(out, "by an abort at the instruction: 1, by its function alone: 0; unknown: 1");
	free(out);
	report_free(&r);
	load_free(&f);
	synth_free(&s);
	unlink(path);
}

/* What PERF_TXN_* mean in words. */
static void causes(void **state)
{
	static const struct {
		uint64_t transaction;
		const char *word;
	} table[] = {
		{PERF_TXN_TRANSACTION | PERF_TXN_CONFLICT | PERF_TXN_ASYNC, "conflict"},
		{PERF_TXN_TRANSACTION | PERF_TXN_CAPACITY_WRITE, "capacity, writes"},
		{PERF_TXN_TRANSACTION | PERF_TXN_CAPACITY_READ, "capacity, reads"},
		{PERF_TXN_TRANSACTION | PERF_TXN_SYNC, "own instruction"},
		{PERF_TXN_TRANSACTION | PERF_TXN_ASYNC, "from outside"},
		{PERF_TXN_TRANSACTION, "other"},
		{PERF_TXN_TRANSACTION | PERF_TXN_SYNC | 0xffull << 32, "busy"},
		{PERF_TXN_TRANSACTION | PERF_TXN_SYNC | 0xf8ull << 32, "inner_busy"},
		{PERF_TXN_TRANSACTION | PERF_TXN_SYNC | 0x12ull << 32, "explicit 0x12"},
		{PERF_TXN_SYNC, "-"},
		{0, "-"},
	};
	static const struct data_file file;
	struct report r = {.file = &file};

	r.symbols = symbolizer_new(NULL, 0, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[512], want[64], *out;

		snprintf(text, sizeof(text),
			 DUMP_HEAD "... transaction: %llx\np 1 1.5: ev:  5000000 f\n",
			 (unsigned long long)table[i].transaction);
		out = printed(&r, text);
		snprintf(want, sizeof(want), "  %-16s f | unknown\n", table[i].word);
		has(out, want);
		free(out);
	}
	symbolizer_free(r.symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(callchains),
		cmocka_unit_test(dumps),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(deep_chain),
		cmocka_unit_test(joins),
		cmocka_unit_test(joins_by_instruction),
		cmocka_unit_test(causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
