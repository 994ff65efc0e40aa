// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_threads.c - threads on one tree in pages at the same time, with every kind of latch,
 * in memory and with a pool of 16 frames, with Contention Splits and XMerge as often as possible.
 *
 * Each key belongs to one thread, which alone changes it and knows what it has. All threads look up
 * and scan all keys: a value must be one that its key may have, and a scan ascends.
 *
 * THREADS_SEED sets the seed, THREADS_STEPS the operations of a thread. With THREADS_SECONDS it goes
 * on for so long, with further seeds, so that XMerge and Contention Split undo each other for minutes.
 */
#include <errno.h>
#include <time.h>

#include "unit.h"
#include "page-model.h"

#include "../../demo/pages/xmerge.h"

#ifdef DEMO_TSAN
/*
 * A frame has pages of all levels in turn, so its latch is acquired after any other one. Pages are
 * latched from the root down, which ThreadSanitizer does not see.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "detect_deadlocks=0";
}
#endif

#define NR_THREADS 4
#define STEPS 20000
#define KEYS 16000
#define VERSIONS 64

struct shared {
	struct page_pool pool;
	struct page_tree tree;
	struct model model;
	uint64_t seed, steps;
	pthread_barrier_t start;
	bool running;
};

/* struct actor - a thread; @fault: the first thing that must not be */
struct actor {
	struct shared *s;
	unsigned int nr;
	pthread_t thread;
	struct rng rng;
	struct page_tree_thread tree;
	const char *fault;
};

static uint64_t number(const char *name, uint64_t or)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : or;
}

static void expect(struct actor *a, bool good, const char *fault)
{
	if (!good && !a->fault)
		a->fault = fault;
}

/* Whether a value is one of the versions of a key; its first byte says of which. */
static bool belongs(const struct shared *s, unsigned int i, struct bytes value)
{
	unsigned char expected[MODEL_VALUE];
	const unsigned char *bytes = value.data;
	struct bytes want;

	if (!value.len || !bytes[0] || bytes[0] > VERSIONS)
		return false;
	want = model_value(expected, i, bytes[0]);
	if (want.len)
		expected[0] = bytes[0];
	return value.len == (want.len ? want.len : 1) &&
	       (!want.len || !bytes_compare(want, value));
}

/* The value of a version, which begins with the version. */
static struct bytes value_of(unsigned char *value, unsigned int i, uint32_t version)
{
	struct bytes v = model_value(value, i, version);

	value[0] = (unsigned char)version;
	v.len = v.len ? v.len : 1;
	return v;
}

static void put(struct actor *a, unsigned int i)
{
	struct shared *s = a->s;
	unsigned char value[MODEL_VALUE];
	uint32_t version = 1 + (uint32_t)rng_below(&a->rng, VERSIONS);
	struct bytes key = model_bytes(&s->model, i), v = value_of(value, i, version);
	bool any = rng_below(&a->rng, 2);
	int err = any ? page_tree_upsert(&s->tree, &a->tree, key, v) :
			page_tree_insert(&s->tree, &a->tree, key, v);

	expect(a, err == (!any && s->model.version[i] ? -EEXIST : 0), "an insert");
	if (!err)
		s->model.version[i] = version;
}

static void take(struct actor *a, unsigned int i)
{
	struct shared *s = a->s;
	unsigned char value[MODEL_VALUE], expected[MODEL_VALUE];
	unsigned int len = 0;
	int err = page_tree_remove(&s->tree, &a->tree, model_bytes(&s->model, i), value,
				   sizeof(value), &len);

	expect(a, err == (s->model.version[i] ? 0 : -ENOENT), "a delete");
	if (!err)
		expect(a, !bytes_compare(value_of(expected, i, s->model.version[i]),
					 (struct bytes){ value, len }), "a deleted value");
	s->model.version[i] = 0;
}

