// SPDX-License-Identifier: GPL-2.0-or-later
/* answer-print.c - see answer-print.h. */
#include <stdarg.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/colour.h"
#include "../base/text.h"
#include "../model/callers.h"
#include "../names/names.h"
#include "answer-print.h"

/* Columns before the text of a finding: its number, the time and a name. */
#define INDENT 11
/* Columns of text in a line, at least, however narrow the terminal is. */
#define LEAST_WIDTH 40

void print_wrapped(FILE *out, const char *text, int width, int indent)
{
	int at = indent;

	if (width < indent + LEAST_WIDTH)
		width = indent + LEAST_WIDTH;
	while (*text) {
		int len = (int)strcspn(text, " ");
		char word[1024];

		if (at > indent && at + 1 + len > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		snprintf(word, sizeof(word), "%.*s", len, text);
		print_clean(out, word);
		at += len;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void answer_add(char *to, size_t size, const char *format, ...)
{
	size_t len = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + len, size - len, format, args);
	va_end(args);
}

void answer_add_place(char *to, size_t size, const struct place *p)
{
	char name[SHORT_NAME];

	if (!p->symbol) {
		short_place(name, sizeof(name), p);
		answer_add(to, size, "%s", name);
		return;
	}
	short_symbol(name, sizeof(name), p->symbol);
	answer_add(to, size, "%s", name);
	if (p->file)
		answer_add(to, size, " (%s:%d)", base_name(p->file), p->line);
}

void answer_add_call(char *to, size_t size, const struct report *r, uint64_t address)
{
	struct place p;

	symbolize_call(r->symbols, address, &p);
	answer_add_place(to, size, &p);
}

/* "8 threads of Pool::run", "main" */
static void add_group(char *to, size_t size, const struct group *g)
{
	if (g->nr > 1)
		answer_add(to, size, "%u threads of ", g->nr);
	answer_add(to, size, "%s", g->name);
}

static const char *waits_for_kind(unsigned int kind)
{
	switch (kind) {
	case ELIDE_KIND_COND:
		return "a condition variable";
	case ELIDE_KIND_SEM:
		return "a semaphore";
	case ELIDE_KIND_FUTEX:
		return "a futex";
	default:
		return "a barrier";
	}
}

/* What a group does whose threads end the waits: it takes the time. */
static void add_running(char *to, size_t size, const struct group *g)
{
	answer_add(to, size, ", which runs %.0f%% of its time", 100 * g->ran / g->lived);
	if (10 * g->late > g->lived)
		answer_add(to, size, ", and waits for a processor for %.0f%%", 100 * g->late / g->lived);
	answer_add(to, size, ".");
}

static const char *class_kind_name(unsigned int kind)
{
	return kind == ELIDE_KIND_RWLOCK_READ ? "rwlock" : kind_name(kind);
}

void answer_where(const struct report *r, const struct answer *a, char *to, size_t size)
{
	const struct line *l = &a->line;

	*to = '\0';
	if (a->advice == ANSWER_processors) {
		answer_add(to, size, "threads were ready to run without a processor: on average %.1f of %u, "
			   "on %u processor%s.", a->threads, r->file->header.nr_threads, r->file->header.cores,
			   plural(r->file->header.cores));
		return;
	}
	if (elide_kind_waits_for_lock(l->kind)) {
		answer_add(to, size, "%s, %s, locked in ", l->lock, class_kind_name(r->file->classes[l->sum.class_index].kind));
		answer_add_place(to, size, &l->site_place);
		if (a->threads >= 0.95)
			answer_add(to, size, ". On average %.1f of %u threads wait for it", a->threads,
				   r->file->header.nr_threads);
		if (a->open)
			answer_add(to, size, "%s %u %s not got it", a->threads >= 0.95 ? ", and" : ".", a->open,
				   a->open == 1 ? "has" : "have");
		answer_add(to, size, ".");
		return;
	}
	if (a->from)
		add_group(to, size, a->from);
	else
		answer_add(to, size, "threads");
	answer_add(to, size, " wait%s in ", a->from && a->from->nr == 1 ? "s" : "");
	answer_add_place(to, size, &l->site_place);
	answer_add(to, size, " at %s (%s)", waits_for_kind(l->kind), l->lock);
	if (l->blocker) {
		answer_add(to, size, " until ");
		answer_add_call(to, size, r, l->blocker->held_site);
	}
	if (a->cause)
		answer_add(to, size, ": a consequence of %zu.", a->cause);
	else if (a->to && a->to->known && a->advice == ANSWER_supply)
		add_running(to, size, a->to);
	else
		answer_add(to, size, ".");
}

void answer_holder(const struct report *r, const struct answer *a, char *to, size_t size)
{
	const struct line *l = &a->line;
	char hold[32];

	*to = '\0';
	if (!l->blocker || !elide_kind_waits_for_lock(l->kind))
		return;
	if (*l->short_blocker && strstr(l->short_blocker, " via "))
		answer_add(to, size, "%s", l->short_blocker);
	else
		answer_add_call(to, size, r, l->blocker->held_site);
	if (a->hold_ns > 0) {
		scale_ns(hold, sizeof(hold), a->hold_ns);
		answer_add(to, size, ", %s each time", hold);
	}
	if (a->share < 0.95)
		answer_add(to, size, ", for %.0f%% of the waiting", 100 * a->share);
	if (a->off >= 0.1)
		answer_add(to, size, "; not on a processor for at least %.0f%% of that: it sleeps, or waits for "
			   "input or output", 100 * a->off);
}

/* Callers of a wrapper to print, at most, and the least share of the waiting. */
#define CALLERS_SHOWN 3
#define LEAST_CALLER  0.01

void answer_callers(const struct report *r, const struct answer *a, char *to, size_t size)
{
	struct caller callers[CALLERS_MAX];
	size_t nr = callers_find(r, &a->line, callers);

	*to = '\0';
	for (size_t i = 0; i < nr && i < CALLERS_SHOWN; i++) {
		if (callers[i].share < LEAST_CALLER)
			continue;
		answer_add(to, size, "%s", *to ? ", " : "");
		answer_add_call(to, size, r, callers[i].address);
		answer_add(to, size, " ~%.0f%%", 100 * callers[i].share);
	}
}

void answers_print(const struct report *r, const struct answers *a, FILE *out, int width)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct answer *one = &a->all[i];
		char text[1024], time[32], head[64];

		scale_ns(time, sizeof(time), one->ns);
		snprintf(head, sizeof(head), "%zu. %s", i + 1, time);
		fprintf(out, "%s%-*s%s", colour_on(COLOUR_HEAD), INDENT, head, colour_off(COLOUR_HEAD));
		answer_where(r, one, text, sizeof(text));
		print_wrapped(out, text, width, INDENT);
		answer_callers(r, one, text, sizeof(text));
		if (*text) {
			fprintf(out, "%*scalled   ", INDENT, "");
			print_wrapped(out, text, width, INDENT + 9);
		}
		answer_holder(r, one, text, sizeof(text));
		if (*text) {
			fprintf(out, "%*sheld by  ", INDENT, "");
			print_wrapped(out, text, width, INDENT + 9);
		}
		if (*answer_text(one->advice)) {
			fprintf(out, "%*sdo       ", INDENT, "");
			print_wrapped(out, answer_text(one->advice), width, INDENT + 9);
		}
	}
	if (a->nr)
		fputc('\n', out);
}
