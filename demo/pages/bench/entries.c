// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * entries.c - the entries of the workloads inserts, lookups, updates and news: their keys and
 * values follow from their numbers, so they are verified without a list of them.
 *
 * The texts are made of syllables. Addresses of web pages begin with one of 4096 hosts, those of
 * e-mail end with one; few hosts have most of the pages, so that many keys have long common
 * prefixes.
 */
#include "work.h"

#include "../../base/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Entries between two looks at the clock or at signals. */
#define LOAD_STEP 4096

#define NR_HOSTS 4096

/* struct text - a text being made */
struct text {
	unsigned char *bytes;
	unsigned int len;
};

static void add(struct text *t, const char *s)
{
	unsigned int len = (unsigned int)strlen(s);

	memcpy(t->bytes + t->len, s, len);
	t->len += len;
}

/* A word of 1 to 4 syllables that follows from a number. */
static void add_word(struct text *t, uint64_t n)
{
	static const char first[] = "bcdfghklmnprstvw", second[] = "aeiou", last[] = "nrstlm";
	unsigned int syllables = 1 + n % 4;

	n = mix64(n);
	for (unsigned int i = 0; i < syllables; i++, n /= 480) {
		t->bytes[t->len++] = (unsigned char)first[n % 16];
		t->bytes[t->len++] = (unsigned char)second[n / 16 % 5];
		if (n / 80 % 2)
			t->bytes[t->len++] = (unsigned char)last[n / 160 % 3 + i % 2 * 3];
	}
}

static void add_number(struct text *t, uint64_t n)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

	do {
		t->bytes[t->len++] = (unsigned char)digits[n % 36];
		n /= 36;
	} while (n);
}

static void add_host(struct text *t, struct rng *rng)
{
	static const char *const ends[] = { ".com", ".org", ".net", ".de", ".co.uk", ".edu" };
	/* The product of two uniform numbers prefers low ones. */
	uint64_t host = (uint64_t)(rng_unit(rng) * rng_unit(rng) * NR_HOSTS);

	add_word(t, host * 2 + 3);
	add_word(t, mix64(host) | 1);
	add(t, ends[mix64(host * 7) % 6]);
}

static void url(struct text *t, uint64_t i, struct rng *rng)
{
	unsigned int folders = 1 + (unsigned int)rng_below(rng, 4);

	add(t, rng_below(rng, 4) ? "http://www." : "http://");
	add_host(t, rng);
	for (unsigned int n = 0; n < folders; n++) {
		add(t, "/");
		add_word(t, rng_below(rng, 64u << 2 * n));
		if (rng_below(rng, 2)) {
			add(t, "-");
			add_word(t, rng_below(rng, 1000));
		}
	}
	add(t, "/");
	add_number(t, i);
	if (rng_below(rng, 2))
		add(t, ".html");
}

static void email(struct text *t, uint64_t i, struct rng *rng)
{
	add_word(t, 2 + rng_below(rng, 300));
	if (rng_below(rng, 2)) {
		add(t, rng_below(rng, 2) ? "." : "_");
		add_word(t, 2 + rng_below(rng, 5000));
	}
	add_number(t, i);
	add(t, "@");
	add_host(t, rng);
}

/**
 * entry_key() - the key of an entry
 * @w: the run
 * @i: number of the entry
 * @key: receives up to ENTRY_KEY bytes
 *
 * Keys of different entries differ.
 */
struct bytes entry_key(const struct work *w, uint64_t i, unsigned char *key)
{
	struct text t = { key, 0 };
	struct rng rng;
	uint64_t n;

	if (w->data == DATA_integers) {
		/* mix64() and the addition are bijections. */
		n = __builtin_bswap64(w->order == ORDER_sorted ? i : mix64(i + w->seed));
		memcpy(key, &n, sizeof(n));
		return (struct bytes){ key, sizeof(n) };
	}
	rng_seed(&rng, w->seed, i);
	if (w->data == DATA_urls)
		url(&t, i, &rng);
	else
		email(&t, i, &rng);
	return (struct bytes){ key, t.len };
}

/** entry_check() - the first 8 bytes of the value of a key */
uint64_t entry_check(struct bytes key)
{
	const unsigned char *bytes = key.data;
	uint64_t hash = key.len;

	for (unsigned int i = 0; i < key.len; i += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes + i, key.len - i < 8 ? key.len - i : 8);
		hash = mix64(hash ^ word);
	}
	return hash;
}

