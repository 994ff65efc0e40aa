// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advice.c - the finding of a row's causes, by the evidence there is.
 *
 * This file decides by records alone which advice is given; advice.def and advice-text.c have the
 * words. Must never advise on a cause that is too rare to matter.
 */
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../names/instruction.h"
#include "advice-text.h"
#include "advice.h"
#include "attribute.h"
#include "blocker.h"
#include "evidence.h"

/*
 * A cause is a finding if it is at least this share of the row's aborts, in per cent, and aborts
 * at least one in TELLING_ATTEMPTS attempts.
 */
#define TELLING_SHARE 10
#define TELLING_ATTEMPTS 100

/* Did the other thread touch the bytes of the sections' lock alone? Then it has locked or released it. */
static int is_locking(const struct elide_detail *d)
{
	uint64_t lock = evidence_lock_bytes(d);

	return lock && !(d->other_bytes & ~lock);
}

/* A thread that locks aborts all others: other conflicts come first if they are at least 1 / LOCKING_PART. */
#define LOCKING_PART 4

static const struct elide_detail *first_detail(const struct line *l, unsigned int cause)
{
	const struct elide_detail *first = NULL, *other = NULL;
	uint64_t all = 0, others = 0;

	for (size_t i = 0; i < l->nr_details; i++) {
		const struct elide_detail *d = l->details[i];

		if (d->cause != cause || d->source == ELIDE_DETAIL_STATUS || d->source == ELIDE_DETAIL_HINT)
			continue;
		first = first ? first : d;
		all += d->count;
		if (is_locking(d))
			continue;
		other = other ? other : d;
		others += d->count;
	}
	return other && LOCKING_PART * others >= all ? other : first;
}

/* A hint belongs to no abort, so it is used only if nothing else is known. */
static const struct elide_detail *first_hint(const struct line *l)
{
	for (size_t i = 0; i < l->nr_details; i++)
		if (l->details[i]->source == ELIDE_DETAIL_HINT)
			return l->details[i];
	return NULL;
}

/* The call that held the lock most often when this one aborted; *@all is set to all such aborts. */
static const struct elide_blame *first_blame(const struct line *l, unsigned int type,
					     uint64_t *all)
{
	const struct elide_blame *first = NULL;

	*all = 0;
	for (size_t i = 0; i < l->nr_blames; i++) {
		if (l->blames[i]->type != type)
			continue;
		*all += l->blames[i]->count;
		if (!first && l->blames[i]->held_kind)
			first = l->blames[i];
	}
	return first;
}

static int is_in_linker(const struct place *p)
{
	return starts_with(p->object, "ld-") && (!p->symbol || starts_with(p->symbol, "_dl_") ||
						 starts_with(p->symbol, "do_lookup") ||
						 starts_with(p->symbol, "check_match"));
}

/* Did the section abort in the dynamic linker's search for a symbol? */
static int binds(const struct report *r, const struct elide_detail *d)
{
	struct place frames[FRAMES_MAX], own;
	size_t nr = evidence_frames(r, d->abort_stack, frames);

	symbolize_instruction(r->symbols, d->own_pc, &own);
	if (d->own_pc && is_in_linker(&own))
		return 1;
	for (size_t i = 0; i < nr; i++)
		if (starts_with(frames[i].symbol, "_dl_runtime_resolve") ||
		    starts_with(frames[i].symbol, "_dl_fixup"))
			return 1;
	return 0;
}

static int allocates(const char *symbol)
{
	/* Without template arguments, among which std::allocator is common. */
	char name[SHORT_NAME];

	if (symbol) {
		short_symbol(name, sizeof(name), symbol);
		symbol = name;
	}
	return symbol &&
	       (strstr(symbol, "alloc") || !strcmp(symbol, "free") || !strcmp(symbol, "cfree") ||
		!strcmp(symbol, "_int_free") || starts_with(symbol, "operator new") ||
		starts_with(symbol, "operator delete"));
}

/* Are both accesses in functions of the allocator? Then the conflict is about it, not about the block. */
static int in_allocator(const struct report *r, const struct elide_detail *d)
{
	struct place own, other;

	symbolize_instruction(r->symbols, d->own_pc, &own);
	symbolize_instruction(r->symbols, d->other_pc, &other);
	return allocates(own.symbol) && allocates(other.symbol);
}

/* Do the bytes of a mask lie within a word of 8 bytes? */
static int is_word(uint64_t mask)
{
	return mask && 64 - __builtin_clzll(mask) - __builtin_ctzll(mask) <= 8;
}

/* A counter is at most a word of 8 bytes, and not known to be a pointer. */
static int is_counter(const struct report *r, const struct elide_detail *d, uint64_t lock)
{
	uint64_t own = d->own_bytes & ~lock, other = d->other_bytes & ~lock;

	return is_word(own) && is_word(other) &&
	       !symbolize_is_pointer(r->symbols, d->line + __builtin_ctzll(own), d->own_pc);
}

