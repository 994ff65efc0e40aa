// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output.c - prints the results of a run to stdout.
 *
 * JSON and CSV have the same list of fields.
 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "../base/fields.h"

static const char *const plural[NR_OPS] = {
#define OP(name, plural) plural,
	OPS(OP)
#undef OP
};

/* The options of the index. The results show what a flag of an index does. */
static void index_fields(struct fields *f, const struct options *opts)
{
	const struct option_row *rows = index_options(opts->index);

	for (unsigned int i = 0; rows[i].name; i++) {
		if (rows[i].type == OPTION_CHOICE)
			field_text(f, rows[i].name, rows[i].choices[opts->of_index[i]].name);
		else if (rows[i].type == OPTION_UINT)
			field_number(f, rows[i].name, opts->of_index[i]);
	}
}

static double bytes_per_entry(const struct tree_shape *shape)
{
	return shape->entries ? (double)shape->bytes / (double)shape->entries : 0;
}

/* What the generated operations are. */
static void workload_fields(struct fields *f, const struct options *opts)
{
	struct mix mix = mix_of(opts);

	field_number(f, "preload", opts->preload);
	field_number(f, "fill", opts->fill);
	field_number(f, "warmup", opts->warmup);
	if (opts->given[OPTION_ID_deal])
		field_text(f, "deal", deal_choices[opts->deal].name);
	if (opts->writers)
		field_number(f, "writers", opts->writers);
	field(f, "updates", "%g", 100.0 * mix.share[OP_insert] / SHARES);
	field(f, "deletes_percent", "%g", 100.0 * mix.share[OP_remove] / SHARES);
	field_number(f, "scans_percent", opts->scans);
	field_text(f, "keys", keys_choices[opts->keys].name);
	field_number(f, "seed", opts->seed);
}

static void replay_fields(struct fields *f, const struct options *opts,
			  const struct replay_result *replay)
{
	field_text(f, "deal", deal_choices[opts->deal].name);
	field_number(f, "files", replay->files);
	field_grouped(f, "load", "ops", replay->load_ops);
	field(f, "load.seconds", "%.9f", replay->load_seconds);
	field(f, "load.cpu_seconds", "%.9f", replay->load_cpu_seconds);
	field(f, "cpu_seconds", "%.9f", replay->cpu_seconds);
}

static void setting_fields(struct fields *f, const struct options *opts,
			   const struct outcome *out)
{
	field_text(f, "index", index_choices[opts->index].name);
	field_text(f, "scheme", scheme_choices[opts->scheme].name);
	index_fields(f, opts);
	field_number(f, "threads", opts->threads);
	field(f, "pinned", "%s", opts->pin ? "true" : "false");
	if (out->replay)
		replay_fields(f, opts, out->replay);
	else
		workload_fields(f, opts);
}

/* The size of the tree and what the scheme counted. */
static void tree_fields(struct fields *f, const struct index_ops *ops, const struct outcome *out)
{
	const struct tree_shape *shape = &out->shape;

	if (ops->tree->shape) {
		field_grouped(f, "tree", "height", shape->height);
		field_grouped(f, "tree", "leaves", shape->leaves);
		field_grouped(f, "tree", "inner", shape->inner);
		field_grouped(f, "tree", "entries", shape->entries);
		field(f, "tree.bytes_per_entry", "%.2f", bytes_per_entry(shape));
	}
	if (ops->counts) {
#define COUNT(id, help) field_grouped(f, "transactions", #id, out->counts.id);
#include "../index/counts.def"
	}
}

static void result_fields(struct fields *f, const struct outcome *out)
{
	field_number(f, "ops", out->ops);
	for (unsigned int op = 0; op < NR_OPS; op++) {
		field_grouped(f, plural[op], "done", out->done[op]);
		field_grouped(f, plural[op], "hits", out->hits[op]);
	}
	if (out->merge.rows) {
		field_grouped(f, "merge", "rows", out->merge.rows);
		field_grouped(f, "merge", "values", out->merge.values);
		field_grouped(f, "merge", "bits_per_row", out->merge.bits);
	}
	for (unsigned int i = 0; out->latency && i < NR_PERCENTILES; i++)
		field_grouped(f, "latency_ns", percentiles[i].name,
			      histogram_at(out->latency, percentiles[i].per_mille));
	if (out->footprint && out->footprint->traversals) {
		field_grouped(f, "footprint_lines", "traversals", out->footprint->traversals);
		field(f, "footprint_lines.average", "%.2f",
		      (double)out->footprint->total / (double)out->footprint->traversals);
		field_grouped(f, "footprint_lines", "worst", out->footprint->worst);
	}
	field(f, "seconds", "%.9f", out->seconds);
	field(f, "throughput_ops_s", "%.0f", (double)out->ops / out->seconds);
	field_text(f, "check", out->check);
}

