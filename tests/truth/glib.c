// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * glib.c - for how long GLib's locks are held, and threads wait for them: glib SCENARIO.
 */
#include <glib.h>

#define LOCK   g_mutex_lock(&m)
#define UNLOCK g_mutex_unlock(&m)
static GMutex m;

#include "contended.h"

static GCond c;
static GRecMutex recursive;
static GRWLock rw;

static struct truth truth_c = { .name = "c", .after = { &truth_c }, .waits = true };
static struct truth truth_made = { .name = "*", .after = { &truth_made } };

/* A thread that waits in its section, for one that signals 1 ms later. */
static atomic_int waits, woken;

static void *waiting_thread(void *arg)
{
	struct section s;

	for (int i = 0; i < 100; i++) {
		LOCKED(&truth, &s, g_mutex_lock(&m));
		nap(200 * US);
		waits++;
		while (woken <= i)
			SECTION_WAIT(&truth, &s, &truth_c, g_cond_wait(&c, &m));
		nap(300 * US);
		UNLOCKED(&truth, &s, g_mutex_unlock(&m));
	}
	return NULL;
}

static void *signalling_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		wait_for(&waits, i + 1);
		nap(MS);
		SECTION(&truth, g_mutex_lock(&m), woken++, g_mutex_unlock(&m));
		moment(&truth_c.ended, now());
		g_cond_signal(&c);
	}
	return NULL;
}

static void *condition_thread(void *arg)
{
	return arg ? signalling_thread(arg) : waiting_thread(arg);
}

static void condition(void)
{
	/* Its waits for the mutex after a signal are in no row of the mutex. */
	truth.waits = false;
	run_threads(2, condition_thread);
	truth_print(&truth);
}

/* Four threads meet; the last one wakes the others, which then wait for the mutex in GLib. */
static int arrived, meeting;

static __attribute__((noinline)) void meet(void)
{
	int now_at;

	g_mutex_lock(&m);
	now_at = meeting;
	if (++arrived == 4) {
		arrived = 0;
		meeting++;
		g_cond_broadcast(&c);
	}
	while (meeting == now_at)
		g_cond_wait(&c, &m);
	nap(100 * US);
	g_mutex_unlock(&m);
	truth.acquired++;
}

static void *meet_thread(void *arg)
{
	for (int i = 0; i < 100; i++)
		meet();
	return NULL;
}

static void relock(void)
{
	truth.waits = false;
	run_threads(4, meet_thread);
	truth_print(&truth);
	printf("truth blocker m/futex-lock meet\ntruth names m\n");
}

/* Locks that GLib makes of pthread's: the first call of each makes it. Here they are made, one a line. */
static int made_at[2];

static __attribute__((noinline)) void user(void)
{
	made_at[0] = __LINE__ + 1;
	SECTION(&truth_made, (g_rec_mutex_lock(&recursive), g_rec_mutex_lock(&recursive)), nap(100 * US),
		(g_rec_mutex_unlock(&recursive), g_rec_mutex_unlock(&recursive)));
	made_at[1] = __LINE__ + 1;
	SECTION(&truth_made, g_rw_lock_reader_lock(&rw), nap(100 * US), g_rw_lock_reader_unlock(&rw));
	SECTION(&truth_made, g_rw_lock_writer_lock(&rw), nap(100 * US), g_rw_lock_writer_unlock(&rw));
}

static void made(void)
{
	for (int i = 0; i < 200; i++)
		user();
	truth_print(&truth_made);
	/* That of the recursive mutex is called by a jump, so the call is the user's. */
	printf("truth callers */rwlock-read 1\ntruth callers */rwlock-write 1\ntruth names made in user glib.c:%d,made in user glib.c:%d\n", made_at[0],
	       made_at[1]);
}

static const struct scenario scenarios[] = {
	{ "asleep", asleep },
	{ "short", short_sections },
	{ "condition", condition },
	{ "relock", relock },
	{ "made", made },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	return scenario_main(argc, argv, scenarios);
}
