// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json-evidence.c - evidence as JSON: stacks, details, blame, findings, decisions.
 *
 * Must never print an address.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../model/advice.h"
#include "../model/attribute.h"
#include "../model/evidence.h"
#include "../names/names.h"
#include "../names/syscalls.h"
#include "json-evidence.h"

json_t *json_place(const struct place *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "object", json_text(p->object));
	json_object_set_new(o, "symbol", json_text(p->symbol));
	json_object_set_new(o, "inlined_into", json_text(p->inlined_into));
	json_object_set_new(o, "file", json_text(p->file));
	json_object_set_new(o, "line", p->line ? json_number(p->line) : json_null());
	return o;
}

json_t *json_call(const struct report *r, uint64_t return_address)
{
	struct place place;

	symbolize_call(r->symbols, return_address, &place);
	return json_place(&place);
}

static json_t *instruction(const struct report *r, uint64_t pc)
{
	struct place place;

	if (!pc)
		return json_null();
	symbolize_instruction(r->symbols, pc, &place);
	return json_place(&place);
}

json_t *json_stack(const struct report *r, uint32_t stack)
{
	struct place frames[FRAMES_MAX];
	size_t nr = evidence_frames(r, stack, frames);
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_place(&frames[i]));
	return list;
}

json_t *json_section(const struct report *r, uint32_t class_index, unsigned int kind, uint64_t site)
{
	const struct elide_class *class = &r->file->classes[class_index];
	struct place place;
	char *name, *id;
	json_t *o;

	if (!kind)
		return json_null();
	o = json_object();
	name = class_name(r->symbols, class, &place);
	id = class_id(class, &place);
	json_object_set_new(o, "class", json_text(id));
	json_object_set_new(o, "lock", json_text(name));
	json_object_set_new(o, "kind", json_text(kind_id(kind)));
	json_object_set_new(o, "site", site ? json_call(r, site) : json_null());
	free(name);
	free(id);
	return o;
}

static json_t *bytes(const int *range)
{
	return range[0] < 0 ? json_null() : json_pack("[i, i]", range[0], range[1]);
}

json_t *json_data(const struct report *r, const struct elide_detail *d)
{
	struct data_name n;
	json_t *o;
	int has_offset;

	if (!evidence_data(r, d, &n))
		return json_null();
	has_offset = n.own.symbol || n.block_size;
	o = json_object();
	json_object_set_new(o, "type", json_text(data_type_name(n.type)));
	json_object_set_new(o, "name", json_text(n.name));
	json_object_set_new(o, "symbol", json_text(n.own.symbol));
	json_object_set_new(o, "offset", has_offset ? json_number(n.offset) : json_null());
	json_object_set_new(o, "other_symbol", json_text(n.other.symbol));
	json_object_set_new(o, "other_offset",
			    has_offset && n.other_bytes[0] >= 0 ? json_number(n.other_offset) :
								  json_null());
	json_object_set_new(o, "object", json_text(n.own.object));
	json_object_set_new(o, "block_size",
			    n.block_size ? json_number(n.block_size) : json_null());
	json_object_set_new(o, "own_bytes", bytes(n.own_bytes));
	json_object_set_new(o, "other_bytes", bytes(n.other_bytes));
	json_object_set_new(o, "sharing", json_text(sharing_name(n.sharing)));
	return o;
}

static json_t *syscall_of(const struct elide_detail *d)
{
	json_t *o;

	if (d->syscall_nr < 0)
		return json_null();
	o = json_object();
	json_object_set_new(o, "nr", json_integer(d->syscall_nr));
	json_object_set_new(o, "name", json_text(syscall_name(d->syscall_nr)));
	return o;
}

static json_t *fault_of(const struct report *r, const struct elide_detail *d)
{
	const char *signal = sigabbrev_np(d->signal);
	struct place place;
	char name[16];
	json_t *o;

	if (d->cause != ELIDE_CAUSE_fault)
		return json_null();
	symbolize_object(r->symbols, d->fault_addr, &place);
	snprintf(name, sizeof(name), "SIG%s", signal ? signal : "?");
	o = json_object();
	json_object_set_new(o, "signal", d->signal ? json_text(name) : json_null());
	json_object_set_new(o, "address_type",
			    !d->fault_addr ? json_null() :
					     json_text(place.object ? "static" : "unknown"));
	return o;
}

