/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-report.h - a report as JSON, as elide-data(5) describes it.
 *
 * Must never round a counter.
 */
#ifndef ELIDE_JSON_REPORT_H
#define ELIDE_JSON_REPORT_H

#include "../base/json.h"
#include "../model/report.h"

/** json_head() - the object of a file with the keys that do not depend on the view. */
json_t *json_head(const struct report *r);

/**
 * json_report() - the object of a file.
 * @top: rows in it, 0 for all
 */
json_t *json_report(const struct report *r, size_t top);

#endif
