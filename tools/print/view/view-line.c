// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view-line.c - the cache lines of conflicts, and the code that touched their bytes.
 *
 * Like the second table of perf c2c. Must never look up names for a line that is not shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "../../model/evidence.h"
#include "../../names/names.h"
#include "../csv.h"
#include "../json-evidence.h"
#include "view-line.h"
#include "views.h"

enum access { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE };

/* The access of the aborted thread, of the one that aborted it, or the load of a hint. */
enum who { WHO_OWN, WHO_OTHER, WHO_HINT };

/* A place in the code that touched bytes of a line. */
struct toucher {
	uint64_t bytes;
	uint64_t pc;
	enum who who;
	enum access access;
	uint32_t class_index; /* + 1, 0 outside of any section */
	unsigned int kind;
	uint64_t site;
	uint64_t samples;
	uint64_t count;
	uint64_t cycles;
	const struct elide_detail *detail;
};

/* A line: @nr touchers from @first on; @samples of aborts, @hints of loads. */
struct hot_line {
	uint64_t line;
	size_t first;
	size_t nr;
	uint64_t samples;
	uint64_t hints;
	uint64_t count;
	uint64_t cycles;
	unsigned int sharing; /* a bit per enum sharing */
	const struct elide_detail *detail;
};

/* All cache lines of a file. */
struct hot_lines {
	struct hot_line *line;
	size_t nr;
	struct toucher *toucher;
	size_t nr_touchers;
};

static int compare_touchers(const void *x, const void *y)
{
	const struct toucher *a = x, *b = y;
	int c = by_number(a->detail->line, b->detail->line);

	if (!c)
		c = by_number(a->bytes ? __builtin_ctzll(a->bytes) : 64,
			      b->bytes ? __builtin_ctzll(b->bytes) : 64);
	if (!c)
		c = by_number(a->bytes, b->bytes);
	if (!c)
		c = by_number(a->who, b->who);
	if (!c)
		c = by_number(a->pc, b->pc);
	if (!c)
		c = by_number(a->access, b->access);
	if (!c)
		c = by_number(a->class_index, b->class_index);
	if (!c)
		c = by_number(a->kind, b->kind);
	return c ? c : by_number(a->site, b->site);
}

static int compare_lines(const void *x, const void *y)
{
	const struct hot_line *a = x, *b = y;
	int c = by_number(b->count, a->count);

	if (!c)
		c = by_number(b->cycles, a->cycles);
	if (!c)
		c = by_number(b->hints, a->hints);
	return c ? c : by_number(a->line, b->line);
}

/* The accesses of a detail: that of the aborted thread, and that of the other thread if known. */
static size_t split(const struct elide_detail *d, struct toucher *to)
{
	enum access own = d->source == ELIDE_DETAIL_EMULATOR ? ACCESS_READ : ACCESS_UNKNOWN;

	if (d->source == ELIDE_DETAIL_HINT)
		own = ACCESS_READ;
	/* An access that conflicts with a read must be a write. */
	if (d->own_written || (d->other_pc && !d->other_write))
		own = ACCESS_WRITE;
	to[0] = (struct toucher){
		.bytes = d->own_bytes, .pc = d->own_pc, .kind = d->kind, .site = d->site,
		.access = own, .who = d->source == ELIDE_DETAIL_HINT ? WHO_HINT : WHO_OWN,
		.class_index = d->class_index + 1, .samples = d->samples, .count = d->count,
		.cycles = d->cycles, .detail = d,
	};
	if (!d->other_pc && !d->other_bytes)
		return 1;
	to[1] = to[0];
	to[1].who = WHO_OTHER;
	to[1].bytes = d->other_bytes;
	to[1].pc = d->other_pc;
	to[1].access = d->other_write ? ACCESS_WRITE : ACCESS_READ;
	to[1].class_index = d->other_kind ? d->other_class : 0;
	to[1].kind = d->other_kind;
	to[1].site = d->other_site;
	return 2;
}

/* Sum up equal touchers, which are neighbours. Return: the remaining number. */
static size_t sum_touchers(struct toucher *t, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (kept && !compare_touchers(&t[kept - 1], &t[i])) {
			t[kept - 1].samples += t[i].samples;
			t[kept - 1].count += t[i].count;
			t[kept - 1].cycles += t[i].cycles;
			if (t[i].detail->count > t[kept - 1].detail->count)
				t[kept - 1].detail = t[i].detail;
		} else {
			t[kept++] = t[i];
		}
	}
	return kept;
}

static void add_line(struct hot_lines *h, const struct toucher *t)
{
	struct hot_line *l = h->nr ? &h->line[h->nr - 1] : NULL;

	if (!l || l->line != t->detail->line) {
		l = &h->line[h->nr++];
		*l = (struct hot_line){.line = t->detail->line, .first = t - h->toucher};
	}
	l->nr++;
	/* A detail is counted once, with the aborted thread. */
	if (t->who == WHO_OTHER)
		return;
	if (t->who == WHO_HINT) {
		l->hints += t->samples;
	} else {
		l->samples += t->samples;
		l->count += t->count;
		l->cycles += t->cycles;
	}
	if (!l->detail || t->detail->count > l->detail->count)
		l->detail = t->detail;
}

