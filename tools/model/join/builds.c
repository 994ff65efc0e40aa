// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * builds.c - matches locks and call sites of two builds of a program.
 *
 * Must never match two because their addresses are equal, nor choose one of several by chance.
 */
#include "builds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/intern.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "../../names/names.h"
#include "table.h"

/* Indices of names[]: with the line, and without. */
enum { BY_NAME, BY_SYMBOL, NR_NAMES };

/* A named address. @class_type: of a lock; 0 for a call site */
struct named {
	uint64_t address;
	uint32_t class_type;
	bool matched;
	char *names[NR_NAMES];
};

/* The named addresses of a file. @seen: addresses that are in @all */
struct list {
	const struct data_file *file;
	const struct data_file *other;
	struct symbolizer *symbols;
	struct intern seen;
	struct named *all;
	size_t nr;
	size_t room;
};

static bool same_build(const struct elide_module *a, const struct elide_module *b)
{
	return a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

/* Is the address in an object of which the other file has only another build? */
static bool in_other_build(const struct list *l, uint64_t address)
{
	const struct elide_module *m = NULL;
	bool other = false;

	for (size_t i = 0; !m && i < l->file->nr_modules; i++)
		if (address >= l->file->modules[i].start && address < l->file->modules[i].end)
			m = &l->file->modules[i];
	for (size_t i = 0; m && i < l->other->nr_modules; i++) {
		const struct elide_module *o = &l->other->modules[i];

		if (strcmp(base_name(o->path), base_name(m->path)))
			continue;
		if (same_build(o, m))
			return false;
		other = true;
	}
	return other;
}

/* A name without a symbol has an offset in the object, which means nothing in another build. */
static int name(struct list *l, struct named *n, const struct elide_class *c)
{
	struct place place;
	char *text;

	if (c) {
		text = class_name(l->symbols, c, &place);
	} else {
		symbolize_call(l->symbols, n->address, &place);
		text = code_name(&place);
	}
	if (!text)
		return -ENOMEM;
	if (!place.symbol) {
		free(text);
		return 0;
	}
	n->names[BY_NAME] = text;
	if (asprintf(&n->names[BY_SYMBOL], "%s in %s", place.symbol,
		     place.inlined_into ? place.inlined_into : "") >= 0)
		return 0;
	n->names[BY_SYMBOL] = NULL;
	return -ENOMEM;
}

static int add(struct list *l, uint64_t address, const struct elide_class *c)
{
	struct {
		uint64_t address;
		uint64_t class_type;
	} key = {address, c ? c->type : 0};
	size_t before = l->seen.nr, room;
	struct named *grown;

	if (intern(&l->seen, &key, sizeof(key)) < 0)
		return -ENOMEM;
	if (l->seen.nr == before || !in_other_build(l, c && c->type == ELIDE_CLASS_STATIC ?
							   address : address - 1))
		return 0;
	if (l->nr == l->room) {
		room = 2 * l->room + 64;
		grown = reallocarray(l->all, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		l->all = grown;
		l->room = room;
	}
	l->all[l->nr] = (struct named){.address = address, .class_type = c ? c->type : 0};
	return name(l, &l->all[l->nr++], c);
}

static int fill(struct list *l, const struct data_file *file, const struct data_file *other,
		void (*warn)(const char *line))
{
	int rc = 0;

	*l = (struct list){.file = file, .other = other};
	l->symbols = symbolizer_new(file->modules, file->nr_modules, warn);
	if (!l->symbols || symbolizer_locks(l->symbols, file->sites, file->nr_sites))
		return -ENOMEM;
	for (size_t i = 0; !rc && i < file->nr_classes; i++)
		rc = add(l, file->classes[i].address, &file->classes[i]);
	for (size_t i = 0; !rc && i < table_nr(file->table); i++)
		rc = add(l, table_row(file->table, i)->site, NULL);
	for (size_t i = 0; !rc && i < file->nr_blames; i++)
		if (file->blames[i].held_site)
			rc = add(l, file->blames[i].held_site, NULL);
	return rc;
}

static void empty(struct list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		for (int how = 0; how < NR_NAMES; how++)
			free(l->all[i].names[how]);
	free(l->all);
	intern_free(&l->seen);
	symbolizer_free(l->symbols);
}

/* Sorts those without a name last. */
static int compare(const struct named *a, const struct named *b, int how)
{
	int c = by_number(a->matched || !a->names[how], b->matched || !b->names[how]);

	if (!c)
		c = by_number(a->class_type, b->class_type);
	return c || a->matched || !a->names[how] ? c : strcmp(a->names[how], b->names[how]);
}

static int by_name(const void *x, const void *y)
{
	return compare(x, y, BY_NAME);
}

static int by_symbol(const void *x, const void *y)
{
	return compare(x, y, BY_SYMBOL);
}

/* Number of neighbours with the name of the first. */
static size_t alike(const struct named *n, size_t nr, int how)
{
	size_t same = 1;

	while (same < nr && !compare(n, n + same, how))
		same++;
	return same;
}

static void match(struct builds *b, struct list *first, struct list *second, int how)
{
	int (*order)(const void *, const void *) = how == BY_NAME ? by_name : by_symbol;
	size_t i = 0, j = 0;

	if (!first->nr || !second->nr)
		return;
	qsort(first->all, first->nr, sizeof(*first->all), order);
	qsort(second->all, second->nr, sizeof(*second->all), order);
	while (i < first->nr && j < second->nr) {
		struct named *x = &first->all[i], *y = &second->all[j];
		size_t nr_x = alike(x, first->nr - i, how), nr_y = alike(y, second->nr - j, how);
		int c = compare(x, y, how);

		if (x->matched || !x->names[how] || y->matched || !y->names[how])
			break;
		if (!c && nr_x == 1 && nr_y == 1) {
			b->aliases[b->nr++] = (struct merge_alias){y->address, x->address};
			x->matched = y->matched = true;
		}
		i += c <= 0 ? nr_x : 0;
		j += c >= 0 ? nr_y : 0;
	}
}

static int compare_aliases(const void *x, const void *y)
{
	const struct merge_alias *a = x, *b = y;

	return by_number(a->from, b->from);
}

int builds_match(struct builds *b, const struct data_file *first, const struct data_file *second,
		 void (*warn)(const char *line))
{
	struct list lists[2] = {0};
	int rc = fill(&lists[0], first, second, warn);

	*b = (struct builds){0};
	if (!rc)
		rc = fill(&lists[1], second, first, warn);
	b->aliases = reallocarray(NULL, lists[1].nr + 1, sizeof(*b->aliases));
	if (!b->aliases)
		rc = -ENOMEM;
	for (int how = 0; !rc && how < NR_NAMES; how++)
		match(b, &lists[0], &lists[1], how);
	b->nr_apart = lists[1].nr - b->nr;
	if (b->nr)
		qsort(b->aliases, b->nr, sizeof(*b->aliases), compare_aliases);
	empty(&lists[0]);
	empty(&lists[1]);
	if (rc)
		builds_free(b);
	return rc;
}

void builds_free(struct builds *b)
{
	free(b->aliases);
	*b = (struct builds){0};
}
