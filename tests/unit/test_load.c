// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_load.c - data files, whole, cut and hostile.
 *
 * Whatever the bytes: load() returns, says where the problem is, and what it
 * returns can be reported on.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/print/csv.h"
#include "../../tools/model/file/faults.h"
#include "../../tools/model/records.h"
#include "../../tools/print/text-report.h"
#include "../tools/synth.h"

static char path[64];
static char error[LOAD_ERROR_MAX];

static int setup(void **state)
{
	snprintf(path, sizeof(path), "/tmp/elide-test-load.%d", getpid());
	return 0;
}

static int teardown(void **state)
{
	return unlink(path) && errno != ENOENT;
}

/* Loads the first @size bytes of @s; a file that loads must report as well. */
static int try_load(const struct synth *s, size_t size, struct data_file *f)
{
	int rc;

	synth_write(s, path, size);
	error[0] = '\0';
	rc = load(path, f, error);
	if (rc) {
		assert_true(rc < 0);
		assert_non_null(strstr(error, "offset"));
		assert_null(strchr(error, '\n'));
	}
	return rc;
}

/* The rows of a file, as far as there is room. */
struct rows {
	struct elide_row row[1100];
	size_t nr;
};

static int get_row(void *arg, const struct elide_row *row)
{
	struct rows *rows = arg;

	assert_true(rows->nr < ARRAY_SIZE(rows->row));
	rows->row[rows->nr++] = *row;
	return 0;
}

static const struct rows *rows_of(const struct data_file *f)
{
	static struct rows rows;

	rows.nr = 0;
	assert_int_equal(load_rows(f, get_row, &rows), 0);
	assert_int_equal(rows.nr, f->nr_rows);
	return &rows;
}

static void report_on(const struct data_file *f)
{
	FILE *out = fopen("/dev/null", "w");
	struct report r;

	assert_int_equal(report_build(&r, f, BY_LOCK_AND_SITE, "cost"), 0);
	text_report(&r, out, 120, 0);
	csv_print(&r, out, 0);
	report_free(&r);
	fclose(out);
}

static void whole_file(void **state)
{
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 7, 42);
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_int_equal(f.nr_modules, 1);
	assert_int_equal(f.nr_classes, 3);
	assert_int_equal(f.nr_rows, 5);
	assert_int_equal(f.nr_misuse, 1);
	assert_int_equal(f.nr_orders, 1);
	assert_int_equal(f.header.run, 7);
	assert_int_equal(f.header.pid, 42);
	assert_int_equal(rows_of(&f)->row[2].commits, 15000);
	assert_int_equal(f.notes.lost_from, 0);
	load_free(&f);
	synth_free(&s);
}

/* More records than a chunk holds, and than the array first has room for. */
static void many_chunks(void **state)
{
	struct elide_row row = {.kind = ELIDE_KIND_MUTEX, .not_attempted = 1};
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	for (int i = 0; i < 1000; i++) {
		row.site = i;
		synth_add(&s, ELIDE_CHUNK_ROWS, &row, sizeof(row));
	}
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_int_equal(f.nr_rows, 1005);
	assert_int_equal(rows_of(&f)->row[1004].site, 999);
	load_free(&f);
	synth_free(&s);
}

/*
 * Cut at every byte: an error up to the end of the header, from there on what precedes the cut and a
 * note of what is lost: of the third and the fourth chunk, which are the rows.
 */
static void truncated(void **state)
{
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	synth_write(&s, path, s.size);
	for (size_t size = s.size; size--;) {
		int rc, kept;

		assert_int_equal(truncate(path, size), 0);
		rc = load(path, &f, error);
		assert_int_equal(rc, size < 8 ? -EINVAL : size < ELIDE_HEADER_SIZE ? -EBADMSG : 0);
		if (rc) {
			assert_non_null(strstr(error, "offset"));
			continue;
		}
		assert_non_null(faults_of(&f, error));
		assert_int_equal(f.notes.lost_from, size);
		assert_int_equal(f.notes.lost_size, s.size - size);
		/* Two chunks of rows, of 4 and 1. */
		kept = size < ELIDE_HEADER_SIZE + 3 * ELIDE_CHUNK_SIZE ? 0 :
		       size < ELIDE_HEADER_SIZE + 4 * ELIDE_CHUNK_SIZE ? 4 : 5;
		assert_int_equal(f.nr_rows, kept);
		assert_int_equal(f.notes.records[ELIDE_CHUNK_ROWS], 5 - kept);
		assert_int_equal(f.notes.chunks[ELIDE_CHUNK_ROWS], kept == 5 ? 0 : kept == 4 ? 1 : 2);
		load_free(&f);
	}
	synth_free(&s);
}

