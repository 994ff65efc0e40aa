/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusion.c - sections that look for others beside them: overlap, lost
 * updates, torn reads, wrong answers.
 *
 * A section may run in a transaction. It must make no call that would abort
 * it but where chance wants that.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

unsigned int say(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "%s\n", line);
	return 1;
}

void random_seed(struct random *r, uint64_t seed, uint64_t stream)
{
	r->state = (seed * 0x9e3779b97f4a7c15ull ^ (stream + 1) * 0xbf58476d1ce4e5b9ull) | 1;
	for (int i = 0; i < 4; i++)
		random_below(r, 1);
}

uint32_t random_below(struct random *r, uint32_t limit)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return ((r->state * 0x2545f4914f6cdd1dull >> 32) * limit) >> 32;
}

struct timespec deadline(clockid_t clock, long us)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += us * 1000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	if (ts.tv_nsec < 0) { /* some time ago, and the second has just begun */
		ts.tv_nsec += 1000000000;
		ts.tv_sec--;
	}
	return ts;
}

void cells_make(struct cell *cells, const struct subject *subject)
{
	memset(cells, 0, NR_CELLS * sizeof(*cells));
	for (unsigned int i = 0; i < NR_CELLS; i++) {
		cells[i].subject = subject;
		subject->init(&cells[i].lock);
	}
}

void workers_make(struct worker *workers, const struct run *run)
{
	memset(workers, 0, run->threads * sizeof(*workers));
	for (unsigned int i = 0; i < run->threads; i++) {
		workers[i].run = run;
		workers[i].me = i;
		random_seed(&workers[i].random, run->seed, i);
	}
}

/* Some time, and now and then what no transaction survives. */
static void linger(struct random *r)
{
	for (volatile uint32_t n = random_below(r, 48); n; n--)
		;
	switch (random_below(r, 256)) {
	case 0:
		syscall(SYS_getppid);
		break;
	case 1:
		sched_yield();
		break;
	}
}

void write_cell(struct worker *w, struct cell *cell, unsigned int index)
{
	unsigned long old[NR_WORDS];

	w->overlaps += cell->inside.value;
	cell->inside.value = 1;
	/* Elided readers conflict with whoever looks at their marks: not always. */
	if (cell->subject->read && one_in(&w->random, 2))
		for (unsigned int i = 0; i < w->run->threads; i++)
			w->overlaps += cell->reading[i].value;
	for (int i = 0; i < NR_WORDS; i++) {
		old[i] = cell->words[i].value;
		linger(&w->random);
		cell->words[i].value = old[i] + 1;
	}
	for (int i = 1; i < NR_WORDS; i++)
		w->torn += old[i] != old[0];
	cell->inside.value = 0;
	w->written[index]++;
}

static void read_cell(struct worker *w, struct cell *cell)
{
	unsigned long first;

	cell->reading[w->me].value = 1;
	w->overlaps += cell->inside.value;
	first = cell->words[0].value;
	linger(&w->random);
	for (int i = 1; i < NR_WORDS; i++)
		w->torn += cell->words[i].value != first;
	w->overlaps += cell->inside.value;
	cell->reading[w->me].value = 0;
}

static void expect(struct worker *w, int answer, int wanted)
{
	if (answer == wanted)
		return;
	w->wrong++;
	w->wrong_answer = answer;
}

/* What the owner gets when it asks again. Real waiters make glibc's rwlock answer otherwise. */
static void ask_again(struct worker *w, struct cell *cell, const struct calls *calls, bool read)
{
	const struct subject *s = cell->subject;
	int err;

	if (read || !calls->trylock)
		return;
	err = calls->trylock(&cell->lock);
	expect(w, err, s->retry);
	if (!err)
		calls->unlock(&cell->lock);
	if (s->relock == NO_RELOCK)
		return;
	err = calls->lock(&cell->lock);
	expect(w, err, s->relock);
	if (!err)
		calls->unlock(&cell->lock);
}

/* A lock in hand. */
struct grip {
	struct cell *cell;
	const struct calls *calls;
	unsigned int index;
	bool read;
};

static bool acquire(struct worker *w, struct grip *g)
{
	const struct subject *s = g->cell->subject;
	struct random *r = &w->random;
	/* A thread in four uses all ways, the others nearly always the first. */
	enum way way = one_in(r, w->me % 4 ? 32 : 2) ? random_below(r, NR_WAYS) : WAY_ON;
	clockid_t clock = CLOCK_REALTIME;
	struct timespec until;
	int err;

	g->read = s->read && !one_in(r, 3);
	g->calls = g->read ? &s->read[way] : &s->write[way];
	switch (random_below(r, 16)) {
	case 0:
	case 1:
		if (!g->calls->trylock)
			goto plain;
		err = g->calls->trylock(&g->cell->lock);
		if (err) {
			expect(w, err, s->busy);
			return false;
		}
		break;
	case 2:
		if (!g->calls->timedlock)
			goto plain;
		until = deadline(clock, (long)random_below(r, 300) - 20);
		err = g->calls->timedlock(&g->cell->lock, &until);
		goto timed;
	case 3:
		if (!g->calls->clocklock)
			goto plain;
		clock = one_in(r, 2) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
		until = deadline(clock, (long)random_below(r, 300) - 20);
		err = g->calls->clocklock(&g->cell->lock, clock, &until);
timed:
		if (err) {
			expect(w, err, s->timed_out);
			return false;
		}
		break;
	default:
plain:
		err = g->calls->lock(&g->cell->lock);
		expect(w, err, 0);
	}
	w->acquired += way != WAY_PAST;
	return !err;
}

