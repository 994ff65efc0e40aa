// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tatp.c - TATP of tatp_bench: population, draws, transactions beside a model of the rows,
 * success rates, and that the checks of the database find planted faults.
 */
#include "tatp.h"

#include "../../demo/tatp/bench/tatp.h"

#include <errno.h>
#include <math.h>

#define SUBSCRIBERS 5000

static struct sm sm;
static struct client clients[TATP_THREADS];
static struct draws draws;

static void create(uint64_t subscribers, bool inherit, bool nurand)
{
	struct sm_options opts = schema_options(subscribers, 7, 1);

	opts.log = (struct log_options){ .group = true, .threads = TATP_THREADS };
	opts.inherit = inherit;
	assert_int_equal(sm_create(&sm, &opts), 0);
	assert_int_equal(populate(&sm, NULL), 0);
	draws = (struct draws){ .subscribers = subscribers, .only = NR_TRANSACTIONS,
				.nurand = nurand ? nurand_of(subscribers) : 0 };
	for (unsigned int i = 0; i < TATP_THREADS; i++)
		client_init(&clients[i], &sm, i, &draws, 11);
}

static void destroy(void)
{
	for (unsigned int i = 0; i < TATP_THREADS; i++)
		client_free(&clients[i]);
	sm_destroy(&sm);
}

static void check(void)
{
	char why[CHECK_TEXT];

	if (!check_integrity(&sm, why, sizeof(why)) ||
	    !verify_content(&sm, clients, TATP_THREADS, why, sizeof(why)))
		fail_msg("%s", why);
}

/* The counts and shares of TATP's description, within five standard deviations. */
static void test_population(void **state)
{
	unsigned int access = 0, facilities = 0, forwardings = 0, active = 0;
	unsigned int nr_access[5] = { 0 }, nr_forwardings[4] = { 0 };
	const unsigned int nr = 40000;

	for (uint32_t s_id = 1; s_id <= nr; s_id++) {
		struct population p;
		unsigned int at = 0;

		population_of(&p, 3, s_id);
		assert_int_equal(p.subscriber.s_id, s_id);
		assert_int_equal(number_value(p.subscriber.sub_nbr), s_id);
		access += p.nr_access;
		nr_access[p.nr_access]++;
		facilities += p.nr_facilities;
		forwardings += p.nr_forwardings;
		for (unsigned int i = 0; i < p.nr_facilities; i++) {
			unsigned int mine = 0;

			active += p.facilities[i].is_active;
			for (; at < p.nr_forwardings &&
			       p.forwardings[at].sf_type == p.facilities[i].sf_type; at++, mine++) {
				const struct call_forwarding *f = &p.forwardings[at];

				assert_true(f->start_time % 8 == 0 && f->start_time <= 16);
				assert_in_range(f->end_time, f->start_time + 1, f->start_time + 8);
				assert_true(!mine || f[-1].start_time < f->start_time);
			}
			nr_forwardings[mine]++;
		}
		/* Forwardings are those of the facilities that are there. */
		assert_int_equal(at, p.nr_forwardings);
	}
	assert_true(fabs(access / (double)nr - 2.5) < 5 * 1.118 / 200);
	assert_true(fabs(facilities / (double)nr - 2.5) < 5 * 1.118 / 200);
	assert_true(fabs(forwardings / (double)nr - 3.75) < 5 * 2.5 / 200);
	assert_true(fabs(active / (double)facilities - 0.85) < 5 * 0.357 / 316);
	for (unsigned int i = 1; i <= 4; i++)
		assert_true(fabs(nr_access[i] / (double)nr - 0.25) < 5 * 0.433 / 200);
	for (unsigned int i = 0; i <= 3; i++)
		assert_true(fabs(nr_forwardings[i] / (double)facilities - 0.25) < 5 * 0.433 / 316);
}

/* Both rows and indexes of 80,000 subscribers, as in the paper: 110 to 130 MB. */
static void test_size(void **state)
{
	create(8000, true, false);
	assert_in_range((uint64_t)sm.volume.nr * PAGE_BYTES * 10, 110000000, 130000000);
	check();
	destroy();
}

