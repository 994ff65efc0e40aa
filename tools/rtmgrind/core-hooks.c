// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * core-hooks.c - where the emulator reaches into Valgrind's core.
 *
 * The core is linked statically. The linker's --wrap puts functions of this file, of lwp.c and of
 * debuginfo.c in front of some of the core's own; build.mk lists them. The big lock in sched.c, and
 * the shapes of code that instrument.c and insn.c recognise, also depend on the version of Valgrind
 * beyond its public headers. The self-test of tools/selftest finds out whether a version fits.
 */
#include "core-hooks.h"
#include "libvex.h"
#include "pub_tool_execontext.h"
#include "pub_tool_libcsetjmp.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"
#include "account.h"
#include "guest.h"
#include "insn.h"
#include "options.h"
#include "peers.h"
#include "sigwait.h"
#include "startup.h"
#include "timers.h"
#include "txn.h"
#include "vthread.h"

/*
 * Each block of guest code has two translations, plain and tracked (see instrument.c), but Valgrind
 * finds a translation by its address alone. So the tracked one is entered under the block's address
 * with this bit set. No guest address has it alone: such addresses are not canonical, and those of
 * the kernel's half have KERNEL_BIT set, too.
 */
#define TRACKED_BIT (1UL << 62)
#define KERNEL_BIT (1UL << 63)

/* Valgrind's own, not in its installed headers. */
extern void VG_(set_IP)(ThreadId tid, Addr addr);
extern void VG_(release_BigLock)(ThreadId tid, UInt status, const HChar *who);
extern void VG_(acquire_BigLock)(ThreadId tid, const HChar *who);
/* Status of a thread that gives up the big lock, to take it again at once. */
#define VgTs_Yielding 4
extern volatile Bool VG_(in_generated_code);
extern UInt VG_(stats__n_xIndirs_32), VG_(stats__n_xIndir_hits1_32),
	VG_(stats__n_xIndir_hits2_32), VG_(stats__n_xIndir_hits3_32),
	VG_(stats__n_xIndir_misses_32);
extern VexControl vex_control;
extern SysRes VG_(do_sys_sigprocmask)(ThreadId tid, Int how, vki_sigset_t *set,
				      vki_sigset_t *old);

/* The linker gives these names to functions of Valgrind's and to their replacements. */
Bool __real_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid);
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid);
void __real_vgPlain_synth_fault_mapping(ThreadId tid, Addr addr);
void __wrap_vgPlain_synth_fault_mapping(ThreadId tid, Addr addr);
void __real_vgPlain_synth_fault_perms(ThreadId tid, Addr addr);
void __wrap_vgPlain_synth_fault_perms(ThreadId tid, Addr addr);
void __real_vgPlain_sigframe_create(ThreadId tid, Bool alt_stack, Addr top,
				    const vki_siginfo_t *info, const struct vki_ucontext *context,
				    void *handler, UInt flags, const vki_sigset_t *mask,
				    void *restorer);
void __wrap_vgPlain_sigframe_create(ThreadId tid, Bool alt_stack, Addr top,
				    const vki_siginfo_t *info, const struct vki_ucontext *context,
				    void *handler, UInt flags, const vki_sigset_t *mask,
				    void *restorer);
UInt __wrap_vgPlain_umsg(const HChar *format, ...);
void __real_vgPlain_pp_ExeContext(ExeContext *context);
void __wrap_vgPlain_pp_ExeContext(ExeContext *context);
VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *args);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args);
Int __wrap_LibVEX_evCheckSzB(VexArch arch);
Bool __real_vgPlain_translate(ThreadId tid, Addr addr, Bool debugging, Int verbosity, ULong bbs,
			      Bool redirect);
Bool __wrap_vgPlain_translate(ThreadId tid, Addr addr, Bool debugging, Int verbosity, ULong bbs,
			      Bool redirect);
void __real_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr addr, Addr code,
				    UInt code_size, Bool self_modifying, Int profile_offset,
				    UInt nr_insns);
void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr addr, Addr code,
				    UInt code_size, Bool self_modifying, Int profile_offset,
				    UInt nr_insns);
void __real_vgPlain_disp_run_translations(UWord *two_words, volatile void *guest, Addr host_code);
void __wrap_vgPlain_disp_run_translations(UWord *two_words, volatile void *guest, Addr host_code);
Bool core_slice_over(VexGuestAMD64State *guest);
extern void VG_(poll_signals)(ThreadId tid);
int __popcountdi2(long long value);

/*
 * The buffer of the last VG_MINIMAL_SETJMP, set by the wrapper below. While generated code runs it
 * is the running thread's: Valgrind's scheduler calls setjmp just before.
 */
