// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inject-code.c - the code that a thread of another process runs, see inject-code.h.
 *
 * It is copied, so it must not refer to anything but its parameters.
 */
#include "inject-code.h"

#define STRING_OF(number) #number
#define STRING(number)    STRING_OF(number)

/*
 * On entry the stack pointer is the address of struct inject_parameters, and all other registers but the
 * instruction pointer are those of the thread. Behind the parameters is the address where it goes on, and
 * behind that its red zone, which the last instruction leaves behind.
 *
 * Saved: general registers and flags by pushes, signal mask, extended state by XSAVE into zeroed memory
 * (Intel SDM, volume 1, 13.7: the header must be zero for XRSTOR), errno. Signals are blocked, as a handler
 * that leaves by longjmp() would leave the loader's lock held. The calls begin as the System V ABI asks:
 * stack aligned, direction flag clear, x87 stack empty, MXCSR as at the start of a process.
 */
__asm__(".pushsection .rodata\n"
	".globl inject_code, inject_code_end\n"
	".balign 16\n"
	"inject_code:\n"
	"pushfq\n"
	"push %rax\n"
	"push %rbx\n"
	"push %rcx\n"
	"push %rdx\n"
	"push %rsi\n"
	"push %rdi\n"
	"push %rbp\n"
	"push %r8\n"
	"push %r9\n"
	"push %r10\n"
	"push %r11\n"
	"push %r12\n"
	"push %r13\n"
	"push %r14\n"
	"push %r15\n"
	"cld\n"
	"lea 128(%rsp), %rbx\n" /* parameters */
	"mov %rsp, %rbp\n"      /* saved registers */
	"sub $16, %rsp\n"
	"movq $-1, 8(%rsp)\n"
	"mov $14, %eax\n" /* rt_sigprocmask */
	"mov $2, %edi\n"  /* SIG_SETMASK */
	"lea 8(%rsp), %rsi\n"
	"mov %rsp, %rdx\n"
	"mov $8, %r10d\n"
	"syscall\n"
	"mov %rsp, %r12\n" /* saved mask */
	"sub 80(%rbx), %rsp\n"
	"and $-64, %rsp\n"
	"mov %rsp, %r13\n" /* extended state */
	"lea 512(%rsp), %rdi\n"
	"xor %eax, %eax\n"
	"mov $8, %ecx\n"
	"rep stosq\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xsave64 (%r13)\n"
	"sub $16, %rsp\n"
	"fninit\n"
	"movl $0x1f80, (%rsp)\n"
	"ldmxcsr (%rsp)\n"
	"call *(%rbx)\n" /* __errno_location */
	"mov %rax, %r14\n"
	"mov (%rax), %r15d\n"
	"mov 32(%rbx), %rax\n"
	"test %rax, %rax\n"
	"jnz 1f\n"
	"mov 40(%rbx), %rdi\n"
	"mov $0x1002, %esi\n" /* RTLD_NOW | RTLD_NODELETE */
	"call *8(%rbx)\n"     /* dlopen */
	"test %rax, %rax\n"
	"jz 2f\n"
	"mov %rax, %rdi\n"
	"mov 48(%rbx), %rsi\n"
	"call *16(%rbx)\n" /* dlsym */
	"test %rax, %rax\n"
	"jz 2f\n"
	"1:\n"
	"mov 56(%rbx), %rdi\n"
	"mov 64(%rbx), %rsi\n"
	"call *%rax\n"
	"xor %eax, %eax\n"
	"jmp 3f\n"
	"2:\n"
	"call *24(%rbx)\n" /* dlerror */
	"3:\n"
	"mov 72(%rbx), %rcx\n"
	"mov %rax, 8(%rcx)\n"
	"mov %r15d, (%r14)\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xrstor64 (%r13)\n"
	"mov 88(%rbx), %rax\n"
	"mov %rax, (%rcx)\n"
	"mov $14, %eax\n"
	"mov $2, %edi\n"
	"mov %r12, %rsi\n"
	"xor %edx, %edx\n"
	"mov $8, %r10d\n"
	"syscall\n"
	"mov %rbp, %rsp\n"
	"pop %r15\n"
	"pop %r14\n"
	"pop %r13\n"
	"pop %r12\n"
	"pop %r11\n"
	"pop %r10\n"
	"pop %r9\n"
	"pop %r8\n"
	"pop %rbp\n"
	"pop %rdi\n"
	"pop %rsi\n"
	"pop %rdx\n"
	"pop %rcx\n"
	"pop %rbx\n"
	"pop %rax\n"
	"popfq\n"
	"lea " STRING(INJECT_PARAMETERS) "(%rsp), %rsp\n"
	"ret $" STRING(INJECT_RED_ZONE) "\n"
	"inject_code_end:\n"
	".popsection\n");

_Static_assert(sizeof(struct inject_parameters) == INJECT_PARAMETERS, "the code has the number");
_Static_assert(offsetof(struct inject_parameters, entry) == 32 &&
		       offsetof(struct inject_parameters, path) == 40 &&
		       offsetof(struct inject_parameters, command) == 56 &&
		       offsetof(struct inject_parameters, answer) == 72 &&
		       offsetof(struct inject_parameters, state_size) == 80 &&
		       offsetof(struct inject_parameters, serial) == 88,
	       "the code has the offsets");
