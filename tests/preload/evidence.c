/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence.c - the data file says who waited for whom, and what aborted what.
 *
 * evidence waits DATAFILE   contended locks: who waits, and who is waited for
 * evidence aborts DATAFILE  elided: a site that falls back, an inner
 *                           lock that is held, a system call
 * evidence pauses DATAFILE  the policy's decisions
 * evidence silent DATAFILE  with ELIDE_STACKS=0: nothing of it, but decisions
 *
 * Prints "ok NAME" or "not ok NAME: why" for each. Every function here that
 * locks is one of its own, so that an address tells which it was.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "../../lib/policy/learn.h"
#include "../../lib/row-sums.h"
#include "data.h"

static const char *path;
static const char *map;
static int failed;

static void say(const char *name, bool good, const char *why)
{
	printf(good ? "ok %s\n" : "not ok %s: %s\n", name, why);
	failed |= !good;
}

/* Goes through all records of a type: those after @last, the first after NULL. */
static const void *next(enum elide_chunk_type type, const void *last)
{
	const struct elide_header *h = (const void *)map;
	bool found = !last;

	for (uint64_t at = ELIDE_HEADER_SIZE; at < h->size; at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)(map + at);
		const char *record = (const char *)(chunk + 1);

		for (uint32_t i = 0; chunk->type == type && i < chunk->nr_records;
		     i++, record += chunk->record_size) {
			if (found)
				return record;
			found = record == last;
		}
	}
	return NULL;
}

static bool open_data(void)
{
	int fd = data_file_open(path);

	if (fd < 0)
		return false;
	/* More than the file has: it grows while it is read. */
	map = mmap(NULL, 64 << 20, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return map != MAP_FAILED;
}

/* Longer than any function here. */
#define FUNCTION_BYTES 512

static bool lies_in(uint64_t address, void *function)
{
	return address > (uintptr_t)function && address < (uintptr_t)function + FUNCTION_BYTES;
}

static const struct elide_stack *stack(uint32_t index)
{
	const struct elide_stack *s = NULL;

	while (index-- && (s = next(ELIDE_CHUNK_STACKS, s)))
		;
	return s;
}

/* Is there a sample of @site whose stack begins in @first and goes on in @second? */
static bool has_sample(enum elide_sample_type type, void *site, void *first, void *second)
{
	const struct elide_sample *s = NULL;

	while ((s = next(ELIDE_CHUNK_SAMPLES, s))) {
		const struct elide_stack *at = s->stack ? stack(s->stack) : NULL;

		if (s->type == type && s->samples && lies_in(s->site, site) && at &&
		    at->nr_frames >= 2 && lies_in(at->frames[0], first) &&
		    lies_in(at->frames[1], second) && (type == ELIDE_SAMPLE_BLOCK || s->cycles))
			return true;
	}
	return false;
}

/* The times that @site has met a lock held by @held, as @kind. */
static uint64_t blamed(enum elide_blame_type type, void *site, void *held, enum elide_kind kind)
{
	const struct elide_blame *b = NULL;
	uint64_t count = 0;

	while ((b = next(ELIDE_CHUNK_BLAME, b)))
		if (b->type == type && lies_in(b->site, site) && lies_in(b->held_site, held) &&
		    b->held_kind == kind)
			count += b->count;
	return count;
}

#define ROUNDS 8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static volatile long value;

static pid_t wanting; /* the thread that comes */
static volatile bool coming;

/* Does it sleep in the lock call that it was about to make? There is nothing else to sleep in. */
static bool sleeps(void)
{
	char name[64], text[256], *end;
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)wanting);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && !strncmp(end, ") S", 3);
}

/* Until the other one has come and sleeps, however busy this machine is. */
static void hold(void)
{
	pthread_barrier_wait(&barrier);
	while (!coming || !sleeps())
		usleep(1000);
	coming = false;
}

static void come(void)
{
	pthread_barrier_wait(&barrier);
	coming = true;
}

static void __noinline hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
	hold();
	pthread_mutex_unlock(&mutex);
	value++;
}

static void __noinline hold_writing(void)
{
	pthread_rwlock_wrlock(&rwlock);
	hold();
	pthread_rwlock_unlock(&rwlock);
	value++;
}

static void __noinline hold_reading(void)
{
	pthread_rwlock_rdlock(&rwlock);
	hold();
	pthread_rwlock_unlock(&rwlock);
	value++;
}

static void __noinline want_mutex(void)
{
	pthread_mutex_lock(&mutex);
	value++;
	pthread_mutex_unlock(&mutex);
}

static void __noinline want_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
	value++;
	pthread_rwlock_unlock(&rwlock);
}

static void __noinline want_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
	value++;
	pthread_rwlock_unlock(&rwlock);
}

static void *__noinline holder(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		hold_mutex();
		hold_writing();
		hold_reading();
	}
	value++;
	return NULL;
}

static void *__noinline wanter(void *arg)
{
	wanting = syscall(SYS_gettid);
	for (int i = 0; i < ROUNDS; i++) {
		come();
		want_mutex();
		come();
		want_to_read();
		come();
		want_to_write();
	}
	value++;
	return NULL;
}

