/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.c - see script.h.
 *
 * The threads hand turns over by futexes of their own: not by any lock that the library
 * knows. Must never print while a script runs.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "script.h"

/* Of a script. */
#define MAX_STEPS 40
#define NR_ACTORS 3

/* So long after its deadline a wait is absurdly late, seconds: no machine is as busy. */
#define LATE_S 20
/* Seconds after 1970 that no clock reaches here, and that kernels take: 2223. */
#define FAR_S 8000000000

/* Times each thread acquires the lock before its script: for the look-up caches and page faults. */
#define WARM_UP 3

static const struct {
	const char *name;
	clockid_t id;
} clock_ids[] = {
	{"REALTIME", CLOCK_REALTIME}, {"MONOTONIC", CLOCK_MONOTONIC},
	{"MONOTONIC_RAW", CLOCK_MONOTONIC_RAW}, {"BOOTTIME", CLOCK_BOOTTIME}, {"TAI", CLOCK_TAI},
	{"PROCESS_CPUTIME", CLOCK_PROCESS_CPUTIME_ID}, {"minus-one", -1}, {"unknown", 12345},
};

static const struct {
	const char *name;
	struct timespec time;
} deadlines[] = {
	{"past", {1, 0}}, {"far", {FAR_S, 0}}, {"before-1970", {-1, 0}},
	{"nsec-negative", {FAR_S, -1}}, {"nsec-many", {FAR_S, 1000000000}},
	{"nsec-most", {1, 999999999}}, {"past-nsec-negative", {1, -1}},
};

enum timing { IN_TIME, EARLY, LATE };

struct step {
	char actor;
	char text[64];
	const struct call *call;
	clockid_t clock;
	struct timespec until;
	long ms; /* from now; 0: @until stands */
	bool releases, leaves, is_done, exits, is_silent;
	int answer;
	enum timing timing;
};

struct actor {
	pthread_t thread;
	bool lives;
	struct step *first;
	unsigned int nr;
	bool kept_errno;
	_Alignas(64) uint32_t turn;
	_Alignas(64) uint32_t finished;
};

static struct actor actors[NR_ACTORS];
static struct step steps[MAX_STEPS];
static unsigned int nr_steps;
/* Of the script that runs. */
static const struct family *family;
static struct subject *subject;

static void futex_wait(uint32_t *word, uint32_t value)
{
	/* Acquire pairs with the release of whoever changed it. */
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_raise(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000 + t->tv_nsec;
}

/* A call whose deadline is a time from now, and whether it has waited for it. */
static int run_timed(struct step *step)
{
	struct timespec until, after;
	int64_t ns;
	int err;

	clock_gettime(step->clock, &until);
	ns = ns_of(&until) + step->ms * 1000000;
	until = (struct timespec){ns / 1000000000, ns % 1000000000};
	err = step->call->run(subject, step->clock, &until);
	clock_gettime(step->clock, &after);
	if (err && ns_of(&after) < ns)
		step->timing = EARLY;
	else if (ns_of(&after) > ns + LATE_S * 1000000000ll)
		step->timing = LATE;
	return err;
}

static void turn(struct actor *a)
{
	errno = 77;
	for (unsigned int i = 0; i < a->nr; i++) {
		struct step *step = &a->first[i];

		step->answer = step->ms ? run_timed(step) :
					  step->call->run(subject, step->clock, &step->until);
		if (step->releases && family->took(step->answer))
			family->release(subject);
		if (step->exits)
			pthread_exit(NULL);
	}
	a->kept_errno &= errno == 77;
}

static void *act(void *arg)
{
	struct actor *a = arg;

	for (uint32_t seen = 0;; seen++) {
		futex_wait(&a->turn, seen);
		if (!a->nr)
			return NULL;
		turn(a);
		futex_raise(&a->finished);
	}
}

static int ready(struct subject *s, clockid_t clock, const struct timespec *until)
{
	s->nr_ready++;
	return 0;
}

static int make_real(struct subject *s, clockid_t clock, const struct timespec *until)
{
	syscall(SYS_getppid);
	return 0;
}

static int pause_until(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return clock_nanosleep(clock, TIMER_ABSTIME, until, NULL);
}

static int nothing(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return 0;
}

static const struct call common_calls[] = {
	{"ready", ready}, {"real", make_real}, {"pause", pause_until}, {"exit", nothing},
	{"done", nothing}, {NULL, NULL},
};

static _Noreturn void bad(const char *script, const char *what)
{
	fprintf(stderr, "conform: %s in: %s\n", what, script);
	exit(2);
}

static const struct call *find_call(const struct call *calls, const char *name)
{
	for (; calls->name; calls++)
		if (!strcmp(calls->name, name))
			return calls;
	return NULL;
}

static void parse_argument(struct step *step, const char *word, const char *script)
{
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(clock_ids); i++)
		if (!strcmp(clock_ids[i].name, word)) {
			step->clock = clock_ids[i].id;
			return;
		}
	for (size_t i = 0; i < ARRAY_SIZE(deadlines); i++)
		if (!strcmp(deadlines[i].name, word)) {
			step->until = deadlines[i].time;
			return;
		}
	if (!strcmp(word, "?")) {
		step->releases = true;
	} else if (!strcmp(word, "&")) {
		step->leaves = true;
	} else {
		step->ms = strtol(word + (*word == '+'), &end, 10);
		if (*end || step->ms <= 0)
			bad(script, word);
	}
}

