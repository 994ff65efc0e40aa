// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pmu.c - the library's events: opened for real, with a software event in place of aborts.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/base/log.h"
#include "../../lib/elide.h"
#include "../../lib/evidence/pmu.h"
#include "../../lib/life/threads.h"
#include "../../lib/state/settings.h"
#include "../../lib/state/wiped.h"
#include "../../lib/rtm.h"
#include "child.h"
#include "own-data.h"

#define TX PERF_TXN_TRANSACTION

static void agreement(void **state)
{
	static const struct {
		unsigned int status;
		uint64_t transaction;
		bool agrees;
	} table[] = {
		{0, TX | PERF_TXN_SYNC, true},
		{0, TX | PERF_TXN_ASYNC, true},
		{0, PERF_TXN_SYNC, false}, /* not of RTM */
		{0, 0, false},
		{RTM_CONFLICT | RTM_RETRY, TX | PERF_TXN_ASYNC | PERF_TXN_CONFLICT, true},
		{RTM_CONFLICT, TX | PERF_TXN_ASYNC, false},
		{0, TX | PERF_TXN_CONFLICT, false},
		{RTM_CAPACITY, TX | PERF_TXN_CAPACITY_READ, true},
		{RTM_CAPACITY, TX | PERF_TXN_CAPACITY_WRITE, true},
		{RTM_CAPACITY, TX, false},
		{0, TX | PERF_TXN_CAPACITY_WRITE, false},
		{RTM_EXPLICIT | 0xffu << 24, TX | PERF_TXN_SYNC | 0xffull << 32, true},
		{RTM_EXPLICIT | 0xffu << 24, TX | PERF_TXN_SYNC | 0xfeull << 32, false},
		{0, TX | PERF_TXN_SYNC | 0xffull << 32, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(elide_pmu_agrees(table[i].status, table[i].transaction),
				 table[i].agrees);
}

static void causes(void **state)
{
	static const struct {
		uint64_t flags;
		uint8_t code[4];
		enum elide_cause cause;
	} table[] = {
		{PERF_TXN_ASYNC, {0x0f, 0x05}, ELIDE_CAUSE_interrupt},
		{PERF_TXN_SYNC, {0x0f, 0x05}, ELIDE_CAUSE_syscall},	     /* syscall */
		{PERF_TXN_SYNC, {0xcd, 0x80}, ELIDE_CAUSE_syscall},	     /* int 0x80 */
		{PERF_TXN_SYNC, {0x0f, 0xa2}, ELIDE_CAUSE_instruction},	     /* cpuid */
		{PERF_TXN_SYNC, {0xf3, 0x90}, ELIDE_CAUSE_instruction},	     /* pause */
		{PERF_TXN_SYNC, {0x48, 0x0f, 0xc7, 0x64}, ELIDE_CAUSE_instruction}, /* xsavec64 */
		{PERF_TXN_SYNC, {0x48, 0x8b, 0x07}, ELIDE_CAUSE_fault},	     /* mov (%rdi),%rax */
		{PERF_TXN_SYNC, {0x66, 0x41, 0x89, 0x07}, ELIDE_CAUSE_fault}, /* mov %ax,(%r15) */
		{PERF_TXN_SYNC, {0x01, 0x07}, ELIDE_CAUSE_fault},	     /* add %eax,(%rdi) */
		{PERF_TXN_SYNC, {0xc6, 0xf8, 0x01}, ELIDE_CAUSE_other},	     /* xabort 1 */
		{PERF_TXN_SYNC, {0x90}, ELIDE_CAUSE_other},
		{0, {0x0f, 0x05}, ELIDE_CAUSE_other},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(elide_pmu_cause(ELIDE_CAUSE_other, table[i].flags, table[i].code),
				 table[i].cause);
	/* What the status word says is not put in doubt, nor is code read that cannot be. */
	assert_int_equal(elide_pmu_cause(ELIDE_CAUSE_conflict, PERF_TXN_SYNC, table[1].code),
			 ELIDE_CAUSE_conflict);
	assert_int_equal(elide_pmu_cause(ELIDE_CAUSE_other, PERF_TXN_SYNC, NULL),
			 ELIDE_CAUSE_other);
}

/* The processor's time in user mode, sampled each 100 us. */
static int choose_clock(enum elide_pmu_event event, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_TASK_CLOCK;
	attr->sample_period = 100000;
	return 0;
}

static int nr_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int nr = 0;

	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

static int samples_start(void **state)
{
	int (*real)(enum elide_pmu_event, struct perf_event_attr *) = elide_pmu_choose;
	void *ring;

	elide_pmu_choose = choose_clock;
	elide_pmu_start(1);
	ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	elide_pmu_close(ring);
	*state = ring ? real : NULL;
	return 0;
}

#define need_samples()                                                                        \
	do {                                                                                  \
		if (!*state) {                                                                \
			print_message("skip pmu: no software event can be opened here\n");    \
			skip();                                                               \
		}                                                                             \
	} while (0)

/* The functions' own code: where samples must lie. */
static __noinline uint64_t burn(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" ::"r"(i));
	return n;
}

/* Until a sample is in the ring; what it holds is left there. */
static bool fill(void *ring)
{
	struct perf_event_mmap_page *control = ring;

	for (int i = 0; i < 1000; i++) {
		burn(100000);
		if (READ_ONCE(control->data_head) != control->data_tail)
			return true;
	}
	return false;
}

static void samples_for_real(void **state)
{
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts;
	int fds = nr_fds();
	struct perf_event_mmap_page *ring;

	need_samples();
	errno = 4711;
	ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	assert_int_equal(errno, 4711);
	assert_non_null(ring);
	assert_int_equal(nr_fds(), fds); /* none stays open */
	assert_true(fill(ring));
	elide_pmu_ring_read((char *)ring + 4096, 4096, ring->data_tail, ring->data_head, &s,
			    sizeof(s), &counts);
	assert_true(counts.nr_samples > 0);
	assert_int_equal(counts.nr_damaged, 0);
	assert_in_range(s.ip, (uintptr_t)burn - 4096, (uintptr_t)burn + 8192);
	assert_int_equal(s.transaction, 0);
	elide_pmu_close(ring);
	assert_int_equal(errno, 4711);
}

/* A sample without PERF_TXN_* is of no abort; it is taken from the ring all the same. */
static void sample_of_no_abort(void **state)
{
	struct perf_event_mmap_page *ring;
	struct elide_pmu_abort abort;

	need_samples();
	ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	assert_true(fill(ring));
	assert_false(elide_pmu_take(ring, 0, &abort));
	assert_true(ring->data_tail > 0);
	elide_pmu_close(ring);
	assert_false(elide_pmu_take(NULL, 0, &abort));
}

/* The time has no address of data: such samples hint at nothing. They are taken all the same. */
static void load_without_address(void **state)
{
	struct perf_event_mmap_page *ring;
	struct elide_pmu_counts counts;
	struct elide_pmu_load load;

	need_samples();
	ring = elide_pmu_open(ELIDE_PMU_LOADS);
	assert_non_null(ring);
	assert_true(fill(ring));
	elide_pmu_ring_read((char *)ring + 4096, 4096, ring->data_tail, ring->data_head, &load,
			    sizeof(load), &counts);
	assert_true(counts.nr_samples > 0);
	assert_int_equal(counts.nr_damaged, 0);
	assert_in_range(load.ip, (uintptr_t)burn - 4096, (uintptr_t)burn + 8192);
	assert_int_equal(load.address, 0);
	assert_false(elide_pmu_take_load(ring, &load));
	assert_true(ring->data_tail > 0);
	elide_pmu_close(ring);
}

/* A ring of memory, which the kernel's data page does not let anybody write to. */
static void put(struct perf_event_mmap_page *ring, const void *record, size_t size)
{
	memcpy((char *)ring + 4096 + ring->data_head % 4096, record, size);
	ring->data_head += size;
}

static void put_sample(struct perf_event_mmap_page *ring, uint64_t ip, uint64_t transaction)
{
	struct {
		struct perf_event_header h;
		struct elide_pmu_sample s;
	} r = {{PERF_RECORD_SAMPLE, 0, sizeof(r)}, {ip, 1, 1234, transaction}};

	put(ring, &r, sizeof(r));
}

static void put_load(struct perf_event_mmap_page *ring, uint64_t ip, uint64_t address,
		     uint64_t transaction)
{
	struct {
		struct perf_event_header h;
		struct elide_pmu_load s;
	} r = {{PERF_RECORD_SAMPLE, 0, sizeof(r)}, {ip, address, transaction}};

	put(ring, &r, sizeof(r));
}

static void load_is_taken(void **state)
{
	struct elide_pmu_load load = {0};
	struct perf_event_mmap_page *ring;

	ring = elide_wiped_alloc(2 * 4096);
	assert_non_null(ring);
	assert_false(elide_pmu_take_load(NULL, &load));
	assert_false(elide_pmu_take_load(ring, &load));
	put_load(ring, 0x4000, 0x5008, 0);
	put_load(ring, 0x4010, 0x5010, PERF_TXN_SYNC);
	assert_true(elide_pmu_take_load(ring, &load));
	assert_int_equal(load.ip, 0x4010);
	assert_int_equal(load.address, 0x5010);
	assert_false(elide_pmu_take_load(ring, &load)); /* once */
	/* In a transaction: what it says of the address is not valid. */
	put_load(ring, 0x4000, 0x5008, TX | PERF_TXN_ASYNC);
	assert_false(elide_pmu_take_load(ring, &load));
	put_load(ring, 0x4000, 0x5008, PERF_TXN_ELISION);
	assert_false(elide_pmu_take_load(ring, &load));
	/* Not known, or the kernel's. */
	put_load(ring, 0x4000, 0, 0);
	assert_false(elide_pmu_take_load(ring, &load));
	put_load(ring, 0x4000, 0xffff888000000000, 0);
	assert_false(elide_pmu_take_load(ring, &load));
	put_load(ring, 0x4000, 0x5008, 0);
	elide_pmu_skip_loads(ring);
	assert_false(elide_pmu_take_load(ring, &load));
	elide_pmu_close(ring);
}

static void abort_is_joined(void **state)
{
	static const uint8_t code[] = {0x0f, 0x05, 0x90, 0x90};
	struct elide_pmu_abort abort = {0};
	struct perf_event_mmap_page *ring;

	ring = elide_wiped_alloc(2 * 4096);
	assert_non_null(ring);
	assert_false(elide_pmu_take(ring, 0, &abort));
	put_sample(ring, (uintptr_t)code, TX | PERF_TXN_SYNC);
	assert_true(elide_pmu_take(ring, 0, &abort));
	assert_int_equal(abort.pc, (uintptr_t)code);
	assert_int_equal(abort.weight, 1234);
	assert_int_equal(abort.cause, ELIDE_CAUSE_syscall);
	assert_false(elide_pmu_take(ring, 0, &abort)); /* once */
	/* Of another abort. */
	put_sample(ring, (uintptr_t)code, TX | PERF_TXN_SYNC);
	assert_false(elide_pmu_take(ring, RTM_CONFLICT, &abort));
	/* With two samples it is not known which is of the abort. */
	put_sample(ring, (uintptr_t)code, TX | PERF_TXN_SYNC);
	put_sample(ring, (uintptr_t)code, TX | PERF_TXN_SYNC);
	assert_false(elide_pmu_take(ring, 0, &abort));
	elide_pmu_close(ring);
}

/* A child may be in the middle of a look into the ring, which is not mapped there. */
static void child_of_a_fork(void **state)
{
	struct perf_event_mmap_page *ring;
	struct elide_pmu_abort abort;
	int status;
	pid_t pid;

	need_samples();
	ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	assert_true(fill(ring));
	pid = fork();
	if (!pid) {
		void *own;

		elide_pmu_detach();
		check(!elide_pmu_take(ring, 0, &abort));
		check(!ring->data_head);
		own = elide_pmu_open(ELIDE_PMU_ABORTS);
		check(own && own != ring);
		check(fill(own));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(ring->data_head > 0);
	elide_pmu_close(ring);
}

static void *thread(void *arg)
{
	void *ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	bool filled = ring && fill(ring);

	elide_pmu_close(ring);
	return filled ? ring : NULL;
}

static void many_threads(void **state)
{
	need_samples();
	for (int i = 0; i < 50; i++) {
		pthread_t t[2];
		void *filled;

		for (int j = 0; j < 2; j++)
			assert_int_equal(pthread_create(&t[j], NULL, thread, NULL), 0);
		for (int j = 0; j < 2; j++) {
			assert_int_equal(pthread_join(t[j], &filled), 0);
			assert_non_null(filled);
		}
	}
}

/* Of the engine's own threads. */
__attribute__((constructor(101))) static void environment(void)
{
	own_data(NULL);
}

static int remove_data(void **state)
{
	unlink(elide_data_path());
	return 0;
}

/* Rings of this process. */
static int nr_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int nr = 0;

	while (fgets(line, sizeof(line), f))
		nr += strstr(line, "[perf_event]") != NULL;
	fclose(f);
	return nr;
}

static void lock_once(void)
{
	static const struct elide_rule rule = {.mask = ~0u, .free = 0, .size = 4};
	static uint32_t word;

	if (elide_begin(&word, &rule))
		elide_end(&word);
}

static void *locking_thread(void *arg)
{
	int *rings = arg;

	lock_once();
	rings[0] = nr_rings();
	if (!fork()) {
		/* A forked child has none, until it takes a lock; it is not the parent's. */
		int before, after;

		elide_pmu_detach();
		before = nr_rings();
		lock_once();
		after = nr_rings();
		unlink(elide_data_path());
		_exit(10 * before + after);
	}
	wait(&rings[1]);
	return NULL;
}

/* A thread has its two rings from its first lock call until it is known to have ended. */
static void threads_of_the_engine(void **state)
{
	int before, rings[2];
	pthread_t t;

	need_samples();
	before = nr_rings();
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pthread_create(&t, NULL, locking_thread, rings), 0);
		assert_int_equal(pthread_join(t, NULL), 0);
		/* As the wrapper of pthread_join() does. */
		elide_thread_joined((const void *)t, 0);
		assert_int_equal(rings[0], before + 2);
		assert_true(WIFEXITED(rings[1]));
		assert_int_equal(WEXITSTATUS(rings[1]), 2);
		assert_int_equal(nr_rings(), before);
	}
}

static int choose_none(enum elide_pmu_event event, struct perf_event_attr *attr)
{
	return -ENODEV;
}

static int choose_no_loads(enum elide_pmu_event event, struct perf_event_attr *attr)
{
	return event == ELIDE_PMU_LOADS ? -ENODEV : choose_clock(event, attr);
}

static int choose_nonsense(enum elide_pmu_event event, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = 4711;
	return 0;
}

/* What start and two threads print when samples cannot be had, of which there is one line. */
static void said(int (*chosen)(enum elide_pmu_event, struct perf_event_attr *),
		 enum elide_pmu_event event, char *text, size_t size)
{
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	elide_log_start();
	elide_pmu_choose = chosen;
	elide_pmu_start(64);
	assert_null(elide_pmu_open(event));
	assert_null(elide_pmu_open(event));
	dup2(saved, STDERR_FILENO);
	elide_log_start();
	close(saved);
	close(pipes[1]);
	n = read(pipes[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(pipes[0]);
}

static void reasons_in_one_line(void **state)
{
	char text[512];

	said(choose_none, ELIDE_PMU_ABORTS, text, sizeof(text));
	assert_string_equal(text, "elide: ELIDE_PMU=abort: aborts are not sampled: the events of "
				  "this processor are not known\n");
	said(choose_nonsense, ELIDE_PMU_ABORTS, text, sizeof(text));
	assert_non_null(strstr(text, "aborts are not sampled: the kernel "));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

/* Aborts are sampled all the same. */
static void no_loads_in_one_line(void **state)
{
	char text[512];
	void *ring;

	need_samples();
	said(choose_no_loads, ELIDE_PMU_LOADS, text, sizeof(text));
	assert_string_equal(text, "elide: ELIDE_PMU=abort: loads, which hint at the lines of "
				  "conflicts, are not sampled: the events of this processor are "
				  "not known\n");
	ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	assert_non_null(ring);
	elide_pmu_close(ring);
	/* Nothing is kept with ELIDE_STACKS=0: no loads, and nothing to say of it. */
	elide_pmu_choose = choose_clock;
	elide_pmu_start(0);
	assert_null(elide_pmu_open(ELIDE_PMU_LOADS));
	ring = elide_pmu_open(ELIDE_PMU_ABORTS);
	assert_non_null(ring);
	elide_pmu_close(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agreement),
		cmocka_unit_test(causes),
		cmocka_unit_test_setup(samples_for_real, samples_start),
		cmocka_unit_test_setup(sample_of_no_abort, samples_start),
		cmocka_unit_test_setup(load_without_address, samples_start),
		cmocka_unit_test(abort_is_joined),
		cmocka_unit_test(load_is_taken),
		cmocka_unit_test_setup(child_of_a_fork, samples_start),
		cmocka_unit_test_setup(many_threads, samples_start),
		cmocka_unit_test_setup(threads_of_the_engine, samples_start),
		cmocka_unit_test(reasons_in_one_line),
		cmocka_unit_test_setup(no_loads_in_one_line, samples_start),
	};

	return cmocka_run_group_tests(tests, NULL, remove_data);
}
