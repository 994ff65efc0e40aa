// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_trial.c - what lib/adapt/{measure,trial}.c measure with clocks that differ, jump and run backwards.
 *
 * The threads are simulated, in a time of the test's own; the clock that trial.c reads is that time
 * plus an offset. With any offset the adaptive policy must choose the best arm. Must never read the
 * machine's clock: every run is the same.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/section/engine.h"
#include "../../lib/evidence/decisions.h"
#include "../../lib/adapt/trial.h"
#include "../../lib/adapt/giveup.h"
#include "../../lib/adapt/measure.h"
#include "../../lib/rtm.h"

static unsigned long long fake_cycles(void);
static struct elide_thread *fake_threads(void);
static void fake_chose(uint32_t class_index, uint64_t lock, const void *site,
		       enum elide_kind kind, const struct learn_decision *decision);

/* Of one lock. */
static const struct elide_class *fake_class(uint32_t class_index)
{
	static const struct elide_class class = {.nr_locks = 1};

	(void)class_index;
	return &class;
}

#define cycles_now           fake_cycles
#define elide_threads_all    fake_threads
#define elide_evidence_chose fake_chose
#define elide_class_info     fake_class
/* Never in a transaction: a processor without RTM does not know the instruction. */
#undef rtm_test
#define rtm_test() 0
#include "../../lib/adapt/clock.c"
#include "../../lib/adapt/trial.c"
#include "../../lib/adapt/measure.c"
#include "../../lib/adapt/giveup.c"
#include "../../lib/adapt/hotlock.c"

/* The engine itself does nothing here. */
__attribute__((constructor(101))) static void environment(void)
{
	setenv("ELIDE_MODE", "off", 1);
}

#define MS         (1000 * LEARN_US)
#define NR_THREADS 4
#define SEEDS      3

/* Lengths of a section, by how it is treated, and the most that is between two. */
#define SHORT_NS 200
#define LONG_NS  700
#define REST_NS  100

static const char site[1];

/**
 * struct world - a class of locks with one call site, and its threads.
 * @threads: blocks of the threads
 * @rows:    row of the call, by thread
 * @at:      time of each thread, ns
 * @off:     offset of each thread's clock, ns
 * @running: the thread that runs
 * @eliding, @real: length of an elided section, and of a locked one, ns
 * @class_index: index of the class, a new one in each run
 * @wrong:   decisions for the slower arm
 * @decisions: all decisions
 */
static struct world {
	struct elide_thread *threads[NR_THREADS];
	struct elide_row rows[NR_THREADS];
	uint64_t at[NR_THREADS];
	uint64_t off[NR_THREADS];
	unsigned int running;
	uint64_t eliding, real;
	uint32_t class_index;
	unsigned int wrong;
	unsigned int decisions;
	uint64_t seed;
} w;

static uint64_t draw(void)
{
	w.seed = w.seed * 6364136223846793005ull + 1442695040888963407ull;
	return w.seed >> 33;
}

/* At the 3 GHz that clock.c assumes until adapt_clock() is called. */
static unsigned long long fake_cycles(void)
{
	return (w.at[w.running] + w.off[w.running]) * 3;
}

static struct elide_thread *fake_threads(void)
{
	return w.threads[0];
}

static void fake_chose(uint32_t class_index, uint64_t lock, const void *of,
		       enum elide_kind kind, const struct learn_decision *d)
{
	bool better = d->arm == POLICY_ARM_real ? w.real < w.eliding : w.eliding < w.real;

	w.decisions++;
	w.wrong += d->won && !better && (d->arm == POLICY_ARM_real) != (d->before == POLICY_ARM_real);
}