static void parse_step(char *text, const char *script)
{
	struct step *step = &steps[nr_steps++];
	char *rest, *word = strtok_r(text, " ", &rest);

	if (nr_steps == MAX_STEPS || !word || *word < 'A' || *word >= 'A' + NR_ACTORS)
		bad(script, "no thread, or too many steps");
	*step = (struct step){.actor = *word - 'A', .clock = subject->clock, .until = {FAR_S, 0}};
	word = strtok_r(NULL, " ", &rest);
	step->call = word ? find_call(family->calls, word) : NULL;
	step->is_silent = !step->call;
	if (!step->call)
		step->call = word ? find_call(common_calls, word) : NULL;
	if (!step->call)
		bad(script, "an unknown call");
	snprintf(step->text, sizeof(step->text), "%c %s", 'A' + step->actor, word);
	step->is_done = !strcmp(word, "done");
	step->exits = !strcmp(word, "exit");
	while ((word = strtok_r(NULL, " ", &rest))) {
		size_t len = strlen(step->text);

		parse_argument(step, word, script);
		snprintf(step->text + len, sizeof(step->text) - len, " %s", word);
	}
}

static void parse(const char *script)
{
	char *copy = strdup(script), *rest, *text;

	nr_steps = 0;
	for (text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
		parse_step(text, script);
	free(copy);
}

static void tell(struct actor *a, struct step *first, unsigned int nr)
{
	a->first = first;
	a->nr = nr;
	futex_raise(&a->turn);
}

static void await(struct actor *a)
{
	futex_wait(&a->finished, a->turn - 1);
}

static void end(struct actor *a)
{
	pthread_join(a->thread, NULL);
	a->lives = false;
}

static int warm_up(struct subject *s, clockid_t clock, const struct timespec *until)
{
	for (int i = 0, err; i < WARM_UP; i++) {
		err = family->acquire(s);
		if (err)
			return err;
		family->release(s);
	}
	return 0;
}

static const struct call warm_up_call = {"", warm_up};

/* Starts the threads of the script. Return: 0, or why they cannot acquire the lock. */
static int start(void)
{
	int err = 0;

	for (unsigned int i = 0; i < nr_steps; i++) {
		struct actor *a = &actors[(int)steps[i].actor];
		struct step step = {.call = &warm_up_call};

		if (a->lives)
			continue;
		*a = (struct actor){.lives = true, .kept_errno = true};
		if (pthread_create(&a->thread, NULL, act, a))
			bad("", "no thread");
		tell(a, &step, 1);
		await(a);
		err |= step.answer;
	}
	return err;
}

static void end_all(void)
{
	for (int i = 0; i < NR_ACTORS; i++)
		if (actors[i].lives) {
			tell(&actors[i], NULL, 0);
			end(&actors[i]);
		}
}

/* Steps @i and those that are made in the same turn. */
static unsigned int turn_length(unsigned int i)
{
	unsigned int n = 1;

	while (i + n < nr_steps && steps[i + n].actor == steps[i].actor && !steps[i + n].is_done &&
	       !steps[i + n - 1].leaves && !steps[i + n - 1].exits)
		n++;
	return n;
}

static void play(void)
{
	for (unsigned int i = 0, n; i < nr_steps; i += n) {
		struct actor *a = &actors[(int)steps[i].actor];

		n = 1;
		if (steps[i].is_done) {
			await(a);
			continue;
		}
		n = turn_length(i);
		tell(a, &steps[i], n);
		if (steps[i + n - 1].exits)
			end(a);
		else if (!steps[i + n - 1].leaves)
			await(a);
	}
}

static void print(const char *about)
{
	static const char *const timings[] = {"", " before its deadline", " absurdly late"};
	bool kept_errno = true;

	printf("%s %s:", family->name, about);
	for (unsigned int i = 0; i < nr_steps; i++)
		if (steps[i].is_silent)
			printf(" %s;", steps[i].text);
		else
			printf(" %s = %d%s;", steps[i].text, steps[i].answer,
			       timings[steps[i].timing]);
	for (int i = 0; i < NR_ACTORS; i++)
		kept_errno &= actors[i].kept_errno;
	printf("%s\n", kept_errno ? "" : " errno changed");
}

bool script_run(const struct family *f, struct subject *s, const char *about, const char *script)
{
	int refused;

	family = f;
	subject = s;
	parse(script);
	for (int i = 0; i < NR_ACTORS; i++)
		actors[i] = (struct actor){.kept_errno = true};
	refused = start();
	if (!refused)
		play();
	end_all();
	if (refused)
		printf("%s %s: refused %d\n", f->name, about, refused);
	else
		print(about);
	return !refused;
}