/**
 * entry_value() - the value of an entry, before it is changed
 * @w: the run
 * @key: its key
 * @value: receives @w->value bytes: a number that follows from the key, a counter, and the rest
 */
struct bytes entry_value(const struct work *w, struct bytes key, unsigned char *value)
{
	uint64_t check = entry_check(key);

	memset(value, 0, w->value);
	memcpy(value, &check, sizeof(check));
	if (w->value > 16)
		memset(value + 16, (int)check, w->value - 16);
	return (struct bytes){ value, w->value };
}

/**
 * entries_load() - make a tree and insert the first entries
 * @w: the run
 * @nr: their number
 *
 * Return: 0, -EINTR after a signal, or another -errno.
 */
int entries_load(struct work *w, uint64_t nr)
{
	unsigned char key[ENTRY_KEY], value[ENTRY_VALUE];
	struct page_tree_thread thread;
	int err = work_tree(w, "entries", true);

	page_tree_thread_init(&thread, w->seed, UINT32_MAX);
	for (w->next = 0; w->next < nr && !err; w->next += !err) {
		struct bytes k = entry_key(w, w->next, key);

		err = page_tree_insert(w->trees, &thread, k, entry_value(w, k, value));
		if (err || w->next % LOAD_STEP)
			continue;
		progress_show("loading", w->next, nr);
		if (w->interrupted())
			err = -EINTR;
	}
	progress_clear();
	w->newest = w->next;
	return err;
}

/** entries_open() - open the tree of entries of a file; returns 0 or -errno */
int entries_open(struct work *w)
{
	w->next = *pool_note(&w->pool, NOTE_next);
	w->holes = *pool_note(&w->pool, NOTE_holes);
	w->updates = *pool_note(&w->pool, NOTE_updates);
	w->newest = *pool_note(&w->pool, NOTE_newest);
	return work_tree(w, "entries", false);
}

/* struct census - a scan of all entries */
struct census {
	const struct work *w;
	uint64_t nr;
	uint64_t updates;
	uint64_t wrong;
};

static bool count_entry(void *ctx, struct bytes key, struct bytes value)
{
	struct census *c = ctx;
	uint64_t words[2] = { 0, 0 };

	memcpy(words, value.data, value.len < sizeof(words) ? value.len : sizeof(words));
	c->nr++;
	c->updates += value.len >= sizeof(words) ? words[1] : 0;
	c->wrong += value.len != c->w->value || words[0] != entry_check(key);
	return true;
}

/**
 * entries_verify() - compare all entries with what the operations did
 * @w: the run
 * @entries: number of entries that there must be
 * @updates: number of changes that their counters must have
 * @why: receives what is wrong
 * @len: size of @why in bytes
 *
 * Return: 0, -EBADMSG, or another -errno of a page that cannot be read.
 */
int entries_verify(struct work *w, uint64_t entries, uint64_t updates, char *why, size_t len)
{
	static const struct bytes none = { "", 0 };
	struct census c = { .w = w };
	int err = page_tree_scan(w->trees, none, count_entry, &c);

	if (err) {
		snprintf(why, len, "%s", strerror(-err));
		return err;
	}
	if (c.nr == entries && c.updates == updates && !c.wrong)
		return 0;
	snprintf(why, len, "%" PRIu64 " entries of %" PRIu64 ", %" PRIu64 " changes of %" PRIu64
		 ", %" PRIu64 " wrong values", c.nr, entries, c.updates, updates, c.wrong);
	return -EBADMSG;
}

/**
 * work_pages() - pages that the trees of a command line will have, roughly and rather too many
 * @opts: the command line, without --open
 */
uint64_t work_pages(const struct options *opts)
{
	/* The average texts have 50 bytes; leaves are at least half full. */
	uint64_t key = opts->data == DATA_integers ? 8 : 50, nr = opts->entries, bytes;

	if (opts->workload == WORKLOAD_tpcc)
		return tpcc_pages(opts);
	if (opts->workload == WORKLOAD_inserts)
		nr = options_duration(opts) ? 0 : opts->operations + opts->warmup;
	bytes = nr * (key + opts->value_bytes + sizeof(struct page_slot)) * 2;
	return bytes / PAGE_ROOM + 16;
}
