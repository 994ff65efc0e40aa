// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * model.c - chooses the simulated machine, and refuses an impossible one.
 *
 * This happens before the program starts. An impossible machine ends the run with one line and
 * status 2. Must never change a number once the program runs.
 */
#include "model.h"
#include "rtmgrind.h"

struct model model = {
#define PARAM(name, unit, min, max, initial, help) .name = initial,
#include "model.def"
#undef PARAM
};

static const struct param {
	const HChar *name;
	SizeT offset;
	Long min;
	Long max;
} params[] = {
#define PARAM(name, unit, min, max, initial, help) {#name, offsetof(struct model, name), min, max},
#include "model.def"
#undef PARAM
};
#define NR_PARAMS (sizeof(params) / sizeof(params[0]))

/**
 * struct models_line - a line of models.def.
 * @model: name of the machine that begins here, NULL if the line belongs to the one above
 * @base: name of the machine whose numbers it begins with, NULL: flat
 * @offset: offset in struct model of the number that is set
 * @value: the value that it is set to
 */
static const struct models_line {
	const HChar *model;
	const HChar *base;
	SizeT offset;
	Long value;
} lines[] = {
#define MODEL(name, what) {.model = #name},
#define LIKE(name, other, what) {.model = #name, .base = #other},
#define SET(param, number, source) {.offset = offsetof(struct model, param), .value = number},
#include "models.def"
#undef MODEL
#undef LIKE
#undef SET
};
#define NR_LINES (sizeof(lines) / sizeof(lines[0]))

static const HChar *chosen = "flat";
/* The result of model_differences(). */
static HChar differences[256];

/* Numbers that options set for any machine, at most. */
#define MAX_CHANGES 64
static struct change {
	const HChar *name;
	const HChar *text;
} changes[MAX_CHANGES];
static UInt nr_changes;

static void __attribute__((noreturn, format(printf, 1, 2))) refuse(const HChar *format, ...)
{
	va_list args;

	va_start(args, format);
	VG_(vmessage)(Vg_UserMsg, format, args);
	va_end(args);
	VG_(exit)(2);
}

static Long *number_at(SizeT offset)
{
	return (Long *)((UChar *)&model + offset);
}

/* Sets the numbers of a machine. Return: False if there is none of that name. */
static Bool apply(const HChar *name)
{
	UInt i;

	for (i = 0; i < NR_LINES; i++)
		if (lines[i].model && VG_(strcmp)(lines[i].model, name) == 0)
			break;
	if (i == NR_LINES)
		return False;
	if (lines[i].base)
		apply(lines[i].base);
	for (i++; i < NR_LINES && !lines[i].model; i++)
		*number_at(lines[i].offset) = lines[i].value;
	return True;
}

static void set_number(const HChar *name, const HChar *text)
{
	const struct param *param = params;
	HChar *end;
	Long value;

	while (param < params + NR_PARAMS && VG_(strcmp)(param->name, name))
		param++;
	if (param == params + NR_PARAMS)
		refuse("the machine has no number '%s'; rtmgrind(1) lists them\n", name);
	value = VG_(strtoll10)(text, &end);
	if (!*text || *end)
		refuse("%s=%s: that is no number\n", name, text);
	if (value < param->min || value > param->max)
		refuse("%s=%s is impossible: it is between %lld and %lld\n", name, text,
		       param->min, param->max);
	*number_at(param->offset) = value;
}

/**
 * model_select() - choose the machine, for the option --model.
 * @spec: NAME[:NUMBER=VALUE,...]
 */
void model_select(const HChar *spec)
{
	chosen = spec;
}

/**
 * model_set() - change a number of the machine, whichever machine is chosen.
 * @name: name of the number in model.def
 * @text: the value
 */
void model_set(const HChar *name, const HChar *text)
{
	tl_assert(nr_changes < MAX_CHANGES);
	changes[nr_changes++] = (struct change){name, text};
}

/* Sets the numbers of a text NUMBER=VALUE,..., which is changed. */
static void set_numbers(HChar *text)
{
	HChar *next, *equals;

	for (; text; text = next) {
		next = VG_(strchr)(text, ',');
		if (next)
			*next++ = 0;
		equals = VG_(strchr)(text, '=');
		if (!equals)
			refuse("'%s' is not NUMBER=VALUE\n", text);
		*equals = 0;
		set_number(text, equals + 1);
	}
}

