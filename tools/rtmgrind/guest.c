// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest.c - the guest program's memory, its current instruction and its system call.
 *
 * Must never access guest memory itself, as each access must be announced to access.c.
 */
#include "guest.h"
#include "pub_tool_aspacemgr.h"

Addr current_pc;

/**
 * guest_may() - may the guest access memory in some way?
 * @addr: first byte
 * @size: bytes
 * @prot: VKI_PROT_READ, VKI_PROT_WRITE or both
 *
 * Return: True if it may.
 */
Bool guest_may(Addr addr, SizeT size, UInt prot)
{
	return VG_(am_is_valid_for_client)(addr, size, prot);
}

/**
 * guest_answer() - finish a system call of the running thread without the kernel.
 * @guest: registers of the thread
 * @result: of the call, -errno if it failed
 *
 * Return: SYSCALL_DONE.
 */
enum syscall_verdict guest_answer(VexGuestAMD64State *guest, Long result)
{
	guest->guest_RAX = result;
	return SYSCALL_DONE;
}
