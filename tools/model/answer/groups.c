// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * groups.c - see groups.h.
 *
 * The graph is that of wPerf (F. Zhou et al., OSDI 2018), with groups of threads in place of threads. Rows
 * say in which calls the threads of a group wait, sampled waits which call ended that, and the rows and
 * stacks of the other groups which of them makes that call.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../../lib/row-sums.h"
#include "../../base/sort.h"
#include "../../base/text.h"
#include "../../names/demangle.h"
#include "../../names/short.h"
#include "../sums.h"
#include "groups.h"
#include "thread-time.h"

/*
 * What the threads of a group do in the rows of one sum; @function: that of the call, see name_functions().
 */
struct use {
	uint32_t group;
	uint32_t sum;
	uint64_t acquired;
	uint64_t wait;
	const char *function;
};

/* The group of the threads of a block of rows. */
struct block_group {
	uint32_t block;
	uint32_t group;
};

/**
 * struct building - the groups, while they are found.
 * @blocks: by number, @nr_blocks of them
 * @of_stack: group of the threads with each stack, by its number
 * @uses:   @nr_uses, by sum and group
 */
struct building {
	const struct report *r;
	struct groups *g;
	struct block_group *blocks;
	size_t nr_blocks;
	uint32_t *of_stack;
	struct use *uses;
	size_t nr_uses;
	size_t room;
	bool named;
};

/* Is it a function of the C or C++ library, or of one that begins threads? */
static bool is_runtime(const struct place *p)
{
	static const char *const objects[] = {"libc.so",   "libc-",    "libpthread",
					      "libstdc++", "ld-linux", "libglib-"};
	static const char *const symbols[] = {"_ZSt",	      "_ZNSt",	      "_ZN9__gnu_cxx", "_start",
					      "__libc_start", "start_thread", "clone",	       "__clone",
					      "_ZNKSt"};

	if (!p->object)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		if (starts_with(base_name(p->object), objects[i]))
			return true;
	for (size_t i = 0; p->elf_symbol && i < ARRAY_SIZE(symbols); i++)
		if (starts_with(p->elf_symbol, symbols[i]))
			return true;
	return false;
}

/* The outermost function of a stack that is the program's own, or its call. Return: to be freed; NULL: none. */
static char *thread_function(const struct report *r, uint32_t stack)
{
	const struct elide_stack *s;
	char place[SHORT_NAME];
	struct place p;

	if (!stack || stack > r->file->nr_stacks)
		return NULL;
	s = &r->file->stacks[stack - 1];
	/* A stack that fills its record is cut off at its outer end. */
	for (uint16_t i = s->nr_frames; i-- && s->nr_frames < ELIDE_STACK_FRAMES;) {
		symbolize_call(r->symbols, s->frames[i], &p);
		if (is_runtime(&p))
			continue;
		if (p.elf_symbol)
			return demangle_own(p.elf_symbol);
		short_place(place, sizeof(place), &p);
		return strdup(place);
	}
	return NULL;
}

/* The name of a thread without a number at its end: worker for worker-12. */
static void base_of(char *to, size_t size, const char *name)
{
	size_t len = strlen(name);

	while (len > 1 && isdigit((unsigned char)name[len - 1]))
		len--;
	if (name[len])
		while (len > 1 && strchr(" -_#:/.", name[len - 1]))
			len--;
	snprintf(to, size, "%.*s", (int)len, name);
}

static void name_group(const struct report *r, const struct elide_thread_record *t, char *to, size_t size)
{
	const struct elide_header *h = &r->file->header;
	char own[sizeof(t->name) + 1], program[sizeof(t->name)], *function;

	if (t->tid == h->pid) {
		snprintf(to, size, "main");
		return;
	}
	snprintf(own, sizeof(own), "%.*s", (int)sizeof(t->name), t->name);
	/* The kernel cuts names to 15 characters. */
	snprintf(program, sizeof(program), "%.15s", base_name(h->exe));
	if (*own && strcmp(own, program)) {
		base_of(to, size, own);
		return;
	}
	function = thread_function(r, t->stack);
	if (function && strchr(function, '+'))
		snprintf(to, size, "%s", function);
	else if (function)
		short_symbol(to, size, function);
	else
		snprintf(to, size, "%s", *own ? "other threads" : "(no name)");
	free(function);
}

static uint32_t group_of(struct groups *g, const char *name, int is_main)
{
	struct group *to;

	for (size_t i = 0; i < g->nr; i++)
		if (!strcmp(g->group[i].name, name) && g->group[i].is_main == is_main)
			return (uint32_t)i;
	to = &g->group[g->nr++];
	*to = (struct group){.is_main = is_main, .known = 1, .edge = GROUP_NONE};
	snprintf(to->name, sizeof(to->name), "%s", name);
	return (uint32_t)(g->nr - 1);
}

