/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-evidence.h - the evidence of a report's rows, as JSON.
 *
 * Must never name a row that is not printed.
 */
#ifndef ELIDE_JSON_EVIDENCE_H
#define ELIDE_JSON_EVIDENCE_H

#include "../base/json.h"
#include "../model/report.h"

/**
 * json_place() - a place in the program's code: object, symbol, inlined_into, file, line.
 */
json_t *json_place(const struct place *p);

/** json_call() - the place of the call that returns to an address. */
json_t *json_call(const struct report *r, uint64_t return_address);

/** json_stack() - the frames of a stack, by its index + 1, the innermost first. */
json_t *json_stack(const struct report *r, uint32_t stack);

/** json_section() - class, lock, kind and site of a row; null for an unknown kind. */
json_t *json_section(const struct report *r, uint32_t class_index, unsigned int kind,
		     uint64_t site);

/** json_sample() - set the keys of a sampled stack. */
void json_sample(const struct report *r, const struct elide_sample *s, json_t *o);

/** json_data() - the data of a detail; null if it has none. */
json_t *json_data(const struct report *r, const struct elide_detail *d);

/** json_evidence() - set stacks, details, blame and findings of a row. */
void json_evidence(const struct report *r, const struct line *l, json_t *row);

/** json_timeline() - decisions of the policy, in the order of time. */
json_t *json_timeline(const struct report *r);

/** json_event() - a decision of the policy. */
json_t *json_event(const struct report *r, const struct elide_event *e);

/** json_counters() - the hardware counters. */
json_t *json_counters(const struct report *r);

#endif