ULong *core_jump_buffer;

__asm__(".text\n"
	".globl __wrap_VG_MINIMAL_SETJMP\n"
	"__wrap_VG_MINIMAL_SETJMP:\n"
	"	movq %rdi, core_jump_buffer\n"
	"	jmp __real_VG_MINIMAL_SETJMP\n");

Bool core_tracked;

/*
 * Translations after which a sector of Valgrind's cache counts as full, rounded down: 65 per cent
 * of 65521 (N_TTES_PER_SECTOR in m_transtab.c). Their average size is AVERAGE_TRANSLATION.
 */
#define SECTOR_TRANSLATIONS 40000
extern UInt VG_(clo_num_transtab_sectors);
static ULong nr_translations, translated_bytes;

static Bool is_tracked(Addr addr)
{
	return (addr & (KERNEL_BIT | TRACKED_BIT)) == TRACKED_BIT;
}

/**
 * core_tracked_addr() - the address that a block's tracked translation is entered under.
 * @addr: address of the block
 *
 * Return: the address, which must not stay in the guest's registers.
 */
Addr core_tracked_addr(Addr addr)
{
	return addr | TRACKED_BIT;
}

/**
 * core_untrack_ip() - set the instruction pointer of a thread to the guest's own address.
 * @tid: the thread, which is not in generated code; it may have stopped in front of a tracked block
 */
void core_untrack_ip(ThreadId tid)
{
	Addr ip = VG_(get_IP)(tid);

	if (is_tracked(ip))
		VG_(set_IP)(tid, ip & ~TRACKED_BIT);
}

/* Every translation passes here and, once it is made, through the next function. */
Bool __wrap_vgPlain_translate(ThreadId tid, Addr addr, Bool debugging, Int verbosity, ULong bbs,
			      Bool redirect)
{
	Bool done;

	core_tracked = is_tracked(addr);
	if (core_tracked)
		addr &= ~TRACKED_BIT;
	done = __real_vgPlain_translate(tid, addr, debugging, verbosity, bbs, redirect);
	core_tracked = False;
	/* The thread gets a signal instead of the block. */
	if (!done)
		core_untrack_ip(tid);
	return done;
}

void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr addr, Addr code,
				    UInt code_size, Bool self_modifying, Int profile_offset,
				    UInt nr_insns)
{
	if (core_tracked)
		addr = core_tracked_addr(addr);
	nr_translations++;
	translated_bytes += code_size;
	__real_vgPlain_add_to_transtab(extents, addr, code, code_size, self_modifying,
				       profile_offset, nr_insns);
}

/**
 * core_blocks_stay() - may a thread stop in the middle of a block and come back to it?
 *
 * Valgrind throws old translations away when its cache of them is full. That must not happen while
 * a thread has stopped in the middle of one.
 *
 * Return: False if the cache is nearly full.
 */
Bool core_blocks_stay(void)
{
	ULong sectors = VG_(clo_num_transtab_sectors) - 1;

	return nr_translations < sectors * SECTOR_TRANSLATIONS &&
	       translated_bytes < sectors * SECTOR_TRANSLATIONS * AVERAGE_TRANSLATION;
}

/**
 * core_let_others_run() - give up the big lock in the middle of a block, and take it again.
 * @tid: the running thread, in a helper that generated code has called
 *
 * Only some of the thread's registers are in its guest state meanwhile: they must not be read, but
 * all of them may be set back to the values at a transaction's begin. Must be called only while
 * core_blocks_stay().
 */
void core_let_others_run(ThreadId tid)
{
	ULong *jump_buffer = core_jump_buffer;

	/*
	 * Valgrind's scheduler takes these statistics and sets them to 0 after each run of
	 * generated code: the next thread must begin with 0.
	 */
	VG_(stats__n_xIndirs_32) = 0;
	VG_(stats__n_xIndir_hits1_32) = 0;
	VG_(stats__n_xIndir_hits2_32) = 0;
	VG_(stats__n_xIndir_hits3_32) = 0;
	VG_(stats__n_xIndir_misses_32) = 0;
	VG_(in_generated_code) = False;
	VG_(release_BigLock)(tid, VgTs_Yielding, "rtmgrind");
	VG_(acquire_BigLock)(tid, "rtmgrind");
	VG_(in_generated_code) = True;
	core_jump_buffer = jump_buffer;
}

/* Blocks that Valgrind lets a thread execute in a row: SCHEDULING_QUANTUM in scheduler.c. */
#define CORE_SLICE 100000

