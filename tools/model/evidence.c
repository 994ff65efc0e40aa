// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * evidence.c - samples, details and blames of each row, and names for their data.
 *
 * Must never look up names that are not shown, as a file may have many records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "../base/text.h"
#include "evidence.h"

/* A record, and the line it belongs to. */
struct owned {
	const struct report *r;
	const void *record;
	size_t line;
	uint64_t type;
	uint64_t count;
	uint64_t cycles;
	uint64_t samples;
	uint64_t place;
};

/* Order: line, type, descending count, cycles and samples, then the place in its object. */
static int compare_owned(const void *x, const void *y)
{
	const struct owned *a = x, *b = y;
	struct place p, q;
	int c = by_number(a->line, b->line);

	if (!c)
		c = by_number(a->type, b->type);
	if (!c)
		c = by_number(b->count, a->count);
	if (!c)
		c = by_number(b->cycles, a->cycles);
	if (!c)
		c = by_number(b->samples, a->samples);
	if (c)
		return c;
	symbolize_object(a->r->symbols, a->place, &p);
	symbolize_object(a->r->symbols, b->place, &q);
	c = p.object && q.object ? strcmp(p.object, q.object) : 0;
	if (!c)
		c = by_number(p.offset, q.offset);
	/* Records that are equal otherwise keep the order of the file. */
	return c ? c : by_number((uint64_t)a->record, (uint64_t)b->record);
}

/* Sorts @nr owned records into an array, which the report keeps in @slot; each line points to its own. */
static int hand_out(struct report *r, struct owned *owned, size_t nr, int slot,
		    void (*give)(struct line *l, const void **records, size_t nr))
{
	const void **all = reallocarray(NULL, nr + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	r->evidence[slot] = all;
	if (nr)
		qsort(owned, nr, sizeof(*owned), compare_owned);
	for (size_t i = 0, n; i < nr; i += n) {
		for (n = 0; i + n < nr && owned[i + n].line == owned[i].line; n++)
			all[i + n] = owned[i + n].record;
		give(&r->lines[owned[i].line], &all[i], n);
	}
	return 0;
}

static void give_samples(struct line *l, const void **records, size_t nr)
{
	l->samples = (const struct elide_sample **)records;
	l->nr_samples = nr;
}

static void give_details(struct line *l, const void **records, size_t nr)
{
	l->details = (const struct elide_detail **)records;
	l->nr_details = nr;
}

static void give_blames(struct line *l, const void **records, size_t nr)
{
	l->blames = (const struct elide_blame **)records;
	l->nr_blames = nr;
}

static uint64_t stack_place(const struct report *r, uint32_t stack)
{
	return stack && r->file->stacks[stack - 1].nr_frames ?
		       r->file->stacks[stack - 1].frames[0] :
		       0;
}

/* Adds a record if its line is built. */
#define OWN(record, type_, place_)                                                                 \
	do {                                                                                       \
		const struct line *l = report_line(r, (record)->class_index, (record)->site,       \
						   (record)->kind);                                \
                                                                                                   \
		if (l)                                                                             \
			owned[nr++] = (struct owned){r, (record), l - r->lines, (type_),           \
						     (record)->count, (record)->cycles,            \
						     (record)->samples, (place_)};                 \
	} while (0)

int evidence_build(struct report *r)
{
	const struct data_file *f = r->file;
	size_t most = f->nr_samples > f->nr_details ? f->nr_samples : f->nr_details, nr = 0;
	struct owned *owned;
	int rc;

	most = f->nr_blames > most ? f->nr_blames : most;
	owned = reallocarray(NULL, most + 1, sizeof(*owned));
	if (!owned)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_samples; i++)
		OWN(&f->samples[i], f->samples[i].type, stack_place(r, f->samples[i].stack));
	rc = hand_out(r, owned, nr, 0, give_samples);
	nr = 0;
	for (size_t i = 0; i < f->nr_details; i++)
		OWN(&f->details[i], 0, f->details[i].own_pc);
	if (!rc)
		rc = hand_out(r, owned, nr, 1, give_details);
	nr = 0;
	for (size_t i = 0; i < f->nr_blames; i++)
		OWN(&f->blames[i], 0, f->blames[i].held_site);
	if (!rc)
		rc = hand_out(r, owned, nr, 2, give_blames);
	free(owned);
	return rc;
}

