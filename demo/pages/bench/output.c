// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output.c - prints the results of page_bench. JSON and CSV have the same list of fields.
 */
#include "run.h"

#include "../../base/fields.h"

#include <inttypes.h>
#include <stdio.h>

/* The kinds of operations: their workload, field and name. */
static const struct kind {
	enum workload_id workload;
	const char *id;
	const char *name;
} kinds[NR_KINDS] = {
#define KIND(workload, id, name) { WORKLOAD_##workload, #id, name },
#include "workloads.def"
};

static double mib(uint64_t pages)
{
	return (double)pages * PAGE_BYTES / 0x1p20;
}

/* Per cent of the room of leaves that is used. */
static double fill(const struct page_tree_report *shape)
{
	return shape->leaves ? 100.0 * (double)shape->used / ((double)shape->leaves * PAGE_ROOM) : 0;
}

static void setting_fields(struct fields *f, const struct work *w)
{
	const struct options *opts = w->opts;

	field_text(f, "workload", workload_choices[opts->workload].name);
	field_number(f, "threads", opts->threads);
	field(f, "pinned", "%s", opts->pin ? "true" : "false");
	field_text(f, "io", io_choices[opts->io].name);
	field_text(f, "latch", latch_choices[opts->latch].name);
	field_number(f, "pool_mib", opts->pool_mib);
	field(f, "split", "%s", opts->split ? "true" : "false");
	field_number(f, "sample", opts->sample);
	field_number(f, "period", opts->period);
	field_text(f, "xmerge", xmerge_choices[opts->xmerge].name);
	field_number(f, "k", opts->k);
	field(f, "bstar", "%s", opts->bstar ? "true" : "false");
	field_number(f, "seed", opts->seed);
	if (opts->workload == WORKLOAD_tpcc) {
		field_number(f, "warehouses", opts->warehouses);
		field_number(f, "scale", opts->scale);
		return;
	}
	field_text(f, "data", data_choices[w->data].name);
	field_text(f, "order", order_choices[w->order].name);
	field_number(f, "value", w->value);
	if (opts->workload == WORKLOAD_news) {
		field_text(f, "news", news_choices[opts->news].name);
		field_number(f, "window", opts->window);
		field_number(f, "shift_ms", opts->shift_ms);
	}
}

/* The shares of the eighths of the threads that did most and least. */
static void share_fields(struct fields *f, const struct outcome *out)
{
	uint64_t all = outcome_done(out), most = 0, least = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		most = out->eighth[i] > most ? out->eighth[i] : most;
		least = out->eighth[i] < least ? out->eighth[i] : least;
	}
	field(f, "eighth.most_percent", "%.2f", all ? 100.0 * (double)most / (double)all : 0);
	field(f, "eighth.least_percent", "%.2f", all ? 100.0 * (double)least / (double)all : 0);
}

static void shape_fields(struct fields *f, const struct work *w, const struct outcome *out)
{
	uint64_t values = out->shape.entries * w->value;

	field_number(f, "pages", out->pages);
	field(f, "mib", "%.3f", mib(out->pages));
	field(f, "loaded_mib", "%.3f", mib(out->pages_loaded));
	field(f, "grown_mib", "%.3f", mib(out->pages) - mib(out->pages_before));
	if (!out->verified)
		return;
	field_number(f, "leaves", out->shape.leaves);
	field_number(f, "inner", out->shape.inner);
	field_number(f, "levels", out->shape.levels);
	field_number(f, "entries", out->shape.entries);
	field_number(f, "entry_bytes", out->shape.entry_bytes);
	if (w->opts->workload != WORKLOAD_tpcc)
		field(f, "key_mib", "%.3f", (double)(out->shape.entry_bytes - values) / 0x1p20);
	field(f, "fill_percent", "%.2f", fill(&out->shape));
}

static void result_fields(struct fields *f, const struct work *w, const struct outcome *out)
{
	field_number(f, "operations", outcome_done(out));
	for (unsigned int i = 0; i < NR_KINDS; i++)
		if (kinds[i].workload == w->opts->workload)
			field_grouped(f, "done", kinds[i].id, out->done[i]);
	field_number(f, "loaded", w->loaded);
	field_number(f, "waited", out->waited);
	shape_fields(f, w, out);
	if (w->opts->threads >= 8)
		share_fields(f, out);
#define COUNT(id, help) field_grouped(f, "tree", #id, out->tree.id);
#include "../tree-counts.def"
	field_grouped(f, "io", "reads", out->pool.reads);
	field_grouped(f, "io", "writes", out->pool.writes);
	field_grouped(f, "io", "total", out->pool.reads + out->pool.writes);
	field_grouped(f, "io", "evictions", out->pool.evictions);
	field_grouped(f, "io", "cooled", out->pool.cooled);
	field_grouped(f, "io", "rescued", out->pool.rescued);
	field_grouped(f, "io", "waits", out->pool.waits);
	for (unsigned int i = 0; out->latency && i < NR_PERCENTILES; i++)
		field_grouped(f, "latency_ns", percentiles[i].name,
			      histogram_at(out->latency, percentiles[i].per_mille));
	field(f, "interrupted", "%s", out->interrupted ? "true" : "false");
	field(f, "seconds", "%.9f", out->seconds);
	field(f, "merge_seconds", "%.9f", out->merge_seconds);
	field(f, "merge_cycles", "%.0f", out->merge_cycles);
	field(f, "all_seconds", "%.9f", out->seconds + out->merge_seconds);
	field(f, "throughput_ops_s", "%.0f", (double)outcome_done(out) / out->seconds);
	field_text(f, "check", out->check);
}