static void begin(uint64_t seed, uint64_t eliding, uint64_t real)
{
	uint32_t class_index = w.class_index + 1;

	for (unsigned int i = 0; i < NR_THREADS; i++)
		free(w.threads[i]);
	w = (struct world){
		.seed = seed, .eliding = eliding, .real = real, .class_index = class_index};
	for (unsigned int i = NR_THREADS; i--;) {
		w.threads[i] = aligned_alloc(64, sizeof(*w.threads[i]));
		assert_non_null(w.threads[i]);
		memset(w.threads[i], 0, sizeof(*w.threads[i]));
		w.threads[i]->next = i + 1 < NR_THREADS ? w.threads[i + 1] : NULL;
		w.rows[i].kind = ELIDE_KIND_MUTEX;
		w.rows[i].site = (uintptr_t)site;
		w.at[i] = 1000000 * MS + draw() % 1000;
		w.rows[i].class_index = class_index;
		w.threads[i]->seed = i + 1;
		w.threads[i]->calls[1].row = &w.rows[i];
		adapt_attach(w.threads[i], &w.threads[i]->calls[1]);
	}
}

static bool is_next(unsigned int thread)
{
	w.running = thread;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		if (w.at[i] < w.at[thread])
			return false;
	return true;
}

/* A section of the thread whose time is least. */
static void section(void)
{
	struct elide_thread *t;
	uint8_t arm;

	for (unsigned int i = 0; !is_next(i);)
		i++;
	t = w.threads[w.running];
	arm = adapt_arm(t, &t->calls[1]);
	w.at[w.running] += (arm == POLICY_ARM_real ? w.real : w.eliding) + draw() % REST_NS;
}

static uint64_t now(void)
{
	uint64_t least = w.at[0];

	for (unsigned int i = 1; i < NR_THREADS; i++)
		if (w.at[i] < least)
			least = w.at[i];
	return least;
}

static uint64_t run_for(uint64_t ns)
{
	uint64_t end = now() + ns, nr = 0;

	for (; now() < end; nr++)
		section();
	return nr;
}

static bool elides_now(void)
{
	return learn_arm(&adapt_classes[w.threads[0]->calls[1].adapt_nr].learn, 0) !=
	       POLICY_ARM_real;
}

/* It has come to the best, and of 20 ms hardly anything is lost. */
static void expect_best(const char *what, uint64_t seed)
{
	uint64_t best = w.eliding < w.real ? w.eliding : w.real, nr, most;

	nr = run_for(20 * MS);
	most = NR_THREADS * 20 * MS / (best + REST_NS / 2);
	if (nr >= most * 95 / 100 && w.wrong == 0)
		return;
	print_error("%s, seed %lu: %lu of %lu sections, %u of %u decisions wrong, it %s\n", what,
		    (unsigned long)seed, (unsigned long)nr, (unsigned long)most, w.wrong,
		    w.decisions, elides_now() ? "elides" : "does not");
	fail();
}

/* What is done to the clocks now and then. */


static void nothing(void)
{
}

/* Each processor's clock is within 5 us of the others', and threads move between them. */
static void migrate(void)
{
	w.off[draw() % NR_THREADS] = draw() % (5 * LEARN_US);
}

static void jump_forth(void)
{
	uint64_t by = draw() % (3600000 * MS);

	for (unsigned int i = 0; i < NR_THREADS; i++)
		w.off[i] += by;
}

/* Less than what has gone by at all, so that it does not pass zero. */
static void jump_back(void)
{
	uint64_t by = draw() % (200 * MS);

	for (unsigned int i = 0; i < NR_THREADS; i++)
		w.off[i] -= by;
}

static void jump_both_ways(void)
{
	if (draw() % 2)
		jump_forth();
	else
		jump_back();
}

/* One processor's alone, which stays so: by up to 2 s. */
static void jump_of_one(void)
{
	w.off[draw() % NR_THREADS] = (uint64_t)0 - draw() % (2000 * MS);
}

/* Cycles in 1/1024 of what a number holds: time begins anew. */
static void go_round(void)
{
	uint64_t end = UINT64_MAX / scale / 3;

	for (unsigned int i = 0; i < NR_THREADS; i++)
		w.off[i] = end - now() - 500 * LEARN_US;
}

static const uint64_t lengths[][2] = {{SHORT_NS, LONG_NS}, {LONG_NS, SHORT_NS}};

static void check(const char *what, void (*between)(void), unsigned int every_us)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
			begin(seed, lengths[i][0], lengths[i][1]);
			for (unsigned int us = 0; us < 60000; us += every_us) {
				run_for(every_us * LEARN_US);
				between();
			}
			expect_best(what, seed);
		}
}

