// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock-queue.c - the heads of locks, their hash table and the queues of requests (see lock.h).
 */
#include "lock.h"

#include "../base/rng.h"
#include "sleep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Heads and requests that a client allocates at a time. */
#define CHUNK 64

/* Buckets: 16 locks a transaction of 256 clients. */
#define BUCKETS 4096

/* Decay of the heat of a head at each acquisition of its latch, as in Shore-MT: 7/8. */
#define HEAT_DECAY 8

/* struct lock_chunk - memory of a client, kept until the lock manager ends */
struct lock_chunk {
	struct lock_chunk *next;
	struct lock_request requests[CHUNK];
	struct lock_head heads[CHUNK];
};

/**
 * lock_manager_init() - make a lock manager without clients
 * @m: the lock manager
 * @clients: greatest number of clients
 * @inherit: speculative lock inheritance is on
 *
 * Return: 0, or -ENOMEM; then lock_manager_destroy() in any case.
 */
int lock_manager_init(struct lock_manager *m, unsigned int clients, bool inherit)
{
	*m = (struct lock_manager){ .mask = BUCKETS - 1, .inherit = inherit };
	m->buckets = aligned_alloc(CACHE_LINE, BUCKETS * sizeof(*m->buckets));
	m->clients = calloc(clients, sizeof(struct lock_client *));
	if (!m->buckets || !m->clients)
		return -ENOMEM;
	for (unsigned int i = 0; i < BUCKETS; i++) {
		latch_init(&m->buckets[i].latch, LATCH_ROLE_lock_buckets);
		m->buckets[i].first = NULL;
	}
	return 0;
}

static void client_free(struct lock_client *a)
{
	while (a->memory) {
		struct lock_chunk *chunk = a->memory;

		for (unsigned int i = 0; i < CHUNK; i++)
			latch_destroy(&chunk->heads[i].latch);
		a->memory = chunk->next;
		free(chunk);
	}
	latch_destroy(&a->latch);
	free(a->list);
	free(a);
}

/** lock_manager_destroy() - free a lock manager with its clients; no thread may use it */
void lock_manager_destroy(struct lock_manager *m)
{
	while (m->nr_clients)
		client_free(m->clients[--m->nr_clients]);
	for (unsigned int i = 0; m->buckets && i < BUCKETS; i++)
		latch_destroy(&m->buckets[i].latch);
	free(m->clients);
	free(m->buckets);
}

/**
 * lock_client_new() - make a client, before threads run
 * @m: the lock manager
 *
 * Return: the client or NULL.
 */
struct lock_client *lock_client_new(struct lock_manager *m)
{
	struct lock_client *a = aligned_alloc(CACHE_LINE, sizeof(*a));

	if (!a)
		return NULL;
	memset(a, 0, sizeof(*a));
	a->manager = m;
	a->nr = m->nr_clients;
	latch_init(&a->latch, LATCH_ROLE_xct_locks);
	m->clients[m->nr_clients++] = a;
	return a;
}

/**
 * lock_memory() - have a free request, a free head and a place in the list
 * @a: the client
 *
 * Return: 0 or -ENOMEM.
 */
int lock_memory(struct lock_client *a)
{
	if (unlikely(a->nr_requests == a->max_requests)) {
		unsigned int max = a->max_requests ? 2 * a->max_requests : CHUNK;
		struct lock_request **list = reallocarray(a->list, max, sizeof(*list));

		if (!list)
			return -ENOMEM;
		a->list = list;
		a->max_requests = max;
	}
	while (unlikely(!a->requests || !a->heads)) {
		struct lock_chunk *chunk = aligned_alloc(CACHE_LINE, sizeof(*chunk));

		if (!chunk)
			return -ENOMEM;
		memset(chunk, 0, sizeof(*chunk));
		chunk->next = a->memory;
		a->memory = chunk;
		for (unsigned int i = 0; i < CHUNK; i++) {
			latch_init(&chunk->heads[i].latch, LATCH_ROLE_lock_heads);
			chunk->heads[i].next = a->heads;
			a->heads = &chunk->heads[i];
			lock_free(a, &chunk->requests[i]);
		}
	}
	return 0;
}

