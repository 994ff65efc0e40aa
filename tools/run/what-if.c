// SPDX-License-Identifier: GPL-2.0-or-later
/* what-if.c - see what-if.h. */
#include "what-if.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/emulator.h"
#include "../base/messages.h"
#include "../model/sums.h"

/* Is it a lock whose releases are seen? */
static bool is_lock(unsigned int kind)
{
	return (elide_kind_is_lock(kind) && kind != ELIDE_KIND_CUSTOM) || kind == ELIDE_KIND_REACQUIRE;
}

/* Is that the name, in full or as a table shows it? */
static bool is_called(const char *name, const char *full, const char *shown)
{
	return !strcmp(name, full) || !strcmp(name, shown);
}

static bool is_wanted(const struct what_if *w, const struct line *l)
{
	return is_lock(l->kind) && (!w->lock || is_called(w->lock, l->lock, l->short_lock)) &&
	       (!w->site || is_called(w->site, l->site, l->short_site));
}

/* The key of a recorded address; 0: it lies in no object. */
static uint64_t key_of(const struct data_file *f, unsigned int type, uint64_t address)
{
	for (size_t i = 0; i < f->nr_modules; i++) {
		const struct elide_module *m = &f->modules[i];

		if (address >= m->start && address < m->end)
			return elide_place_key(type, m->path, address - m->base);
	}
	return 0;
}

/* Return: 0, or -E2BIG after one line. */
static int add_place(struct what_if_lock *l, uint64_t class, uint64_t site)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->places[i].class == class && l->places[i].site == site)
			return 0;
	if (!class)
		return 0;
	if (l->nr == ELIDE_WHAT_IF_MAX) {
		say("what-if: %s is locks of more than %d places", l->lock, ELIDE_WHAT_IF_MAX);
		return -E2BIG;
	}
	l->places[l->nr++] = (struct what_if_place){class, site};
	return 0;
}

/*
 * Adds the sections of a line of the report. A class without an initialisation is named after the call that
 * locked one of its locks first, which may be another one in the next run.
 */
static int add_line(struct what_if_lock *to, const struct what_if *w, const struct report *r,
		    const struct line *l)
{
	const struct data_file *f = r->file;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->sums->nr; i++) {
		const struct sum *s = &r->sums->sum[i];
		const struct elide_class *c = &f->classes[s->class_index];
		uint64_t site = w->site ? key_of(f, 0, s->site) : 0;

		if (report_line(r, s->class_index, s->site, s->kind) != l)
			continue;
		rc = add_place(to, key_of(f, c->type, c->address), site);
		if (!rc && c->type == ELIDE_CLASS_FIRST)
			rc = add_place(to, key_of(f, c->type, s->site), site);
	}
	return rc;
}

/* The lock to which a line belongs; a new one if there is room, else NULL. */
static struct what_if_lock *lock_of(struct what_if *w, const struct line *l)
{
	struct what_if_lock *lock = w->locks;

	while (lock < w->locks + w->nr && strcmp(lock->lock, l->lock))
		lock++;
	if (lock < w->locks + w->nr || w->nr == WHAT_IF_LOCKS)
		return lock < w->locks + w->nr ? lock : NULL;
	lock->lock = strdup(l->lock);
	lock->site = w->site ? strdup(l->site) : NULL;
	if (!lock->lock || (w->site && !lock->site))
		return NULL;
	w->nr++;
	return lock;
}

/* No line is wanted: names those that there are. */
static void say_none(const struct what_if *w, const struct report *r)
{
	char list[512] = "";
	size_t len = 0, nr = 0;

	for (size_t i = 0; i < r->nr_lines && nr < WHAT_IF_LOCKS && len < sizeof(list); i++) {
		const struct line *l = &r->lines[i];

		if (!is_lock(l->kind) || (w->site && !is_called(w->lock, l->lock, l->short_lock)))
			continue;
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", nr++ ? ", " : "",
					w->site ? l->site : l->lock);
	}
	if (!nr && !w->lock)
		say("what-if: the program has locked no lock whose releases are seen");
	else if (!nr)
		say("what-if: the program has locked no %s", w->lock);
	else if (w->site)
		say("what-if: %s is not locked at %s, but at %s", w->lock, w->site, list);
	else
		say("what-if: the program has locked no %s; there are %s", w->lock, list);
}

int what_if_choose(struct what_if *w, const struct data_file *f)
{
	struct report r;
	int rc = report_build(&r, f, w->site ? BY_LOCK_AND_SITE : BY_LOCK, "wait");

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < r.nr_lines; i++) {
		struct what_if_lock *to = is_wanted(w, &r.lines[i]) ? lock_of(w, &r.lines[i]) : NULL;

		if (to)
			rc = add_line(to, w, &r, &r.lines[i]);
	}
	if (!rc && !w->nr) {
		say_none(w, &r);
		rc = -ENOENT;
	}
	report_free(&r);
	return rc;
}

void what_if_text(const struct what_if_lock *l, double percent, char *to)
{
	unsigned int per_mille = (unsigned int)(percent * 10);
	size_t len;

	if (per_mille > RTMGRIND_FASTEST)
		per_mille = RTMGRIND_FASTEST;
	len = (size_t)sprintf(to, "%03u", l ? per_mille : 0);
	for (size_t i = 0; l && i < l->nr; i++)
		len += (size_t)sprintf(to + len, ",%016llx:%016llx", (unsigned long long)l->places[i].class,
				       (unsigned long long)l->places[i].site);
	memset(to + len, ',', ELIDE_WHAT_IF_TEXT - len);
	to[ELIDE_WHAT_IF_TEXT] = '\0';
}

double what_if_gain(const struct what_if *w, uint64_t elapsed_ns)
{
	return 100 * (1 - (double)elapsed_ns / (double)w->elapsed_ns);
}

void what_if_free(struct what_if *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		free(w->locks[i].lock);
		free(w->locks[i].site);
	}
}
