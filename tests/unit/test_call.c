// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_call.c - the calls of a thread: which one a lock call is, how many there are, and what finds them.
 *
 * Sections are only counted here, none is elided: the locks are addresses on the heap, the sites
 * addresses in data of this program.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/elide.h"
#include "../../lib/life/fill.h"
#include "../../lib/life/lock.h"
#include "../../lib/life/threads.h"
#include "../../lib/state/call.h"
#include "../../lib/state/settings.h"
#include "child.h"
#include "own-data.h"

#define KIND ELIDE_KIND_MUTEX

/* Classes of locks that come to one site, and locks of each. */
#define CLASSES  30
#define OF_CLASS 200

__attribute__((constructor(101))) static void environment(void)
{
	own_data("profile");
}

static struct line {
	char bytes[CACHE_LINE];
} *locks;

/* Sites that acquire, some of which share a guess, and sites that initialise. */
static char sites[4 * ELIDE_NR_GUESSES], init_sites[2 * ELIDE_MAX_CLASSES];

static struct elide_call *find(const void *lock, const void *site)
{
	return elide_call_find(elide_self, lock, site, KIND);
}

static struct elide_call *look(const void *lock, const void *site)
{
	return elide_call_look(elide_self, lock, site, KIND);
}

static struct elide_call *get(const void *lock, const void *site)
{
	return elide_call_get(lock, site, KIND);
}

/* Is that the call of the site, for locks of that class? */
static bool is_of(const struct elide_call *call, const void *site, uint32_t tag)
{
	return call && call->row && elide_call_tag(call) == tag && call->row->class_index == tag &&
	       call->row->site == (uintptr_t)site && call->key == elide_call_key(site, KIND);
}

static void *run(void *body)
{
	return (void *)((const char *(*)(void))body)();
}

/* In a thread of its own, which has the block of the last one that ended here: what @body says is wrong. */
static void in_thread(const char *(*body)(void))
{
	pthread_t thread;
	void *wrong;

	assert_int_equal(pthread_create(&thread, NULL, run, (void *)body), 0);
	assert_int_equal(pthread_join(thread, &wrong), 0);
	elide_thread_joined((void *)thread, 0);
	if (wrong)
		fail_msg("%s", (const char *)wrong);
}

static void keys_are_whole(void **state)
{
	static const uintptr_t table[] = {1, 7, 8, 0x401234, 0x7fffffffffff, 0x7f1234567891,
					  0xffffffffffffffff >> 4};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		for (int kind = 0; kind < ELIDE_NR_KINDS; kind++) {
			uint64_t key = elide_call_key((void *)table[i], kind);

			assert_ptr_equal(elide_key_site(key), table[i]);
			assert_int_equal(elide_key_kind(key), kind);
			/* No two have the same. */
			for (int other = 0; other < kind; other++)
				assert_true(key != elide_call_key((void *)table[i], other));
		}
}

static const char *made_then_found(void)
{
	const struct elide_call *call, *other;
	uint32_t nr_calls;

	if (elide_self || find(&locks[0], sites))
		return "a new thread has calls";
	call = get(&locks[0], sites);
	nr_calls = elide_self->nr_calls;
	if (!is_of(call, sites, elide_registry_find(&locks[0])))
		return "the call is another one";
	if (find(&locks[0], sites) != call || look(&locks[0], sites) != call ||
	    get(&locks[0], sites) != call)
		return "what was made is not found";
	if (find(&locks[0], sites + 1) || find(&locks[1], sites))
		return "what was not made is found";
	/* A lock of the same class, which is not registered. */
	if (get(&locks[1], sites) != call || find(&locks[1], sites) != call)
		return "another lock of the class has another call";
	if (elide_call_find(elide_self, &locks[0], sites, ELIDE_KIND_CUSTOM))
		return "a call of another kind is found";
	other = elide_call_get(&locks[2], sites, ELIDE_KIND_RWLOCK_READ);
	if (!other || other->row->kind != ELIDE_KIND_RWLOCK_READ ||
	    elide_call_find(elide_self, &locks[2], sites, ELIDE_KIND_RWLOCK_WRITE) ||
	    elide_call_get(&locks[2], sites, ELIDE_KIND_RWLOCK_WRITE) == other)
		return "reads and writes are not told apart";
	return elide_self->nr_calls == nr_calls + 2 ? NULL : "there is a call too many";
}

