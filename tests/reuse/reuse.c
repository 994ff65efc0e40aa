/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse.c - reuse [--seed=N] [--threads=N] [--rounds=N] --truth=FILE CASE
 *
 * Locks are destroyed or forgotten, and others are made at their addresses: of another place, kind or
 * process-shared mark. What was locked where is written into FILE, of a forked child into FILE.PID: lines
 * CLASS|KIND|SITE|STATE|ACQUIRED|LOCKS, as a report of the data file must have them; STATE is "off" where
 * nothing may be elided. The same arguments draw the same random numbers in each thread. Exits with 0
 * unless a call fails.
 */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reuse.h"

static struct {
	uint64_t seed;
	unsigned int threads;
	unsigned long rounds;
	const char *truth;
} run = {.seed = 1, .threads = 3};

static struct worker workers[MAX_THREADS];
static volatile bool over; /* ends churn() before its rounds are done */

static void worker_make(unsigned int i, uint64_t seed)
{
	memset(&workers[i], 0, sizeof(workers[i]));
	workers[i].me = i;
	workers[i].random.state = (seed * 64 + i + 1) * 0x9e3779b97f4a7c15ull;
}

/* Blocks of memory of each thread, in a row. */
#define NR_BLOCKS 96

/* Distance of the blocks in bytes: a table of locks may depend on it. */
#define DISTANCE 64

static struct life lives[MAX_THREADS][NR_BLOCKS + NR_NAMED];

static unsigned int nr_own(unsigned int me)
{
	/* The variables are the first thread's. */
	return NR_BLOCKS + (me ? 0 : NR_NAMED);
}

static void lives_make(void)
{
	char *at = aligned_alloc(DISTANCE, MAX_THREADS * NR_BLOCKS * DISTANCE);

	/* On the heap, and not in an object: their classes are named after calls. */
	must(at, "aligned_alloc");
	for (unsigned int t = 0; t < MAX_THREADS; t++) {
		for (unsigned int i = 0; i < NR_BLOCKS; i++, at += DISTANCE)
			lives[t][i] = (struct life){.lock = (void *)at, .named = -1};
		for (int i = 0; i < NR_NAMED && !t; i++)
			lives[t][NR_BLOCKS + i] = (struct life){.lock = named[i], .named = i};
	}
}

static struct life *any_life(struct worker *w)
{
	return &lives[w->me][random_below(&w->random, nr_own(w->me))];
}

/* A life begins, goes on, or ends. Return: it only went on. */
static bool live(struct worker *w, struct life *life)
{
	uint32_t draw = random_below(&w->random, 8);
	bool goes_on = life->alive && draw < 4;

	if (!life->alive)
		life_begin(w, life);
	else if (goes_on)
		life_lock(w, life, life_site(w, life, false));
	else if (draw < 7)
		life_end(life);
	else
		life_forget(life);
	return goes_on;
}

static void step(struct worker *w)
{
	struct life *life = any_life(w);
	bool began = !life->alive;

	live(w, life);
	for (uint32_t n = random_below(&w->random, 3); began && n; n--)
		life_lock(w, life, life_site(w, life, false));
}

static void *churn(void *arg)
{
	struct worker *w = arg;

	for (unsigned long i = 0; i < run.rounds && !over; i++)
		step(w);
	return NULL;
}

/* Steps inside a section. */
#define INSIDE 4

/* What began or ended in the section is locked in it, too. */
static bool same_section;

static void steps_inside(struct worker *w)
{
	const struct life *touched[INSIDE] = {NULL};

	for (uint32_t i = 0, n = 1 + random_below(&w->random, INSIDE); i < n; i++) {
		struct life *life = any_life(w);
		bool again = false;

		if (same_section) {
			step(w);
			continue;
		}
		for (uint32_t j = 0; j < i; j++)
			again |= touched[j] == life;
		if (!again && !live(w, life))
			touched[i] = life;
	}
}

/* As churn(), in sections of another lock, which may be elided with all that is in them. */
static void *churn_inside(void *arg)
{
	struct life outer = {.lock = malloc(sizeof(union any_lock)), .named = -1};
	struct worker *w = arg;

	must(outer.lock, "malloc");
	life_begin_at(w, &outer, PLACE_outer, false);
	for (unsigned long i = 0; i < run.rounds; i++) {
		sites[SITE_outer].lock(outer.lock);
		locked_counted(w, &outer, SITE_outer);
		w->inside = true;
		steps_inside(w);
		w->inside = false;
		sites[SITE_outer].unlock(outer.lock);
		step(w);
	}
	life_end(&outer);
	free(outer.lock);
	return NULL;
}

static void start(pthread_t *threads, void *(*body)(void *), unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++)
		must(!pthread_create(&threads[i], NULL, body, &workers[i]), "pthread_create");
}

static void join(const pthread_t *threads, unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++)
		must(!pthread_join(threads[i], NULL), "pthread_join");
}

