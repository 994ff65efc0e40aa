// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * affinity.c - on which of the simulated processors each thread may run.
 *
 * A new thread inherits the affinity of the one that creates it. Each process is simulated on a
 * machine of its own: must never answer for threads of other processes, nor change them.
 */
#include "affinity.h"
#include "access.h"
#include "cores.h"
#include "guest.h"
#include "model.h"
#include "slice.h"
#include "topology.h"
#include "txn.h"
#include "vthread.h"

/* The kernel writes masks in words of 8 bytes. */
static SizeT mask_size(void)
{
	return (model_cpus() + 63) / 64 * 8;
}

static Bool has_bit(const UChar *mask, Int cpu)
{
	return mask[cpu / 8] >> cpu % 8 & 1;
}

/**
 * affinity_allows() - may the thread have the processor?
 * @t: the thread
 * @cpu: the processor
 *
 * Return: True if so.
 */
Bool affinity_allows(const struct vthread *t, Int cpu)
{
	return !t->affinity || has_bit(t->affinity, cpu);
}

/**
 * affinity_copy() - let a new thread inherit an affinity.
 * @to: the new thread
 * @from: the thread that creates it
 */
void affinity_copy(struct vthread *to, const struct vthread *from)
{
	if (!from->affinity)
		return;
	to->affinity = VG_(malloc)("rtmgrind.affinity", mask_size());
	VG_(memcpy)(to->affinity, from->affinity, mask_size());
}

static Bool main_may(Int cpu, Long unused)
{
	return affinity_allows(&vthreads[1], cpu);
}

/**
 * affinity_list() - the main thread's processors as a list, for Cpus_allowed_list in /proc.
 * @text: receives the list, such as "0-3,8", and a newline
 *
 * Return: length of the text.
 */
SizeT affinity_list(HChar *text)
{
	return topology_list(text, main_may, 0);
}

/**
 * affinity_mask() - the main thread's processors as a mask, for Cpus_allowed in /proc.
 * @text: receives words of 32 bits in hexadecimal digits, the highest first, and a newline
 *
 * Return: length of the text.
 */
SizeT affinity_mask(HChar *text)
{
	Int cpu, digit = 0;
	SizeT used = 0;

	for (cpu = (model_cpus() + 3) / 4 * 4 - 1; cpu >= 0; cpu--) {
		digit = digit << 1 | (cpu < model_cpus() && main_may(cpu, 0));
		if (cpu % 4)
			continue;
		used += VG_(sprintf)(text + used, cpu && cpu % 32 == 0 ? "%x," : "%x", digit);
		digit = 0;
	}
	return used + VG_(sprintf)(text + used, "\n");
}

/* The thread with a Linux thread id, 0 if it is not of this process. */
static ThreadId find_thread(Int lwp)
{
	return lwp ? vthread_find(lwp, True) : current_tid;
}

/**
 * affinity_get() - sched_getaffinity(2).
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict affinity_get(VexGuestAMD64State *guest)
{
	ThreadId tid = find_thread(guest->guest_RDI);
	SizeT room = guest->guest_RSI;
	UChar *mask = (UChar *)guest->guest_RDX;
	Int i;

	if (room < mask_size() || room % 8)
		return guest_answer(guest, -(Long)VKI_EINVAL);
	if (!tid)
		return guest_answer(guest, -(Long)VKI_ESRCH);
	if (!access_kernel_write((Addr)mask, mask_size()))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	VG_(memset)(mask, 0, mask_size());
	for (i = 0; i < model_cpus(); i++)
		if (affinity_allows(&vthreads[tid], i))
			mask[i / 8] |= 1 << i % 8;
	return guest_answer(guest, mask_size());
}

/*
 * A thread that must leave its processor migrates. The running thread does so at the end of its
 * slice, which ends now. A thread that is ready loses its processor at once, unless it stopped in
 * the middle of a block: then at the end of its next slice.
 */
static void move(VexGuestAMD64State *guest, ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	if (t->core < 0 || affinity_allows(t, t->core))
		return;
	if (tid == current_tid) {
		slice_stop(guest);
	} else if (t->state == VT_READY && !t->in_block) {
		cores_evict(tid);
		txn_abort_parked(tid, RTMGRIND_CAUSE_INTERRUPT);
	}
}

/**
 * affinity_set() - sched_setaffinity(2).
 * @guest: registers of the running thread
 *
 * As in the kernel, bits beyond the last processor are ignored, and bytes beyond the end of the
 * mask are 0.
 *
 * Return: what to do with the call.
 */
enum syscall_verdict affinity_set(VexGuestAMD64State *guest)
{
	ThreadId tid = find_thread(guest->guest_RDI);
	SizeT size = (UInt)guest->guest_RSI;
	const UChar *mask = (const UChar *)guest->guest_RDX;
	Bool any = False;
	UChar *affinity;
	Int i;

	if (size > mask_size())
		size = mask_size();
	if (size && !guest_may((Addr)mask, size, VKI_PROT_READ))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	if (!tid)
		return guest_answer(guest, -(Long)VKI_ESRCH);
	if (txn_nr_open && size)
		access_direct(current_tid, (Addr)mask, size, False);
	for (i = 0; i < model_cpus() && (SizeT)i < size * 8; i++)
		any |= has_bit(mask, i);
	if (!any)
		return guest_answer(guest, -(Long)VKI_EINVAL);
	affinity = vthreads[tid].affinity;
	if (!affinity)
		affinity = VG_(malloc)("rtmgrind.affinity", mask_size());
	VG_(memset)(affinity, 0, mask_size());
	VG_(memcpy)(affinity, mask, size);
	vthreads[tid].affinity = affinity;
	move(guest, tid);
	return guest_answer(guest, 0);
}