/* The options of the index in one line, if it has any. */
static void print_index_options(const struct options *opts)
{
	const struct option_row *rows = index_options(opts->index);
	const char *separator = "  ";

	for (unsigned int i = 0; rows[i].name; i++) {
		uint64_t value = opts->of_index[i];

		if (rows[i].type == OPTION_CHOICE)
			printf("%s%s %s", separator, rows[i].choices[value].name, rows[i].name);
		else if (rows[i].type == OPTION_UINT)
			printf("%s%s %" PRIu64, separator, rows[i].name, value);
		else if (value)
			printf("%s%s", separator, rows[i].words);
		else
			continue;
		separator = ", ";
	}
	if (rows->name)
		putchar('\n');
}

static void print_replay(const struct options *opts, const struct replay_result *replay)
{
	printf("%s under %s, %" PRIu64 " threads%s, %u operation files, dealt by %s\n",
	       index_choices[opts->index].name, scheme_choices[opts->scheme].name, opts->threads,
	       opts->pin ? " pinned" : "", replay->files, deal_choices[opts->deal].name);
	print_index_options(opts);
	printf("  %-10s %12" PRIu64 "  operations of file 0, in %.6f s\n", "loading",
	       replay->load_ops, replay->load_seconds);
}

/*
 * The heading of the trees of HPCA 2014, which do not know their shape, has the paper's
 * number of keys, because results depend on it.
 */
static void print_heading(const struct options *opts, const struct index_ops *ops)
{
	printf("%s under %s, %" PRIu64 " threads%s, %" PRIu64 " keys loaded, %s keys, seed %" PRIu64
	       "\n", index_choices[opts->index].name, scheme_choices[opts->scheme].name,
	       opts->threads, opts->pin ? " pinned" : "", opts->preload,
	       keys_choices[opts->keys].name, opts->seed);
	print_index_options(opts);
	if (!ops->tree->shape && opts->preload < PRELOAD_PAPER)
		printf("  %" PRIu64 " keys are fewer than the %d million of HPCA 2014; "
		       "--preload=%d is as there\n", opts->preload, PRELOAD_PAPER / 1000000, PRELOAD_PAPER);
}

static void print_tree(const struct index_ops *ops, const struct outcome *out)
{
	const struct tree_shape *shape = &out->shape;

	if (ops->tree->shape)
		printf("  %-10s %12u levels, %" PRIu64 " leaves, %" PRIu64
		       " inner nodes, %.2f bytes an entry\n", "tree", shape->height, shape->leaves,
		       shape->inner, bytes_per_entry(shape));
	if (ops->counts) {
#define COUNT(id, help)                                                                      \
	if (out->counts.id)                                                                        \
		printf("  %-10s %12" PRIu64 "  %s\n", #id, out->counts.id, help);
#include "../index/counts.def"
	}
}

static void print_text(const struct options *opts, const struct index_ops *ops,
		       const struct outcome *out)
{
	static const char *const hit[NR_OPS] = {
		[OP_search] = "found",
		[OP_insert] = "new",
		[OP_remove] = "present",
		[OP_scan] = "not empty",
	};

	if (out->replay)
		print_replay(opts, out->replay);
	else
		print_heading(opts, ops);
	for (unsigned int op = 0; op < NR_OPS; op++) {
		if (out->done[op])
			printf("  %-10s %12" PRIu64 "  %" PRIu64 " %s\n", plural[op],
			       out->done[op], out->hits[op], hit[op]);
	}
	if (out->merge.rows)
		printf("  %-10s %12" PRIu64 "  merged: %" PRIu64 " values, %u bits a row\n", "rows",
		       out->merge.rows, out->merge.values, out->merge.bits);
	for (unsigned int i = 0; out->latency && i < NR_PERCENTILES; i++)
		printf("  %-10s %12" PRIu64 " ns\n", percentiles[i].name,
		       histogram_at(out->latency, percentiles[i].per_mille));
	if (out->footprint && out->footprint->traversals)
		printf("  %-10s %12.2f cache lines a search, %u at worst; counting makes it slow\n",
		       "footprint",
		       (double)out->footprint->total / (double)out->footprint->traversals,
		       out->footprint->worst);
	print_tree(ops, out);
	printf("  %-10s %12.6f s\n  %-10s %12.0f operations/s\n  %-10s %12s\n", "time",
	       out->seconds, "throughput", (double)out->ops / out->seconds, "check", out->check);
}

/**
 * output_print() - print the results of a run
 * @opts: the command line, which selects text, JSON or CSV
 * @ops: the operations of the index
 * @out: the results
 */
void output_print(const struct options *opts, const struct index_ops *ops,
		  const struct outcome *out)
{
	struct fields fields = { .nr = 0 };

	setting_fields(&fields, opts, out);
	tree_fields(&fields, ops, out);
	result_fields(&fields, out);
	if (!fields_print(&fields, opts->json, opts->csv))
		print_text(opts, ops, out);
}

/**
 * shortage() - what an operation of an index ran out of
 * @err: what it returned: -ENOMEM, or -ENOSPC if the table of a tree has no more IDs
 */
const char *shortage(int err)
{
	return err == -ENOSPC ? "IDs of nodes" : "memory";
}