static void pair(void *(*one)(void *), void *(*two)(void *))
{
	pthread_t a, b;

	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void waits(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	pair(holder, wanter);
	say("waits-mutex", blamed(ELIDE_BLAME_WAIT, want_mutex, hold_mutex, ELIDE_KIND_MUTEX) ==
				   ROUNDS, "a wait for hold_mutex() has no record");
	say("waits-for-writer", blamed(ELIDE_BLAME_WAIT, want_to_read, hold_writing,
				       ELIDE_KIND_RWLOCK_WRITE) == ROUNDS,
	    "a wait for hold_writing() has no record");
	say("waits-for-reader", blamed(ELIDE_BLAME_WAIT, want_to_write, hold_reading,
				       ELIDE_KIND_RWLOCK_READ) == ROUNDS,
	    "a wait for hold_reading() has no record");
	say("waits-stack", has_sample(ELIDE_SAMPLE_WAIT, want_mutex, want_mutex, wanter) &&
				   has_sample(ELIDE_SAMPLE_WAIT, want_to_read, want_to_read, wanter),
	    "no stack of a waiter");
	say("waits-blocker", has_sample(ELIDE_SAMPLE_BLOCK, hold_mutex, hold_mutex, holder) &&
				     has_sample(ELIDE_SAMPLE_BLOCK, hold_writing, hold_writing, holder) &&
				     has_sample(ELIDE_SAMPLE_BLOCK, hold_reading, hold_reading, holder),
	    "no stack of who was waited for");
}

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

/* Its system call makes it fall back, and all others abort. */
static void __noinline call_inside(void)
{
	pthread_mutex_lock(&mutex);
	syscall(SYS_getppid);
	for (int i = 0; i < 300; i++)
		value++;
	pthread_mutex_unlock(&mutex);
	value++;
}

static void __noinline speculate(void)
{
	pthread_mutex_lock(&mutex);
	value++;
	pthread_mutex_unlock(&mutex);
}

static void __noinline call_inside_inner(void)
{
	pthread_mutex_lock(&inner);
	syscall(SYS_getppid);
	for (int i = 0; i < 300; i++)
		value++;
	pthread_mutex_unlock(&inner);
	value++;
}

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;

static void __noinline nest(void)
{
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	value++;
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
	value++;
}

#define SECTIONS 500

static void *killer(void *arg)
{
	for (int i = 0; i < SECTIONS; i++)
		call_inside();
	for (int i = 0; i < SECTIONS; i++)
		call_inside_inner();
	stop = 1;
	return NULL;
}

static void *speculator(void *arg)
{
	while (!stop) {
		speculate();
		nest();
	}
	return NULL;
}

static bool has_system_call(void)
{
	const struct elide_detail *d = NULL;

	while ((d = next(ELIDE_CHUNK_DETAILS, d)))
		if (lies_in(d->site, call_inside) && d->cause == ELIDE_CAUSE_syscall)
			return d->syscall_nr == SYS_getppid && d->own_stack &&
			       d->source == ELIDE_DETAIL_EMULATOR &&
			       d->lock == (uintptr_t)&mutex && d->count >= 8;
	return false;
}

/* While each event is sampled, the samples of a row add up to its counters. */
static bool counts_fit(void)
{
	const struct elide_sample *s = NULL;
	const struct elide_row *row = NULL;
	uint64_t sampled = 0, counted = 0;

	while ((s = next(ELIDE_CHUNK_SAMPLES, s)))
		sampled += s->type == ELIDE_SAMPLE_ABORT ? s->count : 0;
	while ((row = next(ELIDE_CHUNK_ROWS, row)))
		counted += elide_row_aborts(row);
	return sampled == counted;
}

static bool was_paused(void)
{
	const struct elide_event *e = NULL;

	while ((e = next(ELIDE_CHUNK_TIMELINE, e)))
		if (e->type == ELIDE_EVENT_PAUSED && lies_in(e->site, call_inside))
			return e->arm == POLICY_ARM_real && e->before != POLICY_ARM_real && !e->pairs;
	return false;
}

/* With the adaptive policy: a section of which no attempt commits. */
static void pauses(void)
{
	for (int i = 0; i < 1000; i++)
		call_inside();
	say("pauses", was_paused(), "no pause of call_inside()");
}

/* With ELIDE_STACKS=1 and a policy that does not pause. */
static void aborts(void)
{
	bool emulated;

	pair(killer, speculator);
	emulated = ((const struct elide_header *)map)->rtm == ELIDE_RTM_EMULATED;
	say("aborts-busy", blamed(ELIDE_BLAME_ABORT, speculate, call_inside, ELIDE_KIND_MUTEX) > 0,
	    "call_inside() is not to blame");
	say("aborts-counts", counts_fit(), "the samples do not add up to the aborts");
	if (!emulated)
		return;
	say("aborts-system-call", has_system_call(), "getppid() in call_inside() has no record");
	if (rtmgrind_request(RTMGRIND_VERSION, 0, 0) >= 2)
		say("aborts-inner",
		    blamed(ELIDE_BLAME_INNER, nest, call_inside_inner, ELIDE_KIND_MUTEX) > 0,
		    "call_inside_inner() is not to blame");
}

static void silent(void)
{
	bool any = false;

	pthread_barrier_init(&barrier, NULL, 2);
	pair(holder, wanter);
	for (int type = ELIDE_CHUNK_STACKS; type < ELIDE_CHUNK_TIMELINE; type++)
		any |= next(type, NULL) != NULL;
	say("silent", !any, "there are records");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	path = argv[2];
	speculate();
	if (!open_data()) {
		perror(path);
		return 2;
	}
	if (!strcmp(argv[1], "waits"))
		waits();
	else if (!strcmp(argv[1], "aborts"))
		aborts();
	else if (!strcmp(argv[1], "pauses"))
		pauses();
	else if (!strcmp(argv[1], "silent"))
		silent();
	else
		return 2;
	return failed;
}
