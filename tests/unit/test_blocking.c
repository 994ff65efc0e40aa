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
	};

	return cmocka_run_group_tests(tests, start, stop);
}