static void steady(void **state)
{
	check("steady", nothing, 1000);
	assert_true(w.decisions > 0);
}

static void threads_move_between_processors(void **state)
{
	check("migration", migrate, 300);
}

/* The first threads run by a clock that is @by nanoseconds off. */
static void check_apart(unsigned int nr, uint64_t by)
{
	char what[64];

	snprintf(what, sizeof(what), "%u clocks %+.3f us apart", nr, (double)(int64_t)by / LEARN_US);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		begin(i + 1, lengths[i][0], lengths[i][1]);
		for (unsigned int j = 0; j < nr; j++)
			w.off[j] = by;
		run_for(40 * MS);
		expect_best(what, i + 1);
		assert_true(w.decisions > 0);
	}
}

static void clocks_of_processors_differ(void **state)
{
	for (unsigned int nr = 1; nr < NR_THREADS; nr++)
		for (uint64_t by = 100; by <= 10000 * MS; by *= 10) {
			check_apart(nr, by);
			check_apart(nr, 0 - by);
		}
}

static void the_clock_jumps(void **state)
{
	check("forth", jump_forth, 1000);
	check("back", jump_back, 1000);
	check("both ways", jump_both_ways, 1000);
	check("of one", jump_of_one, 5000);
}

static void the_clock_goes_round(void **state)
{
	check("round", go_round, 2000);
}

/* A flush that the clock says came before the last: nothing is divided by the time between. */
static void a_report_before_the_last(void **state)
{
	struct adapt_thread *adapt;

	begin(1, SHORT_NS, LONG_NS);
	adapt = w.threads[0]->calls[1].adapt;
	run_for(MS);
	for (uint64_t back = 0; back < 8; back++) {
		while (adapt->countdown > 1 || !is_next(0))
			section();
		while (adapt_now() < adapt->start - back)
			w.off[0]++;
		while (adapt_now() > adapt->start - back)
			w.off[0]--;
		section();
		assert_in_range(adapt->countdown, 1, FLUSH_MOST);
	}
}

/* Probes in 50 ms of a site that has no hope. @waits: sections of ten that wait for a condition. */
static unsigned int probes(unsigned int waits)
{
	unsigned int nr = 0;

	begin(1, LONG_NS, LONG_NS);
	run_for(2 * MS);
	learn_unelidable(&adapt_classes[w.threads[0]->calls[1].adapt_nr].learn, 0, adapt_now());
	adapt_class_publish(&adapt_classes[w.threads[0]->calls[1].adapt_nr]);
	for (uint64_t end = now() + 50 * MS, i = 0; now() < end; i++) {
		struct elide_call *call;
		uint8_t arm;

		for (unsigned int j = 0; !is_next(j);)
			j++;
		call = &w.threads[w.running]->calls[1];
		arm = adapt_arm(w.threads[w.running], call);
		if (arm == POLICY_ARM_real)
			counter_add(call->row->not_attempted, 1);
		call->waits += i % 10 < waits;
		if (arm == POLICY_ARM_probe) {
			nr++;
			call->probing = 0;
			learn_probed(&adapt_classes[call->adapt_nr].learn, 0, LEARN_FAILED,
				     adapt_now());
		}
		w.at[w.running] += LONG_NS;
	}
	return nr;
}

/* Where most sections wait for a condition, it is known without a probe that there is no hope. */
static void what_waits_is_not_probed(void **state)
{
	assert_true(probes(0) > 5);
	assert_true(probes(3) > 5);
	assert_int_equal(probes(8), 0);
}

/**
 * struct without_cause - sections that abort without a cause.
 * @every: one section of that number
 * @call:  it makes a system call, so that a further attempt aborts, too; if not, one in eight does
 */
struct without_cause {
	unsigned int every;
	bool call;
};

