/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi.h - what call frame information says about one place in the guest's code.
 *
 * Must never be asked about memory that the guest could not read itself.
 */
#ifndef RTMGRIND_CFI_H
#define RTMGRIND_CFI_H

#include "rtmgrind.h"

/* The registers that are followed; anything else ends the stack. */
enum cfi_reg { CFI_RBX, CFI_RBP, CFI_RSP, CFI_RIP, NR_CFI_REGS };

enum cfi_rule {
	CFI_UNKNOWN,	/* the stack ends here */
	CFI_SAME,	/* the caller's value is this one's */
	CFI_FRAME,	/* in memory, at the frame's address + offset */
	CFI_AT,		/* in memory, at a register + offset */
	CFI_SUM,	/* a register + offset */
};

/**
 * struct cfi_place - where the caller's value of a register is.
 * @rule: enum cfi_rule
 * @reg: of CFI_AT and CFI_SUM
 * @offset: bytes
 */
struct cfi_place {
	UChar rule;
	UChar reg;
	Int offset;
};

/**
 * struct cfi_row - how to get from a place in a function to its caller.
 * @frame: the frame's address: the caller's RSP, CFI_AT or CFI_SUM
 * @regs: the others; that of RSP is not used
 * @signal: a signal handler returns here: the caller was interrupted and did not call
 */
struct cfi_row {
	struct cfi_place frame;
	struct cfi_place regs[NR_CFI_REGS];
	Bool signal;
};

Bool cfi_find(Addr pc, struct cfi_row *row);

#endif
