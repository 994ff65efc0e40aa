// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_memory.c - each allocation of a tree of the thesis fails once, or from
 * one on: the operation that needs it says so, and the tree is whole and goes on.
 *
 * The linker sends the allocations of the test to the functions here (--wrap).
 */
#include <errno.h>
#include <sys/mman.h>

#include "unit.h"
#include "subject.h"

/* Allocations until one fails, 0 none; and whether all others after it fail, too. */
static unsigned long until;
static bool and_all_others;
static unsigned long nr_failed;

static bool fails(void)
{
	if (!until || (until > 1 && until--))
		return false;
	until = and_all_others ? 1 : 0;
	nr_failed++;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_reallocarray(void *p, size_t nr, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, nr, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return fails() ? MAP_FAILED : __real_mmap(addr, len, prot, flags, fd, off);
}

static struct subject subject;
static uint64_t options[TREE_OPTIONS_MAX];

/* No allocation fails in the checks of the test itself. */
static void assert_whole_now(void)
{
	unsigned long before = until;

	until = 0;
	assert_whole(&subject);
	until = before;
}

static void even_key(void *ctx, uint64_t i, uint64_t *key, uint64_t *value)
{
	*key = 2 * i;
	*value = i;
}

static void load(uint64_t nr)
{
	struct bulk_source source = { .nr = nr, .fill = 69, .entry = even_key };

	if (!subject.ops->tree->bulk)
		return;
	if (subject.ops->tree->bulk(subject.index->tree, subject.shares[0], &source)) {
		assert_whole_now();
		return;
	}
	for (uint64_t i = 0; i < nr; i++)
		model_insert(&subject.model, 2 * i, i);
}

/* An insert or a delete, unless its reservation fails: then nothing has changed. */
static void step(unsigned int thread, uint64_t key, bool inserts)
{
	struct index_thread *share = subject.shares[thread];
	int err = inserts ? subject.ops->reserve(subject.index, share) :
			    index_reserve_remove(subject.index, share);

	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_whole_now();
	} else if (inserts) {
		assert_int_equal(subject.ops->insert(subject.index, share, key, key),
				 model_insert(&subject.model, key, key));
	} else {
		struct entry *entry = model_find(&subject.model, key);
		uint64_t value;

		assert_int_equal(subject.ops->remove(subject.index, share, key, &value),
				 entry != NULL);
		if (entry)
			model_remove(&subject.model, entry);
	}
	step_end(&subject, thread);
}

/* The life of a tree. */
static void live(const struct index_ops *ops, const struct index_config *config)
{
	struct rng rng;

	subject = (struct subject){ .ops = ops };
	subject.index = ops->create(config);
	for (unsigned int i = 0; subject.index && i < 2; i++)
		subject.shares[i] = ops->tree->attach(subject.index->tree, i, 1);
	if (subject.shares[0] && subject.shares[1]) {
		load(300);
		rng_seed(&rng, 1, 0);
		for (unsigned int i = 0; i < 3000; i++)
			step(i % 2, rng_below(&rng, 1500), rng_below(&rng, 3) > 0);
		assert_whole_now();
		/* Memory is there again. */
		until = 0;
		for (unsigned int i = 0; i < 300; i++)
			step(i % 2, rng_below(&rng, 1500), rng_below(&rng, 3) > 0);
		assert_whole_now();
	} else {
		assert_int_not_equal(nr_failed, 0);
	}
	until = 0;
	subject_destroy(&subject);
}

static void try_variant(const struct index_ops *ops, const struct index_config *config)
{
	unsigned long nr = 0;

	do {
		nr++;
		nr_failed = 0;
		until = nr;
		live(ops, config);
	} while (nr_failed);
	assert_true(nr > 4);
}

static void test_each_allocation(void **state)
{
	struct index_config config = { .threads = 2, .entries = 10000, .options = options };

	for (enum index_id index = 0; index < NR_INDEXES; index++) {
		for (enum scheme_id scheme = 0; scheme < NR_SCHEMES; scheme++) {
			const struct index_ops *ops = variant_ops(index, scheme);

			options_default(index, options, 128);
			if (!ops || ops->tree->insert || !variant_fits(ops, &config))
				continue;
			for (int all = 0; all < 2; all++) {
				print_message("%s under %s, %s\n", index_choices[index].name,
					      scheme_choices[scheme].name,
					      all ? "all from one on" : "one");
				and_all_others = all;
				try_variant(ops, &config);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
