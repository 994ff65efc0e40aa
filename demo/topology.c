// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * topology.c - one thread for each core first, then the second ones.
 *
 * As Karnagel et al., HPCA 2014, section 4.1: four threads have a core each,
 * eight share four cores in pairs.
 */
#include "topology.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* struct processor - one of those that this process may use; @rank among those of its core */
struct processor {
	unsigned int number;
	int package, core;
	unsigned int rank;
};

/* A number that the kernel tells of a processor; the processor's own where it does not. */
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
 * topology_order() - the processors of this process in the order threads get them
 * @cpus: receives their numbers; TOPOLOGY_MAX elements
 *
 * Return: how many there are, 0 if the kernel does not tell.
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
