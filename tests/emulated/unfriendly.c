// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unfriendly.c - which instructions abort a transaction.
 *
 * Prints "NAME commits", "NAME aborts" or, if the processor does not have the instruction, "NAME
 * absent", for each instruction of the list below. Runs in the emulator and on processors on which
 * RTM works; on others it exits with status 77.
 *
 * An instruction must never be executed outside of a transaction: some fault.
 */
#include <cpuid.h>
#include <stdbool.h>
#include <string.h>

#include "emu.h"

/* Attempts with each instruction, as a single one may abort for another reason. Chosen. */
#define NR_TRIES 200

/* The feature that CPUID must show; ALWAYS: each x86-64 processor has the instruction. */
enum feature {
	ALWAYS,
	HAS_AVX,
	HAS_XSAVE,
	HAS_XSAVEC,
	HAS_CLFLUSHOPT,
	HAS_CLWB,
	HAS_FSGSBASE,
	HAS_RDRAND,
	HAS_RDSEED,
	HAS_RDPID,
};

/*
 * X(name, feature, code): the code may use RAX, RCX, RDX, RSI, R8 and R9, and memory at RDI, which
 * is aligned to 64 bytes. Other state that it changes is restored by it or by restore().
 */
#define INSTRUCTIONS(X)                                                                        \
	/* the yardsticks */                                                                   \
	X(NOP, ALWAYS, "nop")                                                                  \
	X(LOCK_ADD, ALWAYS, "lock addl $1, (%%rdi)")                                           \
	X(MFENCE, ALWAYS, "mfence")                                                            \
	X(PUSHF, ALWAYS, "lea -128(%%rsp), %%rsp\n\tpushfq\n\tpop %%rax\n\tlea 128(%%rsp), %%rsp") \
	X(RDTSC, ALWAYS, "rdtsc")                                                              \
	X(STMXCSR, ALWAYS, "stmxcsr (%%rdi)")                                                  \
	X(REP_MOVSB, ALWAYS, "lea 256(%%rdi), %%rsi\n\tmov $64, %%ecx\n\t"                     \
	  "mov %%rdi, %%r8\n\trep movsb\n\tmov %%r8, %%rdi")                                   \
	X(CMPXCHG16B, ALWAYS, "mov %%rbx, %%r8\n\tlock cmpxchg16b (%%rdi)\n\tmov %%r8, %%rbx")  \
	X(LFENCE, ALWAYS, "lfence")                                                            \
	X(SFENCE, ALWAYS, "sfence")                                                            \
	X(RDTSCP, ALWAYS, "rdtscp")                                                            \
	X(SAHF, ALWAYS, "lahf\n\tsahf")                                                        \
	X(PREFETCHT0, ALWAYS, "prefetcht0 (%%rdi)")                                            \
	X(MOVDQA, ALWAYS, "movdqa %%xmm0, (%%rdi)")                                            \
	X(MOV_FROM_DS, ALWAYS, "mov %%ds, %%eax")                                              \
	X(XGETBV, HAS_XSAVE, "xor %%ecx, %%ecx\n\txgetbv")                                     \
	X(RDFSBASE, HAS_FSGSBASE, "rdfsbase %%rax")                                            \
	X(RDRAND, HAS_RDRAND, "rdrand %%rax")                                                  \
	X(RDSEED, HAS_RDSEED, "rdseed %%rax")                                                  \
	X(RDPID, HAS_RDPID, "rdpid %%rax")                                                     \
	X(VMOVDQA, HAS_AVX, "vmovdqa %%ymm0, (%%rdi)")                                         \
	X(VZEROALL, HAS_AVX, "vzeroall")                                                       \
	/* the suspects */                                                                     \
	X(CPUID, ALWAYS, "mov %%rbx, %%r8\n\txor %%eax, %%eax\n\tcpuid\n\tmov %%r8, %%rbx")    \
	X(PAUSE, ALWAYS, "pause")                                                              \
	X(XABORT, ALWAYS, ".byte 0xc6, 0xf8, 1")                                               \
	X(VZEROUPPER, HAS_AVX, "vzeroupper")                                                   \
	X(VZEROUPPER_DIRTY, HAS_AVX, "vpcmpeqd %%xmm1, %%xmm1, %%xmm1\n\t"                     \
	  "vinsertf128 $1, %%xmm1, %%ymm1, %%ymm1\n\tvzeroupper")                              \
	X(FLD, ALWAYS, "fld1\n\tfstp %%st(0)")                                                 \
	X(FNSTCW, ALWAYS, "fnstcw (%%rdi)")                                                    \
	X(FLDCW, ALWAYS, "fldcw 64(%%rdi)")                                                    \
	X(FLDZ, ALWAYS, "fldz")                                                                \
	X(FLD_M, ALWAYS, "fldl (%%rdi)")                                                       \
	X(FILD, ALWAYS, "fildl (%%rdi)")                                                       \
	X(FSTP, ALWAYS, "fstpl (%%rdi)")                                                       \
	X(FADD, ALWAYS, "fadd %%st(0), %%st(0)")                                               \
	X(FXCH, ALWAYS, "fxch")                                                                \
	X(FNOP, ALWAYS, "fnop")                                                                \
	X(FNSTSW, ALWAYS, "fnstsw %%ax")                                                       \
	X(FNSTSW_M, ALWAYS, "fnstsw (%%rdi)")                                                  \
	X(FNCLEX, ALWAYS, "fnclex")                                                            \
	X(FNSTENV, ALWAYS, "fnstenv (%%rdi)")                                                  \
	X(FFREE, ALWAYS, "ffree %%st(3)")                                                      \
	X(FUCOMI, ALWAYS, "fucomi %%st(1), %%st(0)")                                           \
	X(FWAIT, ALWAYS, "fwait")                                                              \
	X(FNINIT, ALWAYS, "fninit")                                                            \
	X(MOVQ_MMX, ALWAYS, "movq (%%rdi), %%mm0")                                             \
	X(MOVQ2DQ, ALWAYS, "movq2dq %%mm0, %%xmm0")                                            \
	X(MOVDQ2Q, ALWAYS, "movdq2q %%xmm0, %%mm0")                                            \
	X(CVTPI2PS, ALWAYS, "cvtpi2ps %%mm0, %%xmm0")                                          \
	X(CVTPI2PD_M, ALWAYS, "cvtpi2pd (%%rdi), %%xmm0")                                      \
	X(CVTPS2PI, ALWAYS, "cvtps2pi %%xmm0, %%mm0")                                          \
	X(PADDB_MMX, ALWAYS, "paddb %%mm0, %%mm0")                                             \
	X(PMOVMSKB_MMX, ALWAYS, "pmovmskb %%mm0, %%eax")                                       \
	X(PSHUFB_MMX, ALWAYS, "pshufb %%mm0, %%mm0")                                           \
	X(PALIGNR_MMX, ALWAYS, "palignr $1, %%mm0, %%mm0")                                     \
	X(EMMS, ALWAYS, "emms")                                                                \
	X(XSAVE, HAS_XSAVE, "mov $3, %%eax\n\txor %%edx, %%edx\n\txsave (%%rdi)")              \
	X(XSAVEC, HAS_XSAVEC, "mov $3, %%eax\n\txor %%edx, %%edx\n\txsavec (%%rdi)")           \
	X(XRSTOR, HAS_XSAVE, "mov $2, %%eax\n\txor %%edx, %%edx\n\txrstor 1024(%%rdi)")        \
	X(FXSAVE, ALWAYS, "fxsave (%%rdi)")                                                    \
	X(FXRSTOR, ALWAYS, "fxrstor 1024(%%rdi)")                                              \
	X(LDMXCSR, ALWAYS, "ldmxcsr 72(%%rdi)")                                                \
	X(MOVNTI, ALWAYS, "movnti %%rax, (%%rdi)")                                             \
	X(MOVNTPS, ALWAYS, "movntps %%xmm0, (%%rdi)")                                          \
	X(MOVNTDQ, ALWAYS, "movntdq %%xmm0, (%%rdi)")                                          \
	X(VMOVNTDQ, HAS_AVX, "vmovntdq %%ymm0, (%%rdi)")                                       \
	X(MOVNTQ, ALWAYS, "movntq %%mm0, (%%rdi)")                                             \
	X(MOVNTDQA, ALWAYS, "movntdqa (%%rdi), %%xmm0")                                        \
	X(CLFLUSH, ALWAYS, "clflush (%%rdi)")                                                  \
	X(CLFLUSHOPT, HAS_CLFLUSHOPT, "clflushopt (%%rdi)")                                    \
	X(CLWB, HAS_CLWB, "clwb (%%rdi)")                                                      \
	X(MASKMOVQ, ALWAYS, "maskmovq %%mm1, %%mm0")                                           \
	X(MASKMOVDQU, ALWAYS, "maskmovdqu %%xmm1, %%xmm0")                                     \
	X(MOV_DS, ALWAYS, "mov %%ds, %%eax\n\tmov %%eax, %%ds")                                \
	X(MOV_FS, ALWAYS, "mov %%fs, %%eax\n\tmov %%eax, %%fs")                                \
	X(POP_FS, ALWAYS, "lea -128(%%rsp), %%rsp\n\tpush $0\n\tpop %%fs\n\t"                  \
	  "lea 128(%%rsp), %%rsp")                                                             \
	X(WRFSBASE, HAS_FSGSBASE, "mov %%fs:0, %%rax\n\twrfsbase %%rax")                       \
	X(WRGSBASE, HAS_FSGSBASE, "xor %%eax, %%eax\n\twrgsbase %%rax")                        \
	X(STD, ALWAYS, "std")                                                                  \
	X(CLD, ALWAYS, "cld")                                                                  \
	X(POPF, ALWAYS, "lea -128(%%rsp), %%rsp\n\tpushfq\n\tpopfq\n\tlea 128(%%rsp), %%rsp")  \
	X(INT3, ALWAYS, "int3")                                                                \
	X(INT_80H, ALWAYS, "mov $20, %%eax\n\tint $0x80")                                      \
	X(INT1, ALWAYS, ".byte 0xf1")                                                          \
	X(UD2, ALWAYS, "ud2")                                                                  \
	X(SYSCALL, ALWAYS, "mov $39, %%eax\n\tmov %%r11, %%r8\n\tsyscall")                     \
	X(SYSENTER, ALWAYS, "sysenter")                                                        \
	X(RDPMC, ALWAYS, "xor %%ecx, %%ecx\n\trdpmc")                                          \
	X(IN, ALWAYS, "in $0x80, %%al")                                                        \
	X(CLI, ALWAYS, "cli")                                                                  \
	X(HLT, ALWAYS, "hlt")                                                                  \
	X(RDMSR, ALWAYS, "mov $0x10, %%ecx\n\trdmsr")                                          \
	X(SGDT, ALWAYS, "sgdt (%%rdi)")                                                        \
	X(SLDT, ALWAYS, "sldt %%eax")                                                          \
	X(STR, ALWAYS, "str %%eax")                                                            \
	X(SMSW, ALWAYS, "smsw %%eax")                                                          \
	X(LRET, ALWAYS, "lea -128(%%rsp), %%rsp\n\tmov %%cs, %%eax\n\tpush %%rax\n\t"          \
	  "lea 9f(%%rip), %%rax\n\tpush %%rax\n\tlretq\n9:\tlea 128(%%rsp), %%rsp")

