// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_bench.c - runs threads on B-trees in a buffer pool, and verifies trees and content.
 *
 * It is an ordinary pthread program: the library may be preloaded into it, but no part of the
 * library is linked.
 */
#include "run.h"

#include "../../base/fields.h"
#include "../../base/region.h"
#include "../../base/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct workload *const workloads[NR_WORKLOADS] = {
#define WORKLOAD(id, name, help) &work_##id,
#include "workloads.def"
};

/* Set by the handler of SIGINT and SIGTERM. */
static volatile sig_atomic_t signalled;

static void interrupt(int sig)
{
	signalled = 1;
}

static bool interrupted(void)
{
	return signalled;
}

static const char *subject(const struct work *w)
{
	return w->opts->file ? w->opts->file : "memory";
}

static int complain(const struct work *w, int err)
{
	fprintf(stderr, "page_bench: %s: %s\n", subject(w), store_strerror(err));
	return EXIT_FAILURE;
}

/* A pool_hook: XMerge in the tree that has a page. */
static void hook(void *ctx, struct frame *frame, uint32_t id)
{
	struct work *w = ctx;

	/* Both sequentially consistent: either this sees @quiet, or quiet() sees this. */
	__atomic_fetch_add(&w->merging, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&w->quiet, __ATOMIC_SEQ_CST))
		work_xmerge(w, frame, id);
	__atomic_fetch_sub(&w->merging, 1, __ATOMIC_RELEASE);
}

/* Nobody changes a tree any more: the threads have ended, and XMerge ends now. */
static void quiet(struct work *w)
{
	__atomic_store_n(&w->quiet, true, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&w->merging, __ATOMIC_SEQ_CST))
		sched_yield();
}

/* Numbers that the file keeps. */
static void save(struct work *w)
{
	const uint64_t notes[] = {
		[NOTE_family] = w->workload->family, [NOTE_loaded] = w->loaded,
		[NOTE_data] = w->data,		     [NOTE_order] = w->order,
		[NOTE_value] = w->value,	     [NOTE_seed] = w->seed,
		[NOTE_next] = w->next,		     [NOTE_holes] = w->holes,
		[NOTE_updates] = w->updates,	     [NOTE_newest] = w->newest,
		[NOTE_window] = w->opts->window,     [NOTE_warehouses] = w->opts->warehouses,
		[NOTE_scale] = w->opts->scale,
	};

	for (unsigned int i = 0; i < sizeof(notes) / sizeof(*notes) && !w->opts->read_only; i++)
		if (*pool_note(&w->pool, i) != notes[i])
			*pool_note(&w->pool, i) = notes[i];
}

static int refuse(const struct work *w, const char *why)
{
	fprintf(stderr, "page_bench: %s: %s\n", subject(w), why);
	return EXIT_USAGE;
}

/* Use what a file has. Returns 0 or an exit status after one line on stderr. */
static int open_trees(struct work *w)
{
	int err;

	if (*pool_note(&w->pool, NOTE_family) != w->workload->family)
		return refuse(w, "was made by another workload");
	w->data = (enum data_id)*pool_note(&w->pool, NOTE_data);
	w->order = (enum order_id)*pool_note(&w->pool, NOTE_order);
	w->value = (unsigned int)*pool_note(&w->pool, NOTE_value);
	w->seed = *pool_note(&w->pool, NOTE_seed);
	if (w->data >= NR_DATA || w->order >= NR_ORDERS || w->value > ENTRY_VALUE || w->value < 8)
		return refuse(w, "says of its entries what this program does not know");
	if (w->opts->workload == WORKLOAD_updates && w->value < 16)
		return refuse(w, "has values below 16 bytes, which --workload=updates needs");
	if (w->workload->family == FAMILY_tpcc &&
	    (*pool_note(&w->pool, NOTE_warehouses) != w->opts->warehouses ||
	     *pool_note(&w->pool, NOTE_scale) != w->opts->scale))
		return refuse(w, "was made with another --warehouses or --scale");
	err = w->workload->open(w);
	if (err == -ENOENT)
		return refuse(w, "has no entries, or its load was interrupted");
	w->loaded = w->next;
	return err ? complain(w, err) : 0;
}

/* Make and fill the trees. Returns 0 or an exit status. */
static int load(struct work *w)
{
	int err = w->workload->load(w);

	w->loaded = w->next;
	if (err && err != -EINTR)
		return complain(w, err);
	return err ? EXIT_INTERRUPTED : 0;
}

/* Check each tree, and add up their shapes. */
static bool check_trees(struct work *w, struct outcome *out)
{
	struct page_tree_report *sum = &out->shape;

	for (unsigned int i = 0; i < w->nr_trees; i++) {
		struct page_tree_report r;

		if (page_tree_check(&w->trees[i], &r, out->check, sizeof(out->check)))
			return false;
		sum->leaves += r.leaves;
		sum->inner += r.inner;
		sum->entries += r.entries;
		sum->entry_bytes += r.entry_bytes;
		sum->used += r.used;
		sum->levels = r.levels > sum->levels ? r.levels : sum->levels;
	}
	out->verified = true;
	return true;
}

