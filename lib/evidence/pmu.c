/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu.c - samples of aborts, and of loads, by the processor's performance counters.
 *
 * Must never be called inside a transaction. Opening and closing make system calls; reading a
 * ring, which is done after each abort, makes none.
 */
#include "pmu.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/log.h"
#include "../base/reserve.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "../compiler.h"
#include "../policy/policy.h"
#include "../rtm.h"

/* One page of control data and one for 102 samples of 40 bytes, of which one is needed. */
#define PAGE_BYTES 4096
#define RING_BYTES (2 * PAGE_BYTES)

/*
 * Aborts for each sample, as with ELIDE_STACKS by default. The kernel throttles an event that
 * interrupts more often than /proc/sys/kernel/perf_event_max_sample_rate.
 */
#define PERIOD_DEFAULT 64

/*
 * Loads for each sample. A line goes from core to core in about 100 ns, so samples are at least
 * 100 us apart. A prime number, so that samples do not keep step with a loop.
 */
#define PERIOD_LOADS 1009

/* Generations of pmu.def. */
enum { HSW = 1, SKL = 2, ICL = 4 };

static struct {
	bool on[ELIDE_NR_PMU_EVENTS];
	bool said[ELIDE_NR_PMU_EVENTS]; /* one line has said why there is no event */
	uint32_t period;
} pmu;

/* The thread's rings for elide_pmu_detach(), as a fork wipes the pointers in the thread's block. */
static __thread void *own_rings[ELIDE_NR_PMU_EVENTS];
/* A ring is being read: a signal handler meanwhile leaves its samples to this call. */
static __thread bool taking;

/* Generation of this processor; 0 if pmu.def does not have it. */
static unsigned int generation(void)
{
	static const struct {
		uint8_t model;
		uint8_t generation;
	} models[] = {
#define ELIDE_PMU_MODEL(model, generation, name) {model, generation},
#include "../pmu.def"
#undef ELIDE_PMU_MODEL
	};
	unsigned int a, b, c, d, model;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_INTEL_ebx)
		return 0;
	__get_cpuid(1, &a, &b, &c, &d);
	model = (a >> 4 & 0xf) | (a >> 12 & 0xf0);
	for (size_t i = 0; (a >> 8 & 0xf) == 6 && i < ARRAY_SIZE(models); i++)
		if (models[i].model == model)
			return models[i].generation;
	return 0;
}

static uint64_t loads_of(unsigned int generation)
{
	static const struct {
		uint64_t config;
		unsigned int generations;
	} listed[] = {
#define ELIDE_PMU_HITM(name, code, umask, generations) {(code) | (umask) << 8, generations},
#include "../pmu.def"
#undef ELIDE_PMU_HITM
	};

	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (listed[i].generations & generation)
			return listed[i].config;
	return 0;
}

/* Both events are precise (PEBS). RTM_RETIRED.ABORTED is 0x04c9 in all generations of pmu.def. */
static int choose(enum elide_pmu_event event, struct perf_event_attr *attr)
{
	unsigned int own = generation();

	if (!own)
		return -ENODEV;
	attr->type = PERF_TYPE_RAW;
	attr->config = event == ELIDE_PMU_LOADS ? loads_of(own) : 0x04c9;
	attr->sample_period = event == ELIDE_PMU_LOADS ? PERIOD_LOADS : pmu.period;
	/* 2: the sample has the address of the instruction, not of the next one. */
	attr->precise_ip = 2;
	return 0;
}

int (*elide_pmu_choose)(enum elide_pmu_event event, struct perf_event_attr *attr) = choose;

/* What an error means here. */
static const char *reason(int err)
{
	switch (err) {
	case ENODEV:
		return "the events of this processor are not known";
	case EACCES:
	case EPERM:
		return "not permitted: /proc/sys/kernel/perf_event_paranoid must be 2 or less, "
		       "and perf_event_mlock_kb leave 16 KiB for each thread";
	case ENOENT:
	case EOPNOTSUPP:
		return "the kernel has no such event here, as in a virtual machine without PMU";
	case ENOSYS:
		return "the kernel has no perf events";
	case EMFILE:
	case ENFILE:
		return "no file descriptor is left";
	default:
		return "the kernel refuses the event";
	}
}

