// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * procfs.c - files in which the kernel describes the machine and the process.
 *
 * Those that programs commonly count processors or measure memory by describe
 * the simulated machine instead, and say the same in every run. The guest
 * gets an anonymous file with the text.
 */
#include "rtmgrind.h"
#include "host.h"
#include "pub_tool_aspacemgr.h"

#define CPU_DIR "/sys/devices/system/cpu/"
#define PAGE_KIB 4
#define TEXT_MAX 8192

/**
 * procfs_mapped_kib() - memory of the program.
 *
 * Return: KiB that it has mapped, touched or not.
 */
SizeT procfs_mapped_kib(void)
{
	const UInt client = SkAnonC | SkFileC | SkShmC;
	Addr starts[4096];
	SizeT kib = 0;
	Int i, nr;

	nr = VG_(am_get_segment_starts)(client, starts, sizeof(starts) / sizeof(starts[0]));
	for (i = 0; i < nr; i++) {
		const NSegment *segment = VG_(am_find_nsegment)(starts[i]);

		kib += (segment->end + 1 - segment->start) / 1024;
	}
	return kib;
}

static SizeT cpu_list(HChar *text)
{
	if (opt.cores == 1)
		return VG_(sprintf)(text, "0\n");
	return VG_(sprintf)(text, "0-%lld\n", opt.cores - 1);
}

/* A machine of 16 GiB, half of it free. */
static SizeT meminfo(HChar *text)
{
	return VG_(sprintf)(text, "MemTotal:       16777216 kB\nMemFree:         8388608 kB\n"
				  "MemAvailable:    8388608 kB\nBuffers:               0 kB\n"
				  "Cached:                0 kB\nSwapTotal:             0 kB\n"
				  "SwapFree:              0 kB\n");
}

static SizeT self_statm(HChar *text)
{
	SizeT pages = procfs_mapped_kib() / PAGE_KIB;

	return VG_(sprintf)(text, "%lu %lu 0 0 0 %lu 0\n", pages, pages, pages);
}

/* Lines of /proc/self/status whose number differs from run to run, and is shown as mapped memory
 * or as 0.
 */
static Bool varies(const HChar *line, Bool *memory)
{
	*memory = VG_(strncmp)(line, "Vm", 2) == 0 || VG_(strncmp)(line, "Rss", 3) == 0;
	return *memory || VG_(strncmp)(line, "voluntary", 9) == 0 ||
	       VG_(strncmp)(line, "nonvoluntary", 12) == 0;
}

/* Process ids, whose number of digits must not decide how long the program takes to read on. */
static Bool is_id(const HChar *line)
{
	static const HChar *const names[] = {"Tgid:", "Pid:", "PPid:", "NStgid:", "NSpid:",
					     "NSpgid:", "NSsid:"};
	UInt i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (VG_(strncmp)(line, names[i], VG_(strlen)(names[i])) == 0)
			return True;
	return False;
}

static SizeT self_status(HChar *text)
{
	static HChar real[TEXT_MAX / 2];
	Long fd = host_syscall(__NR_open, (Long)"/proc/self/status", 0, 0, 0, 0, 0);
	Long size = host_syscall(__NR_read, fd, (Long)real, sizeof(real) - 1, 0, 0, 0);
	SizeT used = 0;
	HChar *line, *end;
	Bool memory;

	host_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
	real[size > 0 ? size : 0] = 0;
	for (line = real; (end = VG_(strchr)(line, '\n')) != NULL; line = end + 1) {
		*end = 0;
		if (varies(line, &memory)) {
			HChar *colon = VG_(strchr)(line, ':');

			*colon = 0;
			used += VG_(sprintf)(text + used, memory ? "%s:\t%8lu kB\n" : "%s:\t%lu\n",
					     line, memory ? procfs_mapped_kib() : 0);
		} else if (is_id(line)) {
			HChar *number = VG_(strchr)(line, ':') + 1;

			*number++ = 0;
			used += VG_(sprintf)(text + used, "%s\t%07lld\n", line,
					     VG_(strtoll10)(number, NULL));
		} else {
			used += VG_(sprintf)(text + used, "%s\n", line);
		}
	}
	return used;
}

static const struct {
	const HChar *name;
	SizeT (*write)(HChar *text);
} files[] = {
	{CPU_DIR "online", cpu_list},
	{CPU_DIR "present", cpu_list},
	{CPU_DIR "possible", cpu_list},
	{"/proc/meminfo", meminfo},
	{"/proc/self/statm", self_statm},
	{"/proc/self/status", self_status},
};

/* Compares strings of which the guest's may end at the end of its memory. */
static Bool same_name(Addr guest_name, const HChar *name)
{
	return guest_may(guest_name, VG_(strlen)(name) + 1, VKI_PROT_READ) &&
	       VG_(strcmp)((const HChar *)guest_name, name) == 0;
}

/**
 * procfs_open() - open or openat.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict procfs_open(VexGuestAMD64State *guest)
{
	Addr name = guest->guest_RAX == __NR_open ? guest->guest_RDI : guest->guest_RSI;
	static HChar text[TEXT_MAX];
	SizeT size;
	UInt i;
	Long fd;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (same_name(name, files[i].name))
			break;
	if (i == sizeof(files) / sizeof(files[0]))
		return SYSCALL_REAL;
	fd = host_syscall(__NR_memfd_create, (Long)"rtmgrind", 0, 0, 0, 0, 0);
	if (fd < 0)
		return SYSCALL_REAL;
	size = files[i].write(text);
	host_syscall(__NR_pwrite64, fd, (Long)text, size, 0, 0, 0);
	guest->guest_RAX = fd;
	return SYSCALL_DONE;
}