static const char *has_the_calls(void)
{
	uint32_t nr_calls;

	if (elide_self)
		return "the thread is not new";
	/* Its block, and nothing else. */
	if (!get(&locks[0], sites))
		return "no call";
	nr_calls = elide_self->nr_calls;
	for (int kind = KIND; kind <= ELIDE_KIND_RWLOCK_WRITE; kind++)
		if (!elide_call_look(elide_self, &locks[kind == KIND ? 1 : 2], sites, kind))
			return "what the thread before has made is not found";
	return nr_calls == 3 && elide_self->nr_calls == nr_calls ? NULL : "calls were made anew";
}

static void made_calls_are_found(void **state)
{
	in_thread(made_then_found);
	in_thread(has_the_calls);
}

static const char *destroyed(void)
{
	struct elide_call *first = get(&locks[7], sites), *then;

	elide_lock_gone(&locks[7]);
	if (find(&locks[7], sites))
		return "the call of a destroyed lock is found";
	elide_lock_new(&locks[7], KIND, init_sites, false);
	if (find(&locks[7], sites) == first)
		return "the lock that was there before is found";
	then = get(&locks[7], sites);
	if (!then || then == first || find(&locks[7], sites) != then)
		return "the new lock is not found";
	elide_lock_gone(&locks[7]);
	/* Initialised without a call: it is met at that site again. */
	return get(&locks[7], sites) == first ? NULL : "a static lock has another class than before";
}

static void destroyed_locks_are_forgotten(void **state)
{
	in_thread(destroyed);
}

static struct line *lock_of(unsigned int class, unsigned int nr)
{
	return &locks[nr * CLASSES + class];
}

static const char *many_classes(void)
{
	static char site[1];
	struct elide_call *calls[CLASSES];
	uint32_t before, tag;

	/* They are in turn in memory, so no two neighbours are of a class. */
	for (unsigned int nr = 0; nr < OF_CLASS; nr++)
		for (unsigned int class = 0; class < CLASSES; class++)
			elide_lock_new(lock_of(class, nr), KIND, &init_sites[class], false);
	before = get(lock_of(0, 0), sites) ? elide_self->nr_calls : 0;
	for (unsigned int class = 0; class < CLASSES; class++) {
		calls[class] = get(lock_of(class, 0), site);
		tag = elide_registry_find(lock_of(class, 0));
		if (!is_of(calls[class], site, tag) ||
		    elide_class_info(tag)->address != (uintptr_t)&init_sites[class])
			return "a class has another call";
	}
	for (int round = 0; round < 3; round++)
		for (unsigned int nr = 0; nr < OF_CLASS; nr++)
			for (unsigned int class = 0; class < CLASSES; class++) {
				struct elide_call *call = look(lock_of(class, nr), site);

				if (call != calls[class])
					return "a lock is not found, or its call is another's";
				counter_add(elide_call_row(call)->not_attempted, 1);
				if (find(lock_of(class, nr), site) != call)
					return "what was found is not guessed";
			}
	for (unsigned int class = 0; class < CLASSES; class++)
		if (calls[class]->row->not_attempted != 3 * OF_CLASS)
			return "a row counts another class";
	return elide_self->nr_calls == before + CLASSES ? NULL : "there is a call too many";
}

static void classes_at_one_site(void **state)
{
	in_thread(many_classes);
}

