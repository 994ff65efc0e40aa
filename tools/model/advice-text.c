// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advice-text.c - the texts of advice.def filled with evidence, and the settings to paste.
 *
 * Must never print a control character of the data file: json.c and table.c see to that.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../names/instruction.h"
#include "../names/names.h"
#include "../names/syscalls.h"
#include "advice-text.h"
#include "attribute.h"
#include "blocker.h"
#include "callers.h"
#include "columns.h"
#include "evidence.h"
#include "rule.h"

enum setting_kind { NONE, OFF, BIND_NOW };

static const struct advice_entry {
	const char *id;
	enum setting_kind setting;
	const char *text;
} entries[] = {
#define ELIDE_ADVICE(id, setting, condition, text) {#id, setting, text},
#include "advice.def"
#undef ELIDE_ADVICE
};

/* A text that is being written, cut to its room. */
struct writer {
	char *to;
	size_t size;
	size_t len;
};

static void put(struct writer *w, const char *format, ...) __printf(2, 3);

static void put(struct writer *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->to + w->len, w->size - w->len, format, args);
	va_end(args);
	if (n > 0)
		w->len += (size_t)n < w->size - w->len ? (size_t)n : w->size - w->len - 1;
}

/* "function (file:line)"; without debugging information "function of OBJECT" or "OBJECT+0xN". */
static void put_place(struct writer *w, const struct place *p)
{
	char shortened[SHORT_NAME];
	const char *name = p->symbol ? readable(shortened, sizeof(shortened), p->symbol) : NULL;

	if (!p->object && !name)
		put(w, "unknown code");
	else if (!name)
		put(w, "%.100s+0x%llx", p->object, (unsigned long long)p->offset);
	else if (p->file)
		put(w, "%.200s (%.100s:%d)", name, base_name(p->file), p->line);
	else
		put(w, "%.200s of %.100s", name, p->object ? p->object : "?");
}

static void put_instruction(struct writer *w, const struct report *r, uint64_t pc)
{
	struct place p = {0};

	if (pc)
		symbolize_instruction(r->symbols, pc, &p);
	put_place(w, &p);
}

static void put_call(struct writer *w, const struct report *r, uint64_t site)
{
	struct place p;

	symbolize_call(r->symbols, site, &p);
	put_place(w, &p);
}

static void put_lock(struct writer *w, const struct report *r, uint32_t class_index)
{
	const struct elide_class *c = &r->file->classes[class_index];
	struct place p;
	char shortened[SHORT_NAME], *name = class_name(r->symbols, c, &p);

	if (name && strlen(name) > READABLE)
		short_lock(shortened, sizeof(shortened), c, name, &p);
	else
		snprintf(shortened, sizeof(shortened), "%s", name ? name : "a lock");
	put(w, "%s", shortened);
	free(name);
}

/* An instruction; for one of the library, the program's lock call. */
static void put_access(struct writer *w, const struct report *r, uint64_t pc, uint64_t site)
{
	if (!evidence_own_code(r, pc)) {
		put_instruction(w, r, pc);
	} else if (!site) {
		put(w, "a lock call");
	} else {
		put(w, "the lock call in ");
		put_call(w, r, site);
	}
}

static void write_own(struct writer *w, const struct advising *a)
{
	const struct elide_detail *d = a->detail;

	put_access(w, a->r, d ? d->own_pc : 0, d ? d->site : 0);
}

static void write_other(struct writer *w, const struct advising *a)
{
	const struct elide_detail *d = a->detail;

	put_access(w, a->r, d ? d->other_pc : 0, d && d->other_kind ? d->other_site : 0);
}

static void write_data(struct writer *w, const struct advising *a)
{
	struct data_name n;

	put(w, "%s", a->detail && evidence_data(a->r, a->detail, &n) ? n.name : "unnamed data");
}

static void put_bytes(struct writer *w, uint64_t mask)
{
	if (!mask)
		put(w, "?");
	else if (!(mask & (mask - 1)))
		put(w, "%d", __builtin_ctzll(mask));
	else
		put(w, "%d to %d", __builtin_ctzll(mask), 63 - __builtin_clzll(mask));
}

static void write_own_bytes(struct writer *w, const struct advising *a)
{
	put_bytes(w, a->detail->own_bytes);
}

static void write_other_bytes(struct writer *w, const struct advising *a)
{
	put_bytes(w, a->detail->other_bytes);
}