/* Whether struct rtmgrind_machine has a field for the number, so that it need not be a difference. */
static Bool always_told(const Long *number)
{
	return number == &model.cores || number == &model.smt || number == &model.sockets;
}

static void note_differences(const struct model *named)
{
	const struct param *param;
	UInt used = 0;

	for (param = params; param < params + NR_PARAMS; param++) {
		const Long *number = number_at(param->offset);

		if (*number == *(const Long *)((const UChar *)named + param->offset) ||
		    always_told(number) || used >= sizeof(differences) - 1)
			continue;
		used += VG_(snprintf)(differences + used, sizeof(differences) - used, "%s%s=%lld",
				      used ? "," : "", param->name, *number);
	}
}

static void build(void)
{
	struct model named;
	HChar *name = VG_(strdup)("rtmgrind.model", chosen);
	HChar *numbers = VG_(strchr)(name, ':');
	UInt i;

	if (numbers)
		*numbers++ = 0;
	if (!apply(name)) {
		HChar known[400] = "";
		UInt used = 0;

		for (i = 0; i < NR_LINES; i++)
			if (lines[i].model)
				used += VG_(snprintf)(known + used, sizeof(known) - used, " %s",
						      lines[i].model);
		refuse("there is no machine '%s'; there are%s\n", name, known);
	}
	named = model;
	set_numbers(numbers);
	for (i = 0; i < nr_changes; i++)
		set_number(changes[i].name, changes[i].text);
	note_differences(&named);
	chosen = name;
}

/** model_name() - Return: the name of the chosen machine. */
const HChar *model_name(void)
{
	return chosen;
}

/** model_differences() - Return: the numbers that options changed, "l1_ways=4,...". */
const HChar *model_differences(void)
{
	return differences;
}

static Bool is_power_of_two(Long n)
{
	return n > 0 && !(n & (n - 1));
}

static void check_cache(const HChar *name, Long kib, Long ways, Bool power_of_two)
{
	Long lines_in = kib * 1024 / LINE_SIZE;

	if (lines_in % ways)
		refuse("%s: %lld KiB cannot be divided into %lld ways of 64-byte lines\n", name,
		       kib, ways);
	if (power_of_two && !is_power_of_two(lines_in / ways))
		refuse("%s: %lld KiB with %lld ways make %lld sets, not a power of two\n", name,
		       kib, ways, lines_in / ways);
}

static void check_tlb(const HChar *name, Long pages, Long ways)
{
	if (pages % ways)
		refuse("%s: %lld pages cannot be divided into sets of %lld\n", name, pages, ways);
}

static void check_level(const HChar *name, Long *size, Long inner, Long outer)
{
	if (!*size)
		*size = inner;
	if (*size % inner || outer % *size)
		refuse("%s of %lld cores does not fit: cores come in groups of %lld, %lld in a socket\n",
		       name, *size, inner, outer);
}

/** model_build() - set the numbers of the chosen machine; end the run if it is impossible. */
void model_build(void)
{
	Long socket;

	build();
	socket = model.cores / model.sockets;
	if (model.cores % model.sockets)
		refuse("%lld cores cannot be dealt out to %lld sockets\n", model.cores,
		       model.sockets);
	/* With fewer cores than its model has, a machine has smaller domains, dies and groups. */
	if (!model.domain || model.domain > socket)
		model.domain = socket;
	if (model.die > socket)
		model.die = socket;
	if (model.quadrant > socket || !model.quadrant)
		model.quadrant = socket;
	check_level("a domain", &model.domain, 1, socket);
	check_level("a die", &model.die, model.domain, socket);
	check_level("a group of dies", &model.quadrant, model.die, socket);
	check_cache("first-level cache", model.l1_kib, model.l1_ways, True);
	check_cache("second-level cache", model.l2_kib, model.l2_ways, True);
	check_cache("last-level cache", model.llc_kib, model.llc_ways, False);
	check_tlb("first-level TLB", model.tlb_pages, model.tlb_ways);
	check_tlb("second-level TLB", model.tlb2_pages, model.tlb2_ways);
	if (model.l1_trees && (model.l1_ways % model.l1_trees ||
			       !is_power_of_two(model.l1_ways / model.l1_trees)))
		refuse("%lld ways cannot be divided into %lld trees of a power of two each\n",
		       model.l1_ways, model.l1_trees);
}
