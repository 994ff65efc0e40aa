// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * procfs.c - files of /proc and /sys in which the kernel describes the machine and the process.
 *
 * The files from which programs commonly read the number of processors or the use of memory
 * describe the simulated machine instead, and have the same text in every run. The program gets a
 * descriptor of an anonymous file with that text.
 *
 * Must never show a number that differs from run to run.
 */
#include "procfs.h"
#include "pub_tool_aspacemgr.h"
#include "access.h"
#include "affinity.h"
#include "guest.h"
#include "host.h"
#include "image.h"
#include "limit.h"
#include "model.h"
#include "startup.h"
#include "topology.h"

/* Valgrind's own, not in its headers: the program's file, by descriptor (until 3.23) or by name. */
extern Int VG_(cl_exec_fd);
extern const HChar *VG_(resolved_exename) __attribute__((weak));

#define CPU_DIR "/sys/devices/system/cpu/"
#define PAGE_KIB 4
#define TEXT_MAX 8192

static SizeT mapped_kib(void)
{
	return limit_mapped(0, ~0UL) / 1024;
}

static Bool any_cpu(Int cpu, Long unused)
{
	return True;
}

static SizeT cpu_list(HChar *text)
{
	return topology_list(text, any_cpu, 0);
}

static SizeT self_statm(HChar *text)
{
	SizeT pages = mapped_kib() / PAGE_KIB;

	return VG_(sprintf)(text, "%lu %lu 0 0 0 %lu 0\n", pages, pages, pages);
}

/* The text of a file of the host. */
static HChar *host_text(const HChar *name)
{
	static HChar real[TEXT_MAX / 2];

	host_read_file(name, real, sizeof(real));
	return real;
}