static void in_threads(void *(*body)(void *))
{
	pthread_t threads[MAX_THREADS];

	start(threads, body, 0, run.threads);
	join(threads, 0, run.threads);
}

static void case_own(void)
{
	in_threads(churn);
}

static void case_inside(void)
{
	in_threads(churn_inside);
}

static void case_same_section(void)
{
	same_section = true;
	in_threads(churn_inside);
}

/*
 * Locks that go from hand to hand: one thread initialises, each of them locks, one locks it once more, and
 * another one destroys it. Stage S of a lock is thread S % N's, but for that in which all of them lock.
 */
#define NR_HANDED 48

static struct handed {
	struct life life;
	enum site_id site; /* at which all lock it: a lock has no class before */
	uint32_t to_lock;     /* threads that have not locked it yet; atomic */
	uint32_t stage;    /* atomic: release when it is over, acquire before the next */
} __attribute__((aligned(64))) handed[NR_HANDED];

enum stage { BEGIN, ALL, ONCE, END, NR_STAGES };

static void stage_over(struct handed *h)
{
	__atomic_add_fetch(&h->stage, 1, __ATOMIC_RELEASE);
}

/* What all of them do: false if this thread has done it. *@met: the last stage in which it did. */
static bool lock_with_others(struct worker *w, struct handed *h, uint32_t stage, uint32_t *met)
{
	if (*met == stage)
		return false;
	*met = stage;
	sites[h->site].lock(h->life.lock);
	locked_counted(w, &h->life, h->site);
	sites[h->site].unlock(h->life.lock);
	if (!__atomic_sub_fetch(&h->to_lock, 1, __ATOMIC_ACQ_REL))
		stage_over(h);
	return true;
}

static void one_stage(struct worker *w, struct handed *h, uint32_t stage)
{
	switch (stage % NR_STAGES) {
	case BEGIN:
		life_begin(w, &h->life);
		h->site = life_site(w, &h->life, true);
		if (h->life.class == NO_CLASS)
			life_counted(w, &h->life, CLASS_FIRST + (int)h->site);
		WRITE_ONCE(h->to_lock, run.threads);
		break;
	case ONCE:
		life_lock(w, &h->life, life_site(w, &h->life, false));
		break;
	default:
		if (random_below(&w->random, 4))
			life_end(&h->life);
		else
			life_forget(&h->life);
	}
	stage_over(h);
}

static void *hand_over(void *arg)
{
	uint32_t last = run.rounds * NR_STAGES, met[NR_HANDED] = {0};
	struct worker *w = arg;
	unsigned int done;

	do {
		bool idle = true;

		done = 0;
		for (unsigned int i = 0; i < NR_HANDED; i++) {
			struct handed *h = &handed[i];
			uint32_t stage = __atomic_load_n(&h->stage, __ATOMIC_ACQUIRE);

			done += stage == last;
			if (stage == last)
				continue;
			if (stage % NR_STAGES == ALL) {
				idle &= !lock_with_others(w, h, stage, &met[i]);
			} else if ((stage + i) % run.threads == w->me) {
				one_stage(w, h, stage);
				idle = false;
			}
		}
		if (idle)
			sched_yield();
	} while (done < NR_HANDED);
	return NULL;
}

static void case_hand(void)
{
	for (unsigned int i = 0; i < NR_HANDED; i++)
		handed[i].life = lives[0][i];
	in_threads(hand_over);
}

/*
 * Of some locks of a class one has sections that no transaction survives, so that the library has a state for
 * it alone; a lock of another class has its address afterwards.
 */
#define NR_HOT    8
#define HOT_TURNS 64
#define HOT_ROW   16 /* of one lock, before the next one's turn */

static void hot_turn(struct worker *w, struct life *life, bool call)
{
	sites[SITE_mutex_1].lock(life->lock);
	if (call)
		syscall(SYS_getppid);
	locked_counted(w, life, SITE_mutex_1);
	sites[SITE_mutex_1].unlock(life->lock);
}

static void *be_hot(void *arg)
{
	struct worker *w = arg;
	struct life *own = lives[w->me];

	for (int i = 0; i < NR_HOT; i++)
		life_begin_at(w, &own[i], PLACE_plain_1, false);
	for (unsigned long i = 0; i < run.rounds; i++) {
		struct life *hot = &own[random_below(&w->random, NR_HOT)];

		for (int n = 0; n < NR_HOT * HOT_TURNS; n++)
			hot_turn(w, &own[n / HOT_ROW % NR_HOT], &own[n / HOT_ROW % NR_HOT] == hot);
		if (random_below(&w->random, 2))
			life_end(hot);
		else
			life_forget(hot);
		life_begin(w, hot);
		for (int n = 0; n < HOT_TURNS; n++)
			life_lock(w, hot, life_site(w, hot, false));
		life_end(hot);
		life_begin_at(w, hot, PLACE_plain_1, false);
	}
	for (int i = 0; i < NR_HOT; i++)
		life_end(&own[i]);
	return NULL;
}

