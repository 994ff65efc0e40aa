// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callers.c - the callers of functions that only wrap a lock call.
 *
 * A wrapper's lock call has one site, whoever calls the wrapper. The sampled stacks of waits, of
 * acquisitions where none waited, and of unlock calls that ended waits, distinguish the callers. Must never name a caller that no sample shows.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "../names/demangle.h"
#include "callers.h"

/* Callers that are distinguished; further ones are not counted. */
#define TOLD_APART 256
/* A caller with this share of the time waited, or of the acquisitions, gives the row its name. */
#define MOST 0.5

/* Is the function's own name, without the types of its parameters, that of a wrapper? */
static bool is_wrapper(const struct report *r, uint64_t address)
{
	static const char *const words[] = {
#define ELIDE_WRAPPER_WORD(word) word,
#define ELIDE_WRAPPER_CONSTRUCTOR(word)
#define ELIDE_WRAPPER_INIT(word)
#include "../../lib/wrappers.def"
#undef ELIDE_WRAPPER_INIT
#undef ELIDE_WRAPPER_CONSTRUCTOR
#undef ELIDE_WRAPPER_WORD
	};
	bool found = false;
	struct place p;
	char *name;

	symbolize_call(r->symbols, address, &p);
	if (!p.elf_symbol)
		return false;
#define ELIDE_WRAPPER_WORD(word)
#define ELIDE_WRAPPER_CONSTRUCTOR(word) found |= strcasestr(p.elf_symbol, word) != NULL;
#define ELIDE_WRAPPER_INIT(word)
#include "../../lib/wrappers.def"
#undef ELIDE_WRAPPER_INIT
#undef ELIDE_WRAPPER_CONSTRUCTOR
#undef ELIDE_WRAPPER_WORD
	name = demangle_own(p.elf_symbol);
	for (size_t i = 0; name && i < ARRAY_SIZE(words); i++)
		found |= strcasestr(name, words[i]) != NULL;
	free(name);
	return found;
}

/* The innermost call of a stack that is in no wrapper; 0 if there is none. */
static uint64_t outside(const struct report *r, uint32_t stack)
{
	const struct elide_stack *s = stack ? &r->file->stacks[stack - 1] : NULL;

	for (uint16_t i = 1; s && i < s->nr_frames; i++)
		if (!is_wrapper(r, s->frames[i]))
			return s->frames[i];
	return 0;
}

static int compare_callers(const void *x, const void *y)
{
	const struct caller *a = x, *b = y;

	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return by_number(a->address, b->address);
}

/* The type of samples to search in the row of a call in a wrapper, and the weight of a sample. */
struct asked {
	enum elide_sample_type type;
	uint32_t class_index;
	uint64_t site;
	int kind;
};

static double weight_of(const struct elide_sample *s)
{
	return (double)(s->type == ELIDE_SAMPLE_WAIT ? s->cycles : s->count);
}

static size_t find(const struct report *r, const struct asked *asked, struct caller *to)
{
	const struct data_file *f = r->file;
	struct caller all[TOLD_APART];
	size_t nr = 0, at;
	double total = 0;

	if (!is_wrapper(r, asked->site))
		return 0;
	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct elide_sample *s = &f->samples[i];
		uint64_t caller;

		if (s->type != asked->type || s->class_index != asked->class_index ||
		    s->site != asked->site || s->kind != asked->kind)
			continue;
		total += weight_of(s);
		caller = outside(r, s->stack);
		for (at = 0; at < nr && all[at].address != caller; at++)
			;
		if (!caller || at == TOLD_APART)
			continue;
		if (at == nr)
			all[nr++] = (struct caller){caller, 0};
		all[at].share += weight_of(s);
	}
	for (size_t i = 0; i < nr; i++)
		all[i].share = total > 0 ? all[i].share / total : 0;
	qsort(all, nr, sizeof(*all), compare_callers);
	nr = nr < CALLERS_MAX ? nr : CALLERS_MAX;
	memcpy(to, all, nr * sizeof(*to));
	return nr;
}

size_t callers_find(const struct report *r, const struct line *l, struct caller *to)
{
	struct asked asked = {l->sum.contended ? ELIDE_SAMPLE_WAIT : ELIDE_SAMPLE_ACQUIRE,
			      l->sum.class_index, l->sum.site, l->kind};

	if (l->nr_sites != 1 || l->nr_classes != 1)
		return 0;
	return find(r, &asked, to);
}

uint64_t callers_of_blocker(const struct report *r, const struct line *l)
{
	const struct elide_blame *b = l->blocker;
	struct caller callers[CALLERS_MAX];
	struct asked asked;

	if (!b || !elide_kind_is_lock(b->held_kind))
		return 0;
	asked = (struct asked){ELIDE_SAMPLE_BLOCK, b->held_class, b->held_site, b->held_kind};
	return find(r, &asked, callers) && callers[0].share >= MOST ? callers[0].address : 0;
}

/* Writes "caller via wrapper"; leaves @to if the caller or the wrapper has no name. */
static void name_both(const struct report *r, char *to, uint64_t caller, const struct place *wrapper)
{
	char outer[SHORT_NAME], inner[SHORT_NAME];
	struct place p;

	symbolize_call(r->symbols, caller, &p);
	if (!p.symbol || !wrapper->symbol)
		return;
	short_symbol(outer, sizeof(outer), p.symbol);
	short_symbol(inner, sizeof(inner), wrapper->symbol);
	snprintf(to, SHORT_NAME, "%.60s via %.60s", outer, inner);
}

void callers_name(const struct report *r, struct line *l)
{
	struct caller callers[CALLERS_MAX];
	struct place held;
	uint64_t caller;

	if (callers_find(r, l, callers) && callers[0].share >= MOST)
		name_both(r, l->short_site, callers[0].address, &l->site_place);
	caller = callers_of_blocker(r, l);
	if (!caller)
		return;
	symbolize_call(r->symbols, l->blocker->held_site, &held);
	name_both(r, l->short_blocker, caller, &held);
}
