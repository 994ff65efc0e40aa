// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-time.c - the policy's decisions, over the time of the run: a lane for
 * each row that decided, and a list.
 *
 * Must never draw more than LANE_STEPS pieces of a lane, however many
 * decisions there were.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "html.h"

/* Lanes to draw, their steps, and decisions to list, at most. */
#define LANES_MAX 24
#define LANE_STEPS 1000
#define EVENTS_MAX 500

enum lane_state { LANE_ELIDING, LANE_PAUSED, LANE_OFF, NR_LANE_STATES };

/* Names, which are classes in the style, and heights of 16 at most. */
static const struct {
	const char *name;
	int height;
} lane_states[NR_LANE_STATES] = {{"eliding", 16}, {"paused", 8}, {"off", 2}};

size_t html_nr_events(const struct page *p)
{
	return list_size(p->r, "timeline");
}

static double time_of(const json_t *event)
{
	return json_number_value(json_object_get(event, "time_s"));
}

/* Is it a decision about a row, not about the whole process? */
static int is_row(const json_t *event)
{
	return json_is_string(json_object_get(event, "class"));
}

/* Length of a lane in seconds. */
static double run_length(const struct page *p)
{
	const json_t *program = json_object_get(p->r, "program"), *e;
	double length = json_number_value(json_object_get(program, "elapsed_s"));
	size_t i;

	json_array_foreach(json_object_get(p->r, "timeline"), i, e)
		if (time_of(e) > length)
			length = time_of(e);
	return length > 0 ? length : 1;
}

static enum lane_state state_after(const json_t *event)
{
	const char *type = text_of(event, "event");

	if (type && !strcmp(type, "chose")) {
		const char *used = text_of(event, json_is_true(json_object_get(event, "taken")) ?
						  "arm" : "before");

		return used && !strcmp(used, "real") ? LANE_PAUSED : LANE_ELIDING;
	}
	if (type && !strcmp(type, "paused"))
		return LANE_PAUSED;
	return type && !strcmp(type, "off") ? LANE_OFF : LANE_ELIDING;
}

/* Decisions by row, rows in the order of their first decision; to be released. */
static json_t *lanes_of(const struct page *p)
{
	json_t *lanes = json_object(), *e;
	size_t i;

	json_array_foreach(json_object_get(p->r, "timeline"), i, e) {
		json_t *row = json_pack("[O?, O?, O?]", json_object_get(e, "class"),
					json_object_get(e, "kind"), json_object_get(e, "site"));
		char *key = json_dumps(row, JSON_COMPACT);

		json_decref(row);
		if (!key)
			continue;
		if (!json_object_get(lanes, key))
			json_object_set_new(lanes, key, json_array());
		json_array_append(json_object_get(lanes, key), e);
		free(key);
	}
	return lanes;
}

/* Draw a state from @from to @to. A step with several states shows the worst one. */
static void fill(unsigned char *steps, double from, double to, enum lane_state state)
{
	int last = to * LANE_STEPS;

	for (int i = from * LANE_STEPS; i <= last && i < LANE_STEPS; i++)
		if (i >= 0 && steps[i] < state)
			steps[i] = state;
}

/* If elision is switched off for the whole process, it is off in every lane. */
static void fill_off(const struct page *p, unsigned char *steps, double length)
{
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(p->r, "timeline"), i, e)
		if (state_after(e) == LANE_OFF && !is_row(e))
			fill(steps, time_of(e) / length, 1, LANE_OFF);
}

static void lane(struct page *p, const json_t *events, double length)
{
	const json_t *first = json_array_get(events, 0), *e;
	unsigned char steps[LANE_STEPS] = {LANE_ELIDING};
	size_t i;

	json_array_foreach(events, i, e) {
		const json_t *next = json_array_get(events, i + 1);

		fill(steps, time_of(e) / length, next ? time_of(next) / length : 1,
		     state_after(e));
	}
	fill_off(p, steps, length);
	fputs("<tr><th scope=row>", p->out);
	if (is_row(first))
		html_lock(p, first);
	else
		fputs("the whole process", p->out);
	html_print(p->out, " <span class=at>decisions: %zu</span></th><td><svg class=lane "
		   "aria-hidden=true>", json_array_size(events));
	for (int from = 0, to; from < LANE_STEPS; from = to) {
		int height = lane_states[steps[from]].height;

		for (to = from; to < LANE_STEPS && steps[to] == steps[from]; to++)
			;
		html_print(p->out, "<rect class=%s x=\"%.1f%%\" width=\"%.1f%%\" y=%d height=%d />",
			   lane_states[steps[from]].name, 100.0 * from / LANE_STEPS,
			   100.0 * (to - from) / LANE_STEPS, 16 - height, height);
	}
	fputs("</svg></td></tr>\n", p->out);
}

void html_axis(struct page *p, double length)
{
	static const char *const anchors[] = {"start", "middle", "middle", "middle", "end"};
	char time[32];

	fputs("<tfoot><tr><td></td><td><svg class=axis aria-hidden=true>", p->out);
	for (int i = 0; i < 5; i++) {
		scale_ns(time, sizeof(time), 1e9 * length * i / 4);
		html_print(p->out, "<line x1=\"%d%%\" x2=\"%d%%\" y1=0 y2=5 />"
			   "<text x=\"%d%%\" y=19 text-anchor=%s>%s</text>", i * 25, i * 25,
			   i * 25, anchors[i], time);
	}
	fputs("</svg></td></tr></tfoot>\n", p->out);
}

