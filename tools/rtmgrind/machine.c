// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * machine.c - the properties of the simulated machine that the program can see.
 *
 * These are CPUID, the time-stamp counter, the number of processors, resource limits and usage, and
 * sources of randomness, which are seeded. Must never show a property of the host that differs
 * from run to run.
 */
#include "machine.h"
#include "pub_tool_machine.h"
#include "access.h"
#include "account.h"
#include "affinity.h"
#include "guest.h"
#include "image.h"
#include "limit.h"
#include "model.h"
#include "options.h"
#include "procfs.h"
#include "rng.h"
#include "startup.h"
#include "time.h"
#include "topology.h"
#include "vthread.h"

/* Leaf 1 EAX: family 6, model 0x55, stepping 7 (Cascade Lake): glibc does not disable RTM on it. */
#define CPU_SIGNATURE 0x50657
#define LEAF1_ECX_RDRAND (1u << 30)
#define LEAF7_EBX_HLE (1u << 4)
#define LEAF7_EBX_RTM (1u << 11)
#define LEAF7_EBX_RDSEED (1u << 18)
#define LEAF7_EDX_RTM_ALWAYS_ABORT (1u << 11)

/* include/uapi/linux/resource.h */
#define RUSAGE_THREAD 1

/* Valgrind's own, not in its installed headers: number of descriptors that the program may have. */
extern Int VG_(fd_hard_limit);

static struct rng guest_rng;
static UInt cpuid_leaf, cpuid_subleaf;

/** machine_init() - prepare, once the options are known. */
void machine_init(void)
{
	rng_seed(&guest_rng, opt.seed, 2);
}

static void fill_random(UChar *buffer, SizeT size)
{
	SizeT i;

	for (i = 0; i < size; i++)
		buffer[i] = rng_next(&guest_rng);
}

/**
 * machine_first_insn() - lay out the program's stack, and replace the kernel's random bytes on it.
 * @tid: a thread that begins; the program begins with the first one
 */
void machine_first_insn(ThreadId tid)
{
	static Bool begun;
	const UWord *auxv;

	/* A later thread may have the number of the first one, if that has ended. */
	if (tid != 1 || begun)
		return;
	begun = True;
	auxv = image_lay_out(tid);
	startup_init(auxv);
	for (; auxv[0] != AT_NULL; auxv += 2)
		if (auxv[0] == AT_RANDOM)
			fill_random((UChar *)auxv[1], 16);
}

/**
 * machine_cpuid_enter() - called in front of CPUID: remember its leaf and subleaf.
 * @guest: registers of the running thread
 */
void machine_cpuid_enter(VexGuestAMD64State *guest)
{
	cpuid_leaf = guest->guest_RAX;
	cpuid_subleaf = guest->guest_RCX;
}

static Int current_core(void)
{
	return current_vthread()->core < 0 ? 0 : current_vthread()->core;
}

/**
 * machine_cpuid_leave() - called after CPUID: correct Valgrind's answer.
 * @guest: registers of the running thread
 *
 * RDRAND and RDSEED are hidden, as their results differ from run to run.
 */
void machine_cpuid_leave(VexGuestAMD64State *guest)
{
	topology_cpuid(guest, cpuid_leaf, cpuid_subleaf, current_core());
	switch (cpuid_leaf) {
	case 0:
		if (guest->guest_RAX < 7)
			guest->guest_RAX = 7;
		break;
	case 1:
		guest->guest_RAX = CPU_SIGNATURE;
		guest->guest_RCX &= ~(ULong)LEAF1_ECX_RDRAND;
		break;
	case 7:
		if (cpuid_subleaf != 0)
			break;
		guest->guest_RBX &= ~(ULong)(LEAF7_EBX_HLE | LEAF7_EBX_RTM | LEAF7_EBX_RDSEED);
		guest->guest_RDX &= ~(ULong)LEAF7_EDX_RTM_ALWAYS_ABORT;
		if (opt.rtm)
			guest->guest_RBX |= LEAF7_EBX_RTM;
		if (model.hle)
			guest->guest_RBX |= LEAF7_EBX_HLE;
		break;
	}
}

/**
 * machine_rdtsc() - the value of the time-stamp counter, for RDTSC.
 *
 * Return: virtual time, cycles.
 */
ULong machine_rdtsc(void)
{
	startup_rdtsc();
	return account_now();
}

