// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmu.c - the processor's performance counters of transactions, over a whole run.
 *
 * The launcher opens them on itself before it forks: they are inherited and
 * begin with the exec. Must never count the launcher's own code.
 */
#include "pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../lib/compiler.h"

/* Generations of pmu.def. */
enum { HSW = 1, SKL = 2, ICL = 4 };

/* Bits of struct perf_event_attr's config on x86: IN_TX and IN_TXCP of IA32_PERFEVTSELx. */
#define IN_TX	 (1ull << 32)
#define IN_TX_CP (1ull << 33)

static const struct model {
	unsigned int model;
	unsigned int generation;
} models[] = {
#define ELIDE_PMU_MODEL(model, generation, name) {model, generation},
#include "../../lib/pmu.def"
#undef ELIDE_PMU_MODEL
};

static const struct listed {
	const char *name;
	uint64_t config;
	unsigned int generations;
} listed[] = {
#define ELIDE_PMU_EVENT(name, code, umask, flags, generations, help) \
	{name, (code) | (umask) << 8 | (flags), generations},
#include "../../lib/pmu.def"
#undef ELIDE_PMU_EVENT
};

_Static_assert(ARRAY_SIZE(listed) <= PMU_EVENTS_MAX, "room for all");

int pmu_open(struct perf_event_attr *attr)
{
	int fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

size_t pmu_events(const struct machine *m, struct pmu_event *events)
{
	unsigned int generation = 0;
	size_t nr = 0;

	for (size_t i = 0; m->family == 6 && i < ARRAY_SIZE(models); i++)
		if (models[i].model == m->model)
			generation = models[i].generation;
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (listed[i].generations & generation)
			events[nr++] = (struct pmu_event){listed[i].name, PERF_TYPE_RAW,
							  listed[i].config};
	return nr;
}

static void fill(struct perf_event_attr *attr, const struct pmu_event *event)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = event->type,
		.config = event->config,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

/* What perf_event_open(2) means by an error, on this machine. */
static void explain(const struct machine *m, int err, char *why, size_t size)
{
	switch (err) {
	case EACCES:
	case EPERM:
		snprintf(why, size,
			 "perf_event_paranoid is %d, it must be 2 or less: sysctl "
			 "kernel.perf_event_paranoid=2",
			 m->perf_paranoid);
		return;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		snprintf(why, size, "the kernel does not count these events here%s",
			 m->hypervisor ? ": the hypervisor gives the virtual machine no PMU" : "");
		return;
	case ENOSYS:
		snprintf(why, size, "the kernel has no perf events");
		return;
	default:
		snprintf(why, size, "perf_event_open: %s", strerror(err));
	}
}

/* The first obstacle that files and CPUID show. */
static int why_not_by_facts(const struct machine *m, char *why, size_t size)
{
	struct pmu_event events[PMU_EVENTS_MAX];

	if (!m->has_rtm) {
		snprintf(why, size, "no transactions to count: this processor has no RTM%s",
			 m->hypervisor ? ", or the hypervisor hides it" : "");
		return -ENODEV;
	}
	if (m->perf_paranoid == -100) {
		snprintf(why, size, "the kernel has no perf events");
		return -ENOSYS;
	}
	if (!m->has_pmu) {
		snprintf(why, size, "the kernel found no PMU%s",
			 m->hypervisor ? ": the hypervisor gives the virtual machine none" : "");
		return -ENODEV;
	}
	if (!pmu_events(m, events)) {
		snprintf(why, size, "the events of this processor are not known: %s family %u, "
			 "model 0x%x", m->vendor[0] ? m->vendor : "vendor unknown", m->family,
			 m->model);
		return -ENODEV;
	}
	return 0;
}

int pmu_why_not(const struct machine *m, pmu_open_fn *open, char *why, size_t size)
{
	struct pmu_event events[PMU_EVENTS_MAX];
	struct perf_event_attr attr;
	int rc = why_not_by_facts(m, why, size);

	if (rc)
		return rc;
	if (!open) {
		/* Above 2, which some distributions set, no event is allowed. */
		if (m->perf_paranoid <= 2)
			return 0;
		explain(m, EACCES, why, size);
		return -EACCES;
	}
	pmu_events(m, events);
	fill(&attr, &events[0]);
	rc = open(&attr);
	if (rc < 0) {
		explain(m, -rc, why, size);
		return rc;
	}
	close(rc);
	return 0;
}

int pmu_stat_open(struct pmu_stat *s, const struct pmu_event *events, size_t nr,
		  pmu_open_fn *open)
{
	int first = -ENOENT;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < nr && i < PMU_EVENTS_MAX; i++) {
		struct perf_event_attr attr;
		int fd;

		fill(&attr, &events[i]);
		fd = open(&attr);
		if (fd < 0) {
			if (!s->nr_refused++)
				first = fd;
			continue;
		}
		s->fds[s->nr] = fd;
		s->names[s->nr++] = events[i].name;
	}
	return s->nr ? 0 : first;
}

size_t pmu_stat_close(struct pmu_stat *s, struct elide_counter *counters)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct {
			uint64_t value, enabled, running;
		} r;
		ssize_t n = read(s->fds[i], &r, sizeof(r));

		close(s->fds[i]);
		/* The event was never on the processor: its number is not known. */
		if (n != sizeof(r) || !r.running)
			continue;
		counters[nr] = (struct elide_counter){
			.source = ELIDE_COUNTER_PMU,
			.value = r.running < r.enabled
					 ? (double)r.value * (double)r.enabled / (double)r.running
					 : r.value,
			.enabled_ns = r.enabled,
			.running_ns = r.running,
		};
		snprintf(counters[nr++].name, sizeof(counters->name), "%s", s->names[i]);
	}
	s->nr = 0;
	return nr;
}