static void add_thread(struct building *b, const struct elide_thread_record *t)
{
	int is_main = t->tid == b->r->file->header.pid;
	char name[SHORT_NAME];
	struct group *to;
	uint32_t nr;

	if (t->state == ELIDE_THREAD_NONE)
		return;
	name_group(b->r, t, name, sizeof(name));
	nr = group_of(b->g, name, is_main);
	to = &b->g->group[nr];
	to->nr += t->nr;
	to->known &= t->lived != 0;
	to->lived += (double)t->lived;
	to->ran += (double)t->ran;
	to->late += (double)t->late;
	if (t->block)
		b->blocks[b->nr_blocks++] = (struct block_group){t->block, nr};
	if (t->stack)
		b->of_stack[t->stack] = nr;
}

static int compare_blocks(const void *x, const void *y)
{
	const struct block_group *a = x, *b = y;

	return by_number(a->block, b->block);
}

static uint32_t group_of_block(const struct building *b, uint32_t block)
{
	const struct block_group key = {.block = block}, *found;

	found = b->nr_blocks ? bsearch(&key, b->blocks, b->nr_blocks, sizeof(key), compare_blocks) : NULL;
	return found ? found->group : GROUP_NONE;
}

static int add_row(void *arg, uint32_t block, const struct elide_row *row)
{
	struct building *b = arg;
	uint32_t group = group_of_block(b, block);
	uint64_t acquired = elide_row_acquired(row);
	const struct sum *sum;

	if (group == GROUP_NONE || (!acquired && !row->wait.total))
		return 0;
	sum = sums_get(b->r->sums, row->class_index, row->site, row->kind, 0);
	if (!sum)
		return 0;
	if (b->nr_uses == b->room) {
		struct use *grown = reallocarray(b->uses, 2 * b->room + 64, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		b->uses = grown;
		b->room = 2 * b->room + 64;
	}
	b->uses[b->nr_uses++] = (struct use){
		.group = group,
		.sum = (uint32_t)(sum - b->r->sums->sum),
		.acquired = acquired,
		.wait = row->wait.total,
	};
	return 0;
}

static int compare_uses(const void *x, const void *y)
{
	const struct use *a = x, *b = y;
	int c = by_number(a->sum, b->sum);

	return c ? c : by_number(a->group, b->group);
}

/* One use for each sum and group. */
static void unite_uses(struct building *b)
{
	size_t kept = 0;

	if (b->nr_uses)
		qsort(b->uses, b->nr_uses, sizeof(*b->uses), compare_uses);
	for (size_t i = 0; i < b->nr_uses; i++) {
		struct use *to = kept ? &b->uses[kept - 1] : NULL;

		if (to && !compare_uses(to, &b->uses[i])) {
			to->acquired += b->uses[i].acquired;
			to->wait += b->uses[i].wait;
		} else {
			b->uses[kept++] = b->uses[i];
		}
	}
	b->nr_uses = kept;
}

static const struct use *uses_of(const struct building *b, uint32_t sum, size_t *nr)
{
	size_t low = 0, high = b->nr_uses, first;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (b->uses[middle].sum < sum)
			low = middle + 1;
		else
			high = middle;
	}
	for (first = low; low < b->nr_uses && b->uses[low].sum == sum; low++)
		;
	*nr = low - first;
	return &b->uses[first];
}

/* The group whose threads ended a wait, and the one that did if @first is the waiting one; GROUP_NONE. */
struct enders {
	uint32_t first;
	uint32_t second;
};

/* The group that made most acquisitions in a row. */
static struct enders holders(const struct building *b, const struct elide_blame *blame)
{
	const struct sum *s = sums_get(b->r->sums, blame->held_class, blame->held_site, blame->held_kind, 0);
	const struct use *uses, *most = NULL;
	size_t nr = 0;

	if (!s)
		return (struct enders){GROUP_NONE, GROUP_NONE};
	uses = uses_of(b, (uint32_t)(s - b->r->sums->sum), &nr);
	for (size_t i = 0; i < nr; i++)
		if (!most || uses[i].acquired > most->acquired)
			most = &uses[i];
	return (struct enders){most ? most->group : GROUP_NONE, GROUP_NONE};
}

/* Uses of a report among which the function of a waking call is searched, at most. */
#define SEARCHED 4096

static void name_functions(struct building *b)
{
	struct place p;

	for (size_t i = 0; !b->named && i < b->nr_uses && i < SEARCHED; i++) {
		symbolize_call(b->r->symbols, b->r->sums->sum[b->uses[i].sum].site, &p);
		b->uses[i].function = p.elf_symbol;
	}
	b->named = true;
}

/*
 * The groups whose threads make the call that woke others: that of the thread which did so, if its stack is known, else
 * those with most acquisitions in the function of the call.
 */
