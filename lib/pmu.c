/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu.c - samples of aborts by the processor's performance counters.
 *
 * Must never be called inside a transaction. Opening and closing make system
 * calls; elide_pmu_take(), which every abort calls, makes none.
 */
#include "pmu.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler.h"
#include "log.h"
#include "policy.h"
#include "rtm.h"
#include "syscalls.h"

/* One page of control and one of data; a sample takes 40 bytes of that, one is needed. */
#define PAGE_BYTES 4096
#define RING_BYTES (2 * PAGE_BYTES)

/* The kernel throttles an event that interrupts more often than it allows. */
#define PERIOD_DEFAULT 64

static struct {
	bool on;
	bool said; /* why there is no event: once */
	uint32_t period;
} pmu;

/* What elide_pmu_detach() has to put memory in place of; a thread's block is wiped by a fork. */
static __thread void *own_ring;
/* In elide_pmu_take(): a handler's aborts are left to the interrupted call. */
static __thread bool taking;

/* Does Intel's list of this processor have the event? */
static bool is_known(unsigned int family, unsigned int model)
{
	static const uint8_t models[] = {
#define ELIDE_PMU_MODEL(model, generation, name) model,
#include "pmu.def"
#undef ELIDE_PMU_MODEL
	};

	for (size_t i = 0; family == 6 && i < ARRAY_SIZE(models); i++)
		if (models[i] == model)
			return true;
	return false;
}

/* RTM_RETIRED.ABORTED, which has the same code in all of pmu.def, with PEBS. */
static int choose(struct perf_event_attr *attr)
{
	unsigned int a, b, c, d, family, model;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_INTEL_ebx)
		return -ENODEV;
	__get_cpuid(1, &a, &b, &c, &d);
	family = a >> 8 & 0xf;
	model = (a >> 4 & 0xf) | (a >> 12 & 0xf0);
	if (!is_known(family, model))
		return -ENODEV;
	attr->type = PERF_TYPE_RAW;
	attr->config = 0x04c9;
	attr->sample_period = pmu.period;
	/* 2: the address is that of the instruction, not of the next one. */
	attr->precise_ip = 2;
	return 0;
}

int (*elide_pmu_choose)(struct perf_event_attr *attr) = choose;

/* In words, as strerror() may take memory. */
static const char *reason(int err)
{
	switch (err) {
	case ENODEV:
		return "the events of this processor are not known";
	case EACCES:
	case EPERM:
		return "not permitted: /proc/sys/kernel/perf_event_paranoid must be 2 or less, "
		       "and perf_event_mlock_kb leave 8 KiB for each thread";
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

static void *map_event(int *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = ELIDE_PMU_SAMPLE_TYPE,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	void *ring;
	int fd;

	*err = -elide_pmu_choose(&attr);
	if (*err)
		return NULL;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		*err = errno;
		return NULL;
	}
	ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*err = errno;
	sys_close(fd);
	return ring == MAP_FAILED ? NULL : ring;
}

void *elide_pmu_open(void)
{
	int saved = errno, err;

	if (!pmu.on)
		return NULL;
	own_ring = map_event(&err);
	if (!own_ring && !__atomic_exchange_n(&pmu.said, true, __ATOMIC_RELAXED))
		elide_log("ELIDE_PMU=abort: aborts are not sampled%s: %s",
			  err == EPERM || err == EMFILE ? " in every thread" : "", reason(err));
	errno = saved;
	return own_ring;
}

void elide_pmu_close(void *ring)
{
	int saved = errno;

	if (!ring)
		return;
	if (ring == own_ring)
		own_ring = NULL;
	munmap(ring, RING_BYTES);
	errno = saved;
}

void elide_pmu_start(uint32_t period)
{
	pmu.period = period ? period : PERIOD_DEFAULT;
	pmu.on = true;
	pmu.said = false;
	/* Whether it can be had is told at the start, not at the first lock. */
	elide_pmu_close(elide_pmu_open());
	pmu.on = !pmu.said;
}

uint32_t elide_pmu_period(void)
{
	return pmu.period;
}

void elide_pmu_detach(void)
{
	if (own_ring)
		mmap(own_ring, RING_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	own_ring = NULL;
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
 * Instructions that do nothing but compute, load and store: they abort a
 * transaction themselves only by a fault. Encodings: Intel SDM vol. 2, appendix A.
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

/* CPUID, PAUSE, and what the loader's lazy binding begins with: FXSAVE, XSAVE, XSAVEC. */
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
	/* Operand size, then REX. */
	code += *code == 0x66;
	code += (*code & 0xf0) == 0x40;
	if (is_syscall(code))
		return ELIDE_CAUSE_syscall;
	if (is_unfriendly(code))
		return ELIDE_CAUSE_instruction;
	return is_plain(code) ? ELIDE_CAUSE_fault : cause;
}

/* The instruction was just executed by this thread; the kernel's half is not ours to read. */
static const uint8_t *code_at(uint64_t pc)
{
	return pc >> 47 || (pc & (PAGE_BYTES - 1)) > PAGE_BYTES - 4 ? NULL : (const uint8_t *)pc;
}

bool elide_pmu_take(void *ring, unsigned int status, struct elide_pmu_abort *abort)
{
	struct perf_event_mmap_page *control = ring;
	struct elide_pmu_sample sample;
	struct elide_pmu_news news;
	uint64_t head, tail;

	if (!ring || taking)
		return false;
	taking = true;
	barrier();
	/* Acquire: after it the kernel's records are there, see perf_event_open(2). */
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	tail = control->data_tail;
	if (head != tail) {
		elide_pmu_ring_read((char *)ring + PAGE_BYTES, PAGE_BYTES, tail, head, &sample,
				    &news);
		/* Release: the kernel may write over what has been read. */
		__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
	}
	barrier();
	taking = false;
	if (head == tail || news.nr_samples != 1 || !elide_pmu_agrees(status, sample.transaction))
		return false;
	abort->pc = sample.ip;
	abort->weight = sample.weight;
	abort->cause = elide_pmu_cause(policy_cause(status), sample.transaction,
				       code_at(sample.ip));
	return true;
}
