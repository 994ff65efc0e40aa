// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * openmp.c - for how long OpenMP's locks and critical sections are held, and threads wait for them.
 */
#include <omp.h>

#include "truth.h"

#define THREADS 4
#define ROUNDS  40

static omp_lock_t simple;
static omp_nest_lock_t nested;

static struct truth truth_simple = { .name = "simple", .after = { &truth_simple }, .waits = true };
static struct truth truth_nested = { .name = "nested", .after = { &truth_nested }, .waits = true };
static struct truth truth_unnamed = { .name = ".gomp_critical", .after = { &truth_unnamed }, .waits = true };
static struct truth truth_named = { .name = ".gomp_critical_user_mine", .after = { &truth_named },
				    .waits = true };

static void locks(void)
{
	for (int i = 0; i < ROUNDS; i++)
		SECTION(&truth_simple, omp_set_lock(&simple), nap(500 * US), omp_unset_lock(&simple));
#pragma omp barrier
	for (int i = 0; i < ROUNDS; i++)
		SECTION(&truth_nested, (omp_set_nest_lock(&nested), omp_set_nest_lock(&nested)),
			nap(500 * US),
			(omp_unset_nest_lock(&nested), omp_unset_nest_lock(&nested)));
}

static void criticals(void)
{
	struct section s;

	for (int i = 0; i < ROUNDS; i++) {
		section_call(&truth_unnamed, &s);
#pragma omp critical
		{
			section_begun(&truth_unnamed, &s);
			nap(500 * US);
			section_end(&truth_unnamed, &s);
		}
		section_over(&truth_unnamed, &s, now());
	}
#pragma omp barrier
	for (int i = 0; i < ROUNDS; i++) {
		section_call(&truth_named, &s);
#pragma omp critical(mine)
		{
			section_begun(&truth_named, &s);
			nap(500 * US);
			section_end(&truth_named, &s);
		}
		section_over(&truth_named, &s, now());
	}
}

int main(void)
{
	program_begun = now();
	omp_init_lock(&simple);
	omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(THREADS)
	{
		locks();
#pragma omp barrier
		criticals();
	}
	truth_print(&truth_simple);
	truth_print(&truth_nested);
	truth_print(&truth_unnamed);
	truth_print(&truth_named);
	printf("truth names simple,nested,.gomp_critical,.gomp_critical_user_mine\n");
	truth_at();
	return 0;
}