static void look(struct actor *a, unsigned int i)
{
	struct shared *s = a->s;
	unsigned char value[MODEL_VALUE], expected[MODEL_VALUE];
	unsigned int len = 0;
	int err = page_tree_lookup(&s->tree, model_bytes(&s->model, i), value, sizeof(value), &len);
	bool mine = i % NR_THREADS == a->nr;

	expect(a, !err || err == -ENOENT, "a look-up fails");
	if (mine)
		expect(a, err == (s->model.version[i] ? 0 : -ENOENT), "an own key");
	if (!err && mine)
		expect(a, !bytes_compare(value_of(expected, i, s->model.version[i]),
					 (struct bytes){ value, len }), "an own value");
	else if (!err)
		expect(a, belongs(s, i, (struct bytes){ value, len }), "a value of another");
}

/* struct scan - a scan: the key that the next one must not be below, and how many are left */
struct scan {
	struct actor *a;
	unsigned int next, left;
};

static bool visit(void *ctx, struct bytes key, struct bytes value)
{
	struct scan *scan = ctx;
	const struct model *m = &scan->a->s->model;

	while (scan->next < m->nr && bytes_compare(model_bytes(m, scan->next), key) < 0) {
		expect(scan->a, scan->next % NR_THREADS != scan->a->nr || !m->version[scan->next],
		       "a scan leaves an own key out");
		scan->next++;
	}
	if (scan->next == m->nr || bytes_compare(model_bytes(m, scan->next), key)) {
		expect(scan->a, false, "a scan finds a key that there is not, or not in order");
		return false;
	}
	expect(scan->a, belongs(scan->a->s, scan->next, value), "a scanned value");
	scan->next++;
	return --scan->left;
}

static void scan_from(struct actor *a, unsigned int i)
{
	struct scan scan = { a, i, 1 + (unsigned int)rng_below(&a->rng, 200) };

	expect(a, !page_tree_scan(&a->s->tree, model_bytes(&a->s->model, i), visit, &scan),
	       "a scan fails");
}

static void flip_twice(void *ctx, void *value, unsigned int len)
{
	unsigned char *bytes = value;

	for (unsigned int i = 1; i < 2 * len; i++)
		bytes[i % len] = (unsigned char)~bytes[i % len];
	if (len)
		bytes[0] = (unsigned char)~bytes[0];
}

/* The value is as before, and meanwhile it is torn for readers without a latch. */
static void change(struct actor *a, unsigned int i)
{
	struct shared *s = a->s;

	expect(a, page_tree_update(&s->tree, &a->tree, model_bytes(&s->model, i), flip_twice,
				   NULL) == (s->model.version[i] ? 0 : -ENOENT), "an update");
}

static void *act(void *arg)
{
	struct actor *a = arg;
	struct shared *s = a->s;

	pthread_barrier_wait(&s->start);
	for (uint64_t n = 0; n < s->steps && !a->fault; n++) {
		unsigned int any = (unsigned int)rng_below(&a->rng, s->model.nr), own;
		unsigned int draw = (unsigned int)rng_below(&a->rng, 32);
		/* Phases in which the tree grows and shrinks. */
		unsigned int removes = n * 6 / s->steps % 2 ? 10 : 3;

		own = any / NR_THREADS * NR_THREADS + a->nr;
		own = own < s->model.nr ? own : a->nr;
		if (draw < removes)
			take(a, own);
		else if (draw < 13)
			put(a, own);
		else if (draw < 18)
			change(a, own);
		else if (draw < 30)
			look(a, any);
		else
			scan_from(a, any);
	}
	return NULL;
}

static void hook(void *ctx, struct frame *frame, uint32_t id)
{
	struct shared *s = ctx;

	if (__atomic_load_n(&s->running, __ATOMIC_ACQUIRE))
		xmerge(&s->tree, frame, id);
}

/* Without eviction nobody calls XMerge: a thread does. */
static void *merge(void *arg)
{
	struct shared *s = arg;
	struct rng rng;

	rng_seed(&rng, s->seed, 99);
	while (__atomic_load_n(&s->running, __ATOMIC_ACQUIRE)) {
		struct frame *frame = &s->pool.frames[rng_below(&rng, s->pool.nr)];
		uint32_t id = frame_id(frame);

		if (id)
			xmerge(&s->tree, frame, id);
		else
			sched_yield();
	}
	return NULL;
}

