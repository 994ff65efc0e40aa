// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * topology.c - the description of the machine by CPUID and by the kernel's files.
 *
 * Prints it, and checks on each processor that the two agree.
 */
#include <cpuid.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

#define MAX_CPUS 256

static int bits_of_thread, bits_of_socket;
static unsigned int ids[MAX_CPUS];

static void read_text(int cpu, const char *name, char *text, size_t size)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	text[0] = 0;
	file = fopen(path, "r");
	check(name, file != NULL && fgets(text, size, file) != NULL, 1);
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = 0;
}

static int read_number(int cpu, const char *name)
{
	char text[100];

	read_text(cpu, name, text, sizeof(text));
	return atoi(text);
}

static void print_caches(void)
{
	unsigned int a, b, c, d, i;

	for (i = 0;; i++) {
		__cpuid_count(4, i, a, b, c, d);
		if (!(a & 31))
			break;
		printf(" L%u %u/%u shared %u", a >> 5 & 7, (c + 1) * ((b >> 22) + 1) * 64 / 1024,
		       (b >> 22) + 1, (a >> 14 & 0xfff) + 1);
	}
	printf(" sysconf %ld %ld %ld\n", sysconf(_SC_LEVEL1_DCACHE_SIZE) / 1024,
	       sysconf(_SC_LEVEL2_CACHE_SIZE) / 1024, sysconf(_SC_LEVEL3_CACHE_SIZE) / 1024);
}

static void print_levels(void)
{
	unsigned int a, b, c, d;

	__cpuid(1, a, b, c, d);
	printf("ids %u htt %u", b >> 16 & 0xff, d >> 28 & 1);
	__cpuid_count(0xb, 0, a, b, c, d);
	bits_of_thread = a;
	printf(" threads %u", b);
	__cpuid_count(0xb, 1, a, b, c, d);
	bits_of_socket = a;
	printf(" in socket %u", b);
}

static void check_cpu(int cpu)
{
	unsigned int a, b, c, d, id;
	char text[100], siblings[100];
	cpu_set_t set;
	int other;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check("affinity", sched_setaffinity(0, sizeof(set), &set), 0);
	__cpuid_count(0xb, 0, a, b, c, id);
	ids[cpu] = id;
	__cpuid(1, a, b, c, d);
	check("leaf 1's id", b >> 24, id & 0xff);
	check("socket", read_number(cpu, "physical_package_id"), id >> bits_of_socket);
	siblings[0] = 0;
	for (other = 0; other < cpu; other++) {
		check("ids differ", ids[other] == id, 0);
		if (ids[other] >> bits_of_thread != id >> bits_of_thread)
			continue;
		check("core", read_number(cpu, "core_id"), read_number(other, "core_id"));
		snprintf(siblings, sizeof(siblings), "%d,%d", other, cpu);
		read_text(cpu, "thread_siblings_list", text, sizeof(text));
		check("siblings", strcmp(text, siblings), 0);
	}
}

int main(void)
{
	int cpu, nr = sysconf(_SC_NPROCESSORS_ONLN), listed = 0;
	char line[8192];
	FILE *file;

	emu_require();
	printf("cpus %d ", nr);
	print_levels();
	print_caches();
	for (cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		check_cpu(cpu);
	file = fopen("/proc/cpuinfo", "r");
	while (file && fgets(line, sizeof(line), file))
		listed += !strncmp(line, "processor\t", 10);
	check("/proc/cpuinfo", listed, nr);
	return emu_status();
}