static Bool starts_with(const HChar *text, const HChar *with)
{
	return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

/* A line of /proc/self/status with the id of a process. */
static Bool is_id(const HChar *line)
{
	return starts_with(line, "Pid") || starts_with(line, "PPid") || starts_with(line, "Tgid") ||
	       starts_with(line, "NS");
}

/*
 * Copies a file of the host with lines "name: number unit". @replace returns True for a line with
 * another number on the simulated machine. The lines about affinity are the main thread's.
 */
static SizeT copy_lines(HChar *text, const HChar *name, Bool (*replace)(const HChar *, SizeT *))
{
	HChar *line, *end;
	SizeT used = 0;

	for (line = host_text(name); (end = VG_(strchr)(line, '\n')) != NULL; line = end + 1) {
		HChar *colon = VG_(strchr)(line, ':');
		SizeT number;

		*end = 0;
		if (starts_with(line, "Cpus_allowed")) {
			*colon = 0;
			used += VG_(sprintf)(text + used, "%s:\t", line);
			used += colon[-1] == 't' ? affinity_list(text + used) :
						   affinity_mask(text + used);
			continue;
		}
		/* Signals queued for all processes of the user: N/LIMIT. */
		if (starts_with(line, "SigQ")) {
			const HChar *limit = VG_(strchr)(line, '/');

			used += VG_(sprintf)(text + used, "SigQ:\t0%s\n", limit ? limit : "");
			continue;
		}
		if (!colon || !replace(line, &number)) {
			used += VG_(sprintf)(text + used, "%s\n", line);
			continue;
		}
		*colon = 0;
		used += VG_(sprintf)(text + used, is_id(line) ? "%s:\t%08lu%s\n" : "%s:\t%8lu%s\n", line,
				     number, VG_(strstr)(colon + 1, " kB") ? " kB" : "");
	}
	return used;
}

/*
 * In /proc/self/status, memory is the size of the program's mappings, and the numbers of context
 * switches and of the NUMA group are 0. The ids of processes remain, though they differ from run to run;
 * all get the same number of digits, so that a program takes the same time to read them in every run.
 */
static Bool replace_status(const HChar *line, SizeT *number)
{
	const HChar *tab = VG_(strchr)(line, '\t');

	if (starts_with(line, "Vm") || starts_with(line, "Rss"))
		*number = mapped_kib();
	else if (starts_with(line, "voluntary") || starts_with(line, "nonvoluntary") ||
		 starts_with(line, "Ngid"))
		*number = 0;
	else if (tab && !VG_(strchr)(tab + 1, '\t') && is_id(line))
		*number = VG_(strtoull10)(tab + 1, NULL);
	else
		return False;
	return True;
}

static SizeT self_status(HChar *text)
{
	return copy_lines(text, "/proc/self/status", replace_status);
}

/* In /proc/meminfo, the program is the only one that uses the memory of the simulated machine. */
static Bool replace_meminfo(const HChar *line, SizeT *number)
{
	static SizeT total;

	if (starts_with(line, "MemTotal")) {
		total = VG_(strtoull10)(line + sizeof("MemTotal:") - 1, NULL);
		return False;
	}
	if (VG_(strstr)(line, "Total") || starts_with(line, "Hugepagesize") ||
	    starts_with(line, "CommitLimit"))
		return False;
	*number = 0;
	if (starts_with(line, "MemFree") || starts_with(line, "MemAvailable"))
		*number = total > mapped_kib() ? total - mapped_kib() : 0;
	return True;
}

static SizeT meminfo(HChar *text)
{
	return copy_lines(text, "/proc/meminfo", replace_meminfo);
}

/*
 * /proc/self/stat, see proc(5). Fields 1 to 9 (ids, state, terminal) and 18 to 22 (priority, number
 * of threads, start time) are the host's. The ids of processes have 7 digits, with leading zeros,
 * as single blanks separate the fields. Field 23 is the size of the program's mappings in bytes,
 * 24 in pages. All others (times, faults, addresses) are 0.
 */
static SizeT self_stat(HChar *text)
{
	HChar *real = host_text("/proc/self/stat"), *at = VG_(strrchr)(real, ')');
	SizeT used;
	Int field;

	if (!at)
		return 0;
	at[1] = 0;
	used = VG_(sprintf)(text, "%07d %s", VG_(getpid)(), VG_(strchr)(real, '('));
	at += 2;
	for (field = 3; field <= 52; field++) {
		HChar *end = VG_(strchr)(at, ' ');

		if (end)
			*end = 0;
		if (field >= 4 && field <= 8 && *at != '-')
			used += VG_(sprintf)(text + used, " %07lld", VG_(strtoll10)(at, NULL));
		else if (field <= 9 || (field >= 18 && field <= 22))
			used += VG_(sprintf)(text + used, " %s", at);
		else if (field == 23 || field == 24)
			used += VG_(sprintf)(text + used, " %lu", field == 23 ?
					     mapped_kib() * 1024 :
					     mapped_kib() / PAGE_KIB);
		else
			used += VG_(sprintf)(text + used, " 0");
		at = end ? end + 1 : at;
	}
	return used + VG_(sprintf)(text + used, "\n");
}

static const struct {
	const HChar *name;
	SizeT (*write)(HChar *text);
} files[] = {
	{CPU_DIR "online", cpu_list},
	{CPU_DIR "present", cpu_list},
	{CPU_DIR "possible", cpu_list},
	{"/proc/meminfo", meminfo},
	{"/proc/self/stat", self_stat},
	{"/proc/self/statm", self_statm},
	{"/proc/self/status", self_status},
};

/* Compares a string in guest memory, whose end may not be readable, with another one. */
static Bool same_name(Addr guest_name, const HChar *name)
{
	return guest_may(guest_name, VG_(strlen)(name) + 1, VKI_PROT_READ) &&
	       VG_(strcmp)((const HChar *)guest_name, name) == 0;
}

/* Whether a name is that of a file, for /proc/self/... also by the process's own id. */
static Bool is_file(Addr guest_name, const HChar *name)
{
	static const HChar self[] = "/proc/self/";
	HChar by_pid[64];

	if (same_name(guest_name, name))
		return True;
	if (!starts_with(name, self))
		return False;
	VG_(sprintf)(by_pid, "/proc/%d/%s", VG_(getpid)(), name + sizeof(self) - 1);
	return same_name(guest_name, by_pid);
}

/* The text of the file CPU_DIR cpuN/topology/NAME; 0 if the name is another one. */
static SizeT cpu_file(Addr guest_name, HChar *text)
{
	static const HChar dir[] = CPU_DIR "cpu", topology[] = "/topology/";
	HChar name[100], *end;
	Long cpu;
	UInt i;

	/* The end of the guest's string may not be readable. */
	for (i = 0; i < sizeof(name); i++) {
		if (!guest_may(guest_name + i, 1, VKI_PROT_READ))
			return 0;
		name[i] = ((const HChar *)guest_name)[i];
		if (!name[i])
			break;
		if (i < sizeof(dir) - 1 && name[i] != dir[i])
			return 0;
	}
	if (i == sizeof(name) || i < sizeof(dir))
		return 0;
	cpu = VG_(strtoll10)(name + sizeof(dir) - 1, &end);
	if (cpu < 0 || cpu >= model_cpus() || !starts_with(end, topology))
		return 0;
	return topology_file(end + sizeof(topology) - 1, cpu, text);
}

/* Opens an anonymous file with a text. Return: its descriptor, or -errno. */
static Long open_text(const HChar *text, SizeT size)
{
	Long fd = host_syscall(__NR_memfd_create, (Long)"rtmgrind", 0, 0, 0, 0, 0);

	if (fd >= 0)
		host_syscall(__NR_pwrite64, fd, (Long)text, size, 0, 0, 0);
	return fd;
}

/* Opens /proc/cpuinfo, whose length depends on the number of processors. */
static Long open_cpuinfo(void)
{
	const HChar *host = host_text("/proc/cpuinfo");
	SizeT room = (VG_(strlen)(host) + CPUINFO_ADDED) * model_cpus();
	HChar *text = VG_(malloc)("rtmgrind.cpuinfo", room);
	Long fd = open_text(text, topology_cpuinfo(text, host));

	VG_(free)(text);
	return fd;
}

/**
 * procfs_open() - open(2) or openat(2) of a file.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict procfs_open(VexGuestAMD64State *guest)
{
	Addr name = guest->guest_RAX == __NR_open ? guest->guest_RDI : guest->guest_RSI;
	static HChar text[TEXT_MAX];
	SizeT size = 0;
	UInt i;
	Long fd;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && !size; i++)
		if (is_file(name, files[i].name))
			size = files[i].write(text);
	if (!size)
		size = cpu_file(name, text);
	if (size) {
		fd = open_text(text, size);
	} else if (same_name(name, "/proc/cpuinfo")) {
		fd = open_cpuinfo();
	} else {
		return SYSCALL_REAL;
	}
	if (fd < 0)
		return SYSCALL_REAL;
	guest->guest_RAX = fd;
	return SYSCALL_DONE;
}

/* The name of the program's file. Return: its length; not above 0 if it is not known. */
static Long own_name(HChar *text, SizeT size)
{
	const HChar *name = &VG_(resolved_exename) ? VG_(resolved_exename) : NULL;
	HChar link[32];

	if (name) {
		VG_(strncpy)(text, name, size);
		return text[size - 1] ? 0 : VG_(strlen)(name);
	}
	VG_(sprintf)(link, "/proc/self/fd/%d", VG_(cl_exec_fd));
	return host_syscall(__NR_readlink, (Long)link, (Long)text, size, 0, 0, 0);
}

static Bool reads_own_name(Addr name)
{
	static const HChar own[] = "/proc/self/exe";

	return guest_may(name, sizeof(own), VKI_PROT_READ) &&
	       VG_(memcmp)((const void *)name, own, sizeof(own)) == 0;
}

/**
 * procfs_readlink() - answer readlink(2) or readlinkat(2) of /proc/self/exe.
 * @guest: registers of the running thread
 *
 * The name is padded while startup_copies_names(). Valgrind 3.24 answers readlinkat(2) with the
 * name of the tool.
 *
 * Return: what to do with the call.
 */
enum syscall_verdict procfs_readlink(VexGuestAMD64State *guest)
{
	Bool at = guest->guest_RAX == __NR_readlinkat;
	Addr buffer = at ? guest->guest_RDX : guest->guest_RSI;
	Long size = at ? guest->guest_R10 : guest->guest_RDX;
	HChar text[VKI_PATH_MAX], padded[VKI_PATH_MAX + PADDED], *name = text;
	Long length;

	if (!reads_own_name(at ? guest->guest_RSI : guest->guest_RDI) || size <= 0)
		return SYSCALL_REAL;
	length = own_name(text, sizeof(text));
	if (length <= 0 || length == sizeof(text))
		return SYSCALL_REAL;
	if (startup_copies_names()) {
		length = image_pad_name(padded, text, length);
		name = padded;
	}
	if (length > size)
		length = size;
	if (!access_kernel_write(buffer, length))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	VG_(memcpy)((void *)buffer, name, length);
	return guest_answer(guest, length);
}
