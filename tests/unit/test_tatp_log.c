// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tatp_log.c - the log of tatp_bench: rollback, group commit, and recovery from a log that
 * is cut at every byte, from memory and from a file.
 *
 * The database is a heap of rows and a tree of their numbers. A row has its number, a value, the
 * value's complement and the transaction that wrote it.
 */
#include "tatp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers of rows; those below LOADED are there at first. */
#define ROWS 40
#define LOADED 20

struct row {
	uint64_t key, value, complement, writer;
};

_Static_assert(sizeof(struct row) == TATP_ROW, "a row of the heap");

/* The content of the database after each commit; a value of 0 is no row. */
#define COMMITS_MAX 4000

struct content {
	uint64_t value[ROWS];
};

static struct content *after;
static unsigned int commits;

/* End of the log's record of each commit. */
static uint64_t *commit_lsn;

static struct row row_of(uint64_t key, uint64_t value, uint64_t writer)
{
	return (struct row){ .key = key, .value = value, .complement = ~value, .writer = writer };
}

static void load_entry(void *ctx, uint64_t i, struct index_entry *e)
{
	*e = ((struct index_entry *)ctx)[i];
}

static void populate(struct sm *sm, struct content *content)
{
	struct page_ref at = { .frame = NULL };
	struct index_entry entries[LOADED];

	memset(content, 0, sizeof(*content));
	for (unsigned int i = 0; i < LOADED; i++) {
		struct row row = row_of(i, 1000 + i, 0);

		entries[i].key = i;
		content->value[i] = row.value;
		assert_int_equal(heap_append(&sm->heaps[0], &row, &at, &entries[i].value), 0);
	}
	buffer_unpin(&sm->buffer, &at);
	assert_int_equal(btree_bulk(&sm->trees[0], LOADED, 69, load_entry, entries), 0);
	assert_int_equal(sm_loaded(sm), 0);
}

/* Insert, change or delete the row of a number. */
static int change_row(struct xct *x, uint64_t key, uint64_t value, bool drop,
		      struct content *content)
{
	struct heap *heap = &x->sm->heaps[0];
	struct btree *tree = &x->sm->trees[0];
	struct row row = row_of(key, value, x->nr), old;
	uint64_t rid;
	int err = lock_key(x->locks, tree->store, (uint32_t)key, LOCK_X);

	if (err)
		return err;
	if (!btree_lookup(tree, key, &rid)) {
		err = heap_insert(x, heap, &row, &rid);
		if (!err)
			err = btree_insert(x, tree, key, rid);
		content->value[key] = value;
	} else if (drop) {
		err = heap_delete(x, heap, rid, &old);
		if (!err)
			err = btree_delete(x, tree, key);
		content->value[key] = 0;
	} else {
		unsigned char buf[TATP_ROW];

		err = heap_update(x, heap, rid, offsetof(struct row, value), 16, &row.value, buf);
		content->value[key] = value;
	}
	return err;
}

/* Run one transaction of one to four changes; a quarter is rolled back. */
static void transaction(struct xct *x, struct rng *rng)
{
	struct content next = after[commits];
	bool back = !rng_below(rng, 4);

	for (uint64_t nr = 1 + rng_below(rng, 4); nr; nr--)
		assert_int_equal(change_row(x, rng_below(rng, ROWS), rng_next(rng) | 1,
					    !rng_below(rng, 2), &next), 0);
	if (back) {
		assert_int_equal(xct_rollback(x), 0);
		return;
	}
	assert_int_equal(xct_commit(x), 0);
	commit_lsn[++commits] = x->last;
	after[commits] = next;
}

/* struct compare - what the tree is compared with */
struct compare {
	struct sm *sm;
	const struct content *content;
	unsigned int nr;
	char why[100];
};

static int compare_row(void *ctx, uint64_t key, uint64_t rid)
{
	struct compare *c = ctx;
	struct row row;
	int err = heap_read(c->sm->xcts, &c->sm->heaps[0], rid, LOCK_S, &row);

	lock_end(c->sm->xcts->locks);
	c->nr++;
	if (err || key >= ROWS || row.key != key || row.complement != ~row.value ||
	    row.value != c->content->value[key])
		snprintf(c->why, sizeof(c->why), "row %llu is wrong", (unsigned long long)key);
	return *c->why;
}