/* Bit position of the NUMA node in the processor's number as RDTSCP has it (VDSO_CPUNODE_BITS). */
#define NODE_SHIFT 12

/**
 * machine_rdtscp() - RDTSCP: the time-stamp counter, and in ECX the processor and its NUMA node.
 * @guest: registers of the running thread
 */
void machine_rdtscp(VexGuestAMD64State *guest)
{
	ULong now = machine_rdtsc();

	guest->guest_RAX = (UInt)now;
	guest->guest_RDX = now >> 32;
	guest->guest_RCX = current_core() | model_socket(current_core()) << NODE_SHIFT;
}

static enum syscall_verdict getcpu(VexGuestAMD64State *guest)
{
	UInt *cpu = (UInt *)guest->guest_RDI;
	UInt *node = (UInt *)guest->guest_RSI;

	if ((cpu && !access_kernel_write((Addr)cpu, sizeof(*cpu))) ||
	    (node && !access_kernel_write((Addr)node, sizeof(*node))))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	if (cpu)
		*cpu = current_core();
	if (node)
		*node = model_socket(current_core());
	return guest_answer(guest, 0);
}

static enum syscall_verdict getrandom(VexGuestAMD64State *guest)
{
	Addr buffer = guest->guest_RDI;
	SizeT size = guest->guest_RSI;

	if (size && !access_kernel_write(buffer, size))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	fill_random((UChar *)buffer, size);
	return guest_answer(guest, size);
}

/*
 * getrusage(2): the processor time is virtual, the resident size is the size of the program's
 * mappings, and all other numbers are 0.
 */
static enum syscall_verdict getrusage(VexGuestAMD64State *guest)
{
	Int who = guest->guest_RDI;
	struct vki_rusage *usage = (struct vki_rusage *)guest->guest_RSI;
	Long ns;

	if (who != VKI_RUSAGE_SELF && who != RUSAGE_THREAD)
		return SYSCALL_REAL;
	if (!access_kernel_write((Addr)usage, sizeof(*usage)))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	ns = model_ns(time_cpu_cycles(who == VKI_RUSAGE_SELF));
	VG_(memset)(usage, 0, sizeof(*usage));
	usage->ru_utime.tv_sec = ns / NS_PER_SECOND;
	usage->ru_utime.tv_usec = ns % NS_PER_SECOND / 1000;
	usage->ru_maxrss = limit_mapped(0, ~0UL) / 1024;
	return guest_answer(guest, 0);
}

/*
 * Valgrind keeps the highest descriptors for itself and refuses to lower the hard limit. Servers
 * that lower both limits together would end, so the call succeeds without an effect.
 */
static enum syscall_verdict set_limit(VexGuestAMD64State *guest, UInt resource, Addr limit)
{
	const struct vki_rlimit *wanted = (const struct vki_rlimit *)limit;

	if (resource != VKI_RLIMIT_NOFILE || !guest_may(limit, sizeof(*wanted), VKI_PROT_READ) ||
	    wanted->rlim_cur > wanted->rlim_max || wanted->rlim_max >= (UWord)VG_(fd_hard_limit))
		return SYSCALL_REAL;
	return guest_answer(guest, 0);
}

/**
 * machine_call() - system calls about the machine.
 * @guest: registers of the running thread
 * @ours: set to False if the call is none of them
 *
 * Return: what to do with the call.
 */
enum syscall_verdict machine_call(VexGuestAMD64State *guest, Bool *ours)
{
	*ours = True;
	switch (guest->guest_RAX) {
	case __NR_sched_getaffinity:
		return affinity_get(guest);
	case __NR_sched_setaffinity:
		return affinity_set(guest);
	case __NR_getcpu:
		return getcpu(guest);
	case __NR_getrandom:
		return getrandom(guest);
	case __NR_open:
	case __NR_openat:
		return procfs_open(guest);
	case __NR_getrusage:
		return getrusage(guest);
	case __NR_setrlimit:
		return set_limit(guest, guest->guest_RDI, guest->guest_RSI);
	case __NR_prlimit64:
		/* Answered for the process itself only, and if the old limit is not requested. */
		if (guest->guest_RDI || guest->guest_R10)
			return SYSCALL_REAL;
		return set_limit(guest, guest->guest_RSI, guest->guest_RDX);
	default:
		*ours = False;
		return SYSCALL_REAL;
	}
}
