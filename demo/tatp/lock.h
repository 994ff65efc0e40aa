/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.h - the lock manager: locks of transactions on the database, tables, pages and rows.
 *
 * A hash table of buckets has a head for each lock that a transaction holds or waits for. A
 * head has a queue of requests. Whoever locks a row locks its page, its table and the
 * database before, in the mode that announces it (IS or IX). A lock is held until its
 * transaction ends.
 *
 * Speculative lock inheritance (Johnson, Pandis, Ailamaki, "Improving OLTP scalability using
 * speculative lock inheritance", PVLDB 2(1), 2009; details as in Shore-MT): at its end a
 * transaction leaves some of its locks to the next one of its thread. The states of a request:
 *
 *	FREE -> WAITING -> GRANTED		the queue is served in its order
 *	GRANTED -> CONVERTING -> GRANTED	a stronger mode of the same transaction
 *	GRANTED -> INACTIVE			left to the next transaction, by the owner
 *	INACTIVE -> GRANTED			CAS by the owner: used, or to be released
 *	INACTIVE -> INVALID			CAS by a transaction that it is in the way of
 *	GRANTED, INVALID -> FREE		by the owner
 *
 * Order of latches: bucket before head; a transaction's list before nothing.
 *
 * No thread sleeps or allocates memory while it holds a latch.
 */
#ifndef DEMO_TATP_LOCK_H
#define DEMO_TATP_LOCK_H

#include "latch/latch.h"
#include "lock-mode.h"

/* Maximum number of transactions at a time, one a thread. */
#define LOCK_CLIENTS_MAX 1088

/* Slots a level of a transaction's table of its requests, as in Shore-MT. */
#define LOCK_CACHE 25

enum lock_level {
	LOCK_DATABASE,
	LOCK_TABLE,
	LOCK_PAGE,
	LOCK_ROW,
	NR_LOCK_LEVELS,
};

enum lock_state {
	REQUEST_FREE,
	REQUEST_WAITING,
	REQUEST_CONVERTING,
	REQUEST_GRANTED,
	REQUEST_INACTIVE,
	REQUEST_INVALID,
};

struct lock_client;
struct lock_request;

/**
 * struct lock_head - a lock
 * @latch: latch of the queue
 * @id: name of the lock
 * @next: next head of the bucket, under the bucket's latch; or of a list of free ones
 * @first: first request of the queue
 * @last: last request of the queue
 * @waiting: number of requests that are waiting or converting
 * @heat: share of the acquisitions of @latch that were contended, of 256, decaying
 * @held: number of requests of each mode that are granted, converting or inactive
 */
struct lock_head {
	struct latch latch;
	uint64_t id;
	struct lock_head *next;
	struct lock_request *first, *last;
	uint32_t waiting;
	uint32_t heat;
	uint16_t held[NR_LOCK_MODES];
} __cacheline_aligned;

/**
 * struct lock_request - what a transaction holds or wants of a lock
 * @state: an enum lock_state
 * @mode: mode that is held
 * @want: mode that is wanted; equal to @mode while it is granted
 * @id: name of the lock
 * @head: the lock
 * @client: the transaction
 * @prev: request before it in the queue
 * @next: request behind it in the queue, or in a list of free ones
 * @parent: the request of the level above, or NULL
 * @left: its transaction leaves it to the next one
 * @keep: it stays in the list of its client at the end of a transaction
 *
 * The owner writes @head, @id, @client and @parent, the holder of the head's latch the rest.
 */
struct lock_request {
	uint32_t state;
	uint8_t mode;
	uint8_t want;
	bool left;
	bool keep;
	uint64_t id;
	struct lock_head *head;
	struct lock_client *client;
	struct lock_request *prev, *next;
	struct lock_request *parent;
} __cacheline_aligned;

/* Counts of a transaction's lock operations; LOCK_COUNT(name, help). */
#define LOCK_COUNTS(X)                                                                             \
	X(acquired, "locks acquired through their heads")                                          \
	X(inherited, "locks left to the next transaction")                                         \
	X(reused, "of these, used by it")                                                          \
	X(invalidated, "of these, invalidated by another transaction")                             \
	X(discarded, "of these, released unused")                                                  \
	X(waits, "waits for a lock")                                                               \
	X(deadlocks, "waits that ended in a deadlock")

struct lock_counts {
#define X(name, help) uint64_t name;
	LOCK_COUNTS(X)
#undef X
};

struct lock_slot {
	uint64_t id;
	struct lock_request *request;
};

/**
 * struct lock_client - the locks of a thread's transactions, one after the other
 * @manager: the lock manager
 * @nr: number of the client
 * @latch: latch of @list and @nr_requests
 * @list: requests in the order of their acquisition, so that a parent is before its children
 * @nr_requests: number of requests in @list
 * @max_requests: number of requests that @list has room for
 * @cache: requests by their names
 * @lost: a slot of @cache was given to another request while its own was held
 * @requests: free requests
 * @heads: free heads
 * @memory: all memory of requests and heads
 * @waiting: request that the thread waits for, or NULL; the deadlock detection reads it
 * @woken: changes when @waiting may have been granted
 * @sleeping: 1 while the thread may sleep
 * @counts: what it counted
 */
struct lock_client {
	struct lock_manager *manager;
	unsigned int nr;
	struct latch latch;
	struct lock_request **list;
	unsigned int nr_requests, max_requests;
	struct lock_slot cache[NR_LOCK_LEVELS][LOCK_CACHE];
	bool lost;
	struct lock_request *requests;
	struct lock_head *heads;
	struct lock_chunk *memory;
	struct lock_counts counts;
	struct lock_request *waiting __cacheline_aligned;
	uint32_t woken;
	unsigned int sleeping;
} __cacheline_aligned;

struct lock_bucket {
	struct latch latch;
	struct lock_head *first;
} __cacheline_aligned;

/**
 * struct lock_manager - all locks
 * @buckets: hash table of the heads
 * @mask: number of buckets less 1
 * @clients: all clients
 * @nr_clients: number of clients
 * @inherit: speculative lock inheritance is on
 */
struct lock_manager {
	struct lock_bucket *buckets;
	uint32_t mask;
	struct lock_client **clients;
	unsigned int nr_clients;
	bool inherit;
};

/** lock_id() - name of a lock; a level above the row has 0 for what is below it */
static inline uint64_t lock_id(enum lock_level level, unsigned int store, uint32_t page,
			       unsigned int slot)
{
	return (uint64_t)level << 62 | (uint64_t)store << 48 | (uint64_t)page << 16 | slot;
}

static inline enum lock_level lock_level(uint64_t id)
{
	return (enum lock_level)(id >> 62);
}

int lock_manager_init(struct lock_manager *m, unsigned int clients, bool inherit);
void lock_manager_destroy(struct lock_manager *m);
bool lock_at_rest(const struct lock_manager *m);
struct lock_client *lock_client_new(struct lock_manager *m);

int lock_acquire(struct lock_client *a, uint64_t id, enum lock_mode mode, bool wait,
		 struct lock_request *parent, struct lock_request **request);
int lock_row(struct lock_client *a, unsigned int store, uint64_t rid, enum lock_mode mode,
	     bool wait);
int lock_key(struct lock_client *a, unsigned int store, uint32_t key, enum lock_mode mode);
int lock_table(struct lock_client *a, unsigned int store, enum lock_mode mode);
enum lock_mode lock_held(struct lock_client *a, uint64_t id);
void lock_end(struct lock_client *a);

/* Clients that a thread wakes at a time: all that there are. */
#define LOCK_WAKE_MAX LOCK_CLIENTS_MAX

/**
 * struct lock_wake - clients whose requests were granted
 * @nr: number of clients
 * @clients: the clients
 */
struct lock_wake {
	unsigned int nr;
	struct lock_client *clients[LOCK_WAKE_MAX];
};

/* Between the files of the lock manager. */
int lock_memory(struct lock_client *a);
struct lock_head *lock_head_get(struct lock_client *a, uint64_t id, struct latch_hold *hold);
void lock_head_latch(struct lock_head *head, struct latch_hold *hold);
void lock_queue_add(struct lock_head *head, struct lock_request *r, struct lock_request *before);
void lock_queue_remove(struct lock_head *head, struct lock_request *r);
bool lock_grantable(const struct lock_head *head, enum lock_mode mode, enum lock_mode own);
void lock_serve(struct lock_head *head, struct lock_wake *wake);
void lock_wake(const struct lock_wake *wake);
bool lock_leave_queue(struct lock_client *a, struct lock_request *r, bool cancel);
bool lock_deadlock(struct lock_client *a);
bool sli_reuse(struct lock_client *a, struct lock_request *r);
void sli_invalidate(struct lock_head *head, enum lock_mode mode);
bool sli_keep(struct lock_client *a, struct lock_request *r);

static inline enum lock_state lock_state(const struct lock_request *r)
{
	/* Acquire: pairs with each store. What was written to the request before is seen. */
	return (enum lock_state)__atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
}

/* Put a request that is in no queue to the free ones. */
static inline void lock_free(struct lock_client *a, struct lock_request *r)
{
	__atomic_store_n(&r->state, REQUEST_FREE, __ATOMIC_RELAXED);
	r->next = a->requests;
	a->requests = r;
}

#endif
