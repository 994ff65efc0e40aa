// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json-report.c - the report as JSON; the schema is described in elide-data(5).
 *
 * Equal data give equal bytes: keys have a fixed order, nothing depends on
 * addresses. Must never round a counter.
 */
#include <math.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/text.h"
#include "../model/attribute.h"
#include "../model/callers.h"
#include "../model/file/faults.h"
#include "../model/answer/answer.h"
#include "../names/names.h"
#include "answer-print.h"
#include "json-evidence.h"
#include "json-report.h"

static json_t *known_number(uint64_t v, int known)
{
	return known ? json_number(v) : json_null();
}

static json_t *ns_number(const struct report *r, uint64_t cycles, uint64_t count)
{
	uint64_t ns;

	return count && !to_ns(r, cycles, &ns) ? json_number(ns) : json_null();
}

static json_t *quantile(const struct report *r, const struct elide_times *t, const uint64_t *bins,
			double q)
{
	double v = bins_quantile(bins, t->min, t->max, q);

	return isnan(v) ? json_null() : ns_number(r, (uint64_t)v, 1);
}

static json_t *times(const struct report *r, const struct elide_times *t, const uint64_t *bins,
		     double mean)
{
	json_t *o = json_object();

	json_object_set_new(o, "count", json_number(t->count));
	json_object_set_new(o, "min", ns_number(r, t->min, t->count));
	json_object_set_new(o, "mean", ns_number(r, (uint64_t)mean, t->count));
	json_object_set_new(o, "p50", quantile(r, t, bins, 0.5));
	json_object_set_new(o, "p99", quantile(r, t, bins, 0.99));
	json_object_set_new(o, "max", ns_number(r, t->max, t->count));
	json_object_set_new(o, "total", ns_number(r, t->total, t->count));
	return o;
}

