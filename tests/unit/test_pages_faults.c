// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_faults.c - a fault at each call of the system in turn, while a file is made, grows
 * beyond its pool, is closed, opened and read. The linker sends the calls of the test to the
 * functions here (--wrap).
 *
 * Whatever fails, the operation says so, and the file afterwards is whole with what was in it at
 * its last checkpoint, or is refused. A call that is interrupted or does less than it should is
 * no fault. A full disk fails the insert, and all goes on.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "unit.h"
#include "pages.h"

#define FRAMES 32
#define FIRST 60
#define SECOND 30

/* Bound of the calls of one kind, in case the count never ends. */
#define CALLS 4000

enum call {
	CALL_open,
	CALL_flock,
	CALL_fstat,
	CALL_pread,
	CALL_pwrite,
	CALL_posix_fallocate,
	CALL_fdatasync,
	CALL_ftruncate,
	CALL_mmap,
	CALL_aligned_alloc,
	CALL_calloc,
	CALL_pthread_create,
	NR_CALLS,
};

static const char *const call_names[NR_CALLS] = {
	"open",	     "flock",	  "fstat",     "pread", "pwrite",	 "posix_fallocate",
	"fdatasync", "ftruncate", "mmap", "aligned_alloc", "calloc", "pthread_create",
};

/* What a call does that is to fail. */
#define SHORT (-1)
#define NOTHING (-2)

/* Which call fails, how, and how often it is from then on; calls are counted from 1. */
static enum call fault_call;
static int fault;
static unsigned int fault_at, fault_nr, calls;

/* What the call does: 0, the errno that it fails with, SHORT or NOTHING. */
static int fault_of(enum call call)
{
	unsigned int nr;

	if (call != fault_call || !fault_at)
		return 0;
	nr = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	return nr >= fault_at && nr < fault_at + fault_nr ? fault : 0;
}

static void plan(enum call call, unsigned int at, unsigned int nr, int how)
{
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
	fault_call = call;
	fault_at = at;
	fault_nr = nr;
	fault = how;
}

static bool hit(void)
{
	return fault_at && __atomic_load_n(&calls, __ATOMIC_RELAXED) >= fault_at;
}

/* The wrapper of a call that returns -1 or @failed with errno. */
#define WRAP(type, name, failed, parameters, ...)                                                  \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		int how = fault_of(CALL_##name);                                                   \
                                                                                                   \
		if (!how)                                                                          \
			return __real_##name(__VA_ARGS__);                                         \
		errno = how;                                                                       \
		return failed;                                                                     \
	}

WRAP(int, open, -1, (const char *path, int flags, mode_t mode), path, flags, mode)
WRAP(int, flock, -1, (int fd, int what), fd, what)
WRAP(int, fstat, -1, (int fd, struct stat *st), fd, st)
WRAP(int, fdatasync, -1, (int fd), fd)
WRAP(int, ftruncate, -1, (int fd, off_t len), fd, len)
WRAP(int, posix_fallocate, how, (int fd, off_t at, off_t len), fd, at, len)
WRAP(void *, aligned_alloc, NULL, (size_t alignment, size_t size), alignment, size)
WRAP(void *, calloc, NULL, (size_t nr, size_t size), nr, size)
WRAP(void *, mmap, MAP_FAILED,
     (void *addr, size_t len, int prot, int flags, int fd, off_t off), addr, len, prot, flags, fd,
     off)
WRAP(int, pthread_create, how,
     (pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *arg), thread,
     attr, function, arg)

