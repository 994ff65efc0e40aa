// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names.c - the words of enumerations, and names of locks and code.
 *
 * Must never put an address into a name.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "names.h"

#define NAMES(function, ...)                                                                       \
	const char *function(unsigned int i)                                                       \
	{                                                                                          \
		static const char *const names[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return i < ARRAY_SIZE(names) && names[i] ? names[i] : "unknown";                   \
	}

NAMES(kind_id, [ELIDE_KIND_MUTEX] = "mutex", [ELIDE_KIND_RWLOCK_READ] = "rwlock-read",
      [ELIDE_KIND_RWLOCK_WRITE] = "rwlock-write", [ELIDE_KIND_SPIN] = "spin",
      [ELIDE_KIND_CUSTOM] = "custom", [ELIDE_KIND_COND] = "cond", [ELIDE_KIND_SEM] = "sem",
      [ELIDE_KIND_BARRIER] = "barrier", [ELIDE_KIND_REACQUIRE] = "reacquire",
      [ELIDE_KIND_FUTEX] = "futex", [ELIDE_KIND_FUTEX_LOCK] = "futex-lock",
      [ELIDE_KIND_LIBRARY] = "library-mutex")

const char *kind_name(unsigned int kind)
{
	switch (kind) {
	case ELIDE_KIND_REACQUIRE:
		return "relock";
	case ELIDE_KIND_FUTEX_LOCK:
		return "futex";
	case ELIDE_KIND_LIBRARY:
		return kind_id(ELIDE_KIND_MUTEX);
	default:
		return kind_id(kind);
	}
}

const char *waits_for(unsigned int kind)
{
	return elide_kind_waits_for_lock(kind) ? "locks" : "others";
}

NAMES(state_name, [ELIDE_STATE_PROFILED] = "profiled", [ELIDE_STATE_ELIDING] = "eliding",
      [ELIDE_STATE_PAUSED] = "paused", [ELIDE_STATE_OFF] = "off",
      [ELIDE_STATE_RESTRICTED] = "restricted", [ELIDE_STATE_LOCKING] = "locking")
NAMES(mode_name, [ELIDE_RUN_OFF] = "off", [ELIDE_RUN_PROFILE] = "profile",
      [ELIDE_RUN_ELIDE] = "elide", [ELIDE_RUN_RESTRICT] = "restrict")
NAMES(rtm_name, [ELIDE_RTM_NONE] = "none", [ELIDE_RTM_HARDWARE] = "hardware",
      [ELIDE_RTM_EMULATED] = "emulated")
NAMES(misuse_name, [ELIDE_MISUSE_UNLOCK_FREE] = "unlock-free",
      [ELIDE_MISUSE_UNLOCK_FOREIGN] = "unlock-foreign",
      [ELIDE_MISUSE_DESTROY_HELD] = "destroy-held", [ELIDE_MISUSE_RELOCK] = "relock",
      [ELIDE_MISUSE_EXIT_HELD] = "exit-held", [ELIDE_MISUSE_OWNER_DIED] = "owner-died",
      [ELIDE_MISUSE_NOT_RECOVERABLE] = "not-recoverable")
NAMES(dropped_name, [ELIDE_DROPPED_LOCKS] = "locks", [ELIDE_DROPPED_CLASSES] = "classes",
      [ELIDE_DROPPED_THREADS] = "threads", [ELIDE_DROPPED_ROWS] = "rows",
      [ELIDE_DROPPED_MODULES] = "modules",
      [ELIDE_DROPPED_ORDERS] = "orders", [ELIDE_DROPPED_STACKS] = "stacks",
      [ELIDE_DROPPED_DETAILS] = "details", [ELIDE_DROPPED_EVENTS] = "events",
      [ELIDE_DROPPED_PROCESSES] = "processes", [ELIDE_DROPPED_CROWDS] = "crowds",
      [ELIDE_DROPPED_FILES] = "files", [ELIDE_DROPPED_FILTER] = "filter")

NAMES(misuse_says, [ELIDE_MISUSE_UNLOCK_FREE] = "unlocks a lock that nobody holds",
      [ELIDE_MISUSE_UNLOCK_FOREIGN] = "unlocks a lock that another thread holds",
      [ELIDE_MISUSE_DESTROY_HELD] = "destroys a lock that is held",
      [ELIDE_MISUSE_RELOCK] = "locks again a lock that it holds",
      [ELIDE_MISUSE_EXIT_HELD] = "locks a lock that its thread holds when it ends",
      [ELIDE_MISUSE_OWNER_DIED] = "gets a lock whose holder has ended",
      [ELIDE_MISUSE_NOT_RECOVERABLE] = "locks a lock that is not recoverable")
NAMES(sample_name, [ELIDE_SAMPLE_ABORT] = "abort", [ELIDE_SAMPLE_WAIT] = "wait",
      [ELIDE_SAMPLE_BLOCK] = "block", [ELIDE_SAMPLE_ACQUIRE] = "acquire")
NAMES(source_name, [ELIDE_DETAIL_STATUS] = "status", [ELIDE_DETAIL_EMULATOR] = "emulator",
      [ELIDE_DETAIL_PMU] = "pmu", [ELIDE_DETAIL_HINT] = "hint")
NAMES(data_type_name, [ELIDE_DATA_UNKNOWN] = "unknown", [ELIDE_DATA_STATIC] = "static",
      [ELIDE_DATA_HEAP] = "heap", [ELIDE_DATA_STACK] = "stack", [ELIDE_DATA_LOCK] = "lock")
NAMES(blame_name, [ELIDE_BLAME_ABORT] = "abort", [ELIDE_BLAME_INNER] = "inner",
      [ELIDE_BLAME_WAIT] = "wait")
NAMES(event_name, [ELIDE_EVENT_PAUSED] = "paused", [ELIDE_EVENT_RESUMED] = "resumed",
      [ELIDE_EVENT_OFF] = "off", [ELIDE_EVENT_CHOSE] = "chose")
NAMES(counter_source_name, [ELIDE_COUNTER_PMU] = "pmu", [ELIDE_COUNTER_PCM] = "pcm")

static const struct {
	const char *name, *says;
} learned[] = {
#define ELIDE_LEARNED(id, help) {#id, help},
#include "../../lib/learned.def"
#undef ELIDE_LEARNED
};

const char *learned_name(unsigned int state)
{
	return state < ARRAY_SIZE(learned) ? learned[state].name : "unknown";
}

const char *learned_says(unsigned int state)
{
	return state < ARRAY_SIZE(learned) ? learned[state].says : "unknown";
}

static char *format(const char *format, ...) __printf(1, 2);

static char *format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* A process title, such as "nginx: master process /usr/sbin/nginx", does not begin with a path. */
static const char *called_by(const char *arg)
{
	const char *title = strstr(arg, ": "), *name = base_name(arg);

	if (title && name > title)
		return arg;
	/* A login shell is called with a dash. */
	return name + (*name == '-');
}

const char *program_title(const struct elide_header *h)
{
	const char *called = h->args_len ? called_by(h->args) : "";

	if (*called)
		return called;
	return h->exe[0] ? base_name(h->exe) : "(program unknown)";
}

char *code_name(const struct place *p)
{
	if (p->symbol && p->file && p->inlined_into)
		return format("%s %s:%d in %s", p->symbol, base_name(p->file), p->line,
			      p->inlined_into);
	if (p->symbol && p->file)
		return format("%s %s:%d", p->symbol, base_name(p->file), p->line);
	if (p->symbol)
		return format("%s+0x%llx %s", p->symbol, (unsigned long long)p->symbol_offset,
			      p->object);
	if (p->object)
		return format("%s+0x%llx", p->object, (unsigned long long)p->offset);
	return format("unknown");
}

static char *data_name(const struct place *p)
{
	if (p->symbol && p->symbol_offset)
		return format("%s+0x%llx", p->symbol, (unsigned long long)p->symbol_offset);
	if (p->symbol)
		return format("%s", p->symbol);
	return code_name(p);
}

char *class_id(const struct elide_class *c, const struct place *place)
{
	static const char *const types[] = {"", "init", "static", "first", "beyond"};

	return place->object ? format("%s %s+0x%llx", types[c->type], place->object,
				      (unsigned long long)place->offset) :
			       format("%s unknown", types[c->type]);
}

char *class_name(struct symbolizer *symbols, const struct elide_class *c, struct place *place)
{
	const char *member;
	char *code, *name;

	if (c->type == ELIDE_CLASS_BEYOND) {
		memset(place, 0, sizeof(*place));
		return format("locks beyond ELIDE_MAX_LOCKS or 4096 classes");
	}
	if (c->type == ELIDE_CLASS_STATIC) {
		symbolize_data(symbols, c->address, place);
		/* The name of a variable with many locks. */
		if (c->array && place->symbol)
			return format("%s[]", place->symbol);
		return data_name(place);
	}
	symbolize_call(symbols, c->address, place);
	member = c->type == ELIDE_CLASS_FIRST ? symbolize_lock(symbols, c->address, c->kind) : NULL;
	if (member)
		return format("%s", member);
	code = code_name(place);
	if (!code)
		return NULL;
	name = format("%s in %s", c->type == ELIDE_CLASS_INIT ? "made" : "used", code);
	free(code);
	return name;
}
