// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flame.c - sampled stacks as a tree, for a flame graph.
 *
 * Must never show an address.
 */
#include "flame.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../model/evidence.h"
#include "../view/view-stack.h"
#include "../view/views.h"

/* A function in a stack; nodes are found by index, 0 is the root and no node's child. */
struct node {
	char *name;
	char *full;
	double ns;
	size_t child;
	size_t next;
};

struct tree {
	struct node *nodes;
	size_t nr;
	size_t room;
};

static size_t node_add(struct tree *t, const char *name, const char *full)
{
	struct node *n;

	if (t->nr == t->room) {
		n = reallocarray(t->nodes, 2 * t->room + 256, sizeof(*n));
		if (!n)
			return 0;
		t->nodes = n;
		t->room = 2 * t->room + 256;
	}
	n = &t->nodes[t->nr];
	*n = (struct node){.name = strdup(name), .full = strdup(full)};
	if (n->name && n->full)
		return t->nr++;
	free(n->name);
	free(n->full);
	return 0;
}

/* The child of a node with that name, a new one if there is none; 0 without memory. */
static size_t child_of(struct tree *t, size_t parent, const char *name, const char *full)
{
	size_t i = t->nodes[parent].child;

	for (; i; i = t->nodes[i].next)
		if (!strcmp(t->nodes[i].full, full))
			return i;
	i = node_add(t, name, full);
	if (i) {
		t->nodes[i].next = t->nodes[parent].child;
		t->nodes[parent].child = i;
	}
	return i;
}

/*
 * Is a frame useless in the picture? In headers of the system and in libstdc++ one function of the
 * program calls another one, and every thread begins in the C library.
 */
static bool is_between(const struct place *p)
{
	static const char *const begins[] = {
		"_start",	    "__libc_start_main", "__libc_start_call_main",
		"start_thread",	    "__clone",		 "__clone3",
		"clone",	    "clone3",
	};

	if (symbolize_in_header(p) || (p->object && !strncmp(p->object, "libstdc++", 9)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (p->symbol && !strncmp(p->symbol, begins[i], strlen(begins[i])) &&
		    strchr("@.", p->symbol[strlen(begins[i])]))
			return true;
	return false;
}

static size_t child_frame(struct tree *t, size_t parent, const struct place *p)
{
	const char *full = p->symbol ? p->symbol : p->object ? p->object : "unknown";
	char name[SHORT_NAME];

	if (p->symbol)
		short_symbol(name, sizeof(name), full);
	else
		snprintf(name, sizeof(name), "%s", full);
	return child_of(t, parent, *name ? name : full, full);
}

static void add_sample(const struct report *r, struct tree *t, const struct elide_sample *s)
{
	struct stack_weight w = stack_weight(r, s);
	struct place frames[FRAMES_MAX];
	size_t nr = evidence_frames(r, s->stack, frames), at = 0;
	struct where where;
	uint64_t ns;

	if (to_ns(r, (uint64_t)w.cycles, &ns) || !ns)
		return;
	if (!where_fill(r, &where, s->class_index, s->kind, s->site))
		at = child_of(t, 0, where.short_lock, where.lock);
	where_free(&where);
	if (!at)
		return;
	t->nodes[0].ns += (double)ns;
	t->nodes[at].ns += (double)ns;
	while (nr-- && at) {
		if (is_between(&frames[nr]))
			continue;
		at = child_frame(t, at, &frames[nr]);
		if (at)
			t->nodes[at].ns += (double)ns;
	}
}

static int compare_ns(const void *x, const void *y, void *arg)
{
	const struct node *nodes = arg, *a = &nodes[*(const size_t *)x];
	const struct node *b = &nodes[*(const size_t *)y];

	if (a->ns < b->ns || a->ns > b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->full, b->full);
}

static json_t *node_json(const struct tree *t, size_t node)
{
	const struct node *n = &t->nodes[node];
	json_t *o = json_object(), *list = json_array();
	size_t nr = 0, *children;

	json_object_set_new(o, "name", json_text(n->name));
	json_object_set_new(o, "full", json_text(n->full));
	json_object_set_new(o, "ns", json_number((uint64_t)n->ns));
	for (size_t i = n->child; i; i = t->nodes[i].next)
		nr++;
	children = reallocarray(NULL, nr + 1, sizeof(*children));
	nr = 0;
	for (size_t i = n->child; children && i; i = t->nodes[i].next)
		children[nr++] = i;
	if (nr)
		qsort_r(children, nr, sizeof(*children), compare_ns, t->nodes);
	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, node_json(t, children[i]));
	free(children);
	json_object_set_new(o, "children", list);
	return o;
}

json_t *flame_json(const struct report *r)
{
	struct tree t = {0};
	json_t *o = json_null();

	node_add(&t, "", "");
	for (size_t i = 0; t.nr && i < r->file->nr_samples; i++)
		if (r->file->samples[i].type == ELIDE_SAMPLE_WAIT &&
		    elide_kind_waits_for_lock(r->file->samples[i].kind))
			add_sample(r, &t, &r->file->samples[i]);
	if (t.nr && t.nodes[0].ns > 0)
		o = node_json(&t, 0);
	for (size_t i = 0; i < t.nr; i++) {
		free(t.nodes[i].name);
		free(t.nodes[i].full);
	}
	free(t.nodes);
	return o;
}
