// SPDX-License-Identifier: GPL-2.0-or-later
/* stacks-json.c - see stacks-json.h. */
#include <ctype.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/json.h"
#include "../names/names.h"
#include "../names/short.h"
#include "../names/syscalls.h"
#include "stacks-json.h"
#include "stacks-print.h"

/* Counts up on any incompatible change. */
#define SCHEMA 1

static const char *const wait_names[STACKS_NR_WAITS] = {
	[STACKS_WAIT_LOCK] = "lock",
#define STACKS_WAIT(id, even, odd, words) [STACKS_WAIT_##id] = #id,
#include "../model/waits.def"
#undef STACKS_WAIT
	[STACKS_WAIT_FUTEX] = "futex",
};

/* The name of a kind of wait, in small letters. */
static json_t *wait_name(enum stacks_wait wait)
{
	char name[32];
	size_t i;

	for (i = 0; wait_names[wait][i] && i < sizeof(name) - 1; i++)
		name[i] = tolower((unsigned char)wait_names[wait][i]);
	name[i] = '\0';
	return json_text(name);
}

static json_t *place_json(const struct place *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "object", json_text(p->object));
	json_object_set_new(o, "symbol", json_text(p->symbol));
	json_object_set_new(o, "file", json_text(p->file));
	json_object_set_new(o, "line", p->line ? json_number(p->line) : json_null());
	json_object_set_new(o, "offset", json_number(p->offset));
	return o;
}

static json_t *site_json(const struct stacks *s, uint64_t site)
{
	struct place place;

	if (!site)
		return json_null();
	symbolize_call(s->symbols, site, &place);
	return place_json(&place);
}

static json_t *name_json(const struct stacks *s, uint32_t class_index, uint64_t address)
{
	char name[SHORT_NAME];

	stacks_object_name(s, name, sizeof(name), class_index, address);
	return *name ? json_text(name) : json_null();
}

static json_t *held_json(const struct stacks *s, const struct stacks_thread *t)
{
	json_t *all = json_array();

	for (size_t i = 0; i < t->nr_held; i++) {
		const struct stacks_held *held = &t->held[i];
		json_t *o = json_object();

		json_object_set_new(o, "lock", name_json(s, held->class_index, held->lock));
		json_object_set_new(o, "kind", json_text(kind_id(held->kind)));
		json_object_set_new(o, "address", json_number(held->lock));
		json_object_set_new(o, "site", site_json(s, held->site));
		json_array_append_new(all, o);
	}
	return all;
}

static json_t *wait_json(const struct stacks *s, const struct stacks_thread *t)
{
	json_t *o, *holders;

	if (t->wait == STACKS_WAIT_NOTHING)
		return json_null();
	o = json_object();
	holders = json_array();
	for (size_t i = 0; i < t->nr_holders; i++)
		json_array_append_new(holders, json_number(s->threads[t->holders[i]].tid));
	json_object_set_new(o, "for", wait_name(t->wait));
	json_object_set_new(o, "lock", name_json(s, t->class_index, t->object));
	json_object_set_new(o, "kind", t->wait == STACKS_WAIT_LOCK ? json_text(kind_id(t->kind)) :
								      json_null());
	json_object_set_new(o, "address", json_number(t->object));
	json_object_set_new(o, "site", site_json(s, t->site));
	json_object_set_new(o, "timed", json_boolean(t->timed));
	json_object_set_new(o, "holders", holders);
	json_object_set_new(o, "holder_gone", t->gone ? json_number(t->gone) : json_null());
	json_object_set_new(o, "holder_parent", t->gone_parent ? json_number(t->gone_parent) : json_null());
	return o;
}

static json_t *frames_json(const struct stacks *s, const struct stacks_thread *t)
{
	json_t *all = json_array();

	for (size_t i = 0; i < t->nr_frames; i++) {
		const struct place *places;
		size_t n = symbolize_frames(s->symbols, t->frames[i], !i, &places);

		for (size_t j = 0; j < n; j++)
			if (!stacks_is_ours(&places[j]))
				json_array_append_new(all, place_json(&places[j]));
	}
	return all;
}

static json_t *thread_json(const struct stacks *s, const struct stacks_thread *t)
{
	const char *call = t->syscall < 0 ? NULL : syscall_name((int)t->syscall);
	json_t *o = json_object();

	json_object_set_new(o, "tid", json_number(t->tid));
	json_object_set_new(o, "name", json_text(t->name));
	json_object_set_new(o, "stopped", json_boolean(t->stopped));
	json_object_set_new(o, "syscall", json_text(call));
	json_object_set_new(o, "waits", wait_json(s, t));
	json_object_set_new(o, "holds", held_json(s, t));
	json_object_set_new(o, "frames", frames_json(s, t));
	return o;
}

static json_t *cycle_json(const struct stacks *s, const struct stacks_cycle *c)
{
	json_t *all = json_array();

	for (size_t i = 0; i < c->nr; i++)
		json_array_append_new(all, json_number(s->threads[c->threads[i]].tid));
	return all;
}

int stacks_print_json(const struct stacks *s, FILE *out)
{
	json_t *o = json_object(), *threads = json_array(), *cycles = json_array();

	for (size_t i = 0; i < s->nr; i++)
		json_array_append_new(threads, thread_json(s, &s->threads[i]));
	for (size_t i = 0; i < s->nr_cycles; i++)
		json_array_append_new(cycles, cycle_json(s, &s->cycles[i]));
	json_object_set_new(o, "schema", json_number(SCHEMA));
	json_object_set_new(o, "pid", json_number(s->pid));
	json_object_set_new(o, "program", json_text(s->title));
	json_object_set_new(o, "elide", json_boolean(s->elide));
	json_object_set_new(o, "stop_ns", json_number(s->stop_ns));
	json_object_set_new(o, "deadlocks", cycles);
	json_object_set_new(o, "threads", threads);
	return json_print(o, out);
}
