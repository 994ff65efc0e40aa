// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lists.c - prints the lists of the sources as mdoc, for the manual pages: lists NAME
 *
 * Must never hold a list: they are the .def files it includes.
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

static void print_policy(void)
{
#define ELIDE_POLICY_NUMBER(name, min, max, def, unit, policies, help)                             \
	item("Cm " #name);                                                                         \
	printf("%d to %d %s; default %d; of %s.\n", min, max, unit, def, policies);                \
	sentence(help);
#include "../lib/policy.def"
}

static void print_causes(void)
{
#define ELIDE_CAUSE(id, code, column, help, advice)                                                \
	item("Cm " #id);                                                                           \
	sentence(help);                                                                            \
	printf("Column %s.\n", #column);
#include "../lib/aborts.def"
}

static void print_arms(void)
{
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, help) \
	item("Cm " #id);                                                                           \
	sentence(help);
#include "../lib/arms.def"
}

static void print_learned(void)
{
#define ELIDE_LEARNED(id, help)                                                                    \
	item("Cm " #id);                                                                           \
	sentence(help);
#include "../lib/learned.def"
}

enum { HSW = 1, SKL = 2, ICL = 4, ALL_GENERATIONS = 7 };

static void print_event(const char *name, unsigned int generations, const char *help)
{
	item(name);
	sentence(help);
	if (generations == ALL_GENERATIONS)
		return;
	printf("On processors%s%s%s.\n", generations & HSW ? " up to Broadwell" : "",
	       generations == (HSW | ICL) ? " and" : "",
	       generations == (SKL | ICL) ? " from Skylake on" :
	       generations & SKL	   ? " from Skylake to Comet Lake" :
	       generations & ICL	   ? " from Ice Lake on" :
					     "");
}

static void print_events(void)
{
#define ELIDE_PMU_EVENT(name, code, umask, flags, generations, help)                               \
	print_event("Cm " name, generations, help);
#include "../lib/pmu.def"
#undef ELIDE_PMU_EVENT
}

static void print_processors(void)
{
	const char *before = NULL;

#define ELIDE_PMU_MODEL(model, generation, name)                                                   \
	if (!before || strcmp(before, name))                                                       \
		printf("%s%s", before ? ",\n" : "", name);                                         \
	before = name;
#include "../lib/pmu.def"
#undef ELIDE_PMU_MODEL
	puts(".");
}

static void print_fields(void)
{
#define ELIDE_FIELD(id, value, known, help)                                                        \
	item("Cm " #id);                                                                           \
	sentence(help);                                                                            \
	if (!strcmp(#known, "ELIDED"))                                                             \
		printf("Null unless the process elided.\n");
#include "../tools/model/columns.def"
}

/* What makes an instruction of unfriendly.def abort: a number of the machine, or these. */
static void print_switch(const char *what)
{
	if (!strcmp(what, "ALWAYS"))
		printf("Aborts.\n");
	else if (!strcmp(what, "NEVER"))
		printf("Does not abort, unlike what follows.\n");
	else
		printf("Aborts with\n.Cm %s .\n", what);
}

static void print_threads(void)
{
#define ELIDE_THREAD_COLUMN(id, head, unit, value, view, help)                                     \
	item(head);                                                                                \
	sentence(help);
#include "../tools/model/threads.def"
#undef ELIDE_THREAD_COLUMN
}

static void print_advice(void)
{
#define ELIDE_ADVICE(id, setting, condition, text)                                                 \
	item("Cm " #id);                                                                           \
	sentence(condition);
#include "../tools/model/advice.def"
#undef ELIDE_ADVICE
}

static void print_answers(void)
{
#define ELIDE_ANSWER(id, when, text)                                                               \
	item("Cm " #id);                                                                           \
	sentence(when);
#include "../tools/model/answer/answer.def"
#undef ELIDE_ANSWER
}

/* Those that are said. */
static void print_unseen(void)
{
#define ELIDE_UNSEEN(id, scope, name, text, use)                                                   \
	if (*(text)) {                                                                             \
		item(name);                                                                        \
		sentence(text);                                                                    \
		printf("Use %s.\n", use);                                                          \
	}
#include "../tools/base/unseen.def"
#undef ELIDE_UNSEEN
}

static void print_unfriendly(void)
{
#define UNFRIENDLY(name, map, prefixes, first, last, operand, when, source)                        \
	item(#name);                                                                               \
	print_switch(#when);                                                                       \
	sentence(source);
#include "../tools/rtmgrind/unfriendly.def"
#undef UNFRIENDLY
}

static void print_selftests(void)
{
#define SELFTEST(name, text)                                                                       \
	item("Cm " #name);                                                                         \
	sentence(text);
#include "../tools/selftest/tests.def"
#undef SELFTEST
}

static void print_counters(void)
{
#define RETIRED(id, name, help)                                                                    \
	item("RTM_RETIRED." #name);                                                                \
	item("HLE_RETIRED." #name);                                                                \
	sentence(help);
#include "../tools/rtmgrind/counters.def"
#undef RETIRED
#define COUNTER(id, name, help)                                                                    \
	item(name);                                                                                \
	sentence(help);
#include "../tools/rtmgrind/counters.def"
#undef COUNTER
}

static void print_machines(void)
{
#define MODEL(name, what)                                                                          \
	item("Cm " #name);                                                                         \
	sentence(what);
#define LIKE(name, other, what)                                                                    \
	MODEL(name, what)                                                                          \
	printf("Its other numbers are those of\n.Cm " #other " .\n");
#define SET(number, value, source)
#include "../tools/rtmgrind/models.def"
#undef MODEL
#undef LIKE
#undef SET
}

static void print_numbers(void)
{
#define PARAM(name, unit, min, max, initial, help)                                                 \
	item("Cm " #name);                                                                         \
	sentence(help);                                                                            \
	printf("%d to %d %s; %d in\n.Cm flat .\n", min, max, unit, initial);
#include "../tools/rtmgrind/model.def"
#undef PARAM
}

/* A table for each machine that sets something: number, value, source. */
static void source(const char *model, const char *number, int value, const char *from)
{
	static const char *before;

	if (model != before && before)
		puts(".El");
	if (model != before)
		printf(".Pp\nSet by\n.Cm %s :\n"
		       ".Bl -column \"context_switch\" \"1048576\" \"source\"\n", model);
	before = model;
	printf(".It %s Ta %d Ta \\&%s\n", number, value, *from ? from : "by definition");
}

static void print_sources(void)
{
	const char *model = NULL;

#define MODEL(name, what)          model = #name;
#define LIKE(name, other, what)    model = #name;
#define SET(number, value, from)   source(model, #number, value, from);
#include "../tools/rtmgrind/models.def"
#undef MODEL
#undef LIKE
#undef SET
	puts(".El");
}

int main(int argc, char **argv)
{
	const char *list = argc > 1 ? argv[1] : "";

	if (!strcmp(list, "tunables"))
		print_tunables();
	else if (!strcmp(list, "policy"))
		print_policy();
	else if (!strcmp(list, "causes"))
		print_causes();
	else if (!strcmp(list, "arms"))
		print_arms();
	else if (!strcmp(list, "learned"))
		print_learned();
	else if (!strcmp(list, "events"))
		print_events();
	else if (!strcmp(list, "processors"))
		print_processors();
	else if (!strcmp(list, "fields"))
		print_fields();
	else if (!strcmp(list, "threads"))
		print_threads();
	else if (!strcmp(list, "answers"))
		print_answers();
	else if (!strcmp(list, "unseen"))
		print_unseen();
	else if (!strcmp(list, "advice"))
		print_advice();
	else if (!strcmp(list, "unfriendly"))
		print_unfriendly();
	else if (!strcmp(list, "counters"))
		print_counters();
	else if (!strcmp(list, "selftest"))
		print_selftests();
	else if (!strcmp(list, "machines"))
		print_machines();
	else if (!strcmp(list, "numbers"))
		print_numbers();
	else if (!strcmp(list, "sources"))
		print_sources();
	else
		return 2;
	return 0;
}