/* Probability of each value of NURand, exactly: of x OR y for uniform x and y. */
#define BITS 17

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Sums of subsets, and their differences. */
static void subsets(double *f, int sign)
{
	for (unsigned int bit = 1; bit < 1u << BITS; bit *= 2)
		for (unsigned int i = 0; i < 1u << BITS; i++)
			if (i & bit)
				f[i] += sign * f[i ^ bit];
}

static void test_nurand(void **state)
{
	static double x[1 << BITS], y[1 << BITS], keys[80001], sorted[80001];
	struct draws d = { .subscribers = 80000, .nurand = 65535 };
	static unsigned int counts[80001];
	double hot = 0, tenth = 0, expected = 0, least;
	unsigned int drawn = 0;
	const unsigned int nr = 2000000;
	struct rng rng;

	for (unsigned int i = 0; i < 65536; i++)
		x[i] = 1.0 / 65536;
	for (unsigned int i = 1; i <= 80000; i++)
		y[i] = 1.0 / 80000;
	subsets(x, 1);
	subsets(y, 1);
	for (unsigned int i = 0; i < 1u << BITS; i++)
		x[i] *= y[i];
	subsets(x, -1);
	for (unsigned int i = 0; i < 1u << BITS; i++)
		keys[i % 80000 + 1] += x[i];
	memcpy(sorted, keys, sizeof(keys));
	qsort(sorted + 1, 80000, sizeof(*sorted), descending);
	for (unsigned int i = 1; i <= 8000; i++) {
		hot += i <= 800 ? sorted[i] : 0;
		tenth += sorted[i];
	}
	assert_true(fabs(hot - 0.362) < 0.0005);
	assert_true(fabs(tenth - 0.765) < 0.0005);
	/* The keys that are drawn: the hot ones as often as they should be, and no other one. */
	rng_seed(&rng, 1, 0);
	least = sorted[800];
	for (unsigned int i = 0; i < nr; i++)
		counts[draw_subscriber(&d, &rng)]++;
	assert_int_equal(counts[0], 0);
	for (unsigned int i = 1; i <= 80000; i++) {
		expected += keys[i] >= least ? keys[i] : 0;
		drawn += keys[i] >= least ? counts[i] : 0;
	}
	assert_true(fabs(drawn / (double)nr - expected) < 5 * sqrt(0.25 / nr));
	assert_int_equal(nurand_of(1000000), 65535);
	assert_int_equal(nurand_of(1000001), 1048575);
}

/* The shares of the mix, and inputs within their ranges. */
static void test_mix(void **state)
{
	static const double shares[NR_TRANSACTIONS] = {
#define TRANSACTION(id, name, share, success, help) share / 100.0,
#include "../../demo/tatp/bench/transactions.def"
	};
	unsigned int counts[NR_TRANSACTIONS] = { 0 };
	const unsigned int nr = 200000;

	create(10, true, false);
	for (unsigned int i = 0; i < nr; i++) {
		struct input in;

		draw_input(&clients[0], &in);
		counts[in.kind]++;
		assert_in_range(in.s_id, 1, 10);
		assert_in_range(in.type, 1, 4);
		assert_true(in.start % 8 == 0 && in.start <= 16);
		assert_in_range(in.end, 1, 24);
	}
	for (unsigned int i = 0; i < NR_TRANSACTIONS; i++)
		assert_true(fabs(counts[i] / (double)nr - shares[i]) <
			    5 * sqrt(shares[i] * (1 - shares[i]) / nr));
	destroy();
}

/* A model of the rows: types that are there, and ends of forwardings, 0 for none. */
static struct {
	unsigned char access[5], facility[5], active[5];
	unsigned char end[5][NR_STARTS];
} model[SUBSCRIBERS + 1];