/* Options, percentiles, counts, kinds and the others: fewer than there is room for. */
_Static_assert(60 + NR_KINDS + NR_PERCENTILES <= FIELDS_MAX, "the fields of a run have room");

static void print_heading(const struct work *w)
{
	const struct options *opts = w->opts;

	printf("%s, %" PRIu64 " threads%s, latch %s, seed %" PRIu64 "\n",
	       workload_choices[opts->workload].name, opts->threads, opts->pin ? " pinned" : "",
	       latch_choices[opts->latch].name, opts->seed);
	printf("  %s, pool of %" PRIu64 " MiB", opts->file ? opts->file : "in memory", opts->pool_mib);
	if (opts->split)
		printf(", Contention Split of 2^-%" PRIu64 ", 2^-%" PRIu64, opts->sample,
		       opts->period);
	if (opts->xmerge != XMERGE_off)
		printf(", XMerge%s of up to %" PRIu64, opts->xmerge == XMERGE_on ? "" : " afterwards",
		       opts->k);
	printf("%s\n", opts->bstar ? ", B*" : "");
	if (opts->workload == WORKLOAD_tpcc)
		printf("  %" PRIu64 " warehouses, 1/%" PRIu64 " of the rows\n", opts->warehouses,
		       opts->scale);
	else
		printf("  %s, %s, values of %u bytes\n", data_choices[w->data].name,
		       order_choices[w->order].name, w->value);
}

static void print_shape(const struct outcome *out)
{
	const struct page_tree_report *s = &out->shape;

	printf("  %-18s %12" PRIu64 "  %.1f MiB\n", "pages", out->pages, mib(out->pages));
	if (!out->verified)
		return;
	printf("  %-18s %12" PRIu64 "  of %.1f bytes, %u levels\n", "entries", s->entries,
	       s->entries ? (double)s->entry_bytes / (double)s->entries : 0, s->levels);
	printf("  %-18s %12" PRIu64 "  %.1f %% full, %" PRIu64 " inner nodes\n", "leaves", s->leaves,
	       fill(s), s->inner);
}

static void print_text(const struct work *w, const struct outcome *out)
{
	const struct pool_counts *io = &out->pool;

	print_heading(w);
	for (unsigned int i = 0; i < NR_KINDS; i++)
		if (out->done[i])
			printf("  %-18s %12" PRIu64 "\n", kinds[i].name, out->done[i]);
	if (out->waited)
		printf("  %-18s %12" PRIu64 "  for the latch of a leaf\n", "waited", out->waited);
	print_shape(out);
#define COUNT(id, help)                                                                            \
	if (out->tree.id)                                                                          \
		printf("  %-18s %12" PRIu64 "  %.1f/s  %s\n", #id, out->tree.id,                   \
		       (double)out->tree.id / out->seconds, help);
#include "../tree-counts.def"
	if (w->opts->file)
		printf("  %-18s %12" PRIu64 "  pages read, %" PRIu64 " written, %" PRIu64
		       " evicted, %" PRIu64 " waits for a frame\n", "I/O", io->reads, io->writes,
		       io->evictions, io->waits);
	shifts_print(&w->shifts, w->begin_ns, stdout);
	for (unsigned int i = 0; out->latency && i < NR_PERCENTILES; i++)
		printf("  %-18s %12" PRIu64 "  ns\n", percentiles[i].name,
		       histogram_at(out->latency, percentiles[i].per_mille));
	printf("  %-18s %12.6f  s%s\n  %-18s %12.0f  operations/s\n  %-18s %12s\n", "time",
	       out->seconds, out->interrupted ? ", interrupted" : "", "throughput",
	       (double)outcome_done(out) / out->seconds, "check", out->check);
}

/**
 * output_print() - print the results of a run
 * @w: the run; its command line selects text, JSON or CSV
 * @out: the results
 */
void output_print(const struct work *w, const struct outcome *out)
{
	struct fields fields = { .nr = 0 };

	setting_fields(&fields, w);
	result_fields(&fields, w, out);
	if (!fields_print(&fields, w->opts->json, w->opts->csv))
		print_text(w, out);
}
