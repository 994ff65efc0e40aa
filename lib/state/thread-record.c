/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread-record.c - see thread-record.h. */
#include <string.h>
#include <sys/prctl.h>

#include "../base/datafile-writer.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "../emulator.h"
#include "thread-record.h"

static struct {
	struct elide_chunk *chunk;
	uint32_t nr_blocks;
	uint32_t nr_past;
	struct elide_thread_record *past[ELIDE_PAST_NAMES + 1]; /* the last: of further names */
} records;

static struct elide_thread_record *add(const struct elide_thread_record *record)
{
	struct elide_thread_record *copy =
		elide_data_record(&records.chunk, ELIDE_CHUNK_THREADS, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *record;
	elide_data_publish(records.chunk);
	return copy;
}

/* What the rows of a block have counted. A hot lock's call counts in the row of another call. */
static void sum_rows(const struct elide_thread *t, struct elide_thread_record *to)
{
	double held = 0;

	to->acquired = to->elided = to->contended = to->wait = 0;
	for (uint32_t i = 0; i < t->nr_rows; i++) {
		const struct elide_row *row = t->calls[i].row;

		if (!row || t->calls[i].hot || !elide_kind_is_lock(row->kind))
			continue;
		to->acquired += elide_row_acquired(row);
		to->elided += elide_row_elided(row);
		to->contended += row->contended;
		to->wait += row->wait.total;
		held += elide_row_held(row);
	}
	to->held = held > 0 ? (uint64_t)held : 0;
}

/* The record of past threads of a name; NULL if there is no room. */
static struct elide_thread_record *find_past(const char *name)
{
	struct elide_thread_record past = {.state = ELIDE_THREAD_PAST};
	uint32_t i;

	for (i = 0; i < records.nr_past; i++)
		if (!strncmp(records.past[i]->name, name, sizeof(past.name)))
			return records.past[i];
	if (i < ELIDE_PAST_NAMES)
		memcpy(past.name, name, sizeof(past.name));
	else if (records.past[ELIDE_PAST_NAMES])
		return records.past[ELIDE_PAST_NAMES];
	records.past[i] = add(&past);
	records.nr_past += records.past[i] && i < ELIDE_PAST_NAMES;
	return records.past[i];
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The thread that had the block is past, and another one has it: its rows have @now. */
static void add_past(const struct elide_thread_record *was, const struct elide_thread_record *now)
{
	struct elide_thread_record *past = find_past(was->name);

	if (!past)
		return;
	past->nr++;
	past->acquired += now->acquired - was->acquired;
	past->elided += now->elided - was->elided;
	past->contended += now->contended - was->contended;
	past->wait += now->wait - was->wait;
	/* An estimate, which may shrink. */
	past->held += less(now->held, was->held);
}

void elide_thread_record_name(struct elide_thread *t)
{
	char name[sizeof(t->record->name)] = "";

	if (!t->record || t->nr_names >= ELIDE_NAME_READS)
		return;
	t->nr_names++;
	rtmgrind_time_stops();
	if (!sys_call(prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0)) {
		name[sizeof(name) - 1] = '\0';
		memcpy(t->record->name, name, sizeof(name));
	}
	rtmgrind_time_goes_on();
}

void elide_thread_record_begin(struct elide_thread *t)
{
	struct elide_thread_record now = {.state = ELIDE_THREAD_RUNS, .tid = t->tid, .nr = 1};

	sum_rows(t, &now);
	if (t->record) {
		add_past(t->record, &now);
		now.block = t->record->block;
		*t->record = now;
	} else {
		now.block = ++records.nr_blocks;
		t->record = add(&now);
	}
	t->nr_names = 0;
	elide_thread_record_name(t);
}

void elide_thread_record_end(struct elide_thread *t)
{
	if (t->record)
		t->record->state = ELIDE_THREAD_ENDED;
}

/* What /proc has as the name of a thread of this process. */
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
	/* It ends with a line feed. */
	name[n - 1] = '\0';
	memcpy(t->record->name, name, n);
}

void elide_thread_records_end(void)
{
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next) {
		if (t == elide_self)
			elide_thread_record_name(t);
		else if (t->tid && t->record)
			read_name(t);
	}
}

void elide_thread_records_forget(void)
{
	memset(&records, 0, sizeof(records));
}
