// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callers.c - who calls a function that only wraps a lock call.
 *
 * The call of a lock function has one site in a wrapper, whoever calls that. The stacks of the waits
 * that were sampled tell the callers apart. Must never give a caller that no sample shows.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "callers.h"

/* Calls that are told apart; further ones are not counted. */
#define TOLD_APART 256
/* A caller with this share of the time waited gives the row its name. */
#define MOST 0.5

static bool is_wrapper(const struct report *r, uint64_t address)
{
	static const char *const words[] = {
#define ELIDE_WRAPPER_WORD(word) word,
#include "../../lib/wrappers.def"
#undef ELIDE_WRAPPER_WORD
	};
	struct place p;

	symbolize_call(r->symbols, address, &p);
	for (size_t i = 0; p.elf_symbol && i < ARRAY_SIZE(words); i++)
		if (strcasestr(p.elf_symbol, words[i]))
			return true;
	return false;
}

/* The first call of a stack that is in no wrapper; 0 if the stack ends before. */
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

size_t callers_find(const struct report *r, const struct line *l, struct caller *to)
{
	const struct data_file *f = r->file;
	struct caller all[TOLD_APART];
	size_t nr = 0, at;
	double total = 0;

	if (l->nr_sites != 1 || l->nr_classes != 1 || !l->sum.contended ||
	    !is_wrapper(r, l->sum.site))
		return 0;
	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct elide_sample *s = &f->samples[i];
		uint64_t caller;

		if (s->type != ELIDE_SAMPLE_WAIT || s->class_index != l->sum.class_index ||
		    s->site != l->sum.site || s->kind != l->kind)
			continue;
		total += (double)s->cycles;
		caller = outside(r, s->stack);
		for (at = 0; at < nr && all[at].address != caller; at++)
			;
		if (!caller || at == TOLD_APART)
			continue;
		if (at == nr)
			all[nr++] = (struct caller){caller, 0};
		all[at].share += (double)s->cycles;
	}
	for (size_t i = 0; i < nr; i++)
		all[i].share = total > 0 ? all[i].share / total : 0;
	qsort(all, nr, sizeof(*all), compare_callers);
	nr = nr < CALLERS_MAX ? nr : CALLERS_MAX;
	memcpy(to, all, nr * sizeof(*to));
	return nr;
}

void callers_name(const struct report *r, struct line *l)
{
	char name[SHORT_NAME], wrapper[SHORT_NAME];
	struct caller callers[CALLERS_MAX];
	struct place p;

	if (!callers_find(r, l, callers) || callers[0].share < MOST)
		return;
	symbolize_call(r->symbols, callers[0].address, &p);
	if (!p.symbol || !l->site_place.symbol)
		return;
	short_symbol(name, sizeof(name), p.symbol);
	short_symbol(wrapper, sizeof(wrapper), l->site_place.symbol);
	snprintf(l->short_site, sizeof(l->short_site), "%.60s via %.60s", name, wrapper);
}