/* Verify trees and content. Returns true if all is well, else @out->check says what is not. */
static bool verify(struct work *w, struct outcome *out)
{
	uint64_t pages;

	if (w->opts->verify == SWITCH_on && !check_trees(w, out))
		return false;
	pages = out->shape.leaves + out->shape.inner + STORE_FIRST;
	if (out->verified && pages != out->pages) {
		snprintf(out->check, sizeof(out->check), "%" PRIu64 " pages in use of which %" PRIu64
			 " are in trees", out->pages, pages);
		return false;
	}
	if (out->verified && w->workload->verify(w, out->check, sizeof(out->check)))
		return false;
	if (out->wrong) {
		snprintf(out->check, sizeof(out->check), "%" PRIu64 " look-ups with a wrong result",
			 out->wrong);
		return false;
	}
	if (out->err) {
		snprintf(out->check, sizeof(out->check), "%s%s", store_strerror(out->err),
			 out->verified ? ", the trees are whole" : "");
		return false;
	}
	strcpy(out->check, out->verified ? "ok" : "off");
	return true;
}

/* Run the threads and print what they did. Returns the exit status. */
static int measure(struct work *w)
{
	struct outcome out = { .seconds = 0 };
	int err = run(w, &out);
	bool ok;

	if (err)
		return complain(w, err);
	out.interrupted = signalled;
	quiet(w);
	out.pages = pool_pages(&w->pool);
	ok = verify(w, &out);
	if (!ok)
		fprintf(stderr, "page_bench: %s: %s\n", subject(w), out.check);
	output_print(w, &out);
	free(out.latency);
	return !ok ? EXIT_FAILURE : signalled ? EXIT_INTERRUPTED : EXIT_SUCCESS;
}

static int open_pool(struct work *w)
{
	const struct options *opts = w->opts;
	struct pool_config config = {
		.store = { .path = opts->file, .io = (enum io_mode)opts->io,
			   .create = !opts->open, .read_only = opts->read_only },
		.frames = (uint32_t)((opts->pool_mib << 20) / PAGE_BYTES),
		.free_pct = (unsigned int)opts->free_pct,
		.cool_pct = (unsigned int)opts->cool_pct,
		.providers = (unsigned int)opts->providers,
		.hook = opts->xmerge == XMERGE_on && !opts->read_only ? hook : NULL,
		.ctx = w,
	};
	uint64_t pages = opts->open ? 0 : work_pages(opts);
	char why[256] = "";

	if (config.frames < POOL_MIN)
		config.frames = POOL_MIN;
	if (pool_room(config.frames, pages, why, sizeof(why)) ||
	    (opts->file && io_room(opts->file, pages * PAGE_BYTES, why, sizeof(why))) ||
	    (!opts->file && pages > config.frames &&
	     snprintf(why, sizeof(why), "needs up to --pool-mib=%" PRIu64,
		      pages * PAGE_BYTES / 1048576 + 1)) ||
	    pool_open(&w->pool, &config, why, sizeof(why)))
		return refuse(w, why);
	return 0;
}

static int bench(const struct options *opts)
{
	struct work *w = aligned_alloc(CACHE_LINE, sizeof(*w));
	int ret, err;

	topology_warn("page_bench", opts->threads);
	if (!w) {
		fprintf(stderr, "page_bench: %s\n", strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	memset(w, 0, sizeof(*w));
	w->opts = opts;
	w->workload = workloads[opts->workload];
	w->data = (enum data_id)opts->data;
	w->order = (enum order_id)opts->order;
	w->value = (unsigned int)opts->value_bytes;
	w->seed = opts->seed;
	w->interrupted = interrupted;
	/* A simulated machine measures nothing before the threads start. */
	region_request(REGION_END);
	ret = open_pool(w);
	if (ret)
		goto free_work;
	ret = opts->open ? open_trees(w) : load(w);
	if (!ret)
		ret = measure(w);
	quiet(w);
	save(w);
	err = pool_close(&w->pool);
	if (err)
		ret = complain(w, err);
	if (w->workload->done)
		w->workload->done(w);
free_work:
	free(w->shifts.sample);
	free(w);
	return ret;
}

/* Examine a file. Returns the exit status. */
static int check_file(const struct options *opts)
{
	struct store_report r;
	char why[256] = "";

	if (store_check(opts->file, stdout, &r, why, sizeof(why))) {
		fprintf(stderr, "page_bench: %s: %s\n", opts->file, why);
		return EXIT_USAGE;
	}
	printf("%" PRIu64 " pages, %" PRIu64 " nodes, %" PRIu64 " free, %" PRIu64 " torn, %" PRIu64
	       " misplaced, %" PRIu64 " damaged, %" PRIu64 " unreachable, %s\n", r.pages, r.nodes,
	       r.free, r.torn, r.misplaced, r.damaged, r.unreachable,
	       r.clean ? "clean" : "not clean");
	return store_sound(&r) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct options opts;
	int ret;

	if (options_parse(&opts, argc, argv))
		return EXIT_USAGE;
	if (OPTIONS_TOLD(&opts))
		return EXIT_SUCCESS;
	if (options_check(&opts))
		return EXIT_USAGE;
	latch_kind = (enum latch_kind)opts.latch;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = opts.check ? check_file(&opts) : bench(&opts);
	return output_end("page_bench", ret);
}
