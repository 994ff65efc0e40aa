// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * data.c - a data file that was tampered with, read and reported on.
 *
 * A file is a sound one under changes, or small inputs would not come past
 * its header: three bytes say how much is cut off its end, then changes
 * follow, each of an offset (three bytes), a length (one byte) and as many
 * bytes. The counts and checksums of the changed file are made right, unless
 * the first bit of the third byte is set. Numbers are little-endian. The objects it names do not exist: what
 * elfutils does with hostile ones is not ours.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tools/print/csv.h"
#include "../../tools/print/html/html.h"
#include "../../tools/print/json-report.h"
#include "../../tools/print/suggestion.h"
#include "../../tools/print/table.h"
#include "../../tools/print/view/view-line.h"
#include "../../tools/print/view/view-stack.h"
#include "../tools/synth.h"
#include "fuzz.h"

static uint32_t number(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8 | (uint32_t)bytes[2] << 16;
}

/* The bit of the first number that leaves counts and checksums as they were. */
#define SEALED_NOT (1u << 23)

/* The sound file, changed as the input says; its size. */
static size_t tamper(struct synth *s, const uint8_t *data, size_t size)
{
	struct subject_sites sites;
	size_t cut;
	int seal;

	synth_make(s, SYNTH_ELIDE, 1, 1);
	subject_run(&sites);
	synth_full(s, &sites);
	strcpy(((struct elide_module *)(synth_chunk(s, ELIDE_CHUNK_MODULES) + 1))->path,
	       "/nonexistent/object");
	if (size < 3)
		return s->size;
	cut = number(data) & ~SEALED_NOT;
	seal = !(number(data) & SEALED_NOT);
	for (data += 3, size -= 3; size >= 4;) {
		size_t at = number(data), length = data[3];

		data += 4;
		size -= 4;
		if (length > size)
			length = size;
		if (at < s->size)
			memcpy(s->bytes + at, data, length < s->size - at ? length : s->size - at);
		data += length;
		size -= length;
	}
	if (seal)
		synth_seal(s);
	return cut < s->size ? s->size - cut : 0;
}

static void print(json_t *json, FILE *out)
{
	must(json != NULL);
	json_dumpf(json, out, 0);
	json_decref(json);
}

static void report_views(const struct report *r, FILE *out)
{
	struct suggestion suggestion = {0};

	stacks_table(r, out, 0);
	stacks_csv(r, out, 0);
	print(stacks_json(r, 0), out);
	lines_table(r, out, 0);
	lines_csv(r, out, 0);
	print(lines_json(r, 0), out);
	for (int what = FOLDED_ABORT; what <= FOLDED_OTHERS; what++)
		folded_print(r, out, what);
	suggestion_add(&suggestion, r);
	suggestion_print(&suggestion, out);
}

static void report(const struct data_file *file, enum report_by by, FILE *out)
{
	struct report r;
	json_t *parts;

	if (report_build(&r, file, by, "wasted"))
		return;
	table_print(&r, out, 100, 0);
	csv_print(&r, out, 0);
	print(json_report(&r, 0), out);
	if (by == BY_LOCK_AND_SITE)
		report_views(&r, out);
	parts = json_array();
	must(!json_array_append_new(parts, html_tree(&r, 0)));
	html_page(parts, out);
	json_decref(parts);
	report_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	static int fd = -1;
	char path[32], error[LOAD_ERROR_MAX] = "";
	struct data_file file;
	struct synth s;
	size_t length;

	if (fd < 0) {
		fd = memfd_create("data", 0);
		out = fopen("/dev/null", "w");
	}
	length = tamper(&s, data, size);
	must(fd >= 0 && out && !ftruncate(fd, 0) &&
	     pwrite(fd, s.bytes, length, 0) == (ssize_t)length);
	synth_free(&s);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (load(path, &file, error)) {
		must(error[0] && !strchr(error, '\n'));
		return 0;
	}
	for (enum report_by by = BY_LOCK_AND_SITE; by <= BY_SITE; by++)
		report(&file, by, out);
	load_free(&file);
	return 0;
}