/* Bytes beside the lock that the aborted section had written, if these explain the conflict; else 0. */
static uint64_t written_beside(const struct elide_detail *d)
{
	uint64_t lock = evidence_lock_bytes(d), own = d->own_written & ~lock;

	if (d->cause != ELIDE_CAUSE_conflict || !d->line || (d->other_written & lock))
		return 0;
	return d->other_write && !(d->other_written & own) ? 0 : own;
}

/* Where a section wrote: the distance from the lock in the same line, else the address. */
static uint64_t word_place(const struct elide_detail *d, uint64_t written)
{
	uint64_t at = d->line + __builtin_ctzll(written);

	return evidence_lock_bytes(d) ? at - d->lock : at;
}

/* The instruction that most often wrote the word and aborted a section of a lock of the class. */
static uint64_t find_writer(const struct report *r, const struct elide_detail *of, uint64_t at)
{
	uint64_t pc = 0, most = 0;

	for (size_t i = 0; i < r->file->nr_details; i++) {
		const struct elide_detail *d = &r->file->details[i];
		uint64_t word = d->line ? d->other_written & ~evidence_lock_bytes(d) : 0;

		if (d->class_index != of->class_index || !d->other_pc || d->count <= most ||
		    !is_word(word) || !evidence_lock_bytes(d) != !evidence_lock_bytes(of) ||
		    word_place(d, word) != at)
			continue;
		most = d->count;
		pc = d->other_pc;
	}
	return pc;
}

/*
 * Are more than half of the row's conflicts about one word that its sections write themselves? In
 * the line of the lock it is the same word for all sections, and each reader of the lock conflicts
 * with it. In another line a write to that word must have aborted some section.
 */
static int find_counter(const struct report *r, const struct line *l, struct section_counter *c)
{
	for (size_t i = 0; i < l->nr_details; i++) {
		const struct elide_detail *first = l->details[i];
		uint64_t word = written_beside(first), at;
		int shared;

		if (!is_word(word) ||
		    symbolize_is_pointer(r->symbols, first->line + __builtin_ctzll(word),
					 first->own_pc))
			continue;
		at = word_place(first, word);
		shared = evidence_lock_bytes(first) != 0;
		*c = (struct section_counter){.detail = first, .written = word};
		for (size_t j = 0; j < l->nr_details; j++) {
			const struct elide_detail *d = l->details[j];
			uint64_t own = written_beside(d);

			if (d->cause == ELIDE_CAUSE_conflict)
				c->all += d->count;
			if (!is_word(own) || word_place(d, own) != at)
				continue;
			c->count += d->count;
			shared |= (d->other_written & own) != 0;
		}
		if (!shared || 2 * c->count <= c->all)
			continue;
		c->writer_pc = find_writer(r, first, at);
		return 1;
	}
	return 0;
}

/*
 * The advice for a conflict, by the bytes that the two threads touched. A thread that writes the
 * bytes of the lock itself has locked it: the advice is about the lemming effect.
 *
 *   both accesses are in functions of the allocator     allocator
 *   both accesses are the library's, not to the lock    inner_locked
 *   common bytes: a word that is not a pointer          split_counter
 *   most conflicts of the row are about one word that its sections write, while others touch other
 *   bytes of its line                                   section_counter
 *   the other thread touched the lock's bytes only      lemming
 *   no common bytes, in the line of the lock            pad_lock
 *   no common bytes                                     pad_blocks, pad_variables
 *   other common bytes                                  split_data
 */
static enum advice conflict(const struct report *r, const struct line *l,
			    const struct elide_detail *d, struct section_counter *c)
{
	uint64_t lock = evidence_lock_bytes(d);
	struct data_name n;

	if (!d || !evidence_data(r, d, &n) || n.sharing == SHARING_UNKNOWN)
		return ADVICE_DEFAULT;
	if (in_allocator(r, d) && !is_locking(d))
		return ADVICE_allocator;
	if (!lock && evidence_own_code(r, d->own_pc) && evidence_own_code(r, d->other_pc))
		return ADVICE_inner_locked;
	if (n.sharing == SHARING_TRUE && is_counter(r, d, lock))
		return ADVICE_split_counter;
	if (find_counter(r, l, c))
		return ADVICE_section_counter;
	if (is_locking(d))
		return ADVICE_lemming;
	if (n.sharing == SHARING_FALSE && lock)
		return ADVICE_pad_lock;
	if (n.sharing == SHARING_FALSE)
		return n.type == ELIDE_DATA_HEAP    ? ADVICE_pad_blocks :
		       n.type != ELIDE_DATA_UNKNOWN ? ADVICE_pad_variables :
						      ADVICE_DEFAULT;
	return ADVICE_split_data;
}

static enum advice instruction(const struct report *r, const struct elide_detail *d)
{
	uint8_t code[16];
	size_t size = symbolize_bytes(r->symbols, d->own_pc, code, sizeof(code));
	const char *name = instruction_name(code, size);

	return name && !strcmp(name, "PAUSE") ? ADVICE_no_pause : ADVICE_no_instruction;
}

/* One call is to blame only if it held the lock at more than half of the aborts. */
static int is_lemming(const struct elide_blame *b, uint64_t all)
{
	return b && 2 * b->count > all;
}

