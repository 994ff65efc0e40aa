// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * contention.c - who gets a line next that several cores ask for.
 *
 * A line makes one move at a time. Requests that arrive meanwhile queue. When
 * the move is over, all that want to read get it at once if it may be shared
 * then; of the others the one nearest to where the line is comes first, and
 * among equals the first that arrived. Requests of one domain do not go through
 * the directory, where the others stand: it asks the core that has the line
 * when the move is over, and until that arrives nearer ones come first. That a
 * busy-waiting lock then stays in one part of a processor is what CIDR'21 A.2
 * observed.
 *
 *   state of a request   is
 *   idle                 none
 *   queued               its thread is parked
 *   moving               the line is on its way to its core, or reserved for it
 *
 * Must never leave a line reserved for a thread that will not come.
 */
#include "contention.h"
#include "account.h"
#include "directory.h"
#include "distance.h"
#include "slice.h"
#include "vthread.h"

/**
 * struct request - what a thread asks for.
 * @next: behind it in the line's queue
 * @entry: the line, unless idle
 * @core: the thread's core
 * @write: it wants the line for itself
 * @queued: see above
 * @moving: see above
 * @asked: the core that has the line has been asked for it, or is at once
 */
struct request {
	struct request *next;
	struct shared_line *entry;
	Int core;
	Bool write;
	Bool queued;
	Bool moving;
	Bool asked;
};

/* Indexed by ThreadId. */
static struct request *requests;
static UInt nr_requests;
/* Counts forks: what a line knows of an older one's threads is void. */
static UInt epoch;

/**
 * contention_init() - prepare for threads.
 * @nr_threads: ThreadIds are below this
 */
void contention_init(UInt nr_threads)
{
	nr_requests = nr_threads;
	requests = VG_(calloc)("rtmgrind.requests", nr_threads, sizeof(*requests));
}

/** contention_forked() - this is a child process: nobody else asks for anything. */
void contention_forked(void)
{
	epoch++;
	VG_(memset)(requests, 0, nr_requests * sizeof(*requests));
}

/** contention_busy() - Return: True if the line is on its way to some core. */
Bool contention_busy(const struct shared_line *entry)
{
	return entry->mover && entry->epoch == epoch;
}

/** contention_next_core() - Return: the core that a busy line goes to. */
Int contention_next_core(const struct shared_line *entry)
{
	return requests[entry->mover].core;
}

static void reserve(struct shared_line *entry, ThreadId tid, Bool asked)
{
	requests[tid].moving = True;
	requests[tid].asked = asked;
	entry->mover = tid;
}

static ThreadId tid_of(const struct request *request)
{
	return request - requests;
}

static void dequeue(struct request *request)
{
	struct request **link = &request->entry->queue;

	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	request->queued = False;
}

/* Whether a request comes before the one for which its line is reserved. */
static Bool overtakes(const struct request *request)
{
	const struct shared_line *entry = request->entry;
	const struct request *reserved = &requests[entry->mover];

	return !reserved->asked && distance_between(entry->last_core, request->core) <
					   distance_between(entry->last_core, reserved->core);
}

/* The reservation is void: its thread waits again, before all others. */
static void put_back(struct shared_line *entry)
{
	struct request *reserved = &requests[entry->mover];

	reserved->moving = False;
	reserved->queued = True;
	reserved->next = entry->queue;
	entry->queue = reserved;
	vthreads[entry->mover].parked = True;
	entry->mover = 0;
}

/**
 * contention_take() - the running thread's request for a line arrives.
 * @entry: the line
 * @core: where it is to go
 * @write: nobody else is to have it then
 *
 * Waits for its turn, in virtual time, and does not return if the thread's
 * transaction aborts meanwhile.
 *
 * Return: True if the line is reserved until contention_done(), False if it can
 * be read at once as others do.
 */
Bool contention_take(struct shared_line *entry, Int core, Bool write)
{
	struct request *request = &requests[current_tid];
	struct request **tail = &entry->queue;

	if (entry->epoch != epoch) {
		entry->epoch = epoch;
		entry->mover = 0;
		entry->queue = NULL;
	}
	*request = (struct request){.entry = entry, .core = core, .write = write};
	if (entry->mover && overtakes(request))
		put_back(entry);
	if (!entry->mover) {
		reserve(entry, current_tid, True);
		return True;
	}
	while (*tail)
		tail = &(*tail)->next;
	*tail = request;
	request->queued = True;
	slice_park();
	if (request->queued)
		dequeue(request);
	request->asked = True;
	return request->moving;
}

/* Those who only read need not wait for each other. */
static void grant_readers(struct shared_line *entry)
{
	struct request *request, *next;

	for (request = entry->queue; request; request = next) {
		next = request->next;
		if (request->write)
			continue;
		dequeue(request);
		slice_unpark(tid_of(request), account_now());
	}
}

static void grant_nearest(struct shared_line *entry, Int core, Long hold)
{
	struct request *request, *nearest = entry->queue;

	if (!nearest)
		return;
	for (request = nearest->next; request; request = request->next)
		if (distance_between(core, request->core) <
		    distance_between(core, nearest->core))
			nearest = request;
	dequeue(nearest);
	reserve(entry, tid_of(nearest), False);
	entry->last_core = core;
	slice_unpark(tid_of(nearest), account_now() + hold + distance_probe(core, nearest->core));
}

/**
 * contention_done() - a thread's move is over, or will not take place.
 * @tid: the thread; if it has reserved no line nothing happens
 * @hold: cycles until the line can leave its core again
 */
void contention_done(ThreadId tid, Long hold)
{
	struct request *request = &requests[tid];
	struct shared_line *entry = request->entry;

	if (!request->moving)
		return;
	request->moving = False;
	entry->mover = 0;
	if (entry->owner < 0)
		grant_readers(entry);
	grant_nearest(entry, request->core, hold);
	directory_settle(entry);
}

/**
 * contention_cancel() - a parked thread does not want its line any more.
 * @tid: a thread, parked or not
 *
 * It runs again, as soon as it is its turn.
 */
void contention_cancel(ThreadId tid)
{
	struct request *request = &requests[tid];

	if (!request->queued)
		return;
	dequeue(request);
	directory_settle(request->entry);
	slice_unpark(tid, vthreads[tid].clock);
}