static struct lock_bucket *bucket_of(struct lock_manager *m, uint64_t id)
{
	return &m->buckets[mix64(id) & m->mask];
}

/**
 * lock_head_latch() - acquire the latch of a head, and note whether it was contended
 * @head: the head
 * @hold: record of the latch
 */
void lock_head_latch(struct lock_head *head, struct latch_hold *hold)
{
	bool contended = !latch_try(&head->latch, LATCH_WRITE, hold);
	uint32_t heat;

	if (contended)
		latch_acquire(&head->latch, LATCH_WRITE, hold);
	heat = head->heat;
	if (heat || contended)
		__atomic_store_n(&head->heat,
				 heat - heat / HEAT_DECAY + (contended ? 256 / HEAT_DECAY : 0),
				 __ATOMIC_RELAXED);
}

/**
 * lock_head_get() - find or make the head of a lock
 * @a: the client, with lock_memory()
 * @id: name of the lock
 * @hold: record of the head's latch
 *
 * Return: the head, latched. It stays as long as its latch is held or its queue is not empty.
 */
struct lock_head *lock_head_get(struct lock_client *a, uint64_t id, struct latch_hold *hold)
{
	struct lock_bucket *bucket = bucket_of(a->manager, id);
	struct latch_hold bucket_hold;
	struct lock_head *head;

	latch_acquire(&bucket->latch, LATCH_WRITE, &bucket_hold);
	for (head = bucket->first; head && head->id != id; head = head->next)
		;
	if (!head) {
		head = a->heads;
		a->heads = head->next;
		head->id = id;
		head->heat = 0;
		head->next = bucket->first;
		bucket->first = head;
	}
	lock_head_latch(head, hold);
	latch_release(&bucket->latch, &bucket_hold);
	return head;
}

/**
 * lock_queue_add() - add a request to a queue
 * @head: the lock, latched
 * @r: the request
 * @before: request that is to be behind it, NULL for none
 */
void lock_queue_add(struct lock_head *head, struct lock_request *r, struct lock_request *before)
{
	r->next = before;
	r->prev = before ? before->prev : head->last;
	*(r->prev ? &r->prev->next : &head->first) = r;
	*(before ? &before->prev : &head->last) = r;
	head->held[r->mode]++;
}

/** lock_queue_remove() - take a request out of the queue of a lock that is latched */
void lock_queue_remove(struct lock_head *head, struct lock_request *r)
{
	*(r->prev ? &r->prev->next : &head->first) = r->next;
	*(r->next ? &r->next->prev : &head->last) = r->prev;
	head->held[r->mode]--;
}

/**
 * lock_grantable() - true if a mode is compatible with all modes that are held
 * @head: the lock, latched
 * @mode: the mode
 * @own: mode that the asking transaction holds already, LOCK_NL for none
 */
bool lock_grantable(const struct lock_head *head, enum lock_mode mode, enum lock_mode own)
{
	for (enum lock_mode m = LOCK_IS; m < NR_LOCK_MODES; m++)
		if (head->held[m] > (m == own) && !lock_compatible(mode, m))
			return false;
	return true;
}

/* Grant a waiting or converting request if possible. */
static bool grant(struct lock_head *head, struct lock_request *r, struct lock_wake *wake)
{
	if (!lock_grantable(head, (enum lock_mode)r->want, (enum lock_mode)r->mode))
		return false;
	head->held[r->mode]--;
	head->held[r->want]++;
	r->mode = r->want;
	__atomic_fetch_sub(&head->waiting, 1, __ATOMIC_SEQ_CST);
	wake->clients[wake->nr++] = r->client;
	/* Release: pairs with the load in lock_wait(). The owner then uses the request. */
	__atomic_store_n(&r->state, REQUEST_GRANTED, __ATOMIC_RELEASE);
	return true;
}