/* Sites with the same low bits: the guess by the site is of one of them. */
static const char *alike_sites(void)
{
	const char *site[3] = {&sites[0], &sites[ELIDE_NR_GUESSES], &sites[2 * ELIDE_NR_GUESSES]};
	struct elide_call *calls[3];

	for (int i = 0; i < 3; i++) {
		if (elide_guess(site[i]) != elide_guess(site[0]))
			return "the sites do not collide";
		calls[i] = get(&locks[0], site[i]);
		if (!is_of(calls[i], site[i], elide_registry_find(&locks[0])))
			return "the call is another one";
		if (find(&locks[0], site[i]) != calls[i] || look(&locks[0], site[0]) != calls[0] ||
		    (i == 1 && find(&locks[0], site[0]) != calls[0]))
			return "of sites that share a guess only one is found";
	}
	for (int i = 0; i < 3; i++)
		if (look(&locks[0], site[i]) != calls[i])
			return "of sites that share a guess one is not found";
	for (int round = 0; round < 3; round++)
		for (unsigned int nr = 0; nr < OF_CLASS; nr++)
			for (int i = 0; i < 3; i++) {
				const void *lock = lock_of(0, nr);
				const struct elide_call *call = get(lock, site[i]);

				if (!is_of(call, site[i], elide_registry_find(lock)) ||
				    look(lock, site[i]) != call)
					return "of many locks one is not found";
			}
	return NULL;
}

static void guesses_collide(void **state)
{
	in_thread(alike_sites);
}

static const char *as_many_as_there_is_room_for(void)
{
	uint64_t *dropped = &elide_data->dropped[ELIDE_DROPPED_ROWS], before = *dropped;
	const char *end = sites + sizeof(sites), *site;
	uint32_t nr, tag;

	/* Some sites are known from tests before. */
	get(&locks[0], sites);
	tag = elide_registry_find(&locks[0]);
	for (site = sites; site < end && elide_self->nr_calls < ELIDE_MAX_CALLS; site++) {
		const struct elide_call *call = get(&locks[0], site);

		if (!is_of(call, site, tag) || look(&locks[0], site) != call)
			return "the call is another one";
		if (find(&locks[0], site) != call)
			return "the call is not found";
	}
	if (elide_self->nr_calls != ELIDE_MAX_CALLS || *dropped != before)
		return "there is less room than ELIDE_MAX_CALLS";
	for (nr = 0; nr < 100; nr++, site++)
		if (get(&locks[0], site) || look(&locks[0], site))
			return "there is more room than ELIDE_MAX_CALLS";
	if (elide_self->nr_calls != ELIDE_MAX_CALLS || *dropped != before + 100)
		return "what is dropped is not counted";
	for (int round = 0; round < 2; round++)
		for (const char *known = sites; known < site - 100; known++)
			if (!is_of(look(&locks[0], known), known, tag))
				return "a call is not found any more";
	/* All are different, and the last ones are in the further part of the block. */
	if (elide_call_at(elide_self, ELIDE_MAX_CALLS) == &elide_no_call ||
	    !elide_self->more || elide_call_at(elide_self, ELIDE_FIRST_CALLS) != elide_self->more->calls)
		return "the further part of the block has no calls";
	for (nr = 1; nr <= ELIDE_MAX_CALLS; nr++) {
		const struct elide_call *call = elide_call_at(elide_self, nr);

		if (elide_call_known(elide_self, elide_call_tag(call), call->row->site, call->row->kind) != call)
			return "two calls are the same";
	}
	return NULL;
}

/* The block of a thread that has ended, full as it is. */
static const char *has_all_of_them(void)
{
	if (!get(&locks[0], sites) || elide_self->nr_calls != ELIDE_MAX_CALLS)
		return "the thread has another block";
	for (const char *site = sites; site < sites + ELIDE_MAX_CALLS / 2; site++)
		if (!look(&locks[0], site))
			return "a call is not found any more";
	return get(&locks[0], sites + sizeof(sites) - 1) ? "there is room" : NULL;
}