static void body(struct worker *w, const struct grip *g)
{
	if (g->read)
		read_cell(w, g->cell);
	else
		write_cell(w, g->cell, g->index);
	if (one_in(&w->random, 8))
		ask_again(w, g->cell, g->calls, g->read);
}

/*
 * Released and taken again past the library. Only the last lock a thread has,
 * or two threads could wait for each other.
 */
static void go_behind(const struct grip *g)
{
	const struct subject *s = g->cell->subject;
	const struct calls *past = g->read ? &s->read[WAY_PAST] : &s->write[WAY_PAST];

	past->unlock(&g->cell->lock);
	past->lock(&g->cell->lock);
}

void section(struct worker *w, struct cell *cells)
{
	struct grip grips[NR_CELLS];
	unsigned int nr = 0, most = one_in(&w->random, 3) ? 3 : 1;

	/* In ascending order, or sections could wait for each other. */
	for (unsigned int i = random_below(&w->random, NR_CELLS); i < NR_CELLS && nr < most;
	     i += 1 + random_below(&w->random, 2)) {
		grips[nr].cell = &cells[i];
		grips[nr].index = i;
		w->waits = &cells[i];
		nr += acquire(w, &grips[nr]);
		w->waits = NULL;
	}
	for (unsigned int i = 0; i < nr; i++)
		body(w, &grips[i]);
	while (nr) {
		unsigned int i = random_below(&w->random, nr);

		if (nr == 1 && one_in(&w->random, 32))
			go_behind(&grips[i]);
		if (one_in(&w->random, 4))
			body(w, &grips[i]);
		grips[i].calls->unlock(&grips[i].cell->lock);
		grips[i] = grips[--nr];
	}
}

unsigned int cells_check(struct cell *cells, const struct worker *workers, unsigned int nr)
{
	unsigned long overlaps = 0, torn = 0, wrong = 0, wanted;
	unsigned int failed = 0;
	int answer = 0;

	for (unsigned int i = 0; i < nr; i++) {
		overlaps += workers[i].overlaps;
		torn += workers[i].torn;
		wrong += workers[i].wrong;
		answer = workers[i].wrong ? workers[i].wrong_answer : answer;
	}
	if (overlaps)
		failed += say("%lu sections saw another one inside", overlaps);
	if (torn)
		failed += say("%lu torn reads", torn);
	if (wrong)
		failed += say("%lu wrong answers, for instance %d", wrong, answer);
	for (unsigned int c = 0; c < NR_CELLS; c++) {
		const struct calls *past = &cells[c].subject->write[WAY_PAST];

		wanted = 0;
		for (unsigned int i = 0; i < nr; i++)
			wanted += workers[i].written[c];
		for (int i = 0; i < NR_WORDS; i++)
			if (cells[c].words[i].value != wanted)
				failed += say("word %d of lock %u is %lu, not %lu: updates lost", i,
					      c, cells[c].words[i].value, wanted);
		if (!past->trylock)
			continue;
		if (past->trylock(&cells[c].lock))
			failed += say("lock %u was left held", c);
		else
			past->unlock(&cells[c].lock);
	}
	return failed;
}

static struct cell cells[NR_CELLS];
static struct worker workers[MAX_THREADS];
static pthread_barrier_t together;

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&together);
	for (unsigned long i = 0; i < w->run->rounds; i++)
		section(w, cells);
	return NULL;
}

unsigned int run_exclusion(const struct run *run, unsigned long *acquired)
{
	pthread_t threads[MAX_THREADS];

	if (run->subject) {
		cells_make(cells, run->subject);
	} else { /* a mixture, not with the broken one */
		for (unsigned int i = 0; i < NR_CELLS; i++) {
			unsigned int which = 1 + (run->seed * NR_CELLS + i * 5) % (nr_subjects - 1);

			cells[i].subject = &subjects[which];
			subjects[which].init(&cells[i].lock);
		}
	}
	workers_make(workers, run);
	pthread_barrier_init(&together, NULL, run->threads);
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_create(&threads[i], NULL, work, &workers[i]);
	for (unsigned int i = 0; i < run->threads; i++) {
		pthread_join(threads[i], NULL);
		*acquired += workers[i].acquired;
	}
	return cells_check(cells, workers, run->threads);
}