static struct enders wakers(struct building *b, const struct elide_blame *blame)
{
	struct enders found = {GROUP_NONE, GROUP_NONE};
	uint64_t *acquired;
	struct place p;

	if (blame->waker && b->of_stack[blame->waker] != GROUP_NONE)
		return (struct enders){b->of_stack[blame->waker], GROUP_NONE};
	acquired = calloc(b->g->nr, sizeof(*acquired));
	name_functions(b);
	symbolize_call(b->r->symbols, blame->held_site, &p);
	for (size_t i = 0; acquired && i < b->nr_uses && i < SEARCHED; i++) {
		const struct use *u = &b->uses[i];

		if (p.elf_symbol && u->function && !strcmp(p.elf_symbol, u->function))
			acquired[u->group] += u->acquired + 1;
	}
	for (uint32_t i = 0; acquired && i < b->g->nr; i++) {
		if (!acquired[i])
			continue;
		if (found.first == GROUP_NONE || acquired[i] > acquired[found.first])
			found = (struct enders){i, found.first};
		else if (found.second == GROUP_NONE || acquired[i] > acquired[found.second])
			found.second = i;
	}
	free(acquired);
	return found;
}

static struct enders enders_of(struct building *b, const struct elide_blame *blame)
{
	if (!blame->held_site)
		return (struct enders){GROUP_NONE, GROUP_NONE};
	return elide_kind_waits_for_lock(blame->held_kind) && !elide_kind_is_futex(blame->held_kind) ?
		       holders(b, blame) : wakers(b, blame);
}

/* Of a wait of @waiter. Another group, unless only the waiting one makes such calls. */
static uint32_t ender_for(const struct enders *e, uint32_t waiter)
{
	return e->first == waiter && e->second != GROUP_NONE ? e->second : e->first;
}

static uint64_t held_site(const struct group_edge *e)
{
	return e->blame ? e->blame->held_site : 0;
}

static int add_edge(struct groups *g, const struct group_edge *e)
{
	struct group_edge *grown;

	/* Those of a sum and a group are added one after another. */
	for (size_t i = g->nr_edges; i && g->edge[i - 1].sum == e->sum && g->edge[i - 1].from == e->from; i--) {
		struct group_edge *to = &g->edge[i - 1];

		if (to->to == e->to && held_site(to) == held_site(e)) {
			to->ns += e->ns;
			return 0;
		}
	}
	grown = reallocarray(g->edge, g->nr_edges + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	g->edge = grown;
	grown[g->nr_edges++] = *e;
	return 0;
}

/* The edges of one row: what its groups waited, divided as its sampled waits are. */
static int add_edges(struct building *b, uint32_t sum, const struct elide_blame *const *blames, size_t nr)
{
	const struct report *r = b->r;
	bool is_lock = elide_kind_waits_for_lock(r->sums->sum[sum].kind);
	struct enders *enders = calloc(nr + 1, sizeof(*enders));
	double total = 0;
	const struct use *uses;
	size_t nr_uses;
	int rc = enders ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < nr; i++) {
		total += (double)blames[i]->cycles;
		enders[i] = enders_of(b, blames[i]);
	}
	uses = uses_of(b, sum, &nr_uses);
	for (size_t i = 0; !rc && i < nr_uses; i++) {
		double ns = report_ns(r, (double)uses[i].wait);
		struct group_edge e = {.from = uses[i].group, .to = GROUP_NONE, .sum = sum, .ns = ns};

		*(is_lock ? &b->g->group[e.from].locks : &b->g->group[e.from].others) += ns;
		if (ns <= 0)
			continue;
		if (total <= 0)
			rc = add_edge(b->g, &e);
		for (size_t j = 0; !rc && total > 0 && j < nr; j++) {
			const struct elide_blame *blame = blames[j];

			e.blame = blame->held_site ? blame : NULL;
			e.to = ender_for(&enders[j], e.from);
			e.ns = ns * (double)blame->cycles / total;
			if (e.ns > 0)
				rc = add_edge(b->g, &e);
		}
	}
	free(enders);
	return rc;
}

/* A blame and the sum of its row. */
struct blamed {
	uint32_t sum;
	const struct elide_blame *blame;
};

static int compare_blamed(const void *x, const void *y)
{
	const struct blamed *a = x, *b = y;

	return by_number(a->sum, b->sum);
}