/* The place that writes the word; the section if no writer was seen. */
static void write_writer(struct writer *w, const struct advising *a)
{
	if (a->counter.writer_pc && !evidence_own_code(a->r, a->counter.writer_pc))
		put_instruction(w, a->r, a->counter.writer_pc);
	else
		put(w, "the section");
}

static void write_written(struct writer *w, const struct advising *a)
{
	put_bytes(w, a->counter.written);
}

static void write_counter_line(struct writer *w, const struct advising *a)
{
	struct data_name n;

	if (evidence_lock_bytes(a->counter.detail))
		put(w, "the line that the lock lies on");
	else if (evidence_data(a->r, a->counter.detail, &n))
		put(w, "the line of %s", n.name);
}

static void write_counter_share(struct writer *w, const struct advising *a)
{
	put(w, "%.0f%%", percent(a->counter.count, a->counter.all));
}

static void write_accesses(struct writer *w, const struct advising *a)
{
	put(w, a->detail->other_write ? "writes" : "reads");
}

static void write_section(struct writer *w, const struct advising *a)
{
	const struct elide_detail *d = a->detail;

	if (!d->other_class || !d->other_kind) {
		put(w, "outside of any section");
		return;
	}
	put(w, "in the section of ");
	put_lock(w, a->r, d->other_class - 1);
	put(w, " begun in ");
	put_call(w, a->r, d->other_site);
}

static void write_loads(struct writer *w, const struct advising *a)
{
	put(w, "%u sampled load%s", a->detail->samples, a->detail->samples == 1 ? "" : "s");
}

/* Is a place in an object of the system? Then its caller in the program is more useful. */
static int is_system(const struct place *p)
{
	return p->object && (!strncmp(p->object, "libelide", 8) ||
			     !strncmp(p->object, "libstdc++", 9) || symbolize_in_header(p) ||
			     !strncmp(p->object, "libc.so", 7) || !strncmp(p->object, "libc-", 5) ||
			     !strncmp(p->object, "ld-", 3) || !strncmp(p->object, "[vdso", 5));
}

/* The innermost caller, outside of the system, of the function with the instruction. */
static void write_caller(struct writer *w, const struct advising *a)
{
	struct place frames[FRAMES_MAX];
	size_t nr = evidence_frames(a->r, a->detail ? a->detail->abort_stack : 0, frames);

	for (size_t i = 1; i < nr; i++) {
		if (is_system(&frames[i]))
			continue;
		put_place(w, &frames[i]);
		return;
	}
	put(w, "the section of ");
	put_place(w, &a->line->site_place);
}

static void write_lines(struct writer *w, const struct advising *a)
{
	const struct elide_detail *d = a->detail;

	put(w, "%u line%s read and %u written", d->max_read_lines, plural(d->max_read_lines),
	    d->max_write_lines);
}

static void write_set(struct writer *w, const struct advising *a)
{
	put(w, "%u", a->detail->cache_set);
}

static void write_ways(struct writer *w, const struct advising *a)
{
	put(w, "%u", a->detail->cache_ways);
}

static void write_syscall(struct writer *w, const struct advising *a)
{
	const char *name = syscall_name(a->detail->syscall_nr);

	if (name)
		put(w, "%s(2)", name);
	else
		put(w, "system call %d", a->detail->syscall_nr);
}

static void write_signal(struct writer *w, const struct advising *a)
{
	const char *name = sigabbrev_np(a->detail->signal);

	put(w, "SIG%s", name ? name : "?");
}

static void write_instruction(struct writer *w, const struct advising *a)
{
	uint8_t code[16];
	size_t size = symbolize_bytes(a->r->symbols, a->detail->own_pc, code, sizeof(code));
	const char *name = instruction_name(code, size);

	put(w, "%s", name ? name : "an instruction that cannot run in a transaction");
}

static void write_cycles(struct writer *w, const struct advising *a)
{
	const struct elide_detail *d = a->detail;

	if (d && d->count)
		put(w, "%llu", (unsigned long long)(d->cycles / d->count));
	else
		put(w, "many");
}

static void write_inner(struct writer *w, const struct advising *a)
{
	put_lock(w, a->r, a->blame->held_class);
}

static void write_holder(struct writer *w, const struct advising *a)
{
	if (a->blame && a->blame->held_site)
		put_call(w, a->r, a->blame->held_site);
	else
		write_other(w, a);
}

/* Per cent, at most 100: the counts are estimates. */
static void write_kills(struct writer *w, const struct advising *a)
{
	double share = a->blame ? percent(a->blame->count, a->all) :
				  percent(a->detail->count, a->line->sum.causes[a->cause]);

	put(w, "%.0f%%", share > 100 ? 100 : share);
}

