// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * draw.c - draws transactions of TATP and what they are run with.
 */
#include "tatp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** nurand_of() - the A of TATP's non-uniform keys */
uint64_t nurand_of(uint64_t subscribers)
{
	return subscribers <= 1000000 ? 65535 : 1048575;
}

/**
 * draw_subscriber() - draw a subscriber
 * @d: how
 * @rng: random numbers
 *
 * Return: its number, from 1 on.
 */
uint64_t draw_subscriber(const struct draws *d, struct rng *rng)
{
	uint64_t any = 1 + rng_below(rng, d->subscribers);

	if (!d->nurand)
		return any;
	return (rng_below(rng, d->nurand + 1) | any) % d->subscribers + 1;
}

static enum transaction draw_kind(struct client *c)
{
	static const unsigned char shares[NR_TRANSACTIONS] = {
#define TRANSACTION(id, name, share, success, help) share,
#include "transactions.def"
	};
	unsigned int at = (unsigned int)rng_below(&c->rng, 100), kind = 0;

	if (c->draws->only < NR_TRANSACTIONS)
		return c->draws->only;
	while (at >= shares[kind])
		at -= shares[kind++];
	return kind;
}

/**
 * draw_input() - draw a transaction
 * @c: the client
 * @in: receives it
 *
 * A location differs from all that threads write in 2^32 transactions; the number of a
 * forwarding has the thread, from 1, and a serial number of 11 digits.
 */
void draw_input(struct client *c, struct input *in)
{
	in->kind = draw_kind(c);
	in->s_id = draw_subscriber(c->draws, &c->rng);
	in->type = 1 + (unsigned int)rng_below(&c->rng, NR_TYPES);
	in->start = 8 * (unsigned int)rng_below(&c->rng, NR_STARTS);
	in->end = 1 + (unsigned int)rng_below(&c->rng, 24);
	c->serial++;
	if (in->kind == XCT_update_subscriber_data)
		in->value = rng_next(&c->rng);
	else if (in->kind == XCT_update_location)
		in->value = c->serial * c->sm->nr_xcts + c->nr;
	else
		in->value = (c->nr + 1) * 100000000000u + c->serial % 100000000000u;
}

/**
 * client_init() - make a client
 * @c: the client
 * @sm: the storage manager
 * @nr: number of its thread
 * @draws: how it draws transactions
 * @seed: seed of its random numbers
 *
 * Return: 0 or -ENOMEM.
 */
int client_init(struct client *c, struct sm *sm, unsigned int nr, const struct draws *draws,
		uint64_t seed)
{
	memset(c, 0, sizeof(*c));
	c->sm = sm;
	c->x = &sm->xcts[nr];
	c->draws = draws;
	c->nr = nr;
	rng_seed(&c->rng, seed, nr);
	return 0;
}

/** client_free() - free the journal of a client */
void client_free(struct client *c)
{
	free(c->journal.changes);
}