void evidence_free(struct report *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->evidence); i++)
		free(r->evidence[i]);
}

const char *sharing_name(enum sharing s)
{
	static const char *const names[] = {"unknown", "true", "false"};

	return names[s];
}

uint64_t evidence_lock_bytes(const struct elide_detail *d)
{
	/* Sizes of glibc's types on x86-64; of a custom lock the word. */
	static const unsigned int sizes[ELIDE_NR_KINDS] = {
		[ELIDE_KIND_MUTEX] = 40,	[ELIDE_KIND_RWLOCK_READ] = 56,
		[ELIDE_KIND_RWLOCK_WRITE] = 56, [ELIDE_KIND_SPIN] = 4,
		[ELIDE_KIND_CUSTOM] = 4,
		[ELIDE_KIND_COND] = 48,		[ELIDE_KIND_SEM] = 32,
		[ELIDE_KIND_BARRIER] = 32,	[ELIDE_KIND_REACQUIRE] = 40,
		[ELIDE_KIND_FUTEX] = 4,		[ELIDE_KIND_FUTEX_LOCK] = 4,
		[ELIDE_KIND_LIBRARY] = 4,
	};
	uint64_t mask = 0;

	if (!d->line || !d->lock)
		return 0;
	for (unsigned int i = 0; i < 64; i++)
		if (d->line + i - d->lock < sizes[d->kind])
			mask |= 1ull << i;
	return mask;
}

int evidence_own_code(const struct report *r, uint64_t pc)
{
	struct place p;

	symbolize_object(r->symbols, pc, &p);
	return pc && p.object && !strncmp(p.object, "libelide", 8);
}

enum sharing evidence_sharing(const struct elide_detail *d)
{
	uint64_t beside = d->other_bytes & ~evidence_lock_bytes(d);

	if (!d->own_bytes || !d->other_bytes)
		return SHARING_UNKNOWN;
	/* Every elided section reads the lock: its bytes do not make the data beside it shared. */
	return d->own_bytes & (beside ? beside : d->other_bytes) ? SHARING_TRUE : SHARING_FALSE;
}

static void range(uint64_t mask, int *bytes)
{
	bytes[0] = mask ? __builtin_ctzll(mask) : -1;
	bytes[1] = mask ? 63 - __builtin_clzll(mask) : -1;
}

size_t evidence_frames(const struct report *r, uint32_t stack, struct place *frames)
{
	const struct elide_stack *s = stack ? &r->file->stacks[stack - 1] : NULL;
	size_t nr = 0;

	for (uint16_t i = 0; s && i < s->nr_frames; i++) {
		const struct place *places;
		size_t n = symbolize_frames(r->symbols, s->frames[i], s->exact && !i, &places);

		/* Code that is inlined into a function of the library is the library's, too. */
		if (n && symbolize_is_own(&places[n - 1]))
			continue;
		for (size_t j = 0; j < n && nr < FRAMES_MAX; j++)
			frames[nr++] = places[j];
	}
	return nr;
}

/* Is it a function of an allocator? Then its caller allocates. */
static int is_allocator(const char *symbol)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "aligned_alloc",
					    "posix_memalign", "memalign", "reallocarray", "strdup"};

	if (!symbol || !strncmp(symbol, "operator new", 12))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(symbol, names[i]))
			return 1;
	return 0;
}

/* The innermost frame that is not an allocator's, else the innermost. */
static const struct place *allocating(const struct place *frames, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!is_allocator(frames[i].symbol))
			return &frames[i];
	return nr ? frames : NULL;
}