/* pread() and pwrite(), which may also do a part of what they are to do. */
#define WRAP_IO(name, type)                                                                        \
	ssize_t __real_##name(int fd, type buf, size_t len, off_t at);                             \
	ssize_t __wrap_##name(int fd, type buf, size_t len, off_t at);                             \
	ssize_t __wrap_##name(int fd, type buf, size_t len, off_t at)                              \
	{                                                                                          \
		int how = fault_of(CALL_##name);                                                   \
                                                                                                   \
		if (how == NOTHING)                                                                \
			return 0;                                                                  \
		if (how > 0) {                                                                     \
			errno = how;                                                               \
			return -1;                                                                 \
		}                                                                                  \
		return __real_##name(fd, buf, how == SHORT && len > 1000 ? 1000 : len, at);        \
	}

WRAP_IO(pread, void *)
WRAP_IO(pwrite, const void *)

/**
 * struct story - how far the operations came
 * @err: what the first one that failed returned
 * @opened: the pool was opened, the first time and the second
 * @saved: the checkpoint after the first leaves was made
 * @closed: the file was closed, with all leaves
 * @read: leaves that were read after that
 */
struct story {
	int err;
	bool opened[2];
	bool saved;
	bool closed;
	unsigned int read;
};

static int grow(struct page_pool *pool, struct story *s)
{
	int err = pages_make(pool, "first", FIRST);

	if (!err)
		err = pool_checkpoint(pool);
	s->saved = !err;
	if (!err)
		err = pages_make(pool, "second", SECOND);
	return err;
}

static int read_leaves(struct page_pool *pool, unsigned int *nr)
{
	int err = 0;

	*nr = 0;
	for (unsigned int i = 0; i < SECOND && !err; i++) {
		struct frame *frame;

		err = pages_latch(pool, pages_leaf[i], false, &frame);
		if (err)
			return err;
		assert_int_equal(pages_counter(frame), 0);
		latch_release_shared(&frame->latch);
		++*nr;
	}
	return err;
}

/* Everything that a file goes through. */
static void play(struct story *s)
{
	struct pool_config config = pages_config(FRAMES, true);
	struct page_pool pool;
	int err;

	*s = (struct story){ 0 };
	unlink(pages_path);
	snprintf(pages_why, sizeof(pages_why), "nothing");
	s->err = pool_open(&pool, &config, pages_why, sizeof(pages_why));
	s->opened[0] = !s->err;
	if (s->err)
		return;
	s->err = grow(&pool, s);
	err = pool_close(&pool);
	s->err = s->err ? s->err : err;
	s->closed = !s->err;
	if (s->err)
		return;
	config.store.create = false;
	s->err = pool_open(&pool, &config, pages_why, sizeof(pages_why));
	s->opened[1] = !s->err;
	if (s->err)
		return;
	s->err = read_leaves(&pool, &s->read);
	err = pool_close(&pool);
	s->err = s->err ? s->err : err;
}

/* Without faults: the file is whole with the leaves that were saved, or is not sound. */
static bool file_fits(const struct story *s)
{
	unsigned int all = FIRST + 1 + SECOND + 1;
	struct store_report report;

	plan(CALL_open, 0, 0, 0);
	if (access(pages_path, F_OK))
		return !s->saved && !s->closed;
	if (!pages_sound(&report))
		return !s->closed;
	if (s->closed)
		return report.nodes == all;
	return report.nodes == 0 || report.nodes == FIRST + 1 || report.nodes == all;
}

/* One fault of a kind at each call in turn: what fails says so. Returns the number of calls. */
static unsigned int each(enum call call, int how, bool harmless)
{
	unsigned int at;

	for (at = 1; at < CALLS; at++) {
		struct story s;
		bool was_hit;

		plan(call, at, 1, how);
		play(&s);
		was_hit = hit();
		if (!file_fits(&s) || (!s.err && s.read != SECOND) ||
		    (!was_hit && s.err) || (harmless && s.err))
			fail_msg("%s %u, fault %d: %d: %s: saved %d, closed %d, read %u",
				 call_names[call], at, how, s.err, pages_why, s.saved, s.closed,
				 s.read);
		if (!s.err && !s.opened[0])
			fail_msg("%s %u: not opened", call_names[call], at);
		if (!was_hit)
			break;
	}
	return at - 1;
}

/* All calls but reads and writes, which have tests of their own. */
static void test_each_call(void **state)
{
	for (unsigned int i = 0; i < NR_CALLS; i++) {
		enum call call = (enum call)i;

		if (call == CALL_pread || call == CALL_pwrite)
			continue;
		assert_true(each(call, call >= CALL_mmap ? ENOMEM : EIO,
				 call == CALL_ftruncate) > 0);
	}
	assert_true(each(CALL_posix_fallocate, ENOSPC, false) > 0);
	assert_true(each(CALL_flock, EINTR, true) > 0);
	assert_true(each(CALL_posix_fallocate, EINTR, true) > 0);
}

static void test_io(void **state)
{
	assert_true(each(CALL_pread, EIO, false) > SECOND);
	/* Pages that follow each other are written at once. */
	assert_true(each(CALL_pwrite, EIO, false) > 8);
}

/* Every call is interrupted once, or does a part; many in a row do. */
static void test_short(void **state)
{
	static const struct {
		enum call call;
		int how;
	} cases[] = {
		{ CALL_pread, SHORT }, { CALL_pwrite, SHORT },
		{ CALL_pread, EINTR }, { CALL_pwrite, EINTR },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool stops = cases[i].how == EINTR;

		for (unsigned int at = 1; at < 28; at += 3) {
			struct story s;

			plan(cases[i].call, at, stops ? 5 : CALLS, cases[i].how);
			play(&s);
			assert_true(hit() || at > 7);
			assert_int_equal(s.err, 0);
			assert_true(file_fits(&s));
		}
	}
}

/* A read that finds nothing is damage, a write that does nothing a full disk. */
static void test_nothing(void **state)
{
	struct story s;

	plan(CALL_pread, 5, CALLS, NOTHING);
	play(&s);
	assert_int_equal(s.err, -EBADMSG);
	assert_true(file_fits(&s));
	plan(CALL_pwrite, 10, CALLS, NOTHING);
	play(&s);
	assert_int_equal(s.err, -ENOSPC);
	assert_true(file_fits(&s));
}

/* The disk is full for a time: inserts fail, what was there can be read, and then all goes on. */
static void test_full_disk(void **state)
{
	struct pool_config config = pages_config(FRAMES, true);
	struct store_report report;
	struct page_pool pool;
	unsigned int nr;

	unlink(pages_path);
	pages_open(&pool, &config);
	assert_int_equal(pages_make(&pool, "first", FIRST), 0);
	plan(CALL_posix_fallocate, 1, CALLS, ENOSPC);
	assert_int_equal(pages_make(&pool, "second", 70), -ENOSPC);
	assert_true(hit());
	assert_int_equal(pool_writable(&pool), 0);
	assert_int_equal(pool_checkpoint(&pool), 0);
	plan(CALL_open, 0, 0, 0);
	pages_make(&pool, "third", SECOND);
	assert_int_equal(read_leaves(&pool, &nr), 0);
	assert_int_equal(pool_close(&pool), 0);
	assert_int_equal(store_check(pages_path, NULL, &report, pages_why, sizeof(pages_why)), 0);
	/* The leaves of the tree that was not finished belong to no root. */
	assert_int_equal(report.nodes, FIRST + 1 + SECOND + 1);
	assert_int_equal(report.torn + report.misplaced + report.damaged, 0);
}

/* A read fails: the operation does, and the next attempt succeeds. */
static void test_read_fails(void **state)
{
	struct pool_config config = pages_config(FRAMES, true);
	struct page_pool pool;
	struct frame *frame;

	unlink(pages_path);
	pages_open(&pool, &config);
	assert_int_equal(pages_make(&pool, "first", FIRST), 0);
	assert_int_equal(pool_close(&pool), 0);
	config.store.create = false;
	pages_open(&pool, &config);
	plan(CALL_pread, 1, 1, EIO);
	assert_int_equal(pages_latch(&pool, pages_leaf[3], false, &frame), -EIO);
	assert_int_equal(pool_writable(&pool), 0);
	assert_int_equal(pages_latch(&pool, pages_leaf[3], false, &frame), 0);
	latch_release_shared(&frame->latch);
	plan(CALL_open, 0, 0, 0);
	assert_int_equal(pool_close(&pool), 0);
	assert_true(pages_sound(&(struct store_report){ 0 }));
}

/*
 * A write fails: the file cannot be written any more, what is in memory can be read, who needs
 * a frame gets the error and does not wait for ever, and closing says so.
 */
static void test_write_fails(void **state)
{
	struct pool_config config = pages_config(FRAMES, true);
	struct page_pool pool;
	unsigned int resident = 0;
	struct frame *frame;
	int err = 0;

	unlink(pages_path);
	pages_open(&pool, &config);
	assert_int_equal(pages_make(&pool, "first", FIRST), 0);
	plan(CALL_pwrite, 1, 1, EIO);
	for (unsigned int round = 0; round < 1000 && !err; round++)
		for (unsigned int i = 0; i < FIRST && !err; i++) {
			err = pages_latch(&pool, pages_leaf[i], true, &frame);
			if (err)
				continue;
			pages_set_counter(frame, 1);
			latch_release(&frame->latch);
			err = pool_writable(&pool);
		}
	assert_int_equal(err, -EIO);
	plan(CALL_open, 0, 0, 0);
	assert_int_equal(pool_writable(&pool), -EIO);
	assert_int_equal(pages_new(&pool, 0, &frame), -EIO);
	for (unsigned int i = 0; i < FIRST; i++) {
		frame = pool_frame(&pool, pages_leaf[i]);
		resident += !!frame;
		err = pages_latch(&pool, pages_leaf[i], false, &frame);
		assert_true(!err || err == -EIO);
		if (!err)
			latch_release_shared(&frame->latch);
	}
	assert_true(resident > 0);
	assert_int_equal(pool_checkpoint(&pool), -EIO);
	assert_int_equal(pool_close(&pool), -EIO);
	assert_false(pages_sound(&(struct store_report){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_call),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_read_fails),
		cmocka_unit_test(test_write_fails),
	};

	return cmocka_run_group_tests(tests, pages_begin, pages_end);
}
