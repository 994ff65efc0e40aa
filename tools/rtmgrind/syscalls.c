// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syscalls.c - the treatment of each system call.
 *
 * Generated code calls syscall_enter() in front of each system call. It answers the call itself
 * (clocks, futexes), makes the thread wait in front of it, or leaves it to Valgrind. While Valgrind
 * carries out a call no other thread runs, unless the call may wait for an event from outside the
 * process.
 *
 * Must never let a thread wait in the kernel for another thread of the process.
 */
#include "syscalls.h"
#include "pub_tool_aspacemgr.h"
#include "account.h"
#include "fdwait.h"
#include "futex.h"
#include "guest.h"
#include "handover.h"
#include "host.h"
#include "idle.h"
#include "libcall.h"
#include "limit.h"
#include "lwp.h"
#include "machine.h"
#include "model.h"
#include "pages.h"
#include "peers.h"
#include "pin.h"
#include "procfs.h"
#include "region.h"
#include "sched.h"
#include "shared.h"
#include "sigwait.h"
#include "slice.h"
#include "startup.h"
#include "time.h"
#include "timerfd.h"
#include "timers.h"
#include "try.h"
#include "txn.h"
#include "unwind.h"
#include "vthread.h"
#include "wait.h"

#define POLL_IN 1
#define POLL_OUT 4
/* fcntl's F_OFD_SETLKW (include/uapi/asm-generic/fcntl.h) */
#define OFD_SETLKW 38

/* waitid(2), include/uapi/linux/wait.h */
#define NO_WAIT 0x01000000

/* landlock_create_ruleset, landlock_add_rule, landlock_restrict_self: unistd_64.h */
#define NR_LANDLOCK_FIRST 444
#define NR_LANDLOCK_LAST 446

/*
 * Whether a call interrupts all cores that execute threads of the process, and so aborts all
 * transactions: it changes mappings, which must leave the translation buffers of the other cores,
 * or copies the memory.
 */
static Bool interrupts_all(Int nr, const VexGuestAMD64State *guest)
{
	switch (nr) {
	case __NR_munmap:
	case __NR_mprotect:
	case __NR_mremap:
	case __NR_madvise:
	case __NR_brk:
	case __NR_fork:
	case __NR_vfork:
		return True;
	case __NR_mmap:
		return (guest->guest_R10 & VKI_MAP_FIXED) != 0;
	case __NR_clone:
		return !(guest->guest_RDI & VKI_CLONE_THREAD);
	default:
		return False;
	}
}

static enum syscall_verdict dispatch(VexGuestAMD64State *guest)
{
	enum syscall_verdict verdict;
	Bool ours;

	switch (guest->guest_RAX) {
	case __NR_futex:
		return futex_call(guest);
	case __NR_read:
	case __NR_readv:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
	case __NR_accept:
	case __NR_accept4:
		return fdwait_transfer(guest, POLL_IN);
	case __NR_write:
	case __NR_writev:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
		return fdwait_transfer(guest, POLL_OUT);
	case __NR_poll:
	case __NR_ppoll:
		return fdwait_poll(guest);
	case __NR_select:
	case __NR_pselect6:
		return fdwait_select(guest);
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
		return fdwait_epoll(guest);
	case __NR_pause:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
		return sigwait_call(guest);
	case __NR_wait4:
	case __NR_waitid:
		return sigwait_child_call(guest);
	case __NR_flock:
	case __NR_fcntl:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_msgsnd:
	case __NR_msgrcv:
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
		return try_call(guest);
	case __NR_tkill:
	case __NR_tgkill:
		return lwp_signal_call(guest);
	case __NR_readlink:
	case __NR_readlinkat:
		return procfs_readlink(guest);
	/* Valgrind would return the same error, and warn. Programs do without, as on older kernels. */
	case NR_LANDLOCK_FIRST ... NR_LANDLOCK_LAST:
		return guest_answer(guest, -(Long)VKI_ENOSYS);
	}
	verdict = time_call(guest, &ours);
	if (!ours)
		verdict = timers_call(guest, &ours);
	if (!ours)
		verdict = timerfd_call(guest, &ours);
	if (!ours)
		verdict = limit_call(guest, &ours);
	if (!ours)
		verdict = machine_call(guest, &ours);
	return verdict;
}

