/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* own-stack.c - see own-stack.h. */
#include <sys/mman.h>

#include "../emulator.h"
#include "own-stack.h"
#include "syscalls.h"

/* The page below a stack. */
#define GUARD 4096

void *elide_own_stack_alloc(size_t size)
{
	char *p;

	if (valgrind_runs() && !rtmgrind_request(RTMGRIND_VERSION, 0, 0))
		return NULL;
	p = sys_mmap(NULL, GUARD + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (p == MAP_FAILED)
		return NULL;
	if (sys_mprotect(p + GUARD, size, PROT_READ | PROT_WRITE)) {
		sys_munmap(p, GUARD + size);
		return NULL;
	}
	return p + GUARD + size;
}

/*
 * RBP holds the caller's stack pointer: the call frame information finds the caller's frame by it,
 * whatever RSP is. The top of a stack is a multiple of 16, as the ABI requires of RSP before a call.
 */
__asm__(".text\n"
	".globl elide_on_stack\n"
	".hidden elide_on_stack\n"
	".type elide_on_stack, @function\n"
	"elide_on_stack:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	push	%rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	mov	%rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"	test	%rdx, %rdx\n"
	"	cmovz	%rsp, %rdx\n"
	"	mov	%rdx, %rsp\n"
	"	mov	%rdi, %rax\n"
	"	mov	%rsi, %rdi\n"
	"	call	*%rax\n"
	"	leave\n"
	".cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size elide_on_stack, . - elide_on_stack\n");

void elide_on_new_stack(void (*body)(void *arg), void *arg)
{
	char *top = elide_own_stack_alloc(ELIDE_OWN_STACK);

	elide_on_stack(body, arg, top);
	if (top)
		sys_munmap(top - ELIDE_OWN_STACK - GUARD, ELIDE_OWN_STACK + GUARD);
}