static void *map_event(enum elide_pmu_event event, int *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = event == ELIDE_PMU_LOADS ? ELIDE_PMU_LOAD_TYPE :
							  ELIDE_PMU_SAMPLE_TYPE,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	void *ring;
	int fd;

	*err = -elide_pmu_choose(event, &attr);
	if (*err)
		return NULL;
	fd = sys_call(perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
	if (fd < 0) {
		*err = errno;
		return NULL;
	}
	ring = sys_mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	*err = errno;
	sys_close(fd);
	return ring == MAP_FAILED ? NULL : ring;
}

void *elide_pmu_open(enum elide_pmu_event event)
{
	static const char *const what[] = {
		[ELIDE_PMU_ABORTS] = "aborts",
		[ELIDE_PMU_LOADS] = "loads, which hint at the lines of conflicts,",
	};
	int saved = errno, err;

	if (!pmu.on[event])
		return NULL;
	own_rings[event] = map_event(event, &err);
	if (!own_rings[event] && !__atomic_exchange_n(&pmu.said[event], true, __ATOMIC_RELAXED))
		elide_log("ELIDE_PMU=abort: %s are not sampled%s: %s", what[event],
			  err == EPERM || err == EMFILE ? " in every thread" : "", reason(err));
	errno = saved;
	return own_rings[event];
}

void elide_pmu_close(void *ring)
{
	int saved = errno;

	if (!ring)
		return;
	for (int i = 0; i < ELIDE_NR_PMU_EVENTS; i++)
		if (ring == own_rings[i])
			own_rings[i] = NULL;
	sys_munmap(ring, RING_BYTES);
	errno = saved;
}

/* Open and close the event once, so that the line that says why it fails comes at the start. */
static void start(enum elide_pmu_event event)
{
	pmu.on[event] = true;
	pmu.said[event] = false;
	elide_pmu_close(elide_pmu_open(event));
	pmu.on[event] = !pmu.said[event];
}

void elide_pmu_start(uint32_t period)
{
	pmu.period = period ? period : PERIOD_DEFAULT;
	start(ELIDE_PMU_ABORTS);
	pmu.on[ELIDE_PMU_LOADS] = false;
	if (pmu.on[ELIDE_PMU_ABORTS] && period)
		start(ELIDE_PMU_LOADS);
}

uint32_t elide_pmu_period(void)
{
	return pmu.period;
}

void elide_pmu_detach(void)
{
	for (int i = 0; i < ELIDE_NR_PMU_EVENTS; i++) {
		if (own_rings[i])
			elide_fill_gap(own_rings[i], RING_BYTES, RING_BYTES);
		own_rings[i] = NULL;
	}
}

bool elide_pmu_agrees(unsigned int status, uint64_t transaction)
{
	unsigned int code = transaction >> PERF_TXN_ABORT_SHIFT & 0xff;
	bool capacity = transaction & (PERF_TXN_CAPACITY_WRITE | PERF_TXN_CAPACITY_READ);

	return transaction & PERF_TXN_TRANSACTION &&
	       code == (status & RTM_EXPLICIT ? RTM_CODE(status) : 0) &&
	       !(transaction & PERF_TXN_CONFLICT) == !(status & RTM_CONFLICT) &&
	       capacity == !!(status & RTM_CAPACITY);
}

/*
 * Instructions that only compute, load and store can abort a transaction only by a fault. Encodings: Intel
 * SDM vol. 2, appendix A.
 */
static bool is_plain(const uint8_t *code)
{
	uint8_t op = code[0];

	switch (op) {
	case 0x80:
	case 0x81:
	case 0x83:
	case 0x88 ... 0x8b:
		return true;
	case 0xc6: /* /7 is XABORT */
	case 0xc7: /* /7 is XBEGIN */
		return !(code[1] & 0x38);
	case 0x0f: /* vector moves, MOVZX, MOVSX */
		return code[1] == 0x10 || code[1] == 0x11 || code[1] == 0x28 || code[1] == 0x29 ||
		       code[1] == 0x6f || code[1] == 0x7f || (code[1] & 0xf6) == 0xb6;
	default: /* the rows of ADD, OR, ADC, SBB, AND, SUB, XOR, CMP with an operand in memory */
		return op < 0x40 && (op & 7) < 4;
	}
}

/* SYSCALL, SYSENTER, INT n */
static bool is_syscall(const uint8_t *code)
{
	return (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) || code[0] == 0xcd;
}

/* CPUID, PAUSE, and FXSAVE, XSAVE, XSAVEC, with which the loader's lazy binding begins. */
static bool is_unfriendly(const uint8_t *code)
{
	return (code[0] == 0x0f && (code[1] == 0xa2 || code[1] == 0xae || code[1] == 0xc7)) ||
	       (code[0] == 0xf3 && code[1] == 0x90);
}

enum elide_cause elide_pmu_cause(enum elide_cause cause, uint64_t transaction, const uint8_t *code)
{
	if (cause != ELIDE_CAUSE_other)
		return cause;
	if (transaction & PERF_TXN_ASYNC)
		return ELIDE_CAUSE_interrupt;
	if (!(transaction & PERF_TXN_SYNC) || !code)
		return cause;
	if (is_unfriendly(code))
		return ELIDE_CAUSE_instruction;
	/* Skip the operand-size prefix and REX. */
	code += *code == 0x66;
	code += (*code & 0xf0) == 0x40;
	if (is_syscall(code))
		return ELIDE_CAUSE_syscall;
	if (is_unfriendly(code))
		return ELIDE_CAUSE_instruction;
	return is_plain(code) ? ELIDE_CAUSE_fault : cause;
}

/*
 * Bytes of an instruction that this thread has just executed, so its page is mapped. NULL in the kernel's
 * half of the addresses, or if the 4 bytes could reach into the next page.
 */
static const uint8_t *code_at(uint64_t pc)
{
	return pc >> 47 || (pc & (PAGE_BYTES - 1)) > PAGE_BYTES - 4 ? NULL : (const uint8_t *)pc;
}

/* Empty a ring. Return: number of samples that were in it. @newest: set to the last */
static uint32_t take(void *ring, void *newest, size_t size)
{
	struct perf_event_mmap_page *control = ring;
	struct elide_pmu_counts counts = {0};
	uint64_t head, tail;

	if (!ring || taking)
		return 0;
	taking = true;
	barrier();
	/* Acquire: the kernel's records are complete, see perf_event_open(2). */
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	tail = control->data_tail;
	if (head != tail) {
		elide_pmu_ring_read((char *)ring + PAGE_BYTES, PAGE_BYTES, tail, head, newest,
				    size, &counts);
		/* Release: the kernel may now overwrite what was read. */
		__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
	}
	barrier();
	taking = false;
	return counts.nr_samples;
}

bool elide_pmu_take(void *ring, unsigned int status, struct elide_pmu_abort *abort)
{
	struct elide_pmu_sample sample;

	if (take(ring, &sample, sizeof(sample)) != 1 ||
	    !elide_pmu_agrees(status, sample.transaction))
		return false;
	abort->pc = sample.ip;
	abort->weight = sample.weight;
	abort->cause = elide_pmu_cause(policy_cause(status), sample.transaction,
				       code_at(sample.ip));
	return true;
}

void elide_pmu_skip_loads(void *ring)
{
	struct elide_pmu_load load;

	take(ring, &load, sizeof(load));
}

bool elide_pmu_take_load(void *ring, struct elide_pmu_load *load)
{
	return take(ring, load, sizeof(*load)) && load->address && !(load->address >> 47) &&
	       !(load->transaction & (PERF_TXN_TRANSACTION | PERF_TXN_ELISION));
}