/* Rows of the heap, which must be those that the tree has. */
static unsigned int heap_rows(struct sm *sm)
{
	unsigned int nr = 0;

	for (uint32_t id = 1; id < sm->volume.nr; id++) {
		struct page_ref ref;

		buffer_fix(&sm->buffer, id, LATCH_READ, &ref);
		nr += ref.page->kind == PAGE_HEAP ? ref.page->nr : 0;
		buffer_unfix(&sm->buffer, &ref);
	}
	return nr;
}

/* Compare a database with a content. Returns true if it is that. */
static bool same(struct sm *sm, const struct content *content)
{
	struct compare c = { .sm = sm, .content = content };
	unsigned int expected = 0;
	char why[100];

	for (unsigned int i = 0; i < ROWS; i++)
		expected += !!content->value[i];
	return btree_check(&sm->trees[0], compare_row, &c, why, sizeof(why)) &&
	       c.nr == expected && heap_rows(sm) == expected;
}

static void begin(struct sm *sm, const struct sm_options *opts)
{
	after = calloc(COMMITS_MAX, sizeof(*after));
	commit_lsn = calloc(COMMITS_MAX, sizeof(*commit_lsn));
	commits = 0;
	assert_int_equal(sm_create(sm, opts), 0);
	populate(sm, &after[0]);
	commit_lsn[0] = 0;
}

static void end(struct sm *sm)
{
	const char *what;

	if (!sm_at_rest(sm, &what))
		fail_msg("%s", what);
	sm_destroy(sm);
	free(after);
	free(commit_lsn);
}

/* A rolled back transaction leaves nothing, in the heap, the tree and the locks. */
static void test_rollback(void **state)
{
	struct sm_options opts = small_options(64, true);
	struct rng rng;
	struct sm sm;

	rng_seed(&rng, 1, 0);
	begin(&sm, &opts);
	for (unsigned int i = 0; i < 500; i++) {
		transaction(sm.xcts, &rng);
		if (!same(&sm, &after[commits]))
			fail_msg("wrong after transaction %u", i);
	}
	end(&sm);
}

/* Number of commits whose records lie before @end. */
static unsigned int commits_before(uint64_t end)
{
	unsigned int nr = 0;

	while (nr < commits && commit_lsn[nr + 1] + sizeof(struct log_record) <= end)
		nr++;
	return nr;
}

/*
 * Recover from the log cut at @cut. Then recover from the log of that recovery, cut at @again,
 * as if the machine had stopped once more.
 */
static void recover_cut(const struct sm *crashed, uint64_t cut, struct rng *rng, bool twice)
{
	unsigned int nr = commits_before(cut);
	struct recovered r, r2;
	struct sm sm, second;
	char why[200];
	int err = sm_recover_memory(&sm, crashed, cut, &r, why, sizeof(why));

	if (err)
		fail_msg("cut at %llu: %s", (unsigned long long)cut, why);
	if (!same(&sm, &after[nr]))
		fail_msg("cut at %llu: not the content after %u commits",
			 (unsigned long long)cut, nr);
	if (twice) {
		/* The pages are those before the recovery, the log has its compensations. */
		uint64_t again = r.end + rng_below(rng, sm.log.durable - r.end + 1);
		struct sm half = sm;

		half.volume = crashed->volume;
		half.log.last = crashed->log.last;
		half.log.store.forgotten = crashed->log.store.forgotten;
		if (sm_recover_memory(&second, &half, again, &r2, why, sizeof(why)))
			fail_msg("cut at %llu, then at %llu: %s", (unsigned long long)cut,
				 (unsigned long long)again, why);
		if (!same(&second, &after[nr]))
			fail_msg("cut at %llu, then at %llu: wrong content",
				 (unsigned long long)cut, (unsigned long long)again);
		sm_destroy(&second);
	}
	sm_destroy(&sm);
}