static void write_misuse(struct writer *w, const struct advising *a)
{
	put_place(w, &a->misuse->site);
	put(w, " %s, %llu time%s", misuse_says(a->misuse->record->type),
	    (unsigned long long)a->misuse->record->count, plural(a->misuse->record->count));
}

static void write_quiet(struct writer *w, const struct advising *a)
{
	double held = line_held_percent(a->r, a->line);

	put(w, "none of %llu acquisition%s waited or met another thread's",
	    (unsigned long long)a->line->acquired, plural(a->line->acquired));
	if (line_has_one_thread(a->r, a->line))
		put(w, a->line->nr_locks > 1 ? ", and one thread only uses each of the locks" :
					       ", and one thread only uses it");
	else if (held > 100)
		put(w, ", and on average %.1f of its holders are there at once", held / 100);
	else if (held >= 0)
		put(w, ", and it is held for %.1f%% of the run", held);
}

static const struct {
	const char *name;
	void (*write)(struct writer *w, const struct advising *a);
} variables[] = {
	{"own", write_own},
	{"other", write_other},
	{"data", write_data},
	{"own_bytes", write_own_bytes},
	{"writer", write_writer},
	{"written", write_written},
	{"counter_line", write_counter_line},
	{"counter_share", write_counter_share},
	{"other_bytes", write_other_bytes},
	{"accesses", write_accesses},
	{"section", write_section},
	{"loads", write_loads},
	{"caller", write_caller},
	{"lines", write_lines},
	{"set", write_set},
	{"ways", write_ways},
	{"syscall", write_syscall},
	{"signal", write_signal},
	{"instruction", write_instruction},
	{"cycles", write_cycles},
	{"inner", write_inner},
	{"holder", write_holder},
	{"kills", write_kills},
	{"misuse", write_misuse},
	{"quiet", write_quiet},
};

static void fill(struct writer *w, const struct advising *a, const char *text)
{
	for (; *text; text++) {
		size_t len = strcspn(text + 1, "}");

		if (*text != '{') {
			put(w, "%c", *text);
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
			if (strlen(variables[i].name) == len &&
			    !strncmp(variables[i].name, text + 1, len))
				variables[i].write(w, a);
		text += len + 1;
	}
}

static void write_setting(const struct advising *a, enum setting_kind kind, struct finding *f)
{
	char pattern[256];

	f->setting[0] = '\0';
	if (kind == BIND_NOW)
		snprintf(f->setting, sizeof(f->setting), "LD_BIND_NOW=1");
	if (kind != OFF)
		return;
	rule_pattern(a->r, a->line, pattern, sizeof(pattern));
	if (pattern[0])
		snprintf(f->setting, sizeof(f->setting), "ELIDE_LOCKS='%s=off'", pattern);
}

/* The words in aborts.def and advice.def that advise not to elide. */
#define OFF_WORDS "switch elision off"

/* OFF if the text of the cause in aborts.def advises not to elide. */
static enum setting_kind default_setting(unsigned int cause)
{
	return strstr(cause_texts[cause].advice, OFF_WORDS) ? OFF : NONE;
}

/* Removes the advice not to elide, for a row where eliding pays although some attempts abort. */
static void cut_switch(char *text)
{
	char *at = strstr(text, OFF_WORDS);

	while (at && at > text && strchr(" ,;:", at[-1]))
		at--;
	if (at && at - text > 4 && !strncmp(at - 4, ", or", 4))
		at -= 4;
	if (at)
		*at = '\0';
}

void advice_write(const struct advising *a, enum advice advice, struct finding *f)
{
	struct writer w = {f->text, sizeof(f->text), 0};
	enum setting_kind setting;

	f->text[0] = '\0';
	if (advice == ADVICE_DEFAULT) {
		f->advice = cause_texts[a->cause].id;
		put(&w, "%s", cause_texts[a->cause].advice);
		setting = default_setting(a->cause);
	} else {
		f->advice = entries[advice].id;
		fill(&w, a, entries[advice].text);
		setting = entries[advice].setting;
	}
	if (a->line->verdict == VERDICT_PAYS) {
		cut_switch(f->text);
		if (!f->text[0])
			snprintf(f->text, sizeof(f->text),
				 "nothing: eliding pays although these attempts abort");
		setting = NONE;
	}
	write_setting(a, setting, f);
}
