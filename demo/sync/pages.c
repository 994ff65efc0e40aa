// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages.c - the buffer-managed B-tree of demo/pages as an index of 8-byte keys and values.
 *
 * Only this file knows both. Keys are stored with the most significant byte first, so the tree
 * has them in the order of the numbers. With few frames the pages are in a temporary file, whose
 * name is removed as soon as it is open.
 */
#include "pages.h"

#include "../index/index.h"
#include "../pages/xmerge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct choice latches[] = {
#define PAGE_LATCH(id, readers, help) { #id, help },
#include "../pages/latches.def"
	{ NULL, NULL },
};

const struct option_row pages_options[NR_PAGES_OPTIONS + 1] = {
#define OPT_UINT(id, name, min, max, def, help)                                                    \
	{ name, OPTION_UINT, help, NULL, min, max, def, NULL },
#define OPT_CHOICE(id, name, choices, def, help)                                                   \
	{ name, OPTION_CHOICE, help, choices, 0, 0, def, NULL },
#include "pages.def"
};

/* Pages that the inserts of a thread may need at once: one a level, and a new root. */
#define PAGES_A_THREAD 8

/*
 * Bytes of an entry of 8 + 8 bytes with its slot, 26, in leaves that are at least 40 % full:
 * inserts leave half, deletes 40 % before they merge.
 */
#define BYTES_AN_ENTRY 65

/**
 * struct pages - a tree with its pool
 * @head: the index
 * @pool: the pages
 * @tree: the tree
 * @spare: free frames that an insert needs, with all pages in memory
 * @merging: calls of XMerge that have not ended
 * @quiet: XMerge does not run
 */
struct pages {
	struct index head;
	struct page_pool pool;
	struct page_tree tree;
	uint32_t spare;
	unsigned int merging;
	bool quiet;
};

/* struct pages_thread - a thread's share */
struct pages_thread {
	struct page_tree_thread tree;
};

struct key {
	uint64_t bytes;
};

static struct bytes key_bytes(struct key *k, uint64_t key)
{
	k->bytes = __builtin_bswap64(key);
	return (struct bytes){ k, sizeof(*k) };
}

static uint64_t key_number(struct bytes key)
{
	struct key k;

	memcpy(&k, key.data, sizeof(k));
	return __builtin_bswap64(k.bytes);
}

static uint64_t value_number(struct bytes value)
{
	uint64_t n;

	memcpy(&n, value.data, sizeof(n));
	return n;
}

static uint64_t option(const struct index_config *config, enum pages_option id)
{
	return config->options ? config->options[id] : pages_options[id].def;
}

