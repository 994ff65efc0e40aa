// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * requests.c - answers the client requests of lib/emulator.h.
 *
 * A request is a no-op on hardware, so it must never abort a transaction.
 */
#include "requests.h"
#include "pub_tool_machine.h"
#include "access.h"
#include "account.h"
#include "counters.h"
#include "guest.h"
#include "model.h"
#include "region.h"
#include "stores.h"
#include "txn.h"
#include "unwind.h"
#include "vthread.h"

/* Largest number of frames of RTMGRIND_STACK. Chosen. */
#define MAX_FRAMES 256

static Bool describe_machine(ThreadId tid, Addr to, SizeT size)
{
	struct rtmgrind_machine machine = {
		.cores = model.cores,
		.smt = model.smt,
		.sockets = model.sockets,
		.mhz = model.mhz,
	};

	if (size > sizeof(machine))
		size = sizeof(machine);
	if (!guest_may(to, size, VKI_PROT_WRITE))
		return False;
	VG_(snprintf)(machine.model, sizeof(machine.model), "%s", model_name());
	VG_(snprintf)(machine.changes, sizeof(machine.changes), "%s", model_differences());
	access_direct(tid, to, size, True);
	VG_(memcpy)((void *)to, &machine, size);
	return True;
}

/* RTMGRIND_STACK: the thread's stack, which begins at the instruction after the request. */
static UInt give_stack(ThreadId tid, Addr to, UWord number)
{
	ULong frames[MAX_FRAMES];
	UInt max = number < MAX_FRAMES ? number : MAX_FRAMES;
	UInt nr = unwind_stack(tid, current_pc, False, frames, max);

	if (!nr || !guest_may(to, nr * sizeof(*frames), VKI_PROT_WRITE))
		return 0;
	access_direct(tid, to, nr * sizeof(*frames), True);
	VG_(memcpy)((void *)to, frames, nr * sizeof(*frames));
	return nr;
}

/**
 * request_handle() - answer a client request.
 * @tid: the thread that sends it
 * @args: the request and its arguments
 * @answer: receives the answer
 *
 * Return: False if the request is none of lib/emulator.h.
 */
Bool request_handle(ThreadId tid, UWord *args, UWord *answer)
{
	current_pc = VG_(get_IP)(tid);
	switch (args[0]) {
	case RTMGRIND_VERSION:
		*answer = RTMGRIND_PROTOCOL;
		return True;
	case RTMGRIND_LAST_ABORT:
	case RTMGRIND_ABORT_AGAIN:
		*answer = txn_last_abort(tid, args[1], args[2], args[0] == RTMGRIND_ABORT_AGAIN);
		return True;
	case RTMGRIND_PROBE_DONE:
		txn_noise_start();
		counters_probe_done();
		*answer = 0;
		return True;
	case RTMGRIND_ROI_BEGIN:
	case RTMGRIND_ROI_END:
		region_set(args[0] == RTMGRIND_ROI_BEGIN);
		*answer = 0;
		return True;
	case RTMGRIND_TIME_STOPS:
	case RTMGRIND_TIME_GOES_ON:
		account_stand_still(args[0] == RTMGRIND_TIME_STOPS);
		*answer = 1;
		return True;
	case RTMGRIND_FASTER:
		account_faster(args[1] < RTMGRIND_FASTEST ? args[1] : RTMGRIND_FASTEST);
		*answer = 1;
		return True;
	case RTMGRIND_MACHINE:
		*answer = describe_machine(tid, args[1], args[2]);
		return True;
	case RTMGRIND_STACK:
		*answer = give_stack(tid, args[1], args[2]);
		return True;
	case RTMGRIND_SECTION:
		vthreads[tid].section = args[1];
		stores_announced(current_pc);
		*answer = 1;
		return True;
	default:
		return False;
	}
}
