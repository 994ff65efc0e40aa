// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * topology.c - how the simulated machine describes itself: CPUID's leaves about
 * processors and caches, and the kernel's files about them.
 *
 * Only machines with caches have leaves of their own; the others show what
 * valgrind does. Must never disagree with model.h about who shares what.
 */
#include "topology.h"
#include "model.h"

/* Intel, Software Developer's Manual 2, CPUID. */
#define LEAF1_EDX_HTT (1u << 28)
#define CACHE_DATA 1
#define CACHE_UNIFIED 3
#define CACHE_SELF_INITIALISING (1u << 8)
#define LEVEL_SMT 1
#define LEVEL_CORE 2

/* Bits that number so many things. */
static UInt bits_for(Long nr)
{
	UInt bits = 0;

	while (1LL << bits < nr)
		bits++;
	return bits;
}

static Int cores_of_socket(void)
{
	return model.cores / model.sockets;
}

static UInt thread_bits(void)
{
	return bits_for(model.smt);
}

static UInt domain_bits(void)
{
	return thread_bits() + bits_for(model.domain);
}

static UInt socket_bits(void)
{
	return domain_bits() + bits_for(cores_of_socket() / model.domain);
}

/*
 * The x2APIC id: socket, domain, core and thread, each in bits of its own, so
 * that whoever shares something has the upper bits in common.
 */
static UInt apic_id(Int cpu)
{
	Int core = model_core(cpu) % cores_of_socket();

	return (UInt)model_socket(cpu) << socket_bits() |
	       (core / model.domain) << domain_bits() |
	       (core % model.domain) << thread_bits() | cpu / model.cores;
}

static void set_registers(VexGuestAMD64State *guest, UInt a, UInt b, UInt c, UInt d)
{
	guest->guest_RAX = a;
	guest->guest_RBX = b;
	guest->guest_RCX = c;
	guest->guest_RDX = d;
}

/* Leaf 1: ids in a socket, a power of two, and the id itself as far as 8 bits go. */
static void leaf_basic(VexGuestAMD64State *guest, Int cpu)
{
	UInt ids = 1u << socket_bits();

	guest->guest_RBX = (guest->guest_RBX & 0xffff) | (ids < 255 ? ids : 255) << 16 |
			   (apic_id(cpu) & 0xff) << 24;
	if (ids > 1)
		guest->guest_RDX |= LEAF1_EDX_HTT;
}

/* Leaf 4: the caches. There are none of instructions. */
static void leaf_caches(VexGuestAMD64State *guest, UInt subleaf)
{
	const struct {
		UInt type;
		Long kib;
		Long ways;
		UInt shared_bits;
	} caches[] = {
		{CACHE_DATA, model.l1_kib, model.l1_ways, thread_bits()},
		{CACHE_UNIFIED, model.l2_kib, model.l2_ways, thread_bits()},
		{CACHE_UNIFIED, model.llc_kib, model.llc_ways, domain_bits()},
	};
	UInt cores = 1u << (socket_bits() - thread_bits());

	if (subleaf >= sizeof(caches) / sizeof(caches[0])) {
		set_registers(guest, 0, 0, 0, 0);
		return;
	}
	/* There are 6 bits for the number of cores, and 10 for that of ways. */
	set_registers(guest,
		      caches[subleaf].type | (subleaf + 1) << 5 | CACHE_SELF_INITIALISING |
			      ((1u << caches[subleaf].shared_bits) - 1) << 14 |
			      ((cores < 64 ? cores : 64) - 1) << 26,
		      (LINE_SIZE - 1) | (UInt)(caches[subleaf].ways - 1) << 22,
		      caches[subleaf].kib * 1024 / LINE_SIZE / caches[subleaf].ways - 1, 0);
}

/* Leaf 0BH: threads of a core, then of a socket. */
static void leaf_topology(VexGuestAMD64State *guest, UInt subleaf, Int cpu)
{
	UInt id = apic_id(cpu);

	if (subleaf == 0)
		set_registers(guest, thread_bits(), model.smt, LEVEL_SMT << 8, id);
	else if (subleaf == 1)
		set_registers(guest, socket_bits(), model_cpus() / model.sockets,
			      subleaf | LEVEL_CORE << 8, id);
	else
		set_registers(guest, 0, 0, subleaf & 0xff, id);
}

/**
 * topology_cpuid() - correct CPUID's answer.
 * @guest: registers of the running thread
 * @leaf: what was asked
 * @subleaf: likewise
 * @cpu: the processor that answers
 */