static void case_hot(void)
{
	in_threads(be_hot);
}

/* The locks alive go from none to @rounds and are all met again, while other threads churn. */
static void *grow(void *arg)
{
	struct worker *w = arg;
	char *memory = aligned_alloc(DISTANCE, run.rounds * DISTANCE);
	struct life *all = calloc(run.rounds, sizeof(*all));

	must(memory && all, "memory");
	for (unsigned long i = 0; i < run.rounds; i++) {
		all[i] = (struct life){.lock = (void *)(memory + i * DISTANCE), .named = -1};
		if (i % 3)
			life_begin_at(w, &all[i], PLACE_grown_1, false);
		else
			life_begin_static(w, &all[i], MUTEX);
		life_lock(w, &all[i], SITE_grown_1);
		if (i % 16 == 15)
			life_lock(w, &all[random_below(&w->random, i)], SITE_grown_2);
	}
	for (unsigned long i = 0; i < run.rounds; i++) {
		if (i % 4 == 1 || i % 4 == 2)
			life_end(&all[i]);
		if (i % 4 == 1)
			life_begin_static(w, &all[i], MUTEX);
		else if (i % 4 == 2)
			life_begin_at(w, &all[i], PLACE_grown_2, false);
		else if (i % 4 == 3)
			life_begin_at(w, &all[i], PLACE_grown_3, false);
		life_lock(w, &all[i], all[i].shape == RWLOCK ? SITE_grown_3 : SITE_grown_2);
	}
	free(all);
	over = true;
	return NULL;
}

static void case_grow(void)
{
	pthread_t threads[MAX_THREADS];

	start(threads, grow, 0, 1);
	start(threads, churn, 1, run.threads - 1);
	join(threads, 0, run.threads);
}

/* In a child of fork() only the calling thread is there, and only what it does is counted. */
static void child(uint64_t seed)
{
	char *path;
	pthread_t threads[MAX_THREADS];

	must(asprintf(&path, "%s.%d", run.truth, (int)getpid()) > 0, "asprintf");
	for (unsigned int i = 0; i < run.threads; i++) {
		worker_make(i, seed);
		for (unsigned int n = 0; i && n < nr_own(i); n++) {
			/* Its thread may have been anywhere. */
			lives[i][n].alive = false;
			lives[i][n].dirty = true;
		}
	}
	run.rounds /= 8;
	start(threads, churn, 1, run.threads - 1);
	churn(&workers[0]);
	join(threads, 1, run.threads - 1);
	truth_write(path, workers, run.threads);
	free(path);
	exit(0);
}

#define NR_FORKS 6

static void case_fork(void)
{
	const unsigned long rounds = run.rounds;
	pthread_t threads[MAX_THREADS];
	int status;

	start(threads, churn, 1, run.threads - 1);
	for (int i = 0; i < NR_FORKS; i++) {
		pid_t pid;

		for (unsigned long n = 0; n < rounds / NR_FORKS; n++)
			step(&workers[0]);
		pid = fork();
		if (!pid)
			child(run.seed * 100 + i);
		must(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "a child");
	}
	join(threads, 1, run.threads - 1);
}

static const struct {
	const char *name;
	void (*run)(void);
	unsigned long rounds;
} cases[] = {
	{"own", case_own, 100000},      /* steps of each thread, at its own addresses */
	{"inside", case_inside, 20000}, /* sections of each thread, with steps inside */
	{"same-section", case_same_section, 20000}, /* what begins in them is locked in them */
	{"hand", case_hand, 1000},      /* lives of each lock, which goes from thread to thread */
	{"hot", case_hot, 20},         /* locks of each thread that have states of their own */
	{"grow", case_grow, 200000},   /* locks, while other threads are at their own */
	{"fork", case_fork, 100000},    /* steps of each thread of the parent */
};

static const struct option options[] = {
	{"seed", required_argument, NULL, 's'},
	{"threads", required_argument, NULL, 't'},
	{"rounds", required_argument, NULL, 'r'},
	{"truth", required_argument, NULL, 'o'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	int c, which = -1;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			run.seed = strtoull(optarg, NULL, 10);
		else if (c == 't')
			run.threads = strtoul(optarg, NULL, 10);
		else if (c == 'r')
			run.rounds = strtoul(optarg, NULL, 10);
		else if (c == 'o')
			run.truth = optarg;
		else
			return 2;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		if (optind == argc - 1 && !strcmp(argv[optind], cases[i].name))
			which = i;
	if (which < 0 || !run.truth || run.threads < 2 || run.threads > MAX_THREADS)
		return 2;
	if (!run.rounds)
		run.rounds = cases[which].rounds;
	calls_start();
	lives_make();
	for (unsigned int i = 0; i < run.threads; i++)
		worker_make(i, run.seed);
	cases[which].run();
	truth_write(run.truth, workers, run.threads);
	return 0;
}