/* Every byte of a log without splits. */
static void test_cut(void **state)
{
	struct sm_options opts = small_options(32, false);
	uint64_t first;
	struct rng rng;
	struct sm sm;

	opts.pages = 64;
	rng_seed(&rng, 2, 0);
	begin(&sm, &opts);
	first = sm.log.durable;
	while (commits < 12)
		transaction(sm.xcts, &rng);
	/* One that has not ended, whose records are durable. */
	assert_int_equal(change_row(sm.xcts, 3, 77, false, &after[commits + 1]), 0);
	assert_int_equal(log_durable(&sm.log, sm.xcts->last), 0);
	for (uint64_t cut = first; cut <= sm.log.durable; cut++)
		recover_cut(&sm, cut, &rng, cut % 16 == 0);
	assert_int_equal(xct_rollback(sm.xcts), 0);
	end(&sm);
}

/* Checkpoints and written pages in between: recovery begins later and repeats less. */
static void test_checkpoint(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct sm_options opts = small_options(32, seed % 2);
		struct content next;
		struct rng rng;
		uint64_t least;
		struct sm sm;

		opts.pages = 64;
		rng_seed(&rng, seed, 0);
		begin(&sm, &opts);
		/* The second transaction stays open over the checkpoints. */
		assert_int_equal(change_row(&sm.xcts[1], ROWS - 1, 5, false, &next), 0);
		while (commits < 60) {
			struct content before = after[commits];

			/* Its row is left alone by the others. */
			if (rng_below(&rng, 3)) {
				next = before;
				assert_int_equal(change_row(sm.xcts, rng_below(&rng, ROWS - 1),
							    rng_next(&rng) | 1, rng_below(&rng, 2),
							    &next), 0);
				assert_int_equal(xct_commit(sm.xcts), 0);
				commit_lsn[++commits] = sm.xcts->last;
				after[commits] = next;
			} else if (rng_below(&rng, 2)) {
				assert_int_equal(buffer_clean(&sm.buffer, 2, NULL), 0);
			} else {
				assert_int_equal(checkpoint(&sm), 0);
			}
		}
		assert_int_equal(log_durable(&sm.log, sm.xcts->last), 0);
		/* Not before the changes that pages of the volume have. */
		least = sm.log.durable;
		for (unsigned int i = 0; i < 20; i++)
			recover_cut(&sm, least, &rng, i % 2);
		assert_int_equal(xct_rollback(&sm.xcts[1]), 0);
		end(&sm);
	}
}

/* Recovery distinguishes a damaged log from one that ends early. */
static void test_damage(void **state)
{
	struct sm_options opts = small_options(32, false);
	uint64_t first, end_of_log;
	struct recovered r;
	struct rng rng;
	char why[200];
	struct sm sm, other;

	opts.pages = 64;
	rng_seed(&rng, 3, 0);
	begin(&sm, &opts);
	first = sm.log.durable;
	while (commits < 10)
		transaction(sm.xcts, &rng);
	end_of_log = sm.log.durable;
	for (unsigned int i = 0; i < 200; i++) {
		/* Before the last commit's record, which says that all before was durable. */
		uint64_t at = first + rng_below(&rng, commit_lsn[commits - 1] - first);
		char *byte = sm.log.store.memory.base + at % sm.log.store.size;
		char bit = (char)(1 << rng_below(&rng, 8));

		*byte ^= bit;
		if (!sm_recover_memory(&other, &sm, end_of_log, &r, why, sizeof(why)))
			fail_msg("bit of byte %llu flipped: recovered", (unsigned long long)at);
		assert_non_null(strstr(why, "is damaged at byte"));
		sm_destroy(&other);
		*byte ^= bit;
	}
	/* A page with a change that the log has not got: the log was cut. */
	assert_int_equal(checkpoint_clean(&sm), 0);
	assert_int_not_equal(sm_recover_memory(&other, &sm, commit_lsn[1], &r, why, sizeof(why)),
			     0);
	assert_non_null(strstr(why, "is truncated at byte"));
	sm_destroy(&other);
	end(&sm);
}

