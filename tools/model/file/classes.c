// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * classes.c - see classes.h.
 *
 * Must never join classes of different kinds of locks, nor classes that have an initialisation.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "classes.h"

/* The object in which a call lies, by its return address; NULL. */
static const struct elide_module *module_of(const struct data_file *f, uint64_t site)
{
	for (size_t i = 0; i < f->nr_modules; i++)
		if (site > f->modules[i].start && site <= f->modules[i].end)
			return &f->modules[i];
	return NULL;
}

/* By the name of the object, then by the offset in it: the same in each run. Calls in no object are last. */
static bool comes_before(const struct data_file *f, uint64_t a, uint64_t b)
{
	const struct elide_module *m = module_of(f, a), *n = module_of(f, b);
	int c = !m - !n;

	if (!c && m != n) {
		c = strcmp(base_name(m->path), base_name(n->path));
		if (!c)
			c = strcmp(m->path, n->path);
	}
	if (!c && m)
		c = by_number(a - m->base, b - n->base);
	return c ? c < 0 : a < b;
}

/* The class that stands for the component of @i: that with the lowest number. */
static uint32_t root(uint32_t *parents, uint32_t i)
{
	for (; parents[i] != i; i = parents[i])
		parents[i] = parents[parents[i]];
	return i;
}

static void unite(uint32_t *parents, uint32_t a, uint32_t b)
{
	uint32_t x = root(parents, a), y = root(parents, b);

	parents[x > y ? x : y] = x < y ? x : y;
}

static bool is_joined(const struct data_file *f, uint32_t class_index)
{
	return class_index < f->nr_classes && f->classes[class_index].type == ELIDE_CLASS_FIRST;
}

/* Adds the call that locked the first lock of each class: its row may be missing. */
static int add_first_sites(struct data_file *f)
{
	struct lock_site *sites = reallocarray(f->sites, f->nr_sites + f->nr_classes + 1, sizeof(*sites));
	size_t kept = 0;

	if (!sites)
		return -ENOMEM;
	f->sites = sites;
	for (size_t i = 0; i < f->nr_sites; i++)
		if (is_joined(f, sites[i].class_index))
			sites[kept++] = sites[i];
	for (uint32_t i = 0; i < f->nr_classes; i++)
		if (is_joined(f, i))
			sites[kept++] = (struct lock_site){.class_index = i, .site = f->classes[i].address};
	for (size_t i = 0; i < kept; i++)
		sites[i].kind = f->classes[sites[i].class_index].kind;
	f->nr_sites = kept;
	return 0;
}

static int by_site(const void *x, const void *y)
{
	const struct lock_site *a = x, *b = y;
	int c = by_number(a->kind, b->kind);

	return c ? c : by_number(a->site, b->site);
}

static int by_class(const void *x, const void *y)
{
	const struct lock_site *a = x, *b = y;
	int c = by_number(a->address, b->address);

	return c ? c : by_site(a, b);
}

static void add_class(struct elide_class *to, const struct elide_class *c)
{
	to->nr_locks += c->nr_locks;
	to->nr_shared += c->nr_shared;
}

/* Moves the classes that are left together. @numbers: the parents; becomes the new numbers. */
static void renumber(struct data_file *f, uint32_t *numbers)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < f->nr_classes; i++) {
		/* Lower numbers than @i are new ones already. */
		if (numbers[i] < i) {
			numbers[i] = numbers[numbers[i]];
			add_class(&f->classes[numbers[i]], &f->classes[i]);
			continue;
		}
		f->classes[kept] = f->classes[i];
		numbers[i] = kept++;
	}
	f->nr_classes = kept;
}

/* Names each class by the least of its calls, and sorts the calls by it. */
static void name_classes(struct data_file *f, const uint32_t *numbers)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nr_sites; i++) {
		struct lock_site *s = &f->sites[i];
		struct elide_class *c;

		s->class_index = numbers[s->class_index];
		c = &f->classes[s->class_index];
		if (comes_before(f, s->site, c->address))
			c->address = s->site;
	}
	for (size_t i = 0; i < f->nr_sites; i++)
		f->sites[i].address = f->classes[f->sites[i].class_index].address;
	if (f->nr_sites)
		qsort(f->sites, f->nr_sites, sizeof(*f->sites), by_class);
	for (size_t i = 0; i < f->nr_sites; i++)
		if (!kept || by_class(&f->sites[kept - 1], &f->sites[i]))
			f->sites[kept++] = f->sites[i];
	f->nr_sites = kept;
}

int classes_join(struct data_file *f, uint32_t **numbers)
{
	uint32_t *parents = reallocarray(NULL, f->nr_classes + 1, sizeof(*parents));

	if (!parents || add_first_sites(f)) {
		free(parents);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->nr_classes; i++)
		parents[i] = i;
	if (f->nr_sites)
		qsort(f->sites, f->nr_sites, sizeof(*f->sites), by_site);
	for (size_t i = 1; i < f->nr_sites; i++)
		if (!by_site(&f->sites[i - 1], &f->sites[i]))
			unite(parents, f->sites[i - 1].class_index, f->sites[i].class_index);
	renumber(f, parents);
	name_classes(f, parents);
	*numbers = parents;
	return 0;
}

void classes_join_order(struct elide_order *o, const uint32_t *numbers)
{
	struct elide_order joined = {.flags = o->flags};

	for (uint32_t i = 0; i < o->nr_edges; i++) {
		struct elide_order_edge *e = &o->edges[i];
		uint32_t next = o->edges[(i + 1) % o->nr_edges].class_index;

		if (!(o->flags & ELIDE_ORDER_LOCKS) && e->class_index != next &&
		    numbers[e->class_index] == numbers[next])
			continue;
		joined.edges[joined.nr_edges] = *e;
		joined.edges[joined.nr_edges++].class_index = numbers[e->class_index];
	}
	*o = joined;
}

/* Cycles before this one with which it is compared: those of one process. */
#define COMPARED 256

/* The sum of the hashes of its classes, which does not depend on the first of them. */
static uint64_t hash_of(const struct elide_order *o)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < o->nr_edges; i++) {
		/* A round of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
		uint64_t x = (o->edges[i].class_index + 1) * 0x9e3779b97f4a7c15ull;

		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
		sum += x ^ x >> 27;
	}
	return sum;
}

void classes_settle_orders(struct data_file *f)
{
	uint64_t seen[COMPARED];
	size_t kept = 0;

	for (size_t i = 0; i < f->nr_orders; i++) {
		uint64_t hash = hash_of(&f->orders[i]);
		bool has = f->orders[i].nr_edges < 2;

		for (size_t j = kept > COMPARED ? kept - COMPARED : 0; !has && j < kept; j++)
			has = seen[j % COMPARED] == hash;
		if (has)
			continue;
		seen[kept % COMPARED] = hash;
		f->orders[kept++] = f->orders[i];
	}
	f->nr_orders = kept;
}
