/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi.h - call frame information for one instruction of the guest; see cfi.c.
 *
 * Must never read memory that the guest could not read itself.
 */
#ifndef RTMGRIND_CFI_H
#define RTMGRIND_CFI_H

#include "rtmgrind.h"

/* The registers whose values are known in each frame. A rule with any other ends the stack. */
enum cfi_reg { CFI_RBX, CFI_RBP, CFI_RSP, CFI_RIP, NR_CFI_REGS };

enum cfi_rule {
	CFI_UNKNOWN,	/* the stack ends here */
	CFI_SAME,	/* the caller's value is the one in this frame */
	CFI_FRAME,	/* the value is in memory, at the frame's address + offset */
	CFI_AT,		/* the value is in memory, at a register + offset */
	CFI_SUM,	/* the value is a register + offset */
};

/**
 * struct cfi_place - where the caller's value of a register is.
 * @rule: enum cfi_rule
 * @reg: the register that CFI_AT and CFI_SUM refer to, enum cfi_reg
 * @offset: what is added to the register or to the frame's address, bytes
 */
struct cfi_place {
	UChar rule;
	UChar reg;
	Int offset;
};

/**
 * struct cfi_row - the rules that lead from an instruction's frame to the caller's.
 * @frame: the frame's address, which is the caller's RSP: CFI_AT or CFI_SUM
 * @regs: the caller's other registers; the entry of RSP is not used
 * @signal: the function is a signal trampoline: its caller was interrupted and made no call
 */
struct cfi_row {
	struct cfi_place frame;
	struct cfi_place regs[NR_CFI_REGS];
	Bool signal;
};

Bool cfi_find(Addr pc, struct cfi_row *row);

#endif