/* Faults in what the log says, which the comparison must find. */
static void test_planted(void **state)
{
	enum { NO_COMMIT, NO_UPDATE, NO_END, NR } fault;

	for (fault = 0; fault < NR; fault++) {
		struct sm_options opts = small_options(32, false);
		struct log_record *r = malloc(LOG_RECORD_MAX);
		unsigned int planted = 0;
		struct recovered out;
		struct rng rng;
		char why[200];
		struct sm sm, other;

		opts.pages = 64;
		rng_seed(&rng, 5, 0);
		begin(&sm, &opts);
		while (commits < 20)
			transaction(sm.xcts, &rng);
		/* Records of a type become others, with a right checksum. */
		for (uint64_t at = sm.log.last.checkpoint; at < sm.log.durable; at += r->len) {
			static const uint8_t types[] = { LOG_COMMIT, LOG_ROW_UPDATE, LOG_END };

			assert_int_equal(log_fetch(&sm.log, at, r), 0);
			if (r->type != types[fault] || r->compensation != (fault == NO_END))
				continue;
			if (fault == NO_COMMIT && r->lsn != commit_lsn[commits])
				continue;
			planted++;
			r->type = fault == NO_COMMIT ? LOG_CHECKPOINT : LOG_COMMIT;
			r->xid = fault == NO_COMMIT ? 0 : r->xid;
			log_seal(r);
			assert_int_equal(store_write(&sm.log.store, at, r, r->len), 0);
		}
		assert_true(planted);
		/* An END that becomes a COMMIT changes nothing: all was reversed before. */
		assert_int_equal(sm_recover_memory(&other, &sm, sm.log.durable, &out, why,
						   sizeof(why)), 0);
		assert_int_equal(same(&other, &after[commits]), fault == NO_END);
		sm_destroy(&other);
		free(r);
		end(&sm);
	}
}

/* Splits: a thousand entries and more, with transactions that are rolled back in between. */
static void test_splits(void **state)
{
	struct sm_options opts = small_options(256, false);
	struct row row = { 0 };
	struct recovered r;
	char why[200];
	struct sm sm, other;
	uint64_t rid;

	begin(&sm, &opts);
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t key = 1000 + (i * 7919) % 3001;

		assert_int_equal(heap_insert(sm.xcts, &sm.heaps[0], &row, &rid), 0);
		assert_int_equal(btree_insert(sm.xcts, &sm.trees[0], key, rid), 0);
		if (i % 3)
			assert_int_equal(xct_rollback(sm.xcts), 0);
		else
			assert_int_equal(xct_commit(sm.xcts), 0);
		if (i == 1500)
			assert_int_equal(checkpoint(&sm), 0);
	}
	assert_int_equal(sm_recover_memory(&other, &sm, sm.log.durable, &r, why, sizeof(why)), 0);
	assert_true(btree_check(&other.trees[0], NULL, NULL, why, sizeof(why)));
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(btree_lookup(&other.trees[0], 1000 + (i * 7919) % 3001, &rid),
				 i % 3 == 0);
	assert_int_equal(heap_rows(&other), LOADED + 1000);
	sm_destroy(&other);
	end(&sm);
}

static struct sm shared;

static void *commit_thread(void *arg)
{
	struct test_thread *t = arg;
	struct xct *x = &shared.xcts[t->nr];
	struct content ignored;
	struct rng rng;

	rng_seed(&rng, *(uint64_t *)t->arg, t->nr);
	for (unsigned int i = 0; i < 150; i++) {
		int err = 0;

		for (unsigned int j = 0; j < 2 && !err; j++)
			err = change_row(x, rng_below(&rng, ROWS), rng_next(&rng) | 1,
					 rng_below(&rng, 2), &ignored);
		if (err && err != -EDEADLK)
			abort();
		if (err ? xct_rollback(x) : xct_commit(x))
			abort();
	}
	return NULL;
}

static void threads(const char *path, bool group)
{
	struct sm_options opts = small_options(64, true);
	uint64_t seed = 1;
	char why[100];

	opts.log.path = path;
	opts.log.group = group;
	begin(&shared, &opts);
	run_threads(TATP_THREADS, commit_thread, &seed);
	assert_true(btree_check(&shared.trees[0], NULL, NULL, why, sizeof(why)));
}