static json_t *footprint(const struct elide_detail *d)
{
	json_t *o = json_object();

	json_object_set_new(o, "read_lines", json_number(d->read_lines));
	json_object_set_new(o, "write_lines", json_number(d->write_lines));
	json_object_set_new(o, "max_read_lines", json_number(d->max_read_lines));
	json_object_set_new(o, "max_write_lines", json_number(d->max_write_lines));
	json_object_set_new(o, "cache_set",
			    d->cache_ways ? json_number(d->cache_set) : json_null());
	json_object_set_new(o, "cache_ways",
			    d->cache_ways ? json_number(d->cache_ways) : json_null());
	return o;
}

static json_t *detail(const struct report *r, const struct elide_detail *d)
{
	json_t *o = json_object();

	json_object_set_new(o, "cause", json_text(cause_texts[d->cause].id));
	json_object_set_new(o, "source", json_text(source_name(d->source)));
	json_object_set_new(o, "samples", json_number(d->samples));
	json_object_set_new(o, "count", json_number(d->count));
	json_object_set_new(o, "cycles", json_number(d->cycles));
	json_object_set_new(o, "own", instruction(r, d->own_pc));
	json_object_set_new(o, "other", instruction(r, d->other_pc));
	json_object_set_new(o, "other_write", json_boolean(d->other_write));
	json_object_set_new(o, "other_section",
			    d->other_class ? json_section(r, d->other_class - 1, d->other_kind,
						     d->other_site) :
					     json_null());
	json_object_set_new(o, "data", json_data(r, d));
	json_object_set_new(o, "syscall", syscall_of(d));
	json_object_set_new(o, "fault", fault_of(r, d));
	json_object_set_new(o, "footprint", footprint(d));
	json_object_set_new(o, "own_stack", json_stack(r, d->own_stack));
	json_object_set_new(o, "abort_stack", json_stack(r, d->abort_stack));
	json_object_set_new(o, "other_stack", json_stack(r, d->other_stack));
	json_object_set_new(o, "alloc_stack", json_stack(r, d->alloc_stack));
	return o;
}

void json_sample(const struct report *r, const struct elide_sample *s, json_t *o)
{
	json_object_set_new(o, "type", json_text(sample_name(s->type)));
	json_object_set_new(o, "samples", json_number(s->samples));
	json_object_set_new(o, "count", json_number(s->count));
	json_object_set_new(o, "cycles", json_number(s->cycles));
	json_object_set_new(o, "frames", json_stack(r, s->stack));
}

static json_t *blame(const struct report *r, const struct elide_blame *b)
{
	json_t *o = json_object();

	json_object_set_new(o, "type", json_text(blame_name(b->type)));
	json_object_set_new(o, "held", json_section(r, b->held_class, b->held_kind, b->held_site));
	json_object_set_new(o, "samples", json_number(b->samples));
	json_object_set_new(o, "count", json_number(b->count));
	json_object_set_new(o, "cycles", json_number(b->cycles));
	return o;
}

static json_t *findings(const struct report *r, const struct line *l)
{
	struct finding found[FINDINGS_MAX];
	size_t nr = advise(r, l, found);
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "cause", json_text(found[i].cause));
		json_object_set_new(o, "advice", json_text(found[i].advice));
		json_object_set_new(o, "text", json_text(found[i].text));
		json_object_set_new(o, "setting",
				    json_text(found[i].setting[0] ? found[i].setting : NULL));
		json_array_append_new(list, o);
	}
	return list;
}