/* The advice for a cause, and the records that are its evidence. */
static enum advice decide(struct advising *a, unsigned int cause)
{
	const struct line *l = a->line;
	const struct elide_detail *d = first_detail(l, cause);

	a->cause = cause;
	a->detail = d;
	a->blame = first_blame(l,
			       cause == ELIDE_CAUSE_inner_busy ? ELIDE_BLAME_INNER :
								 ELIDE_BLAME_ABORT,
			       &a->all);
	if (cause == ELIDE_CAUSE_busy)
		return is_lemming(a->blame, a->all) ? ADVICE_lemming : ADVICE_DEFAULT;
	if (cause == ELIDE_CAUSE_inner_busy)
		return a->blame ? ADVICE_inner_lock : ADVICE_DEFAULT;
	if (cause == ELIDE_CAUSE_cond_wait)
		return ADVICE_cond_wait;
	if (cause == ELIDE_CAUSE_interrupt)
		return ADVICE_shorten;
	if (cause == ELIDE_CAUSE_conflict && !(d && d->line) && first_hint(l)) {
		a->detail = first_hint(l);
		return ADVICE_hint;
	}
	if (!d)
		return ADVICE_DEFAULT;
	if (cause != ELIDE_CAUSE_conflict && binds(a->r, d))
		return ADVICE_bind_now;
	switch (cause) {
	case ELIDE_CAUSE_conflict:
		return conflict(a->r, l, d, &a->counter);
	case ELIDE_CAUSE_capacity:
		return d->cache_ways ? ADVICE_aliasing : ADVICE_footprint;
	case ELIDE_CAUSE_syscall:
		return d->syscall_nr >= 0 ? ADVICE_move_syscall : ADVICE_DEFAULT;
	case ELIDE_CAUSE_fault:
		return d->signal ? ADVICE_no_trap : ADVICE_prefault;
	case ELIDE_CAUSE_instruction:
		return instruction(a->r, d);
	}
	return ADVICE_DEFAULT;
}

static int is_telling(const struct line *l, unsigned int cause)
{
	uint64_t n = l->sum.causes[cause];

	return n && percent(n, l->aborts) >= TELLING_SHARE && n >= l->attempts / TELLING_ATTEMPTS;
}

/* Does the cause say that another thread had locked the lock, or locked it during the section? */
static int says_locked(const struct report *r, const struct line *l, unsigned int cause)
{
	const struct elide_detail *d = first_detail(l, cause);
	struct section_counter c;

	return cause == ELIDE_CAUSE_busy ||
	       (cause == ELIDE_CAUSE_conflict && d && conflict(r, l, d, &c) == ADVICE_lemming);
}

/*
 * The next cause to report, -1 if none is left. Causes that say that another thread had locked
 * the lock come last: the finding is what made that thread lock it, if known.
 */
static int next_cause(const struct report *r, const struct line *l, const unsigned char *reported)
{
	int best = -1, best_locked = 0;

	for (int i = 0; i < ELIDE_NR_CAUSES; i++) {
		int locked;

		if (reported[i] || !is_telling(l, i))
			continue;
		locked = says_locked(r, l, i);
		if (best >= 0 && (best_locked < locked || (best_locked == locked &&
				  l->sum.causes[i] <= l->sum.causes[best])))
			continue;
		best = i;
		best_locked = locked;
	}
	return best;
}

/* A misuse of a lock of this row's class; that its holder ended is no fault of the calls that get it. */
static const struct misuse_line *find_misuse(const struct report *r, const struct line *l)
{
	for (size_t i = 0; l->nr_classes == 1 && i < r->nr_misuse; i++)
		if (r->misuse[i].record->class == l->sum.class_index + 1 &&
		    r->misuse[i].record->type < ELIDE_MISUSE_OWNER_DIED)
			return &r->misuse[i];
	return NULL;
}

static void report_finding(struct advising *a, struct finding *f, enum advice advice,
			   const char *cause, uint64_t count)
{
	f->cause = cause;
	f->count = count;
	advice_write(a, advice, f);
}

size_t advise(const struct report *r, const struct line *l, struct finding *found)
{
	unsigned char reported[ELIDE_NR_CAUSES] = {0};
	struct advising a = {.r = r, .line = l};
	size_t nr = 0;
	int cause;

	a.misuse = find_misuse(r, l);
	if (a.misuse)
		report_finding(&a, &found[nr++], ADVICE_misuse, "misuse", a.misuse->record->count);
	while (nr < FINDINGS_MAX && (cause = next_cause(r, l, reported)) >= 0) {
		enum advice advice = decide(&a, cause);

		reported[cause] = 1;
		report_finding(&a, &found[nr++], advice, cause_texts[cause].id,
			       l->sum.causes[cause]);
	}
	if (nr < FINDINGS_MAX && r->elides)
		nr += advise_quiet(r, l, &found[nr]);
	return nr;
}

bool advise_quiet(const struct report *r, const struct line *l, struct finding *found)
{
	struct advising a = {.r = r, .line = l};

	if (l->nr_classes != 1 || !line_is_quiet(r, l))
		return false;
	report_finding(&a, found, ADVICE_uncontended, "none", 0);
	return true;
}
