// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - rtmgrind, an RTM machine in software: registers the tool with Valgrind.
 *
 * Must never do more than pass Valgrind's events on to the parts.
 */
#include "rtmgrind.h"
#include "pub_tool_options.h"
#include "access.h"
#include "account.h"
#include "coherence.h"
#include "core-hooks.h"
#include "counters.h"
#include "guest.h"
#include "handover.h"
#include "hle.h"
#include "instrument.h"
#include "limit.h"
#include "machine.h"
#include "options.h"
#include "pages.h"
#include "peers.h"
#include "requests.h"
#include "sched.h"
#include "shared.h"
#include "sigwait.h"
#include "syscalls.h"
#include "timers.h"
#include "tlb.h"
#include "txn.h"
#include "vthread.h"

/* Valgrind's own, not in its installed headers. */
extern Bool VG_(clo_sigill_diag);
extern Int VG_(clo_sanity_level);

static void started(void)
{
	sched_init();
	peers_join();
	coherence_init();
	tlb_init();
	txn_init(nr_vthreads);
	account_track();
	hle_init(nr_vthreads);
	counters_init();
	pages_init();
	machine_init();
	shared_init();
	timers_init();
	limit_init();
	/* Valgrind would explain each illegal instruction, even one that aborts a transaction. */
	VG_(clo_sigill_diag) = False;
	/* Valgrind's sanity checks between two slices take longer than a slice. */
	VG_(clo_sanity_level) = 0;
}

static void finished(Int exit_code)
{
	/* Valgrind sends a signal that ends the process to the calling host thread. */
	handover_go_home();
	peers_end();
	if (VG_(clo_verbosity) > 0)
		counters_print_totals();
	counters_write();
}

static void kernel_reads(CorePart part, ThreadId tid, const HChar *what, Addr addr, SizeT size)
{
	if (txn_nr_open && size && part == Vg_CoreSysCall)
		access_direct(tid, addr, size, False);
}

static void kernel_reads_string(CorePart part, ThreadId tid, const HChar *what, Addr addr)
{
	/* The call fails on a bad pointer. Only the first byte is certain to be read. */
	if (guest_may(addr, 1, VKI_PROT_READ))
		kernel_reads(part, tid, what, addr, 1);
}

static void kernel_writes(CorePart part, ThreadId tid, const HChar *what, Addr addr, SizeT size)
{
	if (txn_nr_open && size && part == Vg_CoreSysCall)
		access_direct(tid, addr, size, True);
}

static void signal_arrives(ThreadId tid, Int signal, Bool alt_stack)
{
	sigwait_handler(tid, signal);
}

static void register_tool(void)
{
	VG_(details_name)("rtmgrind");
	VG_(details_version)(ELIDE_VERSION);
	VG_(details_description)("an RTM machine in software");
	VG_(details_copyright_author)("The elide authors; GNU GPL version 2 or later.");
	VG_(details_bug_reports_to)("the elide authors");
	VG_(details_avg_translation_sizeB)(AVERAGE_TRANSLATION);

	VG_(basic_tool_funcs)(started, instrument, finished);
	VG_(needs_command_line_options)(options_parse, options_usage, options_debug_usage);
	VG_(needs_client_requests)(request_handle);
	VG_(needs_syscall_wrapper)(syscall_pre, syscall_post);
	VG_(track_pre_thread_ll_create)(sched_thread_create);
	VG_(track_pre_thread_ll_exit)(sched_thread_exit);
	VG_(track_pre_thread_first_insn)(machine_first_insn);
	VG_(track_pre_deliver_signal)(signal_arrives);
	VG_(track_pre_mem_read)(kernel_reads);
	VG_(track_pre_mem_read_asciiz)(kernel_reads_string);
	VG_(track_pre_mem_write)(kernel_writes);
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