static void free_lines(struct hot_lines *h)
{
	free(h->line);
	free(h->toucher);
}

static int find_lines(const struct report *r, struct hot_lines *h)
{
	const struct data_file *f = r->file;

	memset(h, 0, sizeof(*h));
	h->toucher = reallocarray(NULL, 2 * f->nr_details + 1, sizeof(*h->toucher));
	h->line = reallocarray(NULL, f->nr_details + 1, sizeof(*h->line));
	if (!h->toucher || !h->line) {
		free_lines(h);
		memset(h, 0, sizeof(*h));
		return -ENOMEM;
	}
	for (size_t i = 0; i < f->nr_details; i++)
		if (f->details[i].cause == ELIDE_CAUSE_conflict && f->details[i].line)
			h->nr_touchers += split(&f->details[i], &h->toucher[h->nr_touchers]);
	if (!h->nr_touchers)
		return 0;
	qsort(h->toucher, h->nr_touchers, sizeof(*h->toucher), compare_touchers);
	h->nr_touchers = sum_touchers(h->toucher, h->nr_touchers);
	for (size_t i = 0; i < h->nr_touchers; i++)
		add_line(h, &h->toucher[i]);
	qsort(h->line, h->nr, sizeof(*h->line), compare_lines);
	for (size_t i = 0; i < h->nr; i++)
		for (size_t j = 0; j < f->nr_details; j++)
			if (f->details[j].cause == ELIDE_CAUSE_conflict &&
			    f->details[j].line == h->line[i].line)
				h->line[i].sharing |= 1u << evidence_sharing(&f->details[j]);
	return 0;
}

static const char *access_name(enum access a)
{
	static const char *const names[] = {"unknown", "read", "write"};

	return names[a];
}

static const char *who_name(enum who w)
{
	static const char *const names[] = {"own", "other", "hint"};

	return names[w];
}

static const char *sharing_of(const struct hot_line *l)
{
	unsigned int both = 1u << SHARING_TRUE | 1u << SHARING_FALSE;

	if ((l->sharing & both) == both)
		return "true and false";
	return l->sharing & 1u << SHARING_TRUE	? "true" :
	       l->sharing & 1u << SHARING_FALSE ? "false" :
						  "unknown";
}

/* Names the data at the bytes of a toucher. */
static void name_bytes(const struct report *r, const struct toucher *t, struct data_name *n)
{
	struct elide_detail one = *t->detail;

	one.own_bytes = t->bytes;
	one.other_bytes = 0;
	evidence_data(r, &one, n);
}

static void bytes_text(uint64_t bytes, char *to, size_t size)
{
	if (bytes)
		snprintf(to, size, "%d-%d", __builtin_ctzll(bytes), 63 - __builtin_clzll(bytes));
	else
		snprintf(to, size, "?");
}

static int where_of(const struct report *r, const struct toucher *t, struct where *w)
{
	if (t->class_index)
		return where_fill(r, w, t->class_index - 1, t->kind, t->site);
	memset(w, 0, sizeof(*w));
	return 0;
}

/* The count, with "~" if it is an estimate because not every abort was sampled. */
static void count_text(uint64_t samples, uint64_t count, char *to, size_t size)
{
	snprintf(to, size, "%s%llu", samples == count ? "" : "~", (unsigned long long)count);
}

static void print_toucher(const struct report *r, FILE *out, const struct toucher *t)
{
	struct data_name n;
	struct where where;
	struct place code;
	char bytes[16], aborts[24];

	name_bytes(r, t, &n);
	bytes_text(t->bytes, bytes, sizeof(bytes));
	symbolize_instruction(r->symbols, t->pc, &code);
	/* A hint belongs to no abort. */
	if (t->who == WHO_HINT)
		strcpy(aborts, "-");
	else
		count_text(t->samples, t->count, aborts, sizeof(aborts));
	fprintf(out, "   %5s %8s  %-5s  %-7s  ", bytes, aborts,
		who_name(t->who), access_name(t->access));
	view_print(out, &code);
	fputs(": ", out);
	print_clean(out, n.name);
	fputs("; ", out);
	if (!where_of(r, t, &where))
		where_print(out, &where);
	where_free(&where);
	fputc('\n', out);
}