/* The two arms that the adaptive policy compared, and the gain of the first. */
static void compared(struct page *p, const json_t *e)
{
	const json_t *gain = json_object_get(e, "gain_percent");
	char number[32];

	if (!text_of(e, "arm")) {
		fputs("<td>-</td><td class=num>-</td><td class=num>-</td>", p->out);
		return;
	}
	html_print(p->out, "<td>%s with %s</td>", text_of(e, "arm"), text_of(e, "before"));
	if (!json_is_number(gain)) {
		fputs("<td class=num>-</td><td class=num>-</td>", p->out);
		return;
	}
	snprintf(number, sizeof(number), "%+.1f", json_number_value(gain));
	html_print(p->out, "<td class=num>%s%%</td><td class=num>%.1f%%</td>", number,
		   json_number_value(json_object_get(e, "confidence_percent")));
}

static const struct {
	const char *id;
	const char *help;
} arms[] = {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, help) {#id, help},
#include "../../../lib/arms.def"
#undef ELIDE_ARM
};

/* Explains the arms that were compared. */
static void explain_arms(struct page *p)
{
	const char *gap = "<p class=note>The policy compares arms, ways to treat an acquisition. ";
	const json_t *e;
	size_t i;

	for (size_t arm = 0; arm < ARRAY_SIZE(arms); arm++) {
		bool used = false;

		json_array_foreach(json_object_get(p->r, "timeline"), i, e) {
			const char *one = text_of(e, "arm"), *other = text_of(e, "before");

			used |= (one && !strcmp(one, arms[arm].id)) ||
				(other && !strcmp(other, arms[arm].id));
		}
		if (!used)
			continue;
		fputs(gap, p->out);
		html_print(p->out, "<code>%s</code>: %s", arms[arm].id, arms[arm].help);
		gap = "; ";
	}
	if (*gap == ';')
		fputs(".</p>\n", p->out);
}

static void list(struct page *p)
{
	const json_t *e;
	size_t i;

	html_print(p->out, "<details><summary>All decisions: %zu</summary>\n"
		   "<div class=scroll tabindex=0 role=region aria-label=Decisions>\n<table>\n<thead>"
		   "<tr><th scope=col class=num>Time</th><th scope=col>Lock and site</th>"
		   "<th scope=col>Decision</th><th scope=col class=num>Tries</th>"
		   "<th scope=col class=num>Fell back</th>"
		   "<th scope=col class=num>Skips</th><th scope=col>Compared</th>"
		   "<th scope=col class=num>Gain</th><th scope=col class=num>Sure</th>"
		   "</tr></thead>\n<tbody>\n", html_nr_events(p));
	json_array_foreach(json_object_get(p->r, "timeline"), i, e) {
		static const char *const numbers[] = {"tries", "fails", "skip"};

		if (i >= EVENTS_MAX)
			break;
		fputs("<tr><td class=num>", p->out);
		if (json_is_number(json_object_get(e, "time_s")))
			html_seconds(p->out, time_of(e));
		else
			fputs("-", p->out);
		fputs("</td><td>", p->out);
		if (is_row(e))
			html_lock(p, e);
		else
			fputs("the whole process", p->out);
		html_print(p->out, "</td><td class=word data-word=\"%s\">%s</td>", text_of(e, "event"),
			   text_of(e, "event"));
		for (size_t j = 0; j < ARRAY_SIZE(numbers); j++) {
			fputs("<td class=num>", p->out);
			html_count(p->out, json_object_get(e, numbers[j]));
			fputs("</td>", p->out);
		}
		compared(p, e);
		fputs("</tr>\n", p->out);
	}
	fputs("</tbody>\n</table>\n</div>\n", p->out);
	explain_arms(p);
	if (html_nr_events(p) > EVENTS_MAX)
		html_print(p->out, "<p class=more>%zu more: --json has all of them.</p>\n",
			   html_nr_events(p) - EVENTS_MAX);
	fputs("</details>\n", p->out);
}

void html_timeline(struct page *p)
{
	json_t *lanes, *events;
	size_t told = 0;
	double length;
	const char *key;

	/* The length of a killed process's cycles is unknown. */
	if (!json_is_number(json_object_get(json_array_get(json_object_get(p->r, "timeline"), 0),
					    "time_s"))) {
		fputs("<p class=note>Their times are not known: the process did not end by "
		      "itself.</p>\n", p->out);
		list(p);
		return;
	}
	lanes = lanes_of(p);
	length = run_length(p);
	fputs("<ul class=legend>\n", p->out);
	for (int i = 0; i < NR_LANE_STATES; i++)
		html_print(p->out, "<li><svg class=key aria-hidden=true><rect class=%s y=%d "
			   "width=\"100%%\" height=%d /></svg> %s</li>\n", lane_states[i].name,
			   16 - lane_states[i].height, lane_states[i].height, lane_states[i].name);
	fputs("</ul>\n<table class=lanes aria-label=\"What was tried, over the "
	      "time of the run\">\n<tbody>\n", p->out);
	json_object_foreach(lanes, key, events)
		if (told++ < LANES_MAX)
			lane(p, events, length);
	fputs("</tbody>\n", p->out);
	html_axis(p, length);
	fputs("</table>\n", p->out);
	if (told > LANES_MAX)
		html_print(p->out, "<p class=more>%zu more lanes: see the list.</p>\n",
			   told - LANES_MAX);
	list(p);
	json_decref(lanes);
}
