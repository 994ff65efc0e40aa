/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure.c - see measure.h. A call may begin or end a transaction, so no system call is made here. */
#include "measure.h"

#define PATTERN 0xa5c3a5c3a5c3a5c3ull

static __thread char own[MEASURE_STACK] __attribute__((aligned(64)));
static __thread char *other;
static uint32_t *deepest;

__attribute__((used, visibility("hidden"))) void *measure_function;
__attribute__((visibility("hidden"))) void *measure_begin(void);
__attribute__((visibility("hidden"))) void measure_end(void);

void measure_on(char *stack)
{
	other = stack;
}

void measure_set(void *function, uint32_t *to)
{
	measure_function = function;
	deepest = to;
}

static char *stack_now(void)
{
	return other ? other : own;
}

/* Fill the stack. Return: its top. */
__attribute__((used)) void *measure_begin(void)
{
	char *top = stack_now() + MEASURE_STACK;
	void *to = top - MEASURE_BYTES;
	size_t nr = MEASURE_BYTES / sizeof(uint64_t);

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(nr) : "a"(PATTERN) : "memory");
	return top;
}

size_t measure_depth(const char *stack)
{
	const volatile uint64_t *end = (const uint64_t *)(stack + MEASURE_STACK);
	const volatile uint64_t *word = end - MEASURE_BYTES / sizeof(*word);

	while (word < end && *word == PATTERN)
		word++;
	return (end - word) * sizeof(*word);
}

__attribute__((used)) void measure_end(void)
{
	size_t depth = measure_depth(stack_now());

	if (depth > *deepest)
		*deepest = depth;
}

/* Unwinders find the way back by RBP. */
__asm__(".text\n"
	".globl measure_call\n"
	".type measure_call, @function\n"
	"measure_call:\n"
	".cfi_startproc\n"
	"	push	%rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	mov	%rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"	push	%rdi\n"
	"	push	%rsi\n"
	"	push	%rdx\n"
	"	push	%rcx\n"
	"	push	%r8\n"
	"	push	%r9\n"
	"	call	measure_begin\n"
	"	mov	%rax, %r11\n"
	"	pop	%r9\n"
	"	pop	%r8\n"
	"	pop	%rcx\n"
	"	pop	%rdx\n"
	"	pop	%rsi\n"
	"	pop	%rdi\n"
	"	mov	%r11, %rsp\n"
	/* syscall() has a seventh argument. */
	"	push	24(%rbp)\n"
	"	push	16(%rbp)\n"
	"	call	*measure_function(%rip)\n"
	"	mov	%rbp, %rsp\n"
	"	push	%rax\n"
	"	push	%rax\n"
	"	call	measure_end\n"
	"	pop	%rax\n"
	"	pop	%rax\n"
	"	leave\n"
	".cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size measure_call, . - measure_call\n");
