// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * startup.c - the time before the program begins.
 *
 * Before a program begins, the loader and the C library search directories, copy names and read the
 * whole environment. The time of that depends on the folder, the user and the host, not on
 * the program. So virtual time stands still until the program begins: it is 0 then, all
 * caches are empty, and no random number has been used.
 *
 *   program                    begins
 *   dynamically linked         at its entry point, after the loader and the constructors of its
 *                              libraries
 *   statically linked          at main(), whose address the C library's _start has in RDI when it
 *                              makes its first call, after the C library's start and the
 *                              program's own constructors; without such a _start at its entry point
 *   any                        earlier if a constructor reads a clock or starts a thread or process
 *
 * Must never let noticeable time pass before the program begins.
 */
#include "startup.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "account.h"
#include "block.h"
#include "guest.h"
#include "host.h"
#include "image.h"
#include "pages.h"
#include "vthread.h"

/* include/uapi/asm-generic/mman-common.h */
#define MADV_DONTNEED 4

/* Valgrind's own, not in its installed headers: the last byte of the first thread's stack. */
extern Addr VG_(clstk_end);

/* More bytes than _start has: 38 in glibc 2.36, 24 in musl 1.2.3. */
#define START_SIZE 64

/* The program has not begun. */
Bool startup_lasts = True;

/* Where the program begins, 0 not known. */
static Addr entry;
/* Where main() begins, if @entry is that of a statically linked program; 0 none or not known. */
static Addr main_addr;
static Bool is_static;
/* The loader, 0 none. */
static Addr loader;

/* Whether two addresses are in mappings of the same file. */
static Bool same_object(Addr a, Addr b)
{
	const NSegment *x = VG_(am_find_nsegment)(a), *y = VG_(am_find_nsegment)(b);

	return x && y && x->kind == SkFileC && y->kind == SkFileC && x->dev == y->dev &&
	       x->ino == y->ino;
}

/**
 * startup_init() - prepare, in front of the first instruction of the process.
 * @auxv: auxiliary vector of the process
 */
void startup_init(const UWord *auxv)
{
	for (; auxv[0] != AT_NULL; auxv += 2) {
		if (auxv[0] == AT_ENTRY)
			entry = auxv[1];
		if (auxv[0] == AT_BASE)
			loader = auxv[1];
	}
	is_static = !loader;
}

/*
 * Frees the pages of the stack below the stack pointer. How many of them the loader has touched
 * depends on names, and a page that is present does not fault.
 */
static void free_dead_stack(void)
{
	Addr end = (VG_(get_SP)(current_tid) - VG_STACK_REDZONE_SZB) & ~(Addr)(VKI_PAGE_SIZE - 1);
	const NSegment *segment = VG_(am_find_nsegment)(end);

	/* A constructor may have a stack of its own, in memory that has other data, too. */
	if (segment && segment->end == VG_(clstk_end) && segment->start < end)
		host_syscall(__NR_madvise, segment->start, end - segment->start, MADV_DONTNEED, 0,
			     0, 0);
	pages_forget();
}

static void end(void)
{
	if (!startup_lasts)
		return;
	startup_lasts = False;
	free_dead_stack();
	account_stand_still(False);
}

/* The program is at its entry point, or at main(). */
static void help_begin(void)
{
	end();
}

/* A statically linked program makes its first call. Without one it has no _start of a C library. */
static void help_first_call(ULong rdi)
{
	if (!startup_lasts || main_addr)
		return;
	if (same_object(rdi, entry) && guest_may(rdi, 1, VKI_PROT_EXEC))
		main_addr = rdi;
	else
		end();
}

/*
 * Whether a system call reads a clock, waits, or starts a thread or process. The loader makes none of
 * these.
 */
static Bool looks_at_time(UInt nr)
{
	switch (nr) {
	case __NR_clock_gettime: case __NR_gettimeofday: case __NR_time: case __NR_times:
	case __NR_getrusage: case __NR_nanosleep: case __NR_clock_nanosleep:
	case __NR_sched_yield: case __NR_futex: case __NR_alarm: case __NR_setitimer:
	case __NR_getitimer: case __NR_timer_create: case __NR_timerfd_create:
	case __NR_poll: case __NR_ppoll: case __NR_select: case __NR_pselect6:
	case __NR_epoll_wait: case __NR_epoll_pwait: case __NR_pause: case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait: case __NR_semtimedop: case __NR_mq_timedsend:
	case __NR_mq_timedreceive: case __NR_clone: case __NR_fork: case __NR_vfork:
	case __NR_clone3: case __NR_wait4: case __NR_waitid:
		return True;
	default:
		return False;
	}
}

/* Whether a request RTMGRIND_TIME_STOPS is in force, too: then no code reads a clock. */
static Bool in_request(void)
{
	return current_vthread()->nr_still > 1;
}

/**
 * startup_call() - the running thread makes a system call.
 * @guest: its registers
 */
void startup_call(const VexGuestAMD64State *guest)
{
	if (startup_lasts && !in_request() && looks_at_time(guest->guest_RAX))
		end();
}

/**
 * startup_copies_names() - is the C library of a statically linked program still starting?
 *
 * It copies the name of the program's file to its heap, so the length of that name would move all
 * allocations of the program.
 */
Bool startup_copies_names(void)
{
	return startup_lasts && is_static;
}

/** startup_rdtsc() - the running thread reads the time-stamp counter, as the loader does, too. */
void startup_rdtsc(void)
{
	if (startup_lasts && !in_request() && !same_object(VG_(get_IP)(current_tid), loader))
		end();
}

/**
 * startup_needs_registers() - must all registers be in the guest state at each instruction?
 * @extents: the guest code of a block
 *
 * Return: True for the block that has the entry point of a statically linked program.
 */
Bool startup_needs_registers(const VexGuestExtents *extents)
{
	return startup_lasts && is_static && extents->base[0] == entry;
}

static void emit_first_call(struct block *b)
{
	IRExpr *rdi = block_assign(b, Ity_I64, IRExpr_Get(OFFSET(RDI), Ity_I64));

	block_call(b, "help_first_call", help_first_call, mkIRExprVec_1(rdi), NULL);
}

/**
 * startup_emit_insn() - at an instruction where the program may begin, emit the check.
 * @b: the block
 * @addr: address of the instruction
 */
void startup_emit_insn(struct block *b, Addr addr)
{
	if (!startup_lasts)
		return;
	/* The first code outside of the loader: it has loaded all libraries. */
	if (!loader || !same_object(addr, loader))
		image_restore();
	if (addr == main_addr || (addr == entry && !is_static))
		block_call(b, "help_begin", help_begin, mkIRExprVec_0(), NULL);
	/* The block goes on in the function that _start calls. */
	if (b->first == entry && is_static && addr - entry >= START_SIZE)
		emit_first_call(b);
}

/**
 * startup_emit_end() - at the end of a block after which the program may begin, emit the check.
 * @b: the block, complete except for its end
 */
void startup_emit_end(struct block *b)
{
	if (startup_lasts && is_static && b->first == entry)
		emit_first_call(b);
}
