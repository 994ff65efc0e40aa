// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind.c - the call stack of a guest thread, from its registers and the call frame information.
 *
 * Must never change anything the guest sees, nor virtual time.
 */
#include "unwind.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "cfi.h"
#include "decode.h"
#include "vthread.h"

/*
 * Changes of the stack to follow, at most: from the library's own stack, or a handler's alternate
 * one, to that of the caller. Bounded, as the frames' addresses need not increase there. Chosen.
 */
#define MAX_CHANGES 3

/* Addresses whose call frame information is cached, direct-mapped. Chosen. */
#define NR_KNOWN 4096

static struct {
	Addr pc;
	ULong era;
	Bool found;
	struct cfi_row row;
} known[NR_KNOWN];

/* Number of times that mappings have changed. A known address counts only in its own era. */
static ULong era = 1;

/** unwind_forget() - mappings have changed, so there may be other code at a known address. */
void unwind_forget(void)
{
	era++;
}

static const struct cfi_row *row_of(Addr pc)
{
	UInt slot = (pc ^ pc >> 12) % NR_KNOWN;

	if (known[slot].pc != pc || known[slot].era != era) {
		known[slot].pc = pc;
		known[slot].era = era;
		known[slot].found = cfi_find(pc, &known[slot].row);
	}
	return known[slot].found ? &known[slot].row : NULL;
}

/* From the first to the last byte of the mapping that a stack is in. */
struct mapping {
	Addr start;
	Addr end;
};

/**
 * struct stack - a stack that is being unwound.
 * @regs: the registers of the present frame
 * @here: mapping of the present frame
 * @above: mapping of the caller's frame
 * @changes: how often these differed, or the addresses did not increase
 */
struct stack {
	Addr regs[NR_CFI_REGS];
	struct mapping here;
	struct mapping above;
	UInt changes;
};

static Bool load(const struct mapping *mapping, Addr from, Addr *value)
{
	if (from < mapping->start || from > mapping->end - 7 || from % 8)
		return False;
	*value = *(const Addr *)from;
	return True;
}

static Bool follow(const struct stack *stack, const struct cfi_place *place, Addr frame,
		   Addr *value)
{
	switch (place->rule) {
	case CFI_SAME:
		return True;
	case CFI_FRAME:
		return load(&stack->above, frame + place->offset, value);
	case CFI_AT:
		return load(&stack->here, stack->regs[place->reg] + place->offset, value);
	case CFI_SUM:
		*value = stack->regs[place->reg] + place->offset;
		return True;
	default:
		return False;
	}
}

static Bool find_mapping(Addr address, struct mapping *mapping)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);

	if (!segment || !segment->hasR ||
	    (segment->kind != SkAnonC && segment->kind != SkFileC))
		return False;
	*mapping = (struct mapping){segment->start, segment->end};
	return True;
}

/* Finds the caller's frame. Return: False if it is unknown, or there were too many changes. */
static Bool find_above(struct stack *stack, const struct cfi_row *row, Addr *frame)
{
	if (!follow(stack, &row->frame, 0, frame))
		return False;
	stack->above = stack->here;
	if (*frame > stack->regs[CFI_RSP] && *frame <= stack->here.end)
		return True;
	return stack->changes++ < MAX_CHANGES && find_mapping(*frame - 1, &stack->above);
}

/* Goes on to the caller's frame. Return: False if that is not known. */
static Bool ascend(struct stack *stack, const struct cfi_row *row)
{
	struct stack next;
	Addr frame = 0;

	if (!find_above(stack, row, &frame))
		return False;
	next = *stack;
	if (!follow(stack, &row->regs[CFI_RIP], frame, &next.regs[CFI_RIP]))
		return False;
	/* The next frame may be known even without these two registers. */
	if (!follow(stack, &row->regs[CFI_RBP], frame, &next.regs[CFI_RBP]))
		next.regs[CFI_RBP] = 0;
	if (!follow(stack, &row->regs[CFI_RBX], frame, &next.regs[CFI_RBX]))
		next.regs[CFI_RBX] = 0;
	next.regs[CFI_RSP] = frame;
	next.here = next.above;
	*stack = next;
	return next.regs[CFI_RIP] != 0;
}

/**
 * unwind_insn_pushes() - does an instruction push a word to the stack?
 * @pc: address of the instruction
 *
 * Return: True for pushes and calls.
 */
Bool unwind_insn_pushes(Addr pc)
{
	struct decoded insn;

	if (!decode((const UChar *)pc, INSN_SIZE_MAX, &insn) || insn.map != OPCODE)
		return False;
	switch (insn.opcode) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
	case 0xe8:
		return True;
	case 0xff:
		return modrm_reg(*insn.behind) == 2 || modrm_reg(*insn.behind) == 6;
	default:
		return False;
	}
}

/* Begins at the present frame of a thread. Return: False if that has no stack. */
static Bool begin(struct stack *stack, ThreadId tid, Addr pc, Bool pushed)
{
	const VexGuestAMD64State *guest = vthreads[tid].guest;

	*stack = (struct stack){.regs = {
		[CFI_RSP] = VG_(get_SP)(tid) + (pushed ? sizeof(Addr) : 0),
		[CFI_RIP] = pc,
	}};
	if (!guest || !find_mapping(stack->regs[CFI_RSP], &stack->here))
		return False;
	stack->regs[CFI_RBP] = guest->guest_RBP;
	stack->regs[CFI_RBX] = guest->guest_RBX;
	return True;
}

/**
 * unwind_frames_end() - where the innermost frames of a thread in one object end.
 * @tid: the thread, running
 * @pc: address of its present instruction, which is in the object and pushes nothing
 * @first: first address of the object's code
 * @end: address after the code
 *
 * Return: address after the return address of the outermost of these frames, as far as call frame
 * information is there.
 */
Addr unwind_frames_end(ThreadId tid, Addr pc, Addr first, Addr end)
{
	const struct cfi_row *row;
	struct stack stack;
	UInt back = 0;

	if (!begin(&stack, tid, pc, False))
		return stack.regs[CFI_RSP];
	while (stack.regs[CFI_RIP] >= first && stack.regs[CFI_RIP] < end) {
		row = row_of(stack.regs[CFI_RIP] - back);
		if (!row || !ascend(&stack, row))
			break;
		back = 1;
	}
	return stack.regs[CFI_RSP];
}

/**
 * unwind_stack() - unwind the stack of a thread.
 * @tid: the thread, running or not
 * @pc: address of its present instruction
 * @pushed: this instruction is a push or call that has moved the stack pointer by one word already
 * @frames: receives @pc, then return addresses, of what a signal has interrupted the next address
 * @max: room in @frames
 *
 * Ends early where the program has no call frame information.
 *
 * Return: number of frames.
 */
UInt unwind_stack(ThreadId tid, Addr pc, Bool pushed, ULong *frames, UInt max)
{
	const struct cfi_row *row;
	struct stack stack;
	/* Look up the information of the call, not that of the return address after it. */
	UInt back = 0, nr = 0;

	if (max)
		frames[nr++] = pc;
	if (!begin(&stack, tid, pc, pushed))
		return nr;
	while (nr < max) {
		row = row_of(stack.regs[CFI_RIP] - back);
		if (!row || !ascend(&stack, row))
			break;
		back = row->signal ? 0 : 1;
		/* As lib/evidence/frames.c has them: readers look at the byte before each. */
		if (!back && nr > 1)
			frames[nr - 1]++;
		frames[nr++] = stack.regs[CFI_RIP] + !back;
	}
	return nr;
}