/* Threads that commit together, with a file that is synchronised; the log is then whole. */
static void test_group(void **state)
{
	char path[] = "/tmp/test_tatp_log.XXXXXX", pages[64], why[200];
	struct sm_options opts = small_options(64, true);

	assert_int_equal(close(mkstemp(path)), 0);
	snprintf(pages, sizeof(pages), "%s.pages", path);
	for (unsigned int group = 0; group < 2; group++) {
		struct recovered r;
		uint64_t rows;
		struct sm sm;

		unlink(path);
		threads(path, group);
		rows = heap_rows(&shared);
		assert_true(shared.log.durable == shared.log.tail);
		end(&shared);
		opts.log.path = path;
		if (sm_open(&sm, &opts, &r, why, sizeof(why)))
			fail_msg("%s", why);
		assert_int_equal(heap_rows(&sm), rows);
		assert_true(r.committed > 0 && r.committed <= 4 * 150);
		sm_destroy(&sm);
		unlink(pages);
	}
	unlink(path);
}

/*
 * What the threads of a process that is killed have acknowledged, in memory that the test shares
 * with it. A thread changes the rows whose numbers are its own, modulo the number of threads.
 */
#define OWN_ROWS (ROWS / TATP_THREADS)

struct acknowledged {
	uint64_t sum;
	struct {
		uint64_t commits;
		struct content content[COMMITS_MAX];
	} threads[TATP_THREADS];
};

static struct acknowledged *ack;

/* Commit until the process is killed; a quarter of the transactions is rolled back. */
static void *acknowledge(void *arg)
{
	struct test_thread *t = arg;
	struct xct *x = &shared.xcts[t->nr];
	uint64_t nr = 0;
	struct rng rng;

	rng_seed(&rng, *(uint64_t *)t->arg, t->nr);
	while (nr + 2 < COMMITS_MAX) {
		struct content next = ack->threads[t->nr].content[nr];

		for (uint64_t i = 1 + rng_below(&rng, 3); i; i--)
			if (change_row(x, rng_below(&rng, OWN_ROWS) * TATP_THREADS + t->nr,
				       rng_next(&rng) | 1, rng_below(&rng, 2), &next))
				_exit(1);
		if (!rng_below(&rng, 4)) {
			if (xct_rollback(x))
				_exit(1);
			continue;
		}
		/* Before the commit: the process may be killed between it and its count. */
		ack->threads[t->nr].content[++nr] = next;
		if (xct_commit(x))
			_exit(1);
		__atomic_store_n(&ack->threads[t->nr].commits, nr, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&ack->sum, 1, __ATOMIC_SEQ_CST);
		if (t->nr == 0 && nr % 20 == 0 &&
		    (buffer_clean(&shared.buffer, 64, NULL) || checkpoint(&shared)))
			_exit(1);
	}
	for (;;)
		pause();
	return NULL;
}

static void __attribute__((noreturn)) child(const char *path, uint64_t seed, bool too_early)
{
	struct sm_options opts = small_options(64, true);

	opts.log.path = path;
	begin(&shared, &opts);
	for (unsigned int i = 0; i < TATP_THREADS; i++)
		ack->threads[i].content[0] = after[0];
	/* Planted: what is committed counts as durable without being written. */
	if (too_early)
		shared.log.durable = UINT64_MAX / 2;
	run_threads(TATP_THREADS, acknowledge, &seed);
	_exit(1);
}

/* The content of a database. Returns false if a row is not whole. */
static bool content_of(struct sm *sm, struct content *content)
{
	struct xct *x = sm->xcts;
	unsigned int nr = 0;

	for (uint64_t key = 0; key < ROWS; key++) {
		struct row row;
		uint64_t rid;
		int err;

		content->value[key] = 0;
		if (!btree_lookup(&sm->trees[0], key, &rid))
			continue;
		err = heap_read(x, &sm->heaps[0], rid, LOCK_S, &row);
		lock_end(x->locks);
		if (err || row.key != key || row.complement != ~row.value)
			return false;
		content->value[key] = row.value;
		nr++;
	}
	return heap_rows(sm) == nr;
}

