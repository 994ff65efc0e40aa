// SPDX-License-Identifier: GPL-2.0-or-later
/* stacks-print.c - see stacks-print.h. */
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "../base/text.h"
#include "../names/names.h"
#include "../names/short.h"
#include "../names/syscalls.h"
#include "stacks-print.h"

/* Bytes of the words for a thread: its id and its name in quotes. */
#define THREAD_WORDS 64

static const char *const lock_words[] = {
	[ELIDE_KIND_MUTEX] = "mutex",
	[ELIDE_KIND_RWLOCK_READ] = "rwlock",
	[ELIDE_KIND_RWLOCK_WRITE] = "rwlock",
	[ELIDE_KIND_SPIN] = "spinlock",
};

/* The words after the name of a rwlock: for reading or for writing. */
static const char *way(uint32_t kind)
{
	if (kind == ELIDE_KIND_RWLOCK_READ)
		return ", to read";
	return kind == ELIDE_KIND_RWLOCK_WRITE ? ", to write" : "";
}

static const char *const wait_words[STACKS_NR_WAITS] = {
#define STACKS_WAIT(id, even, odd, words) [STACKS_WAIT_##id] = words,
#include "../model/waits.def"
#undef STACKS_WAIT
	[STACKS_WAIT_FUTEX] = "the futex",
};

int stacks_is_ours(const struct place *p)
{
	return p->object && !strncmp(p->object, "libelide", 8);
}

void stacks_object_name(const struct stacks *s, char *to, size_t size, uint32_t class_index,
			uint64_t address)
{
	struct place place;
	char *name;

	*to = '\0';
	if (class_index < s->nr_classes) {
		name = class_name(s->symbols, &s->classes[class_index], &place);
		short_lock(to, size, &s->classes[class_index], name, &place);
		free(name);
		return;
	}
	symbolize_data(s->symbols, address, &place);
	if (place.symbol && place.symbol_offset)
		snprintf(to, size, "%s+0x%llx", place.symbol,
			 (unsigned long long)place.symbol_offset);
	else if (place.symbol)
		snprintf(to, size, "%s", place.symbol);
}

static const char *lock_word(uint32_t kind)
{
	return kind < ARRAY_SIZE(lock_words) && lock_words[kind] ? lock_words[kind] : "lock";
}

/* @address: 0 if threads that are printed as one have several objects of a class */
static void print_object(const struct stacks *s, const char *words, uint32_t class_index,
			 uint64_t address, FILE *out)
{
	char name[SHORT_NAME];

	stacks_object_name(s, name, sizeof(name), class_index, address);
	fprintf(out, "%s ", words);
	if (*name)
		print_clean(out, name);
	if (!address)
		fputs(" (one each)", out);
	else
		fprintf(out, "%s0x%llx%s", *name ? " (" : "at ", (unsigned long long)address,
		*name ? ")" : "");
}

static const char *thread_words(const struct stacks_thread *t, char *to)
{
	snprintf(to, THREAD_WORDS, "thread %d \"%s\"", t->tid, t->name);
	text_clean(to);
	return to;
}

static void print_place(const struct place *p, FILE *out)
{
	char words[512], symbol[256] = "";

	if (p->symbol)
		short_symbol(symbol, sizeof(symbol), p->symbol);
	if (p->symbol && p->file)
		snprintf(words, sizeof(words), "%s %s:%d", symbol, base_name(p->file), p->line);
	else if (p->symbol)
		snprintf(words, sizeof(words), "%s  %s", symbol, p->object);
	else if (p->object)
		snprintf(words, sizeof(words), "%s+0x%llx", p->object,
			 (unsigned long long)p->offset);
	else
		snprintf(words, sizeof(words), "code in no object");
	print_clean(out, words);
}

static void print_call(const struct stacks *s, const char *before, uint64_t site, FILE *out)
{
	struct place place;

	if (!site)
		return;
	symbolize_call(s->symbols, site, &place);
	fputs(before, out);
	print_place(&place, out);
}

static void print_holders(const struct stacks *s, const struct stacks_thread *t, FILE *out)
{
	char words[THREAD_WORDS];
	bool lock = t->wait == STACKS_WAIT_LOCK;

	for (size_t i = 0; i < t->nr_holders; i++)
		fprintf(out, "%s %s",
			i ? " and" : lock ? ", held by" : ":",
			thread_words(&s->threads[t->holders[i]], words));
	if (t->gone_parent)
		fprintf(out, ", held by thread %d of its parent, process %ld: unless they share the lock, fork "
			"copied it while it was held, and nobody here unlocks it", t->gone, t->gone_parent);
	else if (t->gone)
		fprintf(out, ", held by thread %d, which is none of this process or has ended",
			t->gone);
}

