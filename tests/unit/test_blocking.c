// SPDX-License-Identifier: GPL-2.0-or-later
/* test_blocking.c - who is noted as a waker: a call that is made while a thread of the process waits. */
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/life/lock.h"
#include "../../lib/life/start.h"
#include "../../lib/section/blocking.h"
#include "../../lib/section/locked.h"
#include "own-data.h"

#define SITE  ((const void *)0x1000)
#define OTHER ((const void *)0x2000)

static int start(void **state)
{
	own_data("profile");
	elide_start(false);
	return 0;
}

static int stop(void **state)
{
	unlink(elide_data_path());
	return 0;
}

static uint64_t object, mutex;

static void wait_there(struct elide_blocking *b, enum elide_kind kind)
{
	if (kind == ELIDE_KIND_COND)
		elide_blocking_begin_cond(b, &object, &mutex, SITE, true);
	else
		elide_blocking_begin(b, &object, SITE, kind, true);
	assert_non_null(b->row);
	assert_true(elide_waiters_any(&object));
}

static bool is_noted(const void *site)
{
	const struct elide_waker *w = elide_waker_of(&object);

	return w->object == &object && w->by == (uintptr_t)site;
}

static void nobody_waits_nothing_is_noted(void **state)
{
	elide_blocking_wakes(&object, OTHER);
	assert_false(is_noted(OTHER));
}

static void who_wakes_a_waiter_is_noted(void **state)
{
	struct elide_blocking b;

	wait_there(&b, ELIDE_KIND_COND);
	elide_blocking_wakes(&object, SITE);
	assert_true(is_noted(SITE));
	elide_blocking_end(&b, &object);
	elide_blocking_wakes(&object, OTHER);
	assert_true(is_noted(SITE));
}

/* However a call ends: a waiter that stayed counted would cost each later signal. */
static void who_waits_no_more_is_not_counted(void **state)
{
	struct elide_blocking b;

	wait_there(&b, ELIDE_KIND_COND);
	elide_blocking_end(&b, &object);
	assert_false(elide_waiters_any(&object));

	wait_there(&b, ELIDE_KIND_COND);
	elide_blocking_reacquired(&b, &object, &mutex, SITE);
	assert_false(elide_waiters_any(&object));

	wait_there(&b, ELIDE_KIND_SEM);
	elide_blocking_failed(&b);
	assert_false(elide_waiters_any(&object));

	wait_there(&b, ELIDE_KIND_SEM);
	elide_blocking_refused(&b);
	assert_false(elide_waiters_any(&object));

	/* The last thread at a barrier has not waited. */
	wait_there(&b, ELIDE_KIND_BARRIER);
	b.waits = false;
	elide_blocking_end(&b, &object);
	assert_false(elide_waiters_any(&object));
}

/* What is known of the last wait is used for the same one only, and not where a lock is another by now. */
static void last_wait_is_known(void **state)
{
	static uint64_t other;
	struct elide_blocking b;
	struct elide_row *row, *again;
	uint64_t waits;

	wait_there(&b, ELIDE_KIND_COND);
	elide_blocking_reacquired(&b, &object, &mutex, SITE);
	row = b.known->reacquired;
	assert_non_null(row);
	waits = b.row->not_attempted;

	wait_there(&b, ELIDE_KIND_COND);
	assert_ptr_equal(b.known->reacquired, row);
	elide_blocking_reacquired(&b, &object, &mutex, SITE);
	assert_int_equal(b.row->not_attempted, waits + 1);

	again = b.row;
	elide_blocking_begin_cond(&b, &object, &other, SITE, true);
	assert_ptr_equal(b.known->mutex, &other);
	assert_ptr_equal(b.row, again);
	elide_blocking_reacquired(&b, &object, &other, SITE);
	assert_int_equal(b.row->not_attempted, waits + 2);

	elide_blocking_begin_cond(&b, &object, &other, OTHER, true);
	assert_ptr_not_equal(b.row, again);
	elide_blocking_reacquired(&b, &object, &other, OTHER);

	elide_lock_gone(&object);
	elide_blocking_begin_cond(&b, &object, &other, OTHER, true);
	assert_null(b.known->reacquired);
	elide_blocking_reacquired(&b, &object, &other, OTHER);
	assert_false(elide_waiters_any(&object));
}