/* All that a thread acknowledged, and perhaps the transaction that was being committed. */
static bool has_commits(const struct content *there, unsigned int thread)
{
	uint64_t nr = ack->threads[thread].commits;
	bool last = true, next = true;

	for (unsigned int key = thread; key < ROWS; key += TATP_THREADS) {
		last = last && there->value[key] == ack->threads[thread].content[nr].value[key];
		next = next && there->value[key] == ack->threads[thread].content[nr + 1].value[key];
	}
	return last || next;
}

/* Kill a process, and recover. Returns what is wrong, or NULL. */
static const char *kill_one(const char *path, const char *pages, uint64_t seed, uint64_t enough,
			    bool too_early)
{
	struct sm_options opts = small_options(64, true);
	static char why[200];
	struct content there;
	const char *wrong = NULL;
	struct recovered r;
	struct sm sm;
	pid_t pid;

	unlink(path);
	unlink(pages);
	memset(ack, 0, sizeof(*ack));
	pid = fork();
	if (!pid)
		child(path, seed, too_early);
	while (__atomic_load_n(&ack->sum, __ATOMIC_SEQ_CST) < enough &&
	       !waitpid(pid, NULL, WNOHANG))
		usleep(100);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(ack->sum >= enough);
	opts.log.path = path;
	if (sm_open(&sm, &opts, &r, why, sizeof(why)))
		wrong = why;
	else if (!content_of(&sm, &there))
		wrong = "a row is not whole";
	for (unsigned int i = 0; i < TATP_THREADS && !wrong; i++)
		wrong = has_commits(&there, i) ? NULL : "a commit was lost";
	sm_destroy(&sm);
	return wrong;
}

/* KILLS in the environment is how many, as make check-long has 200. */
static void test_kill(void **state)
{
	char path[] = "/tmp/test_tatp_kill.XXXXXX", pages[64];
	const char *kills = getenv("KILLS"), *wrong = NULL;
	uint64_t most = kills ? strtoull(kills, NULL, 10) : 10;
	struct rng rng;

	ack = mmap(NULL, sizeof(*ack), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(ack != MAP_FAILED);
	assert_int_equal(close(mkstemp(path)), 0);
	snprintf(pages, sizeof(pages), "%s.pages", path);
	rng_seed(&rng, 9, 0);
	for (uint64_t seed = 1; seed <= most && !wrong; seed++) {
		wrong = kill_one(path, pages, seed, 1 + rng_below(&rng, 300), false);
		if (wrong)
			print_message("seed %llu: %s\n", (unsigned long long)seed, wrong);
	}
	assert_null(wrong);
	/* Ten times a commit that was acknowledged too early is found at least once. */
	for (uint64_t seed = 1; seed <= 10 && !wrong; seed++)
		wrong = kill_one(path, pages, seed, 1 + rng_below(&rng, 300), true);
	assert_non_null(wrong);
	unlink(path);
	unlink(pages);
	munmap(ack, sizeof(*ack));
}

/* A full disk: the commit fails, and so do the later ones. */
static void test_full(void **state)
{
	struct sm_options opts = small_options(64, true);
	struct content next;
	int full = open("/dev/full", O_RDWR), fd;
	struct sm sm;

	assert_true(full >= 0);
	begin(&sm, &opts);
	fd = sm.log.store.fd;
	sm.log.store.fd = full;
	assert_int_equal(change_row(sm.xcts, 1, 5, false, &next), 0);
	assert_int_equal(xct_commit(sm.xcts), -ENOSPC);
	assert_int_equal(change_row(sm.xcts, 1, 6, false, &next), 0);
	assert_int_equal(xct_commit(sm.xcts), -ENOSPC);
	sm.log.store.fd = fd;
	close(full);
	end(&sm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rollback), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_checkpoint), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_planted), cmocka_unit_test(test_splits),
		cmocka_unit_test(test_group), cmocka_unit_test(test_kill),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
