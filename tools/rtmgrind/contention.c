// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * contention.c - which core gets a line next if several request it.
 *
 * A line makes one move at a time, and requests that arrive during the move queue. When the move
 * is over and the line is shared, all queued reads are granted at once. Of the other requests the
 * one from the core nearest to the line is granted, among equally near ones the first to arrive.
 * Requests from the domain that has the line reach it at once. One from another domain waits in
 * the directory, which then has to ask the core that has the line; until its question arrives, a
 * request from a nearer core overtakes. So a busy-waiting lock stays in one part of a processor, as
 * CIDR'21 A.2 observed.
 *
 *   state of a request   meaning
 *   idle                 the thread requests no line
 *   queued               the thread is parked in the line's queue
 *   moving               the line moves to the thread's core, or is reserved for it
 *
 * Must never leave a line reserved for a thread that no longer requests it.
 */
#include "contention.h"
#include "account.h"
#include "directory.h"
#include "distance.h"
#include "slice.h"
#include "vthread.h"

/**
 * struct request - a thread's request for a line.
 * @next: the next request in the line's queue
 * @entry: the line; not valid while the request is idle
 * @core: the thread's core
 * @write: the thread wants to write: no other core may keep the line
 * @queued: the request is queued, see above
 * @moving: the line moves or is reserved, see above
 * @asked: the directory's question has reached the core that has the line: no other request can
 *         overtake this one any more
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
/* Number of forks. A line's mover and queue count only if its epoch is the present one. */
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

/** contention_forked() - this is a child process: the requests of its parent's threads are void. */
void contention_forked(void)
{
	epoch++;
	VG_(memset)(requests, 0, nr_requests * sizeof(*requests));
}

/** contention_busy() - Return: True if the line moves, or is reserved for a core. */
Bool contention_busy(const struct shared_line *entry)
{
	return entry->mover && entry->epoch == epoch;
}

/** contention_next_core() - Return: the core that a busy line moves to or is reserved for. */
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

/* Whether a request comes before the one that its line is reserved for. */
static Bool overtakes(const struct request *request)
{
	const struct shared_line *entry = request->entry;
	const struct request *reserved = &requests[entry->mover];

	return !reserved->asked && distance_between(entry->last_core, request->core) <
					   distance_between(entry->last_core, reserved->core);
}

/* Takes the reservation back: its request is the first of the queue again. */
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
 * contention_take() - the running thread's request for a line arrives at the line.
 * @entry: the line
 * @core: the thread's core
 * @write: the thread wants to write: no other core may keep the line
 *
 * Waits in virtual time until the request is granted. Does not return if the thread's transaction
 * aborts meanwhile.
 *
 * Return: True if the line is reserved until contention_done(); False if it is shared, and may be
 * read without a reservation.
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

/* The line is shared: grants all queued reads. */
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
 * contention_done() - the move of a line is over, or does not take place.
 * @tid: the thread that the line was reserved for; nothing happens if there is no such line
 * @hold: cycles for which the line stays at its core before it can move again
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
 * contention_cancel() - withdraw the queued request of a thread.
 * @tid: the thread; nothing happens if it has no queued request
 *
 * The thread is no longer parked.
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