/**
 * lock_serve() - grant what is grantable: conversions, and if none of them waits, the others in
 * their order
 * @head: the lock, latched
 * @wake: receives the clients that are to be woken after the release of the latch
 */
void lock_serve(struct lock_head *head, struct lock_wake *wake)
{
	struct lock_request *r;
	bool converting = false;

	for (r = head->first; r && head->waiting; r = r->next) {
		if (wake->nr == LOCK_WAKE_MAX)
			return;
		if (lock_state(r) == REQUEST_CONVERTING)
			converting |= !grant(head, r, wake);
	}
	for (r = head->first; r && head->waiting && !converting; r = r->next) {
		if (lock_state(r) != REQUEST_WAITING)
			continue;
		if (wake->nr == LOCK_WAKE_MAX || !grant(head, r, wake))
			return;
	}
}

/** lock_wake() - wake the clients that lock_serve() has granted something; no latch is held */
void lock_wake(const struct lock_wake *wake)
{
	for (unsigned int i = 0; i < wake->nr; i++)
		sleep_end(&wake->clients[i]->woken, &wake->clients[i]->sleeping, 0);
}

/* Take a head without requests out of its bucket. Both are latched. */
static void head_drop(struct lock_client *a, struct lock_bucket *bucket, struct lock_head *head)
{
	struct lock_head **link;

	for (link = &bucket->first; *link != head; link = &(*link)->next)
		;
	*link = head->next;
	head->next = a->heads;
	a->heads = head;
}

/* End a wait or a lock. Returns false if a wait to be ended has been granted. */
static bool quit(struct lock_head *head, struct lock_request *r, bool cancel)
{
	if (cancel) {
		if (lock_state(r) == REQUEST_GRANTED)
			return false;
		__atomic_fetch_sub(&head->waiting, 1, __ATOMIC_SEQ_CST);
		if (lock_state(r) == REQUEST_CONVERTING) {
			r->want = r->mode;
			__atomic_store_n(&r->state, REQUEST_GRANTED, __ATOMIC_RELAXED);
			return true;
		}
	}
	lock_queue_remove(head, r);
	return true;
}

/**
 * lock_leave_queue() - release a lock, or end the wait for it
 * @a: the owner
 * @r: the request: granted, or with @cancel waiting or converting
 * @cancel: end the wait: a waiting request leaves the queue, a converting one keeps its mode
 *
 * Requests that can be granted then are granted.
 *
 * Return: false if the wait is not ended because the request has been granted.
 */
bool lock_leave_queue(struct lock_client *a, struct lock_request *r, bool cancel)
{
	struct lock_bucket *bucket = bucket_of(a->manager, r->id);
	struct latch_hold bucket_hold, hold;
	struct lock_head *head = r->head;
	struct lock_wake wake;
	bool quitted;

	latch_acquire(&bucket->latch, LATCH_WRITE, &bucket_hold);
	lock_head_latch(head, &hold);
	wake.nr = 0;
	quitted = quit(head, r, cancel);
	if (unlikely(head->waiting))
		lock_serve(head, &wake);
	if (!head->first)
		head_drop(a, bucket, head);
	latch_release(&head->latch, &hold);
	latch_release(&bucket->latch, &bucket_hold);
	lock_wake(&wake);
	return quitted;
}

/** lock_at_rest() - true if no latch is held and nothing but inherited locks is in the queues */
bool lock_at_rest(const struct lock_manager *m)
{
	bool rest = true;

	for (unsigned int i = 0; i < BUCKETS; i++) {
		rest = rest && !latch_held(&m->buckets[i].latch);
		for (struct lock_head *h = m->buckets[i].first; h; h = h->next) {
			rest = rest && !latch_held(&h->latch) && !h->waiting && h->first;
			for (struct lock_request *r = h->first; r; r = r->next)
				rest = rest && lock_state(r) == REQUEST_INACTIVE;
		}
	}
	for (unsigned int i = 0; i < m->nr_clients; i++)
		rest = rest && !latch_held(&m->clients[i]->latch);
	return rest;
}
