/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.c - places and sites, each a function; the lives of locks, and what is counted of them.
 */
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/rtm.h"
#include "reuse.h"

static pthread_mutexattr_t recursive, adaptive, shared_mutex;
static pthread_rwlockattr_t shared_rwlock;

static union any_lock named_0, named_1, named_2, named_3;
union any_lock *const named[NR_NAMED] = {&named_0, &named_1, &named_2, &named_3};

void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(2);
}

void calls_start(void)
{
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_init(&adaptive);
	pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutexattr_init(&shared_mutex);
	pthread_mutexattr_setpshared(&shared_mutex, PTHREAD_PROCESS_SHARED);
	pthread_rwlockattr_init(&shared_rwlock);
	pthread_rwlockattr_setpshared(&shared_rwlock, PTHREAD_PROCESS_SHARED);
}

static const pthread_mutexattr_t *mutex_of(bool shared)
{
	return shared ? &shared_mutex : NULL;
}

static const pthread_rwlockattr_t *rwlock_of(bool shared)
{
	return shared ? &shared_rwlock : NULL;
}

/* Each function differs, or the compiler would make one of two; nor is the call its last. */
#define OWN(number) __asm__ volatile("" : : "i"(number) : "memory")

#define PLACE(name, shape, mark, call)                                  \
	static __noinline void place_##name(union any_lock *l, bool shared) \
	{                                                               \
		int err = call;                                         \
									\
		OWN(PLACE_##name);                                      \
		must(!err, "place_" #name);                             \
	}
PLACES(PLACE)
#undef PLACE

const struct place places[NR_PLACES] = {
#define PLACE(name, shape, mark, call) [PLACE_##name] = {shape, mark, place_##name},
	PLACES(PLACE)
#undef PLACE
};

#define SITE(name, shape, kind, lock, unlock, type)                     \
	static __noinline void at_##name(union any_lock *l)             \
	{                                                               \
		int err = lock(type);                                   \
									\
		OWN(SITE_##name);                                       \
		must(!err, "at_" #name);                                \
	}                                                               \
	static __noinline void left_##name(union any_lock *l)           \
	{                                                               \
		int err = unlock(type);                                 \
									\
		OWN(SITE_##name);                                       \
		must(!err, "left_" #name);                              \
	}
SITES(SITE)
#undef SITE

const struct site sites[NR_SITES] = {
#define SITE(name, shape, kind, lock, unlock, type) [SITE_##name] = {shape, at_##name, left_##name},
	SITES(SITE)
#undef SITE
};

uint32_t random_below(struct random *r, uint32_t limit)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (r->state * 0x2545f4914f6cdd1dull >> 32) % limit;
}

/* A class has locks of one kind: a mtx_t is a mutex. */
static unsigned long *lives_of(struct worker *w, const struct life *life)
{
	return &w->truth.lives[life->class][life->shared][life->shape == MTX ? MUTEX : life->shape];
}

void life_counted(struct worker *w, struct life *life, int class)
{
	life->class = life->named >= 0 ? CLASS_NAMED + life->named : class;
	++*lives_of(w, life);
}

static void begin(struct life *life, enum shape shape, bool shared)
{
	life->shape = shape;
	life->class = NO_CLASS;
	life->shared = shared;
	life->alive = true;
	life->dirty = false;
}

void life_begin_at(struct worker *w, struct life *life, enum place_id place, bool shared)
{
	begin(life, places[place].shape, shared);
	places[place].init(life->lock, shared);
	life_counted(w, life, place);
}

void life_begin_static(struct worker *w, struct life *life, enum shape shape)
{
	static const union any_lock mutex = {.mutex = PTHREAD_MUTEX_INITIALIZER},
		again = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP},
		rwlock = {.rwlock = PTHREAD_RWLOCK_INITIALIZER};

	/* Who locks it first makes it known: until then it has no class. */
	begin(life, shape, false);
	*life->lock = shape == RWLOCK ? rwlock : random_below(&w->random, 2) ? mutex : again;
}

void life_begin(struct worker *w, struct life *life)
{
	uint32_t draw = random_below(&w->random, NR_COMMON_PLACES * 3 / 2 + 3);

	/* Nobody can know that another lock is in the memory of one that was not destroyed. */
	if (!life->dirty && draw >= NR_COMMON_PLACES + 3) {
		life_begin_static(w, life, draw % 2 ? MUTEX : RWLOCK);
		return;
	}
	draw %= NR_COMMON_PLACES + 3;
	if (draw >= NR_COMMON_PLACES)
		life_begin_at(w, life, PLACE_either_1 + draw - NR_COMMON_PLACES,
			      random_below(&w->random, 2));
	else
		life_begin_at(w, life, draw, places[draw].shared);
}

static bool can_elide(void)
{
	static int can = -1;
	unsigned int a, b, c, d;

	if (can < 0)
		can = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_RTM;
	return can;
}

void locked_counted(struct worker *w, const struct life *life, enum site_id site)
{
	w->truth.locked[life->class][life->shared][site]++;
	if (life->shared && !w->inside && can_elide() && rtm_test())
		w->truth.wrong[life->shape]++;
}

void life_lock(struct worker *w, struct life *life, enum site_id site)
{
	sites[site].lock(life->lock);
	if (life->class == NO_CLASS)
		life_counted(w, life, CLASS_FIRST + (int)site);
	locked_counted(w, life, site);
	sites[site].unlock(life->lock);
}

enum site_id life_site(struct worker *w, const struct life *life, bool waits)
{
	enum site_id site;

	do
		site = random_below(&w->random, NR_COMMON_SITES);
	while (sites[site].shape != life->shape ||
	       (waits && (site == SITE_mutex_try || site == SITE_write_try)));
	return site;
}

static void destroy(struct life *life)
{
	union any_lock *l = life->lock;

	switch (life->shape) {
	case MUTEX:
		must(!pthread_mutex_destroy(&l->mutex), "pthread_mutex_destroy");
		break;
	case RWLOCK:
		must(!pthread_rwlock_destroy(&l->rwlock), "pthread_rwlock_destroy");
		break;
	case SPIN:
		must(!pthread_spin_destroy(&l->spin), "pthread_spin_destroy");
		break;
	case MTX:
		mtx_destroy(&l->mtx);
		break;
	default:
		must(!sem_destroy(&l->sem), "sem_destroy");
	}
}

void life_end(struct life *life)
{
	destroy(life);
	/* As an allocator does that puts what it needs into free memory. */
	memset(life->lock, 0xa5, sizeof(*life->lock));
	life->alive = false;
}

void life_forget(struct life *life)
{
	memset(life->lock, 0x5a, sizeof(*life->lock));
	life->alive = false;
	/* What was never locked nor initialised by a call is not known to anybody. */
	life->dirty = life->dirty || life->class != NO_CLASS;
}

/* Does the call of a site come first in the program's code? */
static bool comes_before(int a, int b)
{
	return (uintptr_t)sites[a].lock < (uintptr_t)sites[b].lock;
}

/*
 * Locks without an initialisation have the class of the call that locked them first. If one call has locked
 * locks of two such classes, chance decides which of them a lock gets: the report has one for both, and names
 * it by the first call in the code.
 */
static void join_first(struct truth *sum)
{
	int name[NR_SITES];
	bool again = true;

	for (int i = 0; i < NR_SITES; i++)
		name[i] = i;
	while (again) {
		again = false;
		for (int i = 0; i < NR_SITES; i++)
			for (int j = 0; j < NR_SITES; j++) {
				int least = comes_before(name[i], name[j]) ? name[i] : name[j];

				if (!sum->locked[CLASS_FIRST + i][0][j] || name[i] == name[j])
					continue;
				name[i] = name[j] = least;
				again = true;
			}
	}
	for (int i = 0; i < NR_SITES; i++) {
		int from = CLASS_FIRST + i, to = CLASS_FIRST + name[i];

		for (int j = 0; j < NR_SITES && to != from; j++)
			sum->locked[to][0][j] += sum->locked[from][0][j];
		for (int j = 0; j < NR_SHAPES && to != from; j++)
			sum->lives[to][0][j] += sum->lives[from][0][j];
		if (to != from) {
			memset(sum->locked[from], 0, sizeof(sum->locked[from]));
			memset(sum->lives[from], 0, sizeof(sum->lives[from]));
		}
	}
}

static void class_write(FILE *f, int class)
{
	static const char *const names[] = {
#define PLACE(name, shape, mark, call) [PLACE_##name] = "made in place_" #name,
		PLACES(PLACE)
#undef PLACE
#define SITE(name, shape, kind, lock, unlock, type) [CLASS_FIRST + SITE_##name] = "used in at_" #name,
		SITES(SITE)
#undef SITE
	};

	/* The parameter of the sites has one rwlock, but two kinds of mutexes. */
	if (class >= CLASS_FIRST && class < CLASS_NAMED && sites[class - CLASS_FIRST].shape == RWLOCK)
		fputs("any_lock::rwlock", f);
	else if (class < CLASS_NAMED)
		fputs(names[class], f);
	else
		fprintf(f, "named_%d", class - CLASS_NAMED);
}

void truth_write(const char *path, const struct worker *workers, unsigned int nr)
{
	static const char *const kinds[] = {
#define SITE(name, shape, kind, lock, unlock, type) [SITE_##name] = kind "|at_" #name,
		SITES(SITE)
#undef SITE
	};
	static const char *const shapes[] = {"mutex", "rwlock", "spinlock", "mtx_t", "semaphore"};
	static struct truth sum;
	FILE *f = fopen(path, "we");

	must(f, path);
	memset(&sum, 0, sizeof(sum));
	for (unsigned int i = 0; i < nr; i++) {
		const unsigned long *locked = &workers[i].truth.locked[0][0][0];
		const unsigned long *lives = &workers[i].truth.lives[0][0][0];

		for (size_t j = 0; j < sizeof(sum.locked) / sizeof(*locked); j++)
			(&sum.locked[0][0][0])[j] += locked[j];
		for (size_t j = 0; j < sizeof(sum.lives) / sizeof(*lives); j++)
			(&sum.lives[0][0][0])[j] += lives[j];
	}
	join_first(&sum);
	for (int shape = 0; shape < NR_SHAPES; shape++) {
		unsigned long wrong = 0;

		for (unsigned int i = 0; i < nr; i++)
			wrong += workers[i].truth.wrong[shape];
		if (wrong)
			fprintf(stderr, "%lu acquisitions of a process-shared %s were elided\n", wrong,
				shapes[shape]);
	}
	for (int class = 0; class < NR_CLASSES; class++)
		for (int shared = 0; shared < 2; shared++)
			for (int site = 0; site < NR_SITES; site++) {
				enum shape shape = sites[site].shape == MTX ? MUTEX : sites[site].shape;
				unsigned long locked = sum.locked[class][shared][site];
				unsigned long lives = sum.lives[class][shared][shape];

				if (!locked)
					continue;
				class_write(f, class);
				fprintf(f, "|%s|%s|%lu|%lu\n", kinds[site], shared ? "off" : "on", locked,
					lives);
			}
	must(!fclose(f), path);
}