static void who_does_not_wait_is_not_counted(void **state)
{
	struct elide_blocking b;

	elide_blocking_begin(&b, &object, SITE, ELIDE_KIND_SEM, false);
	assert_false(elide_waiters_any(&object));
	elide_blocking_failed(&b);
	assert_false(elide_waiters_any(&object));
}

/* Two threads, or objects that share a place. */
static void each_waiter_is_counted(void **state)
{
	struct elide_blocking a, b;

	wait_there(&a, ELIDE_KIND_COND);
	wait_there(&b, ELIDE_KIND_COND);
	elide_blocking_end(&a, &object);
	assert_true(elide_waiters_any(&object));
	elide_blocking_end(&b, &object);
	assert_false(elide_waiters_any(&object));
}

/* While a lock is held others wait for it: a wait is counted after its release, and none is lost. */
static void a_wait_is_counted_after_the_release(void **state)
{
	static uint64_t lock, inner;
	struct elide_blocking b;
	struct elide_thread *t;
	struct elide_row *row;
	uint64_t before, total;

	elide_blocking_begin(&b, &object, SITE, ELIDE_KIND_SEM, false);
	t = elide_self;
	row = b.row;
	/* As in a process whose wrappers go the short way. */
	elide_process.short_way = true;
	elide_due_count(t);
	t->nr_holds = 0;
	t->due.lock = &lock;
	elide_due_count(t);
	assert_int_equal(t->short_tid, t->tid);
	before = row->contended;
	total = row->wait.total;

	elide_wait_over(t, row, &lock, cycles_now(), 100, 0);
	assert_int_equal(row->contended, before);
	assert_int_equal(t->short_tid, ELIDE_NO_TID);
	assert_ptr_equal(t->due.lock, &lock);
	elide_due_released(t, &inner);
	assert_int_equal(row->contended, before);
	/* There is room for one. */
	elide_wait_over(t, row, &inner, cycles_now(), 10, 0);
	assert_int_equal(row->contended, before + 1);
	assert_int_equal(row->wait.total, total + 10);
	assert_ptr_equal(t->due.lock, &lock);

	/* Its hold time is measured: the short way is free after both. */
	elide_hold_period = 1;
	elide_hold_begin(t, row, &lock, cycles_now());
	assert_true(elide_hold_over(t, &lock) && !elide_hold_over(t, &inner));
	elide_hold_end(t, &lock);
	assert_int_equal(row->hold.exact, 1);
	assert_int_equal(t->short_tid, ELIDE_NO_TID);
	elide_due_released(t, &lock);
	assert_int_equal(t->short_tid, t->tid);
	assert_int_equal(row->contended, before + 2);
	assert_int_equal(row->wait.total, total + 110);
	elide_due_released(t, &lock);
	elide_due_count(t);
	assert_int_equal(row->contended, before + 2);

	/* Or before the thread waits again for something that is no lock. */
	elide_wait_over(t, row, &lock, cycles_now(), 1, 0);
	elide_blocking_begin(&b, &object, SITE, ELIDE_KIND_SEM, true);
	assert_int_equal(row->contended, before + 3);
	elide_blocking_failed(&b);
}