static void name_heap(const struct report *r, const struct elide_detail *d, struct data_name *n,
		      uint64_t own, uint64_t other)
{
	struct place frames[FRAMES_MAX];
	size_t nr = evidence_frames(r, d->alloc_stack, frames), len;
	const struct place *from = allocating(frames, nr);

	n->block_size = d->data_size;
	n->offset = own - d->data_base;
	n->other_offset = other - d->data_base;
	len = snprintf(n->name, sizeof(n->name), "block of %llu bytes",
		       (unsigned long long)d->data_size);
	if (from && from->symbol && from->file)
		len += snprintf(n->name + len, sizeof(n->name) - len, " from %.200s (%.100s:%d)",
				from->symbol, base_name(from->file), from->line);
	else if (from && from->symbol)
		len += snprintf(n->name + len, sizeof(n->name) - len, " from %.200s", from->symbol);
	if (own < d->data_base || n->offset >= d->data_size)
		return;
	len += snprintf(n->name + len, sizeof(n->name) - len, ", +%llu",
			(unsigned long long)n->offset);
	if (n->other_bytes[0] < 0 || n->other_offset == n->offset)
		return;
	if (other >= d->data_base && n->other_offset < d->data_size)
		snprintf(n->name + len, sizeof(n->name) - len, " and +%llu",
			 (unsigned long long)n->other_offset);
	else
		snprintf(n->name + len, sizeof(n->name) - len, " and the block beside it");
}

/* "symbol", "symbol+8" or "unnamed data of OBJECT". */
static void static_name(const struct place *p, char *to, size_t size)
{
	if (p->symbol && p->symbol_offset)
		snprintf(to, size, "%.200s+%llu", p->symbol, (unsigned long long)p->symbol_offset);
	else if (p->symbol)
		snprintf(to, size, "%.200s", p->symbol);
	else
		snprintf(to, size, "unnamed data of %.100s", p->object);
}

static void name_static(const struct report *r, struct data_name *n, uint64_t own, uint64_t other)
{
	char second[256];

	symbolize_data(r->symbols, own, &n->own);
	static_name(&n->own, n->name, sizeof(n->name));
	n->offset = n->own.symbol_offset;
	if (n->other_bytes[0] < 0)
		return;
	symbolize_data(r->symbols, other, &n->other);
	n->other_offset = n->other.symbol_offset;
	static_name(&n->other, second, sizeof(second));
	if (n->other.object && strcmp(second, n->name))
		snprintf(n->name + strlen(n->name), sizeof(n->name) - strlen(n->name), " and %s",
			 second);
}

int evidence_data(const struct report *r, const struct elide_detail *d, struct data_name *n)
{
	uint64_t own, other;
	struct place place;

	memset(n, 0, sizeof(*n));
	if (!d->line)
		return 0;
	range(d->own_bytes, n->own_bytes);
	range(d->other_bytes, n->other_bytes);
	n->sharing = evidence_sharing(d);
	own = d->line + (n->own_bytes[0] < 0 ? 0 : n->own_bytes[0]);
	other = d->line + (n->other_bytes[0] < 0 ? 0 : n->other_bytes[0]);
	symbolize_object(r->symbols, own, &place);
	n->type = d->data_type == ELIDE_DATA_UNKNOWN && place.object ? ELIDE_DATA_STATIC :
								       d->data_type;
	if (place.object && (n->type == ELIDE_DATA_STATIC || n->type == ELIDE_DATA_LOCK))
		name_static(r, n, own, other);
	else if (n->type == ELIDE_DATA_HEAP && d->data_base)
		name_heap(r, d, n, own, other);
	else if (n->type == ELIDE_DATA_STACK)
		snprintf(n->name, sizeof(n->name), "a thread's stack");
	else if (n->type == ELIDE_DATA_LOCK)
		snprintf(n->name, sizeof(n->name), "the lock's own line");
	else
		snprintf(n->name, sizeof(n->name), "unnamed data");
	return 1;
}

int evidence_event_order(const void *x, const void *y)
{
	const struct elide_event *a = x, *b = y;

	return by_number(a->time, b->time);
}