static char area[4096] __attribute__((aligned(4096)));

#define X(name, feature, code)                                                                 \
	static unsigned int try_##name(void)                                                   \
	{                                                                                      \
		unsigned int status = rtm_begin();                                             \
		if (status == RTM_STARTED) {                                                   \
			__asm__ volatile(code ::"D"(area)                                      \
					 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r11",      \
					   "xmm0", "xmm1", "memory", "cc");                    \
			rtm_end();                                                             \
		}                                                                              \
		return status;                                                                 \
	}
INSTRUCTIONS(X)
#undef X

static const struct instruction {
	const char *name;
	enum feature feature;
	unsigned int (*try)(void);
} instructions[] = {
#define X(name, feature, code) {#name, feature, try_##name},
	INSTRUCTIONS(X)
#undef X
};

static bool has(enum feature feature)
{
	unsigned int a, b1, c1, d1, b7, c7, d7, ad, bd, cd, dd;

	__cpuid(1, a, b1, c1, d1);
	__cpuid_count(7, 0, a, b7, c7, d7);
	__cpuid_count(13, 1, ad, bd, cd, dd);
	switch (feature) {
	case HAS_AVX:
		return c1 >> 28 & 1;
	case HAS_XSAVE:
		return c1 >> 27 & 1;
	case HAS_XSAVEC:
		return (c1 >> 27 & 1) && (ad >> 1 & 1);
	case HAS_CLFLUSHOPT:
		return b7 >> 23 & 1;
	case HAS_CLWB:
		return b7 >> 24 & 1;
	case HAS_FSGSBASE:
		return b7 & 1;
	case HAS_RDRAND:
		return c1 >> 30 & 1;
	case HAS_RDSEED:
		return b7 >> 18 & 1;
	case HAS_RDPID:
		return c7 >> 22 & 1;
	default:
		return true;
	}
}

/* Sets the memory that the instructions load: control words, and state for XRSTOR and FXRSTOR. */
static void prepare(void)
{
	memset(area, 0, sizeof(area));
	__asm__ volatile("fnstcw (%0)\n\tstmxcsr 8(%0)\n\tfxsave (%1)" ::"r"(area + 64),
			 "r"(area + 1024)
			 : "memory");
	/* XRSTOR: the header tells that all components have their initial state. */
	memset(area + 1024 + 512, 0, 64);
}

static void restore(void)
{
	__asm__ volatile("fninit\n\tfldcw (%0)\n\tldmxcsr 8(%0)" ::"r"(area + 64) : "memory");
}

static const char *outcome(const struct instruction *insn)
{
	int i;

	if (!has(insn->feature))
		return "absent";
	for (i = 0; i < NR_TRIES; i++) {
		unsigned int status;

		prepare();
		status = insn->try();
		restore();
		if (status == RTM_STARTED)
			return "commits";
	}
	return "aborts";
}

/* Whether RTM works: in the emulator, or on a processor that has it and has not disabled it. */
static bool rtm_works(void)
{
	unsigned int a, b, c, d;

	if (rtmgrind_request(RTMGRIND_VERSION, 0, 0))
		return true;
	if (__get_cpuid_max(0, NULL) < 7)
		return false;
	__cpuid_count(7, 0, a, b, c, d);
	return (b >> 11 & 1) && !(d >> 11 & 1);
}

int main(void)
{
	unsigned int i, status;

	if (!rtm_works()) {
		fputs("no RTM here\n", stderr);
		return EMU_SKIP;
	}
	for (i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++) {
		printf("%s %s\n", instructions[i].name, outcome(&instructions[i]));
		fflush(stdout);
	}
	/* After all these aborts a transaction must still be able to commit. */
	for (i = 0, status = 0; i < NR_TRIES && status != RTM_STARTED; i++)
		status = try_NOP();
	check("a transaction in the end", status, RTM_STARTED);
	return emu_status();
}