static void print_wait(const struct stacks *s, const struct stacks_thread *t, FILE *out)
{
	char words[64];

	snprintf(words, sizeof(words), "waits for the %s", lock_word(t->kind));
	if (t->wait == STACKS_WAIT_LOCK)
		print_object(s, words, t->class_index, t->object, out);
	else if (t->wait == STACKS_WAIT_JOIN)
		fprintf(out, "waits for %s", wait_words[t->wait]);
	else {
		snprintf(words, sizeof(words), "waits for %s", wait_words[t->wait]);
		print_object(s, words, t->class_index, t->object, out);
	}
	if (t->wait == STACKS_WAIT_LOCK)
		fputs(way(t->kind), out);
	print_holders(s, t, out);
	if (t->timed)
		fprintf(out, ", for a limited time");
}

static void print_state(const struct stacks *s, const struct stacks_thread *t, FILE *out)
{
	const char *name;

	if (!t->stopped) {
		fprintf(out, "could not be stopped in time: it is in an uninterruptible wait");
		return;
	}
	if (t->wait != STACKS_WAIT_NOTHING) {
		print_wait(s, t, out);
		return;
	}
	name = t->syscall < 0 ? NULL : syscall_name((int)t->syscall);
	if (t->syscall < 0)
		fprintf(out, "runs");
	else if (name)
		fprintf(out, "is in the system call %s", name);
	else
		fprintf(out, "is in system call %ld", t->syscall);
}

/* @several: other threads that are printed with it hold other locks of the class */
static void print_held(const struct stacks *s, const struct stacks_thread *t, bool several, FILE *out)
{
	char words[64];

	for (size_t i = 0; i < t->nr_held; i++) {
		const struct stacks_held *held = &t->held[i];

		snprintf(words, sizeof(words), "  holds the %s", lock_word(held->kind));
		print_object(s, words, held->class_index, several ? 0 : held->lock, out);
		fputs(way(held->kind), out);
		print_call(s, ", acquired in ", held->site, out);
		fputc('\n', out);
	}
}

static void print_frames(const struct stacks *s, const struct stacks_thread *t, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_frames; i++) {
		const struct place *places;
		size_t n = symbolize_frames(s->symbols, t->frames[i], !i, &places);

		for (size_t j = 0; j < n; j++) {
			if (stacks_is_ours(&places[j]))
				continue;
			fprintf(out, "  %3zu  ", nr++);
			print_place(&places[j], out);
			fputc('\n', out);
		}
	}
	if (t->nr_frames == STACKS_FRAMES)
		fprintf(out, "       further calls are left out\n");
}

/* Ids of further threads of a group to list, at most. */
#define IDS_MAX 8

/**
 * struct group - threads that do the same: equal stacks, waits and locks.
 * @threads: @nr of them by index, in the order of the process
 * @waiters: threads that wait for a lock that one of them holds
 * @objects: they wait for, or hold, several objects of one class
 */
struct group {
	uint32_t *threads;
	size_t nr;
	size_t waiters;
	bool objects;
};

static bool is_same_object(uint32_t class, uint64_t object, uint32_t other_class, uint64_t other)
{
	return class == other_class && (object == other || class != STACKS_NONE);
}

static bool does_same(const struct stacks_thread *t, const struct stacks_thread *u)
{
	if (t->stopped != u->stopped || t->timed != u->timed || t->wait != u->wait || t->syscall != u->syscall ||
	    t->kind != u->kind || t->site != u->site || t->gone != u->gone ||
	    !is_same_object(t->class_index, t->object, u->class_index, u->object) ||
	    t->nr_frames != u->nr_frames || t->nr_holders != u->nr_holders || t->nr_held != u->nr_held ||
	    memcmp(t->frames, u->frames, t->nr_frames * sizeof(*t->frames)) ||
	    (t->nr_holders && memcmp(t->holders, u->holders, t->nr_holders * sizeof(*t->holders))))
		return false;
	for (size_t i = 0; i < t->nr_held; i++) {
		const struct stacks_held *a = &t->held[i], *b = &u->held[i];

		if (a->kind != b->kind || a->site != b->site ||
		    !is_same_object(a->class_index, a->lock, b->class_index, b->lock))
			return false;
	}
	return true;
}

static bool has_same_objects(const struct stacks_thread *t, const struct stacks_thread *u)
{
	bool same = t->object == u->object;

	for (size_t i = 0; i < t->nr_held; i++)
		same &= t->held[i].lock == u->held[i].lock;
	return same;
}