static void model_init(void)
{
	memset(model, 0, sizeof(model));
	for (uint32_t s = 1; s <= SUBSCRIBERS; s++) {
		struct population p;

		population_of(&p, 7, s);
		for (unsigned int i = 0; i < p.nr_access; i++)
			model[s].access[p.access[i].ai_type] = 1;
		for (unsigned int i = 0; i < p.nr_facilities; i++) {
			model[s].facility[p.facilities[i].sf_type] = 1;
			model[s].active[p.facilities[i].sf_type] = p.facilities[i].is_active;
		}
		for (unsigned int i = 0; i < p.nr_forwardings; i++)
			model[s].end[p.forwardings[i].sf_type][p.forwardings[i].start_time / 8] =
				p.forwardings[i].end_time;
	}
}

/* Whether a transaction is successful by the model, which is changed as by the transaction. */
static bool expected(const struct input *in)
{
	unsigned char *end = &model[in->s_id].end[in->type][in->start / 8];
	bool ok = false;

	switch (in->kind) {
	case XCT_get_access_data:
		return model[in->s_id].access[in->type];
	case XCT_update_subscriber_data:
		return model[in->s_id].facility[in->type];
	case XCT_get_new_destination:
		for (unsigned int i = 0; i <= in->start / 8; i++)
			ok |= model[in->s_id].active[in->type] &&
			      model[in->s_id].end[in->type][i] > in->end;
		return ok;
	case XCT_insert_call_forwarding:
		ok = model[in->s_id].facility[in->type] && !*end;
		*end = ok ? (unsigned char)in->end : *end;
		return ok;
	case XCT_delete_call_forwarding:
		ok = *end;
		*end = 0;
		return ok;
	default:
		return true;
	}
}

/* Each transaction has the model's success; the rates are those of transactions.def. */
static void test_success(void **state)
{
	static const unsigned int rates[NR_TRANSACTIONS] = {
#define TRANSACTION(id, name, share, success, help) success,
#include "../../demo/tatp/bench/transactions.def"
	};
	const unsigned int nr = 4000;

	create(SUBSCRIBERS, true, false);
	model_init();
	for (unsigned int kind = 0; kind < NR_TRANSACTIONS; kind++) {
		unsigned int ok = 0;

		draws.only = kind;
		for (unsigned int i = 0; i < nr; i++) {
			struct input in;
			int ret;

			draw_input(&clients[0], &in);
			ret = transact(&clients[0], &in);
			assert_int_equal(ret, expected(&in) ? 0 : TATP_FAILED);
			ok += !ret;
		}
		print_message("%u: %.4f\n", kind, ok / (double)nr);
		/*
		 * Five standard deviations of the draws, at most 0.008 each, would be 0.04; the
		 * draws are the same each time and are within half of that.
		 */
		assert_true(fabs(ok / (double)nr - rates[kind] / 10000.0) < 0.02);
	}
	/* The mix, which drifts, is still that of the model. */
	draws.only = NR_TRANSACTIONS;
	for (unsigned int i = 0; i < 20000; i++) {
		struct input in;

		draw_input(&clients[0], &in);
		assert_int_equal(transact(&clients[0], &in), expected(&in) ? 0 : TATP_FAILED);
	}
	check();
	destroy();
}

static void *run(void *arg)
{
	struct test_thread *t = arg;

	for (unsigned int i = 0; i < *(unsigned int *)t->arg; i++)
		if (client_step(&clients[t->nr]))
			abort();
	return NULL;
}

/* Threads that meet in few subscribers, with deadlocks and rollbacks. */
static void test_threads(void **state)
{
	static const uint64_t sizes[] = { 1, 3, 200, 3000 };
	unsigned int nr = 6000;

	for (unsigned int i = 0; i < 8; i++) {
		print_message("%u\n", i);
		create(sizes[i / 2], i % 2, i % 4 == 1);
		run_threads(TATP_THREADS, run, &nr);
		check();
		destroy();
	}
}