/* Lock code waits again if another thread was faster: that is one wait, if no other futex call comes in between. */
static void a_futex_wait_goes_on(void **state)
{
	static uint64_t words[2];
	struct elide_blocking b;
	struct elide_row *row;
	uint64_t total;

	elide_blocking_begin_futex(&b, &words[0], SITE, ELIDE_KIND_FUTEX_LOCK);
	row = b.row;
	assert_true(row && elide_waiters_any(&words[0]));
	elide_blocking_end_futex(&b, &words[0]);
	assert_int_equal(row->contended, 1);
	assert_false(elide_waiters_any(&words[0]));
	total = row->wait.total;

	elide_blocking_begin_futex(&b, &words[0], SITE, ELIDE_KIND_FUTEX_LOCK);
	elide_self->futex.over = b.start;
	/* The futex has changed meanwhile. */
	elide_blocking_refused(&b);
	elide_blocking_begin_futex(&b, &words[0], SITE, ELIDE_KIND_FUTEX_LOCK);
	elide_self->futex.over = b.start;
	elide_blocking_end_futex(&b, &words[0]);
	assert_int_equal(row->contended, 1);
	assert_int_equal(row->not_attempted, 1);
	assert_int_equal(row->wait.count, 1);
	assert_true(row->wait.total > total);

	/* Long after that, for another futex, or after the thread has woken others: a further wait. */
	elide_blocking_begin_futex(&b, &words[0], SITE, ELIDE_KIND_FUTEX_LOCK);
	elide_self->futex.over = b.start - (1 << 20);
	elide_blocking_end_futex(&b, &words[0]);
	assert_int_equal(row->contended, 2);
	elide_blocking_begin_futex(&b, &words[1], SITE, ELIDE_KIND_FUTEX_LOCK);
	elide_blocking_end_futex(&b, &words[1]);
	elide_blocking_wakes_futex(&words[1], SITE);
	elide_blocking_begin_futex(&b, &words[1], SITE, ELIDE_KIND_FUTEX_LOCK);
	elide_blocking_end_futex(&b, &words[1]);
	total = 0;
	for (int i = 0; i < ELIDE_NR_BINS; i++)
		total += row->wait_bins[i];
	assert_int_equal(total, row->wait.count);
	assert_int_equal(row->contended, 2 + 2 * (b.row == row));
}

/* A futex that is no variable has the class of its call; while another thread waits for it, that of its wait. */
static void a_futex_elsewhere_has_the_class_of_its_call(void **state)
{
	struct elide_blocking a, b;
	uint32_t *words = calloc(64, sizeof(*words));

	elide_blocking_begin_futex(&a, &words[0], SITE, ELIDE_KIND_FUTEX);
	elide_blocking_begin_futex(&b, &words[0], OTHER, ELIDE_KIND_FUTEX_LOCK);
	assert_int_equal(a.row->class_index, b.row->class_index);
	assert_int_not_equal(a.row->kind, b.row->kind);
	elide_blocking_end_futex(&b, &words[0]);
	elide_blocking_end_futex(&a, &words[0]);
	elide_blocking_begin_futex(&b, &words[0], OTHER, ELIDE_KIND_FUTEX_LOCK);
	assert_int_not_equal(a.row->class_index, b.row->class_index);
	elide_blocking_end_futex(&b, &words[0]);
	elide_blocking_begin_futex(&b, &words[32], SITE, ELIDE_KIND_FUTEX);
	assert_ptr_equal(a.row, b.row);
	elide_blocking_end_futex(&b, &words[32]);
	free(words);
}

/* A call wakes one waiter and moves the others to a second futex, where they are woken later. */
static void waiters_that_were_moved(void **state)
{
	static uint32_t words[64];
	struct elide_waker waker;
	uint64_t from = cycles_now();

	elide_blocking_wakes_futex(&words[0], SITE);
	elide_futex_places[elide_waker_place(&words[0])].to = &words[32];
	assert_true(elide_waker_find_moved(&words[0], from, cycles_now(), &waker));
	assert_int_equal(waker.by, (uintptr_t)SITE);
	elide_blocking_wakes_futex(&words[32], OTHER);
	assert_true(elide_waker_find_moved(&words[0], from, cycles_now(), &waker));
	assert_int_equal(waker.by, (uintptr_t)OTHER);
	elide_blocking_wakes_futex(&words[0], SITE);
	assert_true(elide_waker_find_moved(&words[0], from, cycles_now(), &waker));
	assert_int_equal(waker.by, (uintptr_t)SITE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_nothing_is_noted),
		cmocka_unit_test(who_wakes_a_waiter_is_noted),
		cmocka_unit_test(who_waits_no_more_is_not_counted),
		cmocka_unit_test(last_wait_is_known),
		cmocka_unit_test(who_does_not_wait_is_not_counted),
		cmocka_unit_test(each_waiter_is_counted),
		cmocka_unit_test(a_wait_is_counted_after_the_release),
		cmocka_unit_test(a_futex_wait_goes_on),
		cmocka_unit_test(a_futex_elsewhere_has_the_class_of_its_call),
		cmocka_unit_test(waiters_that_were_moved),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