static int find_edges(struct building *b)
{
	const struct data_file *f = b->r->file;
	struct blamed *all = calloc(f->nr_blames + 1, sizeof(*all));
	const struct elide_blame **blames = calloc(f->nr_blames + 1, sizeof(*blames));
	size_t nr = 0, at = 0;
	int rc = all && blames ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < f->nr_blames; i++) {
		const struct elide_blame *blame = &f->blames[i];
		const struct sum *s = sums_get(b->r->sums, blame->class_index, blame->site, blame->kind, 0);

		if (s && blame->type == ELIDE_BLAME_WAIT)
			all[nr++] = (struct blamed){(uint32_t)(s - b->r->sums->sum), blame};
	}
	if (nr)
		qsort(all, nr, sizeof(*all), compare_blamed);
	/* Sums, too, of which no wait was sampled. */
	for (uint32_t sum = 0; !rc && sum < b->r->sums->nr; sum++) {
		size_t n = 0;

		for (; at < nr && all[at].sum == sum; at++)
			blames[n++] = all[at].blame;
		if (b->r->sums->sum[sum].wait_total)
			rc = add_edges(b, sum, blames, n);
	}
	free(all);
	free(blames);
	return rc;
}

/* The first thread has waited for the end of others: of those of which there are most. */
static int add_join(struct building *b)
{
	const struct report *r = b->r;
	double ns = report_ns(r, (double)thread_time_joined(&r->file->header));
	struct group_edge e = {.to = GROUP_NONE, .sum = GROUP_NONE, .ns = ns};
	struct groups *g = b->g;

	if (ns <= 0 || !g->nr || !g->group[0].is_main)
		return 0;
	for (uint32_t i = 1; i < g->nr; i++)
		if (e.to == GROUP_NONE || g->group[i].nr > g->group[e.to].nr)
			e.to = i;
	g->group[0].others += ns;
	return add_edge(g, &e);
}

static int compare_edges(const void *x, const void *y)
{
	const struct group_edge *a = x, *b = y;
	int c = by_number(a->from, b->from);

	if (!c)
		c = (a->ns < b->ns) - (a->ns > b->ns);
	return c ? c : by_number(a->sum, b->sum);
}

int groups_build(const struct report *r, struct groups *g)
{
	const struct data_file *f = r->file;
	struct building b = {.r = r, .g = g};
	int rc;

	memset(g, 0, sizeof(*g));
	if (!f->nr_threads || f->base || f->nr_sources)
		return 0;
	g->group = calloc(f->nr_threads + 1, sizeof(*g->group));
	b.blocks = calloc(f->nr_threads, sizeof(*b.blocks));
	b.of_stack = calloc(f->nr_stacks + 1, sizeof(*b.of_stack));
	rc = g->group && b.blocks && b.of_stack ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i <= f->nr_stacks; i++)
		b.of_stack[i] = GROUP_NONE;
	/* The first thread first. */
	for (int others = 0; !rc && others < 2; others++)
		for (size_t i = 0; i < f->nr_threads; i++)
			if ((f->threads[i].tid != f->header.pid) == others)
				add_thread(&b, &f->threads[i]);
	if (b.nr_blocks)
		qsort(b.blocks, b.nr_blocks, sizeof(*b.blocks), compare_blocks);
	if (!rc)
		rc = load_block_rows(f, add_row, &b);
	if (!rc) {
		unite_uses(&b);
		rc = find_edges(&b);
	}
	if (!rc)
		rc = add_join(&b);
	if (!rc && g->nr_edges)
		qsort(g->edge, g->nr_edges, sizeof(*g->edge), compare_edges);
	for (size_t i = g->nr_edges; i--;)
		g->group[g->edge[i].from].edge = (uint32_t)i;
	free(b.blocks);
	free(b.of_stack);
	free(b.uses);
	if (rc)
		groups_free(g);
	return rc;
}

/*
 * Does a group wait for longer than it runs, does its longest edge explain more than half of that, and is the
 * other group known?
 */
static bool leads_on(const struct groups *g, uint32_t group)
{
	const struct group *from = &g->group[group];

	if (from->known && from->ran > from->locks + from->others)
		return false;
	return from->edge != GROUP_NONE && g->edge[from->edge].to != GROUP_NONE &&
	       2 * g->edge[from->edge].ns > from->locks + from->others;
}

size_t groups_chain(const struct groups *g, uint32_t *edges, size_t max, size_t *loop)
{
	uint32_t at = 0;
	size_t nr = 0;

	*loop = max;
	for (uint32_t i = 1; g->nr && !(g->group[0].is_main && leads_on(g, 0)) && i < g->nr; i++)
		if (g->group[i].locks + g->group[i].others > g->group[at].locks + g->group[at].others)
			at = i;
	while (g->nr && nr < max && leads_on(g, at)) {
		edges[nr++] = g->group[at].edge;
		at = g->edge[g->group[at].edge].to;
		for (size_t i = 0; i < nr; i++)
			if (g->edge[edges[i]].from == at) {
				*loop = i;
				return nr;
			}
	}
	return nr;
}

void groups_free(struct groups *g)
{
	free(g->group);
	free(g->edge);
	memset(g, 0, sizeof(*g));
}
