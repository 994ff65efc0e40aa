// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * topology.c - orders processors: first one of each core, then the second of each.
 *
 * This is the placement of Karnagel et al., HPCA 2014, section 4.1: four threads
 * have a core each, eight threads share four cores in pairs.
 */
#include "topology.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * struct processor - a processor that this process may use
 * @number: number of the processor
 * @package: number of its package
 * @core: number of its core within the package
 * @rank: number of processors of the same core with lower numbers
 */
struct processor {
	unsigned int number;
	int package, core;
	unsigned int rank;
};

/* Read a number of /sys/devices/system/cpu/cpuN/topology; without the file it is @cpu. */
static int topology_read(unsigned int cpu, const char *what)
{
	char path[80];
	int value = (int)cpu;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
	file = fopen(path, "re");
	if (!file)
		return value;
	if (fscanf(file, "%d", &value) != 1)
		value = (int)cpu;
	fclose(file);
	return value;
}

static int processor_cmp(const void *a, const void *b)
{
	const struct processor *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->package != y->package)
		return x->package < y->package ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/**
 * topology_order() - the processors of this process in the order for --pin
 * @cpus: receives their numbers; has TOPOLOGY_MAX elements
 *
 * Return: the number of processors, 0 if sched_getaffinity() fails.
 */
unsigned int topology_order(unsigned int *cpus)
{
	static struct processor all[TOPOLOGY_MAX];
	unsigned int nr = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && nr < TOPOLOGY_MAX; cpu++) {
		struct processor *p = &all[nr];

		if (!CPU_ISSET(cpu, &set))
			continue;
		*p = (struct processor){
			.number = cpu,
			.package = topology_read(cpu, "physical_package_id"),
			.core = topology_read(cpu, "core_id"),
		};
		for (unsigned int i = 0; i < nr; i++)
			p->rank += all[i].package == p->package && all[i].core == p->core;
		nr++;
	}
	qsort(all, nr, sizeof(all[0]), processor_cmp);
	for (unsigned int i = 0; i < nr; i++)
		cpus[i] = all[i].number;
	return nr;
}

/**
 * topology_warn() - warn on stderr of more threads than processors that this process may use
 * @program: the program, which the line names
 * @threads: number of its threads
 *
 * The holder of a latch may then have no processor, so numbers are not those of the latches.
 */
void topology_warn(const char *program, uint64_t threads)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || threads <= (uint64_t)CPU_COUNT(&set))
		return;
	fprintf(stderr, "%s: warning: --threads=%" PRIu64 " on %d processor%s: threads also wait for "
		"a processor\n", program, threads, CPU_COUNT(&set), CPU_COUNT(&set) > 1 ? "s" : "");
}