/* The file as the header says, but shorter by whole chunks: what the header counts is missing. */
static void cut_with_header(void **state)
{
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	synth_header(&s)->size = ELIDE_HEADER_SIZE + 2 * ELIDE_CHUNK_SIZE;
	assert_int_equal(try_load(&s, synth_header(&s)->size, &f), 0);
	assert_int_equal(f.notes.lost_size, 0);
	assert_non_null(faults_of(&f, error));
	assert_non_null(strstr(error, "missing: rows 5, misuses 1, lock orders 1"));
	load_free(&f);
	synth_free(&s);
}

/* A chunk of zeroes in the place of each one, and each chunk in the place of each other one. */
static void lost_and_swapped_chunks(void **state)
{
	static char saved[2][ELIDE_CHUNK_SIZE];
	struct data_file f;
	struct synth s;
	size_t nr;

	synth_make(&s, SYNTH_FULL, 0, 1);
	for (uint64_t i = 0; i < 600; i++)
		synth_add(&s, ELIDE_CHUNK_CLASSES,
			  &(struct elide_class){ELIDE_CLASS_INIT, ELIDE_KIND_MUTEX, i, 1, 0, 0},
			  sizeof(struct elide_class));
	nr = (s.size - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE;
	for (size_t i = 0; i < nr * nr; i++) {
		char *a = s.bytes + ELIDE_HEADER_SIZE + i / nr * ELIDE_CHUNK_SIZE;
		char *b = s.bytes + ELIDE_HEADER_SIZE + i % nr * ELIDE_CHUNK_SIZE;
		int same = ((struct elide_chunk *)a)->type == ((struct elide_chunk *)b)->type;

		memcpy(saved[0], a, ELIDE_CHUNK_SIZE);
		memcpy(saved[1], b, ELIDE_CHUNK_SIZE);
		memcpy(b, saved[0], ELIDE_CHUNK_SIZE);
		memcpy(a, saved[1], ELIDE_CHUNK_SIZE);
		if (a == b)
			memset(a, 0, ELIDE_CHUNK_SIZE);
		assert_int_equal(try_load(&s, s.size, &f), 0);
		/* The order of chunks of different types means nothing. */
		assert_true(faults_any(&f.notes) || !same);
		report_on(&f);
		load_free(&f);
		memcpy(a, saved[0], ELIDE_CHUNK_SIZE);
		memcpy(b, saved[1], ELIDE_CHUNK_SIZE);
	}
	synth_free(&s);
}

/* The rows of a class keep their name where a chunk of classes before it is lost. */
static void classes_keep_their_numbers(void **state)
{
	struct elide_row row = {.kind = ELIDE_KIND_MUTEX, .site = 77, .not_attempted = 1};
	struct elide_chunk *first;
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	for (uint64_t i = 0; i < 600; i++)
		synth_add(&s, ELIDE_CHUNK_CLASSES,
			  &(struct elide_class){ELIDE_CLASS_INIT, ELIDE_KIND_MUTEX, i, 1, 0, 0},
			  sizeof(struct elide_class));
	row.class_index = 602;
	synth_add(&s, ELIDE_CHUNK_ROWS, &row, sizeof(row));
	first = synth_chunk(&s, ELIDE_CHUNK_CLASSES);
	memset(first, 0, ELIDE_CHUNK_SIZE);
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_true(faults_any(&f.notes));
	assert_int_equal(f.nr_classes, 603);
	assert_int_equal(f.nr_rows, 1);
	assert_int_equal(f.classes[rows_of(&f)->row[0].class_index].address, 599);
	report_on(&f);
	load_free(&f);
	synth_free(&s);
}

/* Each byte that does not change once it is published, but the block of a chunk: it is noticed. */
static void flipped_constants(void **state)
{
	struct data_file f;
	struct synth s;
	FILE *file;

	synth_make(&s, SYNTH_FULL, 0, 1);
	synth_write(&s, path, s.size);
	file = fopen(path, "r+");
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	for (size_t at = ELIDE_HEADER_SIZE; at < s.size; at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *c = (struct elide_chunk *)(s.bytes + at);
		size_t end = sizeof(*c) + c->nr_records * c->record_size;

		for (size_t i = 0; i < end; i++) {
			size_t in = i < sizeof(*c) ? 0 : (i - sizeof(*c)) % c->record_size;

			if (i < sizeof(*c) ? i >= offsetof(struct elide_chunk, reserved) || i / 4 == 3 :
					     in >= elide_record_fixed(c->type, c->record_size) ||
						     (c->type == ELIDE_CHUNK_ROWS && in == 6))
				continue;
			fseek(file, at + i, SEEK_SET);
			fputc(s.bytes[at + i] ^ 1 << i % 8, file);
			if (!load(path, &f, error)) {
				if (!faults_any(&f.notes))
					fail_msg("byte %zu of a chunk of type %u", i, c->type);
				load_free(&f);
			}
			fseek(file, at + i, SEEK_SET);
			fputc(s.bytes[at + i], file);
		}
	}
	fclose(file);
	synth_free(&s);
}

static void tell(const char *what)
{
	assert_non_null(strstr(error, what));
}

static void bad_headers(void **state)
{
	static const struct {
		size_t offset;
		uint64_t value;
		size_t size;
		const char *error;
	} table[] = {
		{0, 0x123, 8, "not an elide data file (offset 0)"},
		{8, 5, 4, "version 5 of the format, this elide reads version 10 (offset 8)"},
		{8, 0, 4, "version 0 of the format, this elide reads version 10 (offset 8)"},
		{12, 0, 4, "header of 0 bytes (offset 12)"},
		{16, 0xffffffff, 4, "chunks of 4294967295 bytes (offset 16)"},
		{16, 16384, 4, "chunks of 16384 bytes (offset 16)"},
		{20, 3, 4, "unknown state 3 (offset 20)"},
		{24, 0, 8, "impossible size 0 (offset 24)"},
		{24, ELIDE_HEADER_SIZE + 1, 8, "impossible size 8193 (offset 24)"},
		{24, ~0ull, 8, "impossible size 18446744073709551615 (offset 24)"},
		{36, 9, 4, "unknown mode 9 (offset 36)"},
		{40, 9, 4, "unknown kind of RTM 9 (offset 40)"},
		{offsetof(struct elide_header, args_len), 4097, 4, "arguments 4097"},
	};
	struct data_file f;
	struct synth s;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		synth_make(&s, SYNTH_ELIDE, 0, 1);
		memcpy(s.bytes + table[i].offset, &table[i].value, table[i].size);
		assert_int_equal(try_load(&s, s.size, &f), table[i].offset <= 8 ? -EINVAL : -EBADMSG);
		tell(table[i].error);
		synth_free(&s);
	}
}

