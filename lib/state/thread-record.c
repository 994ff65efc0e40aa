/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread-record.c - see thread-record.h. */
#include <string.h>
#include <sys/prctl.h>

#include "../base/datafile-writer.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "../emulator.h"
#include "../row-sums.h"
#include "call.h"
#include "thread-list.h"
#include "thread-record.h"

static struct {
	struct elide_chunk *chunk;
	uint32_t nr_blocks;
	uint32_t nr_past;
	struct elide_thread_record *past[ELIDE_PAST_NAMES + 1]; /* the last one is for further names */
} records;

/* A new record, filled in place: on the stack it would be part of each thread's first call. @name: NULL: none */
static struct elide_thread_record *add(enum elide_thread_state state, uint32_t block, const char *name)
{
	struct elide_thread_record *new = elide_data_record(&records.chunk, ELIDE_CHUNK_THREADS, sizeof(*new));

	if (!new)
		return NULL;
	new->state = state;
	new->block = block;
	if (name)
		memcpy(new->name, name, sizeof(new->name));
	elide_data_publish(records.chunk);
	return new;
}

/* What the rows of a thread add up to: members of struct elide_thread_record. */
struct sums {
	uint64_t acquired, elided, contended, wait, held;
};

/* Sum up the rows of a block. The call of a lock with a state of its own counts in another call's row. */
static struct sums sum_rows(struct elide_thread *t)
{
	struct sums to = {0};
	double held = 0;

	for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
		const struct elide_call *call = elide_call_at(t, nr);
		const struct elide_row *row = call->row;

		if (!row || elide_tag_hot(elide_call_tag(call)))
			continue;
		if (elide_kind_is_lock(row->kind)) {
			to.acquired += elide_row_acquired(row);
			to.elided += elide_row_elided(row);
			to.contended += row->contended;
			held += elide_row_held(row);
		} else if (!elide_kind_waits_for_lock(row->kind)) {
			continue;
		}
		to.wait += row->wait.total;
	}
	to.held = held > 0 ? (uint64_t)held : 0;
	return to;
}

/*
 * The record of past threads of a name, or, if there are too many names, that of further names; NULL.
 */
static struct elide_thread_record *past_known(const char *name)
{
	/* Pairs with find_past(): counted records are complete. */
	uint32_t nr = __atomic_load_n(&records.nr_past, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++)
		if (!strncmp(records.past[i]->name, name, sizeof(records.past[i]->name)))
			return records.past[i];
	return nr == ELIDE_PAST_NAMES ? READ_ONCE(records.past[nr]) : NULL;
}

/* past_known(), made if need be; NULL if there is no room. */
static struct elide_thread_record *find_past(const char *name)
{
	struct elide_thread_record *found = past_known(name);
	uint32_t nr = records.nr_past;

	if (found)
		return found;
	found = add(ELIDE_THREAD_PAST, 0, nr < ELIDE_PAST_NAMES ? name : NULL);
	WRITE_ONCE(records.past[nr], found);
	if (found && nr < ELIDE_PAST_NAMES)
		__atomic_store_n(&records.nr_past, nr + 1, __ATOMIC_RELEASE);
	return found;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Atomic: threads that begin outside of global-lock paths add at the same time. */
static void add_to(uint64_t *sum, uint64_t more)
{
	__atomic_add_fetch(sum, more, __ATOMIC_RELAXED);
}

/* Another thread gets a block: add what the last one has counted. @now: sums of the rows */
static void add_past(const struct elide_thread_record *was, struct sums now)
{
	struct elide_thread_record *past = find_past(was->name);

	if (!past)
		return;
	__atomic_add_fetch(&past->nr, 1, __ATOMIC_RELAXED);
	add_to(&past->acquired, now.acquired - was->acquired);
	add_to(&past->elided, now.elided - was->elided);
	add_to(&past->contended, now.contended - was->contended);
	add_to(&past->wait, now.wait - was->wait);
	/* An estimate, which may shrink. */
	add_to(&past->held, less(now.held, was->held));
}

static void read_own_name(struct elide_thread *t)
{
	char name[sizeof(t->record->name)] = "";

	if (!t->record)
		return;
	rtmgrind_time_stops();
	if (!sys_call(prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0)) {
		name[sizeof(name) - 1] = '\0';
		memcpy(t->record->name, name, sizeof(name));
	}
	rtmgrind_time_goes_on();
}

void elide_thread_record_name(struct elide_thread *t)
{
	uint32_t nr = t->nr_names++;

	/* Not with the first row: then the thread has just begun. */
	if (nr && !(nr & (nr - 1)))
		read_own_name(t);
}

void elide_thread_record_make(struct elide_thread *t)
{
	t->record = add(ELIDE_THREAD_NONE, records.nr_blocks + 1, NULL);
	records.nr_blocks += t->record != NULL;
}

bool elide_thread_record_is_made(const struct elide_thread *t)
{
	return t->record && (!t->record->state || past_known(t->record->name));
}

void elide_thread_record_begin(struct elide_thread *t)
{
	struct elide_thread_record *record = t->record;
	struct sums now;
	uint32_t block;

	t->nr_names = 0;
	if (!record)
		return;
	now = sum_rows(t);
	if (record->state)
		add_past(record, now);
	block = record->block;
	memset(record, 0, sizeof(*record));
	record->block = block;
	record->tid = t->tid;
	record->nr = 1;
	record->acquired = now.acquired;
	record->elided = now.elided;
	record->contended = now.contended;
	record->wait = now.wait;
	record->held = now.held;
	record->state = ELIDE_THREAD_RUNS;
	read_own_name(t);
}

void elide_thread_record_end(struct elide_thread *t)
{
	if (t->record)
		t->record->state = ELIDE_THREAD_ENDED;
}

/* Read the name of another thread of this process from /proc. */
static void read_name(struct elide_thread *t)
{
	char path[64], name[sizeof(t->record->name)];
	ssize_t n;
	int fd;

	elide_text(path, sizeof(path), "/proc/self/task/%u/comm", t->tid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = sys_read(fd, name, sizeof(name));
	sys_close(fd);
	if (n < 2)
		return;
	/* In place of the line feed. */
	name[n - 1] = '\0';
	memcpy(t->record->name, name, n);
}

void elide_thread_records_end(void)
{
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		if (t == elide_self)
			read_own_name(t);
		else if (t->tid && t->record)
			read_name(t);
	}
}

void elide_thread_records_forget(void)
{
	memset(&records, 0, sizeof(records));
}