/* Generated code begins to run: notes whether none of the thread's CORE_SLICE blocks is used up. */
void __wrap_vgPlain_disp_run_translations(UWord *two_words, volatile void *guest, Addr host_code)
{
	const volatile VexGuestAMD64State *registers = guest;

	current_vthread()->whole_slice = registers->host_EvC_COUNTER == CORE_SLICE;
	__real_vgPlain_disp_run_translations(two_words, guest, host_code);
}

/*
 * The event counter is used up, between two blocks. Does what Valgrind's scheduler would do, but
 * without leaving generated code, which takes longer than the rest of a hand-over. Valgrind's
 * scheduler asserts that a run of generated code does not end with a larger counter than it began
 * with; as the counter is set to CORE_SLICE here, this works only for a run that began with that.
 *
 * Return: True if the thread goes on from its registers; False if the scheduler has to act.
 */
Bool core_slice_over(VexGuestAMD64State *guest)
{
	ThreadId tid = current_tid;
	ULong *jump_buffer = core_jump_buffer;

	if (!vthreads[tid].whole_slice)
		return False;
	core_let_others_run(tid);
	VG_(in_generated_code) = False;
	VG_(poll_signals)(tid);
	VG_(in_generated_code) = True;
	/* After a fatal signal the other threads have run, to end. */
	core_jump_buffer = jump_buffer;
	guest->host_EvC_COUNTER = CORE_SLICE;
	if (VG_(is_exiting)(tid))
		core_restart_thread();
	return True;
}

/* Generated code jumps here, with the guest's registers at RBP and no other register in use. */
__asm__(".text\n"
	".globl __wrap_vgPlain_disp_cp_evcheck_fail\n"
	"__wrap_vgPlain_disp_cp_evcheck_fail:\n"
	"	movq %rsp, %rbx\n"
	"	andq $-16, %rsp\n"
	"	movq %rbp, %rdi\n"
	"	call core_slice_over\n"
	"	movq %rbx, %rsp\n"
	"	testb %al, %al\n"
	"	jz __real_vgPlain_disp_cp_evcheck_fail\n"
	"	jmp vgPlain_disp_cp_xindir\n");

/** core_restart_thread() - leave generated code, and let the thread go on from its registers. */
void core_restart_thread(void)
{
	tl_assert(core_jump_buffer);
	VG_MINIMAL_LONGJMP(core_jump_buffer);
	/* VG_MINIMAL_LONGJMP() does not return, but is not declared so. */
	for (;;)
		;
}

static Bool is_fault(const vki_siginfo_t *info)
{
	switch (info->si_signo) {
	case VKI_SIGSEGV:
	case VKI_SIGBUS:
	case VKI_SIGFPE:
	case VKI_SIGILL:
	case VKI_SIGTRAP:
		return info->si_code > 0;
	default:
		return False;
	}
}

/*
 * Called for every signal before its delivery. A fault in a transaction aborts the transaction
 * and is not delivered; any other signal is delivered after it has aborted the transaction. The
 * abort cannot wait for signal_arrives(): by then the core has chosen the address of the signal
 * frame by the stack pointer, which the abort changes.
 */
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid)
{
	timers_delivered(info);
	if (tid == current_tid)
		account_raise(peers_signal(info));
	if (txn_open(tid)) {
		if (is_fault(info)) {
			Bool division = info->si_signo == VKI_SIGFPE;

			if (!division)
				current_pc = VG_(get_IP)(tid);
			txn_abort_faulted(tid, info->si_signo,
					  division ? current_pc :
						     (Addr)info->_sifields._sigfault._addr);
			return False;
		}
		txn_abort_parked(tid, RTMGRIND_CAUSE_INTERRUPT);
	}
	return __real_vgPlain_gdbserver_report_signal(info, tid);
}

/**
 * core_set_mask() - change which signals a thread blocks.
 * @tid: the thread
 * @set: the signals that it blocks from now on
 * @old: receives the signals that it blocked before, unless NULL
 */
void core_set_mask(ThreadId tid, const vki_sigset_t *set, vki_sigset_t *old)
{
	VG_(do_sys_sigprocmask)(tid, VKI_SIG_SETMASK, (vki_sigset_t *)set, old);
}

/*
 * The frame of a signal handler has the mask that holds again when the handler returns. The core
 * takes it from the thread's state, where @mask points. If the signal interrupts a call with a mask
 * of its own, the frame must have the mask from before the call instead. The handler itself runs
 * with the call's mask, which the core has in a second place.
 */
void __wrap_vgPlain_sigframe_create(ThreadId tid, Bool alt_stack, Addr top,
				    const vki_siginfo_t *info, const struct vki_ucontext *context,
				    void *handler, UInt flags, const vki_sigset_t *mask,
				    void *restorer)
{
	sigwait_frame_mask(tid, (vki_sigset_t *)mask);
	__real_vgPlain_sigframe_create(tid, alt_stack, top, info, context, handler, flags, mask,
				       restorer);
}