void json_evidence(const struct report *r, const struct line *l, json_t *row)
{
	json_t *stacks = json_array(), *details = json_array(), *blames = json_array();

	for (size_t i = 0; i < l->nr_samples; i++) {
		json_t *o = json_object();

		json_sample(r, l->samples[i], o);
		json_array_append_new(stacks, o);
	}
	for (size_t i = 0; i < l->nr_details; i++)
		json_array_append_new(details, detail(r, l->details[i]));
	for (size_t i = 0; i < l->nr_blames; i++)
		json_array_append_new(blames, blame(r, l->blames[i]));
	json_object_set_new(row, "stacks", stacks);
	json_object_set_new(row, "details", details);
	json_object_set_new(row, "blame", blames);
	json_object_set_new(row, "findings", findings(r, l));
}

static const char *const arm_names[] = {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, help) #id,
#include "../../lib/arms.def"
#undef ELIDE_ARM
};

static json_t *arm_name(unsigned int arm)
{
	return arm < ARRAY_SIZE(arm_names) ? json_string(arm_names[arm]) : json_null();
}

/* The comparison behind a decision; nulls if another policy decided, or compared nothing. */
static void compared(json_t *o, const struct elide_event *e)
{
	int chose = e->arm != e->before;

	json_object_set_new(o, "arm", chose ? arm_name(e->arm) : json_null());
	json_object_set_new(o, "before", chose ? arm_name(e->before) : json_null());
	json_object_set_new(o, "taken", chose ? json_boolean(e->type != ELIDE_EVENT_CHOSE || e->a) :
						 json_null());
	json_object_set_new(o, "gain_percent", e->pairs ? json_real(100 * expm1(e->ratio / 1000.0)) :
							   json_null());
	json_object_set_new(o, "confidence_percent", e->pairs ? json_real(e->confidence / 10.0) :
								 json_null());
	json_object_set_new(o, "pairs", json_number(e->pairs));
	json_object_set_new(o, "single", chose ? json_boolean(e->lock != 0) : json_null());
}

json_t *json_event(const struct report *r, const struct elide_event *e)
{
	int has_row = e->type != ELIDE_EVENT_OFF;
	uint64_t since = e->time - r->file->header.start_cycles, ns;
	json_t *o = json_object(), *row = has_row ? json_section(r, e->class_index, e->kind, e->site) :
						    json_object();

	json_object_set_new(o, "time_s",
			    to_ns(r, since, &ns) ? json_null() : json_real(ns / 1e9));
	if (has_row)
		json_object_update(o, row);
	else
		json_object_update_new(o, json_pack("{s:n, s:n, s:n, s:n}", "class", "lock", "kind",
						    "site"));
	json_decref(row);
	json_object_set_new(o, "event", json_text(event_name(e->type)));
	json_object_set_new(o, "skip", e->type == ELIDE_EVENT_CHOSE ? json_null() :
								      json_number(e->a));
	json_object_set_new(o, "tries", json_number(e->tries));
	json_object_set_new(o, "fails", json_number(e->fails));
	compared(o, e);
	return o;
}

json_t *json_timeline(const struct report *r)
{
	const struct data_file *f = r->file;
	struct elide_event *events = reallocarray(NULL, f->nr_events + 1, sizeof(*events));
	json_t *list = json_array();

	if (!events)
		return list;
	if (f->nr_events)
		memcpy(events, f->events, f->nr_events * sizeof(*events));
	qsort(events, f->nr_events, sizeof(*events), evidence_event_order);
	for (size_t i = 0; i < f->nr_events; i++)
		json_array_append_new(list, json_event(r, &events[i]));
	free(events);
	return list;
}

json_t *json_counters(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->file->nr_counters; i++) {
		const struct elide_counter *c = &r->file->counters[i];
		json_t *o = json_object();

		json_object_set_new(o, "source", json_text(counter_source_name(c->source)));
		json_object_set_new(o, "name", json_text(c->name));
		json_object_set_new(o, "value", json_number(c->value));
		json_object_set_new(o, "enabled_ns", json_number(c->enabled_ns));
		json_object_set_new(o, "running_ns", json_number(c->running_ns));
		json_array_append_new(list, o);
	}
	return list;
}