/**
 * syscall_enter() - the running thread is about to make a system call.
 * @guest: registers of the thread
 *
 * Return: enum syscall_verdict.
 */
ULong syscall_enter(VexGuestAMD64State *guest)
{
	Int nr = guest->guest_RAX;

	current_vthread()->guest = guest;
	/* The instruction pointer has moved past the instruction already. */
	current_pc = guest->guest_RIP - SYSCALL_INSN_SIZE;
	startup_call(guest);
	libcall_check(guest);
	txn_abort_self(RTMGRIND_CAUSE_SYSCALL, nr);
	if (txn_nr_open && interrupts_all(nr, guest))
		txn_abort_others(current_tid, RTMGRIND_CAUSE_INTERRUPT);
	if (!wait_again(guest)) {
		current_vthread()->dated = False;
		charge(in_region ? model.syscall : 0);
	} else {
		uncharge_insn();
		if (sched_is_idle()) {
			idle_wait();
			slice_stop(guest);
			return SYSCALL_WAIT;
		}
	}
	return dispatch(guest);
}

/* Whether a call that Valgrind carries out may wait for an event from outside the process. */
static Bool waits_outside(UInt nr, const UWord *args)
{
	switch (nr) {
	case __NR_wait4:
	case __NR_waitid:
	case __NR_pause:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
	case __NR_flock:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_msgsnd:
	case __NR_msgrcv:
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
	case __NR_connect:
		return True;
	case __NR_fcntl:
		return args[1] == VKI_F_SETLKW || args[1] == OFD_SETLKW;
	default:
		return False;
	}
}

/* Whether a call sends something that another process may wait for. */
static Bool sends(UInt nr)
{
	switch (nr) {
	case __NR_write: case __NR_writev: case __NR_sendto: case __NR_sendmsg:
	case __NR_sendmmsg: case __NR_sendfile: case __NR_splice: case __NR_tee:
	case __NR_vmsplice: case __NR_shutdown: case __NR_connect: case __NR_kill:
	case __NR_tkill: case __NR_tgkill: case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo: case __NR_semop: case __NR_semtimedop: case __NR_semctl:
	case __NR_msgsnd: case __NR_msgrcv: case __NR_mq_timedsend: case __NR_mq_timedreceive:
	case __NR_flock: case __NR_futex: case __NR_exit: case __NR_exit_group:
		return True;
	default:
		return False;
	}
}

/* Whether another process may notice a call: those that send, end a connection or make room. */
static Bool noticed(UInt nr)
{
	switch (nr) {
	case __NR_read: case __NR_readv: case __NR_recvfrom: case __NR_recvmsg:
	case __NR_recvmmsg: case __NR_accept: case __NR_accept4: case __NR_open:
	case __NR_openat: case __NR_close: case __NR_dup2: case __NR_dup3: case __NR_fcntl:
	case __NR_ptrace:
		return True;
	default:
		return sends(nr);
	}
}

static Bool makes_process(UInt nr, const UWord *args)
{
	return nr == __NR_fork || nr == __NR_vfork ||
	       (nr == __NR_clone && !(args[0] & VKI_CLONE_THREAD));
}

/**
 * syscall_pre() - Valgrind is about to carry out a system call.
 * @tid: the thread
 * @nr: number of the call
 * @args: its arguments
 * @nr_args: number of arguments
 */
void syscall_pre(ThreadId tid, UInt nr, UWord *args, UInt nr_args)
{
	struct vthread *t = &vthreads[tid];
	Bool waits = !t->ready && !t->try_nr && waits_outside(nr, args);

	handover_go_home();
	t->calling = waits ? VT_OUTSIDE : VT_KERNEL;
	t->ready = False;
	lwp_note_call(nr == __NR_clone || nr == __NR_fork || nr == __NR_vfork);
	if (nr == __NR_clone || nr == __NR_fork || nr == __NR_vfork || nr == __NR_execve)
		pin_release(&vthreads[tid]);
	if (nr == __NR_exit_group)
		account_note_end();
	if (nr == __NR_execve) {
		timers_exec(True);
		limit_exec(True);
	}
	if (makes_process(nr, args))
		peers_fork_begins();
	peers_calling(tid, sends(nr));
	if (nr == __NR_execve)
		peers_exec(True);
}