/* Further attempts after such aborts of @nr sections. */
static unsigned int chances(unsigned int nr, struct without_cause w_c)
{
	struct elide_call *call;
	unsigned int made = 0;
	uint32_t lock = 0;

	begin(1, LONG_NS, LONG_NS);
	run_for(MS);
	call = &w.threads[0]->calls[1];
	for (unsigned int i = 1; i <= nr * w_c.every; i++) {
		struct policy_attempts try = {.arm = POLICY_ARM_keen};

		if (i % w_c.every) {
			call->row->commits++;
			continue;
		}
		call->row->causes[ELIDE_CAUSE_other]++;
		adapt_aborted(call, &try, ELIDE_CAUSE_other);
		made += try.again;
		if (try.again && !w_c.call && i / w_c.every % 8) {
			call->row->commits++;
			continue;
		}
		try.other = 1;
		try.persistent = w_c.call;
		adapt_fell_back(call, &lock, &try);
	}
	return made;
}

/*
 * After an interrupt the section is tried once more; after system calls that is given up soon, and
 * where every fourth section aborts it is none.
 */
static void interrupts_differ_from_system_calls(void **state)
{
	struct policy_attempts try = {.arm = POLICY_ARM_keen};

	assert_in_range(chances(1000, (struct without_cause){50, false}), 700, 1000);
	assert_in_range(chances(1000, (struct without_cause){50, true}), 10, 80);
	assert_in_range(chances(1000, (struct without_cause){4, false}), 0, 5);
	begin(1, LONG_NS, LONG_NS);
	run_for(MS);
	/* What others are to blame for is none of that. */
	adapt_aborted(&w.threads[0]->calls[1], &try, ELIDE_CAUSE_conflict);
	assert_false(try.again);
}

/* Three acquisitions without hope; between two of them one that @counter counts, if any. */
static bool is_hopeless_after(uint64_t *counter)
{
	struct policy_attempts try = {
		.arm = POLICY_ARM_keen, .attempts = 1, .other = 1, .persistent = true};
	struct elide_call *call = &w.threads[0]->calls[1];
	uint32_t lock = 0;

	for (int i = 0; i < 3; i++) {
		if (counter)
			++*counter;
		adapt_fell_back(call, &lock, &try);
	}
	return adapt_classes[call->adapt_nr].learn.sites[0].unelidable;
}

/* What has not been tried in between does not make a row of those that have failed. */
static void unelidable_is_three_in_a_row(void **state)
{
	begin(1, LONG_NS, LONG_NS);
	run_for(MS);
	assert_false(is_hopeless_after(&w.rows[0].commits));
	assert_false(is_hopeless_after(&w.rows[0].not_attempted));
	assert_true(is_hopeless_after(NULL));
}

/* Three in a row are chance where the other threads elide at that site. */
static void unelidable_is_what_no_thread_elides(void **state)
{
	begin(1, LONG_NS, LONG_NS);
	run_for(MS);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		w.threads[i]->nr_calls = 1;
	w.rows[1].commits += 1000;
	assert_false(is_hopeless_after(NULL));
	/* The row goes on, and by then the others elide no more. */
	for (int i = 0; i < 3; i++)
		w.rows[1].fallback++;
	assert_false(is_hopeless_after(NULL)); /* its credit is not used up */
	for (int i = 0; i < 2; i++)
		is_hopeless_after(NULL);
	assert_true(is_hopeless_after(NULL));
}

/* What releases a lock that was locked before it is locked, too, though every other section commits. */
static void hand_over_hand_is_unelidable(void **state)
{
	begin(1, LONG_NS, LONG_NS);
	run_for(MS);
	w.rows[0].causes[ELIDE_CAUSE_unelidable] = 3;
	assert_true(is_hopeless_after(&w.rows[0].commits));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady),
		cmocka_unit_test(threads_move_between_processors),
		cmocka_unit_test(clocks_of_processors_differ),
		cmocka_unit_test(the_clock_jumps),
		cmocka_unit_test(the_clock_goes_round),
		cmocka_unit_test(a_report_before_the_last),
		cmocka_unit_test(what_waits_is_not_probed),
		cmocka_unit_test(interrupts_differ_from_system_calls),
		cmocka_unit_test(unelidable_is_three_in_a_row),
		cmocka_unit_test(unelidable_is_what_no_thread_elides),
		cmocka_unit_test(hand_over_hand_is_unelidable),
	};

	if (adapt_start(4096))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