static const char *child_has_none(void)
{
	const char *last = NULL;
	struct elide_call *call, *far = NULL;
	int status = 1;
	pid_t pid;

	for (const char *site = sites; site < sites + ELIDE_MAX_CALLS / 2; site++) {
		call = get(&locks[0], site);
		if (call && (call < elide_self->calls || call >= elide_self->calls + ELIDE_FIRST_CALLS)) {
			far = call;
			last = site;
		}
	}
	if (!far)
		return "no call is in the further part of the block";
	call = get(&locks[0], sites);
	pid = fork();
	if (!pid) {
		/* A lock call that the fork has interrupted goes on with them. */
		check(!call->row && elide_call_row(call) == &elide_no_row);
		check(!far->row && elide_call_row(far) == &elide_no_row);
		check(elide_call_at(elide_self, ELIDE_MAX_CALLS) == &elide_no_call);
		check(!elide_self->nr_calls && !find(&locks[0], sites) && !find(&locks[0], last));
		check(!look(&locks[0], sites));
		/* What it does with them is forgotten. */
		call->lock = &locks[0];
		call->waits = 7;
		check(is_of(get(&locks[0], last), last, elide_registry_find(&locks[0])));
		check(elide_self->nr_calls == 1 && !elide_self->more && !elide_self->full);
		check(is_of(get(&locks[0], sites), sites, elide_registry_find(&locks[0])));
		check(find(&locks[0], sites) && look(&locks[0], last));
		check(!unlink(elide_data_path()));
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return "the child has failed";
	return find(&locks[0], sites) == call && call->row && look(&locks[0], last) == far ?
		       NULL : "the parent has lost calls";
}

static void many_calls(void **state)
{
	in_thread(as_many_as_there_is_room_for);
	in_thread(has_all_of_them);
	in_thread(child_has_none);
}

/* In a second thread, whose block has nothing of the first one's. */
static const char *unloaded(void)
{
	struct elide_call *in[8], *out = get(&locks[0], &init_sites[0]);
	uint32_t nr_calls;

	for (int i = 0; i < 8; i++)
		in[i] = get(&locks[0], &sites[i]);
	nr_calls = elide_self->nr_calls;
	elide_calls_forget((uintptr_t)sites, (uintptr_t)&sites[7]);
	for (int i = 0; i < 7; i++)
		if (find(&locks[0], &sites[i]))
			return "a call at an address that was unloaded is found";
	if (find(&locks[0], &sites[7]) != in[7] || find(&locks[0], &init_sites[0]) != out)
		return "a call at another address is not found";
	/* What is loaded there has the same calls; as is the case here, it was not known to be an object. */
	for (int i = 0; i < 7; i++)
		if (look(&locks[0], &sites[i]) != in[i] || find(&locks[0], &sites[i]) != in[i])
			return "a call does not come back";
	elide_calls_forget(0, UINTPTR_MAX);
	if (find(&locks[0], &sites[7]) || find(&locks[0], &init_sites[0]))
		return "not all calls are forgotten";
	if (get(&locks[0], &sites[7]) != in[7] || get(&locks[0], &init_sites[0]) != out)
		return "a call does not come back in a global-lock path";
	return elide_self->nr_calls == nr_calls ? NULL : "calls were made anew";
}

static pthread_barrier_t first_lives;

static void *keeps_block(void *unused)
{
	bool ok;

	get(&locks[0], sites);
	ok = elide_self;
	pthread_barrier_wait(&first_lives);
	pthread_barrier_wait(&first_lives);
	return (void *)(uintptr_t)ok;
}

/* Beside a thread that has the block of the tests before: a new one. */
static void in_second_thread(const char *(*body)(void))
{
	pthread_t thread;
	void *ok;

	pthread_barrier_init(&first_lives, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, keeps_block, NULL), 0);
	pthread_barrier_wait(&first_lives);
	in_thread(body);
	pthread_barrier_wait(&first_lives);
	assert_int_equal(pthread_join(thread, &ok), 0);
	elide_thread_joined((void *)thread, 0);
	assert_non_null(ok);
}

static void unloaded_calls_come_back(void **state)
{
	in_second_thread(unloaded);
}

/* What the lock functions do: the last lock that a call has locked is remembered, and it alone. */
static const char *last_lock(void)
{
	struct elide_call *call = get(lock_of(3, 0), sites), *other = get(lock_of(4, 0), sites);

	for (unsigned int nr = 0; nr < 8; nr++) {
		struct elide_call *now = get(lock_of(3, nr), sites);

		if (now != call || (nr && now->lock != lock_of(3, nr - 1)))
			return "the last lock of the call is another one";
		now->lock = lock_of(3, nr);
		elide_calls_forget(0, nr % 2 ? UINTPTR_MAX : 0);
	}
	return other->lock ? "a call has the lock of another" : NULL;
}

static void last_lock_of_a_call(void **state)
{
	in_second_thread(last_lock);
}

