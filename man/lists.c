// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lists.c - prints the lists of the sources as mdoc, for the manual pages: lists NAME
 *
 * Must never hold a list: they are tunables.def, aborts.def and columns.def.
 */
#include <stdio.h>
#include <string.h>

static void item(const char *name)
{
	printf(".It %s\n", name);
}

/* Text of a .def as mdoc: a line that begins with a dot or quote would be a macro. */
static void sentence(const char *text)
{
	printf("\\&%s.\n", text);
}

static void range(const char *values, const char *initial)
{
	if (values)
		printf("One of %s;\n", values);
	printf("default %s.\n", *initial ? initial : "empty");
}

static void print_tunables(void)
{
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help)                                   \
	item("Ev ELIDE_" #NAME);                                                                   \
	printf("%llu to %llu %s; default %s.\n", (unsigned long long)(min),                        \
	       (unsigned long long)(max), unit, #def);                                             \
	sentence(help);
#define ELIDE_ENUM(name, NAME, scope, values, def, help)                                           \
	item("Ev ELIDE_" #NAME);                                                                   \
	range(values, def);                                                                        \
	sentence(help);
#define ELIDE_SET(name, NAME, scope, values, def, help)                                            \
	item("Ev ELIDE_" #NAME);                                                                   \
	printf("Several of %s, separated by commas;\n", values);                                   \
	range(NULL, def);                                                                          \
	sentence(help);
#define ELIDE_STR(name, NAME, scope, def, help)                                                    \
	item("Ev ELIDE_" #NAME);                                                                   \
	range(NULL, def);                                                                          \
	sentence(help);
#include "../lib/tunables.def"
}

static void print_causes(void)
{
#define ELIDE_CAUSE(id, code, column, help, advice)                                                \
	item("Cm " #id);                                                                           \
	sentence(help);                                                                            \
	printf("Column %s.\n", #column);
#include "../lib/aborts.def"
}

static void print_fields(void)
{
#define ELIDE_FIELD(id, value, elision, help)                                                      \
	item("Cm " #id);                                                                           \
	sentence(help);                                                                            \
	if (elision)                                                                               \
		printf("Null unless the process elided.\n");
#include "../tools/columns.def"
}

int main(int argc, char **argv)
{
	const char *list = argc > 1 ? argv[1] : "";

	if (!strcmp(list, "tunables"))
		print_tunables();
	else if (!strcmp(list, "causes"))
		print_causes();
	else if (!strcmp(list, "fields"))
		print_fields();
	else
		return 2;
	return 0;
}