/*
 * A jump to an address that is not mapped, or below not executable. These two faults do not pass
 * through __wrap_vgPlain_gdbserver_report_signal() before they become signals.
 */
void __wrap_vgPlain_synth_fault_mapping(ThreadId tid, Addr addr)
{
	current_pc = VG_(get_IP)(tid);
	if (txn_open(tid))
		txn_abort_faulted(tid, VKI_SIGSEGV, addr);
	else
		__real_vgPlain_synth_fault_mapping(tid, addr);
}

void __wrap_vgPlain_synth_fault_perms(ThreadId tid, Addr addr)
{
	current_pc = VG_(get_IP)(tid);
	if (txn_open(tid))
		txn_abort_faulted(tid, VKI_SIGSEGV, addr);
	else
		__real_vgPlain_synth_fault_perms(tid, addr);
}

/* The core explains fatal signals even with -q. That must not appear on the program's stderr. */
UInt __wrap_vgPlain_umsg(const HChar *format, ...)
{
	va_list args;
	UInt printed;

	if (VG_(clo_verbosity) == 0)
		return 0;
	va_start(args, format);
	printed = VG_(vmessage)(Vg_UserMsg, format, args);
	va_end(args);
	return printed;
}

/* The stack trace of a fatal signal: with -q it does not appear either. */
void __wrap_vgPlain_pp_ExeContext(ExeContext *context)
{
	if (VG_(clo_verbosity) > 0)
		__real_vgPlain_pp_ExeContext(context);
}

static UInt (*core_needs_self_check)(void *, VexRegisterUpdates *, const VexGuestExtents *);

/*
 * VEX's one callback that sees the guest's code before the optimiser runs. Blocks that end early,
 * or from which a transaction is rolled back, must have every register in the guest state at every
 * instruction.
 */
static UInt choose_register_updates(void *opaque, VexRegisterUpdates *updates,
				    const VexGuestExtents *extents)
{
	UInt check = core_needs_self_check(opaque, updates, extents);

	if (opt.block_accesses || insn_needs_exact_registers(extents) ||
	    startup_needs_registers(extents))
		*updates = VexRegUpdAllregsAtEachInsn;
	return check;
}

/* More than the longest instruction and the bytes that VEX reads after it, bytes. */
#define PATCH_SIZE 64
/* The DS segment prefix, which has no effect in 64-bit code. */
#define EMPTY_PREFIX 0x3e

/* VEX must not decode beyond the instruction that was copied. */
static Bool chase_nothing(void *opaque, Addr addr)
{
	return False;
}

/*
 * VEX rejects XACQUIRE and XRELEASE in front of arithmetic with an immediate operand.
 * instrument.c ends a block in front of such an instruction, and the block that begins there is
 * translated from a copy of that one instruction without the hint, which is @at bytes after its
 * beginning.
 */
static VexTranslateResult translate_without_hint(VexTranslateArgs *args, UInt at)
{
	const UChar *code = args->guest_bytes;
	Int max_insns = vex_control.guest_max_insns;
	SizeT size = VKI_PAGE_SIZE - (Addr)code % VKI_PAGE_SIZE;
	UChar copy[PATCH_SIZE] = {0};
	VexTranslateResult result;

	if (size > PATCH_SIZE || guest_may((Addr)code + size, 1, VKI_PROT_READ))
		size = PATCH_SIZE;
	VG_(memcpy)(copy, code, size);
	copy[at] = EMPTY_PREFIX;
	args->guest_bytes = copy;
	args->chase_into_ok = chase_nothing;
	vex_control.guest_max_insns = 1;
	result = __real_LibVEX_Translate(args);
	vex_control.guest_max_insns = max_insns;
	return result;
}

VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args)
{
	UInt at;

	core_needs_self_check = args->needs_self_check;
	args->needs_self_check = choose_register_updates;
	if (insn_hint_at((Addr)args->guest_bytes, &at))
		return translate_without_hint(args, at);
	return __real_LibVEX_Translate(args);
}

/*
 * Jumps to a higher address enter a block after the event check, whose size this is, so they would
 * not notice the end of a slice. With size 0 they enter in front of it.
 */
Int __wrap_LibVEX_evCheckSzB(VexArch arch)
{
	return 0;
}

/* VEX calls this function of the compiler's library, with which tools are not linked. */
int __popcountdi2(long long value)
{
	unsigned long long left = value;
	int bits = 0;

	for (; left; left &= left - 1)
		bits++;
	return bits;
}