static void test_content_faults(void **state)
{
	enum { LOST, TWICE, VALUE, COLUMN, FORWARDING, OTHER, NR } fault;
	char why[CHECK_TEXT];
	unsigned int nr = 3000;

	for (fault = 0; fault < NR; fault++) {
		struct journal *j = &clients[1].journal;
		struct page_ref ref;
		struct subscriber *s;
		uint64_t rid;

		create(50, true, false);
		run_threads(TATP_THREADS, run, &nr);
		check();
		assert_true(btree_lookup(&sm.trees[SUBSCRIBER_KEY], 17, &rid));
		buffer_fix(&sm.buffer, rid_page(rid), LATCH_WRITE, &ref);
		s = (struct subscriber *)heap_page_row(ref.page, rid_slot(rid));
		if (fault == LOST)
			j->nr--;
		else if (fault == TWICE)
			j->changes[j->nr - 1].delta *= 2;
		else if (fault == VALUE)
			s->vlr_location ^= 1u << 31;
		else if (fault == COLUMN)
			s->hex[3] ^= 1;
		else if (fault == FORWARDING)
			j->changes[0] = (struct change){ item_key(3, NR_ITEMS - 1), 5, 1 };
		else
			j->changes[0].key = item_key(51, 0);
		buffer_unfix(&sm.buffer, &ref);
		assert_false(verify_content(&sm, clients, TATP_THREADS, why, sizeof(why)));
		print_message("%d: %s\n", fault, why);
		destroy();
	}
}

static void test_integrity_faults(void **state)
{
	enum { ENTRY, ROW, KEY, REFERENCE, LOCK, PIN, LATCH, NR } fault;

	for (fault = 0; fault < NR; fault++) {
		struct xct *x = sm.xcts;
		char why[CHECK_TEXT];
		struct page_ref ref;
		union row row;
		uint64_t rid;

		create(500, true, false);
		x = sm.xcts;
		for (unsigned int type = 1; !btree_lookup(&sm.trees[SPECIAL_FACILITY_KEY],
							  type_key(9, type), &rid); type++)
			;
		if (fault == ENTRY) {
			assert_int_equal(btree_delete(x, &sm.trees[SUBSCRIBER_NUMBER], 9), 0);
		} else if (fault == ROW) {
			assert_int_equal(heap_delete(x, &sm.heaps[SPECIAL_FACILITY], rid, &row), 0);
		} else if (fault == KEY) {
			buffer_fix(&sm.buffer, rid_page(rid), LATCH_WRITE, &ref);
			heap_page_row(ref.page, rid_slot(rid))[0] ^= 1;
			buffer_unfix(&sm.buffer, &ref);
		} else if (fault == REFERENCE) {
			/* A row without the one that it refers to, in table and index. */
			memset(&row, 0, sizeof(row));
			row.access.s_id = 501;
			row.access.ai_type = 1;
			assert_int_equal(heap_insert(x, &sm.heaps[ACCESS_INFO], &row, &rid), 0);
			assert_int_equal(btree_insert(x, &sm.trees[ACCESS_INFO_KEY],
						      type_key(501, 1), rid), 0);
		} else if (fault == LOCK) {
			assert_int_equal(lock_table(x->locks, 1, LOCK_S), 0);
		} else {
			buffer_fix(&sm.buffer, 3, LATCH_READ, &ref);
		}
		if (fault != LOCK)
			assert_int_equal(xct_commit(x), 0);
		if (fault == PIN)
			latch_release(&ref.frame->latch, &ref.hold);
		assert_false(check_integrity(&sm, why, sizeof(why)));
		print_message("%d: %s\n", fault, why);
		if (fault == PIN)
			buffer_unpin(&sm.buffer, &ref);
		else if (fault == LATCH)
			buffer_unfix(&sm.buffer, &ref);
		destroy();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_population),     cmocka_unit_test(test_size),
		cmocka_unit_test(test_nurand),	       cmocka_unit_test(test_mix),
		cmocka_unit_test(test_success),	       cmocka_unit_test(test_threads),
		cmocka_unit_test(test_content_faults), cmocka_unit_test(test_integrity_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
