// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * suggestion.c - the settings that follow from the measurements, as a file for elide run --conf.
 *
 * Must never set anything itself.
 */
#include <stdio.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../model/advice.h"
#include "../model/attribute.h"
#include "../model/rule.h"
#include "suggestion.h"

/* Bytes of a setting's value, at most: as many as the library reads of a tunable. */
#define VALUE_MAX 1024

static int add_once(struct paths *p, const char *text)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->path[i], text))
			return 0;
	return paths_add(p, text);
}

static int add_rule(struct suggestion *s, const struct report *r, const struct line *l,
		    const struct finding *f)
{
	char pattern[256], reason[2048];
	size_t before = s->rules.nr;
	int rc;

	rule_pattern(r, l, pattern, sizeof(pattern));
	if (!pattern[0])
		return 0;
	rc = add_once(&s->rules, pattern);
	if (rc || s->rules.nr == before)
		return rc;
	snprintf(reason, sizeof(reason), "%s at %s: %s",
		 strlen(l->lock) > READABLE ? l->short_lock : l->lock,
		 strlen(l->site) > READABLE ? l->short_site : l->site, f->text);
	for (char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	return paths_add(&s->reasons, reason);
}

/*
 * Adds a rule for a row where eliding costs more than it gains, or gains nothing, with a comment on
 * what to change in the program.
 */
static int add_line(struct suggestion *s, const struct report *r, const struct line *l)
{
	struct finding found[FINDINGS_MAX];
	size_t nr = advise(r, l, found);
	char pattern[256];
	int unnamed = 0;

	if (!r->elides)
		nr = advise_quiet(r, l, &found[0]);
	for (size_t i = 0; i < nr; i++) {
		int quiet = !strcmp(found[i].cause, "none");

		if (!strncmp(found[i].setting, "LD_BIND_NOW", 11))
			s->bind_now = 1;
		else if (!quiet && l->verdict != VERDICT_HURTS)
			continue;
		else if (found[i].setting[0])
			return add_rule(s, r, l, &found[i]);
		else
			unnamed |= l->verdict != VERDICT_PAYS;
	}
	rule_pattern(r, l, pattern, sizeof(pattern));
	s->nr_unnamed += unnamed && !pattern[0];
	return 0;
}

int suggestion_add(struct suggestion *s, const struct report *r)
{
	const struct data_file *f = r->file;
	char line[1024], hex[2 * sizeof(f->modules->build_id) + 1];
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr_built; i++)
		rc = add_line(s, r, &r->lines[i]);
	for (size_t i = 0; !rc && i < f->nr_modules; i++) {
		const struct elide_module *m = &f->modules[i];

		if (m->path[0] != '/' || !m->build_id_len || strchr(m->path, '\n'))
			continue;
		hex_text(hex, m->build_id, m->build_id_len);
		snprintf(line, sizeof(line), "build-id %s %s", m->path, hex);
		rc = add_once(&s->objects, line);
	}
	return rc;
}

static void clean(struct paths *p)
{
	for (size_t i = 0; i < p->nr; i++)
		text_clean(p->path[i]);
}

void suggestion_print(struct suggestion *s, FILE *out)
{
	size_t length = 0, nr = 0;

	fputs("# Settings for elide run --conf, from what was measured.\n", out);
	clean(&s->objects);
	clean(&s->reasons);
	clean(&s->rules);
	for (size_t i = 0; i < s->objects.nr; i++)
		fprintf(out, "%s\n", s->objects.path[i]);
	for (size_t i = 0; i < s->reasons.nr; i++)
		fprintf(out, "# %s\n", s->reasons.path[i]);
	for (; nr < s->rules.nr && length + strlen(s->rules.path[nr]) + 5 < VALUE_MAX; nr++) {
		fprintf(out, "%s%s=off", nr ? "," : "LOCKS = ", s->rules.path[nr]);
		length += strlen(s->rules.path[nr]) + 5;
	}
	fputs(nr ? "\n" : s->nr_unnamed ? "" : "# Nothing to switch off.\n", out);
	if (s->nr_unnamed)
		fprintf(out,
			"# No rule for rows that gain nothing: %zu (no symbols, or it would hit "
			"others).\n",
			s->nr_unnamed);
	if (nr < s->rules.nr)
		fprintf(out, "# %zu more rules have no room in LOCKS.\n", s->rules.nr - nr);
	if (s->bind_now)
		fputs("LD_BIND_NOW = 1\n", out);
	paths_free(&s->rules);
	paths_free(&s->reasons);
	paths_free(&s->objects);
}
