// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile.c - a profile in the format of pprof: profile.proto, compressed by gzip.
 *
 * Must never know what is profiled.
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "../../names/names.h"

/* Numbers of the fields in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

static const char *const value_types[PROFILE_NR_VALUES][2] = {
	[PROFILE_CONTENTIONS] = {"contentions", "count"},
	[PROFILE_DELAY] = {"delay", "nanoseconds"},
	[PROFILE_HOLD] = {"hold", "nanoseconds"},
	[PROFILE_ABORTS] = {"aborts", "count"},
	[PROFILE_WASTED] = {"wasted", "cycles"},
};

/* The number of a key; 0 without memory. */
static uint64_t number_of(struct profile *p, struct intern *t, const void *key, size_t len)
{
	int64_t number = intern(t, key, len);

	p->failed |= number < 0;
	return number < 0 ? 0 : (uint64_t)number;
}

/* The number of a text. pprof needs UTF-8, so other bytes become '?'. */
static uint64_t text(struct profile *p, const char *s)
{
	char clean[4096];
	size_t len = strnlen(s, sizeof(clean) - 1);

	for (size_t i = 0; i < len; i++)
		clean[i] = (unsigned char)s[i] < ' ' || (unsigned char)s[i] >= 0x7f ? '?' : s[i];
	return number_of(p, &p->strings, clean, len);
}

int profile_begin(struct profile *p, const struct report *r)
{
	*p = (struct profile){.r = r};
	p->seen = calloc(r->file->nr_modules + 1, 1);
	if (!p->seen)
		return -ENOMEM;
	text(p, ""); /* number 0 must be the empty text */
	return p->failed ? -ENOMEM : 0;
}

/* The number of a function; writes the function the first time. */
static uint64_t function(struct profile *p, const char *name, const char *system, const char *file)
{
	uint64_t key[3] = {text(p, name), text(p, system), text(p, file)};
	size_t before = p->functions.nr;
	uint64_t number = number_of(p, &p->functions, key, sizeof(key)) + 1;

	if (p->functions.nr == before)
		return number;
	proto_number(&p->scratch, FUNCTION_ID, number);
	proto_number(&p->scratch, FUNCTION_NAME, key[0]);
	proto_number(&p->scratch, FUNCTION_SYSTEM_NAME, key[1]);
	proto_number(&p->scratch, FUNCTION_FILENAME, key[2]);
	proto_message(&p->body, PROFILE_FUNCTION, &p->scratch);
	return number;
}

/* The module of an address, counted from 1; 0 if it is in none. */
static size_t module_of(const struct profile *p, uint64_t address)
{
	const struct data_file *f = p->r->file;

	for (size_t i = 0; i < f->nr_modules; i++)
		if (address >= f->modules[i].start && address < f->modules[i].end)
			return i + 1;
	return 0;
}

/*
 * Writes a location with its functions, the innermost first. Their messages go between those of locations.
 */
static void write_location(struct profile *p, uint64_t number, uint64_t address,
			   const struct place *places, size_t nr)
{
	uint64_t functions[128];
	size_t module = module_of(p, address);

	nr = nr < ARRAY_SIZE(functions) ? nr : ARRAY_SIZE(functions);
	for (size_t i = 0; i < nr; i++) {
		const char *system = i + 1 == nr ? places[i].elf_symbol : NULL;
		const char *name = places[i].symbol;

		functions[i] = name ? function(p, name, system ? system : name,
					       places[i].file ? places[i].file : "") : 0;
	}
	proto_number(&p->scratch, LOCATION_ID, number);
	proto_number(&p->scratch, LOCATION_MAPPING_ID, module);
	proto_number(&p->scratch, LOCATION_ADDRESS, address);
	for (size_t i = 0; i < nr; i++) {
		if (!functions[i])
			continue;
		if (module)
			p->seen[module] = 2;
		proto_number(&p->inner, LINE_FUNCTION_ID, functions[i]);
		proto_number(&p->inner, LINE_LINE, places[i].line > 0 ? places[i].line : 0);
		proto_message(&p->scratch, LOCATION_LINE, &p->inner);
	}
	if (module && !p->seen[module])
		p->seen[module] = 1;
	proto_message(&p->body, PROFILE_LOCATION, &p->scratch);
}

uint64_t profile_location(struct profile *p, uint64_t address, int exact)
{
	const struct place *places;
	uint64_t key[2] = {exact || !address ? address : address - 1, 0};
	size_t before = p->locations.nr, nr;
	uint64_t number;

	nr = symbolize_frames(p->r->symbols, address, exact, &places);
	if (nr && symbolize_is_own(&places[nr - 1]))
		return 0;
	number = number_of(p, &p->locations, key, sizeof(key)) + 1;
	if (p->locations.nr != before)
		write_location(p, number, key[0], places, nr);
	return number;
}

uint64_t profile_named(struct profile *p, const char *name)
{
	uint64_t key[2] = {0, text(p, name)};
	struct place place = {.symbol = name};
	size_t before = p->locations.nr;
	uint64_t number = number_of(p, &p->locations, key, sizeof(key)) + 1;

	if (p->locations.nr != before)
		write_location(p, number, 0, &place, 1);
	return number;
}