/* Strings of the header and of modules need no NUL. */
static void unterminated_strings(void **state)
{
	struct elide_module m = {.start = 0x1000, .end = 0x2000};
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	memset(synth_header(&s)->why, 'w', sizeof(synth_header(&s)->why));
	memset(synth_header(&s)->exe, 'e', sizeof(synth_header(&s)->exe));
	memset(synth_header(&s)->args, 'a', sizeof(synth_header(&s)->args));
	synth_header(&s)->args_len = sizeof(synth_header(&s)->args);
	memset(m.path, 'p', sizeof(m.path));
	synth_add(&s, ELIDE_CHUNK_MODULES, &m, sizeof(m));
	assert_int_equal(try_load(&s, s.size, &f), 0);
	report_on(&f);
	load_free(&f);
	synth_free(&s);
}

/* One chunk or record is left out, and the file says why. */
static void left_out(struct data_file *f, const char *why)
{
	assert_int_equal(f->notes.nr_bad, 1);
	assert_non_null(faults_of(f, error));
	tell(why);
	report_on(f);
	load_free(f);
}

static void bad_chunks(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
		size_t size;
		const char *error;
	} table[] = {
		{offsetof(struct elide_chunk, magic), 1, 4, "damaged chunk"},
		{offsetof(struct elide_chunk, record_size), 0, 2, "records of 0 bytes"},
		{offsetof(struct elide_chunk, record_size), 8, 2, "records of 8 bytes"},
		{offsetof(struct elide_chunk, nr_records), 52, 4, "chunk of 52 records"},
		{offsetof(struct elide_chunk, nr_records), ~0u, 4, "chunk of 4294967295 records"},
		{64 + offsetof(struct elide_row, kind), 0, 2, "row of unknown kind 0"},
		{64 + offsetof(struct elide_row, kind), 99, 2, "row of unknown kind 99"},
		{64 + offsetof(struct elide_row, state), ELIDE_NR_STATES, 2, "state 6"},
	};
	struct data_file f;
	struct synth s;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		synth_make(&s, SYNTH_ELIDE, 0, 1);
		memcpy((char *)synth_chunk(&s, ELIDE_CHUNK_ROWS) + table[i].offset, &table[i].value,
		       table[i].size);
		if (table[i].offset >= sizeof(struct elide_chunk))
			synth_seal(&s);
		assert_int_equal(try_load(&s, s.size, &f), 0);
		left_out(&f, table[i].error);
		synth_free(&s);
	}
}

