/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of page_bench.
 */
#ifndef DEMO_PAGES_OPTIONS_H
#define DEMO_PAGES_OPTIONS_H

#include "../tree.h"

#include "../../base/option.h"

enum workload_id {
#define WORKLOAD(id, name, help) WORKLOAD_##id,
#include "workloads.def"
	NR_WORKLOADS
};

enum data_id {
#define DATA(id, name, help) DATA_##id,
#include "options.def"
	NR_DATA
};

enum order_id {
#define ORDER(id, name, help) ORDER_##id,
#include "options.def"
	NR_ORDERS
};

enum news_id {
#define NEWS(id, name, help) NEWS_##id,
#include "options.def"
	NR_NEWS
};

enum xmerge_id {
#define XMERGE(id, name, help) XMERGE_##id,
#include "options.def"
	NR_XMERGES
};

extern const struct choice workload_choices[NR_WORKLOADS + 1];
extern const struct choice data_choices[NR_DATA + 1];
extern const struct choice order_choices[NR_ORDERS + 1];
extern const struct choice news_choices[NR_NEWS + 1];
extern const struct choice xmerge_choices[NR_XMERGES + 1];
extern const struct choice io_choices[NR_IO_MODES + 1];
extern const struct choice latch_choices[NR_LATCH_KINDS + 1];

/* Further values: whether an option was on the command line. */
#define OPTIONS_MORE bool given[NR_OPTIONS];
#define OPTIONS_DEF "../pages/bench/options.def"
#include "../../base/options.h"

int options_parse(struct options *opts, int argc, char **argv);
uint64_t options_duration(const struct options *opts);
int options_check(const struct options *opts);
struct page_tree_options options_tree(const struct options *opts);

#endif
