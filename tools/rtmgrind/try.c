// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * try.c - system calls that wait for events that only the kernel knows: locks of files, queues of
 * messages, System V semaphores.
 *
 * The thread makes such a call in a form that does not wait. If the kernel's error shows that the
 * call would have waited, the thread stays in front of it and tries again: when another thread has
 * made a system call, at intervals of virtual time while others run, and at intervals of real time
 * while none can. So timeouts and timers are those of virtual time. No absolute timeout of the
 * program reaches the kernel, whose clocks are ahead of virtual time.
 *
 * Must never change registers that the program sees.
 */
#include "try.h"
#include "account.h"
#include "guest.h"
#include "peers.h"
#include "slice.h"
#include "time.h"
#include "vthread.h"
#include "wait.h"

/* flock(2), fcntl(2), msgop(2) */
#define LOCK_NB 4
#define IPC_NOWAIT 04000
/*
 * F_OFD_SETLKW of fcntl() (include/uapi/asm-generic/fcntl.h). The number of the command that does
 * not wait is less by 1, as with F_SETLKW.
 */
#define OFD_SETLKW 38
/* include/uapi/asm-generic/errno.h, errno-base.h */
#define VKI_ENOMSG 42
#define VKI_ETIMEDOUT 110

/* A timeout of 0 if it is relative, one in the past if it is absolute. */
static const struct vki_timespec no_time;

/* struct sembuf (include/uapi/linux/sem.h) */
struct operation {
	UShort number;
	Short change;
	Short flags;
};

/**
 * struct form - the form of a call that does not wait.
 * @nr: number of the call
 * @tried_as: number of the call that is made instead
 * @arg: number of the argument that is changed, from 1
 * @or: bits that are set in @arg
 * @no_time: @arg is a timeout, which becomes no_time
 * @error: error of the changed call if the call would have waited
 */
static const struct form {
	Int nr;
	Int tried_as;
	UInt arg;
	UWord or;
	Bool no_time;
	Int error;
} forms[] = {
	{__NR_flock, __NR_flock, 2, LOCK_NB, False, VKI_EAGAIN},
	{__NR_msgsnd, __NR_msgsnd, 4, IPC_NOWAIT, False, VKI_EAGAIN},
	{__NR_msgrcv, __NR_msgrcv, 5, IPC_NOWAIT, False, VKI_ENOMSG},
	{__NR_fcntl, __NR_fcntl, 2, 0, False, VKI_EAGAIN},
	{__NR_semop, __NR_semtimedop, 4, 0, True, VKI_EAGAIN},
	{__NR_semtimedop, __NR_semtimedop, 4, 0, True, VKI_EAGAIN},
	{__NR_mq_timedsend, __NR_mq_timedsend, 5, 0, True, VKI_ETIMEDOUT},
	{__NR_mq_timedreceive, __NR_mq_timedreceive, 5, 0, True, VKI_ETIMEDOUT},
};

static const struct form *form_of(Int nr)
{
	UInt i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].nr == nr)
			return &forms[i];
	return NULL;
}

static ULong *argument(VexGuestAMD64State *guest, UInt arg)
{
	switch (arg) {
	case 1: return &guest->guest_RDI;
	case 2: return &guest->guest_RSI;
	case 3: return &guest->guest_RDX;
	case 4: return &guest->guest_R10;
	default: return &guest->guest_R8;
	}
}

/* Whether semaphore operations may wait: none of them does if one has IPC_NOWAIT. */
static Bool operations_wait(Addr operations, UWord nr)
{
	const struct operation *op = (const struct operation *)operations;
	UWord i;

	if (!guest_may(operations, nr * sizeof(*op), VKI_PROT_READ))
		return False;
	for (i = 0; i < nr; i++)
		if (op[i].flags & IPC_NOWAIT)
			return False;
	return True;
}

static Bool may_wait(VexGuestAMD64State *guest, const struct form *form)
{
	ULong arg = *argument(guest, form->arg);

	if (form->nr == __NR_fcntl)
		return arg == VKI_F_SETLKW || arg == OFD_SETLKW;
	if (form->tried_as == __NR_semtimedop)
		return operations_wait(guest->guest_RSI, guest->guest_RDX);
	return !(arg & form->or);
}

/* Reads the virtual deadline of a call, 0 none. Return: False if its timeout is not valid. */
static Bool read_deadline(VexGuestAMD64State *guest, const struct form *form, Long *deadline)
{
	Addr timeout = form->no_time && form->nr != __NR_semop ? *argument(guest, form->arg) : 0;

	*deadline = 0;
	if (!timeout)
		return True;
	if (form->nr == __NR_semtimedop)
		return time_read_timeout(timeout, deadline);
	return time_read_deadline(VKI_CLOCK_REALTIME, timeout, deadline);
}

static ULong tried_argument(const struct form *form, ULong arg)
{
	if (form->no_time)
		return (Addr)&no_time;
	return form->nr == __NR_fcntl ? arg - 1 : arg | form->or;
}

/**
 * try_call() - a call that may wait for an event that only the kernel knows.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict try_call(VexGuestAMD64State *guest)
{
	const struct form *form = form_of(guest->guest_RAX);
	struct vthread *t = current_vthread();
	Long deadline;

	if (t->wait.tried) {
		t->wait.tried = False;
		slice_stop(guest);
		return SYSCALL_WAIT;
	}
	/* An invalid timeout: the kernel returns the error. */
	if (!wait_again(guest) &&
	    (!may_wait(guest, form) || !read_deadline(guest, form, &deadline) ||
	     (!deadline && (form->nr == __NR_fcntl ? wait_alone() : wait_kernel_may()))))
		return SYSCALL_REAL;
	if (!wait_again(guest))
		t->try_deadline = deadline;
	t->try_nr = guest->guest_RAX;
	t->try_arg = *argument(guest, form->arg);
	*argument(guest, form->arg) = tried_argument(form, t->try_arg);
	guest->guest_RAX = form->tried_as;
	return SYSCALL_REAL;
}

/**
 * try_over() - Valgrind has carried out a system call, which may have been such a try.
 * @t: the running thread
 * @error: error of the call, 0 none
 *
 * Return: False if the call would have waited; then the thread stays in front of it.
 */
Bool try_over(struct vthread *t, Int error)
{
	VexGuestAMD64State *guest = t->guest;
	const struct form *form;

	if (!t->try_nr)
		return True;
	form = form_of(t->try_nr);
	*argument(guest, form->arg) = t->try_arg;
	if (error != form->error) {
		/* Another process may have ended the wait since the thread was told to retry. */
		if (t->wait.kind && !error)
			account_raise(peers_event(False));
		wait_cancel(current_tid);
	} else if (t->try_deadline && t->try_deadline <= account_now()) {
		/* The error of the try is the one that the call has after a timeout. */
		wait_cancel(current_tid);
	} else {
		guest->guest_RAX = t->try_nr;
		guest->guest_RIP -= SYSCALL_INSN_SIZE;
		wait_begin(guest, WAIT_TRY, t->try_deadline, -(Long)form->error);
		t->wait.tried = True;
	}
	t->try_nr = 0;
	return t->wait.kind == WAIT_NONE;
}