static size_t waiters_of(const struct stacks *s, uint32_t thread)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		for (size_t j = 0; j < s->threads[i].nr_holders; j++)
			nr += s->threads[i].wait == STACKS_WAIT_LOCK && s->threads[i].holders[j] == thread;
	return nr;
}

/* Those for which most threads wait come first, then those that hold locks; equal ones in their order. */
static int compare_groups(const void *x, const void *y, void *arg)
{
	const struct group *a = x, *b = y;
	const struct stacks_thread *threads = arg;
	bool held = threads[a->threads[0]].nr_held, other = threads[b->threads[0]].nr_held;

	if (a->waiters != b->waiters)
		return a->waiters < b->waiters ? 1 : -1;
	if (held != other)
		return held ? -1 : 1;
	return by_number(a->threads[0], b->threads[0]);
}

/* Prints a thread, and "x6" with the ids of the others if there are more that do the same. */
static void print_group(const struct stacks *s, const struct group *g, FILE *out)
{
	struct stacks_thread t = s->threads[g->threads[0]];
	char words[THREAD_WORDS];

	fputc('\n', out);
	print_clean(out, thread_words(&t, words));
	for (size_t i = 1; i < g->nr && i <= IDS_MAX; i++)
		i == 1 ? fprintf(out, " x%zu (also %d", g->nr, s->threads[g->threads[i]].tid) :
			 fprintf(out, ", %d", s->threads[g->threads[i]].tid);
	if (g->nr > 1)
		fputs(g->nr > IDS_MAX + 1 ? ", ...) " : ") ", out);
	else
		fputc(' ', out);
	if (g->objects)
		t.object = 0;
	print_state(s, &t, out);
	fputc('\n', out);
	print_held(s, &t, g->objects, out);
	print_frames(s, &t, out);
}

static void print_threads(const struct stacks *s, FILE *out)
{
	struct group *groups = calloc(s->nr + 1, sizeof(*groups));
	uint32_t *threads = calloc(s->nr + 1, sizeof(*threads));
	bool *grouped = calloc(s->nr + 1, sizeof(*grouped));
	size_t nr = 0, at = 0;

	for (uint32_t i = 0; groups && threads && grouped && i < s->nr; i++) {
		struct group *g = &groups[nr];

		if (grouped[i])
			continue;
		g->threads = &threads[at];
		for (uint32_t j = i; j < s->nr; j++) {
			if (grouped[j] || !does_same(&s->threads[i], &s->threads[j]))
				continue;
			grouped[j] = true;
			g->objects |= !has_same_objects(&s->threads[i], &s->threads[j]);
			g->waiters += waiters_of(s, j);
			g->threads[g->nr++] = j;
		}
		at += g->nr;
		nr++;
	}
	if (nr)
		qsort_r(groups, nr, sizeof(*groups), compare_groups, s->threads);
	for (size_t i = 0; i < nr; i++)
		print_group(s, &groups[i], out);
	free(groups);
	free(threads);
	free(grouped);
}

/* For a cycle: prints the innermost call of a thread in the program's own code. */
static void print_where(const struct stacks *s, const struct stacks_thread *t, FILE *out)
{
	for (size_t i = 0; i < t->nr_frames; i++) {
		struct place place;

		symbolize_call(s->symbols, t->frames[i] + !i, &place);
		if (!place.file || stacks_is_ours(&place) ||
		    (place.object && !strncmp(place.object, "libc.", 5)))
			continue;
		fprintf(out, ", in ");
		print_place(&place, out);
		return;
	}
}

static void print_cycle(const struct stacks *s, const struct stacks_cycle *c, FILE *out)
{
	char words[THREAD_WORDS];

	fprintf(out, "\ndeadlock: %zu thread%s\n", c->nr,
		c->nr == 1 ? " waits for itself" : "s wait for each other");
	for (size_t i = 0; i < c->nr; i++) {
		const struct stacks_thread *t = &s->threads[c->threads[i]];

		fputs("  ", out);
		print_clean(out, thread_words(t, words));
		fputc(' ', out);
		print_wait(s, t, out);
		print_where(s, t, out);
		fputc('\n', out);
	}
}

void stacks_print(const struct stacks *s, FILE *out)
{
	char stop[32];

	scale_ns(stop, sizeof(stop), (double)s->stop_ns);
	fprintf(out, "process %ld (", s->pid);
	print_clean(out, s->title);
	fprintf(out, "): %zu thread%s, stopped for %s%s\n", s->nr, s->nr == 1 ? "" : "s", stop,
		s->elide ? "" : "; without the library, so locks are known only as far as a thread waits for them");
	for (size_t i = 0; i < s->nr_cycles; i++)
		print_cycle(s, &s->cycles[i], out);
	print_threads(s, out);
}