static void bad_orders(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
		const char *error;
	} table[] = {
		{offsetof(struct elide_order, nr_edges), 0, "cycle of 0 locks"},
		{offsetof(struct elide_order, nr_edges), 1, "cycle of 1 locks"},
		{offsetof(struct elide_order, nr_edges), 9, "cycle of 9 locks"},
		{offsetof(struct elide_order, nr_edges), ~0u, "cycle of 4294967295 locks"},
		{offsetof(struct elide_order, nr_edges), 3, "unknown kinds 0, 0"},
		{offsetof(struct elide_order, edges[1].held_kind), 77, "unknown kinds 77, 1"},
		{offsetof(struct elide_order, edges[0].taken_kind), 0, "unknown kinds 1, 0"},
	};
	struct data_file f;
	struct synth s;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		synth_make(&s, SYNTH_ELIDE, 0, 1);
		memcpy((char *)(synth_chunk(&s, ELIDE_CHUNK_ORDER) + 1) + table[i].offset,
		       &table[i].value, sizeof(table[i].value));
		synth_seal(&s);
		assert_int_equal(try_load(&s, s.size, &f), 0);
		left_out(&f, table[i].error);
		synth_free(&s);
	}
}

/* Chunks of types to come are no errors. */
static void skipped_chunks(void **state)
{
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	synth_add(&s, 77, "12345678", 8);
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_int_equal(f.nr_rows, 5);
	assert_false(faults_any(&f.notes));
	load_free(&f);
	synth_free(&s);
}

static void orphans(void **state)
{
	struct elide_row orphan = {.class_index = 3, .kind = ELIDE_KIND_SPIN};
	struct elide_order *order;
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	synth_add(&s, ELIDE_CHUNK_ROWS, &orphan, sizeof(orphan));
	order = (void *)(synth_chunk(&s, ELIDE_CHUNK_ORDER) + 1);
	order->edges[1].class_index = ~0u;
	synth_seal(&s);
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_int_equal(f.nr_rows, 5);
	assert_int_equal(f.nr_orders, 0);
	assert_int_equal(f.notes.nr_orphans, 2);
	report_on(&f);
	load_free(&f);
	synth_free(&s);
}