void profile_sample(struct profile *p, const uint64_t *locations, size_t nr,
		    const uint64_t *values, const struct profile_label *labels, size_t nr_labels)
{
	uint64_t any = 0;

	for (int i = 0; i < PROFILE_NR_VALUES; i++)
		any |= values[i];
	if (!any)
		return;
	proto_packed(&p->scratch, SAMPLE_LOCATION_ID, locations, nr);
	proto_packed(&p->scratch, SAMPLE_VALUE, values, PROFILE_NR_VALUES);
	for (size_t i = 0; i < nr_labels; i++) {
		proto_number(&p->inner, LABEL_KEY, text(p, labels[i].key));
		if (labels[i].text)
			proto_number(&p->inner, LABEL_STR, text(p, labels[i].text));
		else
			proto_number(&p->inner, LABEL_NUM, labels[i].number);
		proto_message(&p->scratch, SAMPLE_LABEL, &p->inner);
	}
	proto_message(&p->body, PROFILE_SAMPLE, &p->scratch);
}

static void write_mapping(struct profile *p, size_t module)
{
	const struct elide_module *m = &p->r->file->modules[module - 1];
	char build_id[2 * sizeof(m->build_id) + 1];

	hex_text(build_id, m->build_id, m->build_id_len);
	proto_number(&p->scratch, MAPPING_ID, module);
	proto_number(&p->scratch, MAPPING_MEMORY_START, m->start);
	proto_number(&p->scratch, MAPPING_MEMORY_LIMIT, m->end);
	proto_number(&p->scratch, MAPPING_FILENAME, text(p, m->path));
	proto_number(&p->scratch, MAPPING_BUILD_ID, text(p, build_id));
	/* The profile has all known names, so pprof need not search for them. */
	for (unsigned int i = MAPPING_HAS_FUNCTIONS; i <= MAPPING_HAS_INLINE_FRAMES; i++)
		proto_number(&p->scratch, i, p->seen[module] == 2);
	proto_message(&p->body, PROFILE_MAPPING, &p->scratch);
}

/* The program comes first, as pprof names the profile after it. */
static void write_mappings(struct profile *p)
{
	const struct data_file *f = p->r->file;
	size_t first = 0;

	for (size_t i = 1; !first && i <= f->nr_modules; i++)
		if (!strcmp(f->modules[i - 1].path, f->header.exe))
			first = i;
	if (first)
		write_mapping(p, first);
	for (size_t i = 1; i <= f->nr_modules; i++)
		if (i != first && p->seen[i])
			write_mapping(p, i);
}

static void write_type(struct profile *p, unsigned int field, unsigned int value)
{
	proto_number(&p->scratch, VALUE_TYPE_TYPE, text(p, value_types[value][0]));
	proto_number(&p->scratch, VALUE_TYPE_UNIT, text(p, value_types[value][1]));
	proto_message(&p->body, field, &p->scratch);
}

/* Adds a comment to gzip's header, by which the file is recognised. */
static int compress_to(const struct proto *body, FILE *out)
{
	/* Bits of the window, plus 16 for gzip's header; the default of the memory: zlib.h. */
	z_stream z = {.next_in = (Bytef *)body->bytes};
	gz_header head = {.comment = (Bytef *)PROFILE_MARK, .os = 3};
	unsigned char to[65536];
	size_t left = body->nr;
	int rc = Z_OK;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	deflateSetHeader(&z, &head);
	while (rc != Z_STREAM_END) {
		if (!z.avail_in) {
			z.avail_in = left < 1u << 30 ? left : 1u << 30;
			left -= z.avail_in;
		}
		z.next_out = to;
		z.avail_out = sizeof(to);
		rc = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		/* The caller notices a full disk when it closes the file. */
		fwrite(to, 1, sizeof(to) - z.avail_out, out);
	}
	deflateEnd(&z);
	return 0;
}

int profile_end(struct profile *p, FILE *out, const char *const *comments, size_t nr_comments)
{
	const struct elide_header *h = &p->r->file->header;

	for (unsigned int i = 0; i < PROFILE_NR_VALUES; i++)
		write_type(p, PROFILE_SAMPLE_TYPE, i);
	write_mappings(p);
	proto_number(&p->body, PROFILE_TIME_NANOS, h->start_realtime_ns);
	proto_number(&p->body, PROFILE_DURATION_NANOS, p->r->ns);
	write_type(p, PROFILE_PERIOD_TYPE, PROFILE_CONTENTIONS);
	proto_number(&p->body, PROFILE_PERIOD, 1);
	for (size_t i = 0; i < nr_comments; i++)
		proto_number(&p->body, PROFILE_COMMENT, text(p, comments[i]));
	proto_number(&p->body, PROFILE_DEFAULT_SAMPLE_TYPE,
		     text(p, value_types[PROFILE_DELAY][0]));
	for (size_t i = 0; i < p->strings.nr; i++)
		proto_bytes(&p->body, PROFILE_STRING_TABLE,
			    p->strings.bytes + p->strings.keys[i].at, p->strings.keys[i].len);
	if (p->failed || p->body.failed)
		return -ENOMEM;
	return compress_to(&p->body, out);
}

void profile_free(struct profile *p)
{
	proto_free(&p->body);
	proto_free(&p->scratch);
	proto_free(&p->inner);
	intern_free(&p->strings);
	intern_free(&p->functions);
	intern_free(&p->locations);
	free(p->seen);
	*p = (struct profile){0};
}