static void note_process(ThreadId tid, UInt nr, const UWord *args, Long result)
{
	if (!makes_process(nr, args))
		return;
	if (result > 0) {
		wait_child_started();
		peers_fork_over(result);
	} else {
		wait_forked();
		timers_forked();
	}
}

/* The child process that waitid() has told of, 0 not known. */
static Int waited_for(Addr info)
{
	return info ? ((const vki_siginfo_t *)info)->_sifields._sigchld._pid : 0;
}

/* The running thread has waited for a child process, which may also have stopped. */
static void note_waited(Int pid)
{
	account_raise(peers_reaped(pid));
	slice_stop(current_vthread()->guest);
	if (!pid || host_syscall(__NR_kill, pid, 0, 0, 0, 0, 0) == -VKI_ESRCH)
		wait_child_reaped();
}

static void note_success(ThreadId tid, UInt nr, const UWord *args, Long result)
{
	switch (nr) {
	case __NR_mmap:
		shared_map(result, args[1], (args[3] & VKI_MAP_SHARED) != 0);
		pages_forget();
		unwind_forget();
		break;
	case __NR_shmat:
		shared_map(result, VG_(am_find_nsegment)(result)->end + 1 - result, True);
		pages_forget();
		break;
	case __NR_munmap:
		shared_map(args[0], args[1], False);
		pages_forget();
		unwind_forget();
		break;
	case __NR_brk:
		limit_data_end(result);
		pages_forget();
		break;
	case __NR_madvise:
		pages_forget();
		break;
	case __NR_mremap:
		shared_map(result, args[2], shared_contains(args[0]));
		pages_forget();
		break;
	case __NR_rt_sigaction:
		if (args[1])
			sigwait_action(args[0], (const struct vki_sigaction_base *)args[1]);
		break;
	case __NR_rt_sigtimedwait:
		sigwait_taken(result);
		if (args[1])
			timers_delivered((vki_siginfo_t *)args[1]);
		account_raise(args[1] ? peers_signal((vki_siginfo_t *)args[1]) :
					peers_event(False));
		break;
	case __NR_tgkill:
	case __NR_tkill:
		wait_poke_signalled(args[nr == __NR_tgkill ? 1 : 0]);
		break;
	case __NR_kill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
		wait_poke_signalled(0);
		break;
	case __NR_fork:
	case __NR_vfork:
	case __NR_clone:
		note_process(tid, nr, args, result);
		break;
	case __NR_wait4:
		if (result > 0)
			note_waited(result);
		break;
	case __NR_waitid:
		/* No child has ended: WNOHANG. */
		if (args[2] && !waited_for(args[2]))
			break;
		if (!(args[3] & NO_WAIT))
			note_waited(waited_for(args[2]));
		break;
	}
	timerfd_note(nr, args, result);
}

/**
 * syscall_post() - Valgrind has carried out a system call.
 * @tid: the thread
 * @nr: number of the call
 * @args: its arguments
 * @nr_args: number of arguments
 * @res: its result
 */
void syscall_post(ThreadId tid, UInt nr, UWord *args, UInt nr_args, SysRes res)
{
	vthreads[tid].calling = VT_FREE;
	lwp_note_call(False);
	if (!try_over(&vthreads[tid], sr_isError(res) ? sr_Err(res) : 0)) {
		peers_called(False);
		return;
	}
	peers_called(noticed(nr));
	if (!sr_isError(res)) {
		note_success(tid, nr, args, sr_Res(res));
	} else if (nr == __NR_execve) {
		timers_exec(False);
		limit_exec(False);
		peers_exec(False);
	} else if (makes_process(nr, args)) {
		peers_fork_over(-1);
	}
	wait_fds_changed();
}
