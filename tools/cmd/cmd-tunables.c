// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-tunables.c - elide tunables: every setting, its range and its present value.
 *
 * Must never list a tunable: the table is generated.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/policy-numbers.h"
#include "../base/exit.h"
#include "../base/json.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/settings.h"
#include "cmd.h"

enum { OPT_JSON = 256 };

static const struct option_desc options[] = {
	{OPT_JSON, "json", NULL, "print JSON"},
	OPTION_HELP,
};

static const char *type_name(enum setting_type type)
{
	static const char *const names[] = {
		[SETTING_UINT] = "uint",
		[SETTING_ENUM] = "enum",
		[SETTING_SET] = "set",
		[SETTING_STR] = "string",
	};

	return names[type];
}

static const char *scope_name(enum setting_scope scope)
{
	static const char *const names[] = {
		[SETTING_LIB] = "library",
		[SETTING_EMU] = "emulator",
		[SETTING_RUN] = "launcher",
	};

	return names[scope];
}

/* The value of a setting: that of the environment if it is valid, else the default. */
static const char *present_value(const struct setting *s, int *from_environment)
{
	char variable[64], message[512];
	const char *value;

	snprintf(variable, sizeof(variable), "ELIDE_%s", s->name);
	value = getenv(variable);
	*from_environment = 0;
	if (!value)
		return s->def;
	if (setting_check(s, value, message, sizeof(message))) {
		say("%s", message);
		return s->def;
	}
	*from_environment = 1;
	return value;
}

/* The numbers of the policies. */
static void print_numbers(void)
{
	for (unsigned int i = 0; i < ELIDE_NR_POLICY_NUMBERS; i++) {
		const struct elide_policy_number_info *n = &elide_policy_numbers[i];

		printf("    %s of %s: %s, default %u\n", n->name, n->policies, n->range, n->initial);
	}
}

static json_t *json_numbers(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < ELIDE_NR_POLICY_NUMBERS; i++) {
		const struct elide_policy_number_info *n = &elide_policy_numbers[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", json_text(n->name));
		json_object_set_new(o, "policies", json_text(n->policies));
		json_object_set_new(o, "min", json_number(n->min));
		json_object_set_new(o, "max", json_number(n->max));
		json_object_set_new(o, "default", json_number(n->initial));
		json_array_append_new(list, o);
	}
	return list;
}

static void print_setting(const struct setting *s)
{
	int set;
	const char *value = present_value(s, &set);

	printf("ELIDE_%s=%s%s\n", s->name, value, set ? "" : " (default)");
	printf("    %s", type_name(s->type));
	if (s->type == SETTING_UINT)
		printf(" %llu..%llu %s", s->min, s->max, s->unit);
	else if (s->values)
		printf(" of %s", s->values);
	printf(", default %s, for the %s\n    %s\n", *s->def ? s->def : "empty",
	       scope_name(s->scope), s->help);
	if (!strcmp(s->name, "POLICY"))
		print_numbers();
}

static json_t *json_setting(const struct setting *s)
{
	int set, is_number = s->type == SETTING_UINT;
	json_t *o = json_object();
	const char *value = present_value(s, &set);

	json_object_set_new(o, "name", json_text(s->name));
	json_object_set_new(o, "scope", json_text(scope_name(s->scope)));
	json_object_set_new(o, "type", json_text(type_name(s->type)));
	json_object_set_new(o, "min", is_number ? json_number(s->min) : json_null());
	json_object_set_new(o, "max", is_number ? json_number(s->max) : json_null());
	json_object_set_new(o, "unit", json_text(s->unit));
	json_object_set_new(o, "values", json_text(s->values));
	json_object_set_new(o, "default", json_text(s->def));
	json_object_set_new(o, "value", json_text(value));
	json_object_set_new(o, "set", json_boolean(set));
	json_object_set_new(o, "help", json_text(s->help));
	if (!strcmp(s->name, "POLICY"))
		json_object_set_new(o, "numbers", json_numbers());
	return o;
}

/* Warns of variables ELIDE_* that are no tunables. */
static void say_unknown_variables(void)
{
	extern char **environ;

	for (char **e = environ; *e; e++) {
		char name[64], why[160];

		/* ELIDE_DEPS belongs to the build. */
		if (strncmp(*e, "ELIDE_", 6) || !strncmp(*e, "ELIDE_DEPS=", 11))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
		if (!setting_find(name))
			say("%s %s, ignored", name, setting_why_unknown(name, why, sizeof(why)));
	}
}

/**
 * cmd_tunables() - elide tunables.
 */
int cmd_tunables(int argc, char **argv)
{
	int key, as_json = 0;
	json_t *list;

	while ((key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("tunables [--json] [NAME...]",
				     "Prints every setting: its range, default and present value.",
				     options, ARRAY_SIZE(options));
			return 0;
		}
		if (key != OPT_JSON)
			return EXIT_USAGE;
		as_json = 1;
	}
	for (int i = optind; i < argc; i++) {
		char why[160];

		if (setting_find(argv[i]))
			continue;
		say("%s %s", argv[i], setting_why_unknown(argv[i], why, sizeof(why)));
		return EXIT_USAGE;
	}
	say_unknown_variables();
	list = json_array();
	for (size_t i = 0; i < nr_settings; i++) {
		int wanted = optind == argc;

		for (int arg = optind; arg < argc; arg++)
			wanted |= setting_find(argv[arg]) == &settings[i];
		if (wanted && as_json)
			json_array_append_new(list, json_setting(&settings[i]));
		else if (wanted)
			print_setting(&settings[i]);
	}
	if (!as_json) {
		json_decref(list);
		return 0;
	}
	return json_print(json_pack("{s:i, s:o}", "schema", 1, "tunables", list), stdout) ? 2 : 0;
}