/* A file as large as the format allows, all hole: takes no memory and no time, and is damaged. */
static void sparse_file(void **state)
{
	struct data_file f;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	synth_header(&s)->size = ELIDE_HEADER_SIZE + (64ull << 20);
	synth_write(&s, path, s.size);
	assert_int_equal(truncate(path, synth_header(&s)->size), 0);
	assert_int_equal(load(path, &f, error), 0);
	assert_int_equal(f.nr_rows, 5);
	assert_int_equal(f.notes.lost_from, 0);
	assert_int_equal(f.notes.nr_bad,
			 (ELIDE_HEADER_SIZE + (64ull << 20) - s.size) / ELIDE_CHUNK_SIZE);
	load_free(&f);
	synth_free(&s);
}

/* Our own generator: a seed gives the same bytes everywhere (xorshift, Marsaglia 2003). */
static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void random_bytes(void **state)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct synth s = {.size = ELIDE_HEADER_SIZE + 2 * ELIDE_CHUNK_SIZE};
		struct data_file f;
		uint64_t x = seed;

		s.bytes = malloc(s.size);
		assert_non_null(s.bytes);
		for (size_t i = 0; i < s.size; i += 8)
			memcpy(s.bytes + i, &(uint64_t){next(&x)}, 8);
		assert_int_equal(try_load(&s, s.size, &f), -EINVAL);
		/* The same behind a valid header and chunk header: the records are random. */
		synth_free(&s);
		synth_make(&s, SYNTH_ELIDE, 0, 1);
		for (int i = 0; i < 5; i++) {
			struct elide_row row = {.class_index = i % 3, .kind = 1 + i};

			for (char *b = (char *)&row.site; b < (char *)(&row + 1); b += 8)
				memcpy(b, &(uint64_t){next(&x)}, 8);
			synth_add(&s, ELIDE_CHUNK_ROWS, &row, sizeof(row));
		}
		assert_int_equal(try_load(&s, s.size, &f), 0);
		report_on(&f);
		load_free(&f);
		synth_free(&s);
	}
}

/* Bits flipped anywhere: it loads or says why not; what loads can be reported on. */
static void flipped_bits(void **state)
{
	struct synth s;
	int loaded = 0;

	synth_make(&s, SYNTH_ELIDE, 0, 1);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct data_file f;
		uint64_t x = seed * 0x9e3779b97f4a7c15ull;
		size_t chunk = next(&x) % 6, at;

		/* The first kilobyte of the header or of a chunk: further on there is nothing. */
		at = (chunk ? ELIDE_HEADER_SIZE + (chunk - 1) * ELIDE_CHUNK_SIZE : 0) +
		     next(&x) % 1024;
		s.bytes[at] ^= 1 << next(&x) % 8;
		if (!try_load(&s, s.size, &f)) {
			report_on(&f);
			load_free(&f);
			loaded++;
		}
		if (seed % 4)
			continue;
		synth_free(&s);
		synth_make(&s, SYNTH_ELIDE, 0, 1);
	}
	assert_true(loaded > 100);
	synth_free(&s);
}

static void not_files(void **state)
{
	struct data_file f;

	assert_int_equal(load("/nonexistent/elide.data", &f, error), -ENOENT);
	tell("/nonexistent/elide.data: No such file or directory");
	assert_int_equal(load("/tmp", &f, error), -EISDIR);
	assert_int_equal(load("/dev/zero", &f, error), -EINVAL);
	tell("not a regular file");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load(path, &f, error), -EINVAL);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_file),
		cmocka_unit_test(many_chunks),
		cmocka_unit_test(truncated),
		cmocka_unit_test(cut_with_header),
		cmocka_unit_test(lost_and_swapped_chunks),
		cmocka_unit_test(classes_keep_their_numbers),
		cmocka_unit_test(flipped_constants),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(unterminated_strings),
		cmocka_unit_test(bad_chunks),
		cmocka_unit_test(bad_orders),
		cmocka_unit_test(skipped_chunks),
		cmocka_unit_test(orphans),
		cmocka_unit_test(sparse_file),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(not_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
