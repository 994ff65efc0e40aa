/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vfork.c - calls of the child of vfork() pass through until it calls exec.
 *
 * The child runs on its parent's memory, also the thread-local one: its locks would count as the parent's.
 * So it has no block, and enters no global-lock path, until the parent restores both. Between the two
 * returns only the return address on the stack may change.
 */
#include <errno.h>

#include "state/gate.h"
#include "state/thread.h"

__attribute__((used, visibility("hidden"))) int vfork_failed(int err);

int vfork_failed(int err)
{
	errno = -err;
	return -1;
}

/*
 * In assembly, because it returns twice. The kernel keeps the parent's registers: RDI has the return
 * address, which the child's next call overwrites on the stack; RDX and R9 the parent's elide_self and
 * elide_busy. The system call destroys only RAX, RCX and R11. 58 is __NR_vfork.
 */
__asm__(".text\n"
	".globl vfork, __vfork\n"
	".type vfork, @function\n"
	".type __vfork, @function\n"
	"vfork:\n"
	"__vfork:\n"
	".cfi_startproc\n"
	"	pop	%rdi\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_register %rip, %rdi\n"
	"	mov	elide_self@gottpoff(%rip), %rsi\n"
	"	mov	elide_busy@gottpoff(%rip), %r8\n"
	"	mov	%fs:(%rsi), %rdx\n"
	"	movzbl	%fs:(%r8), %r9d\n"
	"	mov	$58, %eax\n"
	"	syscall\n"
	"	push	%rdi\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rip, 0\n"
	"	test	%eax, %eax\n"
	"	jnz	1f\n"
	"	movq	$0, %fs:(%rsi)\n"
	"	movb	$1, %fs:(%r8)\n"
	"	ret\n"
	"1:	mov	%rdx, %fs:(%rsi)\n"
	"	mov	%r9b, %fs:(%r8)\n"
	"	js	2f\n"
	"	ret\n"
	"2:	mov	%eax, %edi\n"
	"	jmp	vfork_failed\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n"
	".size __vfork, . - __vfork\n");