/* The keys that a row and the totals have in common. */
static void counters(const struct report *r, const struct line *l, json_t *o)
{
	const struct elide_times hold = line_hold_times(l);
	json_t *causes = json_object();

	json_object_set_new(o, "locks", json_number(l->nr_locks));
#define ELIDE_FIELD(id, value, known, help)                                                        \
	json_object_set_new(o, #id, known_number(value, FIELD_##known(r, l)));
#include "../model/columns.def"
#undef ELIDE_FIELD
	for (int i = 0; i < ELIDE_NR_CAUSES; i++)
		json_object_set_new(causes, cause_texts[i].id,
				    known_number(l->sum.causes[i], r->elides));
	json_object_set_new(o, "causes", causes);
	json_object_set_new(o, "wait_ns",
			    times(r, &l->sum.wait, l->sum.wait_bins, l->sum.wait.count ? line_avg_wait(l) : 0));
	json_object_set_new(o, "late_ns", ns_number(r, l->sum.late, 1));
	json_object_set_new(o, "hold_ns", times(r, &hold, l->sum.hold_bins, hold.count ? line_avg_hold(l) : 0));
	json_object_set_new(o, "hold_error", ns_number(r, (uint64_t)l->held_error, hold.count));
	json_object_set_new(o, "held_percent", known_real(line_held(r, l)));
}

/* The comparison by the adaptive policy on which the verdict is based; null if there was none. */
static json_t *measured(const struct report *r, const struct line *l)
{
	struct measured m = line_measured(r, l);
	json_t *o;

	if (!m.pairs)
		return json_null();
	o = json_object();
	json_object_set_new(o, "gain_percent", json_real(100 * m.gain));
	json_object_set_new(o, "confidence_percent", json_real(100 * m.confidence));
	json_object_set_new(o, "pairs", json_number(m.pairs));
	return o;
}

/* The call that held the lock for most of the time waited, or ended most waits; null if unknown. */
static json_t *blocker(const struct report *r, const struct line *l)
{
	const struct elide_blame *b = l->blocker;
	uint64_t caller = callers_of_blocker(r, l);
	json_t *o;

	if (!b)
		return json_null();
	o = json_section(r, b->held_class, b->held_kind, b->held_site);
	json_object_set_new(o, "caller", caller ? json_call(r, caller) : json_null());
	json_object_set_new(o, "percent", json_real(100 * l->blocked));
	if (!elide_kind_is_lock(l->kind))
		json_object_set_new(o, "peers_percent", json_real(100 * l->peers));
	return o;
}

/* What callers_find() says. */
static json_t *callers(const struct report *r, const struct line *l)
{
	struct caller found[CALLERS_MAX];
	size_t nr = callers_find(r, l, found);
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++) {
		struct place p;
		json_t *o;

		symbolize_call(r->symbols, found[i].address, &p);
		o = json_place(&p);
		json_object_set_new(o, "percent", json_real(100 * found[i].share));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *row(const struct report *r, const struct line *l)
{
	json_t *o = json_object();

	json_object_set_new(o, "class", l->nr_classes == 1 ? json_text(l->class) : json_null());
	json_object_set_new(o, "lock", l->nr_classes == 1 ? json_text(l->lock) : json_null());
	json_object_set_new(o, "kind", json_text(kind_id(l->kind)));
	json_object_set_new(o, "waits_for", json_text(waits_for(l->kind)));
	json_object_set_new(o, "site", l->nr_sites == 1 ? json_place(&l->site_place) : json_null());
	counters(r, l, o);
	json_object_set_new(o, "blocker", blocker(r, l));
	json_object_set_new(o, "callers", callers(r, l));
	json_object_set_new(o, "state", json_text(state_name(l->state)));
	json_object_set_new(o, "verdict", json_text(verdict_name(l->verdict)));
	json_object_set_new(o, "measured", measured(r, l));
	json_object_set_new(o, "given_up", known_number(l->given_up, r->elides));
	json_evidence(r, l, o);
	return o;
}

static json_t *totals(const struct report *r)
{
	json_t *o = json_object();

	counters(r, &r->total, o);
	json_object_set_new(o, "wait_others_ns", ns_number(r, r->others_wait, 1));
	json_object_set_new(o, "verdict", json_text(verdict_name(r->total.verdict)));
	return o;
}

/* ISO 8601 in UTC, to the second; null if unknown. */
static json_t *date(uint64_t realtime_ns)
{
	char text[32];

	date_text(text, sizeof(text), realtime_ns);
	return *text ? json_string(text) : json_null();
}

/* The processes of a file that elide merge wrote. */
static json_t *sources(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->file->nr_sources; i++) {
		const struct elide_source *s = &r->file->sources[i];
		char build_id[2 * sizeof(s->build_id) + 1];
		json_t *o = json_object();

		hex_text(build_id, s->build_id, s->build_id_len);
		json_object_set_new(o, "host", json_text(s->host[0] ? s->host : NULL));
		json_object_set_new(o, "start_date", date(s->start_realtime_ns));
		json_object_set_new(o, "elapsed_s",
				    s->elapsed_ns ? json_real(s->elapsed_ns / 1e9) : json_null());
		json_object_set_new(o, "program", json_text(s->name));
		json_object_set_new(o, "build_id", json_text(*build_id ? build_id : NULL));
		json_object_set_new(o, "pid", json_number(s->pid));
		json_object_set_new(o, "exit", known_number(exit_code(s->exit_status),
							    exit_code(s->exit_status) >= 0));
		json_object_set_new(o, "threads", json_number(s->nr_threads));
		json_object_set_new(o, "acquired", json_number(s->acquired));
		json_object_set_new(o, "wait_ns", ns_number(r, s->wait, 1));
		json_array_append_new(list, o);
	}
	return list;
}

/* The lines that could not be written to standard error. */
static json_t *unsaid(const struct elide_header *h)
{
	json_t *o = json_object();

	json_object_set_new(o, "lines", json_number(h->nr_unsaid));
	json_object_set_new(o, "last", json_text(h->unsaid));
	return o;
}

static json_t *program(const struct report *r)
{
	const struct elide_header *h = &r->file->header;
	json_t *o = json_object(), *argv = json_array();
	int code = exit_code(h->exit_status);
	char ended[EXIT_WORDS];

	for (size_t at = 0; at < h->args_len; at += strlen(h->args + at) + 1)
		json_array_append_new(argv, json_text(h->args + at));
	json_object_set_new(o, "exe", json_text(h->exe));
	json_object_set_new(o, "argv", argv);
	if (h->args_left_out)
		json_object_set_new(o, "args_left_out", json_true());
	if (h->filter)
		json_object_set_new(o, "filter", json_true());
	if (h->dlmopen)
		json_object_set_new(o, "dlmopen", json_true());
	if (h->nr_unsaid)
		json_object_set_new(o, "unsaid", unsaid(h));
	json_object_set_new(o, "pid", json_number(h->pid));
	json_object_set_new(o, "start_date", date(h->start_realtime_ns));
	json_object_set_new(o, "exit", known_number(code, code >= 0));
	json_object_set_new(o, "ended", code >= 0 ? json_text(exit_words(h->exit_status, ended)) : json_null());
	json_object_set_new(o, "elapsed_s", r->cycles ? json_real(r->ns / 1e9) : json_null());
	json_object_set_new(o, "threads", json_number(h->nr_threads));
	json_object_set_new(o, "processes",
			    json_number(r->file->nr_processes ? r->file->nr_processes : 1));
	if (r->file->nr_sources)
		json_object_set_new(o, "sources", sources(r));
	return o;
}

static json_t *machine(const struct report *r)
{
	const struct elide_header *h = &r->file->header;
	json_t *o = json_object();

	json_object_set_new(o, "rtm", json_text(rtm_name(h->rtm)));
	json_object_set_new(o, "rtm_off", json_boolean(h->rtm_off));
	json_object_set_new(o, "ctl_off", json_boolean(h->control == ELIDE_CONTROL_OFF));
	json_object_set_new(o, "why", json_text(h->why));
	json_object_set_new(o, "model", json_text(h->model[0] ? h->model : NULL));
	json_object_set_new(o, "changes", json_text(h->changes[0] ? h->changes : NULL));
	json_object_set_new(o, "cores", json_number(h->cores));
	json_object_set_new(o, "smt", known_number(h->smt, h->smt));
	json_object_set_new(o, "sockets", known_number(h->sockets, h->sockets));
	json_object_set_new(o, "mhz", known_number(h->mhz, h->mhz));
	return o;
}

static json_t *learned(const struct report *r)
{
	const struct elide_header *h = &r->file->header;
	json_t *o;

	if (!h->learned_state)
		return json_null();
	o = json_object();
	json_object_set_new(o, "file", json_text(h->learned));
	json_object_set_new(o, "state", json_text(learned_name(h->learned_state)));
	json_object_set_new(o, "classes", json_number(h->learned_classes));
	json_object_set_new(o, "sites", json_number(h->learned_sites));
	return o;
}

static json_t *dropped(const struct report *r)
{
	json_t *o = json_object();

	for (int i = 0; i < ELIDE_NR_DROPPED; i++)
		json_object_set_new(o, dropped_name(i), json_number(r->file->header.dropped[i]));
	return o;
}

static json_t *misuse(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nr_misuse; i++) {
		const struct misuse_line *m = &r->misuse[i];
		json_t *o = json_object();

		json_object_set_new(o, "type", json_text(misuse_name(m->record->type)));
		json_object_set_new(o, "kind", json_text(kind_id(m->record->kind)));
		json_object_set_new(o, "lock", json_text(m->lock));
		json_object_set_new(o, "site", json_place(&m->site));
		json_object_set_new(o, "count", json_number(m->record->count));
		json_object_set_new(o, "owner_tid", known_number(m->record->tid, m->record->tid != 0));
		json_object_set_new(o, "owner", json_text(m->owner));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *order_edge(const struct order_edge *e, const struct elide_order_edge *record)
{
	json_t *o = json_object();

	json_object_set_new(o, "class", json_text(e->class));
	json_object_set_new(o, "lock", json_text(e->lock));
	json_object_set_new(o, "kind", json_text(kind_id(record->held_kind)));
	json_object_set_new(o, "site", json_place(&e->held));
	json_object_set_new(o, "next_kind", json_text(kind_id(record->taken_kind)));
	json_object_set_new(o, "next_site", json_place(&e->next));
	json_object_set_new(o, "thread", json_number(record->tid));
	return o;
}

static json_t *orders(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nr_orders; i++) {
		const struct order_line *line = &r->orders[i];
		json_t *o = json_object(), *edges = json_array();

		for (uint32_t j = 0; j < line->record->nr_edges; j++)
			json_array_append_new(edges,
					      order_edge(&line->edges[j], &line->record->edges[j]));
		json_object_set_new(o, "edges", edges);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *json_head(const struct report *r)
{
	const struct elide_header *h = &r->file->header;
	char faults[FAULTS_TEXT];
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(o, "program", program(r));
	json_object_set_new(o, "mode", json_text(mode_name(h->mode)));
	json_object_set_new(o, "policy", json_text(h->policy[0] ? h->policy : NULL));
	json_object_set_new(o, "machine", machine(r));
	json_object_set_new(o, "learned", learned(r));
	if (faults_any(&r->file->notes))
		json_object_set_new(o, "damaged", json_text(faults_text(&r->file->notes, faults)));
	return o;
}

/* What has no rows. */
static json_t *unseen(const struct thread_time *t)
{
	char sentence[UNSEEN_SENTENCE];
	json_t *o = json_object();

	thread_time_unseen(t, sentence);
	json_object_set_new(o, "sentence", json_text(*sentence ? sentence : NULL));
	json_object_set_new(o, "futex_ns", known_real(t->known ? t->futex : NAN));
	json_object_set_new(o, "reasons", json_unseen(t->unseen));
	return o;
}

/* null: not measured. */
static json_t *time_of_threads(const struct report *r)
{
	struct thread_time t;
	json_t *o = json_object(), *calls = json_object();
	char sentence[512];

	thread_time(r, &t);
	thread_time_sentence(&t, sentence, sizeof(sentence));
	json_object_set_new(o, "sentence", json_text(r->cycles ? sentence : NULL));
	json_object_set_new(o, "total_ns", known_real(t.known ? t.total : NAN));
	json_object_set_new(o, "running_ns", known_real(t.known ? t.running : NAN));
	json_object_set_new(o, "waiting_for_locks_ns", known_real(r->cycles ? t.locks : NAN));
	json_object_set_new(o, "waiting_for_others_ns", known_real(r->cycles ? t.others : NAN));
	json_object_set_new(o, "late_ns", known_real(t.known && !t.no_late ? t.late : NAN));
	json_object_set_new(o, "elsewhere_ns", known_real(t.known ? t.elsewhere : NAN));
	for (size_t i = 0; i < ELIDE_ACCOUNT_CALLS && t.calls[i].ns > 0; i++)
		json_object_set_new(calls, t.calls[i].name, json_real(t.calls[i].ns));
	json_object_set_new(o, "calls", calls);
	json_object_set_new(o, "unseen", unseen(&t));
	return o;
}

/* What a report says first. */
static json_t *findings(const struct report *r)
{
	json_t *list = json_array();
	struct answers a;

	if (answers_find(r, &a))
		return list;
	for (size_t i = 0; i < a.nr; i++) {
		const struct answer *one = &a.all[i];
		const char *advice = answer_text(one->advice);
		const struct line *l = &one->line;
		json_t *o = json_object();
		char text[1024];

		json_object_set_new(o, "ns", json_real(one->ns));
		json_object_set_new(o, "percent", known_real(one->percent));
		json_object_set_new(o, "threads", json_real(one->threads));
		json_object_set_new(o, "still_waiting", json_number(one->open));
		json_object_set_new(o, "row", one->advice == ANSWER_processors ? json_null() :
				    json_section(r, l->sum.class_index, l->kind, l->sum.site));
		json_object_set_new(o, "blocker", l->blocker ? json_call(r, l->blocker->held_site) : json_null());
		json_object_set_new(o, "blocker_percent", l->blocker ? json_real(100 * one->share) : json_null());
		json_object_set_new(o, "hold_ns", known_real(one->hold_ns > 0 ? one->hold_ns : NAN));
		json_object_set_new(o, "off_processor_percent", known_real(one->off > 0 ? 100 * one->off : NAN));
		json_object_set_new(o, "waiting", json_text(one->from ? one->from->name : NULL));
		json_object_set_new(o, "waited_for", json_text(one->to ? one->to->name : NULL));
		json_object_set_new(o, "consequence_of", known_number(one->cause, one->cause != 0));
		answer_where(r, one, text, sizeof(text));
		json_object_set_new(o, "where", json_text(text));
		answer_callers(r, one, text, sizeof(text));
		json_object_set_new(o, "callers", json_text(*text ? text : NULL));
		answer_holder(r, one, text, sizeof(text));
		json_object_set_new(o, "held_by", json_text(*text ? text : NULL));
		json_object_set_new(o, "advice", json_text(answer_id(one->advice)));
		json_object_set_new(o, "text", json_text(*advice ? advice : NULL));
		json_array_append_new(list, o);
	}
	answers_free(&a);
	return list;
}

json_t *json_report(const struct report *r, size_t top)
{
	json_t *o = json_head(r), *rows = json_array();

	json_object_set_new(o, "totals", totals(r));
	json_object_set_new(o, "thread_time", time_of_threads(r));
	json_object_set_new(o, "findings", findings(r));
	json_object_set_new(o, "dropped", dropped(r));
	json_object_set_new(o, "misuse", misuse(r));
	json_object_set_new(o, "order", orders(r));
	for (size_t i = 0; i < r->nr_lines && (!top || i < top); i++)
		json_array_append_new(rows, row(r, &r->lines[i]));
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "timeline", json_timeline(r));
	json_object_set_new(o, "counters", json_counters(r));
	return o;
}
