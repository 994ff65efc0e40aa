// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * topology.c - how the simulated machine describes itself: the leaves of CPUID about processors and
 * caches, and the kernel's files about processors.
 *
 * On a machine without caches CPUID has Valgrind's own leaves. Must never disagree with model.h
 * about which hardware threads share a core, a cache or a socket.
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

/* Number of bits that number @nr things. */
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
 * The x2APIC id: the numbers of socket, domain, core and hardware thread, each in bits of its own,
 * so that processors that share a part of the machine have the upper bits in common.
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

/* Leaf 1: number of ids in a socket, a power of two, and the lower 8 bits of the processor's id. */
static void leaf_basic(VexGuestAMD64State *guest, Int cpu)
{
	UInt ids = 1u << socket_bits();

	guest->guest_RBX = (guest->guest_RBX & 0xffff) | (ids < 255 ? ids : 255) << 16 |
			   (apic_id(cpu) & 0xff) << 24;
	if (ids > 1)
		guest->guest_RDX |= LEAF1_EDX_HTT;
}

/* Leaf 4: the caches. The simulated machine has no instruction caches. */
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
	/* The field for the number of cores has 6 bits, that for the number of ways 10. */
	set_registers(guest,
		      caches[subleaf].type | (subleaf + 1) << 5 | CACHE_SELF_INITIALISING |
			      ((1u << caches[subleaf].shared_bits) - 1) << 14 |
			      ((cores < 64 ? cores : 64) - 1) << 26,
		      (LINE_SIZE - 1) | (UInt)(caches[subleaf].ways - 1) << 22,
		      caches[subleaf].kib * 1024 / LINE_SIZE / caches[subleaf].ways - 1, 0);
}

/* Leaf 0BH: the hardware threads of a core, then those of a socket. */
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
 * @leaf: EAX before the instruction
 * @subleaf: ECX before the instruction
 * @cpu: the processor that executes it
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
 * topology_list() - write numbers of processors in the kernel's form.
 * @text: receives the list, such as "0-3,8", and a newline
 * @has: is a processor in the list?
 * @what: second argument of @has
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

/* The number of a processor's core inside its socket. */
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
 * Return: length of the text, 0 if the file is not simulated.
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

/* Whether a line of /proc/cpuinfo has another number than the host's; @value receives it. */
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
 * @text: receives it: for each processor at most the length of @host and CPUINFO_ADDED bytes
 * @host: the host's /proc/cpuinfo, of which the first processor is used
 *
 * Everything except the numbers of processors and their clock remains, as the program runs
 * instructions of the host.
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