/* Under policy hpca each lock is judged by itself at each call. */
static const char *judged(void)
{
	struct elide_call *call[2] = {get(lock_of(0, 0), &sites[0]), get(lock_of(0, 0), &sites[1])};

	for (int i = 0; i < 2; i++)
		for (unsigned int nr = 0; nr < 20; nr++) {
			struct policy_window *w = elide_window(elide_self, lock_of(0, nr), call[i]);

			/* Another's, or a clean one. */
			if (w->tries)
				return "a lock has the judgement of another";
			w->tries = 1 + nr + 20 * i;
			if (elide_window(elide_self, lock_of(0, nr), call[i]) != w || !w->tries)
				return "a judgement is not found again";
		}
	return NULL;
}

static void windows(void **state)
{
	in_second_thread(judged);
}

#include "call-signals.h"

/*
 * After ELIDE_MAX_CLASSES the locks of all further classes share one class; each site has a row of
 * its own.
 */
static const char *beyond_classes(void)
{
	uint64_t *dropped = &elide_data->dropped[ELIDE_DROPPED_CLASSES], before;
	/* No lock beyond the limit has been met at these sites. */
	const char *one = &sites[sizeof(sites) - 1], *two = &sites[sizeof(sites) - 2];
	const struct elide_call *call = NULL, *other;
	struct line *fresh = &locks[CLASSES * OF_CLASS];
	unsigned int nr = 0;

	for (; nr < 2 * ELIDE_MAX_CLASSES; nr++) {
		elide_lock_new(&fresh[nr], KIND, &init_sites[nr], false);
		/* A thread has no rows for all of them. */
		if (nr < ELIDE_MAX_CLASSES - 128)
			continue;
		call = get(&fresh[nr], one);
		if (!call)
			return "a lock is not counted";
		if (elide_class_info(elide_tag_class(elide_call_tag(call)))->type == ELIDE_CLASS_BEYOND)
			break;
	}
	if (nr == 2 * ELIDE_MAX_CLASSES)
		return "classes have no bound";
	other = get(&fresh[nr], two);
	if (!is_of(call, one, elide_call_tag(call)) || !is_of(other, two, elide_call_tag(call)))
		return "the call is another one";
	if (call->row->state != ELIDE_STATE_PROFILED)
		return "it may be elided";
	before = *dropped;
	for (int i = 0; i < 3; i++)
		for (unsigned int more = nr; more < 2 * ELIDE_MAX_CLASSES; more++) {
			/* Not in a global-lock path, which is for what is met for the first time. */
			if (look(&fresh[more], one) != call ||
			    look(&fresh[more], two) != other ||
			    get(&fresh[more], one) != call)
				return "a lock beyond the bound has another call";
		}
	if (*dropped != before)
		return "what is counted by its site is counted as dropped, too";
	/* Of a class that exists. */
	if (is_of(get(&fresh[0], one), one, elide_call_tag(call)))
		return "a lock that has a class is taken for one beyond the bound";
	/* At an address for which a word has no room. */
	call = get((void *)(1ull << 50), one);
	if (!call || look((void *)(1ull << 50), one) != call)
		return "a lock at an address of more than 48 bits is not counted by its site";
	return NULL;
}

static void beyond_max_classes(void **state)
{
	in_second_thread(beyond_classes);
}

static int setup(void **state)
{
	/* Begins the engine. */
	elide_status(NULL);
	locks = calloc(CLASSES * OF_CLASS + 2 * ELIDE_MAX_CLASSES, sizeof(*locks));
	return !locks || !elide_process.running;
}

static int teardown(void **state)
{
	free(locks);
	return unlink(elide_data_path());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_whole),
		cmocka_unit_test(made_calls_are_found),
		cmocka_unit_test(destroyed_locks_are_forgotten),
		cmocka_unit_test(classes_at_one_site),
		cmocka_unit_test(guesses_collide),
		cmocka_unit_test(many_calls),
		cmocka_unit_test(unloaded_calls_come_back),
		cmocka_unit_test(last_lock_of_a_call),
		cmocka_unit_test(windows),
		cmocka_unit_test(signals),
		cmocka_unit_test(beyond_max_classes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
