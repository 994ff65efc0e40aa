/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule.h - the rule of ELIDE_LOCKS that switches elision off for a row, and for no other.
 *
 * Must never suggest a rule that matches a row for which elision is not known to be useless.
 */
#ifndef ELIDE_RULE_H
#define ELIDE_RULE_H

#include "report.h"

/**
 * rule_pattern() - the pattern of an ELIDE_LOCKS rule that matches a row.
 *
 * @to is empty if there is no such pattern, or if it would match a row that must not be switched off.
 */
void rule_pattern(const struct report *r, const struct line *l, char *to, size_t size);

#endif