void topology_cpuid(VexGuestAMD64State *guest, UInt leaf, UInt subleaf, Int cpu)
{
	if (!model.caches)
		return;
	switch (leaf) {
	case 0:
		if (guest->guest_RAX < 0xb)
			guest->guest_RAX = 0xb;
		break;
	case 1:
		leaf_basic(guest, cpu);
		break;
	case 4:
		leaf_caches(guest, subleaf);
		break;
	case 0xb:
		leaf_topology(guest, subleaf, cpu);
		break;
	}
}

/**
 * topology_list() - write numbers of processors as the kernel lists them.
 * @text: receives the list, a line
 * @has: is the processor in it?
 * @what: passed to @has
 *
 * Return: length of the text.
 */
SizeT topology_list(HChar *text, Bool (*has)(Int cpu, Long what), Long what)
{
	SizeT used = 0;
	Int first, last;

	for (first = 0; first < model_cpus(); first = last + 1) {
		last = first;
		if (!has(first, what))
			continue;
		while (last + 1 < model_cpus() && has(last + 1, what))
			last++;
		used += VG_(sprintf)(text + used, used ? ",%d" : "%d", first);
		if (last > first)
			used += VG_(sprintf)(text + used, "-%d", last);
	}
	return used + VG_(sprintf)(text + used, "\n");
}

static Bool on_core(Int cpu, Long other)
{
	return model_core(cpu) == model_core(other);
}

static Bool in_socket(Int cpu, Long other)
{
	return model_socket(cpu) == model_socket(other);
}

/* Core's number inside its socket. */
static Int core_id(Int cpu)
{
	return model_core(cpu) % cores_of_socket();
}

/**
 * topology_file() - a file of /sys/devices/system/cpu/cpuN/topology/.
 * @name: its name there
 * @cpu: N
 * @text: receives its text, at most 8192 bytes
 *
 * Return: length of the text, 0 if it is none of ours.
 */
SizeT topology_file(const HChar *name, Int cpu, HChar *text)
{
	if (VG_(strcmp)(name, "core_id") == 0)
		return VG_(sprintf)(text, "%d\n", core_id(cpu));
	if (VG_(strcmp)(name, "physical_package_id") == 0)
		return VG_(sprintf)(text, "%d\n", model_socket(cpu));
	if (VG_(strcmp)(name, "thread_siblings_list") == 0 ||
	    VG_(strcmp)(name, "core_cpus_list") == 0)
		return topology_list(text, on_core, cpu);
	if (VG_(strcmp)(name, "core_siblings_list") == 0 ||
	    VG_(strcmp)(name, "package_cpus_list") == 0)
		return topology_list(text, in_socket, cpu);
	return 0;
}

/* A line of /proc/cpuinfo that is about one processor. */
static Bool replace_cpuinfo(const HChar *line, Int cpu, Long *value)
{
	const struct {
		const HChar *name;
		Long value;
	} lines[] = {
		{"processor\t", cpu},
		{"cpu MHz", model.mhz},
		{"physical id", model_socket(cpu)},
		{"siblings", model_cpus() / model.sockets},
		{"core id", core_id(cpu)},
		{"cpu cores", cores_of_socket()},
		{"apicid", apic_id(cpu)},
		{"initial apicid", apic_id(cpu)},
	};
	UInt i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (VG_(strncmp)(line, lines[i].name, VG_(strlen)(lines[i].name)) == 0) {
			*value = lines[i].value;
			return True;
		}
	return False;
}

/**
 * topology_cpuinfo() - /proc/cpuinfo.
 * @text: receives it, at most as long as @host for each processor, and CPUINFO_ADDED
 * @host: what the host says of its first processor
 *
 * Of that, everything stays that is not about numbers of processors: the
 * program runs instructions of the host.
 *
 * Return: length of the text.
 */
SizeT topology_cpuinfo(HChar *text, const HChar *host)
{
	const HChar *line, *end;
	SizeT used = 0;
	Long value;
	Int cpu;

	for (cpu = 0; cpu < model_cpus(); cpu++) {
		for (line = host; (end = VG_(strchr)(line, '\n')) != NULL; line = end + 1) {
			const HChar *colon = VG_(strchr)(line, ':');

			if (end == line)
				break;
			if (colon && colon < end && replace_cpuinfo(line, cpu, &value)) {
				VG_(memcpy)(text + used, line, colon - line);
				used += colon - line;
				used += VG_(sprintf)(text + used, ": %lld\n", value);
			} else {
				VG_(memcpy)(text + used, line, end + 1 - line);
				used += end + 1 - line;
			}
		}
		text[used++] = '\n';
	}
	return used;
}
