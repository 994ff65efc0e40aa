/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.S - one elided section, and no C library.
 *
 * Exits with 1 if XTEST is true in the section, + 2 if it is behind it, + 4 if
 * the lock is not free in the end, + 8 if the section did not see it taken.
 * Must only run under rtmgrind: XTEST needs RTM.
 */
	.globl _start
	.bss
	.balign 64
word:	.long 0

	.text
_start:
	xor	%r12d, %r12d
	xor	%r13d, %r13d
	.byte	0xf2			/* XACQUIRE */
	lock btsl $0, word(%rip)
	.byte	0x0f, 0x01, 0xd6	/* XTEST */
	setnz	%r12b
	mov	word(%rip), %r14d
	.byte	0xf3			/* XRELEASE */
	movl	$0, word(%rip)
	.byte	0x0f, 0x01, 0xd6
	setnz	%r13b
	lea	(%r12, %r13, 2), %edi
	cmpl	$0, word(%rip)
	je	1f
	or	$4, %edi
1:	cmp	$1, %r14d
	je	2f
	or	$8, %edi
2:	mov	$60, %eax		/* exit */
	syscall
	.section .note.GNU-stack, "", @progbits