static uint32_t frames(const struct index_config *config)
{
	uint64_t given = option(config, PAGES_OPTION_frames);
	uint64_t all = config->entries * BYTES_AN_ENTRY / PAGE_ROOM +
		       config->threads * (uint64_t)PAGES_A_THREAD + 2 * POOL_MIN;

	if (given)
		return given < POOL_MIN ? POOL_MIN : (uint32_t)given;
	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

static double bytes(const struct index_config *config)
{
	return (double)pool_bytes(frames(config), config->entries * BYTES_AN_ENTRY / PAGE_ROOM);
}

/* A read or write of the temporary file failed: the index is of no use any more. */
static void need(int err)
{
	if (!err)
		return;
	fprintf(stderr, "pages: the temporary file: %s\n", strerror(-err));
	exit(EXIT_FAILURE);
}

static void hook(void *ctx, struct frame *frame, uint32_t id)
{
	struct pages *pages = ctx;

	/* Both sequentially consistent: either this sees @quiet, or check_quiet() sees this. */
	__atomic_fetch_add(&pages->merging, 1, __ATOMIC_SEQ_CST);
	/* The pool runs before the tree is there. */
	if (!__atomic_load_n(&pages->quiet, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&pages->head.tree, __ATOMIC_ACQUIRE))
		xmerge(&pages->tree, frame, id);
	__atomic_fetch_sub(&pages->merging, 1, __ATOMIC_RELEASE);
}

/* Open the pool, with a file whose name is gone when it is open. Returns 0 or -errno. */
static int open_pool(struct pages *pages, struct pool_config *config)
{
	const char *tmp = getenv("TMPDIR");
	char folder[256], path[300], why[256];
	int err;

	if (config->store.io == IO_none)
		return pool_open(&pages->pool, config, why, sizeof(why));
	snprintf(folder, sizeof(folder), "%s/pages.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return -errno;
	snprintf(path, sizeof(path), "%s/file", folder);
	config->store.path = path;
	err = pool_open(&pages->pool, config, why, sizeof(why));
	pages->pool.config.store.path = pages->pool.store.config.path = NULL;
	unlink(path);
	rmdir(folder);
	return err;
}

extern const struct index_ops pages_olc_ops;

static struct index *create(const struct index_config *config)
{
	struct pages *pages = aligned_alloc(CACHE_LINE, sizeof(*pages));
	unsigned int k = (unsigned int)option(config, PAGES_OPTION_k);
	struct page_tree_options options = {
		.split = true, .sample = 2,
		.period = (unsigned int)option(config, PAGES_OPTION_period),
		.pct = (unsigned int)option(config, PAGES_OPTION_pct),
		.xmerge = k >= XMERGE_MIN, .k = k,
	};
	struct pool_config pool = {
		.store.io = option(config, PAGES_OPTION_frames) ? IO_buffered : IO_none,
		.store.create = true,
		.frames = frames(config), .free_pct = 10, .cool_pct = 20, .providers = 1,
		.hook = options.xmerge ? hook : NULL, .ctx = pages,
	};

	if (options.sample > options.period)
		options.sample = options.period;
	if (!pages)
		return NULL;
	memset(pages, 0, sizeof(*pages));
	pages->head.ops = &pages_olc_ops;
	latch_kind = (enum latch_kind)option(config, PAGES_OPTION_latch);
	if (open_pool(pages, &pool))
		goto free_pages;
	if (page_tree_create(&pages->tree, &pages->pool, "index", &options))
		goto close_pool;
	pages->spare = pool.store.io == IO_none ? config->threads * PAGES_A_THREAD : 0;
	__atomic_store_n(&pages->head.tree, pages, __ATOMIC_RELEASE);
	return &pages->head;
close_pool:
	pool_abandon(&pages->pool);
free_pages:
	free(pages);
	return NULL;
}

static void destroy(struct index *index)
{
	struct pages *pages = container_of(index, struct pages, head);

	pool_abandon(&pages->pool);
	free(pages);
}

static void *attach(void *tree, unsigned int core, uint64_t inserts)
{
	struct pages_thread *thread = malloc(sizeof(*thread));

	if (thread)
		page_tree_thread_init(&thread->tree, 1, core);
	return thread;
}

static void detach(void *thread)
{
	free(thread);
}

/* Free frames are counted without the pool's lock, so there are some to spare for each thread. */
static int reserve(struct index *index, struct index_thread *thread)
{
	struct pages *pages = container_of(index, struct pages, head);

	if (!pages->spare || __atomic_load_n(&pages->pool.nr_free, __ATOMIC_RELAXED) >= pages->spare)
		return 0;
	return -ENOMEM;
}

static bool search(struct index *index, struct index_thread *thread, uint64_t key, uint64_t *value)
{
	struct pages *pages = container_of(index, struct pages, head);
	unsigned int len;
	struct key k;
	int err = page_tree_lookup(&pages->tree, key_bytes(&k, key), value, sizeof(*value), &len);

	need(err == -ENOENT ? 0 : err);
	return !err;
}

static bool insert(struct index *index, struct index_thread *thread, uint64_t key, uint64_t value)
{
	struct pages *pages = container_of(index, struct pages, head);
	struct pages_thread *own = (struct pages_thread *)thread;
	struct key k;
	int err = page_tree_insert(&pages->tree, &own->tree, key_bytes(&k, key),
				   (struct bytes){ &value, sizeof(value) });

	need(err == -EEXIST ? 0 : err);
	return !err;
}

static bool take(struct index *index, struct index_thread *thread, uint64_t key, uint64_t *value)
{
	struct pages *pages = container_of(index, struct pages, head);
	struct pages_thread *own = (struct pages_thread *)thread;
	struct key k;
	int err = page_tree_remove(&pages->tree, &own->tree, key_bytes(&k, key), value,
				   sizeof(*value), NULL);

	need(err == -ENOENT ? 0 : err);
	return !err;
}

/* struct scan - a scan of up to @limit entries */
struct scan {
	struct scan_result *res;
	unsigned long limit;
};

static bool visit(void *ctx, struct bytes key, struct bytes value)
{
	struct scan *scan = ctx;
	struct scan_result *res = scan->res;

	res->last = key_number(key);
	if (!res->nr++)
		res->first = res->last;
	res->sum += value_number(value);
	return res->nr < scan->limit;
}

static void scan(struct index *index, struct index_thread *thread, uint64_t from,
		 unsigned long limit, struct scan_result *res)
{
	struct pages *pages = container_of(index, struct pages, head);
	struct scan s = { res, limit };
	struct key k;

	*res = (struct scan_result){ 0 };
	if (limit)
		need(page_tree_scan(&pages->tree, key_bytes(&k, from), visit, &s));
}

/* page_tree_check() while XMerge, which the pool calls at any time, changes nothing. */
static int check_quiet(struct pages *pages, struct page_tree_report *report, char *why, size_t len)
{
	int err;

	__atomic_store_n(&pages->quiet, true, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&pages->merging, __ATOMIC_SEQ_CST))
		sched_yield();
	err = page_tree_check(&pages->tree, report, why, len);
	__atomic_store_n(&pages->quiet, false, __ATOMIC_SEQ_CST);
	return err;
}

static bool check(const void *tree, char *why, size_t len)
{
	struct pages *pages = (struct pages *)(uintptr_t)tree;
	struct page_tree_report report;

	return !check_quiet(pages, &report, why, len);
}

/* struct walk - a walk over all entries, and the last result */
struct walk {
	visit_fn visit;
	void *ctx;
	int ret;
};

static bool walk_entry(void *ctx, struct bytes key, struct bytes value)
{
	struct walk *walk = ctx;

	walk->ret = walk->visit(walk->ctx, key_number(key), value_number(value));
	return !walk->ret;
}

static int walk(const void *tree, visit_fn visit, void *ctx)
{
	struct pages *pages = (struct pages *)(uintptr_t)tree;
	struct walk w = { visit, ctx, 0 };
	struct key k;

	need(page_tree_scan(&pages->tree, key_bytes(&k, 0), walk_entry, &w));
	return w.ret;
}

static void shape(const void *tree, struct tree_shape *shape)
{
	struct pages *pages = (struct pages *)(uintptr_t)tree;
	struct page_tree_report report;
	char why[256];

	need(check_quiet(pages, &report, why, sizeof(why)));
	*shape = (struct tree_shape){
		.entries = report.entries,
		.height = report.levels,
		.leaves = report.leaves,
		.inner = report.inner,
		.bytes = (report.leaves + report.inner) * PAGE_BYTES,
	};
}

static const struct tree_ops pages_tree = {
	.bytes = bytes,
	.attach = attach,
	.detach = detach,
	.check = check,
	.walk = walk,
	.options = pages_options,
	.shape = shape,
};

const struct index_ops pages_olc_ops = {
	.tree = &pages_tree,
	.create = create,
	.destroy = destroy,
	.reserve = reserve,
	.load = insert,
	.search = search,
	.insert = insert,
	.remove = take,
	.scan = scan,
};