static void check_end(struct shared *s, struct actor *actors)
{
	struct page_tree_report report;
	char why[256];
	uint64_t present = 0;

	for (unsigned int i = 0; i < NR_THREADS; i++)
		if (actors[i].fault)
			fail_msg("THREADS_SEED=%llu, latch %d: %s", (unsigned long long)s->seed,
				 latch_kind, actors[i].fault);
	if (page_tree_check(&s->tree, &report, why, sizeof(why)))
		fail_msg("THREADS_SEED=%llu, latch %d: %s", (unsigned long long)s->seed, latch_kind,
			 why);
	for (unsigned int i = 0; i < s->model.nr; i++) {
		actors[0].nr = i % NR_THREADS;
		look(&actors[0], i);
		present += !!s->model.version[i];
	}
	if (actors[0].fault || report.entries != present ||
	    report.leaves + report.inner + STORE_FIRST != pool_pages(&s->pool))
		fail_msg("THREADS_SEED=%llu, latch %d: entries %llu of %llu, pages, or %s",
			 (unsigned long long)s->seed, latch_kind,
			 (unsigned long long)report.entries, (unsigned long long)present,
			 actors[0].fault ? actors[0].fault : "none");
}

static void run(const char *path, uint32_t frames, enum latch_kind kind, bool bstar, uint64_t round)
{
	struct page_tree_options options = { .split = true, .sample = 0, .period = 2, .pct = 0,
					     .xmerge = true, .k = 2 + kind * 2, .bstar = bstar };
	struct actor actors[NR_THREADS];
	static struct shared s;
	pthread_t merger;
	struct rng rng;

	memset(&s, 0, sizeof(s));
	latch_kind = kind;
	s.seed = number("THREADS_SEED", 1) + kind + round * NR_LATCH_KINDS;
	s.steps = number("THREADS_STEPS", STEPS);
	rng_seed(&rng, s.seed, 0);
	model_init(&s.model, &rng, KEYS, 64);
	assert_int_equal(test_pool(&s.pool, path, true, frames, hook, &s), 0);
	assert_int_equal(page_tree_create(&s.tree, &s.pool, "test", &options), 0);
	pthread_barrier_init(&s.start, NULL, NR_THREADS);
	s.running = true;
	for (unsigned int i = 0; i < NR_THREADS; i++) {
		actors[i] = (struct actor){ .s = &s, .nr = i };
		rng_seed(&actors[i].rng, s.seed, i + 1);
		page_tree_thread_init(&actors[i].tree, s.seed, i);
		pthread_create(&actors[i].thread, NULL, act, &actors[i]);
	}
	if (!path)
		pthread_create(&merger, NULL, merge, &s);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(actors[i].thread, NULL);
	__atomic_store_n(&s.running, false, __ATOMIC_RELEASE);
	if (!path)
		pthread_join(merger, NULL);
	else
		usleep(50000);
	check_end(&s, actors);
	/* The test is one of these changes, so there must have been some. */
	assert_true(s.tree.counts.contention_splits && s.tree.counts.merges);
	if (path)
		assert_true(s.tree.counts.xmerges && s.pool.counts.evictions);
	if (getenv("THREADS_SHOW")) {
#define COUNT(id, help) printf("%s %llu, ", #id, (unsigned long long)s.tree.counts.id);
#include "../../demo/pages/tree-counts.def"
		printf("reads %llu\n", (unsigned long long)s.pool.counts.reads);
	}
	pthread_barrier_destroy(&s.start);
	assert_int_equal(pool_close(&s.pool), 0);
	model_free(&s.model);
}

static void test_memory(void **state)
{
	for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++)
		run(NULL, 512, kind, kind % 2, 0);
}

static void few_frames(uint64_t round)
{
	char dir[] = "/tmp/test_pages_threads.XXXXXX", path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++) {
		run(path, POOL_MIN, kind, !(kind % 2), round);
		unlink(path);
	}
	rmdir(dir);
}

static void test_few_frames(void **state)
{
	few_frames(0);
}

static void test_long(void **state)
{
	time_t end = time(NULL) + (time_t)number("THREADS_SECONDS", 0);

	if (!getenv("THREADS_SECONDS"))
		skip();
	for (uint64_t round = 1; time(NULL) < end; round++) {
		for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++)
			run(NULL, 512, kind, (kind + round) % 2, round);
		few_frames(round);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_few_frames),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
