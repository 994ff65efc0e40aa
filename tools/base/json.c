// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json.c - the values of all JSON that the tools print.
 *
 * Must never decide what is printed.
 */
#include "json.h"
#include "unseen.h"

#include <math.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *s)
{
	json_t *value;
	char *copy;

	if (!s)
		return json_null();
	value = json_string(s);
	if (value)
		return value;
	copy = strdup(s);
	if (!copy)
		return json_null();
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

json_t *json_number(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

/* ASCII, so that names can do nothing to a terminal. Reals have 9 digits: a day to the millisecond. */
#define HOW (JSON_INDENT(1) | JSON_REAL_PRECISION(9) | JSON_ENSURE_ASCII)

char *json_string_of(json_t *value)
{
	char *string = json_dumps(value, HOW);

	json_decref(value);
	return string;
}

int json_print(json_t *value, FILE *out)
{
	int rc = json_dumpf(value, out, HOW);

	json_decref(value);
	fputc('\n', out);
	return rc ? -EIO : 0;
}

json_t *known_real(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

json_t *json_unseen(uint32_t set)
{
	json_t *list = json_array();

	for (unsigned int u = 0; u < NR_UNSEEN; u++) {
		json_t *o;

		if (!(set >> u & 1))
			continue;
		o = json_object();
		json_object_set_new(o, "id", json_text(unseen_id(u)));
		json_object_set_new(o, "text", json_text(*unseen_text(u) ? unseen_text(u) : unseen_name(u)));
		json_object_set_new(o, "use", json_text(*unseen_use(u) ? unseen_use(u) : NULL));
		json_array_append_new(list, o);
	}
	return list;
}