void lines_table(const struct report *r, FILE *out, size_t top)
{
	struct hot_lines h;
	struct data_name n;
	char count[24];
	size_t nr;

	if (find_lines(r, &h)) {
		fputs("(no memory for the lines)\n", out);
		return;
	}
	if (!h.nr)
		fputs(r->file->header.rtm == ELIDE_RTM_EMULATED ?
			      "no conflict was seen with its line: there was none, or ELIDE_STACKS "
			      "is 0\n" :
			      "no conflict was seen with its line: that takes --emulate, or "
			      "--pmu=abort\n",
		      out);
	nr = top && top < h.nr ? top : h.nr;
	for (size_t i = 0; i < nr; i++) {
		const struct hot_line *l = &h.line[i];

		evidence_data(r, l->detail, &n);
		fprintf(out, "%s%zu. ", i ? "\n" : "", i + 1);
		print_clean(out, n.name);
		count_text(l->samples, l->count, count, sizeof(count));
		fprintf(out, " (%s): %s abort%s, %s%llu cycles (%llu sampled), %s sharing",
			data_type_name(n.type), count, plural(l->count), l->samples == l->count ? "" : "~",
			(unsigned long long)l->cycles, (unsigned long long)l->samples,
			sharing_of(l));
		if (l->hints)
			fprintf(out, "; HITM loads hint at it: %llu",
				(unsigned long long)l->hints);
		fputc('\n', out);
		fputs("   BYTES   ABORTS  WHO    ACCESS   CODE: DATA; LOCK AND SITE\n", out);
		for (size_t j = 0; j < l->nr; j++)
			print_toucher(r, out, &h.toucher[l->first + j]);
	}
	if (nr < h.nr)
		fprintf(out, "(%zu more lines: --top 0)\n", h.nr - nr);
	free_lines(&h);
}

void lines_csv_head(FILE *out)
{
	fputs("schema,pid,number,type,name,aborts,sharing,first_byte,last_byte,who,access,data,"
	      "object,symbol,inlined_into,file,line,",
	      out);
	where_csv_head(out);
	fputs(",samples,count,cycles\r\n", out);
}

static void csv_toucher(const struct report *r, FILE *out, const struct hot_line *l, size_t number,
			const struct toucher *t)
{
	struct data_name line, n;
	struct where where;
	struct place code;

	evidence_data(r, l->detail, &line);
	name_bytes(r, t, &n);
	symbolize_instruction(r->symbols, t->pc, &code);
	fprintf(out, "%d,%u,%zu", REPORT_SCHEMA, r->file->header.pid, number);
	csv_text(out, data_type_name(line.type));
	csv_text(out, line.name);
	fprintf(out, ",%llu", (unsigned long long)l->count);
	csv_text(out, sharing_of(l));
	if (t->bytes)
		fprintf(out, ",%d,%d", n.own_bytes[0], n.own_bytes[1]);
	else
		fputs(",,", out);
	csv_text(out, who_name(t->who));
	csv_text(out, access_name(t->access));
	csv_text(out, n.name);
	csv_place(out, &code);
	if (!where_of(r, t, &where))
		where_csv(out, &where);
	where_free(&where);
	fprintf(out, ",%llu,%llu,%llu\r\n", (unsigned long long)t->samples,
		(unsigned long long)t->count, (unsigned long long)t->cycles);
}

void lines_csv(const struct report *r, FILE *out, size_t top)
{
	struct hot_lines h;

	if (find_lines(r, &h))
		return;
	for (size_t i = 0; i < h.nr && (!top || i < top); i++)
		for (size_t j = 0; j < h.line[i].nr; j++)
			csv_toucher(r, out, &h.line[i], i + 1, &h.toucher[h.line[i].first + j]);
	free_lines(&h);
}

static json_t *toucher_json(const struct report *r, const struct toucher *t)
{
	struct data_name n;
	struct place code;
	json_t *o = json_object();

	name_bytes(r, t, &n);
	symbolize_instruction(r->symbols, t->pc, &code);
	json_object_set_new(o, "bytes",
			    t->bytes ? json_pack("[i, i]", n.own_bytes[0], n.own_bytes[1]) :
				       json_null());
	json_object_set_new(o, "who", json_text(who_name(t->who)));
	json_object_set_new(o, "access", json_text(access_name(t->access)));
	json_object_set_new(o, "data", json_text(n.name));
	json_object_set_new(o, "code", json_place(&code));
	json_object_set_new(o, "section",
			    t->class_index ?
				    json_section(r, t->class_index - 1, t->kind, t->site) :
				    json_null());
	json_object_set_new(o, "samples", json_number(t->samples));
	json_object_set_new(o, "count", json_number(t->count));
	json_object_set_new(o, "cycles", json_number(t->cycles));
	return o;
}

json_t *lines_json(const struct report *r, size_t top)
{
	json_t *list = json_array();
	struct hot_lines h;

	if (find_lines(r, &h))
		return list;
	for (size_t i = 0; i < h.nr && (!top || i < top); i++) {
		const struct hot_line *l = &h.line[i];
		json_t *o = json_object(), *touchers = json_array();

		json_object_set_new(o, "data", json_data(r, l->detail));
		json_object_set_new(o, "sharing", json_text(sharing_of(l)));
		json_object_set_new(o, "samples", json_number(l->samples));
		json_object_set_new(o, "hints", json_number(l->hints));
		json_object_set_new(o, "count", json_number(l->count));
		json_object_set_new(o, "cycles", json_number(l->cycles));
		for (size_t j = 0; j < l->nr; j++)
			json_array_append_new(touchers, toucher_json(r, &h.toucher[l->first + j]));
		json_object_set_new(o, "accesses", touchers);
		json_object_set_new(o, "alloc_stack", json_stack(r, l->detail->alloc_stack));
		json_array_append_new(list, o);
	}
	free_lines(&h);
	return list;
}
